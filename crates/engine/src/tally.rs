//! How much a compiled grammar holds, for whoever has many of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::context::EngineContext;

/// How much a [`CompiledGrammar`](crate::CompiledGrammar) holds at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompiledStats {
    /// Interned parser states.
    pub states: usize,
    /// Interned Earley sets.
    pub sets: usize,
    /// Residuals of terminals.
    pub residuals: usize,
    /// Masks in the memo.
    pub masks: usize,
    /// Approximate bytes of all of it.
    pub bytes: usize,
    /// How often everything was given up, since it had grown too large.
    pub generation: u32,
}

/// Approximate bytes of one compiled grammar, all its generations together. It is told to the cache that has it and to the
/// registry of the process as it changes, so that nobody need add up what many hold.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    bytes: AtomicUsize,
    /// The bytes of all that a cache has.
    cache: Mutex<Option<Arc<AtomicUsize>>>,
}

impl Tally {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Something that held `from` bytes holds `to`.
    pub(crate) fn grown(&self, from: usize, to: usize) {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        change(&self.bytes, from, to);
        if let Some(all) = &*cache {
            change(all, from, to);
        }
        drop(cache);
        EngineContext::current().registry.grown(from, to);
    }

    /// A cache has it from now on, if it has any: one cache at a time.
    pub(crate) fn count_in(&self, all: Option<&Arc<AtomicUsize>>) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *cache, all.cloned()) {
            change(&before, self.bytes(), 0);
        }
        if let Some(all) = all {
            change(all, 0, self.bytes());
        }
    }
}

/// Takes one number out of a sum and puts another in.
fn change(sum: &AtomicUsize, from: usize, to: usize) {
    if to >= from {
        sum.fetch_add(to - from, Ordering::Relaxed);
    } else {
        sum.fetch_sub(from - to, Ordering::Relaxed);
    }
}
