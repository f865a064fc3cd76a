//! Masks and token steps that were computed before.

use std::sync::Arc;

use smallvec::SmallVec;

use super::row::List;
use super::row::{MaskRow, is_allowed};
use super::stack_suffixes::StackSuffixes;
use crate::earley::{Recognizer, StateId};
use crate::maps::IdMap;

/// The tokens that are allowed in a state; cheap to clone. Others may hold its parts, too.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    pub(super) row: Option<Arc<[i32]>>,
    /// Allowed besides.
    pub(super) lists: SmallVec<[List; 2]>,
}

/// Bytes of a mask, its parts aside.
const MASK: usize = 96;

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

/// What is remembered per state; all of it can be forgotten at any time.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    masks: IdMap<StateId, Mask>,
    /// States whose masks are those of others.
    same: IdMap<StateId, StateId>,
    suffixes: StackSuffixes,
    steps: IdMap<(StateId, u32), Step>,
}

impl Memo {
    pub(crate) fn mask(&self, state: StateId) -> Option<&Mask> {
        let known = self.masks.get(&state);
        known.or_else(|| self.masks.get(self.same.get(&state)?))
    }

    /// A state that has the mask of this one, and whose mask is known.
    pub(crate) fn alike(&mut self, recognizer: &Recognizer, state: StateId) -> Option<StateId> {
        self.suffixes.find(recognizer, state)
    }

    /// Remembers that to find the mask of a state, which is known, it was looked so deep.
    pub(crate) fn remember_depth(&mut self, recognizer: &Recognizer, state: StateId, depth: u8) {
        self.suffixes.remember(recognizer, state, depth);
    }

    pub(crate) fn step(&self, state: StateId, id: u32) -> Option<Step> {
        self.steps.get(&(state, id)).copied()
    }

    /// Remembers that a state has the mask of another.
    pub(crate) fn remember_same(&mut self, state: StateId, other: StateId) {
        if state != other {
            self.same.insert(state, other);
        }
    }

    pub(crate) fn remember_mask(&mut self, state: StateId, mask: Mask) {
        self.masks.insert(state, mask);
    }

    pub(crate) fn remember_step(&mut self, state: StateId, id: u32, step: Step) {
        self.steps.insert((state, id), step);
    }

    pub(crate) fn mask_count(&self) -> usize {
        self.masks.len()
    }

    /// Without the parts of masks.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.suffixes.memory_bytes()
            + self.masks.len() * MASK
            + (self.same.len() + self.steps.len()) * 32
    }

    pub(crate) fn forget_masks(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        *self = Self {
            steps,
            ..Self::default()
        };
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
