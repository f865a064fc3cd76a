//! Bounds on labelled parts of a text, as Python has them and as the engine takes them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::unconverted;

/// A bound on a labelled part: label, unit (`tokens` or `bytes`), at most so much.
pub(crate) type GivenBound = (String, String, u32);

/// The bounds of a `syntagma.Budgets`.
pub(crate) fn bounds_of(budgets: &Bound<'_, PyAny>) -> PyResult<Vec<syntagma_engine::Bound>> {
    let Ok(bounds) = budgets.getattr("bounds") else {
        let message = format!(
            "budgets is Budgets or None, not a {}",
            budgets.get_type().name()?
        );
        return Err(unconverted(budgets.py(), PyTypeError::new_err(message)));
    };
    Ok(read_bounds(bounds.call0()?.extract()?))
}

/// Bounds as the engine takes them; none but `tokens` counts tokens.
pub(crate) fn read_bounds(given: Vec<GivenBound>) -> Vec<syntagma_engine::Bound> {
    let read = |(label, unit, most): GivenBound| syntagma_engine::Bound {
        label: label.into(),
        unit: if unit == "tokens" {
            syntagma_engine::Unit::Tokens
        } else {
            syntagma_engine::Unit::Bytes
        },
        most,
    };
    given.into_iter().map(read).collect()
}

/// A bound as Python has it.
pub(crate) fn given_bound(bound: &syntagma_engine::Bound) -> GivenBound {
    let unit = match bound.unit {
        syntagma_engine::Unit::Tokens => "tokens",
        syntagma_engine::Unit::Bytes => "bytes",
    };
    (bound.label.to_string(), unit.to_owned(), bound.most)
}
