//! Bounds on labelled parts of a text: so many tokens of thoughts, so many bytes of a call's arguments.
//!
//! * `parts` tells which part each alternative of a state is in, and splits states accordingly;
//! * `exit` tells how far it is out of a part that goes on in another of its kind;
//! * `token` follows a token byte by byte and tells what it writes of which part;
//! * `table` keeps all that for a compiled grammar, with how far it is out of each part;
//! * `tracker` counts along one text and decides what a bound allows.
//!
//! What is counted belongs to a way of reading the text: a text may be inside of a part and, read otherwise, behind it.
//! So a matcher with bounds keeps its place in pieces, one for each part and each count. A part is what its outermost
//! label says. An alternative that the very same terminal puts inside and outside is outside until they differ.

mod exit;
mod parts;
mod table;
mod token;
mod tracker;

use std::sync::Arc;

pub(crate) use parts::{Class, Exit, NEVER, OUTSIDE, Parts};
pub(crate) use table::Tables;
pub(crate) use tracker::{BudgetTracker, Spending};

/// What a bound counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Tokens with a byte in the part, over the whole text.
    Tokens,
    /// Bytes of one occurrence of the part; a token that the grammar names is one.
    Bytes,
}

/// A bound on every part of a text that has a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The label, as in `@label(…)`.
    pub label: Arc<str>,
    /// What is counted.
    pub unit: Unit,
    /// At most so much.
    pub most: u32,
}
