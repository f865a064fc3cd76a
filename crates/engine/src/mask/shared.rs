//! What the grammars of one vocabulary have found out about terminals, for all of them.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::inside::{Inside, Scan};

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
    insides: FxHashMap<u128, Arc<Inside>>,
    bytes: usize,
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

    pub(super) fn get(&self, fingerprint: u128) -> Option<Arc<Inside>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.insides.get(&fingerprint).cloned()
    }

    pub(super) fn put(&self, fingerprint: u128, inside: &Arc<Inside>) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.bytes += inside.memory_bytes();
        if table.bytes > self.bytes {
            *table = Table {
                bytes: inside.memory_bytes(),
                ..Table::default()
            };
        }
        table.insides.insert(fingerprint, Arc::clone(inside));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Table::default();
    }
}
