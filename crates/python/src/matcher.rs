//! `_engine.GrammarMatcher`: one text as it grows.

use std::sync::Arc;

use pyo3::exceptions::PyDeprecationWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use syntagma_engine::{Jump, NextMask, caught};
use syntagma_host::verdict_word;

use crate::arguments::Given;
use crate::bitmask::{Bitmask, Logits};
use crate::bounds::bounds_of;
use crate::compiler::CompiledGrammar;
use crate::errors::{argument, from_engine};
use crate::fork::{at_hand, released};

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
        let mask = self.mask(py)?;
        self.row.resize(mask.word_count(), 0);
        let written = mask.write(&mut self.row[..]);
        written.map_err(|error| from_engine(py, &error))
    }

    /// Which tokens may come next.
    fn mask(&self, py: Python<'_>) -> PyResult<NextMask> {
        match at_hand(py, || self.inner.known_mask()) {
            Some(mask) => Ok(mask),
            None => self.ask(py, syntagma_engine::GrammarMatcher::next_mask),
        }
    }

    /// Asks what may have to be found out, or waits for another thread, with the interpreter released.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl Send
        + FnOnce(&syntagma_engine::GrammarMatcher) -> Result<T, syntagma_engine::Error>,
    ) -> PyResult<T> {
        released(py, || question(&self.inner)).map_err(|error| from_engine(py, &error))
    }
}

