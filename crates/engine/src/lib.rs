//! Which tokens may come next.
//!
//! One story, from left to right:
//!
//! ```text
//! Grammar ────┐
//!             ├─GrammarCompiler─▶ CompiledGrammar ──▶ GrammarMatcher ──▶ a row of a token bitmask
//! Vocabulary ─┘      (cache)      (shared, lazy)      (one per text)
//! ```
//!
//! * [`Vocabulary`] holds the tokens as bytes in a trie, and knows which are special, which end the turn, and which a
//!   marker means.
//! * [`GrammarCompiler`] brings a grammar and the vocabulary together. Compiling touches neither the whole vocabulary
//!   nor any automaton: everything in a [`CompiledGrammar`] is made when it is first needed, once for all matchers.
//! * [`GrammarMatcher`] follows one text. Its position is one number, the id of an interned state; that makes
//!   rollback and fork cheap and lets every matcher of a grammar share the masks that any of them computed.
//! * A bitmask row is `ceil(vocab_size / 32)` words; bit `i` of word `w` is token `32 w + i`, 1 is allowed.
//!
//! Inside, terminals are regular languages run by derivatives, the recogniser is Earley's
//! over position-free interned sets, and a mask is put together from what each terminal does to the whole vocabulary.
#![forbid(unsafe_code)]

mod aside;
mod automaton;
mod budget;
mod captures;
mod compiled;
mod compiler;
mod context;
mod distance;
mod draft;
mod earley;
mod error;
mod fingerprint;
mod generation;
mod judge;
mod jump;
mod layers;
mod limits;
mod mask;
mod matcher;
mod position;
mod refusals;
mod sync;
mod tally;
mod tuning;
mod vocabulary;

use syntagma_grammar::maps;

pub use budget::{Bound, Unit};
pub use captures::Captures;
pub use compiled::CompiledGrammar;
pub use compiler::{CompilerStats, GrammarCompiler};
pub use context::{AtWork, EngineContext};
pub use draft::{draft_masks, fill_draft};
pub use error::{Error, ErrorKind, caught};
pub use jump::Jump;
pub use layers::{Layer, Layers};
pub use limits::Limits;
pub use mask::MaskRow;
pub use matcher::{
    Expectation, Explanation, GrammarMatcher, NextMask, Verdict, accept_token_batch,
    fill_next_token_bitmask_batch, next_masks,
};
pub use tally::CompiledStats;
pub use vocabulary::{Vocabulary, VocabularyParts, bitmask_words};

/// The examples of the README are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
