//! Locks and atomics: the standard library's. Under `--cfg loom`, unit tests have those of loom instead, which runs a test in
//! every order in which its threads may meet.

#[cfg(not(all(loom, test)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, OnceLock, RwLock, atomic},
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

/// loom has none: whether there is a value is one of its atomics, so it tries every order of setting and asking.
#[cfg(all(loom, test))]
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    is_set: atomic::AtomicBool,
    value: std::sync::OnceLock<T>,
}

#[cfg(all(loom, test))]
impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            is_set: atomic::AtomicBool::new(false),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        let is_set = self.is_set.load(atomic::Ordering::Acquire);
        is_set.then(|| self.value.get()).flatten()
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let result = self.value.set(value);
        self.is_set.store(true, atomic::Ordering::Release);
        result
    }

    pub(crate) fn get_or_init(&self, value: impl FnOnce() -> T) -> &T {
        let value = self.value.get_or_init(value);
        self.is_set.store(true, atomic::Ordering::Release);
        value
    }
}
