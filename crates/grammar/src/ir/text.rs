//! Free text as a regular language: UTF-8 (RFC 3629) of any kind, or without given strings.

use std::sync::LazyLock;

use super::byte_set::ByteSet;
use super::regex::Regex;

/// One character in UTF-8 (RFC 3629: shortest form, no surrogates).
#[must_use]
pub fn utf8_character() -> Regex {
    static CHARACTER: LazyLock<Regex> = LazyLock::new(character);
    CHARACTER.clone()
}

fn character() -> Regex {
    let range = |first: u8, last: u8| Regex::Class(ByteSet::range(first, last));
    let tail = || range(0x80, 0xBF);
    Regex::alt(vec![
        range(0x00, 0x7F),
        Regex::concat(vec![range(0xC2, 0xDF), tail()]),
        Regex::concat(vec![range(0xE0, 0xE0), range(0xA0, 0xBF), tail()]),
        Regex::concat(vec![range(0xE1, 0xEC), tail(), tail()]),
        Regex::concat(vec![range(0xED, 0xED), range(0x80, 0x9F), tail()]),
        Regex::concat(vec![range(0xEE, 0xEF), tail(), tail()]),
        Regex::concat(vec![range(0xF0, 0xF0), range(0x90, 0xBF), tail(), tail()]),
        Regex::concat(vec![range(0xF1, 0xF3), tail(), tail(), tail()]),
        Regex::concat(vec![range(0xF4, 0xF4), range(0x80, 0x8F), tail(), tail()]),
    ])
}

/// Any text: any number of characters in UTF-8.
#[must_use]
pub fn any_text() -> Regex {
    static TEXT: LazyLock<Regex> = LazyLock::new(|| Regex::repeat(utf8_character(), 0, None));
    TEXT.clone()
}

/// Any byte string.
#[must_use]
pub fn any_bytes() -> Regex {
    Regex::repeat(Regex::Class(ByteSet::FULL), 0, None)
}

/// UTF-8 text that holds none of `without`, nor `closer`, and after which `closer` stands for the first time.
///
/// The last condition matters where the closer overlaps itself: text `a` before closer `aa` would close one byte early.
/// Empty strings in `without` are ignored.
#[must_use]
pub fn free_text(without: &[&str], closer: Option<&str>) -> Regex {
    let closer = closer.filter(|text| !text.is_empty()).map(str::as_bytes);
    let inside: Vec<Regex> = without
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| text.as_bytes())
        .chain(closer)
        .map(Regex::literal)
        .collect();
    let mut forbidden = Vec::new();
    if !inside.is_empty() {
        forbidden.push(Regex::concat(vec![
            any_bytes(),
            Regex::alt(inside),
            any_bytes(),
        ]));
    }
    // If the closer has period k, text that ends in its first k bytes closes k bytes too early.
    if let Some(bytes) = closer {
        for period in 1..bytes.len() {
            if bytes.starts_with(&bytes[period..]) {
                forbidden.push(Regex::concat(vec![
                    any_bytes(),
                    Regex::literal(&bytes[..period]),
                ]));
            }
        }
    }
    let text = any_text();
    if forbidden.is_empty() {
        return text;
    }
    Regex::And([text, Regex::Not(Regex::alt(forbidden).into())].into())
}

/// Free text, which is given, before one of several triggers: the trigger ends before any other trigger, and before any of
/// `excludes`; of triggers that end at once the longest counts. [`Regex::Nothing`] if the trigger holds what is excluded.
///
/// A trigger that another one goes on from (`<a>` and `<a>b`) does not come before it.
pub(crate) fn free_text_before(
    trigger: &str,
    triggers: &[&str],
    excludes: &[&str],
    free: &Regex,
) -> Regex {
    if excludes.iter().any(|text| trigger.contains(text)) {
        return Regex::Nothing;
    }
    let (trigger, mut ends) = (trigger.as_bytes(), Vec::new());
    for other in triggers.iter().chain(excludes).map(|text| text.as_bytes()) {
        for at in 1..other.len() {
            let rest = &other[at..];
            // The other one would begin in the free text, and end in the trigger, or with it if it is longer.
            if trigger.starts_with(rest) {
                ends.push(Regex::literal(&other[..at]));
            }
        }
    }
    if ends.is_empty() {
        return free.clone();
    }
    let early = Regex::concat(vec![any_bytes(), Regex::alt(ends)]);
    Regex::And([free.clone(), Regex::Not(early.into())].into())
}

/// Any run of pieces that stand after one another, the empty one too.
///
/// A run lies in one half or crosses the middle, and so on down: the expression nests as deep as the logarithm of the number
/// of pieces, and its size is in the order of their length times that.
#[must_use]
pub fn runs(pieces: &[Vec<u8>]) -> Regex {
    struct Half {
        whole: Vec<u8>,
        beginnings: Regex,
        ends: Regex,
    }
    let mut runs = Vec::new();
    let mut halves: Vec<Half> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let maybe = Regex::repeat(Regex::literal(piece), 0, Some(1));
        runs.push(maybe.clone());
        halves.push(Half {
            whole: piece.clone(),
            beginnings: maybe.clone(),
            ends: maybe,
        });
    }
    while halves.len() > 1 {
        let mut joined = Vec::with_capacity(halves.len().div_ceil(2));
        let mut rest = halves.into_iter();
        while let Some(left) = rest.next() {
            let Some(right) = rest.next() else {
                joined.push(left);
                break;
            };
            runs.push(Regex::concat(vec![
                left.ends.clone(),
                right.beginnings.clone(),
            ]));
            joined.push(Half {
                beginnings: Regex::alt(vec![
                    left.beginnings,
                    Regex::concat(vec![Regex::literal(&left.whole), right.beginnings]),
                ]),
                ends: Regex::alt(vec![
                    right.ends,
                    Regex::concat(vec![left.ends, Regex::literal(&right.whole)]),
                ]),
                whole: [left.whole, right.whole].concat(),
            });
        }
        halves = joined;
    }
    runs.push(Regex::empty());
    Regex::alt(runs)
}
