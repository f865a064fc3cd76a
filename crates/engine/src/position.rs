//! Where a matcher is in its text, and what led there.

use crate::earley::StateId;

/// Where a matcher is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// In this state.
    At(StateId),
    /// Behind the end of the text.
    Ended,
}

/// What a step took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input<'a> {
    Token(u32),
    Text(&'a [u8]),
}
