//! The Python binding: arguments, results and errors are converted here, and everything else is decided in the crates below.
//! One file per class, one table of errors.
//!
//! The interpreter is released around compilation, masks and batches; every class is safe to share between threads.

#![allow(clippy::needless_pass_by_value)] // PyO3 hands arguments out as values
#![allow(clippy::doc_markdown)] // what `stub!` writes is for readers of Python

include!(concat!(env!("OUT_DIR"), "/stubs.rs"));

mod arguments;
mod batch;
mod bitmask;
mod bounds;
mod compiler;
mod errors;
mod fork;
mod grammar;
mod limits;
mod matcher;
mod memory;
mod vocabulary;

/// The Rust core of `syntagma`; use the typed names of the package instead.
#[pyo3::pymodule(gil_used = false)]
mod _engine {
    #[pymodule_export]
    use crate::batch::{accept_token_batch, fill_next_token_bitmask_batch};
    #[pymodule_export]
    use crate::compiler::{CompiledGrammar, GrammarCompiler};
    #[pymodule_export]
    use crate::grammar::{Grammar, strict_schema};
    #[pymodule_export]
    use crate::matcher::GrammarMatcher;
    #[pymodule_export]
    use crate::vocabulary::{Vocabulary, read_tokenizer_json};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::memory::keep();
        crate::fork::register(module)
    }
}
