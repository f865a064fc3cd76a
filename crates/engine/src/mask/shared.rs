//! What the grammars of one vocabulary have found out about terminals, for all of them.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use syntagma_grammar::ir::ByteSet;

use super::inside::{Inside, Scan};
use super::place::Place;
use super::runs::Runs;
use super::splits::Split;
use crate::vocabulary::Trie;

/// Tokens of residuals by fingerprint. Nothing in it can be wrong for another grammar of the vocabulary, and all of it can
/// be forgotten at any time.
#[derive(Debug)]
pub(crate) struct Shared {
    table: RwLock<Table>,
    /// Bytes from which on everything is forgotten.
    bytes: usize,
    /// Work space that nobody uses at the moment: it is large.
    scans: Mutex<Vec<Scan>>,
}

#[derive(Debug, Default)]
struct Table {
    insides: FxHashMap<(u128, Place), Arc<Inside>>,
    splits: FxHashMap<(u128, Place, u8), Split>,
    runs: FxHashMap<ByteSet, Arc<Runs>>,
    bytes: usize,
}

impl Table {
    /// Counts bytes that are about to be added; forgets everything before if they are too many.
    fn charge(&mut self, bytes: usize, most: usize) {
        if self.bytes + bytes > most {
            *self = Self::default();
        }
        self.bytes += bytes;
    }
}

impl Shared {
    /// Holds about so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            table: RwLock::default(),
            bytes,
            scans: Mutex::default(),
        }
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

    pub(super) fn get(&self, fingerprint: u128, place: Place) -> Option<Arc<Inside>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.insides.get(&(fingerprint, place)).cloned()
    }

    pub(super) fn put(&self, fingerprint: u128, place: Place, inside: &Arc<Inside>) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(inside.memory_bytes(), self.bytes);
        let key = (fingerprint, place);
        table.insides.insert(key, Arc::clone(inside));
    }

    /// What is known of tokens that leave a residual at a byte on which it goes on.
    pub(super) fn split(&self, fingerprint: u128, place: Place, byte: u8) -> Option<Split> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.splits.get(&(fingerprint, place, byte)).cloned()
    }

    pub(super) fn put_split(&self, fingerprint: u128, place: Place, byte: u8, split: &Split) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(split.memory_bytes(), self.bytes);
        let key = (fingerprint, place, byte);
        table.splits.insert(key, split.clone());
    }

    /// Runs of bytes of a set.
    pub(super) fn runs(&self, trie: &Trie, set: &ByteSet) -> Arc<Runs> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = table.runs.get(set) {
            return Arc::clone(known);
        }
        drop(table);
        let runs = Arc::new(Runs::new(trie, set));
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.charge(runs.memory_bytes(), self.bytes);
        table.runs.insert(*set, Arc::clone(&runs));
        runs
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Table::default();
    }
}
