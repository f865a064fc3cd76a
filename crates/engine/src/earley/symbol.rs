//! The symbols of a grammar.

/// A symbol in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(pub(crate) u32);

/// A symbol taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Nonterminal(u32),
    /// A regular language: index into `DottedRules::terminals`.
    Terminal(u32),
    /// A token: index into `DottedRules::tokens`.
    Token(u32),
    /// No symbol: the dot is at the end of its rule.
    End,
}

impl Sym {
    pub(crate) const END: Self = Self(u32::MAX);

    pub(crate) fn new(view: View) -> Self {
        match view {
            View::Nonterminal(index) => Self(index << 2),
            View::Terminal(index) => Self(index << 2 | 1),
            View::Token(index) => Self(index << 2 | 2),
            View::End => Self::END,
        }
    }

    pub(crate) fn view(self) -> View {
        let index = self.0 >> 2;
        match self.0 & 3 {
            0 => View::Nonterminal(index),
            1 => View::Terminal(index),
            2 => View::Token(index),
            _ => View::End,
        }
    }
}
