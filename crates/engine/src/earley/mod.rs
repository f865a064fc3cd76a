//! The recogniser: Earley's algorithm over sets that are values, not positions.
//!
//! * `symbol` is a symbol of the grammar, in one word;
//! * `grammar` is the grammar as flat arrays of dotted rules, with terminals resolved against the vocabulary;
//! * `reduce` drops what can never take part in a text;
//! * `core` is what all sets with the same dots share: predictions, who waits for what, and tail calls;
//! * `sets` interns sets and continuations and computes the set behind a terminal;
//! * `arena` stores all of that;
//! * `state` is a place in a text: the sets that are alive, each with what remains of its terminals;
//! * `reads` follows how deep a run of steps looks into what lies below its first sets;
//! * `recognizer` moves from state to state.

mod arena;
mod core;
mod grammar;
mod reads;
mod recognizer;
mod reduce;
mod sets;
mod state;
mod symbol;

pub(crate) use grammar::DottedRules;
pub(crate) use recognizer::Recognizer;
pub(crate) use sets::{Ended, ROOT, RetId, SetId, Sets};
pub(crate) use state::{Frames, State, StateId, Thread};
pub(crate) use symbol::{Sym, View};
