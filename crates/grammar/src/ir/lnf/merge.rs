//! Passes: equal productions of one nonterminal become one, and nonterminals with equal productions become one, from the
//! leaves up. Loops on itself count as equal (`A ::= A x`, `B ::= B x`), longer cycles are not compared.

use rustc_hash::FxHashMap;

use super::draft::{Draft, Rhs};
use super::graph;
use super::units::rename;
use super::{NonterminalId, Symbol};
use crate::error::Error;

/// Stands for the nonterminal itself in a signature.
const ITSELF: Symbol = Symbol::Nonterminal(NonterminalId(u32::MAX));

/// Removes repeated productions, keeping the first.
pub(super) fn duplicates(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.size())?;
    for rules in &mut draft.rules {
        let unique: indexmap::IndexSet<Rhs, rustc_hash::FxBuildHasher> = rules.drain(..).collect();
        rules.extend(unique);
    }
    Ok(())
}

/// Merges nonterminals with equal productions.
pub(super) fn equals(draft: &mut Draft) -> Result<(), Error> {
    let count = draft.rules.len();
    let users = graph::users(draft);
    let mut target: Vec<NonterminalId> = draft.nonterminals().collect();
    let mut by_signature: FxHashMap<Vec<Rhs>, NonterminalId> = FxHashMap::default();
    let mut work: Vec<NonterminalId> = draft.nonterminals().collect();
    work.reverse();
    let mut queued = vec![true; count];
    let mut members: Vec<Vec<NonterminalId>> = draft.nonterminals().map(|id| vec![id]).collect();
    while let Some(id) = work.pop() {
        queued[id.0 as usize] = false;
        if target[id.0 as usize] != id || draft.rules_of(id).is_empty() {
            continue;
        }
        let signature = signature(draft, &target, id);
        draft.spend(1 + signature.iter().map(Vec::len).sum::<usize>())?;
        let first = *by_signature.entry(signature).or_insert(id);
        let first = target[first.0 as usize];
        if first == id {
            continue;
        }
        let (kept, gone) = if id == draft.start {
            (id, first)
        } else {
            (first, id)
        };
        let moved = std::mem::take(&mut members[gone.0 as usize]);
        for member in moved {
            target[member.0 as usize] = kept;
            members[kept.0 as usize].push(member);
            for &user in &users[member.0 as usize] {
                let user = target[user.0 as usize];
                if !std::mem::replace(&mut queued[user.0 as usize], true) {
                    work.push(user);
                }
            }
        }
        if !std::mem::replace(&mut queued[kept.0 as usize], true) {
            work.push(kept);
        }
    }
    for id in draft.nonterminals() {
        if target[id.0 as usize] != id {
            draft.rules[id.0 as usize].clear();
        }
    }
    rename(draft, &target);
    Ok(())
}

fn signature(draft: &Draft, target: &[NonterminalId], id: NonterminalId) -> Vec<Rhs> {
    let mut signature: Vec<Rhs> = draft
        .rules_of(id)
        .iter()
        .map(|rhs| {
            rhs.iter()
                .map(|&symbol| match symbol {
                    Symbol::Nonterminal(inner) if target[inner.0 as usize] == id => ITSELF,
                    Symbol::Nonterminal(inner) => Symbol::Nonterminal(target[inner.0 as usize]),
                    other => other,
                })
                .collect()
        })
        .collect();
    signature.sort_unstable();
    signature.dedup();
    signature
}
