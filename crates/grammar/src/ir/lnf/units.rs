//! Pass: nonterminals that derive each other through productions of one nonterminal (`A ::= B`, `B ::= A`) match the same
//! strings and become one; `A ::= A` says nothing and goes.

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use super::graph;
use crate::error::Error;

/// Removes cycles of unit productions.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.rules.len())?;
    // Every cycle leads back somewhere.
    let leads_back = |lhs: NonterminalId| {
        let mut rules = draft.rules_of(lhs).iter();
        rules.any(|rhs| unit(rhs).is_some_and(|to| to <= lhs))
    };
    if !draft.nonterminals().any(leads_back) {
        return Ok(());
    }
    let edges = graph::Lists::new(draft.rules.len(), |tell| {
        for lhs in draft.nonterminals() {
            for to in draft.rules_of(lhs).iter().filter_map(unit) {
                // What a labelled part names is inside of it, and so is not the same.
                if !draft.is_labelled(lhs) && !draft.is_labelled(to) {
                    tell(lhs.0, to.0);
                }
            }
        }
    });
    let components = graph::components(&edges);
    // The first member stands for its component.
    let mut representative: Vec<Option<NonterminalId>> = vec![None; components.len()];
    let target: Vec<NonterminalId> = draft
        .nonterminals()
        .map(|id| *representative[components[id.0 as usize] as usize].get_or_insert(id))
        .collect();
    if draft.nonterminals().zip(&target).any(|(id, to)| id != *to) {
        draft.changes += 1;
        rename(draft, &target);
    }
    for lhs in draft.nonterminals() {
        let rules = &mut draft.rules[lhs.0 as usize];
        let before = rules.len();
        rules.retain(|rhs| unit(rhs) != Some(lhs));
        draft.changes += before - rules.len();
    }
    Ok(())
}

/// The nonterminal of a unit production.
fn unit(rhs: &Rhs) -> Option<NonterminalId> {
    match rhs[..] {
        [Symbol::Nonterminal(id)] => Some(id),
        _ => None,
    }
}

/// Replaces every nonterminal by `target[it]`; its productions go there.
pub(super) fn rename(draft: &mut Draft, target: &[NonterminalId]) {
    for symbol in draft.rules.iter_mut().flatten().flatten() {
        if let Symbol::Nonterminal(id) = symbol {
            *id = target[id.0 as usize];
        }
    }
    for (from, &to) in target.iter().enumerate() {
        if from != to.0 as usize {
            let moved = std::mem::take(&mut draft.rules[from]);
            draft.rules[to.0 as usize].extend(moved);
        }
    }
    draft.start = target[draft.start.0 as usize];
}
