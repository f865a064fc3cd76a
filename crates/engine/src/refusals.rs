//! What went beyond a limit, and so does whenever it is asked again: by then more is known, and it might not.

use std::sync::{Mutex, PoisonError};

use crate::earley::StateId;
use crate::error::{Error, ErrorKind};
use crate::maps::IdMap;

/// What may be refused for the work that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// The mask of a state.
    Mask(StateId),
    /// Where a token leads from a state.
    Step(StateId, u32),
    /// How far all places of the grammar are from the end of their rules.
    Costs,
    /// The way to the end of the text from a state.
    Way(StateId),
}

/// Refusals by question.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<IdMap<Question, Error>>);

impl Refusals {
    /// Finds something out, unless it was refused before.
    pub(crate) fn ask<T>(
        &self,
        question: Question,
        find: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let refused = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = refused().get(&question) {
            return Err(error.clone());
        }
        let result = find();
        if let Err(error) = &result
            && error.kind() == ErrorKind::Limit
        {
            refused().insert(question, error.clone());
        }
        result
    }
}
