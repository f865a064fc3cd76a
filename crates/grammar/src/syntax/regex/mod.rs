//! Regular expressions: Rust's syntax (`regex-syntax`) and ECMA-262's, as one regular language over UTF-8.
//!
//! What is not regular, or needs to look around, is refused with its column: look-around, back-references, word boundaries
//! and anchors anywhere but at the edges. Greedy and lazy repetitions match the same strings and are treated alike. Counted
//! repetition is never expanded.

mod alphabet;
mod ecma;
mod lower;

pub(crate) use alphabet::{Alphabet, Utf8, utf8_class};
pub(crate) use lower::Anchored;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

use crate::error::{Error, Place};
use crate::ir::Regex;
use crate::ir::text::any_text;
use crate::limits::Limits;

/// Groups within groups that an expression may have.
const NESTING: u32 = 200;

/// Whose syntax a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Rust's `regex` crate.
    Rust,
    /// ECMA-262 with the `u` flag, without look-around and back-references; what JSON Schema uses.
    Ecma,
}

/// The language of the strings that match `pattern` as a whole; `^` and `$` at the edges add nothing.
///
/// # Errors
/// `E-REGEX-SYNTAX` where the pattern cannot be read, `E-REGEX-UNSUPPORTED` where it is not regular or looks around,
/// `E-LIMIT-REGEX-BYTES`, `E-LIMIT-REGEX-REPETITION` and `E-LIMIT-REGEX-EXPANSION` where it is too large.
pub fn parse(pattern: &str, dialect: Dialect, limits: &Limits) -> Result<Regex, Error> {
    Ok(anchored(pattern, dialect, limits, &mut Utf8)?.whole())
}

/// The language of the texts in which an ECMA-262 pattern matches somewhere, as JSON Schema's `pattern` asks; `^` and `$`
/// at the edges of an alternative hold it there.
///
/// # Errors
/// As [`parse`].
pub fn ecma_search(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    Ok(anchored(pattern, Dialect::Ecma, limits, &mut Utf8)?.search(&any_text()))
}

/// The languages of a pattern by the edges it is held to, over any spelling of characters.
pub(crate) fn anchored(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    alphabet: &mut dyn Alphabet,
) -> Result<Anchored, Error> {
    if pattern.len() > limits.regex_bytes {
        let given = pattern.len() as u64;
        return Err(Error::limit(
            "E-LIMIT-REGEX-BYTES",
            "regex_bytes",
            given,
            limits.regex_bytes as u64,
        ));
    }
    let source = Source::new(pattern, dialect)?;
    let hir = source.hir()?;
    lower::lower(&hir, limits, alphabet).map_err(|failure| match failure {
        lower::Failure::Limit(error) => error,
        lower::Failure::Unsupported(what) => source.unsupported(what),
    })
}

/// A pattern in Rust's syntax, with the way back to the text that was given.
struct Source<'p> {
    given: &'p str,
    /// The pattern in Rust's syntax.
    text: String,
    /// (offset in `text`, offset in `given`), ascending.
    offsets: Vec<(usize, usize)>,
}

impl<'p> Source<'p> {
    fn new(given: &'p str, dialect: Dialect) -> Result<Self, Error> {
        match dialect {
            Dialect::Rust => Ok(Self {
                given,
                text: given.to_owned(),
                offsets: vec![(0, 0)],
            }),
            Dialect::Ecma => {
                let translated = ecma::translate(given).map_err(|failure| {
                    Error::grammar(failure.code, failure.message)
                        .at(Place::in_text(given, failure.offset))
                })?;
                Ok(Self {
                    given,
                    text: translated.text,
                    offsets: translated.offsets,
                })
            }
        }
    }

    fn place(&self, offset: usize) -> Place {
        let at = self
            .offsets
            .partition_point(|&(translated, _)| translated <= offset)
            .saturating_sub(1);
        let (translated, given) = self.offsets.get(at).copied().unwrap_or((0, 0));
        // Between two anchors the texts run in step, unless the translation is longer than what it stands for.
        let ahead = offset.saturating_sub(translated);
        let room = self
            .offsets
            .get(at + 1)
            .map_or(usize::MAX, |next| next.1.saturating_sub(given + 1));
        Place::in_text(self.given, given + ahead.min(room))
    }

    fn hir(&self) -> Result<Hir, Error> {
        let parsed = ParserBuilder::new()
            .nest_limit(NESTING)
            .build()
            .parse(&self.text);
        let ast = parsed.map_err(|error| {
            use regex_syntax::ast::ErrorKind;
            let place = self.place(error.span().start.offset);
            match error.kind() {
                ErrorKind::UnsupportedBackreference => {
                    Error::grammar("E-REGEX-UNSUPPORTED", "back-references are not regular")
                        .at(place)
                }
                ErrorKind::UnsupportedLookAround => {
                    Error::grammar("E-REGEX-UNSUPPORTED", "look-around is not supported").at(place)
                }
                ErrorKind::NestLimitExceeded(limit) => Error::grammar(
                    "E-REGEX-SYNTAX",
                    format!("the pattern nests deeper than {limit} groups"),
                )
                .at(place),
                kind => Error::grammar(
                    "E-REGEX-SYNTAX",
                    format!("the pattern cannot be read: {kind}"),
                )
                .at(place),
            }
        })?;
        TranslatorBuilder::new()
            .utf8(false)
            .build()
            .translate(&self.text, &ast)
            .map_err(|error| {
                Error::grammar(
                    "E-REGEX-SYNTAX",
                    format!("the pattern cannot be read: {}", error.kind()),
                )
                .at(self.place(error.span().start.offset))
            })
    }

    fn unsupported(&self, what: &'static str) -> Error {
        // The high-level form has no places left; the first assertion that is not at an edge is the culprit.
        let bytes = self.given.as_bytes();
        let inner = (1..bytes.len()).find(|&at| {
            let escaped = bytes[at - 1] == b'\\' && (at < 2 || bytes[at - 2] != b'\\');
            match bytes[at] {
                b'^' => !escaped && !matches!(bytes[at - 1], b'[' | b'|' | b'(' | b':'),
                b'$' => !escaped && !matches!(bytes.get(at + 1), None | Some(b'|' | b')')),
                b'b' | b'B' | b'<' | b'>' => escaped,
                _ => false,
            }
        });
        Error::grammar("E-REGEX-UNSUPPORTED", what)
            .at(Place::in_text(self.given, inner.unwrap_or(0)))
            .with_hint("anchors may stand at the edges of the pattern and of its alternatives")
    }
}
