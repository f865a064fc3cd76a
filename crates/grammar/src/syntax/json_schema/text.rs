//! JSON strings as regular languages over their spelling.
//!
//! A string on which nothing is asked but its length may be written in every way that JSON has, save that a lone surrogate
//! is no character. Where its value matters (`pattern`, `format`, `enum`, `const`, and every name of a property) characters
//! stand for themselves, and only those that cannot (`"`, `\`, controls) are escaped.

use std::sync::LazyLock;

use crate::ir::{ByteSet, Regex};
use crate::syntax::regex::{Alphabet, utf8_class};

/// Spells characters inside a JSON string: as themselves where they may be, else escaped.
pub(super) struct Escaped;

/// Whether a character must be escaped.
fn needs_escape(c: char) -> bool {
    c < ' ' || c == '"' || c == '\\'
}

impl Alphabet for Escaped {
    fn class(&mut self, ranges: &[(char, char)]) -> Regex {
        let mut plain: Vec<(char, char)> = Vec::new();
        let mut parts = Vec::new();
        for &(first, last) in ranges {
            let mut low = u32::from(first);
            for special in ('\0'..' ').chain(['"', '\\']) {
                if first <= special && special <= last {
                    parts.push(escape(special));
                    if low < u32::from(special) {
                        plain.extend(span(low, u32::from(special) - 1));
                    }
                    low = u32::from(special) + 1;
                }
            }
            if low <= u32::from(last) {
                plain.extend(span(low, u32::from(last)));
            }
        }
        if !plain.is_empty() {
            parts.insert(0, utf8_class(&plain));
        }
        Regex::alt(parts)
    }

    fn bytes(&mut self, ranges: &[(u8, u8)]) -> Regex {
        let ranges: Vec<(char, char)> = ranges
            .iter()
            .map(|&(first, last)| (char::from(first), char::from(last)))
            .collect();
        self.class(&ranges)
    }

    fn literal(&mut self, bytes: &[u8]) -> Regex {
        body(&String::from_utf8_lossy(bytes))
    }
}

/// A range of code points as ranges of characters, the surrogates left out.
fn span(first: u32, last: u32) -> Vec<(char, char)> {
    [(first, last.min(0xD7FF)), (first.max(0xE000), last)]
        .into_iter()
        .filter(|(first, last)| first <= last)
        .filter_map(|(first, last)| Some((char::from_u32(first)?, char::from_u32(last)?)))
        .collect()
}

/// The escapes of a character that needs one.
fn escape(c: char) -> Regex {
    let short = match c {
        '"' | '\\' => Some(c as u8),
        '\n' => Some(b'n'),
        '\r' => Some(b'r'),
        '\t' => Some(b't'),
        '\x08' => Some(b'b'),
        '\x0C' => Some(b'f'),
        _ => None,
    };
    let code = u32::from(c);
    let hex = |digit: u32| {
        let lower = char::from_digit(digit, 16).unwrap_or('0') as u8;
        Regex::Class(ByteSet::byte(lower).union(&ByteSet::byte(lower.to_ascii_uppercase())))
    };
    let long = Regex::concat(vec![
        Regex::literal(b"\\u00"),
        hex(code >> 4),
        hex(code & 15),
    ]);
    match short {
        Some(letter) => Regex::alt(vec![Regex::literal(&[b'\\', letter]), long]),
        None => long,
    }
}

/// The spellings of a text inside the quotes.
pub(super) fn body(text: &str) -> Regex {
    let mut parts = Vec::new();
    let mut plain = String::new();
    for c in text.chars() {
        if needs_escape(c) {
            if !plain.is_empty() {
                parts.push(Regex::literal(plain.as_bytes()));
                plain.clear();
            }
            parts.push(escape(c));
        } else {
            plain.push(c);
        }
    }
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Regex::literal(plain.as_bytes()));
    }
    Regex::concat(parts)
}

/// The one spelling of a string, quotes included, as every JSON writer has it that leaves text as it is.
pub(super) fn canonical(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// One character in any spelling. No spelling is the beginning of another.
pub(super) fn any_character() -> Regex {
    static CHARACTER: LazyLock<Regex> = LazyLock::new(spelled_character);
    CHARACTER.clone()
}

fn spelled_character() -> Regex {
    let hex = || {
        let digits = ByteSet::range(b'0', b'9');
        Regex::Class(
            digits
                .union(&ByteSet::range(b'a', b'f'))
                .union(&ByteSet::range(b'A', b'F')),
        )
    };
    let one_of = |bytes: &[u8]| {
        Regex::Class(
            bytes
                .iter()
                .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte))),
        )
    };
    let d = || one_of(b"dD");
    let plain = utf8_class(&[(' ', '!'), ('#', '['), (']', char::MAX)]);
    let short = Regex::concat(vec![Regex::literal(b"\\"), one_of(b"\"\\/bfnrt")]);
    let basic = Regex::alt(vec![
        Regex::concat(vec![one_of(b"0123456789abcefABCEF"), hex(), hex(), hex()]),
        Regex::concat(vec![d(), one_of(b"01234567"), hex(), hex()]),
        Regex::concat(vec![
            d(),
            one_of(b"89abAB"),
            hex(),
            hex(),
            Regex::literal(b"\\u"),
            d(),
            one_of(b"cdefCDEF"),
            hex(),
            hex(),
        ]),
    ]);
    Regex::alt(vec![
        plain,
        short,
        Regex::concat(vec![Regex::literal(b"\\u"), basic]),
    ])
}

/// One character, escaped only where it must be.
pub(super) fn canonical_character() -> Regex {
    static CHARACTER: LazyLock<Regex> = LazyLock::new(|| Escaped.class(&[('\0', char::MAX)]));
    CHARACTER.clone()
}

/// Any string, quotes included.
pub(super) fn any_string() -> Regex {
    static STRING: LazyLock<Regex> =
        LazyLock::new(|| quoted(Regex::repeat(any_character(), 0, None)));
    STRING.clone()
}

/// A string around what is inside its quotes.
pub(super) fn quoted(inner: Regex) -> Regex {
    Regex::concat(vec![Regex::literal(b"\""), inner, Regex::literal(b"\"")])
}
