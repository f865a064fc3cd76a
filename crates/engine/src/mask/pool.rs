//! What masks are made of, each part once: many states allow the same tokens.

use std::sync::Arc;

use super::row::{List, allow_all, allow_row};
use super::shared::Shared;
use crate::maps::{IdMap, SeededSet, hash_of};
use crate::tuning;

/// The rows and lists that the masks of one grammar hold.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// By hash. Where two rows have the same one, the pool knows one of them only.
    rows: IdMap<u64, Arc<[i32]>>,
    lists: SeededSet<List>,
    bytes: usize,
    /// Work space.
    row: Vec<i32>,
}

impl Pool {
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes + self.rows.len() * 32 + self.lists.len() * 24
    }

    /// Whether so many tokens are few enough to be kept as lists, beside a row or alone.
    pub(super) fn few(tokens: usize, row: bool) -> bool {
        tokens
            <= if row {
                tuning::LISTED_BESIDE_ROW
            } else {
                tuning::LISTED
            }
    }

    /// The same row as others have it.
    pub(super) fn row(&mut self, row: &[i32], shared: &Shared) -> Arc<[i32]> {
        let hash = hash_of(row);
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
        lists: impl IntoIterator<Item = &'a [u32]>,
        shared: &Shared,
    ) -> Arc<[i32]> {
        let mut all = std::mem::take(&mut self.row);
        all.clear();
        all.resize(size, 0);
        for row in rows {
            allow_row(&mut all, row);
        }
        for list in lists {
            allow_all(&mut all, list);
        }
        let row = self.row(&all, shared);
        self.row = all;
        row
    }

    /// The same list as other masks have it.
    pub(super) fn list(&mut self, list: &[u32]) -> List {
        if let Some(known) = self.lists.get(list) {
            return Arc::clone(known);
        }
        let list: List = list.into();
        self.bytes += size_of_val(&*list) + 16;
        self.lists.insert(Arc::clone(&list));
        list
    }
}
