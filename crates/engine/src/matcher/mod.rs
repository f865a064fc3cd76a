//! One text as it grows, token by token.

mod ahead;
mod batch;
mod close;
mod history;
mod next;
mod saved;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use syntagma_grammar::ir::ByteSet;

pub use batch::{accept_token_batch, fill_next_token_bitmask_batch, next_masks};
pub use next::{Expectation, Explanation, NextMask, Verdict};

use self::history::History;
use crate::budget::{Bound, BudgetTracker, Spending};
use crate::compiled::CompiledGrammar;
use crate::error::{Error, ErrorKind, caught};
use crate::generation::{Generation, GrammarCaches};
use crate::mask::Step;
use crate::position::{Input, Position};
use crate::tuning;

/// Follows one text through a grammar.
///
/// A call that runs out of [`Limits::step_fuel`](crate::Limits::step_fuel) fails with `E-LIMIT-STEP` (or
/// `E-LIMIT-RESIDUALS`); from then on every call returns that error, until [`reset`](Self::reset). A panic is caught and
/// becomes `E-ENGINE-PANIC`, for this matcher and every other one of the compiled grammar, which is compiled anew when it
/// is next asked for. Token ids that the vocabulary does not have are `E-TOKEN-ID` and change nothing.
#[derive(Debug, Clone)]
pub struct GrammarMatcher {
    compiled: Arc<CompiledGrammar>,
    /// What the places in the history, the latest ones at least, are numbers of. With bounds it is always the same, since
    /// the budget tracker has numbers of its own.
    generation: Arc<Generation>,
    history: History,
    /// What is spent, if there are bounds.
    tracker: Option<BudgetTracker>,
    failed: OnceLock<Error>,
}

impl GrammarMatcher {
    /// A matcher at the start of the text.
    #[must_use]
    pub fn new(compiled: Arc<CompiledGrammar>) -> Self {
        let generation = compiled.open();
        Self {
            history: History::new(generation.number()),
            generation,
            compiled,
            tracker: None,
            failed: OnceLock::new(),
        }
    }

    /// A matcher at the start of the text that keeps labelled parts of it to bounds. Where a bound is spent, tokens that stay
    /// in the part are refused as soon as it can be left, and before that all tokens from which the way out would be too
    /// long. A part whose shortest text is longer than its bound gets that text. Labels inside of parts with a bound do
    /// not count.
    ///
    /// Errors: `E-BUDGET-LABEL` where the grammar has no labelled part at all, `E-BUDGET-BOUNDS` for two bounds on one
    /// label or too many of them, and limits.
    pub fn with_bounds(compiled: Arc<CompiledGrammar>, bounds: Vec<Bound>) -> Result<Self, Error> {
        let mut matcher = Self::new(compiled);
        if !bounds.is_empty() {
            matcher.tracker =
                Some(matcher.guard(|matcher| BudgetTracker::new(&matcher.generation, bounds))?);
        }
        Ok(matcher)
    }

    /// The bounds on parts of the text.
    #[must_use]
    pub fn bounds(&self) -> &[Bound] {
        self.tracker.as_ref().map_or(&[], BudgetTracker::bounds)
    }

    /// The grammar.
    #[must_use]
    pub fn compiled(&self) -> &Arc<CompiledGrammar> {
        &self.compiled
    }

    /// Takes a token if it may come next; where not, nothing changes and the answer is false.
    ///
    /// A token that may be text and a symbol of the grammar at once is both. A token that ends the turn ends the text
    /// wherever the grammar accepts; elsewhere it is a symbol, if the grammar names it, and ends the text if the
    /// grammar is complete with it.
    pub fn accept_token(&mut self, id: u32) -> Result<bool, Error> {
        if let Some(tracker) = &self.tracker {
            let verdict = self.guard(|matcher| {
                matcher.compiled.vocabulary().check_id(id)?;
                tracker.step(&matcher.generation, id)
            })?;
            self.judge(Input::Token(id), matches!(verdict, Spending::To(_)))?;
            return Ok(self.spend(Input::Token(id), verdict));
        }
        self.keep_up()?;
        let place = self.guard(|matcher| matcher.step(matcher.place(), id))?;
        self.judge(Input::Token(id), place.is_some())?;
        if let Some(place) = place {
            self.history.push(Input::Token(id), place);
        }
        Ok(place.is_some())
    }

