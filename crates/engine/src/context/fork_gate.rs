//! Keeps threads out of the engine while the process is forked.
//!
//! A forked child has one thread. A lock that another thread held at that moment stays locked in the child for ever, and
//! what it guards stays half done; that goes for the allocator's locks, too. So whoever forks waits until every thread has
//! left the engine. There is no lock here that could be left locked: whoever waits looks again a little later, which is
//! soon enough, as a fork takes longer.

use crate::tuning;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;

/// Set while the process is forked; the other bits count the threads at work.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Counts threads at work, until it is closed.
#[derive(Debug, Default)]
pub(super) struct ForkGate {
    state: AtomicUsize,
}

/// Says that a thread is at work in the engine: the process is not forked before it is dropped.
#[derive(Debug)]
pub struct AtWork(&'static ForkGate);

impl ForkGate {
    /// Waits until the gate is open, and goes in.
    pub(super) fn enter(&'static self) -> AtWork {
        // The count is right at every moment, so that a child may rely on it.
        while !self.change(|state| (state & CLOSED == 0).then_some(state + 1)) {
            sleep(tuning::FORK_POLL);
        }
        AtWork(self)
    }

    /// Goes in for a thread that the caller, who is inside, is about to start: so it need not wait.
    pub(super) fn enter_for_new_thread(&'static self) -> AtWork {
        self.state.fetch_add(1, Ordering::Acquire);
        AtWork(self)
    }

    /// Closes it, and waits until everybody has left.
    pub(super) fn close(&self) {
        while !self.change(|state| (state & CLOSED == 0).then_some(state | CLOSED)) {
            sleep(tuning::FORK_POLL);
        }
        while self.state.load(Ordering::Acquire) != CLOSED {
            sleep(tuning::FORK_POLL);
        }
    }

    /// Opens it; in a child that was forked without closing it, nobody is left inside.
    pub(super) fn open(&self) {
        self.state.store(0, Ordering::Release);
    }

    fn change(&self, to: impl FnMut(usize) -> Option<usize>) -> bool {
        self.state
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, to)
            .is_ok()
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::ForkGate;
    use crate::tuning;

    #[test]
    fn whoever_closes_waits_for_those_inside_and_keeps_others_out() {
        static GATE: ForkGate = ForkGate {
            state: std::sync::atomic::AtomicUsize::new(0),
        };
        static INSIDE: AtomicBool = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _at_work = GATE.enter();
                        INSIDE.store(true, Ordering::SeqCst);
                    }
                });
            }
            for _ in 0..50 {
                GATE.close();
                INSIDE.store(false, Ordering::SeqCst);
                thread::sleep(tuning::FORK_POLL);
                assert!(!INSIDE.load(Ordering::SeqCst), "somebody is inside");
                GATE.open();
            }
        });
    }
}
