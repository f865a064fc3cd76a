//! Keeps threads out of the engine while the process is forked.
//!
//! A forked child has one thread. A lock that another thread held at that moment stays locked in the child for ever, and
//! what it guards stays half done; that goes for the allocator's locks, too. So whoever forks waits until every thread has
//! left the engine. There is no lock here that could be left locked: whoever waits looks again a little later, which is
//! soon enough, as a fork takes longer.

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::pause;
use crate::tuning;

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
            pause(tuning::FORK_POLL);
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
            pause(tuning::FORK_POLL);
        }
        while self.state.load(Ordering::Acquire) != CLOSED {
            pause(tuning::FORK_POLL);
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

#[cfg(all(test, not(loom)))]
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

/// In every order of threads.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::model;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    use super::ForkGate;

    /// Gates live for ever, so each order has one of its own.
    fn gate() -> &'static ForkGate {
        Box::leak(Box::default())
    }

    #[test]
    fn nobody_is_inside_while_it_is_closed() {
        model(|| {
            let gate = gate();
            let inside = Arc::new(AtomicUsize::new(0));
            let worker = {
                let inside = Arc::clone(&inside);
                thread::spawn(move || {
                    let at_work = gate.enter();
                    inside.fetch_add(1, Ordering::Relaxed);
                    let beginning = gate.enter_for_new_thread();
                    drop(at_work);
                    inside.fetch_sub(1, Ordering::Relaxed);
                    drop(beginning);
                })
            };
            gate.close();
            assert_eq!(inside.load(Ordering::Relaxed), 0, "somebody is inside");
            gate.open();
            worker.join().unwrap();
        });
    }

    #[test]
    fn two_who_close_take_turns() {
        model(|| {
            let gate = gate();
            let closed = Arc::new(AtomicUsize::new(0));
            let close = |closed: &AtomicUsize| {
                gate.close();
                assert_eq!(closed.fetch_add(1, Ordering::Relaxed), 0, "both closed it");
                closed.fetch_sub(1, Ordering::Relaxed);
                gate.open();
            };
            let other = {
                let closed = Arc::clone(&closed);
                thread::spawn(move || close(&closed))
            };
            close(&closed);
            other.join().unwrap();
        });
    }
}
