//! What is found out about a state: its mask, and where tokens lead from it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::row::List;
use super::row::{MaskRow, is_allowed};
use crate::earley::StateId;

/// The tokens that are allowed in a state; cheap to clone. Others may hold its parts, too.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    pub(super) row: Option<Arc<[i32]>>,
    /// Allowed besides.
    pub(super) lists: SmallVec<[List; 2]>,
}

impl Mask {
    /// Writes the mask into a row, of which the vocabulary takes so many words.
    pub(crate) fn write<R: MaskRow + ?Sized>(&self, row: &mut R, words: usize) {
        match &self.row {
            Some(words) => row.copy_from(words),
            None => row.fill_range(0..words, 0),
        }
        for &id in self.lists.iter().flat_map(|list| list.iter()) {
            row.allow(id);
        }
    }

    /// Whether a token of the vocabulary is allowed.
    pub(crate) fn allows(&self, id: u32) -> bool {
        self.row.as_ref().is_some_and(|row| is_allowed(row, id))
            || self.lists.iter().any(|list| list.contains(&id))
    }
}

/// Where a token leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It cannot come next.
    Refused,
    /// It ends the text.
    End,
    /// To this state.
    To(StateId),
}
