//! What masks are made of, each part once: many states allow the same tokens.

use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::row::allow;
use super::shared::Shared;

/// Up to so many tokens are kept as a list.
pub(super) const SPARSE: usize = 600;

/// Up to so many tokens are kept as a list beside a row that others use too.
const BESIDE: usize = 800;

/// Tokens as words of a row, and bits of these.
pub(super) type Bits = Arc<[(u32, i32)]>;

/// A number of a row that equal rows have, too.
pub(super) fn hash(row: &[i32]) -> u64 {
    FxBuildHasher.hash_one(row)
}

/// The rows and lists that the masks of one grammar hold.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// By hash. Where two rows have the same one, the pool knows one of them only.
    rows: FxHashMap<u64, Arc<[i32]>>,
    lists: FxHashSet<Bits>,
    bytes: usize,
    /// Work space.
    row: Vec<i32>,
    list: Vec<(u32, i32)>,
}

impl Pool {
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes + self.rows.len() * 32 + self.lists.len() * 24
    }

    /// The tokens of a row, if any, and some more: a row of so many words, and what is allowed besides.
    pub(super) fn parts(
        &mut self,
        row: Option<Arc<[i32]>>,
        ids: &[u32],
        words: usize,
        shared: &Shared,
    ) -> (Option<Arc<[i32]>>, Bits) {
        let most = if row.is_some() { BESIDE } else { SPARSE };
        if ids.len() <= most {
            return (row, self.list(ids));
        }
        let mut own = std::mem::take(&mut self.row);
        own.clear();
        match row {
            Some(row) => own.extend_from_slice(&row),
            None => own.resize(words, 0),
        }
        for &id in ids {
            allow(&mut own, id);
        }
        let row = self.row(&own, shared);
        self.row = own;
        (Some(row), Bits::default())
    }

    /// The same row as others have it.
    pub(super) fn row(&mut self, row: &[i32], shared: &Shared) -> Arc<[i32]> {
        let hash = hash(row);
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

    fn list(&mut self, ids: &[u32]) -> Bits {
        self.list.clear();
        for &id in ids {
            let (word, bit) = (id / 32, 1 << (id % 32));
            match self.list.last_mut() {
                Some((last, bits)) if *last == word => *bits |= bit,
                _ => self.list.push((word, bit)),
            }
        }
        if let Some(known) = self.lists.get(&*self.list) {
            return Arc::clone(known);
        }
        let list: Bits = self.list.as_slice().into();
        self.bytes += size_of_val(&*list) + 16;
        self.lists.insert(Arc::clone(&list));
        list
    }
}
