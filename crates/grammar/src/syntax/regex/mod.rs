//! Regular expressions: Rust's syntax (`regex-syntax`) and ECMA-262's, as one regular language over UTF-8.
//!
//! Look-around, anchors and word boundaries become conditions on the text around them (`context`), which is exact; where
//! that is not possible they are refused with their column, as is what is not regular. Greedy and lazy repetitions match
//! the same strings and are treated alike. Counted repetition is never expanded.

mod alphabet;
mod context;
mod ecma;
mod looks;
mod lower;
mod patterns;
mod work;

pub(crate) use alphabet::{Alphabet, Utf8, utf8_class};
pub(crate) use patterns::Patterns;

use context::Unsupported;
use looks::Names;
use lower::{Failure, Lowering};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

use crate::error::{Error, Place};
use crate::ir::Regex;
use crate::ir::text::any_text;
use crate::limits::{Fuel, Limits};

/// Groups within groups that an expression may have.
const NESTING: u32 = 200;

/// What any pattern takes.
const PATTERN: usize = 16;

/// Whose syntax a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Rust's `regex` crate, with look-around besides.
    Rust,
    /// ECMA-262 with the `u` flag, without back-references; what JSON Schema uses.
    Ecma,
}

/// The language of the strings that match `pattern` as a whole; `^` and `$` at the edges add nothing.
///
/// # Errors
/// `E-REGEX-SYNTAX` where the pattern cannot be read, `E-REGEX-UNSUPPORTED` where it is not regular or looks around in a
/// way that is not supported, `E-LIMIT-REGEX-BYTES`, `-NESTING`, `-REPETITION` and `-EXPANSION` where it is
/// too large, `E-LIMIT-FUEL` where it takes too much work.
pub fn parse(pattern: &str, dialect: Dialect, limits: &Limits) -> Result<Regex, Error> {
    parse_with(pattern, dialect, limits, &mut Patterns::new(limits))
}

/// The same for one of several patterns.
pub(crate) fn parse_with(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    patterns: &mut Patterns,
) -> Result<Regex, Error> {
    let place = (&mut Utf8 as &mut dyn Alphabet, &Regex::empty());
    within(pattern, dialect, limits, place, patterns)
}

/// The language of the texts in which an ECMA-262 pattern matches somewhere, as JSON Schema's `pattern` asks; `^` and `$`
/// hold it to the edges of the text.
///
/// # Errors
/// As [`parse`].
pub fn ecma_search(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    let place = (&mut Utf8 as &mut dyn Alphabet, &any_text());
    within(
        pattern,
        Dialect::Ecma,
        limits,
        place,
        &mut Patterns::new(limits),
    )
}

/// The language of the texts that are a match with `around` (nothing, or every text) before and behind it, over any
/// spelling of characters, which is the same for all of `patterns`.
pub(crate) fn within(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    (alphabet, around): (&mut dyn Alphabet, &Regex),
    patterns: &mut Patterns,
) -> Result<Regex, Error> {
    if pattern.len() > limits.regex_bytes {
        let given = pattern.len() as u64;
        return Err(Error::limit(
            "E-LIMIT-REGEX-BYTES",
            "regex_bytes",
            given,
            limits.regex_bytes as u64,
        )
        .at(Place::in_text(pattern, limits.regex_bytes)));
    }
    let names = Names::new(pattern);
    let source = Source::new(pattern, dialect, &names)?;
    let hir = source.hir(limits, &mut patterns.fuel)?;
    let mut lowering = Lowering::new(limits, alphabet, patterns)?;
    let lowered = lowering.lower(&hir, &|name| names.read(name));
    lowered
        .and_then(|branches| lowering.finish(branches, around))
        .map_err(|failure| match failure {
            Failure::Limit(error) => error.at(source.place(0)),
            Failure::Unsupported(unsupported) => source.unsupported(&unsupported),
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
    fn new(given: &'p str, dialect: Dialect, names: &Names) -> Result<Self, Error> {
        match dialect {
            Dialect::Rust => {
                let (text, offsets) = names.rewrite(given);
                Ok(Self {
                    given,
                    text,
                    offsets,
                })
            }
            Dialect::Ecma => {
                let translated = ecma::translate(given, names).map_err(|failure| {
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

    fn hir(&self, limits: &Limits, fuel: &mut Fuel) -> Result<Hir, Error> {
        fuel.spend(PATTERN + self.text.len())
            .map_err(|error| error.at(self.place(0)))?;
        let nesting = limits.grammar_nesting.min(NESTING as usize) as u32;
        let parsed = ParserBuilder::new()
            .nest_limit(nesting)
            .build()
            .parse(&self.text);
        let mut ast = parsed.map_err(|error| {
            use regex_syntax::ast::ErrorKind;
            let place = self.place(error.span().start.offset);
            match error.kind() {
                ErrorKind::UnsupportedBackreference => {
                    Error::grammar("E-REGEX-UNSUPPORTED", "back-references are not regular")
                        .at(place)
                }
                ErrorKind::UnsupportedLookAround => {
                    Error::grammar("E-REGEX-UNSUPPORTED", "look-around is not supported here")
                        .at(place)
                }
                ErrorKind::NestLimitExceeded(limit) => {
                    let (code, name) = ("E-LIMIT-REGEX-NESTING", "grammar_nesting");
                    let allowed = u64::from(*limit);
                    Error::limit(code, name, allowed + 1, allowed).at(place)
                }
                kind => Error::grammar(
                    "E-REGEX-SYNTAX",
                    format!("the pattern cannot be read: {kind}"),
                )
                .at(place),
            }
        })?;
        work::pay(&mut ast, limits, fuel)
            .map_err(|(error, offset)| error.at(self.place(offset)))?;
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

    fn unsupported(&self, &Unsupported(what, offset): &Unsupported) -> Error {
        Error::grammar("E-REGEX-UNSUPPORTED", what)
            .at(Place::in_text(self.given, offset.unwrap_or(0)))
            .with_hint("look-around is exact beside enough text, at the edges of the whole pattern, and ahead of single characters")
    }
}
