//! Rows of token bitmasks in buffers that Python owns.

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use syntagma_engine::bitmask_words;

use crate::errors::{argument, from_engine};
use crate::matcher::GrammarMatcher;

/// The C-contiguous, writable buffer behind `object`; tensors that are no buffers are asked for their `NumPy` view.
pub(crate) fn writable<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<T>> {
    let py = object.py();
    let buffer = PyBuffer::<T>::get(object).or_else(|error| {
        let Ok(view) = object.call_method0("numpy") else {
            let message = format!("needs a writable buffer of the right element type: {error}");
            return Err(argument(py, "E-BITMASK-BUFFER", &message));
        };
        PyBuffer::<T>::get(&view)
    })?;
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(argument(
            py,
            "E-BITMASK-BUFFER",
            "the buffer must be writable and C-contiguous",
        ));
    }
    Ok(buffer)
}

/// Words per row and number of rows of a one- or two-dimensional bitmask.
pub(crate) fn shape(
    py: Python<'_>,
    buffer: &PyBuffer<i32>,
    vocab_size: usize,
) -> PyResult<(usize, usize)> {
    let (rows, stride) = match *buffer.shape() {
        [words] => (1, words),
        [rows, words] => (rows, words),
        _ => (0, 0),
    };
    let needed = bitmask_words(vocab_size);
    if stride < needed {
        let message = format!(
            "a row of {vocab_size} tokens has {needed} words of 32 bits, this one {stride}"
        );
        return Err(argument(py, "E-BITMASK-SIZE", &message));
    }
    Ok((stride, rows))
}

/// Some elements of a buffer, for as long as the interpreter is held and runs nothing else.
pub(crate) fn row_of<'a>(
    py: Python<'a>,
    buffer: &'a PyBuffer<i32>,
    start: usize,
    words: usize,
) -> Option<&'a mut [i32]> {
    let cells = buffer.as_mut_slice(py)?.get(start..start + words)?;
    // SAFETY: the cells are `i32` of a writable buffer, which lives as long as the borrow of `buffer`. Nobody else reads
    // or writes them: the caller holds the interpreter and asks for one row at a time.
    Some(unsafe { std::slice::from_raw_parts_mut(cells.as_ptr().cast_mut().cast(), words) })
}

/// The elements of a buffer, for writing while the interpreter is held.
pub(crate) fn write<T: Element>(py: Python<'_>, buffer: &PyBuffer<T>, offset: usize, values: &[T]) {
    if let Some(cells) = buffer.as_mut_slice(py) {
        for (cell, &value) in cells[offset..].iter().zip(values) {
            cell.set(value);
        }
    }
}

/// Fills one row for each matcher; several threads if asked.
#[pyfunction]
#[pyo3(signature = (matchers, bitmask, indices, threads))]
#[allow(clippy::needless_pass_by_value)] // PyO3 hands out owned references
pub(crate) fn fill_next_token_bitmask_batch(
    py: Python<'_>,
    matchers: Vec<PyRef<'_, GrammarMatcher>>,
    bitmask: &Bound<'_, PyAny>,
    indices: Option<Vec<usize>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let Some(first) = matchers.first() else {
        return Ok(());
    };
    let buffer = writable::<i32>(bitmask)?;
    let (stride, rows) = shape(py, &buffer, first.inner.compiled().vocabulary().size())?;
    let inner: Vec<&syntagma_engine::GrammarMatcher> =
        matchers.iter().map(|matcher| &matcher.inner).collect();
    let targets: Vec<usize> = indices.unwrap_or_else(|| (0..inner.len()).collect());
    if targets.len() != inner.len() || targets.iter().any(|&row| row >= rows) {
        return Err(argument(
            py,
            "E-BITMASK-INDEX",
            "each matcher needs one row of the bitmask",
        ));
    }
    // Rows are filled apart from the buffer, so that no other thread sees it while the interpreter is released.
    let mut scratch = vec![0_i32; stride * inner.len()];
    py.detach(|| {
        syntagma_engine::fill_next_token_bitmask_batch(&inner, &mut scratch, stride, None, threads)
    })
    .map_err(|error| from_engine(py, &error))?;
    for (row, values) in targets.into_iter().zip(scratch.chunks_exact(stride)) {
        write(py, &buffer, row * stride, values);
    }
    Ok(())
}

/// Accepts one token on each matcher; several threads if asked.
#[pyfunction]
#[pyo3(signature = (matchers, ids, threads))]
#[allow(clippy::needless_pass_by_value)] // PyO3 hands out owned lists
pub(crate) fn accept_token_batch(
    py: Python<'_>,
    mut matchers: Vec<PyRefMut<'_, GrammarMatcher>>,
    ids: Vec<u32>,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    let mut inner: Vec<&mut syntagma_engine::GrammarMatcher> = matchers
        .iter_mut()
        .map(|matcher| &mut matcher.inner)
        .collect();
    py.detach(|| syntagma_engine::accept_token_batch(&mut inner, &ids, threads))
        .and_then(|answers| answers.into_iter().collect())
        .map_err(|error| from_engine(py, &error))
}
