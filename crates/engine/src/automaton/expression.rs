//! What remains of a terminal is an expression, and an expression is one number.

use std::sync::Arc;

/// An interned expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExprId(pub(super) u32);

impl ExprId {
    /// No string at all.
    pub(crate) const NOTHING: Self = Self(0);
    /// The empty string.
    pub(crate) const EMPTY: Self = Self(1);
    /// Every string.
    pub(super) const ANY: Self = Self(3);
}

/// An interned set of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct ByteSetId(pub(super) u32);

/// One expression over interned parts. The constructors of [`Arena`](super::arena::Arena) keep these normal forms:
/// no part is ∅; concatenations lean to the right and hold no ε; alternatives and intersections are flat, sorted and free
/// of duplicates, with at most one class, and an intersection has at most one complement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Nothing,
    Empty,
    Class(ByteSetId),
    /// The bytes of a literal from `at` on (two or more), then `tail`.
    Literal {
        bytes: u32,
        at: u32,
        tail: ExprId,
    },
    /// Any of two or more words, each with what follows it: those from `first` to `end` in a table, which agree up to `at`,
    /// from there on. None that something follows ends at `at`.
    Words {
        table: u32,
        first: u32,
        end: u32,
        at: u32,
    },
    Concat(ExprId, ExprId),
    Alt(Arc<[ExprId]>),
    And(Arc<[ExprId]>),
    Not(ExprId),
    Repeat {
        inner: ExprId,
        min: u32,
        max: Option<u32>,
    },
    /// A repetition whose bounds stand beside the automaton; `counted` tells how it is used.
    Counter {
        inner: ExprId,
        /// Whether there is a lower bound, which is then out of reach.
        lower: bool,
        /// Whether there is an upper bound, which is then out of reach.
        upper: bool,
        /// How many of the bounds' units were read since they were written down.
        consumed: u32,
    },
}
