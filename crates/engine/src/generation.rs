//! What is found out about a grammar, and how that is kept within bounds.
//!
//! Sets, states and residuals refer to each other by number, so single ones cannot be given up. When there are too many, a
//! new generation begins: an empty store of the same grammar. Each matcher takes over what its own place refers to when it
//! goes on; the old generation lives as long as some matcher has not.
//!
//! Whoever finds something out has the generation to himself meanwhile. Nobody else waits for that but those who also have
//! to find something out: what is known already is read without that lock, and questions about whole texts, which take
//! long, are put to a recogniser of their own.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::aside::Aside;
use crate::budget::Tables;
use crate::context::{EngineContext, Registered, Relief};
use crate::distance::Costs;
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::{Error, ErrorKind};
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::mask::{Composer, Known, Mask, Shared, StackSuffixes, Step, walked_row};
use crate::refusals::{Question, Refusals};
use crate::tally::{CompiledStats, Tally};
use crate::tuning;
use crate::vocabulary::Vocabulary;

/// What all generations of a compiled grammar have in common.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) limits: Limits,
    pub(crate) layers: Layers,
    pub(crate) shared: Arc<Shared>,
    pub(crate) tally: Tally,
}

/// Everything found out since some moment. Ids stay good within it.
#[derive(Debug)]
pub(crate) struct Generation {
    basis: Arc<Basis>,
    number: u32,
    start: StateId,
    found: RwLock<GrammarCaches>,
    known: Known,
    pub(crate) refusals: Refusals,
    /// A recogniser for questions about whole texts, while nobody asks one.
    aside: Mutex<Option<Box<Aside>>>,
    aside_bytes: AtomicUsize,
    /// Approximate bytes of all of it as of the last growth, so that nobody need wait for a lock to know.
    size: AtomicUsize,
    /// Whether matchers should go on in a newer one.
    retired: AtomicBool,
}

