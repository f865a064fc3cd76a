//! What makes masks fast, one switch each: none of it may change a bit of a mask.

/// One of the [`Layers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Masks and steps are remembered per state.
    Memo = 1,
    /// Masks are put together from what each terminal does to the vocabulary; without it, each is one walk over all of it.
    Parts = 2,
    /// What a terminal does is remembered, for all grammars of a compiler.
    Terminals = 4,
    /// A terminal is read beside a plainer one that is known already.
    Beside = 8,
    /// What a repetition reads is not looked at byte by byte.
    Stretches = 16,
    /// A rule that ends in a nonterminal is left before that begins.
    TailCalls = 32,
    /// A terminal that a token enters on its way is looked up there, not walked.
    Within = 64,
    /// A terminal may be followed by what could also be more of it, and need not be walked.
    Overlaps = 128,
    /// A mask is used wherever what was looked into is the same.
    Depths = 256,
}

impl Layer {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Memo,
        Self::Parts,
        Self::Terminals,
        Self::Beside,
        Self::Stretches,
        Self::TailCalls,
        Self::Within,
        Self::Overlaps,
        Self::Depths,
    ];
}

/// The layers in use; all of them unless a test takes some away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers(u16);

impl Default for Layers {
    fn default() -> Self {
        Self(u16::MAX)
    }
}

impl Layers {
    /// The others.
    #[must_use]
    pub fn without(self, layer: Layer) -> Self {
        Self(self.0 & !(layer as u16))
    }

    pub(crate) fn has(self, layer: Layer) -> bool {
        self.0 & layer as u16 != 0
    }
}
