//! How deep a run of steps looks into what lies below its first sets.
//!
//! The items of a set return to other sets, and these to others: what may follow a set is decided by all of that, but the
//! steps through one token look into little of it. Sets that agree down to the depth that was looked into have the same
//! steps. A set that is reached on the way is known as far as its items; what they return to lies so deep below the first
//! sets as the goto says, the further below, the deeper.

use super::sets::{Ended, GotoResult, SetId};
use crate::tuning;

/// What has been looked into since [`Self::begin`].
#[derive(Debug, Default)]
pub(crate) struct Reads {
    on: bool,
    /// By set, if it was met in this run: what lies `n` below it lies at most this plus `n` below the first sets, for `n` of
    /// 1 and more.
    offsets: Vec<(u32, i32)>,
    run: u32,
    most: i32,
}

impl Reads {
    /// Begins at some sets.
    pub(crate) fn begin(&mut self, sets: impl Iterator<Item = SetId>) {
        self.on = true;
        self.most = 0;
        if self.run == u32::MAX {
            self.offsets.clear();
            self.run = 0;
        }
        self.run += 1;
        for set in sets {
            self.raise(set, 0);
        }
    }

    fn raise(&mut self, SetId(set): SetId, offset: i32) {
        let set = set as usize;
        if set >= self.offsets.len() {
            self.offsets.resize(set + 1, (0, 0));
        }
        let (run, known) = &mut self.offsets[set];
        // A set may be met at several depths; the deepest counts.
        if *run != self.run || *known < offset {
            (*run, *known) = (self.run, offset);
        }
    }

    fn offset(&self, SetId(set): SetId) -> Option<i32> {
        let &(run, offset) = self.offsets.get(set as usize)?;
        (run == self.run).then_some(offset)
    }

    /// Notes a step.
    #[inline]
    pub(super) fn note(&mut self, ended: &[Ended], goto: GotoResult) {
        if self.on {
            self.add(ended, goto);
        }
    }

    fn add(&mut self, ended: &[Ended], goto: GotoResult) {
        let offset = ended
            .iter()
            .map(|&(set, _)| self.offset(set))
            .try_fold(i32::MIN, |most, one| one.map(|one| most.max(one)));
        let known = goto.depth < tuning::READ_DEPTH && goto.reach < tuning::READ_DEPTH;
        let Some(offset) = offset.filter(|_| known) else {
            self.most = i32::from(tuning::READ_DEPTH);
            return;
        };
        self.most = self.most.max(offset + i32::from(goto.depth));
        if let Some(set) = goto.set {
            self.raise(set, offset + i32::from(goto.reach) - 1);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.offsets.capacity() * 8
    }

    /// Ends; how deep it was looked, at most [`tuning::READ_DEPTH`].
    pub(crate) fn finish(&mut self) -> u8 {
        self.on = false;
        u8::try_from(self.most)
            .unwrap_or(tuning::READ_DEPTH)
            .min(tuning::READ_DEPTH)
    }
}
