//! The table of errors: an error of the crates below becomes an exception of `syntagma.errors`, field by field.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use syntagma_grammar::{Diagnostic, ErrorKind, SourceLocation};

use crate::fork::released;

/// An exception of `syntagma.errors`, named by its class.
fn raise(
    py: Python<'_>,
    class: &str,
    code: &str,
    message: &str,
    fields: &Bound<'_, PyDict>,
) -> PyErr {
    let made = py
        .import("syntagma.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call((code, message), Some(fields)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An error of the grammar crate.
pub(crate) fn from_grammar(py: Python<'_>, error: &syntagma_grammar::Error) -> PyErr {
    let fields = PyDict::new(py);
    match grammar_fields(&fields, error) {
        Ok(class) => raise(py, class, error.code(), error.message(), &fields),
        Err(error) => error,
    }
}

fn grammar_fields(
    fields: &Bound<'_, PyDict>,
    error: &syntagma_grammar::Error,
) -> PyResult<&'static str> {
    diagnostic_fields(fields, error)?;
    Ok(match error.kind() {
        ErrorKind::Schema => {
            let pointers = PyDict::new(fields.py());
            for (pointer, reason) in error.pointers() {
                pointers.set_item(pointer, reason)?;
            }
            fields.set_item("pointers", pointers)?;
            "UnsupportedSchema"
        }
        ErrorKind::Limit => {
            if let Some((limit, given, allowed)) = error.limit_detail() {
                fields.set_item("limit", limit)?;
                fields.set_item("given", given)?;
                fields.set_item("allowed", allowed)?;
            }
            "LimitError"
        }
        _ => "GrammarError",
    })
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
    if let Some(source) = error.grammar_error() {
        return from_grammar(py, source);
    }
    let fields = PyDict::new(py);
    let filled = fields
        .set_item("hint", error.hint())
        .and_then(|()| match error.limit_detail() {
            Some((limit, allowed)) => {
                fields.set_item("limit", limit)?;
                fields.set_item("allowed", allowed)
            }
            None => Ok(()),
        });
    if let Err(error) = filled {
        return error;
    }
    let class = match error.kind() {
        syntagma_engine::ErrorKind::Grammar => "GrammarError",
        syntagma_engine::ErrorKind::Vocabulary => "VocabularyError",
        syntagma_engine::ErrorKind::Argument => "ArgumentError",
        syntagma_engine::ErrorKind::Limit => "LimitError",
        // Whatever else there may be one day is nothing that a caller did.
        _ => "MatcherError",
    };
    raise(py, class, error.code(), error.message(), &fields)
}

/// An argument that the binding itself refuses.
pub(crate) fn argument(py: Python<'_>, code: &str, message: &str) -> PyErr {
    raise(py, "ArgumentError", code, message, &PyDict::new(py))
}

/// An argument that the conversion from Python refuses.
///
/// A wrong type is `E-ARGUMENT-TYPE`, a number out of range `E-ARGUMENT-VALUE`, a lone surrogate `E-ARGUMENT-TEXT`.
pub(crate) fn unconverted(py: Python<'_>, error: PyErr) -> PyErr {
    let message = error.value(py).to_string();
    let (class, code) = if error.is_instance_of::<PyTypeError>(py) {
        ("ArgumentTypeError", "E-ARGUMENT-TYPE")
    } else if error.is_instance_of::<PyOverflowError>(py) {
        ("ArgumentError", "E-ARGUMENT-VALUE")
    } else if error.is_instance_of::<PyUnicodeError>(py) {
        ("ArgumentError", "E-ARGUMENT-TEXT")
    } else {
        return error;
    };
    raise(py, class, code, &message, &PyDict::new(py))
}
