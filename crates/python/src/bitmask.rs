//! Token bitmasks and logits in buffers that Python owns.
//!
//! Other threads may hold the same buffer, so it is never behind an exclusive Rust reference. Where the interpreter has its
//! lock, only the thread that holds it is here, and a mask is copied through a raw pointer. Without that lock two threads may
//! write one row at once: there, each word is stored as an atomic.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use syntagma_engine::{MaskRow, NextMask, bitmask_words};

use crate::errors::{argument, from_engine};

/// The C-contiguous, writable buffer behind `object`; tensors that are no buffers are asked for their `NumPy` view.
fn writable<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<T>> {
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

/// A bitmask of one or more rows.
pub(crate) struct Bitmask {
    buffer: PyBuffer<i32>,
    /// Words from one row to the next.
    stride: usize,
    pub(crate) rows: usize,
}

impl Bitmask {
    /// The bitmask in a one- or two-dimensional buffer, whose rows have room for the vocabulary.
    pub(crate) fn of(object: &Bound<'_, PyAny>, vocab_size: usize) -> PyResult<Self> {
        let buffer = writable::<i32>(object)?;
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
            return Err(argument(object.py(), "E-BITMASK-SIZE", &message));
        }
        Ok(Self {
            buffer,
            stride,
            rows,
        })
    }

    /// Writes a mask into the first words of a row, as many as its vocabulary takes.
    pub(crate) fn write(&self, py: Python<'_>, row: usize, mask: &NextMask) -> PyResult<()> {
        self.put(py, row, mask.word_count(), mask)
    }

    /// The same, and what follows in the row becomes zero, or all ones where the text has ended.
    pub(crate) fn write_whole(&self, py: Python<'_>, row: usize, mask: &NextMask) -> PyResult<()> {
        self.put(py, row, self.stride, mask)
    }

    /// Allows nothing in a row.
    pub(crate) fn clear(&self, py: Python<'_>, row: usize) {
        self.row(py, row, self.stride).fill_range(0..self.stride, 0);
    }

    fn put(&self, py: Python<'_>, row: usize, words: usize, mask: &NextMask) -> PyResult<()> {
        mask.write(&mut self.row(py, row, words))
            .map_err(|error| from_engine(py, &error))
    }

    /// The first words of a row. There must be such a row, and as many words.
    fn row<'a>(&'a self, py: Python<'a>, row: usize, words: usize) -> Row<'a> {
        assert!(row < self.rows && words <= self.stride);
        let start = self.buffer.buf_ptr().cast::<i32>();
        // SAFETY: a C-contiguous buffer of `rows * stride` elements, which `PyBuffer::get` has found aligned, holds row `row`,
        // as was asserted; it is writable, as `writable` has checked, and Python keeps it in place until `self` is dropped.
        unsafe { row_at(py, start.add(row * self.stride), words) }
    }
}

#[cfg(Py_GIL_DISABLED)]
type Row<'a> = &'a [std::sync::atomic::AtomicI32];

/// # Safety
/// From `start` on there are `words` aligned words that stay valid as long as the row. Whatever writes them meanwhile does so by
/// atomics: this crate, and whoever else shares the buffer.
#[cfg(Py_GIL_DISABLED)]
unsafe fn row_at(_: Python<'_>, start: *mut i32, words: usize) -> Row<'_> {
    // SAFETY: the caller promises the length, the alignment and the lifetime; `AtomicI32` has the layout of `i32`.
    unsafe { std::slice::from_raw_parts(start.cast(), words) }
}

#[cfg(not(Py_GIL_DISABLED))]
type Row<'a> = LockedRow<'a>;

/// # Safety
/// From `start` on there are `words` aligned words that stay valid as long as the row. Nobody writes them without the
/// interpreter's lock, which is held as long.
#[cfg(not(Py_GIL_DISABLED))]
unsafe fn row_at(py: Python<'_>, start: *mut i32, words: usize) -> Row<'_> {
    LockedRow {
        _lock: py,
        start,
        words,
    }
}

/// A row that nobody else writes meanwhile, since whoever writes here holds the interpreter's lock. It is never a slice, as
/// Python may hold other views of it.
#[cfg(not(Py_GIL_DISABLED))]
struct LockedRow<'py> {
    _lock: Python<'py>,
    start: *mut i32,
    words: usize,
}

#[cfg(not(Py_GIL_DISABLED))]
impl MaskRow for LockedRow<'_> {
    fn word_count(&self) -> usize {
        self.words
    }

    fn copy_from(&mut self, words: &[i32]) {
        assert!(words.len() <= self.words);
        // SAFETY: the row has as many words, as was asserted; `words` is the engine's own memory, so the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), self.start, words.len()) };
    }

    fn fill_range(&mut self, range: std::ops::Range<usize>, word: i32) {
        assert!(range.end <= self.words);
        for at in range {
            // SAFETY: `at` is below `range.end`, and so in the row.
            unsafe { self.start.add(at).write(word) };
        }
    }

    fn allow(&mut self, id: u32) {
        let at = id as usize / 32;
        assert!(at < self.words);
        // SAFETY: `at` lies in the row, as was asserted; there is no reference to the word.
        unsafe {
            let word = self.start.add(at);
            word.write(word.read() | 1 << (id % 32));
        }
    }
}

/// The logits of one sequence, of which there are at least as many as tokens.
pub(crate) struct Logits {
    buffer: PyBuffer<f32>,
}

impl Logits {
    /// The logits in a buffer of one sequence; None for other types of elements, shapes, and tensors on devices.
    pub(crate) fn of(object: &Bound<'_, PyAny>, vocab_size: usize) -> PyResult<Option<Self>> {
        let buffer = writable::<f32>(object).ok();
        let row = buffer.filter(|buffer| matches!(*buffer.shape(), [_] | [1, _]));
        let Some(buffer) = row else {
            return Ok(None);
        };
        let count = buffer.item_count();
        if count < vocab_size {
            let message = format!("there are {count} logits for {vocab_size} tokens");
            return Err(argument(object.py(), "E-BITMASK-SIZE", &message));
        }
        Ok(Some(Self { buffer }))
    }

    /// Sets the logits of all tokens but those of a row to minus infinity.
    pub(crate) fn close(&self, row: &[i32], vocab_size: usize) {
        let start = self.buffer.buf_ptr().cast::<AtomicU32>();
        // SAFETY: `PyBuffer::get` has found as many aligned `f32`s, of the layout of `AtomicU32`; Python keeps them in place
        // until `self` is dropped. They are read and written by atomics here.
        let logits = unsafe { std::slice::from_raw_parts(start, self.buffer.item_count()) };
        for (id, logit) in logits.iter().enumerate() {
            if id >= vocab_size || row[id / 32] >> (id % 32) & 1 == 0 {
                logit.store(f32::NEG_INFINITY.to_bits(), Ordering::Relaxed);
            }
        }
    }
}
