//! What the grammars of one vocabulary have found out about terminals, for all of them.

use std::sync::{Arc, PoisonError};

use syntagma_grammar::ir::ByteSet;

use super::classification::{Anchor, Classification, MidAccept, RestTrie};
use super::scan::{Runs, Scan};
use super::walk::{List, allow_all, allow_row};
use crate::automaton::Seed;
use crate::maps::{IdMap, SeededMap, SeededSet, hash_of};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, OnceLock, RwLock};
use crate::tuning;
use crate::vocabulary::Trie;

/// Tokens of residuals by fingerprint. Nothing in it can be wrong for another grammar of the vocabulary, and all of it can
/// be forgotten at any time: grammars keep what they use.
#[derive(Debug)]
pub(crate) struct Shared {
    table: RwLock<Table>,
    /// Bytes that it may hold: the most that anybody who uses it allows.
    bytes: AtomicUsize,
    /// Work space that nobody uses at the moment: it is large.
    scans: Mutex<Vec<Scan>>,
    /// What the store of each grammar begins with.
    seed: OnceLock<Seed>,
}

#[derive(Debug, Default)]
struct Table {
    classifications: IdMap<(u128, Anchor), Arc<Classification>>,
    rest_tries: IdMap<(u128, Anchor, MidAccept), RestTrie>,
    runs: SeededMap<ByteSet, Arc<Runs>>,
    /// Rows of masks, by hash.
    rows: IdMap<u64, Arc<[i32]>>,
    bytes: usize,
    /// The generation before. What is asked for there comes over; the rest goes with it.
    before: Option<Box<Table>>,
    /// What is forgotten, but not given back yet.
    forgotten: Vec<Arc<Classification>>,
}

impl Table {
    /// Counts bytes that are about to be added; a new generation begins if they are too many for this one.
    fn charge(&mut self, bytes: usize, most: usize) {
        if self.bytes + bytes > most / 2 {
            let mut before = std::mem::take(self);
            self.forgotten = std::mem::take(&mut before.forgotten);
            if let Some(oldest) = before.before.take() {
                self.forgotten.extend(oldest.classifications.into_values());
            }
            self.before = Some(Box::new(before));
        }
        // To give all of it back at once takes longer than any mask.
        let rest = self.forgotten.len().saturating_sub(tuning::FREED_PER_PUT);
        self.forgotten.truncate(rest);
        self.bytes += bytes;
    }
}

