//! The one error type: what the crates below say, or what a host is told itself, with the fields of Python's exceptions.

use std::fmt;
use std::ops::Deref;

use syntagma_grammar::json::Value;
use syntagma_grammar::{Diagnostic, SourceLocation};

use crate::values::{number, object, text};

/// Which of Python's exceptions an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `ArgumentError`: an argument whose value can never be valid.
    Argument,
    /// `ArgumentTypeError`: an argument of the wrong type.
    ArgumentType,
    /// `LimitError`: an input beyond a limit.
    Limit,
    /// `GrammarError`: a source that cannot be read, or a grammar that means nothing.
    Grammar,
    /// `UnsupportedSchema`: a JSON Schema that is refused.
    Schema,
    /// `VocabularyError`: a vocabulary that cannot be understood.
    Vocabulary,
    /// `MatcherError`: a matcher that failed, or a mistake of the library.
    Matcher,
}

impl ErrorKind {
    /// The name of the exception.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Argument => "ArgumentError",
            Self::ArgumentType => "ArgumentTypeError",
            Self::Limit => "LimitError",
            Self::Grammar => "GrammarError",
            Self::Schema => "UnsupportedSchema",
            Self::Vocabulary => "VocabularyError",
            Self::Matcher => "MatcherError",
        }
    }
}

/// An error: a [`Diagnostic`], whose accessors are its own, its kind, and what the kind has beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    diagnostic: Diagnostic,
    limit: Option<(&'static str, Option<u64>, u64)>,
    pointers: Vec<(String, String)>,
    /// Where the source stands that the error is about, if it is a part of something larger.
    part: Option<String>,
}

impl Error {
    /// An error that a host finds itself.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self::of(kind, Diagnostic::new(code, message))
    }

    pub(crate) fn of(kind: ErrorKind, diagnostic: Diagnostic) -> Self {
        Self(Box::new(Detail {
            kind,
            diagnostic,
            limit: None,
            pointers: Vec::new(),
            part: None,
        }))
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.diagnostic = self.0.diagnostic.with_hint(hint);
        self
    }

    /// The same error at a JSON pointer.
    #[must_use]
    pub fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        let place = SourceLocation::Pointer(pointer.into());
        self.0.diagnostic = self.0.diagnostic.at(place);
        self
    }

    /// The same error about a part of something larger, which stands at a JSON pointer.
    pub(crate) fn placed(mut self, place: &str) -> Self {
        for (pointer, _) in &mut self.0.pointers {
            pointer.insert_str(0, place);
        }
        self.0.part = Some(match self.location() {
            Some(SourceLocation::Pointer(inner)) => format!("{place}{inner}"),
            _ => place.to_owned(),
        });
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// For limits: the name of the limit, what was given if that is known, and what is allowed.
    #[must_use]
    pub fn limit(&self) -> Option<(&'static str, Option<u64>, u64)> {
        self.0.limit
    }

    /// For refused schemas: each (JSON pointer, reason).
    #[must_use]
    pub fn pointers(&self) -> &[(String, String)] {
        &self.0.pointers
    }

    /// A JSON object: `kind`, the name of Python's exception, and the fields that it has.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut members = vec![("kind", text(self.kind().name()))];
        members.extend(diagnostic_members(self));
        if let Some(part) = &self.0.part {
            members.retain(|(name, _)| *name != "pointer");
            members.push(("pointer", text(part)));
        }
        if let Some((limit, given, allowed)) = self.limit() {
            members.push(("limit", text(limit)));
            members.extend(given.map(|given| ("given", number(given))));
            members.push(("allowed", number(allowed)));
        }
        if !self.pointers().is_empty() {
            members.push(("pointers", reasons(self.pointers())));
        }
        object(members).to_string()
    }
}

/// The fields of a diagnostic that are set.
pub(crate) fn diagnostic_members(said: &Diagnostic) -> Vec<(&'static str, Value)> {
    let mut members = vec![
        ("code", text(said.code())),
        ("message", text(said.message())),
    ];
    members.extend(said.hint().map(|hint| ("hint", text(hint))));
    match said.location() {
        Some(SourceLocation::Text {
            offset,
            line,
            column,
            excerpt,
        }) => {
            members.push(("line", number(*line as u64)));
            members.push(("column", number(*column as u64)));
            members.push(("offset", number(*offset as u64)));
            members.push(("excerpt", text(excerpt)));
        }
        Some(SourceLocation::Pointer(pointer)) => members.push(("pointer", text(pointer))),
        _ => {}
    }
    members
}

/// Reasons by JSON pointer.
pub(crate) fn reasons(pointers: &[(String, String)]) -> Value {
    object((pointers.iter()).map(|(pointer, reason)| (pointer.as_str(), text(reason))))
}

impl From<syntagma_grammar::Error> for Error {
    fn from(error: syntagma_grammar::Error) -> Self {
        let kind = match error.kind() {
            syntagma_grammar::ErrorKind::Schema => ErrorKind::Schema,
            syntagma_grammar::ErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Grammar,
        };
        let mut made = Self::of(kind, Diagnostic::clone(&error));
        let limit = error.limit_detail();
        made.0.limit = limit.map(|(limit, given, allowed)| (limit, Some(given), allowed));
        made.0.pointers = error.pointers().to_vec();
        made
    }
}

impl From<syntagma_engine::Error> for Error {
    fn from(error: syntagma_engine::Error) -> Self {
        if let Some(source) = error.grammar_error() {
            return source.clone().into();
        }
        let kind = match error.kind() {
            syntagma_engine::ErrorKind::Grammar => ErrorKind::Grammar,
            syntagma_engine::ErrorKind::Vocabulary => ErrorKind::Vocabulary,
            syntagma_engine::ErrorKind::Argument => ErrorKind::Argument,
            syntagma_engine::ErrorKind::Limit => ErrorKind::Limit,
            // Whatever else there may be one day is nothing that a caller did.
            _ => ErrorKind::Matcher,
        };
        let mut made = Self::of(kind, Diagnostic::clone(&error));
        made.0.limit = (error.limit_detail()).map(|(limit, allowed)| (limit, None, allowed));
        made
    }
}

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0.diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.diagnostic.fmt(f)
    }
}

impl std::error::Error for Error {}
