//! Last pass: a terminal that matches the empty string gets an empty production beside it, so that every terminal may be
//! taken as one byte or more. Inside a longer production it gets a nonterminal of its own, one for each language.

use smallvec::smallvec;

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use crate::error::Error;
use crate::maps::IdMap;

/// Splits nullable terminals.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.size())?;
    let mut optional: IdMap<u32, NonterminalId> = IdMap::default();
    for lhs in draft.nonterminals() {
        let is_nullable = |symbol: &Symbol| matches!(symbol, Symbol::Regex(index) if draft.facts_of(*index).nullable);
        if !draft.rules_of(lhs).iter().flatten().any(is_nullable) {
            continue;
        }
        let mut rules = std::mem::take(&mut draft.rules[lhs.0 as usize]);
        let mut empty = false;
        for rhs in &mut rules {
            let alone = rhs.len() == 1;
            for symbol in rhs {
                let Symbol::Regex(index) = *symbol else {
                    continue;
                };
                if !draft.facts_of(index).nullable {
                    continue;
                }
                if alone {
                    empty = true;
                    continue;
                }
                let id = if let Some(&id) = optional.get(&index) {
                    id
                } else {
                    let name = draft.names[lhs.0 as usize].optional();
                    let id = draft.nonterminal(name)?;
                    draft.add(id, Rhs::new())?;
                    draft.add(id, smallvec![Symbol::Regex(index)])?;
                    optional.insert(index, id);
                    id
                };
                *symbol = Symbol::Nonterminal(id);
            }
        }
        if empty && !rules.iter().any(Rhs::is_empty) {
            rules.insert(0, Rhs::new());
        }
        draft.rules[lhs.0 as usize] = rules;
    }
    Ok(())
}
