//! Regular expressions: Rust's syntax (`regex-syntax`) and ECMA-262's, as one regular language over UTF-8.
//!
//! Look-around, anchors and word boundaries become conditions on the text around them (`branches`), which is exact; where
//! that is not possible they are refused with their column, as is what is not regular. Greedy and lazy repetitions match
//! the same strings and are treated alike. Counted repetition is never expanded.

mod alphabet;
mod branch;
mod branches;
mod cost;
mod ecma;
mod ecma_syntax;
mod folding;
mod habits;
mod look_around;
mod lower;
mod patterns;
mod resolve;
mod widening;

pub(crate) use alphabet::{Alphabet, Utf8, utf8_class};
pub(crate) use patterns::Patterns;
pub(crate) use widening::{Widened, widened};

use branch::Unsupported;
use cost::Counts;
use habits::Habits;
use look_around::Names;
use lower::{Failure, Lowering};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

use crate::error::{Error, SourceLocation};
use crate::ir::Regex;
use crate::ir::text::any_text;
use crate::limits::{Fuel, Limits};
use crate::tuning::{MAX_PATTERN_NESTING, UNITS_PER_PATTERN};

/// Whose syntax a pattern is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Rust's `regex` crate, with look-around besides.
    Rust,
    /// ECMA-262 with the `u` flag, without back-references; what JSON Schema uses.
    Ecma,
    /// As [`Self::Ecma`], with what Python spells otherwise: `(?P<name>…)`, `(?i)` at the beginning, `\A` and `\Z`.
    Python,
}

/// The language of the strings that match `pattern` as a whole; `^` and `$` at the edges add nothing.
///
/// # Errors
/// `E-REGEX-SYNTAX` where the pattern cannot be read, `E-REGEX-UNSUPPORTED` where it is not regular or looks around in a
/// way that is not supported, `E-LIMIT-REGEX-BYTES`, `-NESTING`, `-REPETITION` and `-EXPANSION` where it is
/// too large, `E-LIMIT-FUEL` where it takes too much work.
pub fn parse(pattern: &str, dialect: Dialect, limits: &Limits) -> Result<Regex, Error> {
    let place = (&mut Utf8 as &mut dyn Alphabet, &Regex::empty());
    within(pattern, dialect, limits, place, &mut Patterns::new(limits))
}

