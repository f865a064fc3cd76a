//! The one error type of the crate: a kind, a stable code, a sentence and a hint.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What kind of mistake an [`Error`] reports; decides which exception a binding raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// An error of this crate. Private fields, public accessors: kinds of detail can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    hint: Option<String>,
    limit: Option<(&'static str, u64)>,
    source: Option<syntagma_grammar::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Detail {
            kind,
            code,
            message: message.into(),
            hint: None,
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

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
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
        self.0.code == PANIC
    }

    /// What kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code, `E-AREA-WHAT`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// What is wrong, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
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
        let mut error = Self::new(kind, source.code(), source.message());
        error.0.hint = source.hint().map(str::to_owned);
        error.0.limit = source
            .limit_detail()
            .map(|(limit, _, allowed)| (limit, allowed));
        error.0.source = Some(source);
        error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = &self.0.source {
            return source.fmt(f);
        }
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        self.0
            .hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for Error {}
