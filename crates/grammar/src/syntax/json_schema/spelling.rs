//! Blanks, and values that are written out. Blanks always belong to the word that follows them.

use serde_json::Value;

use super::decimal::Decimal;
use super::text;
use super::{Options, Whitespace};
use crate::ir::{ByteSet, Regex};
use crate::limits::Limits;

/// How a document is spaced.
#[derive(Debug, Clone)]
pub(super) struct Spelling {
    /// What may stand before a word; none for nothing.
    blanks: Option<Regex>,
}

enum Piece<'v> {
    Sign(&'static str),
    Key(&'v str),
    Value(&'v Value),
}

impl Spelling {
    pub(super) fn new(options: &Options, limits: &Limits) -> Self {
        let blanks = match options.whitespace {
            Whitespace::Compact => None,
            Whitespace::Flexible => {
                let set = b" \t\n\r"
                    .iter()
                    .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte)));
                Some(Regex::repeat(
                    Regex::Class(set),
                    0,
                    Some(limits.json_whitespace),
                ))
            }
        };
        Self { blanks }
    }

    /// A word, with blanks before it unless it is the first of the document.
    pub(super) fn word(&self, word: Regex, first: bool) -> Regex {
        match &self.blanks {
            Some(blanks) if !first => match word {
                Regex::Concat(parts) => Regex::Concat(
                    std::iter::once(blanks.clone())
                        .chain(parts.iter().cloned())
                        .collect(),
                ),
                word => Regex::concat(vec![blanks.clone(), word]),
            },
            _ => word,
        }
    }

    /// A sign inside the document.
    pub(super) fn sign(&self, sign: &str) -> Regex {
        self.word(Regex::literal(sign.as_bytes()), false)
    }

    /// The name of a member, up to its colon; `comma`: another member stands before it.
    pub(super) fn key(&self, name: Regex, comma: bool) -> Regex {
        let mut words = Vec::new();
        if comma {
            words.push(self.sign(","));
        }
        words.push(self.word(name, false));
        words.push(self.sign(":"));
        sequence(words)
    }

    /// A fixed value.
    pub(super) fn value(&self, value: &Value, first: bool) -> Regex {
        let mut words: Vec<Regex> = Vec::new();
        let mut work = vec![Piece::Value(value)];
        while let Some(piece) = work.pop() {
            let spelled = match piece {
                Piece::Sign(sign) => Regex::literal(sign.as_bytes()),
                Piece::Key(name) => Regex::literal(text::canonical(name).as_bytes()),
                Piece::Value(Value::Array(items)) => {
                    work.push(Piece::Sign("]"));
                    for (at, item) in items.iter().enumerate().rev() {
                        work.push(Piece::Value(item));
                        if at > 0 {
                            work.push(Piece::Sign(","));
                        }
                    }
                    Regex::literal(b"[")
                }
                Piece::Value(Value::Object(members)) => {
                    work.push(Piece::Sign("}"));
                    for (at, (name, member)) in members.iter().enumerate().rev() {
                        work.extend([Piece::Value(member), Piece::Sign(":"), Piece::Key(name)]);
                        if at > 0 {
                            work.push(Piece::Sign(","));
                        }
                    }
                    Regex::literal(b"{")
                }
                Piece::Value(Value::Number(number)) => spellings(&number.to_string()),
                Piece::Value(Value::String(string)) => {
                    Regex::literal(text::canonical(string).as_bytes())
                }
                Piece::Value(scalar) => Regex::literal(scalar.to_string().as_bytes()),
            };
            words.push(self.word(spelled, first && words.is_empty()));
        }
        sequence(words)
    }
}

/// A number as it is given, and as a plain integer if it is one.
fn spellings(given: &str) -> Regex {
    let mut all = vec![Regex::literal(given.as_bytes())];
    if let Some(number) = Decimal::parse(given).filter(Decimal::is_integer) {
        let digits = if number.int.is_empty() {
            b"0".to_vec()
        } else {
            number.int.clone()
        };
        let plain: Vec<u8> = number
            .negative
            .then_some(b'-')
            .into_iter()
            .chain(digits)
            .collect();
        if plain != given.as_bytes() {
            all.push(Regex::literal(&plain));
        }
    }
    Regex::alt(all)
}

/// Words after one another as one flat concatenation, neighbouring literals joined.
pub(super) fn sequence(words: Vec<Regex>) -> Regex {
    let mut out: Vec<Regex> = Vec::new();
    for word in words {
        let parts = match word {
            Regex::Concat(parts) => parts.to_vec(),
            other => vec![other],
        };
        for part in parts {
            match (out.last_mut(), part) {
                (Some(Regex::Literal(before)), Regex::Literal(bytes)) => {
                    *before = before.iter().chain(bytes.iter()).copied().collect();
                }
                (_, part) => out.push(part),
            }
        }
    }
    Regex::concat(out)
}
