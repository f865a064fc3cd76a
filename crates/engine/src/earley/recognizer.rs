//! Moves from state to state, by bytes of text and by tokens. From the grammar and what was interned before, for
//! matchers and masks.

use syntagma_grammar::ir::{ByteSet, Lnf};

use super::grammar::DottedRules;
use super::reads::Reads;
use super::sets::{Ended, GotoResult, RetId, SetId, Sets};
use super::state::{Frames, State, StateId, States, Thread};
use crate::automaton::{AcceptSetId, Carried, LexerStates, Residuals};
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::vocabulary::Vocabulary;

/// The recogniser of one grammar with everything it has found out so far.
#[derive(Debug)]
pub(crate) struct Recognizer {
    pub(crate) dots: DottedRules,
    pub(crate) lexer: LexerStates,
    pub(crate) sets: Sets,
    states: States,
    /// What the mask in the making looks into.
    pub(crate) reads: Reads,
}

impl Recognizer {
    /// The recogniser and its state at the start of the text.
    pub(crate) fn new(
        lnf: &Lnf,
        vocabulary: &Vocabulary,
        residuals: Residuals,
        fuel: &mut Fuel,
    ) -> Result<(Self, StateId), Error> {
        let tail_calls = residuals.has(Layer::TailCalls);
        let homes = residuals.has(Layer::Homes);
        let mut lexer = LexerStates::new(residuals);
        let mut dots = DottedRules::new(lnf, vocabulary, lexer.residuals(), fuel)?;
        dots.tail_calls = tail_calls;
        dots.homes = homes;
        Self::of_dots(dots, lexer, fuel)
    }

    /// A recogniser of the same grammar that has found out nothing yet, and its state at the start of the text.
    pub(crate) fn anew(&self, fuel: &mut Fuel) -> Result<(Self, StateId), Error> {
        let mut lexer = self.lexer.anew();
        let mut dots = self.dots.clone();
        let mut carried = Carried::default();
        for terminal in &mut dots.terminals {
            if let Some(residual) = terminal.residual.get_mut() {
                *residual = lexer.carry_residual(&self.lexer, *residual, &mut carried, fuel)?;
            }
        }
        Self::of_dots(dots, lexer, fuel)
    }

    /// Takes over states of another recogniser of the same grammar, in their order.
    pub(crate) fn carry(
        &mut self,
        from: &Self,
        states: &[StateId],
        fuel: &mut Fuel,
    ) -> Result<Vec<StateId>, Error> {
        let sets = states.iter().flat_map(|&state| {
            let state = from.state(state);
            let threads = state.threads.iter().map(|&(set, _)| set);
            threads.chain(state.fresh)
        });
        let sets = self
            .sets
            .carry(&from.sets, sets, &self.dots, &mut self.lexer, fuel)?;
        let mut carried = Carried::default();
        let mut here = Vec::with_capacity(states.len());
        for &state in states {
            let state = from.state(state);
            let mut threads = state.threads.to_vec();
            for (set, lexer_state) in &mut threads {
                *set = sets.get(*set);
                *lexer_state = self
                    .lexer
                    .carry(&from.lexer, *lexer_state, &mut carried, fuel)?;
            }
            threads.sort_unstable();
            here.push(self.states.insert(State {
                threads: &threads,
                fresh: state.fresh.map(|set| sets.get(set)),
                accept: state.accept,
            }));
        }
        Ok(here)
    }

    fn of_dots(
        dots: DottedRules,
        mut lexer: LexerStates,
        fuel: &mut Fuel,
    ) -> Result<(Self, StateId), Error> {
        let (sets, goto) = Sets::new(&dots, &mut lexer, fuel)?;
        let mut recognizer = Self {
            dots,
            lexer,
            sets,
            states: States::default(),
            reads: Reads::default(),
        };
        let mut frames = Frames::default();
        if !recognizer.begin(&mut frames, goto) {
            return Err(Error::grammar(
                "E-GRAMMAR-EMPTY",
                "the grammar matches nothing at all",
            ));
        }
        let start = recognizer.states.intern(&frames);
        Ok((recognizer, start))
    }

