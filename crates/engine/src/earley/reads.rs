//! How deep a run of steps looks into what lies below its first sets.
//!
//! The items of a set return to other sets, and these to others: what may follow a set is decided by all of that, but the
//! steps through one token look into little of it. Sets that agree down to the depth that was looked into have the same
//! steps. A set that is reached on the way is known as far as its items; what they return to lies so deep below the first
//! sets as the landing says, the further below, the deeper.

use rustc_hash::FxHashMap;

use super::sets::{DEEP, Ended, Landing, SetId};

/// What has been looked into since [`Self::begin`].
#[derive(Debug, Default)]
pub(crate) struct Reads {
    on: bool,
    /// By set on the way: what lies `n` below it lies at most this plus `n` below the first sets, for `n` of 1 and more.
    offsets: FxHashMap<SetId, i32>,
    most: i32,
}

impl Reads {
    /// Begins at some sets.
    pub(crate) fn begin(&mut self, sets: impl Iterator<Item = SetId>) {
        self.on = true;
        self.most = 0;
        self.offsets.clear();
        self.offsets.extend(sets.map(|set| (set, 0)));
    }

    /// Notes a step.
    #[inline]
    pub(super) fn note(&mut self, ended: &[Ended], landing: Landing) {
        if self.on {
            self.add(ended, landing);
        }
    }

    fn add(&mut self, ended: &[Ended], landing: Landing) {
        // A set may be met at several depths; the deepest counts.
        let offset = |(set, _): &Ended| self.offsets.get(set).copied();
        let offset = ended
            .iter()
            .map(offset)
            .try_fold(i32::MIN, |most, one| one.map(|one| most.max(one)));
        let Some(offset) = offset else {
            self.most = i32::from(DEEP);
            return;
        };
        self.most = self.most.max(offset + i32::from(landing.depth));
        if let Some(set) = landing.set {
            let behind = offset + i32::from(landing.reach) - 1;
            let known = self.offsets.entry(set).or_insert(behind);
            *known = behind.max(*known);
        }
    }

    /// Ends; how deep it was looked, at most [`DEEP`].
    pub(crate) fn finish(&mut self) -> u8 {
        self.on = false;
        u8::try_from(self.most).unwrap_or(DEEP).min(DEEP)
    }
}
