//! Masks and token steps that were computed before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::row::{allow, is_allowed};
use crate::earley::StateId;

/// Up to so many allowed tokens are kept as a list.
const SPARSE: usize = 600;

/// The tokens that are allowed in a state; cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mask {
    /// A whole row.
    Dense(Arc<[i32]>),
    /// The ids, ascending.
    Sparse(Arc<[u32]>),
}

impl Mask {
    /// The mask of a row.
    pub(super) fn new(row: Vec<i32>) -> Self {
        let count: u32 = row.iter().map(|word| word.count_ones()).sum();
        if count as usize > SPARSE {
            return Self::Dense(row.into());
        }
        let mut ids = Vec::with_capacity(count as usize);
        for (index, &word) in row.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                ids.push(index as u32 * 32 + word.trailing_zeros());
                word &= word.wrapping_sub(1);
            }
        }
        Self::Sparse(ids.into())
    }

    /// Writes the mask into a row of the vocabulary's width.
    pub(crate) fn write(&self, row: &mut [i32]) {
        match self {
            Self::Dense(words) => row.copy_from_slice(words),
            Self::Sparse(ids) => {
                row.fill(0);
                for &id in &**ids {
                    allow(row, id);
                }
            }
        }
    }

    /// Whether a token of the vocabulary is allowed.
    pub(crate) fn allows(&self, id: u32) -> bool {
        match self {
            Self::Dense(words) => is_allowed(words, id),
            Self::Sparse(ids) => ids.binary_search(&id).is_ok(),
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Dense(words) => size_of_val(&**words) + 48,
            Self::Sparse(ids) => size_of_val(&**ids) + 48,
        }
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
    masks: FxHashMap<StateId, Mask>,
    steps: FxHashMap<(StateId, u32), Step>,
    mask_bytes: usize,
}

impl Memo {
    pub(crate) fn mask(&self, state: StateId) -> Option<&Mask> {
        self.masks.get(&state)
    }

    pub(crate) fn step(&self, state: StateId, id: u32) -> Option<Step> {
        self.steps.get(&(state, id)).copied()
    }

    pub(crate) fn remember_mask(&mut self, state: StateId, mask: Mask) {
        self.mask_bytes += mask.memory_bytes();
        if let Some(old) = self.masks.insert(state, mask) {
            self.mask_bytes -= old.memory_bytes();
        }
    }

    pub(crate) fn remember_step(&mut self, state: StateId, id: u32, step: Step) {
        self.steps.insert((state, id), step);
    }

    pub(crate) fn mask_count(&self) -> usize {
        self.masks.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.mask_bytes + (self.masks.len() + self.steps.len()) * 32
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
