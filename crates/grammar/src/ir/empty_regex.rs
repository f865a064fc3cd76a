//! Whether a regular language is empty where its form does not say: intersections and complements.
//!
//! First, words that are easy to find are tried: a witness settles most questions. Then the derivatives are searched for an
//! accepting one, breadth first. Both are bounded; what is not certain counts as not empty.

use super::automaton::{States, normal_form};
use super::derive::{derive, is_large};
use super::regex::{Facts, Regex};
use crate::limits::Fuel;
use crate::tuning::{MAX_EMPTINESS_DEPTH, MAX_EMPTINESS_WEIGHT, MAX_WITNESS_BYTES, WITNESS_ROUNDS};

/// Answers whether languages are empty, as long as the units for all of them last.
pub(crate) struct EmptinessChecks {
    /// Units of one answer.
    each: u64,
    all: Fuel,
    given: u64,
}

impl EmptinessChecks {
    /// Checks that take at most `each` units, and `all` units together.
    pub(crate) fn new(each: u64, all: u64) -> Self {
        Self {
            each,
            all: Fuel::of(all),
            given: all,
        }
    }

    /// Whether it is certain that the language is empty: an intersection of what has nothing in common, for example.
    ///
    /// It is never certain of an expression of more than [`MAX_EMPTINESS_WEIGHT`] nodes and bytes, or nested deeper than
    /// [`MAX_EMPTINESS_DEPTH`].
    pub(crate) fn is_nothing(&mut self, regex: &Regex) -> bool {
        let given = self.each.min(self.all.left());
        let mut fuel = Fuel::of(given);
        let answer = is_nothing(regex, &mut fuel);
        self.all.take((given - fuel.left()) as usize);
        answer
    }

    /// Whether it is certain that the language is not empty, as a word of it is easy to find.
    pub(crate) fn has_word(&mut self, regex: &Regex) -> bool {
        let given = self.each.min(self.all.left());
        let mut fuel = Fuel::of(given);
        let facts = Facts::of(regex);
        let is_small = facts.weight <= MAX_EMPTINESS_WEIGHT && facts.depth <= MAX_EMPTINESS_DEPTH;
        let normal = (is_small && given > 0).then(|| normal_form(regex, &mut fuel).ok());
        let found = normal
            .flatten()
            .is_some_and(|normal| has_witness(&normal, &mut fuel));
        self.all.take((given - fuel.left()) as usize);
        found
    }

    /// Units that were needed so far.
    pub(crate) fn used(&self) -> u64 {
        self.given - self.all.left()
    }
}

/// See [`EmptinessChecks::is_nothing`].
fn is_nothing(regex: &Regex, fuel: &mut Fuel) -> bool {
    let facts = Facts::of(regex);
    if fuel.is_spent() || facts.weight > MAX_EMPTINESS_WEIGHT || facts.depth > MAX_EMPTINESS_DEPTH {
        return false;
    }
    let Ok(normal) = normal_form(regex, fuel) else {
        return false;
    };
    if has_witness(&normal, fuel) {
        return false;
    }
    let mut states = States::new(normal, fuel);
    let mut at = 0;
    // A state that may end settles it; they come in the order of their distance from the start.
    loop {
        match states.row(at, fuel) {
            Ok(Some(_)) if !states.known[at].is_nullable() => at += 1,
            Ok(None) => return true,
            _ => return false,
        }
    }
}

/// Whether a sample of one part of an intersection is in all of it: most often one is. The expression is in normal form.
fn has_witness(regex: &Regex, fuel: &mut Fuel) -> bool {
    let parts = match regex {
        Regex::And(parts) => &parts[..],
        other => std::slice::from_ref(other),
    };
    for extra in WITNESS_ROUNDS {
        for part in parts.iter().filter(|part| !Facts::of(part).logical) {
            let mut word = Vec::new();
            if !sample(part, extra, &mut word) {
                continue;
            }
            let others = parts.iter().filter(|other| !std::ptr::eq(*other, part));
            if others.clone().all(|other| accepts(other, &word, fuel)) {
                return true;
            }
        }
    }
    false
}

/// Adds a word of a language without intersections and complements, its loops as short as they may be, or a bit longer;
/// false if there is none, or it is too long. Recursion follows the nesting.
fn sample(regex: &Regex, extra: u32, word: &mut Vec<u8>) -> bool {
    match regex {
        Regex::Class(set) => {
            let byte = if set.contains(b'a') {
                Some(b'a')
            } else {
                (0..=u8::MAX).find(|&byte| set.contains(byte))
            };
            word.extend(byte);
            byte.is_some() && word.len() <= MAX_WITNESS_BYTES
        }
        Regex::Literal(bytes) => {
            word.extend_from_slice(bytes);
            word.len() <= MAX_WITNESS_BYTES
        }
        Regex::Concat(parts) => parts.iter().all(|part| sample(part, extra, word)),
        Regex::Alt(parts) => {
            let before = word.len();
            parts.iter().any(|part| {
                word.truncate(before);
                sample(part, extra, word)
            })
        }
        Regex::Repeat { inner, min, max } => {
            if max.is_some_and(|max| max < *min) {
                return false;
            }
            for _ in 0..min.saturating_add(extra).min(max.unwrap_or(u32::MAX)) {
                let before = word.len();
                if before >= MAX_WITNESS_BYTES || !sample(inner, extra, word) {
                    return false;
                }
                // What may be empty may be so each time.
                if word.len() == before {
                    break;
                }
            }
            true
        }
        Regex::Nothing | Regex::And(_) | Regex::Not(_) => false,
    }
}

/// Whether a word is in a language; false also without fuel, and where a derivative becomes too large.
fn accepts(regex: &Regex, word: &[u8], fuel: &mut Fuel) -> bool {
    let mut rest = regex.clone();
    for &byte in word {
        rest = derive(&rest, byte, fuel);
        if fuel.is_spent() || rest == Regex::Nothing || is_large(&rest) {
            return false;
        }
    }
    rest.is_nullable()
}