impl Shared {
    /// Holds about so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            table: RwLock::default(),
            bytes: AtomicUsize::new(bytes),
            scans: Mutex::default(),
            seed: OnceLock::new(),
        }
    }

    /// The same, if that is more than it holds now.
    pub(crate) fn allow(&self, bytes: usize) {
        self.bytes.fetch_max(bytes, Ordering::Relaxed);
    }

    /// What the store of each grammar begins with.
    pub(crate) fn seed(&self, make: impl FnOnce() -> Seed) -> &Seed {
        self.seed.get_or_init(make)
    }

    /// Calls with work space.
    pub(super) fn with_scan<T>(&self, call: impl FnOnce(&mut Scan) -> T) -> T {
        let pool = || self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        let free = pool().pop();
        let mut scan = free.unwrap_or_default();
        let result = call(&mut scan);
        pool().push(scan);
        result
    }

    pub(super) fn get(&self, fingerprint: u128, anchor: Anchor) -> Option<Arc<Classification>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = (fingerprint, anchor);
        if let Some(known) = table.classifications.get(&key) {
            return Some(Arc::clone(known));
        }
        let known = table.before.as_ref()?.classifications.get(&key).cloned()?;
        drop(table);
        self.put(fingerprint, anchor, &known);
        Some(known)
    }

    pub(super) fn put(
        &self,
        fingerprint: u128,
        anchor: Anchor,
        classification: &Arc<Classification>,
    ) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(
            classification.memory_bytes(),
            self.bytes.load(Ordering::Relaxed),
        );
        let key = (fingerprint, anchor);
        table
            .classifications
            .insert(key, Arc::clone(classification));
    }

    /// What is known of tokens that leave a residual at a byte on which it goes on.
    pub(super) fn rest_trie(
        &self,
        fingerprint: u128,
        anchor: Anchor,
        accept: MidAccept,
    ) -> Option<RestTrie> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let key = (fingerprint, anchor, accept);
        if let Some(known) = table.rest_tries.get(&key) {
            return Some(known.clone());
        }
        let known = table.before.as_ref()?.rest_tries.get(&key).cloned()?;
        drop(table);
        self.put_rest_trie(fingerprint, anchor, accept, &known);
        Some(known)
    }

    pub(super) fn put_rest_trie(
        &self,
        fingerprint: u128,
        anchor: Anchor,
        accept: MidAccept,
        trie: &RestTrie,
    ) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(trie.memory_bytes(), self.bytes.load(Ordering::Relaxed));
        let key = (fingerprint, anchor, accept);
        table.rest_tries.insert(key, trie.clone());
    }

    /// Runs of bytes of a set.
    pub(super) fn runs(&self, trie: &Trie, set: &ByteSet) -> Arc<Runs> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = table.runs.get(set) {
            return Arc::clone(known);
        }
        let known = table
            .before
            .as_ref()
            .and_then(|before| before.runs.get(set).cloned());
        drop(table);
        let runs = known.unwrap_or_else(|| Arc::new(Runs::new(trie, set)));
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(runs.memory_bytes(), self.bytes.load(Ordering::Relaxed));
        table.runs.insert(*set, Arc::clone(&runs));
        runs
    }

    /// The row that others have, if they have this one; otherwise one for them. Of two rows with one hash, one is known.
    pub(super) fn row(&self, hash: u64, row: &[i32]) -> Arc<[i32]> {
        let same = |table: &Table| {
            let known = table.rows.get(&hash).filter(|known| ***known == *row);
            known.map(Arc::clone)
        };
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = same(&table) {
            return known;
        }
        let known = table.before.as_deref().and_then(same);
        drop(table);
        let row = known.unwrap_or_else(|| row.into());
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(size_of_val(&*row), self.bytes.load(Ordering::Relaxed));
        table.rows.insert(hash, Arc::clone(&row));
        row
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Table::default();
    }
}

/// In every order of threads.
#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc;

    use loom::{model, thread};

    use super::{PoisonError, Shared};

    /// Rows of so many words with a number in them, for which a store has this much room.
    fn share(bytes: usize, rows: [[i32; 2]; 2]) {
        model(move || {
            let shared = Arc::new(Shared::new(bytes));
            let ask = |shared: &Shared, row: [i32; 2]| {
                let hash = u64::from(row[0].unsigned_abs());
                let first = shared.row(hash, &row);
                assert_eq!(*first, row);
                first
            };
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || ask(&shared, rows[1]))
            };
            let [mine, theirs] = [ask(&shared, rows[0]), other.join().unwrap()];
            assert_eq!((*mine == *theirs), rows[0] == rows[1]);
            let table = shared.table.read().unwrap_or_else(PoisonError::into_inner);
            assert!(table.bytes <= bytes.max(8), "more is held than is allowed");
        });
    }

    #[test]
    fn rows_are_what_was_asked_for() {
        share(1_000, [[1, 2], [1, 2]]);
        share(1_000, [[1, 2], [3, 4]]);
        // The same hash, other words.
        share(1_000, [[1, 2], [1, 3]]);
    }

    #[test]
    fn a_new_generation_begins_while_others_read() {
        share(8, [[1, 2], [1, 2]]);
        share(8, [[1, 2], [3, 4]]);
    }

    #[test]
    fn work_space_comes_back() {
        model(|| {
            let shared = Arc::new(Shared::new(0));
            let other = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.with_scan(|_| thread::yield_now()))
            };
            shared.with_scan(|_| thread::yield_now());
            other.join().unwrap();
            let scans = shared.scans.lock().unwrap_or_else(PoisonError::into_inner);
            assert!((1..=2).contains(&scans.len()));
        });
    }
}

// ---
// What masks are made of, each part once: many states allow the same tokens.

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
