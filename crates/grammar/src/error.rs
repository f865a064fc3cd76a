//! Errors and warnings about sources. A [`Diagnostic`] is a stable code, a sentence, the location in the source and a hint.
//! An [`Error`] is a diagnostic with a kind; a warning is a diagnostic alone.

use std::fmt;
use std::ops::Deref;

/// What kind of mistake an [`Error`] reports; decides which exception a binding raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source cannot be read, or means nothing.
    Grammar,
    /// A JSON Schema that is refused.
    Schema,
    /// A bound of [`crate::Limits`] is passed.
    Limit,
}

/// Where in the source an error lies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceLocation {
    /// A place in a text.
    Text {
        /// Byte offset, 0-based.
        offset: usize,
        /// Line, 1-based.
        line: usize,
        /// Column in characters, 1-based.
        column: usize,
        /// The line with a caret under the place.
        excerpt: String,
    },
    /// A JSON pointer (RFC 6901).
    Pointer(String),
}

impl SourceLocation {
    /// The place of byte `offset` in `source`, with line, column and an excerpt of at most 120 characters.
    #[must_use]
    pub fn in_text(source: &str, offset: usize) -> Self {
        Locator::new(source).at(offset)
    }
}

/// Finds locations in one source, fastest in ascending order.
pub(crate) struct Locator<'s> {
    source: &'s str,
    /// The place found last: its offset, its line, where that begins, and the characters of the line before it.
    offset: usize,
    line: usize,
    line_start: usize,
    before: usize,
}

/// Characters of a line that are shown, and those of them before the place.
const SHOWN: usize = 120;
const SHOWN_BEFORE: usize = 79;

impl<'s> Locator<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self {
            source,
            offset: 0,
            line: 1,
            line_start: 0,
            before: 0,
        }
    }

    pub(crate) fn at(&mut self, offset: usize) -> SourceLocation {
        let mut offset = offset.min(self.source.len());
        while !self.source.is_char_boundary(offset) {
            offset -= 1;
        }
        if offset < self.offset {
            *self = Self::new(self.source);
        }
        let passed = &self.source[self.offset..offset];
        if let Some(last) = passed.rfind('\n') {
            self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
            self.line_start = self.offset + last + 1;
            self.before = 0;
        }
        let from = self.line_start.max(self.offset);
        self.before += self.source[from..offset].chars().count();
        self.offset = offset;
        SourceLocation::Text {
            offset,
            line: self.line,
            column: self.before + 1,
            excerpt: self.excerpt(),
        }
    }

    /// The line around the place, and a caret under it.
    fn excerpt(&self) -> String {
        let before = &self.source[self.line_start..self.offset];
        let shown_before = self.before.min(SHOWN_BEFORE);
        let start = before
            .char_indices()
            .rev()
            .take(shown_before)
            .last()
            .map_or(self.offset, |(at, _)| self.line_start + at);
        let shown: String = self.source[start..]
            .chars()
            .take_while(|&c| c != '\n')
            .take(SHOWN)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        format!("  {shown}\n  {}^", " ".repeat(shown_before))
    }
}

/// The codes of all warnings.
pub(crate) const WARNINGS: [&str; 15] = [
    "W-GRAMMAR-CYCLE",
    "W-GRAMMAR-DECLARED",
    "W-GRAMMAR-ENDLESS",
    "W-GRAMMAR-LAZY",
    "W-GRAMMAR-LONGEST",
    "W-GRAMMAR-PRIORITY",
    "W-GRAMMAR-TEMPERATURE",
    "W-GRAMMAR-LEFT-OUT",
    "W-GRAMMAR-UNPRODUCTIVE",
    "W-GRAMMAR-UNUSED",
    "W-REGEX-ANCHOR",
    "W-REGEX-CASE",
    "W-SCHEMA-FOREIGN",
    "W-SCHEMA-NULL",
    "W-SCHEMA-PATTERN",
];

/// Something to say about a source. Private fields, public accessors: kinds of detail can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    code: &'static str,
    message: String,
    location: Option<SourceLocation>,
    hint: Option<String>,
}

