//! `_engine.GrammarMatcher`: one text as it grows.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use syntagma_engine::{Verdict, bitmask_words};

use crate::arguments::Given;
use crate::bitmask::{Bitmask, Logits};
use crate::compiler::{CompiledGrammar, bounds_of};
use crate::errors::{argument, engine, from_engine};
use crate::fork::released;

/// Follows one text through a compiled grammar.
#[pyclass(module = "syntagma._engine")]
pub(crate) struct GrammarMatcher {
    pub(crate) inner: syntagma_engine::GrammarMatcher,
    /// One bitmask row, reused; empty before it is needed.
    row: Vec<i32>,
}

impl GrammarMatcher {
    fn of(inner: syntagma_engine::GrammarMatcher) -> Self {
        let row = Vec::new();
        Self { inner, row }
    }

    fn fill_row(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { inner, row } = self;
        row.resize(bitmask_words(inner.compiled().vocabulary().size()), 0);
        released(py, || inner.fill_next_token_bitmask(row)).map_err(|error| from_engine(py, &error))
    }
}

/// What may go wrong where the engine calls Python.
enum Failure {
    Engine(syntagma_engine::Error),
    Callback(PyErr),
}

impl From<syntagma_engine::Error> for Failure {
    fn from(error: syntagma_engine::Error) -> Self {
        Self::Engine(error)
    }
}

#[pymethods]
impl GrammarMatcher {
    #[new]
    #[pyo3(signature = (compiled, *, budgets=None))]
    fn new(
        py: Python<'_>,
        compiled: Given<PyRef<'_, CompiledGrammar>>,
        budgets: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bounds = match budgets {
            Some(budgets) => bounds_of(budgets)?,
            None => compiled.bounds.clone(),
        };
        let compiled = Arc::clone(&compiled.inner);
        engine(py, || {
            syntagma_engine::GrammarMatcher::with_bounds(compiled, bounds)
        })
        .map(Self::of)
    }

    #[staticmethod]
    fn from_state_bytes(
        py: Python<'_>,
        compiled: Given<PyRef<'_, CompiledGrammar>>,
        state: Given<&[u8]>,
    ) -> PyResult<Self> {
        let compiled = Arc::clone(&compiled.inner);
        let inner = released(py, || {
            syntagma_engine::GrammarMatcher::from_state_bytes(compiled, *state)
        });
        inner.map(Self::of).map_err(|error| from_engine(py, &error))
    }

