//! Many matchers in one call.

use pyo3::prelude::*;

use crate::arguments::Given;
use crate::bitmask::Bitmask;
use crate::errors::{argument, from_engine};
use crate::fork::{at_hand, released};
use crate::matcher::GrammarMatcher;

/// Fills one row for each matcher; several threads if asked.
#[pyfunction]
#[pyo3(signature = (matchers, bitmask, indices, threads))]
pub(crate) fn fill_next_token_bitmask_batch(
    py: Python<'_>,
    matchers: Given<Vec<PyRef<'_, GrammarMatcher>>>,
    bitmask: &Bound<'_, PyAny>,
    indices: Given<Option<Vec<usize>>>,
    threads: Given<Option<usize>>,
) -> PyResult<()> {
    let Some(first) = matchers.first() else {
        return Ok(());
    };
    let bitmask = Bitmask::of(bitmask, first.inner.compiled().vocabulary().size())?;
    let inner: Vec<&syntagma_engine::GrammarMatcher> =
        matchers.iter().map(|matcher| &matcher.inner).collect();
    let targets: Vec<usize> = indices.0.unwrap_or_else(|| (0..inner.len()).collect());
    if targets.len() != inner.len() || targets.iter().any(|&row| row >= bitmask.rows) {
        return Err(argument(
            py,
            "E-BITMASK-INDEX",
            "each matcher needs one row of the bitmask",
        ));
    }
    let known: Option<Vec<_>> = at_hand(py, || {
        inner.iter().map(|matcher| matcher.known_mask()).collect()
    });
    let masks = match known {
        Some(masks) => masks,
        None => released(py, || syntagma_engine::next_masks(&inner, *threads))
            .map_err(|error| from_engine(py, &error))?,
    };
    for (row, mask) in targets.into_iter().zip(&masks) {
        bitmask.write_whole(py, row, mask)?;
    }
    Ok(())
}

/// Accepts one token on each matcher; several threads if asked.
#[pyfunction]
#[pyo3(signature = (matchers, ids, threads))]
pub(crate) fn accept_token_batch(
    py: Python<'_>,
    mut matchers: Given<Vec<PyRefMut<'_, GrammarMatcher>>>,
    ids: Given<Vec<u32>>,
    threads: Given<Option<usize>>,
) -> PyResult<Vec<bool>> {
    let mut inner: Vec<&mut syntagma_engine::GrammarMatcher> = matchers
        .0
        .iter_mut()
        .map(|matcher| &mut matcher.inner)
        .collect();
    released(py, || {
        syntagma_engine::accept_token_batch(&mut inner, &ids, *threads)
    })
    .and_then(|answers| answers.into_iter().collect())
    .map_err(|error| from_engine(py, &error))
}
