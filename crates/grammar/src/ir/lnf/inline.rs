//! Pass: a nonterminal that only names something is replaced by it: one with a single production that is used once, or
//! whose production is empty or a single symbol (a large terminal only where it is used once); and one with several
//! productions where its only use is a unit production.

use super::draft::{Draft, Rhs, Rules};
use super::form::{NonterminalId, Symbol};
use crate::error::Error;
use crate::tuning::{COPIED_TERMINAL_WEIGHT, MAX_FUSED_DEPTH};

/// Replaces names by what they name. Expects every nonterminal to be reachable.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    move_start(draft);
    let uses = draft.uses();
    let mut named = names(draft, &uses);
    keep_large(draft, &uses, &mut named);
    break_cycles(draft, &mut named);
    if named.contains(&true) {
        draft.changes += 1;
        let mut meanings: Vec<Rhs> = vec![Rhs::new(); named.len()];
        for (at, _) in named.iter().enumerate().filter(|(_, named)| **named) {
            meanings[at] = draft.rules[at].pop().unwrap_or_default();
            draft.rules[at].clear();
        }
        let mut work = Vec::new();
        for at in 0..draft.rules.len() {
            let is_named =
                |symbol: &Symbol| matches!(symbol, Symbol::Nonterminal(id) if named[id.0 as usize]);
            if !draft.rules[at].iter().flatten().any(is_named) {
                continue;
            }
            let mut rules = std::mem::take(&mut draft.rules[at]);
            for rhs in &mut rules {
                expand(draft, (&meanings, &named), rhs, &mut work)?;
            }
            draft.rules[at] = rules;
        }
    }
    spread_units(draft)
}

/// A start that only names another nonterminal gives way to it, and leaves it its name.
fn move_start(draft: &mut Draft) {
    let mut steps = draft.rules.len();
    while !draft.is_labelled(draft.start)
        && let [rhs] = draft.rules_of(draft.start)
        && let [Symbol::Nonterminal(next)] = rhs[..]
        && steps > 0
    {
        draft.names[next.0 as usize] = draft.names[draft.start.0 as usize].clone();
        draft.start = next;
        draft.changes += 1;
        steps -= 1;
    }
}

/// Which nonterminals are replaced.
fn names(draft: &Draft, uses: &[u32]) -> Vec<bool> {
    draft
        .nonterminals()
        .map(|id| {
            let ([rhs], count) = (draft.rules_of(id), uses[id.0 as usize]) else {
                return false;
            };
            if id == draft.start || count == 0 || draft.is_labelled(id) {
                return false;
            }
            match rhs[..] {
                [] | [Symbol::Nonterminal(_) | Symbol::Marker(_) | Symbol::Token(_)] => true,
                [Symbol::Regex(index)] => {
                    let facts = draft.facts_of(index);
                    facts.depth < MAX_FUSED_DEPTH
                        && (count == 1 || facts.weight <= COPIED_TERMINAL_WEIGHT)
                }
                _ => count == 1,
            }
        })
        .collect()
}

/// Keeps what would be copied along with what it stands in: a nonterminal that is used once, by one that is replaced in many
/// places.
fn keep_large(draft: &Draft, uses: &[u32], named: &mut [bool]) {
    // The last to use each; where there is one use, the only one.
    let mut holder: Vec<Option<NonterminalId>> = vec![None; named.len()];
    for lhs in draft.nonterminals() {
        for symbol in draft.rules_of(lhs).iter().flatten() {
            if let Symbol::Nonterminal(id) = symbol {
                holder[id.0 as usize] = Some(lhs);
            }
        }
    }
    // Whether what each says comes to stand in many places; on the way up from one, "no" stands for "not known yet".
    let mut copied: Vec<Option<bool>> = vec![None; named.len()];
    let mut way: Vec<usize> = Vec::new();
    for id in draft.nonterminals() {
        let mut at = id.0 as usize;
        let answer = loop {
            if let Some(known) = copied[at] {
                break known;
            }
            copied[at] = Some(false);
            way.push(at);
            if !named[at] || uses[at] != 1 {
                break named[at] && uses[at] > 1;
            }
            match holder[at] {
                Some(above) => at = above.0 as usize,
                None => break false,
            }
        };
        for at in way.drain(..) {
            copied[at] = Some(answer);
        }
    }
    for id in draft.nonterminals() {
        let at = id.0 as usize;
        let small = match draft.rules_of(id) {
            [rhs] => match rhs[..] {
                [Symbol::Regex(index)] => draft.facts_of(index).weight <= COPIED_TERMINAL_WEIGHT,
                _ => rhs.len() <= 1,
            },
            _ => false,
        };
        if named[at] && !small && copied[at] == Some(true) {
            named[at] = false;
        }
    }
}

