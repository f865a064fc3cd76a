//! Notations of values that are not JSON: how strings are delimited, whether keys stand bare, and the words for constants.

use std::borrow::Cow;

use crate::error::Error;
use crate::ir::{ByteSet, Expr, ExprId, ExprIds, GrammarBuilder, Regex};

/// How values are spelled. The default is JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    pub(super) strings: Strings,
    bare_keys: bool,
    /// For true, false and null.
    words: [Cow<'static, str>; 3],
}

/// How strings are delimited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Strings {
    /// As JSON has it.
    Json,
    /// By one character, with the escapes that programs know.
    Quoted(char),
    /// By a marker that no string holds; nothing is escaped.
    Between(String),
}

/// Stands for the marker around strings until a word becomes an expression: no text holds this byte.
const MARK: u8 = 0xFF;

impl Default for Notation {
    fn default() -> Self {
        let words = ["true", "false", "null"].map(Cow::Borrowed);
        Self {
            strings: Strings::Json,
            bare_keys: false,
            words,
        }
    }
}

impl Notation {
    /// A notation that is not JSON.
    ///
    /// A quote of one character escapes with backslashes (`\n`, `\x41`, `\u00e9`, `\U0001f600`, …); a longer one is a marker
    /// that no string holds. With bare keys, those of ASCII letters, digits, `_`, `-`, `.` and `$` stand without quotes.
    /// `words` are those for true, false and null.
    ///
    /// # Errors
    /// `E-SCHEMA-OPTION` where a quote could not be told from what stands around it, or a word not from a number.
    pub fn new(quote: &str, bare_keys: bool, words: [String; 3]) -> Result<Self, Error> {
        let mut chars = quote.chars();
        let strings = match (chars.next(), chars.next()) {
            (Some(only @ ('"' | '\'' | '`')), None) => Strings::Quoted(only),
            (Some(first), Some(_)) if !is_structure(first) && !first.is_ascii_alphanumeric() => {
                Strings::Between(quote.to_owned())
            }
            _ => {
                let message = format!("{quote:?} cannot stand around strings");
                return Err(Error::grammar("E-SCHEMA-OPTION", message).with_hint(
                    "it is \", ' or `, or a longer mark that begins with another sign",
                ));
            }
        };
        for word in &words {
            if !word.starts_with(|c: char| c.is_ascii_alphabetic())
                || word.contains(|c: char| !c.is_ascii_alphanumeric())
            {
                let message = format!("{word:?} is no word");
                return Err(Error::grammar("E-SCHEMA-OPTION", message)
                    .with_hint("words are ASCII letters and digits, a letter first"));
            }
        }
        Ok(Self {
            strings,
            bare_keys,
            words: words.map(Cow::Owned),
        })
    }

    /// The word for true or false.
    pub(super) fn boolean(&self, value: bool) -> Regex {
        Regex::literal(self.words[usize::from(!value)].as_bytes())
    }

    /// The word for null.
    pub(super) fn null(&self) -> Regex {
        Regex::literal(self.words[2].as_bytes())
    }

    /// A string around what is inside its delimiters.
    pub(super) fn quoted(&self, inner: Regex) -> Regex {
        let (mark, inner) = match &self.strings {
            Strings::Json => (b'"', inner),
            // One of the three that `new` allows.
            Strings::Quoted(quote) => (*quote as u8, inner),
            Strings::Between(mark) => {
                let free = Regex::Not(holding(mark).into());
                (MARK, Regex::And([inner, free].into()))
            }
        };
        Regex::concat(vec![
            Regex::literal(&[mark]),
            inner,
            Regex::literal(&[mark]),
        ])
    }

    /// The name of a member, known to be this one.
    pub(super) fn key(&self, name: &str) -> Regex {
        if self.bare_keys && !name.is_empty() && name.chars().all(is_bare) {
            Regex::literal(name.as_bytes())
        } else {
            self.canonical(name)
        }
    }

