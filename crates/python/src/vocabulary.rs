//! `_engine.Vocabulary`: tokens as bytes.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use syntagma_engine::{VocabularyParts, caught};
use syntagma_host::TokenizerJson;

use crate::errors::{from_engine, raise};
use crate::fork::released;

/// A vocabulary. Immutable.
#[pyclass(frozen, module = "syntagma._engine")]
pub(crate) struct Vocabulary(pub(crate) Arc<syntagma_engine::Vocabulary>);

#[pymethods]
impl Vocabulary {
    #[new]
    fn new(
        py: Python<'_>,
        tokens: Vec<Vec<u8>>,
        eos_ids: Vec<u32>,
        special_ids: Vec<u32>,
        marker_ids: Vec<u32>,
        vocab_size: usize,
    ) -> PyResult<Self> {
        let parts = VocabularyParts {
            tokens,
            special_ids,
            marker_ids,
            eos_ids,
            vocab_size: Some(vocab_size),
        };
        released(py, || caught(|| syntagma_engine::Vocabulary::new(&parts)))
            .map(|vocabulary| Self(Arc::new(vocabulary)))
            .map_err(|error| from_engine(py, &error))
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.size()
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// The tokens of a `tokenizer.json`, by id, the special ones, and those that are added.
type Read<'py> = (Vec<Bound<'py, PyBytes>>, Vec<u32>, Vec<u32>);

#[pyfunction]
pub(crate) fn read_tokenizer_json<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Read<'py>> {
    let read = released(py, || TokenizerJson::read(text)).map_err(|error| raise(py, &error))?;
    let tokens = read.tokens.iter();
    let tokens = tokens.map(|token| PyBytes::new(py, token)).collect();
    Ok((tokens, read.special_ids, read.added_ids))
}
