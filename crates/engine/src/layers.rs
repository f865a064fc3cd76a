//! What makes masks fast, one switch for each mechanism. None of them may change a bit of a mask; tests take them away to
//! see that, and measurements to see what each is worth.

/// One of the [`Layers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layer {
    /// Masks and steps are remembered per state.
    Memo,
    /// Masks are put together from what each terminal does to the vocabulary; without it, each is one walk over all of it.
    Parts,
    /// What a terminal does is remembered, for all grammars of a compiler.
    Terminals,
    /// A terminal is read beside a plainer one that is known already, only where the two differ.
    Delta,
    /// A body without some words is read as the body.
    Exclusions,
    /// Bounds of repetitions that no token can reach are dropped before a terminal is read.
    Unreachable,
    /// Large bounds of repetitions are counted beside the automaton.
    Counters,
    /// Whether an intersection with a count has any word is looked up in a table of lengths.
    Lengths,
    /// Many literals are one sorted table.
    Tables,
    /// What a repetition reads is not looked at byte by byte.
    LoopAlphabets,
    /// Bytes after which every residual still accepts some continuation are searched for.
    Closed,
    /// Tokens without quotes and control characters are read all at once.
    Plain,
    /// Whitespace in front of a terminal is read apart from it.
    Lead,
    /// Runs of one byte that lead nowhere new are read at once.
    Runs,
    /// Where few terminals may come next, each is looked up, however few tokens it reads.
    Few,
    /// Whether a leaf of the trie is alive is seen from first bytes, without a derivative.
    Peeks,
    /// A rule that ends in a nonterminal is left before that begins.
    TailCalls,
    /// A rule returns to what it takes of the set in which it began.
    Homes,
    /// A terminal that a token enters on its way is looked up there, not walked.
    Within,
    /// A terminal may be followed by what could also be more of it, and need not be walked.
    Overlaps,
    /// A mask is used wherever what was looked into is the same.
    StackSuffixes,
}

impl Layer {
    /// Every one.
    pub const ALL: [Self; 21] = [
        Self::Memo,
        Self::Parts,
        Self::Terminals,
        Self::Delta,
        Self::Exclusions,
        Self::Unreachable,
        Self::Counters,
        Self::Lengths,
        Self::Tables,
        Self::LoopAlphabets,
        Self::Closed,
        Self::Plain,
        Self::Lead,
        Self::Runs,
        Self::Few,
        Self::Peeks,
        Self::TailCalls,
        Self::Homes,
        Self::Within,
        Self::Overlaps,
        Self::StackSuffixes,
    ];

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The layers in use; all of them unless a test takes some away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers(u32);

impl Default for Layers {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Layers {
    /// None at all.
    pub const NONE: Self = Self(0);

    /// The others.
    #[must_use]
    pub fn without(self, layer: Layer) -> Self {
        Self(self.0 & !layer.bit())
    }

    /// These and one more.
    #[must_use]
    pub fn with(self, layer: Layer) -> Self {
        Self(self.0 | layer.bit())
    }

    pub(crate) fn has(self, layer: Layer) -> bool {
        self.0 & layer.bit() != 0
    }
}