/// What is found out on the way. It only grows, except for what only saves time.
#[derive(Debug)]
pub(crate) struct GrammarCaches {
    pub(crate) recognizer: Recognizer,
    /// States whose masks are known, by what these depend on.
    suffixes: StackSuffixes,
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
        let found = GrammarCaches {
            recognizer,
            suffixes: StackSuffixes::default(),
            composer,
            costs: None,
            tables: Tables::default(),
            frames: Frames::default(),
            carried,
        };
        let size = found.memory_bytes();
        basis.tally.grown(0, size);
        Self {
            basis,
            number,
            start,
            found: RwLock::new(found),
            known: Known::default(),
            refusals: Refusals::default(),
            aside: Mutex::default(),
            aside_bytes: AtomicUsize::new(0),
            size: AtomicUsize::new(size),
            retired: AtomicBool::new(false),
        }
    }

    /// The next generation, in which nothing has been found out yet.
    fn anew(&self, found: &GrammarCaches) -> Result<Self, Error> {
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
            masks: self.known.mask_count(),
            bytes: self.bytes_of(&found),
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

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, GrammarCaches> {
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

    /// Calls with a recogniser that nobody else uses, so that nobody waits. Whether the fuel is enough does not depend on who
    /// has called before: what it knows counts as spent, and where that is too much, one that knows nothing is called.
    pub(crate) fn aside<T>(
        &self,
        fuel: &Fuel,
        call: impl Fn(&mut Aside, &mut Fuel) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let slot = || self.aside.lock().unwrap_or_else(PoisonError::into_inner);
        let try_with = |aside: &mut Aside| {
            let mut left = fuel.up_to(fuel.left().saturating_sub(aside.spent));
            let before = left.left();
            let result = call(aside, &mut left);
            aside.spent += before - left.left();
            result
        };
        let free = slot().take();
        let known = free.and_then(|mut aside| {
            let result = try_with(&mut aside);
            let is_limit = matches!(&result, Err(error) if error.kind() == ErrorKind::Limit);
            (!is_limit).then_some((aside, result))
        });
        let (aside, result) = if let Some(known) = known {
            known
        } else {
            let mut aside = Box::new(Aside::new(&self.read().recognizer)?);
            let result = try_with(&mut aside);
            (aside, result)
        };
        let mut bytes = aside.memory_bytes();
        if bytes <= self.basis.limits.grammar_cache_bytes / 2 {
            *slot() = Some(aside);
        } else {
            bytes = 0;
        }
        let before = self.aside_bytes.swap(bytes, Ordering::Relaxed);
        self.note_size((self.memory_bytes() + bytes).saturating_sub(before));
        drop(Unlocked(&self.basis.limits));
        result
    }

    /// What a state is to a recogniser aside.
    pub(crate) fn state_aside(&self, aside: &mut Aside, state: StateId) -> Result<StateId, Error> {
        match aside.known(state) {
            Some(here) => Ok(here),
            None => aside.carry(&self.read().recognizer, state),
        }
    }

    /// Where a token leads from a state, where that was found before. Waits for nobody.
    pub(crate) fn known_step(&self, state: StateId, id: u32) -> Option<Step> {
        self.known.step(state, id)
    }

    /// The mask of a state, where that was found before. Waits for nobody.
    pub(crate) fn known_mask(&self, state: StateId) -> Option<Arc<Mask>> {
        self.known.mask(state)
    }

    /// Whether the text may end in a state, unless somebody is finding something out.
    pub(crate) fn known_accept(&self, state: StateId) -> Option<bool> {
        let found = self.found.try_read().ok()?;
        Some(found.recognizer.state(state).accept)
    }

    /// Where a token leads from a state.
    pub(crate) fn step(&self, state: StateId, id: u32) -> Result<Step, Error> {
        if let Some(step) = self.known_step(state, id) {
            return Ok(step);
        }
        let found = &mut *self.write();
        // Another thread may have found it while this one waited for the lock.
        if let Some(step) = self.known_step(state, id) {
            return Ok(step);
        }
        let step = self.refusals.ask(Question::Step(state, id), || {
            found.step(&self.basis.vocabulary, state, id, &mut self.fuel())
        })?;
        if self.basis.layers.has(Layer::Memo) {
            self.known.add_step(state, id, step);
        }
        Ok(step)
    }

    /// Where text leads from a state, if it may come next.
    pub(crate) fn step_bytes(
        &self,
        state: StateId,
        bytes: &[u8],
    ) -> Result<Option<StateId>, Error> {
        let fuel = &mut self.fuel();
        let mut at = Some(state);
        // Others may go on after each piece.
        for piece in bytes.chunks(tuning::PIECE_BYTES) {
            if let Some(state) = at {
                at = self.write().step_bytes(state, piece, fuel)?;
            }
        }
        Ok(at)
    }

    /// Whether the mask of a state, or where a token leads from it, need not be computed.
    pub(crate) fn is_known(&self, state: StateId, token: Option<u32>) -> bool {
        match token {
            Some(id) => self.known.step(state, id).is_some(),
            None => self.known.has_mask(state),
        }
    }

    /// Whether a token may come next in a state, where that was found before. Waits for nobody.
    pub(crate) fn known_allows(&self, state: StateId, id: u32) -> Option<bool> {
        if let Some(mask) = self.known.mask(state) {
            return Some(mask.allows(id));
        }
        Some(self.known.step(state, id)? != Step::Refused)
    }

    /// Whether a token may come next in a state.
    pub(crate) fn allows(&self, state: StateId, id: u32) -> Result<bool, Error> {
        if let Some(allowed) = self.known_allows(state, id) {
            return Ok(allowed);
        }
        Ok(self.step(state, id)? != Step::Refused)
    }

    /// The mask of a state.
    pub(crate) fn mask(&self, state: StateId) -> Result<Arc<Mask>, Error> {
        if let Some(mask) = self.known.mask(state) {
            return Ok(mask);
        }
        self.refusals
            .ask(Question::Mask(state), || self.find_mask(state))
    }

    fn find_mask(&self, state: StateId) -> Result<Arc<Mask>, Error> {
        let found = &mut *self.write();
        let GrammarCaches {
            recognizer,
            suffixes,
            composer,
            frames,
            ..
        } = found;
        // Another thread may have computed it while this one waited for the lock.
        if let Some(mask) = self.known.mask(state) {
            return Ok(mask);
        }
        let shared = recognizer.representative(state, &mut self.fuel())?;
        let uses_suffixes = self.basis.layers.has(Layer::StackSuffixes);
        let alike = || {
            let alike = suffixes.find(recognizer, shared)?;
            let mask = self.known.mask(alike)?;
            self.known.add_same(shared, &mask);
            Some(mask)
        };
        let known = self.known.mask(shared);
        let known = known.or_else(|| uses_suffixes.then(alike).flatten());
        if let Some(mask) = known {
            self.known.add_same(state, &mask);
            return Ok(mask);
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
        let mask = Arc::new(mask);
        if self.basis.layers.has(Layer::Memo) {
            self.known.add_mask(shared, &mask);
            self.known.add_same(state, &mask);
            if let Some(depth) = looked.filter(|_| uses_suffixes) {
                suffixes.remember(recognizer, shared, depth);
            }
        }
        Ok(mask)
    }

    /// Gives up what is too much, and notes how much is left.
    fn keep_within(&self, found: &mut GrammarCaches) {
        // What cannot be done without does not count, or there would be no end of giving up.
        let most = self.basis.limits.grammar_cache_bytes;
        let carried = found.carried;
        let size = self.bytes_of(found);
        if size - carried <= most {
            self.note_size(size);
        } else {
            self.give_up(found, Relief::Masks);
            if self.bytes_of(found) - carried > most / 2 {
                self.give_up(found, Relief::Steps);
            }
            if found.recognizer.memory_bytes() > tuning::OUTGROWN * carried + most / 2 {
                self.retired.store(true, Ordering::Relaxed);
            }
            self.note_size(self.bytes_of(found));
        }
    }

    /// Gives something up; it is computed anew where it is needed.
    fn give_up(&self, found: &mut GrammarCaches, relief: Relief) {
        found.forget();
        self.known.forget_masks();
        if relief != Relief::Masks {
            self.known.forget_steps();
            let aside = self
                .aside
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            self.aside_bytes.store(0, Ordering::Relaxed);
            drop(aside);
        }
    }

    /// Approximate bytes of all that is found out.
    fn bytes_of(&self, found: &GrammarCaches) -> usize {
        let aside = self.aside_bytes.load(Ordering::Relaxed);
        found.memory_bytes() + self.known.memory_bytes() + aside
    }

    fn note_size(&self, size: usize) {
        let before = self.size.swap(size, Ordering::Relaxed);
        self.basis.tally.grown(before, size);
    }

    /// Gives something up, unless somebody is at work here.
    fn relieve(&self, relief: Relief) {
        let Ok(mut found) = self.found.try_write() else {
            return;
        };
        if relief != Relief::Everything {
            self.give_up(&mut found, relief);
            self.note_size(self.bytes_of(&found));
        } else if found.recognizer.memory_bytes() > tuning::OUTGROWN * found.carried {
            self.retired.store(true, Ordering::Relaxed);
        }
    }
}

/// Somebody who finds something out, alone.
pub(crate) struct Growing<'a> {
    generation: &'a Generation,
    // Fields are dropped in this order.
    found: RwLockWriteGuard<'a, GrammarCaches>,
    _unlocked: Unlocked<'a>,
}

/// What is to be done when nothing is locked any more.
struct Unlocked<'a>(&'a Limits);

impl Deref for Growing<'_> {
    type Target = GrammarCaches;

    fn deref(&self) -> &GrammarCaches {
        &self.found
    }
}

impl DerefMut for Growing<'_> {
    fn deref_mut(&mut self) -> &mut GrammarCaches {
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
        self.basis.tally.grown(self.memory_bytes(), 0);
    }
}

impl GrammarCaches {
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

    /// Forgets what masks are put together from.
    fn forget(&mut self) {
        self.suffixes = StackSuffixes::default();
        self.composer.forget();
        self.tables.forget();
    }

    fn memory_bytes(&self) -> usize {
        self.recognizer.memory_bytes()
            + self.suffixes.memory_bytes()
            + self.composer.memory_bytes()
            + self.tables.memory_bytes()
            + self.costs.as_ref().map_or(0, Costs::memory_bytes)
    }
}