/// Tokens that are looked up one by one with the interpreter held.
const DRAFT_TOKENS: usize = 64;

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
        released(py, || {
            caught(|| syntagma_engine::GrammarMatcher::with_bounds(compiled, bounds))
        })
        .map(Self::of)
        .map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.from_state_bytes")]
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

    #[doc = stub!("GrammarMatcher.state_bytes")]
    fn state_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.ask(py, |matcher| caught(|| matcher.state_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = stub!("GrammarMatcher.accept_token")]
    fn accept_token(&mut self, py: Python<'_>, token_id: Given<u32>) -> PyResult<bool> {
        let Self { inner, .. } = self;
        if let Some(taken) = at_hand(py, || inner.accept_known(*token_id)) {
            return Ok(taken);
        }
        released(py, || inner.accept_token(*token_id)).map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.accept_bytes")]
    fn accept_bytes(&mut self, py: Python<'_>, data: Given<&[u8]>) -> PyResult<bool> {
        let Self { inner, .. } = self;
        released(py, || inner.accept_bytes(*data)).map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.accepts")]
    fn accepts(&self, py: Python<'_>, token_id: Given<u32>) -> PyResult<bool> {
        match at_hand(py, || self.inner.known_accepts(*token_id)) {
            Some(accepts) => Ok(accepts),
            None => self.ask(py, |matcher| matcher.accepts(*token_id)),
        }
    }

    #[doc = stub!("GrammarMatcher.fill_next_token_bitmask")]
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
        let mask = self.mask(py)?;
        bitmask.write(py, index, &mask)
    }

    #[doc = stub!("GrammarMatcher.mask_logits_inplace")]
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

    #[doc = stub!("GrammarMatcher.rollback")]
    fn rollback(&mut self, py: Python<'_>, steps: Given<usize>) -> PyResult<()> {
        let Self { inner, .. } = self;
        let result = if inner.rolls_back_at_once(*steps) {
            inner.rollback(*steps)
        } else {
            released(py, || inner.rollback(*steps))
        };
        result.map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.fork")]
    fn fork(&self) -> Self {
        Self::of(self.inner.fork())
    }

    #[doc = stub!("GrammarMatcher.reset")]
    fn reset(&mut self, py: Python<'_>) {
        let Self { inner, .. } = self;
        released(py, || inner.reset());
    }

    #[doc = stub!("GrammarMatcher.is_accepting")]
    fn is_accepting(&self, py: Python<'_>) -> PyResult<bool> {
        match at_hand(py, || self.inner.known_accepting()) {
            Some(accepting) => Ok(accepting),
            None => self.ask(py, syntagma_engine::GrammarMatcher::is_accepting),
        }
    }

    #[doc = stub!("GrammarMatcher.is_terminated")]
    fn is_terminated(&self, py: Python<'_>) -> PyResult<bool> {
        self.inner
            .is_terminated()
            .map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.find_jump_forward_bytes")]
    fn find_jump_forward_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.ask(py, syntagma_engine::GrammarMatcher::find_jump_forward_bytes)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[doc = stub!("GrammarMatcher.jump_forward_tokens")]
    fn jump_forward_tokens(
        &self,
        py: Python<'_>,
        tokenize: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        // Neither part waits for the interpreter, which belongs to whoever tokenises.
        let jump = self.ask(py, Jump::new)?;
        let mut of_texts = Vec::new();
        for text in jump.texts() {
            let ids: Given<Vec<u32>> = tokenize.call1((text,))?.extract()?;
            of_texts.push(ids.0);
        }
        self.ask(py, |matcher| jump.tokens(matcher, &of_texts))
    }

    #[doc = stub!("GrammarMatcher.take")]
    fn take(&mut self, py: Python<'_>, token_ids: Given<Vec<u32>>) -> PyResult<usize> {
        let message =
            c"GrammarMatcher.take(ids) is deprecated: use accept_output(ids); 0.5 may remove it";
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), message, 1)?;
        self.accept_output(py, token_ids)
    }

    #[doc = stub!("GrammarMatcher.accept_output")]
    fn accept_output(&mut self, py: Python<'_>, token_ids: Given<Vec<u32>>) -> PyResult<usize> {
        let Self { inner, .. } = self;
        released(py, || inner.take(&token_ids)).map_err(|error| from_engine(py, &error))
    }

    #[doc = stub!("GrammarMatcher.validate_tokens")]
    fn validate_tokens(&self, py: Python<'_>, token_ids: Given<Vec<u32>>) -> PyResult<usize> {
        // A draft is short, a whole text is not.
        let known = if token_ids.len() <= DRAFT_TOKENS {
            at_hand(py, || self.inner.known_validate(&token_ids))
        } else {
            None
        };
        match known {
            Some(count) => Ok(count),
            None => self.ask(py, |matcher| matcher.validate_tokens(&token_ids)),
        }
    }

    #[doc = stub!("GrammarMatcher.fill_draft")]
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
        let masks = self.ask(py, |matcher| {
            syntagma_engine::draft_masks(matcher, &token_ids, parents.as_deref())
        })?;
        for (row, mask) in masks.iter().enumerate() {
            bitmask.clear(py, row);
            if let Some(mask) = mask {
                bitmask.write(py, row, mask)?;
            }
        }
        Ok(masks[1..].iter().map(Option::is_some).collect())
    }

    #[doc = stub!("GrammarMatcher.shortest_close")]
    #[pyo3(signature = (budget=Given(None)), text_signature = "($self, budget=None)")]
    fn shortest_close(
        &self,
        py: Python<'_>,
        budget: Given<Option<usize>>,
    ) -> PyResult<Option<Vec<u32>>> {
        self.ask(py, |matcher| matcher.shortest_close(*budget))
    }

    #[doc = stub!("GrammarMatcher.closes_within")]
    fn closes_within(&self, py: Python<'_>, budget: Given<usize>) -> PyResult<bool> {
        self.ask(py, |matcher| matcher.closes_within(*budget))
    }

    #[doc = stub!("GrammarMatcher.captures")]
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let captures = self.ask(py, syntagma_engine::GrammarMatcher::captures)?;
        let dict = PyDict::new(py);
        for (label, spans) in captures {
            dict.set_item(&*label, spans)?;
        }
        Ok(dict)
    }

    #[doc = stub!("GrammarMatcher.explain")]
    #[pyo3(signature = (token=None))]
    fn explain<'py>(
        slf: &Bound<'py, Self>,
        token: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Words are made where they are changed most easily.
        slf.py()
            .import("syntagma.decoding.explanation")?
            .call_method1("explanation_of", (slf, token))
    }

    fn _token_bytes<'py>(
        &self,
        py: Python<'py>,
        token_id: Given<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let vocabulary = self.inner.compiled().vocabulary();
        if *token_id as usize >= vocabulary.size() {
            let message = format!("the vocabulary has no token {}", *token_id);
            return Err(argument(py, "E-TOKEN-ID", &message));
        }
        Ok(PyBytes::new(py, vocabulary.token(*token_id)))
    }

    #[pyo3(signature = (token_id=Given(None)), text_signature = "($self, token_id=None)")]
    fn _explained<'py>(
        &self,
        py: Python<'py>,
        token_id: Given<Option<u32>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let explanation = self.ask(py, |matcher| matcher.explain(*token_id))?;
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
            let (word, at) = verdict_word(verdict);
            dict.set_item("token", word)?;
            dict.set_item("dies_at", at)?;
        }
        Ok(dict)
    }

    #[doc = stub!("GrammarMatcher.next_bytes")]
    fn next_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let set = self.ask(py, syntagma_engine::GrammarMatcher::next_bytes)?;
        Ok(PyBytes::new(py, &set.iter().collect::<Vec<u8>>()))
    }

    #[doc = stub!("GrammarMatcher.next_symbol_tokens")]
    fn next_symbol_tokens(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32)>> {
        self.ask(py, syntagma_engine::GrammarMatcher::next_symbol_tokens)
    }

    #[doc = stub!("GrammarMatcher.steps")]
    #[getter]
    fn steps(&self) -> usize {
        self.inner.steps()
    }

    #[doc = stub!("GrammarMatcher.memory_bytes")]
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }
}
