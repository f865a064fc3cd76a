//! Pass: equal productions of one nonterminal become one.

use super::draft::{Draft, Rhs};
use crate::error::Error;
use crate::maps::SeededIndexSet;
use crate::tuning::COMPARED_PRODUCTIONS;

/// Removes repeated productions, keeping the first.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.rules.len())?;
    for rules in &mut draft.rules {
        if rules.len() <= COMPARED_PRODUCTIONS {
            let mut at = 1;
            while at < rules.len() {
                if rules[..at].contains(&rules[at]) {
                    rules.remove(at);
                } else {
                    at += 1;
                }
            }
        } else {
            let unique: SeededIndexSet<Rhs> = rules.drain(..).collect();
            rules.extend(unique);
        }
    }
    Ok(())
}
