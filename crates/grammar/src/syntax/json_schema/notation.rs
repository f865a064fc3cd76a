//! Notations of values that are not JSON: how strings are delimited, whether keys stand bare, and the words for constants.

use std::borrow::Cow;

use crate::error::Error;
use crate::ir::Regex;

/// How values are spelled. The default is JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    pub(super) strings: Strings,
    pub(super) bare_keys: bool,
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
    /// that no string holds. With bare keys, those of letters, digits, `_`, `-`, `.` and `$` stand without quotes; of
    /// undeclared ones, those of ASCII.
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
}

fn is_structure(c: char) -> bool {
    c <= ' ' || "{}[]():,=\\".contains(c)
}
