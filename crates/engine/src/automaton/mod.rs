//! Terminals as automata that exist only where a text has been: a state is what remains of a regular language.
//!
//! * `partition` sorts the 256 bytes into classes that behave alike, `classes` are those of one grammar;
//! * `expression` is one of them, and its number; `arena` interns them, `normal` puts them together in normal form;
//! * `facts` is what the form of an expression says, `bounds` and `size` are parts of that;
//! * `words` are tables of literals, for alternatives that are many; `passage` leads through them;
//! * `residual` has all expressions and what each analysis found out about them;
//! * `seed` has those that most grammars need, made once;
//! * `build` turns the grammar's regular languages into residuals;
//! * `derive` takes a residual over one byte, and decides exactly whether anything is left of it; `derivatives` are those
//!   that are known;
//! * `counted` keeps large bounds of repetitions beside the automaton, so that counting makes no residuals;
//! * `lengths` knows how many units the words of an intersection with a count have, `length_table` has the numbers;
//! * `form` numbers expressions by what they say, the same in all grammars;
//! * `compare` finds what two residuals have in common;
//! * `exclusion` finds residuals that are others but for some words;
//! * `loop_alphabet` tells which text a residual reads without dying, `unit` what is known of what it repeats;
//! * `carry` takes over what is still in use into a new store;
//! * `lexer_state` runs all terminals that an Earley set waits for at once, `lexer_counting` takes units off bounds.

mod arena;
mod bounds;
mod build;
mod carry;
mod classes;
mod compare;
mod counted;
mod derivatives;
mod derive;
mod exclusion;
mod expression;
mod facts;
mod form;
mod length_table;
mod lengths;
mod lexer_counting;
mod lexer_state;
mod loop_alphabet;
mod normal;
pub(crate) mod partition;
mod passage;
mod residual;
mod seed;
mod size;
mod unit;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use carry::Carried;
pub(crate) use exclusion::Exclusion;
pub(crate) use expression::ExprId;
pub(crate) use lexer_state::{AcceptSetId, LexerStateId, LexerStates};
pub(crate) use loop_alphabet::{LoopAlphabet, Needs};
pub(crate) use passage::{Passage, Passed};
pub(crate) use residual::{Built, Residuals};
pub(crate) use seed::Seed;
