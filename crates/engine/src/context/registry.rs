//! What all compiled grammars of the process hold together, and how that is kept within bounds.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What can be given up, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relief {
    /// Masks and what they are made from.
    Masks,
    /// Where tokens lead.
    Steps,
    /// All states, sets and residuals.
    Everything,
}

/// A compiled grammar, as the registry knows it.
pub(crate) trait Registered: Debug + Send + Sync {
    /// When it was last used, as [`Registry::now`] counts.
    fn used(&self) -> u64;

    /// Gives something up, unless somebody is at work there.
    fn relieve(&self, relief: Relief);
}

/// All compiled grammars, and a count of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Approximate bytes of all generations that live.
    held: AtomicUsize,
    /// Below this nothing is looked for that could be given up: the last time there was no more than that.
    due: AtomicUsize,
    /// Counts what is opened.
    clock: AtomicU64,
    /// Every compiled grammar that lives, and some that do not any more.
    compiled: Mutex<Vec<Weak<dyn Registered>>>,
}

impl Registry {
    /// The order in which compiled grammars are used.
    pub(crate) fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes note of a compiled grammar.
    pub(crate) fn register(&self, one: Weak<dyn Registered>) {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if compiled.len() == compiled.capacity() {
            compiled.retain(|one| one.strong_count() > 0);
        }
        compiled.push(one);
    }

    /// Takes note of the size of a generation that had another one.
    pub(crate) fn grown(&self, from: usize, to: usize) {
        if to >= from {
            self.held.fetch_add(to - from, Ordering::Relaxed);
        } else {
            self.held.fetch_sub(from - to, Ordering::Relaxed);
        }
    }

    /// Gives up what was not used for longest, masks of all before states of any, if there is more than so many bytes.
    pub(crate) fn keep_within(&self, most: usize) {
        let held = || self.held.load(Ordering::Relaxed);
        if held() <= most.max(self.due.load(Ordering::Relaxed)) {
            return;
        }
        // Somebody else sees to it.
        let Ok(compiled) = self.compiled.try_lock() else {
            return;
        };
        let mut compiled: Vec<Arc<dyn Registered>> =
            compiled.iter().filter_map(Weak::upgrade).collect();
        compiled.sort_by_key(|one| one.used());
        let enough = most / 4 * 3;
        for relief in [Relief::Masks, Relief::Steps, Relief::Everything] {
            for one in &compiled {
                if held() <= enough {
                    break;
                }
                one.relieve(relief);
            }
        }
        self.due.store(held() / 4 * 5, Ordering::Relaxed);
    }
}
