//! Work with the interpreter released, and forks of the process.
//!
//! A thread that holds the interpreter cannot be interrupted by a fork, since the thread that forks holds it then. A thread that
//! has released it may be anywhere: so it says that it is at work, and `os.fork` waits for it.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use syntagma_engine::EngineContext;

/// Releases the interpreter for some work. Forks wait until it is done, so it must not need the interpreter.
pub(crate) fn released<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> T {
    py.detach(|| {
        let _at_work = EngineContext::current().at_work();
        work()
    })
}

/// Looks up what is known, which waits for nobody and takes less time than letting the interpreter go: it is held, which also
/// keeps forks away. An interpreter that is free-threaded does not, and is let go at little cost.
pub(crate) fn at_hand<T: Send>(py: Python<'_>, look: impl Send + FnOnce() -> T) -> T {
    if cfg!(Py_GIL_DISABLED) {
        return released(py, look);
    }
    look()
}

#[pyfunction]
fn before_fork(py: Python<'_>) {
    py.detach(|| EngineContext::current().before_fork());
}

#[pyfunction]
fn after_fork_in_parent() {
    EngineContext::current().after_fork_in_parent();
}

#[pyfunction]
fn after_fork_in_child() {
    EngineContext::current().after_fork_in_child();
}

/// Has `os.fork` keep to this, where there is one.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Made now, with the interpreter held, or a fork could cut through it.
    let _ = EngineContext::current();
    let py = module.py();
    let os = py.import("os")?;
    let Some(register) = os.getattr_opt("register_at_fork")? else {
        return Ok(());
    };
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    let in_parent = wrap_pyfunction!(after_fork_in_parent, module)?;
    hooks.set_item("after_in_parent", in_parent)?;
    let in_child = wrap_pyfunction!(after_fork_in_child, module)?;
    hooks.set_item("after_in_child", in_child)?;
    register.call((), Some(&hooks)).map(|_| ())
}
