//! What may be written: grammar syntaxes, their common representation, and its normal form.
//!
//! From left to right:
//!
//! ```text
//! source text ──syntax::*──▶ ir::Grammar ──ir::lnf──▶ Lnf (flat productions) ──▶ the engine
//!                                 └─────print::*──▶ text again
//! ```
//!
//! * [`syntax`] holds one folder per source language; each lowers to the same [`ir::Grammar`], and none imports another.
//! * [`ir`] is the grammar as it was written: rules over expressions, where what is regular stays a [`ir::Regex`] over bytes
//!   (with intersection, complement and counted repetition unexpanded).
//! * [`ir::Lnf`] is the grammar as the engine wants it: numbered symbols in flat productions. Nullable nonterminals remain.
//!
//! Nothing here knows what a token of a vocabulary is: special tokens appear by their text ([`ir::Expr::Marker`]) and are
//! resolved by the engine.
#![forbid(unsafe_code)]

// Tests inside share the recogniser and the random grammars of those outside, which know the crate by its name.
#[cfg(test)]
extern crate self as syntagma_grammar;
#[cfg(test)]
#[path = "../tests/laws/reference/mod.rs"]
mod reference;
#[cfg(test)]
#[path = "../tests/laws/shapes/mod.rs"]
mod shapes;

pub mod error;
pub mod ir;
pub mod json;
pub mod limits;
#[doc(hidden)]
pub mod maps;
pub mod markers;
pub mod print;
pub mod syntax;
mod tuning;

pub use error::{Diagnostic, Error, ErrorKind, SourceLocation};
pub use ir::Grammar;
pub use limits::Limits;

/// The examples of the README are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
