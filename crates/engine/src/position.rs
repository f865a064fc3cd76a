//! Where a matcher is in its text.

use crate::earley::StateId;

/// Where a matcher is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// In this state.
    At(StateId),
    /// Behind the end of the text.
    Ended,
}