/// A pattern of a rule.
pub(crate) struct InRule {
    /// The strings that it matches as a whole.
    pub(crate) whole: Regex,
    /// For a pattern that looks around itself: the texts in which it matches somewhere.
    pub(crate) somewhere: Option<Regex>,
    /// Where ignoring case may bring in letters beyond ASCII that it does not name.
    pub(crate) folds: Option<usize>,
    /// That something outside of a match decides whether it is one, anchors aside, and where that is said.
    pub(crate) looks_beyond: Option<(&'static str, usize)>,
    /// Where `^` or `$` stands.
    pub(crate) anchor: Option<usize>,
    /// Where a lazy repetition is.
    pub(crate) lazy: Option<usize>,
    /// Whether a lazy repetition alone decides how long a match is.
    pub(crate) is_shortest: bool,
}

/// Reads a pattern in Rust's syntax, one of several of a source.
pub(crate) fn parse_in_rule(
    pattern: &str,
    limits: &Limits,
    patterns: &mut Patterns,
) -> Result<InRule, Error> {
    check_size(pattern, limits)?;
    let names = Names::new(pattern);
    let source = Source::new(pattern, Dialect::Rust, &names, false)?;
    let (hir, folds, habits) = source.hir(limits, &mut patterns.fuel, None)?;
    let mut alphabet = Utf8;
    let mut lowering = Lowering::new(limits, &mut alphabet, patterns)?;
    let mut lower = || -> Result<InRule, Failure> {
        let branches = lowering.lower(&hir, &|name| names.read(name))?;
        let somewhere = if branches.looks_around() {
            Some(lowering.finish(branches.clone(), &any_text())?)
        } else {
            None
        };
        let looks_beyond = branches.looks_beyond().map(|(message, origin)| {
            let known = || {
                habits
                    .assertion
                    .or(habits.anchor)
                    .map(|offset| source.given_offset(offset))
            };
            (message, origin.or_else(known).unwrap_or(0))
        });
        let whole = lowering.finish(branches, &Regex::empty())?;
        let given = |offset: Option<usize>| offset.map(|offset| source.given_offset(offset));
        Ok(InRule {
            whole,
            somewhere,
            folds: given(folds),
            looks_beyond,
            anchor: given(habits.anchor),
            lazy: given(habits.lazy),
            is_shortest: habits::is_shortest(&hir, &|name| names.read(name)),
        })
    };
    lower().map_err(|failure| source.failed(failure))
}

/// The language of the texts in which an ECMA-262 pattern matches somewhere, as JSON Schema's `pattern` asks; `^` and `$`
/// hold it to the edges of the text.
///
/// # Errors
/// As [`parse`].
pub fn ecma_search(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    search(pattern, Dialect::Ecma, limits)
}

/// As [`ecma_search`], in another dialect.
pub(crate) fn search(pattern: &str, dialect: Dialect, limits: &Limits) -> Result<Regex, Error> {
    let place = (&mut Utf8 as &mut dyn Alphabet, &any_text());
    let mut patterns = Patterns::new(limits);
    within(pattern, dialect, limits, place, &mut patterns)
}

/// The language of the texts that are a match with `around` (nothing, or every text) before and after it, over any
/// spelling of characters, which is the same for all of `patterns`.
pub(crate) fn within(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    (alphabet, around): (&mut dyn Alphabet, &Regex),
    patterns: &mut Patterns,
) -> Result<Regex, Error> {
    check_size(pattern, limits)?;
    let names = Names::new(pattern);
    let source = Source::new(pattern, dialect, &names, false)?;
    let (hir, ..) = source.hir(limits, &mut patterns.fuel, None)?;
    let mut lowering = Lowering::new(limits, alphabet, patterns)?;
    let lowered = lowering.lower(&hir, &|name| names.read(name));
    lowered
        .and_then(|branches| lowering.finish(branches, around))
        .map_err(|failure| source.failed(failure))
}

fn check_size(pattern: &str, limits: &Limits) -> Result<(), Error> {
    let limit = ("E-LIMIT-REGEX-BYTES", "regex_bytes");
    Error::check_limit(limit, pattern.len(), limits.regex_bytes)
        .map_err(|error| error.at(SourceLocation::in_text(pattern, limits.regex_bytes)))
}

/// A pattern in Rust's syntax, with the way back to the text that was given.
struct Source<'p> {
    given: &'p str,
    /// The pattern in Rust's syntax.
    text: String,
    /// (offset in `text`, offset in `given`), ascending.
    offsets: Vec<(usize, usize)>,
    /// Right syntax that is not supported; wrong syntax is reported first.
    unsupported: Option<Error>,
}

impl<'p> Source<'p> {
    /// Reads a pattern; `references`: with groups that capture and what refers to them, in dialects that have these.
    fn new(
        given: &'p str,
        dialect: Dialect,
        names: &Names,
        references: bool,
    ) -> Result<Self, Error> {
        match dialect {
            Dialect::Rust => {
                let (text, offsets) = names.rewrite(given);
                Ok(Self {
                    given,
                    text,
                    offsets,
                    unsupported: None,
                })
            }
            Dialect::Ecma | Dialect::Python => {
                let located = |failure: ecma_syntax::Failure| {
                    Error::grammar(failure.code, failure.message)
                        .at(SourceLocation::in_text(given, failure.offset))
                };
                let options = ecma::Options {
                    python: dialect == Dialect::Python,
                    references,
                };
                let translated = ecma::translate(given, names, options).map_err(located)?;
                Ok(Self {
                    given,
                    text: translated.text,
                    offsets: translated.offsets,
                    unsupported: translated.unsupported.map(located),
                })
            }
        }
    }

    fn place(&self, offset: usize) -> SourceLocation {
        SourceLocation::in_text(self.given, self.given_offset(offset))
    }

