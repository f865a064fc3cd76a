//! The layout of a bitmask row: bit `i` of word `w` is token `32 w + i`.

use std::sync::Arc;

use std::ops::Range;
use std::sync::atomic::{AtomicI32, Ordering};

/// Tokens by id, in no order.
pub(super) type List = Arc<[u32]>;

/// Words of a row; bit `i` of word `w` is token `32 w + i`, 1 is allowed.
pub trait MaskRow {
    /// How many words there are.
    fn word_count(&self) -> usize;

    /// Sets as many words, from the first one on; there are enough.
    fn copy_from(&mut self, words: &[i32]);

    /// Sets words in a range of them, which lies within the row.
    fn fill_range(&mut self, range: Range<usize>, word: i32);

    /// Allows a token, whose word lies within the row.
    fn allow(&mut self, id: u32);
}

impl MaskRow for [i32] {
    fn word_count(&self) -> usize {
        self.len()
    }

    fn copy_from(&mut self, words: &[i32]) {
        self[..words.len()].copy_from_slice(words);
    }

    fn fill_range(&mut self, range: Range<usize>, word: i32) {
        self[range].fill(word);
    }

    fn allow(&mut self, id: u32) {
        self[id as usize / 32] |= 1 << (id % 32);
    }
}

/// A row that other threads may write at the same time. What it then holds is a mixture of what was written, word by word.
impl MaskRow for &[AtomicI32] {
    fn word_count(&self) -> usize {
        self.len()
    }

    fn copy_from(&mut self, words: &[i32]) {
        for (cell, &word) in self.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn fill_range(&mut self, range: Range<usize>, word: i32) {
        for cell in &self[range] {
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn allow(&mut self, id: u32) {
        self[id as usize / 32].fetch_or(1 << (id % 32), Ordering::Relaxed);
    }
}

/// Allows a token.
pub(crate) fn allow(row: &mut [i32], id: u32) {
    row[id as usize / 32] |= 1 << (id % 32);
}

/// Allows some tokens.
pub(super) fn allow_all(row: &mut [i32], ids: &[u32]) {
    for &id in ids {
        allow(row, id);
    }
}

/// Allows the tokens of another row.
pub(super) fn allow_row(row: &mut [i32], other: &[i32]) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

/// Refuses a token.
pub(super) fn refuse(row: &mut [i32], id: u32) {
    row[id as usize / 32] &= !(1 << (id % 32));
}

/// Whether a token is allowed.
pub(crate) fn is_allowed(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}
