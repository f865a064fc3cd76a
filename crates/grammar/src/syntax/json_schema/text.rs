//! Strings as regular languages over their spelling.
//!
//! A string on which nothing is asked but its length may be written in every way that JSON has, save that a lone surrogate
//! is no character. Between quotes of another notation escapes are those that programs and readers of such literals agree
//! on: no `\\0`, no pairs of surrogates. Where its value matters (`pattern`, `format`, `enum`, `const`, and every name of a property) characters
//! stand for themselves, and only those that cannot (the quote, `\`, controls) are escaped.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::notation::{Notation, Strings};
use crate::ir::{ByteSet, Expr, ExprId, ExprIds, GrammarBuilder, Regex};
use crate::json::Quoted;
use crate::syntax::regex::{Alphabet, utf8_class};

/// Stands for the marker around strings until a word becomes an expression: no text holds this byte.
const MARK: u8 = 0xFF;

/// Spells characters inside a string of a notation: as themselves where they may be, else escaped.
pub(super) struct Escaped<'n>(pub(super) &'n Notation);

impl Alphabet for Escaped<'_> {
    fn class(&mut self, ranges: &[(char, char)]) -> Regex {
        let Some(quote) = self.0.quote() else {
            return utf8_class(ranges);
        };
        let mut plain: Vec<(char, char)> = Vec::new();
        let mut escaped: Vec<char> = Vec::new();
        for &(first, last) in ranges {
            let mut low = u32::from(first);
            let mut signs = [quote, '\\'];
            signs.sort_unstable();
            for special in ('\0'..' ').chain(signs) {
                if first <= special && special <= last {
                    escaped.push(special);
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
        let mut parts = Vec::new();
        if !plain.is_empty() {
            parts.push(utf8_class(&plain));
        }
        parts.extend(self.0.escapes(&escaped));
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
        self.0.body(&String::from_utf8_lossy(bytes))
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

/// One digit of a hexadecimal number, in both cases.
fn hex_digit(digit: u32) -> ByteSet {
    let lower = char::from_digit(digit, 16).unwrap_or('0') as u8;
    ByteSet::byte(lower).union(&ByteSet::byte(lower.to_ascii_uppercase()))
}

fn one_of(bytes: &[u8]) -> Regex {
    Regex::Class(
        bytes
            .iter()
            .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte))),
    )
}

/// Any hexadecimal digit.
fn any_hex() -> Regex {
    let digits = ByteSet::range(b'0', b'9');
    Regex::Class(
        digits
            .union(&ByteSet::range(b'a', b'f'))
            .union(&ByteSet::range(b'A', b'F')),
    )
}

impl Notation {
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
        let further = |c: char| is_bare(c) || (!c.is_ascii() && c.is_alphanumeric());
        let bare = || Regex::literal(name.as_bytes());
        if !self.bare_keys || name.is_empty() || !name.chars().all(further) {
            self.canonical(name)
        } else if name.is_ascii() {
            bare()
        } else {
            Regex::alt(vec![bare(), self.canonical(name)])
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
            Strings::Json => Regex::literal(json(text).as_bytes()),
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

    /// What delimits strings, where it is one character that must be escaped inside them.
    fn quote(&self) -> Option<char> {
        match self.strings {
            Strings::Json => Some('"'),
            Strings::Quoted(quote) => Some(quote),
            Strings::Between(_) => None,
        }
    }

    /// Whether a character must be escaped.
    fn needs_escape(&self, c: char) -> bool {
        self.quote()
            .is_some_and(|quote| c < ' ' || c == quote || c == '\\')
    }

    /// The escapes of characters that need one: of a letter or sign, and of two digits. What begins alike is written once.
    fn escapes(&self, chars: &[char]) -> Vec<Regex> {
        let json = self.strings == Strings::Json;
        let short = |&c: &char| match c {
            '"' | '\'' | '\\' => Some(c as u8),
            '\n' => Some(b'n'),
            '\r' => Some(b'r'),
            '\t' => Some(b't'),
            '\x08' => Some(b'b'),
            '\x0C' => Some(b'f'),
            '\x07' if !json => Some(b'a'),
            '\x0B' if !json => Some(b'v'),
            _ => None,
        };
        let letters: Vec<u8> = chars.iter().filter_map(short).collect();
        // The second digits by the first, and then the first ones by all their second ones.
        let mut seconds: BTreeMap<u32, ByteSet> = BTreeMap::new();
        for code in chars.iter().copied().map(u32::from) {
            let known = seconds.entry(code >> 4).or_default();
            *known = known.union(&hex_digit(code & 15));
        }
        let mut firsts: Vec<(ByteSet, ByteSet)> = Vec::new();
        for (first, second) in seconds {
            let first = hex_digit(first);
            match firsts.iter_mut().find(|(_, known)| *known == second) {
                Some((known, _)) => *known = known.union(&first),
                None => firsts.push((first, second)),
            }
        }
        let numbers = firsts
            .into_iter()
            .map(|(first, second)| Regex::concat(vec![Regex::Class(first), Regex::Class(second)]));
        let mut parts = Vec::new();
        match letters[..] {
            [] => {}
            [letter] => parts.push(Regex::literal(&[b'\\', letter])),
            _ => parts.push(Regex::concat(vec![Regex::literal(b"\\"), one_of(&letters)])),
        }
        if !chars.is_empty() {
            parts.push(Regex::concat(vec![
                Regex::literal(if json { b"\\u00" } else { b"\\x" }),
                Regex::alt(numbers.collect()),
            ]));
        }
        parts
    }

    /// The spellings of a text inside the quotes.
    pub(super) fn body(&self, text: &str) -> Regex {
        if !text.contains(|c| self.needs_escape(c)) {
            return Regex::literal(text.as_bytes());
        }
        let mut parts = Vec::new();
        let mut plain = String::new();
        for c in text.chars() {
            if self.needs_escape(c) {
                if !plain.is_empty() {
                    parts.push(Regex::literal(plain.as_bytes()));
                    plain.clear();
                }
                parts.push(Regex::alt(self.escapes(&[c])));
            } else {
                plain.push(c);
            }
        }
        if !plain.is_empty() || parts.is_empty() {
            parts.push(Regex::literal(plain.as_bytes()));
        }
        Regex::concat(parts)
    }

    /// One character in any spelling. No spelling is the beginning of another.
    pub(super) fn any_character(&self) -> Regex {
        static CHARACTER: LazyLock<Regex> = LazyLock::new(json_character);
        match self.strings {
            Strings::Json => CHARACTER.clone(),
            Strings::Quoted(quote) => quoted_character(quote),
            Strings::Between(_) => self.canonical_character(),
        }
    }

    /// One character, escaped only where it must be.
    pub(super) fn canonical_character(&self) -> Regex {
        static CHARACTER: LazyLock<Regex> = LazyLock::new(|| all_of(&Notation::default()));
        match self.strings {
            Strings::Json => CHARACTER.clone(),
            _ => all_of(self),
        }
    }

    /// Any string, quotes included.
    pub(super) fn any_string(&self) -> Regex {
        static STRING: LazyLock<Regex> = LazyLock::new(|| any_of(&Notation::default()));
        match self.strings {
            Strings::Json => STRING.clone(),
            _ => any_of(self),
        }
    }
}

fn all_of(notation: &Notation) -> Regex {
    Escaped(notation).class(&[('\0', char::MAX)])
}

fn any_of(notation: &Notation) -> Regex {
    notation.quoted(Regex::repeat(notation.any_character(), 0, None))
}

/// The one spelling of a JSON string, quotes included, as every JSON writer has it that leaves text as it is.
pub(super) fn json(text: &str) -> String {
    if !text.contains(|c| c < ' ' || c == '"' || c == '\\') {
        return ["\"", text, "\""].concat();
    }
    Quoted(text).to_string()
}

/// One character between quotes that are not JSON's. Names of code points are not those of surrogates.
fn quoted_character(quote: char) -> Regex {
    let hex = any_hex;
    let mut signs = [quote as u8, b'\\'];
    signs.sort_unstable();
    let [first, second] = signs.map(u32::from);
    let plain: Vec<(char, char)> = [
        (0x20, first - 1),
        (first + 1, second - 1),
        (second + 1, u32::MAX),
    ]
    .into_iter()
    .flat_map(|(low, high)| span(low, high.min(u32::from(char::MAX))))
    .collect();
    let number = Regex::alt(vec![
        Regex::concat(vec![Regex::literal(b"x"), hex(), hex()]),
        Regex::concat(vec![
            Regex::literal(b"u"),
            one_of(b"0123456789abcefABCEF"),
            hex(),
            hex(),
            hex(),
        ]),
        Regex::concat(vec![
            Regex::literal(b"u"),
            one_of(b"dD"),
            one_of(b"01234567"),
            hex(),
            hex(),
        ]),
        Regex::concat(vec![
            Regex::literal(b"U00"),
            Regex::alt(vec![
                Regex::concat(vec![Regex::literal(b"0"), one_of(b"123456789abcdefABCDEF")]),
                Regex::literal(b"10"),
            ]),
            hex(),
            hex(),
            hex(),
            hex(),
        ]),
    ]);
    let short = one_of(b"\"'\\abfnrtv");
    Regex::alt(vec![
        utf8_class(&plain),
        Regex::concat(vec![Regex::literal(b"\\"), Regex::alt(vec![short, number])]),
    ])
}

/// One character of a JSON string.
fn json_character() -> Regex {
    let hex = any_hex;
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

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.$".contains(c)
}

/// Whatever holds a mark, or would together with the first part of the one after it.
fn holding(mark: &str) -> Regex {
    let all = Regex::repeat(Regex::Class(ByteSet::range(0, 0xFF)), 0, None);
    let bytes = mark.as_bytes();
    let early = (1..bytes.len()).filter(|&at| bytes.starts_with(&bytes[at..]));
    let mut alternatives: Vec<Regex> = early
        .map(|at| Regex::concat(vec![all.clone(), Regex::literal(&bytes[..at])]))
        .collect();
    alternatives.push(Regex::concat(vec![all.clone(), Regex::literal(bytes), all]));
    Regex::alt(alternatives)
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
