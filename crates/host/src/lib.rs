//! What the hosts of the engine share that are not Rust: C, browsers, Python.
//!
//! They hand options over as a JSON object and get errors and reports as JSON, under the names that Python has for the same
//! fields. A vocabulary may be the text of a `tokenizer.json`. Nothing here opens a file, starts a thread or reads a clock.
#![forbid(unsafe_code)]

mod bytes;
mod error;
mod grammar;
mod limits;
mod options;
mod saved;
mod schema;
mod spelling;
mod strict;
mod tags;
mod tokenizer;
mod values;

pub use error::{Error, ErrorKind};
pub use grammar::{Grammar, NOTATIONS};
pub use limits::{CompilerOptions, Limits};
pub use spelling::Spelling;
pub use strict::strict_schema;
pub use tokenizer::{TokenizerJson, vocabulary_parts};
pub use values::{captures_json, explanation_json, verdict_word};
