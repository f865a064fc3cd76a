//! Masks and token steps that were computed before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::depths::Depths;
use super::row::{allow, is_allowed};
use crate::earley::{Recognizer, StateId};

/// Up to so many tokens are kept as a list.
pub(super) const SPARSE: usize = 600;

/// Up to so many tokens are kept as a list beside a row that others use too.
const BESIDE: usize = 800;

/// The tokens that are allowed in a state; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    row: Option<Arc<[i32]>>,
    /// Whether others hold the row, too.
    lent: bool,
    /// Allowed besides, in no order: words of the row, and bits of these.
    besides: Arc<[(u32, i32)]>,
}

impl Mask {
    /// The tokens of a row, if any, and some more.
    pub(super) fn new(row: Option<Arc<[i32]>>, ids: &[u32], words: usize) -> Self {
        let most = if row.is_some() { BESIDE } else { SPARSE };
        if ids.len() <= most {
            let mut besides: Vec<(u32, i32)> = Vec::with_capacity(ids.len());
            for &id in ids {
                let (word, bit) = (id / 32, 1 << (id % 32));
                match besides.last_mut() {
                    Some((last, bits)) if *last == word => *bits |= bit,
                    _ => besides.push((word, bit)),
                }
            }
            return Self {
                lent: row.is_some(),
                row,
                besides: besides.into(),
            };
        }
        let mut own: Arc<[i32]> = match row {
            Some(row) => Arc::from(&*row),
            None => std::iter::repeat_n(0, words).collect(),
        };
        if let Some(own) = Arc::get_mut(&mut own) {
            for &id in ids {
                allow(own, id);
            }
        }
        Self {
            row: Some(own),
            lent: false,
            besides: Arc::default(),
        }
    }

    /// The tokens of a row.
    pub(crate) fn of_row(row: Vec<i32>) -> Self {
        Self {
            row: Some(row.into()),
            lent: false,
            besides: Arc::default(),
        }
    }

    /// Writes the mask into a row of the vocabulary's width.
    pub(crate) fn write(&self, row: &mut [i32]) {
        match &self.row {
            Some(words) => row.copy_from_slice(words),
            None => row.fill(0),
        }
        for &(word, bits) in &*self.besides {
            row[word as usize] |= bits;
        }
    }

    /// Whether it allows exactly the tokens of a row.
    pub(crate) fn equals(&self, row: &[i32]) -> bool {
        let mut own = vec![0; row.len()];
        self.write(&mut own);
        own == row
    }

    /// Whether a token of the vocabulary is allowed.
    pub(crate) fn allows(&self, id: u32) -> bool {
        self.row.as_ref().is_some_and(|row| is_allowed(row, id)) || {
            let (word, bit) = (id / 32, 1 << (id % 32));
            let mut besides = self.besides.iter();
            besides.any(|&(other, bits)| other == word && bits & bit != 0)
        }
    }

    fn memory_bytes(&self) -> usize {
        let row = self.row.as_ref().filter(|_| !self.lent);
        row.map_or(0, |row| size_of_val(&**row)) + size_of_val(&*self.besides) + 64
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
    /// States whose masks are those of others.
    same: FxHashMap<StateId, StateId>,
    depths: Depths,
    steps: FxHashMap<(StateId, u32), Step>,
    mask_bytes: usize,
}

impl Memo {
    pub(crate) fn mask(&self, state: StateId) -> Option<&Mask> {
        let known = self.masks.get(&state);
        known.or_else(|| self.masks.get(self.same.get(&state)?))
    }

    /// A state that has the mask of this one, and whose mask is known.
    pub(crate) fn alike(&mut self, recognizer: &Recognizer, state: StateId) -> Option<StateId> {
        self.depths.find(recognizer, state)
    }

    /// Remembers that to find the mask of a state, which is known, it was looked so deep.
    pub(crate) fn remember_depth(&mut self, recognizer: &Recognizer, state: StateId, depth: u8) {
        self.depths.remember(recognizer, state, depth);
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
        self.mask_bytes
            + self.depths.memory_bytes()
            + (self.masks.len() + self.same.len() + self.steps.len()) * 32
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
