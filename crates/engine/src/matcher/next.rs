//! Which tokens may come next.

use std::sync::Arc;

use super::GrammarMatcher;
use crate::error::Error;
use crate::mask::{Mask, MaskRow, Step};
use crate::position::Position;
use crate::vocabulary::bitmask_words;

/// What may come next, for a row that is written later: only copying is left to do.
#[derive(Debug, Clone)]
pub struct NextMask {
    words: usize,
    tokens: Tokens,
}

#[derive(Debug, Clone)]
enum Tokens {
    /// The text has ended: any.
    All,
    Mask(Arc<Mask>),
    Row(Box<[i32]>),
}

impl NextMask {
    /// How many words of a row the vocabulary takes.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.words
    }

    /// Writes it into a row of at least `bitmask_words(vocab_size)` words (`E-BITMASK-SIZE`); further words become zero.
    /// All ones once terminated.
    pub fn write<R: MaskRow + ?Sized>(&self, row: &mut R) -> Result<(), Error> {
        check_width(row, self.words)?;
        let padding = self.words..row.word_count();
        match &self.tokens {
            Tokens::All => {
                row.fill_range(0..row.word_count(), -1);
                return Ok(());
            }
            Tokens::Mask(mask) => mask.write(row, self.words),
            Tokens::Row(words) => row.copy_from(words),
        }
        row.fill_range(padding, 0);
        Ok(())
    }
}

fn check_width<R: MaskRow + ?Sized>(row: &R, words: usize) -> Result<(), Error> {
    if row.word_count() >= words {
        return Ok(());
    }
    let given = row.word_count();
    Err(Error::argument(
        "E-BITMASK-SIZE",
        format!("the row has {given} words, the vocabulary needs {words}"),
    ))
}

impl GrammarMatcher {
    /// Finds which tokens may come next.
    pub fn next_mask(&self) -> Result<NextMask, Error> {
        self.guard(Self::find_next)
    }

    /// Writes which tokens may come next into a row of at least `bitmask_words(vocab_size)` words (`E-BITMASK-SIZE`);
    /// further words become zero. All ones once terminated.
    pub fn fill_next_token_bitmask(&self, row: &mut [i32]) -> Result<(), Error> {
        self.guard(|matcher| {
            // So that nothing is found for a row that is too short.
            check_width(row, bitmask_words(matcher.compiled.vocabulary().size()))?;
            matcher.find_next()?.write(row)
        })
    }

    /// Which tokens may come next, where that was found before, so that only copying is left; None where
    /// [`next_mask`](Self::next_mask) has to be asked. Waits for no other thread.
    #[must_use]
    pub fn known_mask(&self) -> Option<NextMask> {
        if self.has_to_ask() {
            return None;
        }
        let tokens = match self.place() {
            Position::Ended => Tokens::All,
            Position::At(state) => Tokens::Mask(self.generation.known_mask(state)?),
        };
        let words = bitmask_words(self.compiled.vocabulary().size());
        Some(NextMask { words, tokens })
    }

    /// Whether a token may come next, where that was found before; None where [`accepts`](Self::accepts) has to be asked.
    /// Waits for no other thread.
    #[must_use]
    pub fn known_accepts(&self, id: u32) -> Option<bool> {
        if self.has_to_ask() || self.compiled.vocabulary().check_id(id).is_err() {
            return None;
        }
        match self.place() {
            Position::Ended => Some(false),
            Position::At(state) => self.generation.known_allows(state, id),
        }
    }

    /// Whether the text may end here, unless another thread is finding something out about the grammar; None where
    /// [`is_accepting`](Self::is_accepting) has to be asked.
    #[must_use]
    pub fn known_accepting(&self) -> Option<bool> {
        if self.check().is_err() {
            return None;
        }
        match self.place() {
            Position::Ended => Some(true),
            Position::At(state) => self.generation.known_accept(state),
        }
    }

    /// How many of the tokens could be accepted in this order, where that was found before; None where
    /// [`validate_tokens`](Self::validate_tokens) has to be asked. Waits for no other thread.
    #[must_use]
    pub fn known_validate(&self, ids: &[u32]) -> Option<usize> {
        if self.has_to_ask() {
            return None;
        }
        let mut place = self.place();
        for (index, &id) in ids.iter().enumerate() {
            let Position::At(state) = place else {
                return Some(index);
            };
            place = match self.generation.known_step(state, id)? {
                Step::Refused => return Some(index),
                Step::End => Position::Ended,
                Step::To(state) => Position::At(state),
            };
        }
        Some(ids.len())
    }

    /// Whether what is known says nothing: of a matcher that has failed, or whose answers depend on more than its state.
    pub(super) fn has_to_ask(&self) -> bool {
        self.tracker.is_some() || self.compiled.is_judged() || self.check().is_err()
    }

    fn find_next(&self) -> Result<NextMask, Error> {
        let words = bitmask_words(self.compiled.vocabulary().size());
        let tokens = match (self.place(), &self.tracker) {
            (Position::Ended, _) => Tokens::All,
            (Position::At(_), Some(tracker)) => {
                let mut row = vec![0; words];
                tracker.fill(&self.generation, &mut row)?;
                Tokens::Row(row.into())
            }
            (Position::At(state), None) => Tokens::Mask(self.generation.mask(state)?),
        };
        let mask = NextMask { words, tokens };
        if let Some(mut judge) = self.compiled.judge()
            && !matches!(mask.tokens, Tokens::All)
        {
            let mut row = vec![0; words];
            mask.write(&mut row[..])?;
            judge.check_mask(self.inputs(), &row, self.tracker.is_some())?;
        }
        Ok(mask)
    }
}
