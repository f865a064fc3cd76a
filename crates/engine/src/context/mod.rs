//! What the engine holds for the whole process, all of it here.

mod fork_gate;
mod registry;
mod workers;

use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

pub use fork_gate::AtWork;

use self::fork_gate::ForkGate;
use self::workers::Workers;
use crate::automaton::partition::Partitions;

pub(crate) use registry::{Registered, Registry, Relief};
pub(crate) use workers::Job;

/// The state of the process: the registry of compiled grammars, the store of byte partitions, the worker threads, and what
/// keeps a fork from cutting through any of it. There is one; it is the engine's only global.
///
/// A process that forks calls [`before_fork`](Self::before_fork) in the thread that forks, and then
/// [`after_fork_in_parent`](Self::after_fork_in_parent) and [`after_fork_in_child`](Self::after_fork_in_child). Other
/// threads that may be at work in the engine at that time hold an [`AtWork`] meanwhile. All grammars, compilers and
/// matchers then go on in the child with everything that they know.
#[derive(Debug)]
pub struct EngineContext {
    fork_gate: ForkGate,
    pub(crate) registry: Registry,
    pub(crate) partitions: Partitions,
    /// Drawn for this process, so that nobody outside can aim at a collision of fingerprints.
    pub(crate) secrets: [u64; 2],
    /// Replaced in a forked child, which has none of the threads.
    workers: Mutex<Arc<Workers>>,
}

/// A number that nobody outside can know.
fn secret(at: u64) -> u64 {
    // The standard library has no source of random numbers there; the maps have what the host drew.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    let state = crate::maps::Seeded::default();
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    let state = std::hash::RandomState::new();
    state.hash_one(at)
}

impl EngineContext {
    /// The context of this process.
    #[must_use]
    pub fn current() -> &'static Self {
        static CURRENT: LazyLock<EngineContext> = LazyLock::new(|| EngineContext {
            fork_gate: ForkGate::default(),
            registry: Registry::default(),
            partitions: Partitions::default(),
            secrets: [0, 1].map(secret),
            workers: Mutex::default(),
        });
        &CURRENT
    }

    /// Says that this thread is at work in the engine, until the guard is dropped. Waits while the process is forked. A
    /// thread that holds a guard must not ask for another one, nor wait for a thread that might.
    pub fn at_work(&'static self) -> AtWork {
        self.fork_gate.enter()
    }

    /// Waits until no thread is at work in the engine, and keeps them out from then on.
    pub fn before_fork(&self) {
        self.fork_gate.close();
    }

    /// Lets threads work again.
    pub fn after_fork_in_parent(&self) {
        self.fork_gate.open();
    }

    /// Lets threads work again, with worker threads of the child's own.
    pub fn after_fork_in_child(&self) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that does not exist here may hold the lock in the old one: nobody may touch it, so it is never dropped.
        std::mem::forget(std::mem::take(&mut *workers));
        drop(workers);
        self.fork_gate.open();
    }

    /// Asks so many worker threads to take part, unless that would mean to wait. The caller is [`AtWork`].
    pub(crate) fn offer(&'static self, job: &Arc<dyn Job>, helpers: usize) {
        self.workers().offer(job, helpers, &self.fork_gate);
    }

    /// Workers that have not come to a job by now need not come any more.
    pub(crate) fn withdraw(&self, job: &Arc<dyn Job>) {
        self.workers().withdraw(job);
    }

    fn workers(&self) -> Arc<Workers> {
        Arc::clone(&self.workers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
