//! Storage that only grows: nothing in it moves, and nothing is looked up at a place far from the last one.
//!
//! A long text of ever new sets is made and read in order. So what belongs to one owner hangs on it as a list, and values
//! lie in chunks in the order in which they were made; a table by hash, which is a miss of every cache, is asked only for
//! what hangs on an owner of many.

use crate::tuning;
use std::ops::{Index, IndexMut};

/// The end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// Values by number, in chunks.
#[derive(Debug)]
pub(super) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    /// The room for values in all chunks but the last.
    filled: usize,
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            filled: 0,
        }
    }
}

impl<T> Chunks<T> {
    /// How many numbers are taken, those that slices left out included.
    pub(super) fn len(&self) -> usize {
        let last = self.chunks.last();
        last.map_or(0, |last| {
            ((self.chunks.len() - 1) << tuning::ARENA_CHUNK) + last.len()
        })
    }

    /// Bytes of the values; never less than before.
    pub(super) fn memory_bytes(&self) -> usize {
        let last = match &self.chunks[..] {
            [] => 0,
            // The first chunk grows with what is in it.
            [only] => only.capacity(),
            [.., last] => last.len(),
        };
        (self.filled + last) * size_of::<T>()
    }

    /// Adds a value; its number.
    pub(super) fn push(&mut self, value: T) -> u32 {
        let at = self.room(1);
        if let Some(last) = self.chunks.last_mut() {
            last.push(value);
        }
        at
    }

    /// Values that were added at once.
    pub(super) fn slice(&self, start: u32, len: u32) -> &[T] {
        if len == 0 {
            return &[];
        }
        let at = (start & ((1 << tuning::ARENA_CHUNK) - 1)) as usize;
        &self.chunks[(start >> tuning::ARENA_CHUNK) as usize][at..at + len as usize]
    }

    /// The number of the next value, of so many that lie side by side.
    fn room(&mut self, len: usize) -> u32 {
        let full = |chunk: &Vec<T>| chunk.len() + len > 1 << tuning::ARENA_CHUNK;
        if self.chunks.last().is_none_or(full) {
            self.filled += self.chunks.last().map_or(0, Vec::capacity);
            let first = self.chunks.is_empty();
            let room = if first {
                len
            } else {
                len.max(1 << tuning::ARENA_CHUNK)
            };
            self.chunks.push(Vec::with_capacity(room));
        }
        let last = self.chunks.last().map_or(0, Vec::len);
        ((self.chunks.len() - 1) << tuning::ARENA_CHUNK | last) as u32
    }
}

impl<T: Copy> Chunks<T> {
    /// Adds values side by side; the number of the first.
    pub(super) fn extend(&mut self, values: &[T]) -> u32 {
        let at = self.room(values.len());
        if let Some(last) = self.chunks.last_mut() {
            last.extend_from_slice(values);
        }
        at
    }
}

impl<T> Index<u32> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.chunks[(at >> tuning::ARENA_CHUNK) as usize]
            [(at & ((1 << tuning::ARENA_CHUNK) - 1)) as usize]
    }
}

impl<T> IndexMut<u32> for Chunks<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.chunks[(at >> tuning::ARENA_CHUNK) as usize]
            [(at & ((1 << tuning::ARENA_CHUNK) - 1)) as usize]
    }
}

/// Numbers of values by the hash of what they are.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Hash and number; a free slot has [`NONE`]. The number of slots is a power of two, and hashes are in order up to
    /// collisions, so that a larger table is written from beginning to end.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl Table {
    /// The number of the value with a hash of which this is true.
    pub(super) fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = Self::short(hash);
        let mut at = self.home(hash);
        loop {
            let (known, number) = self.slots[at];
            if number == NONE {
                return None;
            }
            if known == hash && is(number) {
                return Some(number);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds the number of a value that is not in it.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let slots = vec![(0, NONE); (self.slots.len() * 2).max(8)];
            for (hash, number) in std::mem::replace(&mut self.slots, slots) {
                if number != NONE {
                    self.put(hash, number);
                }
            }
        }
        self.put(Self::short(hash), number);
        self.len += 1;
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.len() * size_of::<(u32, u32)>()
    }

    fn put(&mut self, hash: u32, number: u32) {
        let mut at = self.home(hash);
        while self.slots[at].1 != NONE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = (hash, number);
    }

    fn home(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    fn short(hash: u64) -> u32 {
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

/// What became of a look at an owner's list.
pub(super) enum Near {
    /// It is this one.
    Found(u32),
    /// It is not there, and the list has room.
    Missing,
    /// It is not there, but may be in the table.
    Full,
}

/// Looks for a value in an owner's list, which begins at `head`.
pub(super) fn near(head: u32, next: impl Fn(u32) -> u32, is: impl Fn(u32) -> bool) -> Near {
    let mut at = head;
    for _ in 0..tuning::LISTED_VALUES {
        if at == NONE {
            return Near::Missing;
        }
        if is(at) {
            return Near::Found(at);
        }
        at = next(at);
    }
    Near::Full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_keep_values_and_slices_where_they_were_put() {
        let mut chunks = Chunks::default();
        let mut put: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut bytes = 0;
        for size in (0..40_u32).chain([2_000, 4_000, 200, 5_000, 1, 4_096, 4_095, 3]) {
            let values: Vec<u32> = (0..size.max(1)).map(|index| size * 7 + index).collect();
            put.push((chunks.extend(&values), values));
            assert!(chunks.memory_bytes() >= bytes, "{size}");
            bytes = chunks.memory_bytes();
            put.push((chunks.push(size), vec![size]));
        }
        for (start, values) in put {
            assert_eq!(chunks.slice(start, values.len() as u32), &values[..]);
            assert_eq!(chunks[start], values[0]);
        }
        assert!(chunks.memory_bytes() >= chunks.len());
    }

    #[test]
    fn a_table_finds_what_was_put_in_also_under_equal_hashes() {
        let mut table = Table::default();
        for number in 0..10_000_u32 {
            assert_eq!(table.find(u64::from(number / 3), |one| one == number), None);
            table.insert(u64::from(number / 3), number);
        }
        for number in 0..10_000_u32 {
            let hash = u64::from(number / 3);
            assert_eq!(table.find(hash, |one| one == number), Some(number));
            assert_eq!(table.find(hash, |one| one == number + 3), None);
        }
    }
}
