//! The native grammar language.
//!
//! ```text
//! start  ::= "[" value { "," value } "]" ;       // rules; the semicolon may be left out
//! value  ::= number | name | '"' #"[^\"]*" '"' ; // strings and regular expressions
//! number ::= #"[0-9]"{1,9} ;                     // counted repetition; also ? * + [ ] { }
//! list   ::= name{1,5} % ", " ;                  // with a separator
//! name   ::= #"[a-z]+" & ~("if" | "else") ;      // intersection and complement of regular parts
//! free   ::= except!("END") @marker("<end>") ;   // text without END, then a marker
//! call   ::= <|call|> @arguments(value) <[7]> ;  // tokens by text and by number, a capture
//! quote  ::= #substrs"the source" #e"[^.]*[.]" ; // any part of a text; a pattern up to its first match
//! ```
//!
//! From loosest to tightest: `|`, `&`, one after another (a comma may stand between), `~`, repetition. `(* … *)` and
//! `// …` are comments. Operands of `&`, `~` and of the builtins must be regular: strings, patterns, builtins, groups of
//! them, and rules of them that are not recursive. Builtins: `any!` (any text), `byte!` (one byte), `nothing!` (no string at
//! all), `except!(x)` (text in which no `x` occurs; `except!(x, n)` of at most `n` bytes), `until!(x)` (text up to and with
//! the first `x`), `lazy!(x)` or `lazy(x)` (an `x` no beginning of which is one), `complement!(x)` (every byte string but
//! `x`; `~x` is every *text* but `x`). `#e"…"` is `lazy!` and `#ex"…"` is `except!` of a pattern. A rule that is defined
//! again has the alternatives of all its definitions; a name without a rule may be that of a whole grammar that is given along
//! ([`parse_with`]). Strings may hold line breaks; with an `i` right after, ASCII letters match in either case. Escapes
//! in strings: `\n \t \r \b \f \0 \\ \/ \" \'`, `\xHH` and `\ooo` (a byte, in hexadecimal or octal digits), `\uHHHH`,
//! `\u{…}`. A rule may be written with `=` as well.

mod builtins;
mod hints;
mod lexer;
mod parser;

use std::sync::Arc;

use crate::error::Error;
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::syntax::rules;

/// Reads a grammar; `start` names the rule that everything must match.
///
/// # Errors
/// `E-GRAMMAR-SYNTAX`, `E-GRAMMAR-UNDEFINED`, `E-GRAMMAR-START`, `E-GRAMMAR-IRREGULAR`, `E-GRAMMAR-EXCEPT`,
/// `E-GRAMMAR-NOTHING`, `E-GRAMMAR-UNPRODUCTIVE`, the codes of regular expressions, and `E-LIMIT-GRAMMAR-BYTES`,
/// `E-LIMIT-GRAMMAR-NESTING`, `E-LIMIT-GRAMMAR-ALTERNATIVES`, `E-LIMIT-REGEX-BYTES`, `E-LIMIT-REGEX-NESTING`, `E-LIMIT-REGEX-REPETITION`,
/// `E-LIMIT-REGEX-EXPANSION`, `E-LIMIT-FUEL`; each with its place and a hint. [`Grammar::warnings`] has what is odd.
pub fn parse(text: &str, start: &str, limits: &Limits) -> Result<Grammar, Error> {
    parse_with(text, start, &[], limits)
}

/// Reads a grammar that may name whole other grammars as if they were rules. What is said of those that it does name is
/// said of the whole: their reports, as they are, and their warnings.
///
/// # Errors
/// Those of [`parse`], and `E-GRAMMAR-DUPLICATE` if a rule has the name of a grammar.
pub fn parse_with(
    text: &str,
    start: &str,
    grammars: &[(&str, Arc<Grammar>)],
    limits: &Limits,
) -> Result<Grammar, Error> {
    rules::check_size(text, limits)?;
    let words = lexer::words(text).map_err(|error| hints::explained(text, error))?;
    parser::parse(text, &words.tokens, limits)
        .and_then(|ast| rules::lower(text, &ast, start, grammars, limits))
        .map_err(|error| hints::explained(text, lexer::unclosed(text, words.suspect, error)))
}
