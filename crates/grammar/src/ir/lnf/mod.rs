//! The normal form: flat productions over numbered symbols, as the engine wants them.
//!
//! What holds of an [`Lnf`]:
//! * every nonterminal has at least one production, can be reached from the start and is productive in the
//!   greatest-fix-point sense (`B ::= 'a' B` stays);
//! * no group, option or repetition is left: they became nonterminals; unbounded repetitions are left-recursive;
//! * a terminal regex that matches the empty string has an empty production beside it, so the engine may take every
//!   terminal as matching one byte or more;
//! * nonterminals may be nullable; the engine advances over them when it predicts.

mod draft;
mod dump;
mod duplicates;
mod equals;
mod flatten;
mod form;
mod fuse;
mod graph;
mod inline;
mod nullable;
mod operators;
mod regular;
mod repeat;
#[cfg(test)]
mod tests;
mod units;
mod unproductive;
mod unreachable;

use std::sync::Arc;

use draft::Draft;
pub use form::{Lnf, NonterminalId, Production, Symbol, SymbolTable};

use super::grammar::Grammar;
use crate::error::Error;
use crate::limits::Limits;
use crate::maps::IdMap;
use crate::tuning::MAX_ROUNDS;

impl Lnf {
    /// The normal form of a grammar.
    ///
    /// # Errors
    /// `E-GRAMMAR-EMPTY` if the grammar visibly matches nothing, `E-LIMIT-FUEL` if it takes more work than
    /// [`Limits::compile_fuel`]. Intersections and complements are not solved here: whoever runs the terminals finds out
    /// whether one of them is empty.
    pub fn new(grammar: &Grammar, limits: &Limits) -> Result<Self, Error> {
        let mut draft = flatten::run(grammar, Draft::new(limits))?;
        duplicates::run(&mut draft)?;
        unproductive::run(&mut draft)?;
        unreachable::run(&mut draft)?;
        for round in 0..MAX_ROUNDS {
            let before = (draft.rules.len(), draft.size());
            draft.spend(before.1)?;
            let changes = draft.changes;
            units::run(&mut draft)?;
            regular::run(&mut draft)?;
            inline::run(&mut draft)?;
            operators::run(&mut draft)?;
            fuse::run(&mut draft)?;
            // Equals are merged, and nothing has changed since.
            if round > 0 && draft.changes == changes {
                break;
            }
            duplicates::run(&mut draft)?;
            equals::run(&mut draft)?;
            // Every pass keeps languages: what is productive stays so.
            unreachable::run(&mut draft)?;
            if (draft.rules.len(), draft.size()) == before {
                break;
            }
        }
        if draft.rules_of(draft.start).is_empty() {
            return Err(Error::grammar("E-GRAMMAR-EMPTY", "the grammar matches nothing at all")
                .with_hint("every alternative of the start rule leads to something that can never be completed"));
        }
        nullable::run(&mut draft)?;
        duplicates::run(&mut draft)?;
        unreachable::run(&mut draft)?;
        let lnf = Self::numbered(&draft);
        debug_assert!(lnf.is_normal());
        Ok(lnf)
    }

    /// Keeps the terminals that are still used and numbers them in order of appearance.
    fn numbered(draft: &Draft) -> Self {
        let mut symbols = SymbolTable {
            nonterminals: draft.names.iter().map(draft::Name::text).collect(),
            ..SymbolTable::default()
        };
        symbols.labels = draft
            .labels
            .iter()
            .map(|(&id, label)| (id, Arc::clone(label)))
            .collect();
        symbols.labels.sort_unstable();
        let mut regexes: Vec<Option<Symbol>> = vec![None; draft.regex_count()];
        let mut others: IdMap<Symbol, Symbol> = IdMap::default();
        let count = draft.rules.iter().map(draft::Rules::len).sum();
        let mut productions = Vec::with_capacity(count);
        for lhs in draft.nonterminals() {
            for rhs in draft.rules_of(lhs) {
                let rhs = rhs.iter().map(|&symbol| match symbol {
                    Symbol::Nonterminal(_) => symbol,
                    Symbol::Regex(index) => *regexes[index as usize].get_or_insert_with(|| {
                        symbols.regexes.push(draft.regex_of(index).clone());
                        Symbol::Regex(symbols.regexes.len() as u32 - 1)
                    }),
                    Symbol::Marker(index) => *others.entry(symbol).or_insert_with(|| {
                        symbols.markers.push(Arc::clone(draft.marker_of(index)));
                        Symbol::Marker(symbols.markers.len() as u32 - 1)
                    }),
                    Symbol::Token(index) => *others.entry(symbol).or_insert_with(|| {
                        symbols.tokens.push(draft.token_of(index).clone());
                        Symbol::Token(symbols.tokens.len() as u32 - 1)
                    }),
                });
                productions.push(Production {
                    lhs,
                    rhs: rhs.collect(),
                });
            }
        }
        Self {
            symbols,
            productions,
            start: draft.start,
        }
    }
}
