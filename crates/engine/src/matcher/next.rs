//! Which tokens may come next.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::GrammarMatcher;
use crate::budget::Spending;
use crate::earley::{Recognizer, SetId, Sym, View};
use crate::error::Error;
use crate::generation::GrammarCaches;
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

// ---
// Why a matcher allows what it allows, for people.

/// Something that may come next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Expectation {
    /// The rule that waits for it.
    pub rule: Arc<str>,
    /// The terminal or token, as text; cut off where it is long.
    pub symbol: String,
    /// Whether the terminal has begun already.
    pub begun: bool,
}

/// What becomes of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is allowed.
    Allowed,
    /// It is text, and the byte at this index cannot follow.
    Dies {
        /// Index of the byte, 0-based.
        at: usize,
    },
    /// It is special (or ends the turn), and no such token is expected here.
    NotExpected,
    /// It has no bytes, or is padding: never allowed.
    Unused,
    /// The text has ended: nothing follows.
    Ended,
    /// The grammar would take it, but the bound of a part is spent.
    Spent,
}

/// What a matcher expects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// What may come next, sorted.
    pub expected: Vec<Expectation>,
    /// Whether the text may end here.
    pub accepting: bool,
    /// Whether the text has ended.
    pub terminated: bool,
    /// What becomes of the token that was asked about.
    pub token: Option<Verdict>,
}

impl GrammarMatcher {
    /// What is expected here and, for a token, whether it is allowed or where it dies.
    pub fn explain(&self, token: Option<u32>) -> Result<Explanation, Error> {
        self.guard(|matcher| {
            if let Some(id) = token {
                matcher.compiled.vocabulary().check_id(id)?;
            }
            let Position::At(state) = matcher.place() else {
                return Ok(Explanation {
                    expected: Vec::new(),
                    accepting: true,
                    terminated: true,
                    token: token.map(|_| Verdict::Ended),
                });
            };
            let token = token.map(|id| matcher.verdict(id)).transpose()?;
            let found = matcher.generation.read();
            let recognizer = &found.recognizer;
            let state = recognizer.state(state);
            let mut expected = BTreeSet::new();
            for &(set, lexer_state) in state.threads {
                let begun = lexer_state != recognizer.sets.lexer_state(set);
                for &(tag, _) in recognizer.lexer.parts(lexer_state) {
                    expected.extend(expectations(recognizer, set, Sym(tag), begun));
                }
            }
            if let Some(set) = state.fresh {
                for (sym, _) in recognizer.sets.tokens(set) {
                    expected.extend(expectations(recognizer, set, sym, false));
                }
            }
            let expected = expected.into_iter().collect();
            Ok(Explanation {
                expected,
                accepting: state.accept,
                terminated: false,
                token,
            })
        })
    }

    fn verdict(&self, id: u32) -> Result<Verdict, Error> {
        let vocabulary = self.compiled.vocabulary();
        let place = self.place();
        if let Some(tracker) = &self.tracker {
            match tracker.step(&self.generation, id)? {
                Spending::To(_) => return Ok(Verdict::Allowed),
                Spending::Spent => return Ok(Verdict::Spent),
                Spending::Refused => {}
            }
        } else if self.step(place, id)?.is_some() {
            return Ok(Verdict::Allowed);
        }
        let Position::At(state) = place else {
            return Ok(Verdict::Ended);
        };
        let Some(text) = vocabulary.text(id) else {
            return Ok(if vocabulary.is_usable(id) {
                Verdict::NotExpected
            } else {
                Verdict::Unused
            });
        };
        let mut fuel = self.generation.fuel();
        let GrammarCaches {
            recognizer, frames, ..
        } = &mut *self.generation.write();
        frames.load(recognizer.state(state));
        let mut at = 0;
        for &byte in text {
            if !recognizer.push(frames, byte, &mut fuel)? {
                break;
            }
            at += 1;
        }
        Ok(Verdict::Dies { at })
    }
}

/// The rules of a set that wait for a symbol.
fn expectations(
    recognizer: &Recognizer,
    set: SetId,
    sym: Sym,
    begun: bool,
) -> impl Iterator<Item = Expectation> + '_ {
    let dots = &recognizer.dots;
    let symbol = match sym.view() {
        View::Terminal(index) => dots.terminals[index as usize].describe(),
        View::Token(index) => dots.tokens[index as usize].text.clone(),
        View::Nonterminal(_) | View::End => String::new(),
    };
    recognizer
        .sets
        .waiting_dots(set, sym)
        .map(move |dot| Expectation {
            rule: Arc::clone(&dots.names[dots.lhs(dot) as usize]),
            symbol: symbol.clone(),
            begun,
        })
}
