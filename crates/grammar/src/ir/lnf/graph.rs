//! Walks over a draft that several passes need. None recurses.

use super::draft::Draft;
use super::form::{NonterminalId, Symbol};
pub(super) use crate::ir::scc::{Lists, components};

/// For each nonterminal, the left-hand sides whose productions hold it (maybe more than once).
pub(super) fn users(draft: &Draft) -> Lists {
    Lists::new(draft.rules.len(), |tell| {
        for lhs in draft.nonterminals() {
            let mut last = None;
            for symbol in draft.rules_of(lhs).iter().flatten() {
                if let Symbol::Nonterminal(id) = symbol
                    && last.replace(id) != Some(id)
                {
                    tell(id.0, lhs.0);
                }
            }
        }
    })
}

/// The nonterminals that have a production all of whose nonterminals are such.
pub(super) fn least_fix_point(draft: &Draft) -> Vec<bool> {
    // Each production waits for its nonterminals; an occurrence list per nonterminal wakes it up.
    let mut holds = vec![false; draft.rules.len()];
    let mut waiting: Vec<(NonterminalId, u32)> = Vec::new();
    let mut found: Vec<NonterminalId> = Vec::new();
    for lhs in draft.nonterminals() {
        for rhs in draft.rules_of(lhs) {
            let is_nonterminal = |symbol: &&Symbol| matches!(symbol, Symbol::Nonterminal(_));
            let missing = rhs.iter().filter(is_nonterminal).count();
            if missing == 0 {
                found.push(lhs);
            }
            waiting.push((lhs, missing as u32));
        }
    }
    let occurrences = Lists::new(draft.rules.len(), |tell| {
        for (production, rhs) in draft.rules.iter().flatten().enumerate() {
            for symbol in rhs {
                if let Symbol::Nonterminal(id) = symbol {
                    tell(id.0, production as u32);
                }
            }
        }
    });
    while let Some(id) = found.pop() {
        if std::mem::replace(&mut holds[id.0 as usize], true) {
            continue;
        }
        for &production in occurrences.of(id.0) {
            let (lhs, missing) = &mut waiting[production as usize];
            *missing -= 1;
            if *missing == 0 {
                found.push(*lhs);
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
            found.extend(users.of(id.0).iter().map(|&user| NonterminalId(user)));
        }
    }
    writes
}
