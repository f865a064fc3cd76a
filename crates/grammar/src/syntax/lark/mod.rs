//! Lark, as llguidance reads it.
//!
//! ```text
//! %import common (INT, WS_INLINE)        // the terminals of lark's common library
//! %ignore WS_INLINE                      // may stand before the text and after every terminal
//! start: "call" <|tag|> args <[7,9-12]>  # tokens by text and by number
//! args: %json {"type": "object"}         // a JSON Schema
//!     | INT ("," INT)~0..3 | [word]      // counted repetition, also {0,3}; [x] is x?
//! word[capture="w", suffix="."]: /.*/s   // a label; text up to and with the first "."
//! ?sum: sum "+" INT -> add | INT         // ?, ! and aliases say something about trees, which there are none of
//! KEY: ("a".."z" | "é")+ & ~("if"i)      // terminals are regular: &, ~ (any text but) and groups of them
//! PART: %regex {"substring_words": "some text"}
//! also: @other                         // a grammar that is given by name
//! ```
//!
//! A name that begins with a capital letter is a terminal: it is regular, cannot be recursive, and nothing is ignored inside
//! it. Terminals are matched as the grammar says, not longest first: `/a+/ "a"` takes `aa`. Where the shortest match is
//! wanted, `lazy` or `suffix` say so. Refused by name: `max_tokens`, `temperature`, `stop`, templates, priorities, rules with
//! parameters, `%declare`, `%extend`, `%override`, and imports of anything but `common`.

mod bounds;
mod commit;
mod common;
mod directives;
mod lexer;
mod nullable;
mod options;
mod parser;
mod references;
mod statements;

use std::sync::Arc;

use crate::error::{Error, SourceLocation};
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::syntax::rules;

/// Reads a grammar; `start` names the rule that everything must match.
///
/// # Errors
/// `E-GRAMMAR-SYNTAX`, `E-GRAMMAR-UNDEFINED`, `E-GRAMMAR-DUPLICATE`, `E-GRAMMAR-START`, `E-GRAMMAR-IRREGULAR`,
/// `E-GRAMMAR-UNSUPPORTED`, the codes of regular expressions and schemas, and `E-LIMIT-GRAMMAR-BYTES`,
/// `E-LIMIT-GRAMMAR-NESTING`, `E-LIMIT-GRAMMAR-ALTERNATIVES`, `E-LIMIT-REGEX-REPETITION`, `E-LIMIT-REGEX-EXPANSION`,
/// `E-LIMIT-FUEL` for terminals that stand in terminals too often; each with its place.
pub fn parse(text: &str, start: &str, limits: &Limits) -> Result<Grammar, Error> {
    parse_with(text, start, &[], limits)
}

/// As [`parse`]; `@name` in a rule stands for the grammar of that name out of `grammars`.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    text: &str,
    start: &str,
    grammars: &[(&str, Arc<Grammar>)],
    limits: &Limits,
) -> Result<Grammar, Error> {
    rules::check_size(text, limits)?;
    read(text, start, grammars, limits).map_err(|error| explained(text, error))
}

fn read(
    text: &str,
    start: &str,
    grammars: &[(&str, Arc<Grammar>)],
    limits: &Limits,
) -> Result<Grammar, Error> {
    let tokens = lexer::tokens(text)?;
    let source = statements::read(text, &tokens)?;
    let ast = parser::parse(text, &source, start, grammars, limits)?;
    rules::lower(text, &ast, start, &[], limits)
}

/// The same mistake, with the advice that its place asks for.
fn explained(text: &str, error: Error) -> Error {
    let Some(&SourceLocation::Text { offset, .. }) = error.location() else {
        return error;
    };
    let hint = match error.code() {
        "E-GRAMMAR-UNSUPPORTED" if text[offset..].starts_with("::=") => {
            "a rule is written: name: …".to_owned()
        }
        "E-GRAMMAR-SYNTAX" | "E-GRAMMAR-UNDEFINED" => match rules::class_around(text, offset) {
            Some(class) => format!("a class of characters is a pattern: /{class}/"),
            None => return error,
        },
        _ => return error,
    };
    error.with_hint(hint)
}
