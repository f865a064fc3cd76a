//! How many words a language has, in four steps.

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
