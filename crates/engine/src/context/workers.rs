//! Threads that take part in what somebody else is doing, and that nobody waits for.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::fork_gate::{AtWork, ForkGate};
use crate::tuning;

/// Work that several threads can do together.
pub(crate) trait Job: Send + Sync {
    /// Does what nobody else has begun, and returns.
    fn take_part(&self);
}

/// Worker threads and the jobs that wait for them.
#[derive(Debug, Default)]
pub(super) struct Workers {
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Each job as often as workers are wanted for it.
    jobs: VecDeque<Arc<dyn Job>>,
    threads: usize,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} jobs, {} threads", self.jobs.len(), self.threads)
    }
}

impl Workers {
    /// Asks so many workers to take part, unless that would mean to wait. The caller is inside of the gate.
    pub(super) fn offer(
        self: &Arc<Self>,
        job: &Arc<dyn Job>,
        helpers: usize,
        gate: &'static ForkGate,
    ) {
        let Ok(mut queue) = self.queue.try_lock() else {
            return;
        };
        for _ in 0..helpers {
            queue.jobs.push_back(Arc::clone(job));
        }
        while queue.threads < helpers.min(tuning::MAX_THREADS) {
            // A thread that begins has work to do in the allocator.
            let (workers, beginning) = (Arc::clone(self), gate.enter_for_new_thread());
            let thread = thread::Builder::new().name("syntagma".into());
            if thread.spawn(move || workers.work(gate, beginning)).is_err() {
                break;
            }
            queue.threads += 1;
        }
        drop(queue);
        for _ in 0..helpers {
            self.more.notify_one();
        }
    }

    /// Workers that have not come by now need not come any more.
    pub(super) fn withdraw(&self, job: &Arc<dyn Job>) {
        if let Ok(mut queue) = self.queue.try_lock() {
            queue.jobs.retain(|one| !Arc::ptr_eq(one, job));
        }
    }

    /// What a worker does all its life.
    fn work(&self, gate: &'static ForkGate, beginning: AtWork) {
        drop(beginning);
        loop {
            self.wait_for_jobs();
            let _at_work = gate.enter();
            let job = self.lock().jobs.pop_front();
            if let Some(job) = job {
                job.take_part();
            }
        }
    }

    /// Neither takes nor drops anything, since the process may be forked meanwhile.
    fn wait_for_jobs(&self) {
        let waiting = self
            .more
            .wait_while(self.lock(), |queue| queue.jobs.is_empty());
        drop(waiting.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
