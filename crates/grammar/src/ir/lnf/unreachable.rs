//! Pass: nonterminals that the start does not reach are dropped, and the rest are numbered in the order in which it does.

use super::draft::Draft;
use super::form::{NonterminalId, Symbol};
use crate::error::Error;

/// Drops what is not reached.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.rules.len())?;
    let mut new_ids: Vec<Option<NonterminalId>> = vec![None; draft.rules.len()];
    let mut order = vec![draft.start];
    new_ids[draft.start.0 as usize] = Some(NonterminalId(0));
    let mut next = 0;
    while let Some(&id) = order.get(next) {
        next += 1;
        for symbol in draft.rules[id.0 as usize].iter().flatten() {
            if let Symbol::Nonterminal(target) = symbol
                && new_ids[target.0 as usize].is_none()
            {
                new_ids[target.0 as usize] = Some(NonterminalId(order.len() as u32));
                order.push(*target);
            }
        }
    }
    let all = order.len() == draft.rules.len();
    if all && (0..).zip(&order).all(|(at, id)| id.0 == at) {
        return Ok(());
    }
    let mut names = Vec::with_capacity(order.len());
    let mut rules = Vec::with_capacity(order.len());
    for id in order {
        names.push(std::mem::take(&mut draft.names[id.0 as usize]));
        let mut own = std::mem::take(&mut draft.rules[id.0 as usize]);
        for symbol in own.iter_mut().flatten() {
            if let Symbol::Nonterminal(target) = symbol {
                *target = new_ids[target.0 as usize].unwrap_or(*target);
            }
        }
        rules.push(own);
    }
    draft.labels = std::mem::take(&mut draft.labels)
        .into_iter()
        .filter_map(|(id, label)| Some((new_ids[id.0 as usize]?, label)))
        .collect();
    draft.names = names;
    draft.rules = rules;
    draft.start = NonterminalId(0);
    Ok(())
}
