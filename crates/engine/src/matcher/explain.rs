//! Why a matcher allows what it allows, for people.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::GrammarMatcher;
use crate::budget::Spending;
use crate::earley::{Recognizer, SetId, Sym, View};
use crate::error::Error;
use crate::generation::Found;
use crate::position::Position;

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
        let Found {
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