    /// The names of members, by what would stand inside quotes.
    pub(super) fn keys(&self, inner: Regex) -> Regex {
        if !self.bare_keys {
            return self.quoted(inner);
        }
        let ascii = (0..128u8).filter(|&byte| is_bare(char::from(byte)));
        let set = ascii.fold(ByteSet::EMPTY, |set, byte| set.union(&ByteSet::byte(byte)));
        let bare = Regex::repeat(Regex::Class(set), 1, None);
        let others = Regex::Not(bare.clone().into());
        Regex::alt(vec![
            Regex::And([inner.clone(), bare].into()),
            self.quoted(Regex::And([inner, others].into())),
        ])
    }

    /// A fixed string; nothing where it holds the marker that would end it.
    pub(super) fn canonical(&self, text: &str) -> Regex {
        match &self.strings {
            Strings::Json => Regex::literal(super::text::json(text).as_bytes()),
            Strings::Quoted(_) => self.quoted(self.body(text)),
            Strings::Between(mark)
                if format!("{text}{mark}").find(mark.as_str()) == Some(text.len()) =>
            {
                let mark = Regex::literal(&[MARK]);
                Regex::concat(vec![mark.clone(), self.body(text), mark])
            }
            Strings::Between(_) => Regex::Nothing,
        }
    }

    /// A word as an expression.
    pub(super) fn expression(&self, builder: &mut GrammarBuilder, word: Regex) -> ExprId {
        match &self.strings {
            Strings::Between(mark) if is_marked(&word) => marked(builder, &word, mark),
            _ => builder.regex(word),
        }
    }
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.$".contains(c)
}

fn is_structure(c: char) -> bool {
    c <= ' ' || "{}[]():,=\\".contains(c)
}

/// Whatever holds a mark, or would together with the first part of the one behind it.
fn holding(mark: &str) -> Regex {
    let all = Regex::repeat(Regex::Class(ByteSet::range(0, 0xFF)), 0, None);
    let bytes = mark.as_bytes();
    let early = (1..bytes.len()).filter(|&at| bytes.starts_with(&bytes[at..]));
    let mut ways: Vec<Regex> = early
        .map(|at| Regex::concat(vec![all.clone(), Regex::literal(&bytes[..at])]))
        .collect();
    ways.push(Regex::concat(vec![all.clone(), Regex::literal(bytes), all]));
    Regex::alt(ways)
}

/// Whether a mark stands somewhere in a word. What describes the inside of a string has none.
fn is_marked(word: &Regex) -> bool {
    let mut parts = vec![word];
    while let Some(part) = parts.pop() {
        match part {
            Regex::Literal(bytes) if bytes.contains(&MARK) => return true,
            Regex::Concat(inner) | Regex::Alt(inner) => parts.extend(inner.iter()),
            _ => {}
        }
    }
    false
}

/// A word with marks as an expression. Only parts with marks are looked into, and those are nested as words are put
/// together: a few levels, whatever the schema.
fn marked(builder: &mut GrammarBuilder, word: &Regex, mark: &str) -> ExprId {
    match word {
        Regex::Alt(parts) if is_marked(word) => {
            let parts = parts.iter().map(|part| marked(builder, part, mark));
            let parts: ExprIds = parts.collect();
            builder.alt(parts)
        }
        Regex::Concat(parts) if is_marked(word) => {
            let parts = parts.iter().map(|part| marked(builder, part, mark));
            let parts: ExprIds = parts.collect();
            builder.seq(parts)
        }
        Regex::Literal(bytes) if is_marked(word) => {
            let mut parts = Vec::new();
            for (at, text) in bytes.split(|&byte| byte == MARK).enumerate() {
                if at > 0 {
                    parts.push(builder.add(Expr::Marker(mark.into())));
                }
                if !text.is_empty() {
                    parts.push(builder.regex(Regex::literal(text)));
                }
            }
            builder.seq(parts)
        }
        plain => builder.regex(plain.clone()),
    }
}
