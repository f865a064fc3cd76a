//! The grammar language of xgrammar, as version 0.2.8 reads and prints it.
//!
//! ```text
//! # a comment
//! root ::= item ("," item)*             a rule goes on until the next line that begins with name ::=
//!        | "none" (= "\n")              what is only looked ahead at ends a rule; it says nothing here
//! item[capture] ::= [a-z_] [^\]]{0, -1} classes of characters, repetition ? * + {m} {m,} {m,n} {m, -1}
//! any.text      ::= [^]* | "é\/\0\x41"  names may hold points; \x takes all digits that follow
//! call ::= TagDispatch(("<a>", item), loop_after_dispatch=false, excludes=("<b>",))
//! word ::= Regex("\\w+", flags="is", json_string=true) | Substring("a ", "b") | Token(1, 2) | ExcludeToken(3)
//! ```
//!
//! Rules may be recursive on the left. Each alternative has a part at least; nothing is `""` or `()`. Attributes of a rule
//! stand right after its name.

mod arguments;
mod attributes;
mod dispatch;
mod macros;
mod parser;
mod words;

use crate::error::Error;
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::syntax::rules;

/// Reads a grammar; `start` names the rule that everything must match, which is `root` by convention.
///
/// # Errors
/// `E-GRAMMAR-SYNTAX`, `E-GRAMMAR-UNDEFINED`, `E-GRAMMAR-DUPLICATE`, `E-GRAMMAR-START`, `E-GRAMMAR-IRREGULAR`,
/// `E-GRAMMAR-UNSUPPORTED`, the codes of regular expressions, and `E-LIMIT-GRAMMAR-BYTES`, `E-LIMIT-GRAMMAR-NESTING`,
/// `E-LIMIT-GRAMMAR-ALTERNATIVES`, `E-LIMIT-REGEX-REPETITION`, `E-LIMIT-REGEX-EXPANSION`, `E-LIMIT-FUEL`; each with its
/// place.
pub fn parse(text: &str, start: &str, limits: &Limits) -> Result<Grammar, Error> {
    rules::check_size(text, limits)?;
    let ast = parser::parse(text, limits)?;
    rules::lower(text, &ast, start, &[], limits)
}
