//! Walks over a draft that several passes need. None recurses.

use super::draft::Draft;
use super::{NonterminalId, Symbol};

/// For each nonterminal, the left-hand sides whose productions hold it (with repetitions).
pub(super) fn users(draft: &Draft) -> Vec<Vec<NonterminalId>> {
    let mut users = vec![Vec::new(); draft.rules.len()];
    for lhs in draft.nonterminals() {
        for symbol in draft.rules_of(lhs).iter().flatten() {
            if let Symbol::Nonterminal(id) = symbol {
                let known: &mut Vec<NonterminalId> = &mut users[id.0 as usize];
                if known.last() != Some(&lhs) {
                    known.push(lhs);
                }
            }
        }
    }
    users
}

/// The nonterminals that have a production whose terminals all satisfy `terminal` and whose nonterminals all are such.
pub(super) fn least_fix_point(draft: &Draft, terminal: impl Fn(Symbol) -> bool) -> Vec<bool> {
    // Each production waits for its nonterminals; an occurrence list per nonterminal wakes it up.
    let mut holds = vec![false; draft.rules.len()];
    let mut waiting: Vec<(NonterminalId, u32)> = Vec::new();
    let mut occurrences: Vec<Vec<u32>> = vec![Vec::new(); draft.rules.len()];
    let mut found: Vec<NonterminalId> = Vec::new();
    for lhs in draft.nonterminals() {
        for rhs in draft.rules_of(lhs) {
            let mut missing = 0;
            let mut possible = true;
            for &symbol in rhs {
                match symbol {
                    Symbol::Nonterminal(id) => {
                        occurrences[id.0 as usize].push(waiting.len() as u32);
                        missing += 1;
                    }
                    other => possible &= terminal(other),
                }
            }
            if missing == 0 && possible {
                found.push(lhs);
            }
            // A count that no wake-up brings to zero marks a production that a terminal spoils.
            waiting.push((lhs, if possible { missing } else { u32::MAX }));
        }
    }
    while let Some(id) = found.pop() {
        if std::mem::replace(&mut holds[id.0 as usize], true) {
            continue;
        }
        for &production in &occurrences[id.0 as usize] {
            let (lhs, missing) = &mut waiting[production as usize];
            if *missing != u32::MAX {
                *missing -= 1;
                if *missing == 0 {
                    found.push(*lhs);
                }
            }
        }
    }
    holds
}

/// The nonterminals that derive a string with at least one byte or token, provided that all are finite.
pub(super) fn can_write(draft: &Draft) -> Vec<bool> {
    let mut writes = vec![false; draft.rules.len()];
    let users = users(draft);
    let mut found: Vec<NonterminalId> = Vec::new();
    for lhs in draft.nonterminals() {
        // Every terminal may match a byte, save one that matches the empty string alone, which no front end writes.
        if draft
            .rules_of(lhs)
            .iter()
            .flatten()
            .any(|symbol| !matches!(symbol, Symbol::Nonterminal(_)))
        {
            found.push(lhs);
        }
    }
    while let Some(id) = found.pop() {
        if !std::mem::replace(&mut writes[id.0 as usize], true) {
            found.extend(&users[id.0 as usize]);
        }
    }
    writes
}

/// The strongly connected component of each node (Tarjan's algorithm over an explicit stack).
pub(super) fn components(edges: &[Vec<u32>]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut index = vec![UNSEEN; edges.len()];
    let mut low = vec![0u32; edges.len()];
    let mut component = vec![UNSEEN; edges.len()];
    let mut open: Vec<u32> = Vec::new();
    let (mut next_index, mut next_component) = (0, 0);
    for root in 0..edges.len() as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        // (node, how many of its edges are done)
        let mut work: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some((node, done)) = work.pop() {
            let at = node as usize;
            if done == 0 {
                index[at] = next_index;
                low[at] = next_index;
                next_index += 1;
                open.push(node);
            }
            if let Some(&target) = edges[at].get(done) {
                work.push((node, done + 1));
                if index[target as usize] == UNSEEN {
                    work.push((target, 0));
                } else if component[target as usize] == UNSEEN {
                    low[at] = low[at].min(index[target as usize]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
        }
    }
    component
}
