//! What remains of a terminal is an expression, and an expression is one number.

use std::sync::Arc;

use super::classes::ClassesId;

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

// ---
// What is known of an expression from its form.

/// What is known of an expression from its form, and what was found out.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// Whether the empty string is in it.
    pub(super) nullable: bool,
    /// Whether it has an intersection or complement anywhere, so that form alone does not say whether it is empty.
    pub(super) logical: bool,
    /// How many words it has. An infinite language without finitely many words is still infinite: that decides about most
    /// complements without a search.
    pub(super) size: Size,
    /// The bytes that it does not tell apart, once somebody asked.
    pub(super) classes: Option<ClassesId>,
    /// Every byte that a word may begin with, and for logical expressions maybe more.
    pub(super) first: ByteSetId,
    /// Length of a shortest word; for logical expressions a guess, what their parts need together.
    pub(super) shortest: u32,
    /// No word is shorter.
    pub(super) least: u32,
    /// No word is longer.
    pub(super) most: u32,
    /// From whatever is read of it, some word ends within so many bytes; for expressions that are not logical.
    pub(super) within: u32,
    /// Whether a repetition in it has a bound that may be kept beside the automaton.
    pub(super) counted: bool,
    /// What its counters have taken.
    pub(super) consumed: Consumed,
    /// How many expressions it consists of.
    pub(super) weight: u32,
    /// Whether it has any word, once decided; for logical expressions.
    pub(super) inhabited: Option<bool>,
    /// The same language with ε or ∅ recognised, once decided; for logical expressions.
    pub(super) trimmed: Option<ExprId>,
    /// Where its derivatives by class begin in `Derivatives::rows`.
    pub(super) row: Option<u32>,
}

impl Facts {
    /// Of an expression with no word that is known of.
    pub(super) fn unknown() -> Self {
        Self {
            nullable: false,
            logical: false,
            size: Size::Unknown,
            classes: None,
            first: ByteSetId::default(),
            shortest: u32::MAX,
            least: 0,
            most: u32::MAX,
            within: u32::MAX,
            counted: false,
            consumed: Consumed::Nothing,
            weight: 1,
            inhabited: None,
            trimmed: None,
            row: None,
        }
    }

    /// Whether the form alone says that there is a word.
    pub(super) fn surely_inhabited(&self) -> bool {
        self.nullable || self.size.endless() || (!self.logical && self.shortest != u32::MAX)
    }
}

// ---
// How many words a language has, in four steps.

/// How many words there are, as far as the form says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// Nothing is known.
    Unknown,
    /// Finitely many, maybe none.
    Finite,
    /// Infinitely many.
    Infinite,
    /// All but finitely many.
    Cofinite,
}

impl Size {
    /// Whether they certainly never end, so that there is one, and a longer one.
    pub(super) fn endless(self) -> bool {
        matches!(self, Self::Infinite | Self::Cofinite)
    }

    /// Each behind one and the same word.
    pub(super) fn behind_some(self) -> Self {
        match self {
            Self::Cofinite => Self::Infinite,
            size => size,
        }
    }

    /// Those of two languages.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Cofinite, _) | (_, Self::Cofinite) => Self::Cofinite,
            (Self::Infinite, _) | (_, Self::Infinite) => Self::Infinite,
            (Self::Finite, Self::Finite) => Self::Finite,
            _ => Self::Unknown,
        }
    }

    /// Those that two languages share.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Finite, _) | (_, Self::Finite) => Self::Finite,
            (Self::Cofinite, size) | (size, Self::Cofinite) => size,
            _ => Self::Unknown,
        }
    }
}

// ---
// Bounds of repetitions that are kept beside the automaton, and what counters have consumed of them.

/// What the counters in an expression have taken since the numbers were written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consumed {
    /// There is no counter.
    Nothing,
    /// So many units, in every way of reading.
    All(u32),
    /// That depends on the way of reading.
    Unclear,
}

impl Consumed {
    /// For both of two parts.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, known) | (known, Self::Nothing) => known,
            (Self::All(mine), Self::All(theirs)) if mine == theirs => self,
            _ => Self::Unclear,
        }
    }

    /// For something under which counters are not looked for.
    pub(super) fn fixed(self) -> Self {
        match self {
            Self::Nothing => self,
            _ => Self::Unclear,
        }
    }
}

/// The bounds that a counter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bounds {
    /// At least so many units; 0 if there is no lower bound.
    pub(super) min: u32,
    /// At most so many units.
    pub(super) max: Option<u32>,
}

impl Bounds {
    /// No bounds at all.
    pub(super) const NONE: Self = Self { min: 0, max: None };

    /// Whether there is a bound, and every one is out of reach; an upper bound by a margin.
    pub(super) fn are_out_of_reach(self, reach: u32, margin: u32) -> bool {
        (self.min > 0 || self.max.is_some())
            && (self.min == 0 || self.min > reach)
            && self
                .max
                .is_none_or(|max| max > reach.saturating_add(margin))
    }

    /// The bounds after some units.
    pub(super) fn less(self, units: u32) -> Self {
        Self {
            min: self.min.saturating_sub(units),
            max: self.max.map(|max| max.saturating_sub(units)),
        }
    }
}

/// The bounds that counters in an expression could stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Countable {
    /// There is nothing to count, or not so that it could be done beside.
    Nothing,
    /// The same bounds everywhere. Upper bounds must be out of reach by the margin.
    Same(Bounds, u32),
    /// Different ones in different alternatives.
    Mixed,
}

impl Countable {
    /// For both of two parts.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, known) | (known, Self::Nothing) => known,
            (Self::Same(mine, margin), Self::Same(theirs, more)) if mine == theirs => {
                Self::Same(mine, margin.max(more))
            }
            _ => Self::Mixed,
        }
    }
}
