//! GBNF, the grammar language of llama.cpp.
//!
//! ```text
//! # a comment
//! root  ::= (item ("," item)*)? "\n"     a rule ends with its line, save inside parentheses and after |
//! item  ::= [a-z_] [^"\\\x00-\x1F]{0,9}  classes of characters, repetition ? * + {m} {m,} {m,n}
//!         | "é\u00E9\U0001F600" .        text; a point is any character, line breaks too
//! token ::= <[12]> | <call> | !<[12]>    tokens by number, by text, and any but those of a number
//! ```
//!
//! An alternative may be empty. Rules may be recursive on the left. A rule may not be defined twice.

mod parser;

use crate::error::Error;
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::syntax::rules;

/// Reads a grammar; `start` names the rule that everything must match, which is `root` by convention.
///
/// # Errors
/// `E-GRAMMAR-SYNTAX`, `E-GRAMMAR-UNDEFINED`, `E-GRAMMAR-DUPLICATE`, `E-GRAMMAR-START`, `E-GRAMMAR-UNSUPPORTED`, and
/// `E-LIMIT-GRAMMAR-BYTES`, `E-LIMIT-GRAMMAR-NESTING`, `E-LIMIT-GRAMMAR-ALTERNATIVES`, `E-LIMIT-REGEX-REPETITION`,
/// `E-LIMIT-REGEX-EXPANSION`; each with its place.
pub fn parse(text: &str, start: &str, limits: &Limits) -> Result<Grammar, Error> {
    rules::check_size(text, limits)?;
    let ast = parser::parse(text, limits)?;
    rules::lower(text, &ast, start, &[], limits)
}
