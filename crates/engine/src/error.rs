//! The one error type of the crate: a kind, and what the grammar crate's diagnostics say.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

use syntagma_grammar::Diagnostic;

/// What kind of mistake an [`Error`] reports; decides which exception a binding raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The grammar means nothing, or nothing with this vocabulary.
    Grammar,
    /// A vocabulary that contradicts itself.
    Vocabulary,
    /// An argument that cannot be meant: an unknown token id, a row that is too short, a rollback too far.
    Argument,
    /// A bound of [`crate::Limits`] is passed.
    Limit,
    /// The engine disagrees with itself: verification found it, or a panic.
    Internal,
}

const PANIC: &str = "E-ENGINE-PANIC";

/// An error of this crate: a [`Diagnostic`], whose accessors are the error's own, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    diagnostic: Diagnostic,
    limit: Option<(&'static str, u64)>,
    source: Option<syntagma_grammar::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Detail {
            kind,
            diagnostic: Diagnostic::new(code, message),
            limit: None,
            source: None,
        }))
    }

    pub(crate) fn grammar(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Grammar, code, message)
    }

    pub(crate) fn vocabulary(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Vocabulary, code, message)
    }

    pub(crate) fn argument(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, code, message)
    }

    pub(crate) fn limit(code: &'static str, limit: &'static str, allowed: u64) -> Self {
        let mut error = Self::new(
            ErrorKind::Limit,
            code,
            format!("{limit} allows {allowed}, this grammar and text need more"),
        )
        .with_hint(format!("simplify the grammar or raise Limits.{limit}"));
        error.0.limit = Some((limit, allowed));
        error
    }

    /// The same error, saying in which rule it arose; limits do not know their place.
    pub(crate) fn in_rule(mut self, name: &str) -> Self {
        if self.kind() == ErrorKind::Limit && self.0.source.is_none() {
            let message = format!("{}, in the rule {name:?}", self.message());
            let hint = self.hint().unwrap_or_default().to_owned();
            self.0.diagnostic = Diagnostic::new(self.code(), message).with_hint(hint);
        }
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.diagnostic = self.0.diagnostic.with_hint(hint);
        self
    }

    fn panic(reason: &(dyn Any + Send)) -> Self {
        let reason = reason
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| reason.downcast_ref::<&str>().copied())
            .unwrap_or("no reason is given");
        Self::new(ErrorKind::Internal, PANIC, format!("a panic: {reason}"))
            .with_hint("this is a mistake of the library; please report it with the grammar")
    }

    /// Whether it stands for a panic.
    pub(crate) fn is_panic(&self) -> bool {
        self.code() == PANIC
    }

    /// What kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// For limits: the field of [`crate::Limits`] and what it allows.
    #[must_use]
    pub fn limit_detail(&self) -> Option<(&'static str, u64)> {
        self.0.limit
    }

    /// The grammar crate's error that this one passes on, with its place.
    #[must_use]
    pub fn grammar_error(&self) -> Option<&syntagma_grammar::Error> {
        self.0.source.as_ref()
    }
}

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0.diagnostic
    }
}

/// Runs `work`; a panic in it becomes the error `E-ENGINE-PANIC`. What `work` may leave half done must not be used again.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|reason| Err(Error::panic(&*reason)))
}

impl From<syntagma_grammar::Error> for Error {
    fn from(source: syntagma_grammar::Error) -> Self {
        let kind = match source.kind() {
            syntagma_grammar::ErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Grammar,
        };
        Self(Box::new(Detail {
            kind,
            diagnostic: Diagnostic::clone(&source),
            limit: source
                .limit_detail()
                .map(|(limit, _, allowed)| (limit, allowed)),
            source: Some(source),
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.diagnostic.fmt(f)
    }
}

impl std::error::Error for Error {}
