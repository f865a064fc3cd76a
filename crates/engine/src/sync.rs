//! Locks and atomics: the standard library's. Under `--cfg loom`, unit tests have those of loom instead, which runs a test in
//! every order in which its threads may meet.

#[cfg(not(all(loom, test)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, atomic},
    thread,
};

#[cfg(all(loom, test))]
pub(crate) use loom::{
    sync::{Condvar, Mutex, MutexGuard, RwLock, atomic},
    thread,
};

/// Lets other threads do something, for so long about.
pub(crate) fn pause(time: std::time::Duration) {
    #[cfg(not(all(loom, test)))]
    thread::sleep(time);
    #[cfg(all(loom, test))]
    {
        let _ = time;
        thread::yield_now();
    }
}