    fn state_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = engine(py, || self.inner.state_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn accept_token(&mut self, py: Python<'_>, token_id: Given<u32>) -> PyResult<bool> {
        let Self { inner, .. } = self;
        // What is known takes less time than it takes to let the interpreter go; a step that is not may take a millisecond.
        if let Some(taken) = inner.accept_known(*token_id) {
            return Ok(taken);
        }
        released(py, || inner.accept_token(*token_id)).map_err(|error| from_engine(py, &error))
    }

    fn accept_bytes(&mut self, py: Python<'_>, data: Given<&[u8]>) -> PyResult<bool> {
        self.inner
            .accept_bytes(*data)
            .map_err(|error| from_engine(py, &error))
    }

    fn accepts(&self, py: Python<'_>, token_id: Given<u32>) -> PyResult<bool> {
        self.inner
            .accepts(*token_id)
            .map_err(|error| from_engine(py, &error))
    }

    #[pyo3(signature = (bitmask, index=Given(0)), text_signature = "($self, bitmask, index=0)")]
    fn fill_next_token_bitmask(
        &mut self,
        py: Python<'_>,
        bitmask: &Bound<'_, PyAny>,
        index: Given<usize>,
    ) -> PyResult<()> {
        let bitmask = Bitmask::of(bitmask, self.inner.compiled().vocabulary().size())?;
        let index = *index;
        if index >= bitmask.rows {
            let message = format!(
                "row {index} is outside of a bitmask of {} rows",
                bitmask.rows
            );
            return Err(argument(py, "E-BITMASK-INDEX", &message));
        }
        let Self { inner, .. } = self;
        // What was found before is at hand in less time than it takes to let the interpreter go.
        let mask = if inner.knows_mask() {
            inner.next_mask()
        } else {
            released(py, || inner.next_mask())
        };
        let mask = mask.map_err(|error| from_engine(py, &error))?;
        bitmask.write(py, index, &mask)
    }

    fn mask_logits_inplace(&mut self, py: Python<'_>, logits: &Bound<'_, PyAny>) -> PyResult<()> {
        let size = self.inner.compiled().vocabulary().size();
        let buffer = Logits::of(logits, size)?;
        self.fill_row(py)?;
        if let Some(buffer) = buffer {
            buffer.close(&self.row, size);
            return Ok(());
        }
        // Other element types, and tensors on devices: the library that they belong to knows how.
        let row: Vec<u8> = self
            .row
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        py.import("syntagma.decoding.bitmask")?
            .call_method1("apply_row", (logits, PyBytes::new(py, &row)))
            .map(|_| ())
    }

    fn rollback(&mut self, py: Python<'_>, steps: Given<usize>) -> PyResult<()> {
        self.inner
            .rollback(*steps)
            .map_err(|error| from_engine(py, &error))
    }

    fn fork(&self) -> Self {
        Self::of(self.inner.fork())
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner
            .is_accepting()
            .map_err(|error| from_engine(py, &error))
    }

    fn is_terminated(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner
            .is_terminated()
            .map_err(|error| from_engine(py, &error))
    }

    fn find_jump_forward_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self
            .inner
            .find_jump_forward_bytes()
            .map_err(|error| from_engine(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn jump_forward_tokens(
        &self,
        py: Python<'_>,
        tokenize: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        let tokenize = |text: &str| {
            let ids = tokenize.call1((text,)).map_err(Failure::Callback)?;
            let ids = ids.extract::<Given<Vec<u32>>>();
            ids.map(|ids| ids.0).map_err(Failure::Callback)
        };
        // Where no mask was found yet, walking there may take long.
        let bytes = if self.inner.knows_mask() {
            self.inner.find_jump_forward_bytes()
        } else {
            released(py, || self.inner.find_jump_forward_bytes())
        };
        let bytes = bytes.map_err(|error| from_engine(py, &error))?;
        syntagma_engine::jump_forward_tokens(&self.inner, &bytes, tokenize).map_err(|failure| {
            match failure {
                Failure::Engine(error) => from_engine(py, &error),
                Failure::Callback(error) => error,
            }
        })
    }

    fn take(&mut self, py: Python<'_>, token_ids: Given<Vec<u32>>) -> PyResult<usize> {
        self.inner
            .take(&token_ids)
            .map_err(|error| from_engine(py, &error))
    }

    fn validate_tokens(&self, py: Python<'_>, token_ids: Given<Vec<u32>>) -> PyResult<usize> {
        self.inner
            .validate_tokens(&token_ids)
            .map_err(|error| from_engine(py, &error))
    }

    #[pyo3(signature = (token_ids, bitmask, parents=Given(None)), text_signature = "($self, token_ids, bitmask, parents=None)")]
    fn fill_draft(
        &self,
        py: Python<'_>,
        token_ids: Given<Vec<u32>>,
        bitmask: &Bound<'_, PyAny>,
        parents: Given<Option<Vec<Option<usize>>>>,
    ) -> PyResult<Vec<bool>> {
        let bitmask = Bitmask::of(bitmask, self.inner.compiled().vocabulary().size())?;
        let needed = token_ids.len() + 1;
        if bitmask.rows < needed {
            let message = format!("a draft of {} tokens needs {needed} rows", token_ids.len());
            return Err(argument(py, "E-BITMASK-SIZE", &message));
        }
        let masks = released(py, || {
            syntagma_engine::draft_masks(&self.inner, &token_ids, parents.as_deref())
        })
        .map_err(|error| from_engine(py, &error))?;
        for (row, mask) in masks.iter().enumerate() {
            bitmask.clear(py, row);
            if let Some(mask) = mask {
                bitmask.write(py, row, mask)?;
            }
        }
        Ok(masks[1..].iter().map(Option::is_some).collect())
    }

    #[pyo3(signature = (budget=Given(None)), text_signature = "($self, budget=None)")]
    fn shortest_close(
        &self,
        py: Python<'_>,
        budget: Given<Option<usize>>,
    ) -> PyResult<Option<Vec<u32>>> {
        released(py, || self.inner.shortest_close(*budget)).map_err(|error| from_engine(py, &error))
    }

    fn closes_within(&self, py: Python<'_>, budget: Given<usize>) -> PyResult<bool> {
        released(py, || self.inner.closes_within(*budget)).map_err(|error| from_engine(py, &error))
    }

    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let captures =
            released(py, || self.inner.captures()).map_err(|error| from_engine(py, &error))?;
        let dict = PyDict::new(py);
        for (label, spans) in captures {
            dict.set_item(&*label, spans)?;
        }
        Ok(dict)
    }

    #[pyo3(signature = (token_id=Given(None)), text_signature = "($self, token_id=None)")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        token_id: Given<Option<u32>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let explanation = self
            .inner
            .explain(*token_id)
            .map_err(|error| from_engine(py, &error))?;
        let mut expected = Vec::with_capacity(explanation.expected.len());
        for expectation in &explanation.expected {
            let row = PyDict::new(py);
            row.set_item("rule", &*expectation.rule)?;
            row.set_item("symbol", &expectation.symbol)?;
            row.set_item("begun", expectation.begun)?;
            expected.push(row);
        }
        let dict = PyDict::new(py);
        dict.set_item("expected", expected)?;
        dict.set_item("accepting", explanation.accepting)?;
        dict.set_item("terminated", explanation.terminated)?;
        if let Some(verdict) = explanation.token {
            let (word, at) = match verdict {
                Verdict::Allowed => ("allowed", None),
                Verdict::Dies { at } => ("dies", Some(at)),
                Verdict::NotExpected => ("not expected", None),
                Verdict::Unused => ("unused", None),
                Verdict::Ended => ("ended", None),
                Verdict::Spent => ("spent", None),
            };
            dict.set_item("token", word)?;
            dict.set_item("dies_at", at)?;
        }
        Ok(dict)
    }

    fn next_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let set = self
            .inner
            .next_bytes()
            .map_err(|error| from_engine(py, &error))?;
        Ok(PyBytes::new(py, &set.iter().collect::<Vec<u8>>()))
    }

    fn next_symbol_tokens(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        self.inner
            .next_symbol_tokens()
            .map_err(|error| from_engine(py, &error))
    }

    #[getter]
    fn steps(&self) -> usize {
        self.inner.steps()
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }
}
