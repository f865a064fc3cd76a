//! What all compiled grammars of the process hold together, and how that is kept within bounds.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::generation::{Current, Relief};

/// Approximate bytes of all generations that live.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Below this nothing is looked for that could be given up: the last time there was no more than that.
static DUE: AtomicUsize = AtomicUsize::new(0);

/// Counts what is opened.
static CLOCK: AtomicU64 = AtomicU64::new(0);

/// Every compiled grammar that lives, and some that do not any more.
static COMPILED: Mutex<Vec<Weak<Current>>> = Mutex::new(Vec::new());

/// The order in which compiled grammars are used.
pub(crate) fn now() -> u64 {
    CLOCK.fetch_add(1, Ordering::Relaxed)
}

/// Takes note of a compiled grammar.
pub(crate) fn register(current: &Arc<Current>) {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if compiled.len() == compiled.capacity() {
        compiled.retain(|one| one.strong_count() > 0);
    }
    compiled.push(Arc::downgrade(current));
}

/// Takes note of the size of a generation that had another one.
pub(crate) fn grown(from: usize, to: usize) {
    if to >= from {
        HELD.fetch_add(to - from, Ordering::Relaxed);
    } else {
        HELD.fetch_sub(from - to, Ordering::Relaxed);
    }
}

/// Gives up what was not used for longest, masks of all before states of any, if there is more than so many bytes.
pub(crate) fn keep_within(most: usize) {
    let held = || HELD.load(Ordering::Relaxed);
    if held() <= most.max(DUE.load(Ordering::Relaxed)) {
        return;
    }
    // Somebody else sees to it.
    let Ok(compiled) = COMPILED.try_lock() else {
        return;
    };
    let mut compiled: Vec<Arc<Current>> = compiled.iter().filter_map(Weak::upgrade).collect();
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
    DUE.store(held() / 4 * 5, Ordering::Relaxed);
}
