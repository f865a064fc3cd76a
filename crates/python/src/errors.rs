//! Errors of the crates below become exceptions of `syntagma.errors`, field by field.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use syntagma_grammar::{Diagnostic, SourceLocation};
use syntagma_host::{Error, ErrorKind};

use crate::fork::released;

/// An error as an exception of `syntagma.errors`.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let made = || {
        let fields = PyDict::new(py);
        diagnostic_fields(&fields, error)?;
        if error.kind() == ErrorKind::Schema {
            let pointers = PyDict::new(py);
            for (pointer, reason) in error.pointers() {
                pointers.set_item(pointer, reason)?;
            }
            fields.set_item("pointers", pointers)?;
        }
        if let Some((limit, given, allowed)) = error.limit() {
            fields.set_item("limit", limit)?;
            fields.set_item("given", given)?;
            fields.set_item("allowed", allowed)?;
        }
        let class = py.import("syntagma.errors")?.getattr(error.kind().name())?;
        class.call((error.code(), error.message()), Some(&fields))
    };
    match made() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The hint and the place of something that is said about a source.
pub(crate) fn diagnostic_fields(fields: &Bound<'_, PyDict>, said: &Diagnostic) -> PyResult<()> {
    fields.set_item("hint", said.hint())?;
    match said.location() {
        Some(SourceLocation::Text {
            offset,
            line,
            column,
            excerpt,
        }) => {
            fields.set_item("offset", offset)?;
            fields.set_item("line", line)?;
            fields.set_item("column", column)?;
            fields.set_item("excerpt", excerpt)?;
        }
        Some(SourceLocation::Pointer(pointer)) => fields.set_item("pointer", pointer)?,
        _ => {}
    }
    Ok(())
}

/// Runs work of the grammar crate with the interpreter released; a panic in it becomes an error too.
pub(crate) fn grammar<T: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce() -> Result<T, syntagma_grammar::Error>,
) -> PyResult<T> {
    released(py, || syntagma_engine::caught(|| Ok(work()?)))
        .map_err(|error| from_engine(py, &error))
}

/// An error of the engine crate.
pub(crate) fn from_engine(py: Python<'_>, error: &syntagma_engine::Error) -> PyErr {
    raise(py, &error.clone().into())
}

/// An argument that the binding itself refuses.
pub(crate) fn argument(py: Python<'_>, code: &'static str, message: &str) -> PyErr {
    raise(py, &Error::new(ErrorKind::Argument, code, message))
}

/// An argument that the conversion from Python refuses.
///
/// A wrong type is `E-ARGUMENT-TYPE`, a number out of range `E-ARGUMENT-VALUE`, a lone surrogate `E-ARGUMENT-TEXT`.
pub(crate) fn unconverted(py: Python<'_>, error: PyErr) -> PyErr {
    let message = error.value(py).to_string();
    let (kind, code) = if error.is_instance_of::<PyTypeError>(py) {
        (ErrorKind::ArgumentType, "E-ARGUMENT-TYPE")
    } else if error.is_instance_of::<PyOverflowError>(py) {
        (ErrorKind::Argument, "E-ARGUMENT-VALUE")
    } else if error.is_instance_of::<PyUnicodeError>(py) {
        (ErrorKind::Argument, "E-ARGUMENT-TEXT")
    } else {
        return error;
    };
    raise(py, &Error::new(kind, code, message))
}