/// Keeps one nonterminal of every cycle of replacements.
fn break_cycles(draft: &Draft, named: &mut [bool]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    // Every cycle leads back somewhere.
    let leads_back = |lhs: NonterminalId| {
        let mut symbols = draft.rules_of(lhs).iter().flatten();
        named[lhs.0 as usize]
            && symbols.any(|symbol| matches!(*symbol, Symbol::Nonterminal(to) if to <= lhs && named[to.0 as usize]))
    };
    if !draft.nonterminals().any(leads_back) {
        return;
    }
    let mut marks = vec![Mark::New; named.len()];
    for root in draft.nonterminals() {
        let mut work = vec![(root, false)];
        while let Some((id, left)) = work.pop() {
            let at = id.0 as usize;
            if left {
                marks[at] = Mark::Done;
                continue;
            }
            if !named[at] || marks[at] != Mark::New {
                continue;
            }
            marks[at] = Mark::Open;
            work.push((id, true));
            for symbol in draft.rules_of(id).iter().flatten() {
                if let Symbol::Nonterminal(next) = symbol {
                    match marks[next.0 as usize] {
                        Mark::Open => named[next.0 as usize] = false,
                        Mark::New => work.push((*next, false)),
                        Mark::Done => {}
                    }
                }
            }
        }
    }
}

/// Puts meanings for names, and their meanings for the names in them. `work` is work space.
fn expand(
    draft: &mut Draft,
    (meanings, named): (&[Rhs], &[bool]),
    rhs: &mut Rhs,
    work: &mut Vec<Symbol>,
) -> Result<(), Error> {
    let mut out = Rhs::new();
    work.clear();
    work.extend(rhs.iter().rev());
    while let Some(symbol) = work.pop() {
        match symbol {
            Symbol::Nonterminal(id) if named[id.0 as usize] => {
                let inner = &meanings[id.0 as usize];
                draft.spend(1 + inner.len())?;
                work.extend(inner.iter().rev());
            }
            other => out.push(other),
        }
    }
    *rhs = out;
    Ok(())
}

/// `A ::= B`, the only use of `B`: the productions of `B` become productions of `A`.
fn spread_units(draft: &mut Draft) -> Result<(), Error> {
    let uses = draft.uses();
    for lhs in draft.nonterminals() {
        let spread = |rhs: &Rhs| matches!(rhs[..], [Symbol::Nonterminal(id)] if id != lhs && spreads(draft, &uses, id));
        if !draft.rules_of(lhs).iter().any(spread) {
            continue;
        }
        draft.changes += 1;
        let mut done = Rules::new();
        let mut work: Rules = std::mem::take(&mut draft.rules[lhs.0 as usize]);
        work.reverse();
        while let Some(rhs) = work.pop() {
            match rhs[..] {
                [Symbol::Nonterminal(id)] if id != lhs && spreads(draft, &uses, id) => {
                    let inner = std::mem::take(&mut draft.rules[id.0 as usize]);
                    draft.spend(inner.len())?;
                    work.extend(inner.into_iter().rev());
                }
                _ => done.push(rhs),
            }
        }
        draft.rules[lhs.0 as usize] = done;
    }
    Ok(())
}

fn spreads(draft: &Draft, uses: &[u32], id: NonterminalId) -> bool {
    // A nonterminal whose productions are being moved has none at the moment and is left alone.
    uses[id.0 as usize] == 1
        && id != draft.start
        && !draft.is_labelled(id)
        && !draft.rules_of(id).is_empty()
}
