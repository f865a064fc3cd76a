//! A grammar brought together with a vocabulary, and everything found out about the two so far.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use syntagma_grammar::ir::{Lnf, Report};

use crate::budget::Tables;
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::{Error, ErrorKind};
use crate::fingerprint;
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::mask::{Composer, Mask, Memo, Shared, Step, plain_row};
use crate::matcher::Costs;
use crate::vocabulary::Vocabulary;

/// How much a [`CompiledGrammar`] holds at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompiledStats {
    /// Interned parser states.
    pub states: usize,
    /// Interned Earley sets.
    pub sets: usize,
    /// Residuals of terminals.
    pub residuals: usize,
    /// Masks in the memo.
    pub masks: usize,
    /// Approximate bytes of all of it.
    pub bytes: usize,
}

/// A grammar compiled for a vocabulary. Shared between matchers and threads behind an [`Arc`].
#[derive(Debug)]
pub struct CompiledGrammar {
    vocabulary: Arc<Vocabulary>,
    report: Report,
    limits: Limits,
    verify: bool,
    /// What was compiled, and its fingerprint, once somebody asked.
    lnf: Lnf,
    fingerprint: OnceLock<u128>,
    layers: Layers,
    /// The panic after which nothing in `found` can be relied on.
    broken: OnceLock<Error>,
    start: StateId,
    found: RwLock<Found>,
    /// `Found::memory_bytes` as of the last growth, so that caches need not wait for the lock.
    size: AtomicUsize,
}

/// What is found out on the way. It only grows, except for the memo, so ids stay good.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) recognizer: Recognizer,
    memo: Memo,
    composer: Composer,
    /// Distances to an end of the text, once somebody asked.
    pub(crate) costs: Option<Costs>,
    /// What bounds on parts need to know, once there are any.
    pub(crate) tables: Tables,
    /// Work space of whoever holds the lock.
    pub(crate) frames: Frames,
}