    /// The same where it is known already what becomes of the token, which takes no more than a look-up; None, with nothing
    /// changed, where [`accept_token`](Self::accept_token) has to be asked. Waits for no other thread.
    pub fn accept_known(&mut self, id: u32) -> Option<bool> {
        if self.has_to_ask() || self.generation.is_retired() {
            return None;
        }
        let Position::At(state) = self.place() else {
            return None;
        };
        let place = match self.generation.known_step(state, id)? {
            Step::Refused => return Some(false),
            Step::End => Position::Ended,
            Step::To(state) => Position::At(state),
        };
        self.history.push(Input::Token(id), place);
        Some(true)
    }

    /// Takes text, whole or not at all. It counts as one step for [`rollback`](Self::rollback), and as one token.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        if let Some(tracker) = &self.tracker {
            let verdict = self.guard(|matcher| tracker.step_text(&matcher.generation, bytes))?;
            self.judge(Input::Text(bytes), matches!(verdict, Spending::To(_)))?;
            return Ok(self.spend(Input::Text(bytes), verdict));
        }
        self.keep_up()?;
        let place = self.guard(|matcher| match matcher.place() {
            Position::Ended => Ok(None),
            Position::At(state) => matcher.generation.step_bytes(state, bytes),
        })?;
        self.judge(Input::Text(bytes), place.is_some())?;
        if let Some(state) = place {
            self.history.push(Input::Text(bytes), Position::At(state));
        }
        Ok(place.is_some())
    }

    /// Whether a token may come next. Changes nothing.
    pub fn accepts(&self, id: u32) -> Result<bool, Error> {
        self.guard(|matcher| {
            matcher.compiled.vocabulary().check_id(id)?;
            if let Some(tracker) = &matcher.tracker {
                let verdict = tracker.step(&matcher.generation, id)?;
                return Ok(matches!(verdict, Spending::To(_)));
            }
            match matcher.place() {
                Position::Ended => Ok(false),
                Position::At(state) => matcher.generation.allows(state, id),
            }
        })
    }

    /// Whether so many steps are taken back without reading any others again.
    #[must_use]
    pub fn rolls_back_at_once(&self, steps: usize) -> bool {
        self.tracker.is_some() || self.history.is_recent(self.steps().saturating_sub(steps))
    }

    /// Takes back the last `steps` accepted steps (`E-MATCHER-ROLLBACK` if there were fewer; nothing changes then).
    pub fn rollback(&mut self, steps: usize) -> Result<(), Error> {
        let kept = self.guard(|matcher| {
            matcher.history.len().checked_sub(steps).ok_or_else(|| {
                Error::argument(
                    "E-MATCHER-ROLLBACK",
                    format!(
                        "{steps} steps cannot be taken back, there were {}",
                        matcher.history.len()
                    ),
                )
            })
        })?;
        self.history.truncate(kept);
        if let Some(tracker) = &mut self.tracker {
            tracker.rollback(steps);
        } else if self.history.is_behind() {
            self.replay()?;
        }
        Ok(())
    }

    /// A second matcher at the same place with the same past, which both share: no copy of it is made.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Back to the start of the text; forgets a failure too.
    pub fn reset(&mut self) {
        let opened = self.compiled.open();
        let retired = self.generation.is_retired();
        match &mut self.tracker {
            // It speaks of states of its own generation, and goes on there as long as it can.
            Some(tracker) => {
                match retired.then(|| BudgetTracker::new(&opened, tracker.bounds().to_vec())) {
                    Some(Ok(anew)) => {
                        *tracker = anew;
                        self.generation = opened;
                    }
                    _ => tracker.reset(),
                }
            }
            None => self.generation = opened,
        }
        self.history = History::new(self.generation.number());
        self.failed = OnceLock::new();
    }

    /// How many steps were accepted since the start.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.history.len()
    }

    /// Whether the text may end here.
    pub fn is_accepting(&self) -> Result<bool, Error> {
        self.guard(|matcher| {
            Ok(match matcher.place() {
                Position::Ended => true,
                Position::At(state) => matcher.generation.read().recognizer.state(state).accept,
            })
        })
    }

    /// Whether the text has ended: a token that ends the turn was taken.
    pub fn is_terminated(&self) -> Result<bool, Error> {
        self.guard(|matcher| Ok(matcher.place() == Position::Ended))
    }

    /// The bytes that must come next: as long as there is exactly one possible byte, the text may not end and no
    /// token symbol is possible. At most 16 KiB at a time; may end inside a character. None where a bound leaves only longer
    /// tokens: text that is taken at once counts as a token of its own.
    pub fn find_jump_forward_bytes(&self) -> Result<Vec<u8>, Error> {
        let bytes = self.certain_bytes()?;
        let Some(tracker) = self.tracker.as_ref().filter(|_| !bytes.is_empty()) else {
            return Ok(bytes);
        };
        let verdict = self.guard(|matcher| tracker.step_text(&matcher.generation, &bytes))?;
        let taken = matches!(verdict, Spending::To(_));
        Ok(if taken { bytes } else { Vec::new() })
    }

    /// The same for the place alone.
    fn certain_bytes(&self) -> Result<Vec<u8>, Error> {
        self.guard(|matcher| {
            let mut bytes = Vec::new();
            let Position::At(state) = matcher.place() else {
                return Ok(bytes);
            };
            let mut fuel = matcher.generation.fuel();
            let GrammarCaches {
                recognizer, frames, ..
            } = &mut *matcher.generation.write();
            frames.load(recognizer.state(state));
            while bytes.len() < tuning::JUMP_BYTES
                && !frames.top().accept
                && frames.top().fresh.is_none()
            {
                let next = recognizer.next_bytes(frames, &mut fuel)?;
                let (1, Some(byte)) = (next.len(), next.iter().next()) else {
                    break;
                };
                bytes.push(byte);
                recognizer.push(frames, byte, &mut fuel)?;
                frames.keep_top();
            }
            Ok(bytes)
        })
    }

    /// How many of the tokens, from the first on, could be accepted in this order. Changes nothing.
    pub fn validate_tokens(&self, ids: &[u32]) -> Result<usize, Error> {
        if self.tracker.is_some() {
            let mut matcher = self.fork();
            for (index, &id) in ids.iter().enumerate() {
                if !matcher.accept_token(id)? {
                    return Ok(index);
                }
            }
            return Ok(ids.len());
        }
        self.guard(|matcher| {
            let mut place = matcher.place();
            for (index, &id) in ids.iter().enumerate() {
                match matcher.step(place, id)? {
                    Some(next) => place = next,
                    None => return Ok(index),
                }
            }
            Ok(ids.len())
        })
    }

    /// Takes the tokens of an output in their order: how many belong to it, from the first on.
    ///
    /// It stops at the first that may not come. What stands behind the end of the text counts, and is no step.
    pub fn take(&mut self, ids: &[u32]) -> Result<usize, Error> {
        for (index, &id) in ids.iter().enumerate() {
            if !self.is_terminated()? && !self.accept_token(id)? {
                return Ok(index);
            }
        }
        Ok(ids.len())
    }

    /// The bytes of text that may come next.
    pub fn next_bytes(&self) -> Result<ByteSet, Error> {
        self.guard(|matcher| {
            let Position::At(state) = matcher.place() else {
                return Ok(ByteSet::EMPTY);
            };
            let GrammarCaches {
                recognizer, frames, ..
            } = &mut *matcher.generation.write();
            frames.load(recognizer.state(state));
            recognizer.next_bytes(frames, &mut matcher.generation.fuel())
        })
    }

    /// The tokens that may come next as token symbols or markers: inclusive ranges of ids, ascending. Ends of the turn
    /// are not among them unless the grammar names them.
    pub fn next_symbol_tokens(&self) -> Result<Vec<(u32, u32)>, Error> {
        self.guard(|matcher| {
            let Position::At(state) = matcher.place() else {
                return Ok(Vec::new());
            };
            let found = matcher.generation.read();
            let recognizer = &found.recognizer;
            let Some(set) = recognizer.state(state).fresh else {
                return Ok(Vec::new());
            };
            let mut ranges: Vec<(u32, u32)> = Vec::new();
            for (_, index) in recognizer.sets.tokens(set) {
                ranges.extend_from_slice(&recognizer.dots.tokens[index as usize].ids);
            }
            ranges.sort_unstable();
            let mut joined: Vec<(u32, u32)> = Vec::new();
            for (first, last) in ranges {
                match joined.last_mut() {
                    Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                    _ => joined.push((first, last)),
                }
            }
            Ok(joined)
        })
    }

    /// Approximate bytes that this matcher holds for itself, without the shared grammar.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let steps = self.history.len();
        let tracker = self.tracker.as_ref();
        size_of::<Self>()
            + self.history.memory_bytes()
            + tracker.map_or(0, |tracker| tracker.memory_bytes(steps))
    }

    fn place(&self) -> Position {
        if let Some(tracker) = &self.tracker {
            return tracker.place();
        }
        self.history
            .last()
            .unwrap_or(Position::At(self.generation.start()))
    }

    /// Goes on in the newest generation, if there is a newer one.
    #[inline]
    fn keep_up(&mut self) -> Result<(), Error> {
        if self.generation.is_retired() {
            self.move_on()
        } else {
            Ok(())
        }
    }

    #[cold]
    fn move_on(&mut self) -> Result<(), Error> {
        let (newest, states) = self.guard(|matcher| {
            let newest = matcher.compiled.newest();
            let states = matcher.history.recent_states();
            let states = newest.carry(&matcher.generation, &states)?;
            Ok((newest, states))
        })?;
        self.history.renumber_recent(newest.number(), states);
        self.generation = newest;
        Ok(())
    }

    /// Takes all steps anew: those that were taken long ago led to places of a generation that is given up.
    #[cold]
    fn replay(&mut self) -> Result<(), Error> {
        let mut anew = Self::new(Arc::clone(&self.compiled));
        self.guard(|matcher| {
            for input in matcher.history.inputs() {
                let taken = match input {
                    Input::Token(id) => anew.accept_token(id)?,
                    Input::Text(bytes) => anew.accept_bytes(bytes)?,
                };
                if !taken {
                    return Err(Error::new(
                        ErrorKind::Internal,
                        "E-ENGINE-REPLAY",
                        "a step that was taken once is refused",
                    ));
                }
            }
            Ok(())
        })?;
        self.history = anew.history;
        self.generation = anew.generation;
        Ok(())
    }

    /// The failure of a matcher that has failed, or whose grammar a panic has broken.
    fn check(&self) -> Result<(), Error> {
        match self.failed.get() {
            Some(error) => Err(error.clone()),
            None => self.compiled.check(),
        }
    }

    /// Goes where the bounds let a step lead; whether they do.
    fn spend(&mut self, input: Input<'_>, verdict: Spending) -> bool {
        let Spending::To(tracker) = verdict else {
            return false;
        };
        self.history.push(input, tracker.place());
        self.tracker = Some(tracker);
        true
    }

    fn step(&self, place: Position, id: u32) -> Result<Option<Position>, Error> {
        self.compiled.vocabulary().check_id(id)?;
        let Position::At(state) = place else {
            return Ok(None);
        };
        Ok(match self.generation.step(state, id)? {
            Step::Refused => None,
            Step::End => Some(Position::Ended),
            Step::To(state) => Some(Position::At(state)),
        })
    }

    /// Has a step checked that is about to be taken or refused, where steps are.
    #[inline]
    fn judge(&self, input: Input<'_>, taken: bool) -> Result<(), Error> {
        if !self.compiled.is_judged() || self.place() == Position::Ended {
            return Ok(());
        }
        self.guard(|matcher| match matcher.compiled.judge() {
            Some(mut judge) => {
                let bounded = matcher.tracker.is_some();
                judge.check_step(matcher.inputs(), input, taken, bounded)
            }
            None => Ok(()),
        })
    }

    /// What the places of the matcher are numbers of.
    pub(crate) fn generation(&self) -> &Generation {
        &self.generation
    }

    /// What the steps took, in order.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.history.inputs()
    }

    /// Runs a call that changes nothing and can be given up: a limit does not fail the matcher.
    pub(crate) fn look<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.guard(|matcher| match call(matcher) {
            Err(error) if error.kind() == ErrorKind::Limit => Ok(Err(error)),
            result => result.map(Ok),
        })?
    }

    /// Runs a call unless the matcher has failed, and remembers a failure.
    fn guard<T>(&self, call: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        self.check()?;
        let result = caught(|| call(self));
        if let Err(error) = &result
            && matches!(error.kind(), ErrorKind::Limit | ErrorKind::Internal)
        {
            self.compiled.note(error);
            // Another thread may have failed first; its error stands.
            let _ = self.failed.set(error.clone());
        }
        result
    }
}
