//! `_engine.GrammarCompiler` and `_engine.CompiledGrammar`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::Given;
use crate::bounds::{GivenBound, read_bounds};
use crate::errors::from_engine;
use crate::fork::released;
use crate::grammar::Grammar;
use crate::limits::engine_limits;
use crate::memory;
use crate::vocabulary::Vocabulary;

/// Compiles grammars for one vocabulary.
#[pyclass(frozen, module = "syntagma._engine")]
pub(crate) struct GrammarCompiler {
    inner: syntagma_engine::GrammarCompiler,
    /// Compilations when memory was last got ready.
    ready: AtomicU64,
}

#[pymethods]
impl GrammarCompiler {
    #[new]
    fn new(
        py: Python<'_>,
        vocabulary: &Vocabulary,
        cache: bool,
        verify: bool,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let limits = engine_limits(limits)?;
        let vocabulary = Arc::clone(&vocabulary.0);
        let compiler = released(py, || {
            syntagma_engine::GrammarCompiler::new(vocabulary, limits)
        });
        let inner = compiler.with_cache(cache).with_verify(verify);
        Ok(Self {
            inner,
            ready: AtomicU64::new(u64::MAX),
        })
    }

    fn compile(&self, py: Python<'_>, grammar: &Grammar) -> PyResult<CompiledGrammar> {
        released(py, || {
            let compiled = self.inner.compile(&grammar.0);
            let done = self.inner.stats().misses;
            if self.ready.swap(done, Ordering::Relaxed) != done {
                memory::get_ready();
            }
            compiled
        })
        .map(|compiled| CompiledGrammar {
            inner: compiled,
            bounds: Vec::new(),
        })
        .map_err(|error| from_engine(py, &error))
    }

    fn clear(&self, py: Python<'_>) {
        released(py, || {
            self.inner.clear();
            memory::give_back();
        });
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.inner.stats();
        let dict = PyDict::new(py);
        dict.set_item("hits", stats.hits)?;
        dict.set_item("misses", stats.misses)?;
        dict.set_item("entries", stats.entries)?;
        dict.set_item("bytes", stats.bytes)?;
        Ok(dict)
    }
}

/// A grammar compiled for a vocabulary. Immutable to the eye; shared between matchers and threads.
#[pyclass(frozen, module = "syntagma._engine")]
pub(crate) struct CompiledGrammar {
    pub(crate) inner: Arc<syntagma_engine::CompiledGrammar>,
    /// What its matchers keep to unless they are told otherwise.
    pub(crate) bounds: Vec<syntagma_engine::Bound>,
}

#[pymethods]
impl CompiledGrammar {
    #[doc = stub!("CompiledGrammar.bounded")]
    fn bounded(&self, bounds: Given<Vec<GivenBound>>) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            bounds: read_bounds(bounds.0),
        }
    }

    #[doc = stub!("CompiledGrammar.vocab_size")]
    #[getter]
    fn vocab_size(&self) -> usize {
        self.inner.vocabulary().size()
    }

    #[doc = stub!("CompiledGrammar.fingerprint")]
    #[getter]
    fn fingerprint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let fingerprint = released(py, || self.inner.fingerprint());
        PyBytes::new(py, &fingerprint.to_le_bytes())
    }

    #[doc = stub!("CompiledGrammar.report_pointers")]
    fn report_pointers(&self) -> Vec<(String, String)> {
        self.inner.report().pointers.clone()
    }

    #[doc = stub!("CompiledGrammar.stats")]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = released(py, || self.inner.stats());
        let dict = PyDict::new(py);
        dict.set_item("states", stats.states)?;
        dict.set_item("sets", stats.sets)?;
        dict.set_item("residuals", stats.residuals)?;
        dict.set_item("masks", stats.masks)?;
        dict.set_item("bytes", stats.bytes)?;
        dict.set_item("generation", stats.generation)?;
        Ok(dict)
    }
}
