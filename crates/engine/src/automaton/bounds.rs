//! Bounds of repetitions that are kept beside the automaton, and what counters have consumed of them.

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
