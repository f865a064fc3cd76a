//! What is found out about a grammar, and how that is kept within bounds.
//!
//! Sets, states and residuals refer to each other by number, so single ones cannot be given up. When there are too many, a
//! new generation begins: an empty store of the same grammar. Each matcher takes over what its own place refers to when it
//! goes on; the old generation lives as long as some matcher has not.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::budget::Tables;
use crate::context::{EngineContext, Registered, Relief};
use crate::distance::Costs;
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::mask::{Composer, Mask, Memo, Shared, Step, walked_row};
use crate::tuning;
use crate::vocabulary::Vocabulary;

/// How much a [`CompiledGrammar`](crate::CompiledGrammar) holds at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
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
    /// How often everything was given up, since it had grown too large.
    pub generation: u32,
}

/// What all generations of a compiled grammar have in common.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) limits: Limits,
    pub(crate) layers: Layers,
    pub(crate) shared: Arc<Shared>,
}

/// Everything found out since some moment. Ids stay good within it.
#[derive(Debug)]
pub(crate) struct Generation {
    basis: Arc<Basis>,
    number: u32,
    start: StateId,
    found: RwLock<Found>,
    /// `Found::memory_bytes` as of the last growth, so that nobody need wait for the lock to know.
    size: AtomicUsize,
    /// Whether matchers should go on in a newer one.
    retired: AtomicBool,
}

/// What is found out on the way. It only grows, except for the memo.
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
    /// Bytes of the recogniser that could not be done without when it was made: of the grammar, and of places that were
    /// taken over.
    carried: usize,
}

/// The newest generation of a compiled grammar.
#[derive(Debug)]
pub(crate) struct Current {
    generation: RwLock<Arc<Generation>>,
    /// When a matcher was last made.
    used: AtomicU64,
}

impl Current {
    /// The first generation.
    pub(crate) fn new(basis: Arc<Basis>, recognizer: Recognizer, start: StateId) -> Arc<Self> {
        let generation = Generation::new(basis, 0, recognizer, start);
        let current = Arc::new(Self {
            generation: RwLock::new(Arc::new(generation)),
            used: AtomicU64::new(0),
        });
        let one = Arc::downgrade(&current);
        EngineContext::current().registry.register(one);
        current.touch();
        current
    }

    /// The generation as it is, perhaps retired.
    pub(crate) fn peek(&self) -> Arc<Generation> {
        let generation = self.generation.read();
        Arc::clone(&generation.unwrap_or_else(PoisonError::into_inner))
    }

    /// A generation that is not retired.
    pub(crate) fn get(&self) -> Arc<Generation> {
        let generation = self.peek();
        if !generation.is_retired() {
            return generation;
        }
        let mut generation = self
            .generation
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if generation.is_retired() {
            let next = generation.anew(&generation.read());
            if let Ok(next) = next {
                *generation = Arc::new(next);
            }
        }
        Arc::clone(&generation)
    }

    /// Remembers that it is in use.
    pub(crate) fn touch(&self) {
        let now = EngineContext::current().registry.now();
        self.used.store(now, Ordering::Relaxed);
    }
}

impl Registered for Current {
    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn relieve(&self, relief: Relief) {
        let Ok(mut generation) = self.generation.try_write() else {
            return;
        };
        generation.relieve(relief);
        // Where no matcher is left, nobody would begin the next generation.
        if generation.is_retired() && Arc::strong_count(&generation) == 1 {
            let next = match generation.found.try_read() {
                Ok(found) => generation.anew(&found),
                Err(_) => return,
            };
            if let Ok(next) = next {
                *generation = Arc::new(next);
            }
        }
    }
}

impl Generation {
    fn new(basis: Arc<Basis>, number: u32, recognizer: Recognizer, start: StateId) -> Self {
        let carried = recognizer.memory_bytes();
        let composer = Composer::new(Arc::clone(&basis.shared), basis.layers);
        let found = Found {
            recognizer,
            memo: Memo::default(),
            composer,
            costs: None,
            tables: Tables::default(),
            frames: Frames::default(),
            carried,
        };
        let size = found.memory_bytes();
        EngineContext::current().registry.grown(0, size);
        Self {
            basis,
            number,
            start,
            found: RwLock::new(found),
            size: AtomicUsize::new(size),
            retired: AtomicBool::new(false),
        }
    }

    /// The next generation, in which nothing has been found out yet.
    fn anew(&self, found: &Found) -> Result<Self, Error> {
        let (recognizer, start) = found.recognizer.anew(&mut Fuel::endless())?;
        let number = self.number.wrapping_add(1);
        Ok(Self::new(
            Arc::clone(&self.basis),
            number,
            recognizer,
            start,
        ))
    }

    /// Takes over states of an older generation, in their order.
    pub(crate) fn carry(&self, from: &Self, states: &[StateId]) -> Result<Vec<StateId>, Error> {
        let old = from.read();
        let found = &mut *self.write();
        let before = found.recognizer.memory_bytes();
        let fuel = &mut Fuel::endless();
        let states = found.recognizer.carry(&old.recognizer, states, fuel)?;
        found.carried += found.recognizer.memory_bytes() - before;
        Ok(states)
    }

    /// How much it holds at the moment.
    pub(crate) fn stats(&self) -> CompiledStats {
        let found = self.read();
        CompiledStats {
            states: found.recognizer.state_count(),
            sets: found.recognizer.sets.len(),
            residuals: found.recognizer.lexer.residual_count(),
            masks: found.memo.mask_count(),
            bytes: found.memory_bytes(),
            generation: self.number,
        }
    }

