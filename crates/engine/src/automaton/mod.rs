//! Terminals as automata that exist only where a text has been: a state is what remains of a regular language.
//!
//! * `partition` sorts the 256 bytes into classes that behave alike, `classes` are those of one grammar;
//! * `expression` is one of them, with its number and what its form says of it; `arena` interns them in normal form;
//! * `words` are tables of literals, for alternatives that are many;
//! * `residual` has all expressions and what each analysis found out about them: it makes them from the grammar's regular
//!   languages, beginning with those that most grammars need, numbers them by what they say, the same in all grammars, and
//!   takes over what is still in use into a new store;
//! * `derive` takes a residual over one byte, and decides exactly whether anything is left of it; `derivatives` are those
//!   that are known;
//! * `lengths` knows how many units the words of an intersection with a count have, `length_table` has the numbers;
//! * `compare` finds what two residuals have in common, residuals that are others but for some words, and bounds of
//!   repetitions that are kept beside the automaton, so that counting makes no residuals;
//! * `loop_alphabet` tells which text a residual reads without dying;
//! * `lexer_state` runs all terminals that an Earley set waits for at once.

mod arena;
mod classes;
mod compare;
mod derivatives;
mod derive;
mod expression;
mod length_table;
mod lengths;
mod lexer_state;
mod loop_alphabet;
pub(crate) mod partition;
mod residual;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use compare::Exclusion;
pub(crate) use derive::{Passage, Passed};
pub(crate) use expression::ExprId;
pub(crate) use lexer_state::{AcceptSetId, LexerStateId, LexerStates};
pub(crate) use loop_alphabet::{LoopAlphabet, Needs};
pub(crate) use residual::{Built, Carried, Residuals, Seed};
