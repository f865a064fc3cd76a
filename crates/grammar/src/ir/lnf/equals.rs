//! Pass: nonterminals with equal productions become one, from the leaves up. Loops on itself count as equal
//! (`A ::= A x`, `B ::= B x`), longer cycles are not compared.

use std::cell::OnceCell;
use std::hash::{BuildHasher, Hash, Hasher};

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use super::graph;
use super::units::rename;
use crate::error::Error;
use crate::maps::{IdHash, IdMap, hash_of, of_process};

/// Stands for the nonterminal itself in a signature.
const ITSELF: Symbol = Symbol::Nonterminal(NonterminalId(u32::MAX));

/// Merges nonterminals with equal productions.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    let count = draft.rules.len();
    // Once some are merged.
    let users = OnceCell::new();
    let mut target: Vec<NonterminalId> = draft.nonterminals().collect();
    let mut by_digest: IdMap<u64, NonterminalId> = IdMap::with_capacity_and_hasher(count, IdHash);
    let mut digests = Vec::new();
    // In rounds, so that what uses many others is looked at once for all of them that were merged meanwhile.
    let mut work: Vec<NonterminalId> = draft.nonterminals().collect();
    work.reverse();
    let mut later: Vec<NonterminalId> = Vec::new();
    let mut queued = vec![true; count];
    // What is merged forms a ring.
    let mut next: Vec<NonterminalId> = target.clone();
    loop {
        let Some(id) = work.pop() else {
            if later.is_empty() {
                break;
            }
            later.reverse();
            std::mem::swap(&mut work, &mut later);
            continue;
        };
        queued[id.0 as usize] = false;
        if target[id.0 as usize] != id || draft.rules_of(id).is_empty() || draft.is_labelled(id) {
            continue;
        }
        let size = draft.rules_of(id).iter().map(Rhs::len).sum::<usize>();
        draft.spend(1 + size)?;
        let digest = digest(draft, &target, id, &mut digests);
        let first = *by_digest.entry(digest).or_insert(id);
        let first = target[first.0 as usize];
        if first == id {
            continue;
        }
        // What led to the same digest before may have changed since, or be something else.
        if signature(draft, &target, first) != signature(draft, &target, id) {
            by_digest.insert(digest, id);
            continue;
        }
        let (kept, gone) = if id == draft.start {
            (id, first)
        } else {
            (first, id)
        };
        let mut member = gone;
        loop {
            target[member.0 as usize] = kept;
            for &user in users.get_or_init(|| graph::users(draft)).of(member.0) {
                let user = target[user as usize];
                if !std::mem::replace(&mut queued[user.0 as usize], true) {
                    later.push(user);
                }
            }
            member = next[member.0 as usize];
            if member == gone {
                break;
            }
        }
        next.swap(gone.0 as usize, kept.0 as usize);
        if !std::mem::replace(&mut queued[kept.0 as usize], true) {
            later.push(kept);
        }
    }
    let mut changed = false;
    for id in draft.nonterminals() {
        if target[id.0 as usize] != id {
            draft.rules[id.0 as usize].clear();
            changed = true;
        }
    }
    if changed {
        rename(draft, &target);
    }
    Ok(())
}

/// A symbol as a signature has it.
fn seen(symbol: Symbol, target: &[NonterminalId], id: NonterminalId) -> Symbol {
    match symbol {
        Symbol::Nonterminal(inner) if target[inner.0 as usize] == id => ITSELF,
        Symbol::Nonterminal(inner) => Symbol::Nonterminal(target[inner.0 as usize]),
        other => other,
    }
}

/// The productions whatever their order. `digests` is work space.
fn digest(
    draft: &Draft,
    target: &[NonterminalId],
    id: NonterminalId,
    digests: &mut Vec<u64>,
) -> u64 {
    digests.clear();
    digests.extend(draft.rules_of(id).iter().map(|rhs| {
        let mut state = of_process().build_hasher();
        for &symbol in rhs {
            seen(symbol, target, id).hash(&mut state);
        }
        state.finish()
    }));
    digests.sort_unstable();
    digests.dedup();
    hash_of(digests)
}

fn signature(draft: &Draft, target: &[NonterminalId], id: NonterminalId) -> Vec<Rhs> {
    let rules = draft.rules_of(id).iter();
    let mut signature: Vec<Rhs> = rules
        .map(|rhs| rhs.iter().map(|&symbol| seen(symbol, target, id)).collect())
        .collect();
    signature.sort_unstable();
    signature.dedup();
    signature
}
