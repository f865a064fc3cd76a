//! Terminals as automata that exist only where a text has been: a state is what remains of a regular language.
//!
//! * `partition` sorts the 256 bytes into classes that behave alike, `classes` are those of one grammar;
//! * `residual` interns normalised expressions, so that equal residuals are one number;
//! * `facts` tells what the form of an expression says;
//! * `words` are tables of literals, for alternatives that are many;
//! * `build` turns the grammar's regular languages into residuals;
//! * `size` tells endless languages from finite ones;
//! * `derive` takes a residual over one byte, and decides exactly whether anything is left of it;
//! * `counted` keeps large bounds of repetitions beside the automaton, so that counting makes no residuals;
//! * `lengths` knows how many units the words of an intersection with a count have;
//! * `form` numbers expressions by what they say, the same in all grammars;
//! * `compare` finds what two residuals have in common;
//! * `exclusion` finds residuals that are others but for some words;
//! * `stretch` tells which text a residual reads without dying;
//! * `carry` takes over what is still in use into a new store;
//! * `union` runs all terminals that an Earley set waits for at once.

mod build;
mod carry;
mod classes;
mod compare;
mod counted;
mod derive;
mod exclusion;
mod facts;
mod form;
mod lengths;
pub(crate) mod partition;
mod residual;
mod size;
mod stretch;
mod union;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use build::Built;
pub(crate) use carry::Carried;
pub(crate) use exclusion::Exclusion;
pub(crate) use residual::{RegexId, Residuals};
pub(crate) use stretch::{Needs, Stretch};
pub(crate) use union::{FiredId, UnionId, Unions};
pub(crate) use words::{Passage, Passed};
