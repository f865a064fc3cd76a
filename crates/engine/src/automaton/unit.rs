//! Text that is one unit of a repetition. From the expression that is repeated, for `loop_alphabet`.

use super::expression::ExprId;
use crate::maps::IdMap;

/// Text that is a unit of a repetition by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) ascii: u128,
    /// The ASCII bytes that are a unit and begin no other.
    pub(super) alone: u128,
    /// Whether every character of more than one byte is one.
    pub(super) characters: bool,
    /// Whether each of them is one and begins no other.
    pub(super) characters_alone: bool,
}

/// What is known of what is repeated.
#[derive(Debug, Default)]
pub(super) struct Units {
    pub(super) known: IdMap<ExprId, Unit>,
    /// The same about what is repeated beside a count of units.
    pub(super) rooms: IdMap<(ExprId, ExprId), Option<u32>>,
}