impl CompiledGrammar {
    /// Compiles a grammar in normal form without any cache; `verify` makes matchers check every remembered mask.
    ///
    /// Errors: `E-GRAMMAR-EMPTY` where nothing matches, `E-VOCAB-TOKEN` for a token that the vocabulary lacks,
    /// `E-LIMIT-COMPILE`, `E-LIMIT-RESIDUALS`.
    pub fn from_lnf(
        lnf: &Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
        verify: bool,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(limits.grammar_cache_bytes));
        let layers = Layers::default();
        Self::with_shared(
            lnf.clone(),
            report,
            vocabulary,
            limits,
            (verify, layers),
            shared,
        )
    }

    /// The same with fewer layers, and no check of masks.
    ///
    /// Errors: as [`Self::from_lnf`].
    pub fn from_lnf_with(
        layers: Layers,
        lnf: &Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(limits.grammar_cache_bytes));
        Self::with_shared(
            lnf.clone(),
            report,
            vocabulary,
            limits,
            (false, layers),
            shared,
        )
    }

    /// The same, with what other grammars of the vocabulary have found out.
    pub(crate) fn with_shared(
        lnf: Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
        (verify, layers): (bool, Layers),
        shared: Arc<Shared>,
    ) -> Result<Self, Error> {
        let (recognizer, start) = Recognizer::new(
            &lnf,
            &vocabulary,
            layers.has(Layer::TailCalls),
            &mut Fuel::compile(limits),
        )?;
        let found = Found {
            recognizer,
            memo: Memo::default(),
            composer: Composer::new(shared, layers),
            costs: None,
            tables: Tables::default(),
            frames: Frames::default(),
        };
        let size = AtomicUsize::new(found.memory_bytes());
        Ok(Self {
            vocabulary,
            report,
            limits: limits.clone(),
            verify,
            layers,
            fingerprint: OnceLock::new(),
            lnf,
            broken: OnceLock::new(),
            start,
            found: RwLock::new(found),
            size,
        })
    }

    /// The vocabulary that it was compiled for.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// What the grammar does not enforce.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The same for the same grammar in every process, whatever the vocabulary.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        *self
            .fingerprint
            .get_or_init(|| fingerprint::of_grammar(&self.lnf))
    }

    /// The panic that broke it, if one did.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.broken.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Remembers an error that concerns all matchers: a panic may have left anything half done.
    pub(crate) fn note(&self, error: &Error) {
        if error.is_panic() {
            let _ = self.broken.set(error.clone());
        }
    }

    /// How much it holds at the moment.
    #[must_use]
    pub fn stats(&self) -> CompiledStats {
        let found = self.read();
        CompiledStats {
            states: found.recognizer.state_count(),
            sets: found.recognizer.sets.len(),
            residuals: found.recognizer.unions.residual_count(),
            masks: found.memo.mask_count(),
            bytes: found.memory_bytes(),
        }
    }

    /// Approximate bytes of everything found out so far.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// The state at the start of the text.
    pub(crate) fn start(&self) -> StateId {
        self.start
    }

    /// The work that one call may do.
    pub(crate) fn fuel(&self) -> Fuel {
        Fuel::step(&self.limits)
    }

    /// The work of a call that may read the whole vocabulary.
    pub(crate) fn scan_fuel(&self) -> Fuel {
        Fuel::scan(&self.limits)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Found> {
        // What is interned is complete at every point where a panic could leave the lock.
        self.found.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Found> {
        self.found.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a token leads from a state.
    pub(crate) fn step(&self, state: StateId, id: u32) -> Result<Step, Error> {
        let memo = self.layers.has(Layer::Memo);
        let known = memo.then(|| self.read().memo.step(state, id)).flatten();
        if let Some(step) = known {
            return Ok(step);
        }
        let found = &mut *self.write();
        let step = found.step(&self.vocabulary, state, id, &mut self.fuel())?;
        if memo {
            found.memo.remember_step(state, id, step);
        }
        self.keep_within(found);
        Ok(step)
    }

    /// Where text leads from a state, if it may come next.
    pub(crate) fn step_bytes(
        &self,
        state: StateId,
        bytes: &[u8],
    ) -> Result<Option<StateId>, Error> {
        self.write().step_bytes(state, bytes, &mut self.fuel())
    }

    /// Whether the mask of a state, or where a token leads from it, need not be computed.
    pub(crate) fn is_known(&self, state: StateId, token: Option<u32>) -> bool {
        let found = self.read();
        match token {
            Some(id) => found.memo.step(state, id).is_some(),
            None => !self.verify && found.memo.mask(state).is_some(),
        }
    }

    /// Whether a token may come next in a state.
    pub(crate) fn allows(&self, state: StateId, id: u32) -> Result<bool, Error> {
        let found = self.read();
        if let Some(mask) = found.memo.mask(state) {
            return Ok(mask.allows(id));
        }
        drop(found);
        Ok(self.step(state, id)? != Step::Refused)
    }

    /// The mask of a state.
    pub(crate) fn mask(&self, state: StateId) -> Result<Mask, Error> {
        if !self.verify
            && let Some(mask) = self.read().memo.mask(state)
        {
            return Ok(mask.clone());
        }
        let found = &mut *self.write();
        let Found {
            recognizer,
            memo,
            composer,
            frames,
            ..
        } = found;
        // Another thread may have computed it while this one waited for the lock.
        let shared = recognizer.representative(state, &mut self.fuel())?;
        memo.remember_same(state, shared);
        let known = memo.mask(shared).cloned();
        let mask = match known {
            Some(mask) if !self.verify => return Ok(mask),
            Some(mask) => mask,
            None if !self.layers.has(Layer::Parts) => {
                let fuel = &mut self.fuel();
                let row = plain_row(recognizer, &self.vocabulary, state, frames, fuel)?;
                Mask::of_row(row)
            }
            None => composer.mask(recognizer, &self.vocabulary, shared, frames, &self.limits)?,
        };
        if self.verify {
            let fuel = &mut self.fuel();
            let row = plain_row(recognizer, &self.vocabulary, state, frames, fuel)?;
            if !mask.equals(&row) {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "E-ENGINE-VERIFY",
                    "a mask differs from the one that a plain walk finds",
                ));
            }
        }
        if self.layers.has(Layer::Memo) {
            memo.remember_mask(shared, mask.clone());
        }
        self.keep_within(found);
        Ok(mask)
    }

    /// Forgets masks and steps once all is too much; they are computed anew where they are needed.
    fn keep_within(&self, found: &mut Found) {
        let mut bytes = found.memory_bytes();
        if bytes > self.limits.grammar_cache_bytes {
            found.memo.forget();
            found.composer.forget();
            found.tables.forget();
            bytes = found.memory_bytes();
        }
        self.size.store(bytes, Ordering::Relaxed);
    }
}

impl Found {
    pub(crate) fn step_bytes(
        &mut self,
        state: StateId,
        bytes: &[u8],
        fuel: &mut Fuel,
    ) -> Result<Option<StateId>, Error> {
        let Self {
            recognizer, frames, ..
        } = self;
        frames.load(recognizer.state(state));
        for &byte in bytes {
            if !recognizer.push(frames, byte, fuel)? {
                return Ok(None);
            }
            frames.keep_top();
        }
        Ok(Some(recognizer.intern(frames)))
    }

    pub(crate) fn step(
        &mut self,
        vocabulary: &Vocabulary,
        state: StateId,
        id: u32,
        fuel: &mut Fuel,
    ) -> Result<Step, Error> {
        let Self {
            recognizer, frames, ..
        } = self;
        let is_eos = vocabulary.is_eos(id);
        if is_eos && recognizer.state(state).accept {
            return Ok(Step::End);
        }
        frames.load(recognizer.state(state));
        if !recognizer.push_token(frames, vocabulary, id, fuel)? {
            return Ok(Step::Refused);
        }
        // A grammar that ends in a marker which is itself an end of the turn needs no second one.
        let top = frames.top();
        if is_eos && top.accept && top.fresh.is_none() && frames.threads().is_empty() {
            return Ok(Step::End);
        }
        Ok(Step::To(recognizer.intern(frames)))
    }

    fn memory_bytes(&self) -> usize {
        self.recognizer.memory_bytes()
            + self.memo.memory_bytes()
            + self.composer.memory_bytes()
            + self.tables.memory_bytes()
    }
}
