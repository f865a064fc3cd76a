//! What masks are made of, each part once: many states allow the same tokens.

use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::row::allow_row;
use super::shared::Shared;

/// Up to so many words of a row are kept as a list.
pub(super) const SPARSE: usize = 600;

/// Up to so many are kept as lists beside a row that others use too.
const BESIDE: usize = 800;

/// A word of a row and bits of it.
pub(super) type Word = (u32, i32);

/// Tokens as words of a row, in no order.
pub(super) type List = Arc<[Word]>;

/// Adds tokens to a list.
pub(super) fn list(ids: impl IntoIterator<Item = u32>, words: &mut Vec<Word>) {
    for id in ids {
        let (word, bit) = (id / 32, 1 << (id % 32));
        match words.last_mut() {
            Some((last, bits)) if *last == word => *bits |= bit,
            _ => words.push((word, bit)),
        }
    }
}

/// Allows the tokens of a list.
pub(super) fn allow_list(row: &mut [i32], list: &[Word]) {
    for &(word, bits) in list {
        row[word as usize] |= bits;
    }
}

/// Whether a token is in a list.
pub(super) fn has(list: &[Word], id: u32) -> bool {
    let (word, bit) = (id / 32, 1 << (id % 32));
    list.iter()
        .any(|&(other, bits)| other == word && bits & bit != 0)
}

/// The rows and lists that the masks of one grammar hold.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// By hash. Where two rows have the same one, the pool knows one of them only.
    rows: FxHashMap<u64, Arc<[i32]>>,
    lists: FxHashSet<List>,
    bytes: usize,
    /// Work space.
    row: Vec<i32>,
}

impl Pool {
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes + self.rows.len() * 32 + self.lists.len() * 24
    }

    /// Whether so many words are few enough to be kept as lists, beside a row or alone.
    pub(super) fn few(words: usize, row: bool) -> bool {
        words <= if row { BESIDE } else { SPARSE }
    }

    /// The same row as others have it.
    pub(super) fn row(&mut self, row: &[i32], shared: &Shared) -> Arc<[i32]> {
        let hash = FxBuildHasher.hash_one(row);
        if let Some(known) = self.rows.get(&hash)
            && **known == *row
        {
            return Arc::clone(known);
        }
        let row = shared.row(hash, row);
        self.bytes += size_of_val(&*row);
        self.rows.insert(hash, Arc::clone(&row));
        row
    }

    /// A row of so many words with the tokens of some rows and some lists, as others have it.
    pub(super) fn union<'a>(
        &mut self,
        size: usize,
        rows: impl IntoIterator<Item = &'a [i32]>,
        lists: impl IntoIterator<Item = &'a [Word]>,
        shared: &Shared,
    ) -> Arc<[i32]> {
        let mut all = std::mem::take(&mut self.row);
        all.clear();
        all.resize(size, 0);
        for row in rows {
            allow_row(&mut all, row);
        }
        for list in lists {
            allow_list(&mut all, list);
        }
        let row = self.row(&all, shared);
        self.row = all;
        row
    }

    /// The same list as other masks have it.
    pub(super) fn list(&mut self, list: &[Word]) -> List {
        if let Some(known) = self.lists.get(list) {
            return Arc::clone(known);
        }
        let list: List = list.into();
        self.bytes += size_of_val(&*list) + 16;
        self.lists.insert(Arc::clone(&list));
        list
    }
}