impl Diagnostic {
    /// Puts a place in a schema below `prefix`, a pointer.
    pub(crate) fn place_below(&mut self, prefix: &str) {
        if let Some(SourceLocation::Pointer(pointer)) = &mut self.location {
            pointer.insert_str(0, prefix);
        }
    }

    /// The same, saying in which file of several it is.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        self.message = format!("{}, in the file {name:?}", self.message);
        self
    }

    /// A code, `E-AREA-WHAT` for errors and `W-AREA-WHAT` for warnings, and a sentence.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            location: None,
            hint: None,
        }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(mut self, location: SourceLocation) -> Self {
        self.location = Some(location);
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What is wrong, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where it is.
    #[must_use]
    pub fn location(&self) -> Option<&SourceLocation> {
        self.location.as_ref()
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.location {
            Some(SourceLocation::Text {
                line,
                column,
                excerpt,
                ..
            }) => write!(f, " ({line}:{column})\n{excerpt}")?,
            Some(SourceLocation::Pointer(pointer)) => write!(f, " (at {pointer})")?,
            None => {}
        }
        self.hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// An error of this crate: a [`Diagnostic`], whose accessors are the error's own, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    diagnostic: Diagnostic,
    limit: Option<(&'static str, u64, u64)>,
    pointers: Vec<(String, String)>,
}

impl Error {
    fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Detail {
            kind,
            diagnostic: Diagnostic::new(code, message),
            limit: None,
            pointers: Vec::new(),
        }))
    }

    /// A source that cannot be read.
    pub fn grammar(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Grammar, code, message)
    }

    /// A schema that is refused; `pointers` are (JSON pointer, reason).
    pub fn schema(
        code: &'static str,
        message: impl Into<String>,
        pointers: Vec<(String, String)>,
    ) -> Self {
        let mut error = Self::new(ErrorKind::Schema, code, message);
        if let [(pointer, _), ..] = pointers.as_slice() {
            error.0.diagnostic.location = Some(SourceLocation::Pointer(pointer.clone()));
        }
        error.0.pointers = pointers;
        error
    }

    /// A bound that is passed: the field of [`crate::Limits`], what was given and what is allowed.
    #[must_use]
    pub fn limit(code: &'static str, limit: &'static str, given: u64, allowed: u64) -> Self {
        let mut error = Self::new(
            ErrorKind::Limit,
            code,
            format!("{limit} allows {allowed}, the input has {given} or more"),
        )
        .with_hint(format!("simplify the input or raise Limits.{limit}"));
        error.0.limit = Some((limit, given, allowed));
        error
    }

    /// Refuses more than is allowed; `limit` is the code and the field of [`crate::Limits`].
    pub(crate) fn check_limit(
        (code, limit): (&'static str, &'static str),
        given: usize,
        allowed: usize,
    ) -> Result<(), Self> {
        if given > allowed {
            return Err(Self::limit(code, limit, given as u64, allowed as u64));
        }
        Ok(())
    }

    /// The same error at a place.
    #[must_use]
    pub fn at(mut self, location: SourceLocation) -> Self {
        self.0.diagnostic.location = Some(location);
        self
    }

    /// The same error, each of its JSON pointers by another.
    #[must_use]
    pub(crate) fn placed(mut self, place: impl Fn(&str) -> String) -> Self {
        if let Some(SourceLocation::Pointer(pointer)) = &mut self.0.diagnostic.location {
            *pointer = place(pointer);
        }
        for (pointer, _) in &mut self.0.pointers {
            *pointer = place(pointer);
        }
        self
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.diagnostic.hint = Some(hint.into());
        self
    }

    /// The same error, saying in which rule it arose.
    pub(crate) fn in_rule(mut self, name: &str) -> Self {
        let message = &mut self.0.diagnostic.message;
        *message = format!("{message}, in the rule {name:?}");
        self
    }

    /// The same error, saying in which file of several it is.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        self.0.diagnostic = self.0.diagnostic.in_file(name);
        self
    }

    /// What kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// For limits: the field of [`crate::Limits`], what was given, what is allowed.
    #[must_use]
    pub fn limit_detail(&self) -> Option<(&'static str, u64, u64)> {
        self.0.limit
    }

    /// For refused schemas: each (JSON pointer, reason).
    #[must_use]
    pub fn pointers(&self) -> &[(String, String)] {
        &self.0.pointers
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
