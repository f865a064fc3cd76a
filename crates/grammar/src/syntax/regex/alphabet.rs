//! How characters become bytes: as UTF-8 (RFC 3629), or with the escapes of a notation.

use std::collections::BTreeMap;

use regex_syntax::utf8::{Utf8Range, Utf8Sequences};

use crate::ir::{ByteSet, Regex};
use crate::maps::SeededIndexMap;

/// Spells classes of characters.
pub(crate) trait Alphabet {
    /// The spellings of one character out of the ranges (inclusive, ascending).
    fn class(&mut self, ranges: &[(char, char)]) -> Regex;

    /// The spellings of one byte out of the ranges, for patterns that speak of bytes.
    fn bytes(&mut self, ranges: &[(u8, u8)]) -> Regex {
        let mut set = ByteSet::EMPTY;
        for &(first, last) in ranges {
            set = set.union(&ByteSet::range(first, last));
        }
        Regex::Class(set)
    }

    /// The spellings of a fixed text; `bytes` need not be valid UTF-8.
    fn literal(&mut self, bytes: &[u8]) -> Regex;
}

/// Characters as they are in UTF-8.
pub(crate) struct Utf8;

impl Alphabet for Utf8 {
    fn class(&mut self, ranges: &[(char, char)]) -> Regex {
        utf8_class(ranges)
    }

    fn literal(&mut self, bytes: &[u8]) -> Regex {
        Regex::literal(bytes)
    }
}

/// One character out of the ranges, in UTF-8.
pub(crate) fn utf8_class(ranges: &[(char, char)]) -> Regex {
    let mut sequences: Vec<Vec<Utf8Range>> = Vec::new();
    for &(first, last) in ranges {
        sequences
            .extend(Utf8Sequences::new(first, last).map(|sequence| sequence.as_slice().to_vec()));
    }
    let borrowed: Vec<&[Utf8Range]> = sequences.iter().map(Vec::as_slice).collect();
    factored(&borrowed)
}

/// Alternatives of byte-range sequences with common prefixes and common rests shared. A sequence has at most four parts,
/// and so has the recursion.
fn factored(sequences: &[&[Utf8Range]]) -> Regex {
    let mut by_first: BTreeMap<(u8, u8), Vec<&[Utf8Range]>> = BTreeMap::new();
    for sequence in sequences {
        if let [first, rest @ ..] = sequence {
            by_first
                .entry((first.start, first.end))
                .or_default()
                .push(rest);
        }
    }
    let mut by_rest: SeededIndexMap<Regex, ByteSet> = SeededIndexMap::default();
    for ((first, last), rests) in by_first {
        let rest = if rests.iter().all(|rest| rest.is_empty()) {
            Regex::empty()
        } else {
            factored(&rests)
        };
        let set = by_rest.entry(rest).or_default();
        *set = set.union(&ByteSet::range(first, last));
    }
    let parts = by_rest.into_iter().map(|(rest, set)| match rest {
        Regex::Literal(bytes) if bytes.is_empty() => Regex::Class(set),
        Regex::Concat(parts) => Regex::Concat(
            std::iter::once(Regex::Class(set))
                .chain(parts.iter().cloned())
                .collect(),
        ),
        rest => Regex::concat(vec![Regex::Class(set), rest]),
    });
    Regex::alt(parts.collect())
}