    pub(crate) fn state(&self, id: StateId) -> State<'_> {
        self.states.get(id)
    }

    /// The id of the topmost speculative state.
    pub(crate) fn intern(&mut self, frames: &Frames) -> StateId {
        self.states.intern(frames)
    }

    /// The id of a state of these threads.
    pub(crate) fn intern_threads(
        &mut self,
        mut threads: Vec<Thread>,
        fresh: Option<SetId>,
        accept: bool,
    ) -> StateId {
        threads.sort_unstable();
        threads.dedup();
        self.states.insert(State {
            threads: &threads,
            fresh,
            accept,
        })
    }

    /// The set of those items, each with its dot behind a symbol that it waits for, with the dot before it.
    pub(crate) fn waiting(
        &mut self,
        items: &[(u32, RetId)],
        fuel: &mut Fuel,
    ) -> Result<SetId, Error> {
        let before = items.iter().map(|&(dot, ret)| (dot - 1, ret));
        self.sets
            .of_items(before, &self.dots, &mut self.lexer, fuel)
    }

    /// The set in which everything goes on that goes on in one of these.
    pub(crate) fn merged(&mut self, sets: &[SetId], fuel: &mut Fuel) -> Result<SetId, Error> {
        if let [set] = sets {
            return Ok(*set);
        }
        let kernels = sets.iter().flat_map(|&set| self.sets.kernel(set));
        let items: Vec<_> = kernels.copied().collect();
        self.sets
            .of_items(items.into_iter(), &self.dots, &mut self.lexer, fuel)
    }

    /// A state in which the same tokens may come next, without counts that no token can exhaust.
    pub(crate) fn representative(
        &mut self,
        id: StateId,
        fuel: &mut Fuel,
    ) -> Result<StateId, Error> {
        let state = self.state(id);
        if !state
            .threads
            .iter()
            .any(|(_, lexer_state)| lexer_state.is_counted())
        {
            return Ok(id);
        }
        let mut threads = state.threads.to_vec();
        let (fresh, accept) = (state.fresh, state.accept);
        for (_, lexer_state) in &mut threads {
            *lexer_state = self.lexer.representative(*lexer_state, fuel)?;
        }
        Ok(self.intern_threads(threads, fresh, accept))
    }

    pub(crate) fn state_count(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.dots.memory_bytes()
            + self.lexer.memory_bytes()
            + self.sets.memory_bytes()
            + self.states.memory_bytes()
            + self.reads.memory_bytes()
    }

    /// Pushes the state behind a byte; false, with nothing pushed, if it cannot come next.
    pub(crate) fn push(
        &mut self,
        frames: &mut Frames,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        self.push_with(frames, Some(byte), None, fuel)
    }

    /// Pushes the state behind a token that matches as these symbols; false if that cannot be.
    pub(crate) fn push_symbols(
        &mut self,
        frames: &mut Frames,
        symbols: Ended,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        self.push_with(frames, None, Some(symbols), fuel)
    }

    /// Pushes the state behind a whole token from the topmost state, read as text (if it may be) and as a symbol at
    /// once; false if neither can be. How many states are pushed is not said.
    pub(crate) fn push_token(
        &mut self,
        frames: &mut Frames,
        vocabulary: &Vocabulary,
        id: u32,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let symbols = frames.top().fresh.and_then(|set| self.symbols(set, id));
        if let Some(text) = vocabulary.text(id) {
            let (&last, front) = text.split_last().unwrap_or((&0, &[]));
            let mut alive = true;
            for &byte in front {
                alive = self.push(frames, byte, fuel)?;
                if !alive {
                    break;
                }
            }
            if alive {
                return self.push_with(frames, Some(last), symbols, fuel);
            }
        }
        match symbols {
            Some(symbols) => self.push_symbols(frames, symbols, fuel),
            None => Ok(false),
        }
    }

    /// The token symbols that a set waits for and that a token matches.
    pub(crate) fn symbols(&mut self, set: SetId, id: u32) -> Option<Ended> {
        let matching = self
            .sets
            .tokens(set)
            .filter(|&(_, index)| self.dots.tokens[index as usize].contains(id));
        let tags: Vec<u32> = matching.map(|(sym, _)| sym.0).collect();
        (!tags.is_empty()).then(|| (set, self.lexer.accept_set(tags)))
    }

    /// The bytes that may come next in the topmost state.
    pub(crate) fn next_bytes(
        &mut self,
        frames: &mut Frames,
        fuel: &mut Fuel,
    ) -> Result<ByteSet, Error> {
        let steps = frames.steps();
        let mut set = ByteSet::EMPTY;
        for group in self.byte_classes(frames) {
            let Some(byte) = group.iter().next() else {
                continue;
            };
            if self.push(frames, byte, fuel)? {
                frames.truncate(steps);
                set = set.union(&group);
            }
        }
        Ok(set)
    }

    /// Whether a byte may come next in threads, where that is known without finding out what is behind it: every end of a
    /// terminal leads on, as what cannot take part in a text is no part of the grammar.
    pub(crate) fn lives(&self, threads: &[Thread], byte: u8) -> Option<bool> {
        let mut known = Some(false);
        for &(_, lexer_state) in threads {
            match self.lexer.lives(lexer_state, byte) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => known = None,
            }
        }
        known
    }

    /// The bytes, grouped by what the topmost state's terminals do not tell apart.
    pub(crate) fn byte_classes(&mut self, frames: &Frames) -> Vec<ByteSet> {
        self.lexer
            .byte_classes(frames.threads().iter().map(|&(_, lexer_state)| lexer_state))
    }

    /// Where the position lands at which `ended` end, all at once.
    pub(crate) fn goto(&mut self, ended: &[Ended], fuel: &mut Fuel) -> Result<GotoResult, Error> {
        let goto = self.sets.goto(ended, &self.dots, &mut self.lexer, fuel)?;
        self.reads.note(ended, goto);
        Ok(goto)
    }

    fn push_with(
        &mut self,
        frames: &mut Frames,
        byte: Option<u8>,
        symbols: Option<Ended>,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        fuel.spend(1)?;
        let result = self.push_threads(frames, byte, symbols, fuel);
        match result {
            Ok(goto) => Ok(self.begin(frames, goto)),
            Err(error) => {
                frames.abandon();
                Err(error)
            }
        }
    }

    fn push_threads(
        &mut self,
        frames: &mut Frames,
        byte: Option<u8>,
        symbols: Option<Ended>,
        fuel: &mut Fuel,
    ) -> Result<GotoResult, Error> {
        frames.ended.clear();
        frames.ended.extend(symbols);
        if let Some(byte) = byte {
            for index in 0..frames.threads().len() {
                let (set, lexer_state) = frames.threads()[index];
                let (to, accept_set) = self.lexer.step(lexer_state, byte, fuel)?;
                frames.add(set, to);
                if accept_set != AcceptSetId::NONE {
                    frames.ended.push((set, accept_set));
                }
            }
        }
        if frames.ended.is_empty() {
            return Ok(GotoResult::NONE);
        }
        frames.ended.sort_unstable();
        frames.ended.dedup();
        let Frames { ended, .. } = frames;
        self.goto(ended, fuel)
    }

    /// Adds what begins where a goto leads and finishes the state.
    fn begin(&self, frames: &mut Frames, goto: GotoResult) -> bool {
        let mut fresh = None;
        if let Some(set) = goto.set {
            frames.add(set, self.sets.lexer_state(set));
            fresh = self.sets.has_tokens(set).then_some(set);
        }
        frames.finish(goto, fresh)
    }
}
