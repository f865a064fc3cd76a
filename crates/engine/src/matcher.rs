//! One text as it grows, token by token.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use crate::compiled::CompiledGrammar;
use crate::error::Error;

/// Something that may come next, for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// Why a matcher allows what it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Follows one text through a grammar.
///
/// A call that runs out of [`Limits::step_fuel`](crate::Limits::step_fuel) fails with `E-LIMIT-STEP`; from then on every
/// call returns that error, until [`reset`](Self::reset). Token ids that the vocabulary does not have are
/// `E-TOKEN-ID` and change nothing.
#[derive(Debug, Clone)]
pub struct GrammarMatcher {}

impl GrammarMatcher {
    /// A matcher at the start of the text.
    #[must_use]
    pub fn new(_compiled: Arc<CompiledGrammar>) -> Self {
        todo!()
    }

    /// The grammar.
    #[must_use]
    pub fn compiled(&self) -> &Arc<CompiledGrammar> {
        todo!()
    }

    /// Takes a token if it may come next; where not, nothing changes and the answer is false.
    pub fn accept_token(&mut self, _id: u32) -> Result<bool, Error> {
        todo!()
    }

    /// Takes text, whole or not at all. It counts as one step for [`rollback`](Self::rollback).
    pub fn accept_bytes(&mut self, _bytes: &[u8]) -> Result<bool, Error> {
        todo!()
    }

    /// Whether a token may come next. Changes nothing.
    pub fn accepts(&self, _id: u32) -> Result<bool, Error> {
        todo!()
    }

    /// Writes which tokens may come next into a row of at least `bitmask_words(vocab_size)` words (`E-BITMASK-SIZE`).
    /// All ones once terminated.
    pub fn fill_next_token_bitmask(&self, _row: &mut [i32]) -> Result<(), Error> {
        todo!()
    }

    /// Takes back the last `steps` accepted steps (`E-ROLLBACK` if there were fewer; nothing changes then).
    pub fn rollback(&mut self, _steps: usize) -> Result<(), Error> {
        todo!()
    }

    /// A second matcher at the same place with the same past.
    #[must_use]
    pub fn fork(&self) -> Self {
        todo!()
    }

    /// Back to the start of the text; forgets a failure too.
    pub fn reset(&mut self) {
        todo!()
    }

    /// How many steps were accepted since the start.
    #[must_use]
    pub fn steps(&self) -> usize {
        todo!()
    }

    /// Whether the text may end here.
    pub fn is_accepting(&self) -> Result<bool, Error> {
        todo!()
    }

    /// Whether the text has ended: a token that ends the turn was taken.
    pub fn is_terminated(&self) -> Result<bool, Error> {
        todo!()
    }

    /// The bytes that must come next: as long as there is exactly one possible byte, the text may not end and no
    /// token symbol is possible. At most 64 KiB at a time; may end inside a character.
    pub fn find_jump_forward_bytes(&self) -> Result<Vec<u8>, Error> {
        todo!()
    }

    /// How many of the tokens, from the first on, could be accepted in this order. Changes nothing.
    pub fn validate_tokens(&self, _ids: &[u32]) -> Result<usize, Error> {
        todo!()
    }

    /// A shortest way to an accepting place, as tokens (without one that ends the turn); `None` if there is none of at
    /// most `budget` tokens. Shortest in bytes, then in tokens for these bytes.
    pub fn shortest_close(&self, _budget: Option<usize>) -> Result<Option<Vec<u32>>, Error> {
        todo!()
    }

    /// What is expected here and, for a token, whether it is allowed or where it dies.
    pub fn explain(&self, _token: Option<u32>) -> Result<Explanation, Error> {
        todo!()
    }

    /// The bytes of text that may come next.
    pub fn next_bytes(&self) -> Result<ByteSet, Error> {
        todo!()
    }

    /// The tokens that may come next as token symbols or markers, ascending; ends of the turn are not among them
    /// unless the grammar names them.
    pub fn next_symbol_tokens(&self) -> Result<Vec<u32>, Error> {
        todo!()
    }

    /// Approximate bytes that this matcher holds for itself, without the shared grammar.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        todo!()
    }
}

/// Fills row `indices[i]` (default `i`) of `bitmask`, whose rows are `stride` words wide, for each matcher, on up to
/// `threads` threads (default 1). Rows of other indices are not touched.
///
/// Errors: `E-BITMASK-SIZE`, `E-BITMASK-INDEX` (a row that is missing or named twice), and the matchers' own.
pub fn fill_next_token_bitmask_batch(
    _matchers: &[&GrammarMatcher],
    _bitmask: &mut [i32],
    _stride: usize,
    _indices: Option<&[usize]>,
    _threads: Option<usize>,
) -> Result<(), Error> {
    todo!()
}

/// Accepts one token on each matcher; the answers in order. Every matcher is tried, whatever becomes of the others.
///
/// Errors: `E-BATCH-SIZE` where the lengths differ.
pub fn accept_token_batch(
    _matchers: &mut [&mut GrammarMatcher],
    _ids: &[u32],
) -> Result<Vec<Result<bool, Error>>, Error> {
    todo!()
}