    /// Where in what was given something of the text stands.
    fn given_offset(&self, offset: usize) -> usize {
        debug_assert!(self.offsets.is_sorted(), "both texts are read forwards");
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
        given + ahead.min(room)
    }

    /// Its meaning, where ignoring case may bring in letters beyond ASCII, and how it is written.
    fn hir(
        &self,
        limits: &Limits,
        fuel: &mut Fuel,
        counts: Option<&mut Counts>,
    ) -> Result<(Hir, Option<usize>, Habits), Error> {
        fuel.spend(UNITS_PER_PATTERN + self.text.len())
            .map_err(|error| error.at(self.place(0)))?;
        let nesting = limits.grammar_nesting.min(MAX_PATTERN_NESTING as usize) as u32;
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
                        .with_hint("write the possible texts out as alternatives; a digit after a backslash refers back")
                }
                ErrorKind::UnsupportedLookAround => {
                    Error::grammar("E-REGEX-UNSUPPORTED", "look-around is not supported here")
                        .at(place)
                        .with_hint("it is written (?=…) (?!…) (?<=…) (?<!…)")
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
                .at(place)
                .with_hint(hint_for(kind)),
            }
        })?;
        if let Some(error) = &self.unsupported {
            return Err(error.clone());
        }
        cost::pay(&mut ast, limits, fuel, counts)
            .map_err(|(error, offset)| error.at(self.place(offset)))?;
        let hir = TranslatorBuilder::new()
            .utf8(false)
            .build()
            .translate(&self.text, &ast)
            .map_err(|error| {
                Error::grammar(
                    "E-REGEX-SYNTAX",
                    format!("the pattern cannot be read: {}", error.kind()),
                )
                .at(self.place(error.span().start.offset))
                .with_hint(SYNTAX)
            })?;
        Ok((hir, folding::beyond_ascii(&ast), Habits::of(&ast)))
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Limit(error) => error.at(self.place(0)),
            Failure::Unsupported(unsupported) => self.unsupported(&unsupported),
        }
    }

    fn unsupported(&self, &Unsupported(what, offset): &Unsupported) -> Error {
        Error::grammar("E-REGEX-UNSUPPORTED", what)
            .at(SourceLocation::in_text(self.given, offset.unwrap_or(0)))
            .with_hint("look-around is exact beside enough text, at the edges of the whole pattern, and ahead of single characters")
    }
}

/// Advice where there is nothing more to the point.
const SYNTAX: &str = "patterns are in the syntax of Rust's regex crate";

/// Advice about a pattern that cannot be read.
fn hint_for(kind: &regex_syntax::ast::ErrorKind) -> &'static str {
    use regex_syntax::ast::ErrorKind;
    match kind {
        ErrorKind::ClassUnclosed => "close the class with ]; a bracket itself is written \\[",
        ErrorKind::ClassRangeInvalid => {
            "the smaller character comes first; a hyphen itself is written \\-"
        }
        ErrorKind::ClassRangeLiteral => {
            "a range goes from one character to another; a hyphen itself is written \\-"
        }
        ErrorKind::GroupUnclosed => "close the group with ); a parenthesis itself is written \\(",
        ErrorKind::GroupUnopened => "no group is open; a parenthesis itself is written \\)",
        ErrorKind::RepetitionMissing => {
            "a repetition follows what it repeats; the sign itself is written \\*, \\+ or \\?"
        }
        ErrorKind::RepetitionCountInvalid => "the smaller number comes first",
        ErrorKind::RepetitionCountUnclosed
        | ErrorKind::RepetitionCountDecimalEmpty
        | ErrorKind::DecimalEmpty
        | ErrorKind::DecimalInvalid => {
            "a repetition is written {2}, {2,} or {2,5}; a brace itself is written \\{"
        }
        ErrorKind::EscapeUnrecognized => {
            "this letter has no meaning after a backslash; a backslash itself is written \\\\"
        }
        ErrorKind::EscapeUnexpectedEof => "a backslash itself is written \\\\",
        ErrorKind::FlagUnrecognized | ErrorKind::FlagUnexpectedEof => {
            "flags are i m s R U u x, as in (?i); a group without a name is (?:…)"
        }
        _ => SYNTAX,
    }
}
