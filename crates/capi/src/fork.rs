//! Forks of the process.

use std::panic::catch_unwind;

use syntagma_engine::EngineContext;

/// Waits until no thread is at work in the library, and keeps others out. A process that forks and goes on using the library
/// calls it in the thread that forks; `pthread_atfork(syntagma_before_fork, syntagma_after_fork_in_parent,
/// syntagma_after_fork_in_child)` has it done for every fork.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_before_fork() {
    let _ = catch_unwind(|| EngineContext::current().before_fork());
}

/// Lets threads in again.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_after_fork_in_parent() {
    let _ = catch_unwind(|| EngineContext::current().after_fork_in_parent());
}

/// Makes the library usable in the child, with all handles and all that they know.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_after_fork_in_child() {
    let _ = catch_unwind(|| EngineContext::current().after_fork_in_child());
}