    /// The vocabulary.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.basis.vocabulary
    }

    /// The work of a call that may read the whole vocabulary.
    pub(crate) fn scan_fuel(&self) -> Fuel {
        Fuel::scan(&self.basis.limits)
    }

    /// Which one it is.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Whether matchers should go on in a newer one.
    #[inline]
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
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
        Fuel::step(&self.basis.limits)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Found> {
        // What is interned is complete at every point where a panic could leave the lock.
        self.found.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// For finding something out. When that is done, what is too much is given up.
    pub(crate) fn write(&self) -> Growing<'_> {
        Growing {
            generation: self,
            found: self.found.write().unwrap_or_else(PoisonError::into_inner),
            _unlocked: Unlocked(&self.basis.limits),
        }
    }

    /// Where a token leads from a state, where that was found before.
    pub(crate) fn known_step(&self, state: StateId, id: u32) -> Option<Step> {
        self.read().memo.step(state, id)
    }

    /// Where a token leads from a state.
    pub(crate) fn step(&self, state: StateId, id: u32) -> Result<Step, Error> {
        if let Some(step) = self.known_step(state, id) {
            return Ok(step);
        }
        let memo = self.basis.layers.has(Layer::Memo);
        let found = &mut *self.write();
        let step = found.step(&self.basis.vocabulary, state, id, &mut self.fuel())?;
        if memo {
            found.memo.remember_step(state, id, step);
        }
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
            None => found.memo.mask(state).is_some(),
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
        if let Some(mask) = self.read().memo.mask(state) {
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
        let uses_suffixes = self.basis.layers.has(Layer::StackSuffixes);
        if uses_suffixes
            && memo.mask(shared).is_none()
            && let Some(alike) = memo.alike(recognizer, shared)
        {
            memo.remember_same(shared, alike);
            memo.remember_same(state, alike);
        }
        if let Some(mask) = memo.mask(shared) {
            return Ok(mask.clone());
        }
        let vocabulary = &self.basis.vocabulary;
        let (mask, looked) = if self.basis.layers.has(Layer::Parts) {
            let limits = &self.basis.limits;
            let (mask, depth) = composer.mask(recognizer, vocabulary, shared, frames, limits)?;
            (mask, Some(depth))
        } else {
            let row = walked_row(recognizer, vocabulary, state, frames, &mut self.fuel())?;
            (composer.of_row(&row), None)
        };
        if self.basis.layers.has(Layer::Memo) {
            memo.remember_mask(shared, mask.clone());
            if let Some(depth) = looked.filter(|_| uses_suffixes) {
                memo.remember_depth(recognizer, shared, depth);
            }
        }
        Ok(mask)
    }

    /// Gives up what is too much, and notes how much is left.
    fn keep_within(&self, found: &mut Found) {
        // What cannot be done without does not count, or there would be no end of giving up.
        let most = self.basis.limits.grammar_cache_bytes;
        let carried = found.carried;
        let size = found.memory_bytes();
        if size - carried <= most {
            self.note_size(size);
        } else {
            found.relieve(Relief::Masks);
            if found.memory_bytes() - carried > most / 2 {
                found.relieve(Relief::Steps);
            }
            if found.recognizer.memory_bytes() > tuning::OUTGROWN * carried + most / 2 {
                self.retired.store(true, Ordering::Relaxed);
            }
            self.note_size(found.memory_bytes());
        }
    }

    fn note_size(&self, size: usize) {
        let before = self.size.swap(size, Ordering::Relaxed);
        EngineContext::current().registry.grown(before, size);
    }

    /// Gives something up, unless somebody is at work here.
    fn relieve(&self, relief: Relief) {
        let Ok(mut found) = self.found.try_write() else {
            return;
        };
        if relief != Relief::Everything {
            found.relieve(relief);
            self.note_size(found.memory_bytes());
        } else if found.recognizer.memory_bytes() > tuning::OUTGROWN * found.carried {
            self.retired.store(true, Ordering::Relaxed);
        }
    }
}

/// Somebody who finds something out, alone.
pub(crate) struct Growing<'a> {
    generation: &'a Generation,
    // Fields are dropped in this order.
    found: RwLockWriteGuard<'a, Found>,
    _unlocked: Unlocked<'a>,
}

/// What is to be done when nothing is locked any more.
struct Unlocked<'a>(&'a Limits);

impl Deref for Growing<'_> {
    type Target = Found;

    fn deref(&self) -> &Found {
        &self.found
    }
}

impl DerefMut for Growing<'_> {
    fn deref_mut(&mut self) -> &mut Found {
        &mut self.found
    }
}

impl Drop for Growing<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.generation.keep_within(&mut self.found);
        }
    }
}

impl Drop for Unlocked<'_> {
    fn drop(&mut self) {
        let most = self.0.process_cache_bytes;
        EngineContext::current().registry.keep_within(most);
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        EngineContext::current()
            .registry
            .grown(self.memory_bytes(), 0);
    }
}

impl Found {
    /// Where text leads from a state, if it may come next.
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

    /// Where a token leads from a state.
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

    /// Gives something up; it is computed anew where it is needed.
    fn relieve(&mut self, relief: Relief) {
        match relief {
            Relief::Masks => {
                self.memo.forget_masks();
                self.composer.forget();
                self.tables.forget();
            }
            Relief::Steps | Relief::Everything => self.memo.forget(),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.recognizer.memory_bytes()
            + self.memo.memory_bytes()
            + self.composer.memory_bytes()
            + self.tables.memory_bytes()
            + self.costs.as_ref().map_or(0, Costs::memory_bytes)
    }
}
