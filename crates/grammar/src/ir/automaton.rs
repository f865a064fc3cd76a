//! A regular language as an automaton over characters, for notations that have neither intersection nor complement nor bytes.
//!
//! States are derivatives, equal up to order and repetition of alternatives. Recursion follows the nesting of an expression,
//! which the front ends bound.

use std::sync::Arc;

use super::byte_set::ByteSet;
use super::regex::{Facts, Regex};
use crate::maps::{IdIndexSet, IdMap, SeededIndexSet, SeededSet, hash_of};

/// States that an automaton may have; a larger language is not written out.
const STATES: usize = 3_000;
/// Nodes and bytes that one derivative may have.
const NODES: u32 = 20_000;

/// What it takes to tell one set of bytes from the others.
const CLASS: usize = 8;

/// See [`is_nothing`].
pub(crate) const LOOKED_AT: u32 = 2_000;
/// See [`is_nothing`].
pub(crate) const LOOKED_INTO: u32 = 64;

/// Ranges of characters with the state that each leads to, ascending and disjoint.
pub(crate) type Steps = Vec<(u32, u32, usize)>;

/// A state between two characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// Whether the text may end here.
    pub(crate) accepting: bool,
    /// Where each character leads; none that leads nowhere.
    pub(crate) steps: Steps,
}

/// Why there is no automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It would be too large.
    Large,
    /// The language holds byte strings that are no UTF-8.
    Bytes,
}

/// The automaton of a language; the first state is the start, and every state leads to acceptance unless it is the start.
///
/// `fuel` pays for every node that is looked at or put together; without it the language counts as too large.
pub(crate) fn over_characters(regex: &Regex, fuel: &mut usize) -> Result<Vec<State>, Failure> {
    let bytes = Bytes::new(regex, fuel)?;
    let mut reader = Reader {
        bytes: &bytes,
        rests: IdMap::default(),
        fuel,
    };
    let mut order: IdIndexSet<usize> = IdIndexSet::default();
    order.insert(0);
    let mut states = Vec::new();
    while let Some(&state) = order.get_index(states.len()) {
        let mut steps = reader.characters(state)?;
        for step in &mut steps {
            step.2 = order.insert_full(step.2).0;
        }
        states.push(State {
            accepting: bytes.accepting[state],
            steps,
        });
    }
    Ok(states)
}

/// Whether it is certain that the language is empty: an intersection of what has nothing in common, for example.
///
/// It is never certain of an expression of more than [`LOOKED_AT`] nodes and bytes, or nested deeper than [`LOOKED_INTO`].
pub(crate) fn is_nothing(regex: &Regex, fuel: &mut usize) -> bool {
    let facts = Facts::of(regex);
    if *fuel == 0 || facts.weight > LOOKED_AT || facts.depth > LOOKED_INTO {
        return false;
    }
    if has_plain_word(regex, fuel) {
        return false;
    }
    let Ok(mut states) = States::new(regex, fuel) else {
        return false;
    };
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

/// How often loops are passed more often than they must be, in words that are tried.
const EXTRA: [u32; 3] = [0, 1, 8];
/// Words that are tried are no longer.
const WORD: usize = 256;

/// Whether a plain word of one part of an intersection is in all of it: most often one is.
fn has_plain_word(regex: &Regex, fuel: &mut usize) -> bool {
    let parts = match regex {
        Regex::And(parts) => &parts[..],
        other => std::slice::from_ref(other),
    };
    for extra in EXTRA {
        for part in parts.iter().filter(|part| !Facts::of(part).logical) {
            let mut word = Vec::new();
            if !plain_word(part, extra, &mut word) {
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
fn plain_word(regex: &Regex, extra: u32, word: &mut Vec<u8>) -> bool {
    match regex {
        Regex::Class(set) => {
            let byte = if set.contains(b'a') {
                Some(b'a')
            } else {
                (0..=u8::MAX).find(|&byte| set.contains(byte))
            };
            word.extend(byte);
            byte.is_some() && word.len() <= WORD
        }
        Regex::Literal(bytes) => {
            word.extend_from_slice(bytes);
            word.len() <= WORD
        }
        Regex::Concat(parts) => parts.iter().all(|part| plain_word(part, extra, word)),
        Regex::Alt(parts) => {
            let before = word.len();
            parts.iter().any(|part| {
                word.truncate(before);
                plain_word(part, extra, word)
            })
        }
        Regex::Repeat { inner, min, max } => {
            if max.is_some_and(|max| max < *min) {
                return false;
            }
            for _ in 0..min.saturating_add(extra).min(max.unwrap_or(u32::MAX)) {
                let before = word.len();
                if before >= WORD || !plain_word(inner, extra, word) {
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

/// Whether a word is in a language; false also without fuel.
fn accepts(regex: &Regex, word: &[u8], fuel: &mut usize) -> bool {
    let mut rest = regex.clone();
    for &byte in word {
        rest = derive(&rest, byte, fuel);
        if *fuel == 0 || rest == Regex::Nothing || is_large(&rest) {
            return false;
        }
    }
    rest.is_nullable()
}

/// Derivatives, in the order in which they are met.
struct States {
    known: SeededIndexSet<Regex>,
    class_of: [usize; 256],
    samples: Vec<u8>,
}

impl States {
    fn new(regex: &Regex, fuel: &mut usize) -> Result<Self, Failure> {
        let (class_of, samples) = classes(regex, fuel);
        let mut known: SeededIndexSet<Regex> = SeededIndexSet::default();
        known.insert(tidy(regex, fuel)?);
        Ok(Self {
            known,
            class_of,
            samples,
        })
    }

    /// Where each class of bytes leads from a state; None behind the last state.
    fn row(&mut self, state: usize, fuel: &mut usize) -> Result<Option<Vec<usize>>, Failure> {
        let Some(from) = self.known.get_index(state).cloned() else {
            return Ok(None);
        };
        let mut row = Vec::with_capacity(self.samples.len());
        for &byte in &self.samples {
            let derived = derive(&from, byte, fuel);
            if *fuel == 0 || is_large(&derived) {
                return Err(Failure::Large);
            }
            row.push(self.known.insert_full(derived).0);
        }
        Ok(Some(row))
    }
}

/// The automaton over bytes.
struct Bytes {
    /// By state and class of bytes.
    next: Vec<Vec<usize>>,
    accepting: Vec<bool>,
    /// From which some end is reached.
    live: Vec<bool>,
    class_of: [usize; 256],
}

impl Bytes {
    fn new(regex: &Regex, fuel: &mut usize) -> Result<Self, Failure> {
        let mut states = States::new(regex, fuel)?;
        let mut next = Vec::new();
        while let Some(row) = states.row(next.len(), fuel)? {
            next.push(row);
            if states.known.len() > STATES {
                return Err(Failure::Large);
            }
        }
        let States {
            known, class_of, ..
        } = states;
        let accepting: Vec<bool> = known.iter().map(Regex::is_nullable).collect();
        let mut live = accepting.clone();
        loop {
            let mut changed = false;
            for (state, row) in next.iter().enumerate() {
                if !live[state] && row.iter().any(|&to| live[to]) {
                    live[state] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        Ok(Self {
            next,
            accepting,
            live,
            class_of,
        })
    }

    /// Where a byte leads, if that is anywhere.
    fn step(&self, state: usize, byte: u8) -> Option<usize> {
        let to = self.next[state][self.class_of[usize::from(byte)]];
        self.live[to].then_some(to)
    }
}

/// Bytes that no part of the expression tells apart, as a class for each byte and a byte of each class.
fn classes(regex: &Regex, fuel: &mut usize) -> ([usize; 256], Vec<u8>) {
    let mut sets: SeededSet<ByteSet> = SeededSet::default();
    let mut work = vec![regex];
    while let Some(node) = work.pop() {
        match node {
            Regex::Nothing => {}
            Regex::Class(set) => {
                sets.insert(*set);
            }
            Regex::Literal(bytes) => sets.extend(bytes.iter().map(|&byte| ByteSet::byte(byte))),
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => work.extend(&**parts),
            Regex::Not(inner) | Regex::Repeat { inner, .. } => work.push(inner),
        }
    }
    *fuel = fuel.saturating_sub(sets.len() * CLASS);
    let mut class_of = [0; 256];
    let mut samples = vec![0];
    for set in sets {
        // Each class is split into what is in the set and what is not.
        let mut split = [[usize::MAX; 2]; 256];
        samples.clear();
        for byte in 0..=u8::MAX {
            let class = &mut class_of[usize::from(byte)];
            let part = &mut split[*class][usize::from(set.contains(byte))];
            if *part == usize::MAX {
                *part = samples.len();
                samples.push(byte);
            }
            *class = *part;
        }
    }
    (class_of, samples)
}

fn is_large(regex: &Regex) -> bool {
    Facts::of(regex).weight > NODES
}

/// The same language in the form that [`derive`] keeps.
fn tidy(regex: &Regex, fuel: &mut usize) -> Result<Regex, Failure> {
    if is_large(regex) {
        return Err(Failure::Large);
    }
    *fuel = fuel.saturating_sub(Facts::of(regex).weight as usize);
    Ok(tidied(regex))
}

fn tidied(regex: &Regex) -> Regex {
    match regex {
        Regex::Concat(parts) => concat(parts.iter().map(tidied)),
        Regex::Alt(parts) => join(parts.iter().map(tidied), false),
        Regex::And(parts) => join(parts.iter().map(tidied), true),
        Regex::Not(inner) => not(tidied(inner)),
        Regex::Repeat { inner, min, max } => repeat(&Arc::new(tidied(inner)), *min, *max),
        Regex::Class(set) if set.is_empty() => Regex::Nothing,
        leaf => leaf.clone(),
    }
}

fn is_empty(regex: &Regex) -> bool {
    matches!(regex, Regex::Literal(bytes) if bytes.is_empty())
}

fn is_everything(regex: &Regex) -> bool {
    matches!(regex, Regex::Not(inner) if **inner == Regex::Nothing)
}

fn concat(parts: impl IntoIterator<Item = Regex>) -> Regex {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Regex::Nothing => return Regex::Nothing,
            Regex::Concat(inner) => flat.extend(inner.iter().cloned()),
            part if is_empty(&part) => {}
            part => flat.push(part),
        }
    }
    if flat.is_empty() {
        Regex::empty()
    } else {
        Regex::concat(flat)
    }
}

/// Alternatives, or an intersection, in one order whatever the order of the parts.
fn join(parts: impl IntoIterator<Item = Regex>, and: bool) -> Regex {
    let mut flat: SeededSet<Regex> = SeededSet::default();
    for part in parts {
        let (neutral, absorbing) = if and {
            (is_everything(&part), part == Regex::Nothing)
        } else {
            (part == Regex::Nothing, is_everything(&part))
        };
        match part {
            part if absorbing => return part,
            _ if neutral => {}
            Regex::And(inner) if and => flat.extend(inner.iter().cloned()),
            Regex::Alt(inner) if !and => flat.extend(inner.iter().cloned()),
            part => {
                flat.insert(part);
            }
        }
    }
    let mut parts: Vec<Regex> = flat.into_iter().collect();
    parts.sort_by_cached_key(hash_of);
    match (parts.len(), and) {
        (0, true) => not(Regex::Nothing),
        (0, false) => Regex::Nothing,
        (1, _) => parts.remove(0),
        (_, true) => Regex::And(parts.into()),
        (_, false) => Regex::Alt(parts.into()),
    }
}

fn not(regex: Regex) -> Regex {
    match regex {
        Regex::Not(inner) => (*inner).clone(),
        regex => Regex::Not(regex.into()),
    }
}

fn repeat(inner: &Arc<Regex>, min: u32, max: Option<u32>) -> Regex {
    match max {
        Some(max) if max < min => Regex::Nothing,
        Some(0) => Regex::empty(),
        Some(1) if min == 1 => (**inner).clone(),
        max => Regex::Repeat {
            inner: Arc::clone(inner),
            min,
            max,
        },
    }
}

/// What may follow a byte. Without fuel it is something else.
fn derive(regex: &Regex, byte: u8, fuel: &mut usize) -> Regex {
    if *fuel == 0 {
        return Regex::Nothing;
    }
    *fuel -= 1;
    match regex {
        Regex::Class(set) if set.contains(byte) => Regex::empty(),
        Regex::Nothing | Regex::Class(_) | Regex::Repeat { max: Some(0), .. } => Regex::Nothing,
        Regex::Literal(bytes) => match &**bytes {
            [first, rest @ ..] if *first == byte => {
                *fuel = fuel.saturating_sub(rest.len() / 16);
                Regex::literal(rest)
            }
            _ => Regex::Nothing,
        },
        Regex::Concat(parts) => {
            let mut found = Vec::new();
            for (at, part) in parts.iter().enumerate() {
                let first = derive(part, byte, fuel);
                if first != Regex::Nothing {
                    let rest = &parts[at + 1..];
                    *fuel = fuel.saturating_sub(rest.len());
                    found.push(concat(std::iter::once(first).chain(rest.iter().cloned())));
                }
                if *fuel == 0 || !part.is_nullable() {
                    break;
                }
            }
            any(found)
        }
        Regex::Alt(parts) => {
            let parts = parts.iter().map(|part| derive(part, byte, fuel));
            any(parts.filter(|part| *part != Regex::Nothing).collect())
        }
        Regex::And(parts) => join(parts.iter().map(|part| derive(part, byte, fuel)), true),
        Regex::Not(inner) => not(derive(inner, byte, fuel)),
        Regex::Repeat { inner, min, max } => {
            let once = derive(inner, byte, fuel);
            if once == Regex::Nothing {
                return once;
            }
            let rest = repeat(inner, min.saturating_sub(1), max.map(|max| max - 1));
            concat([once, rest])
        }
    }
}

/// Any of these; most often there are none, or one.
fn any(mut parts: Vec<Regex>) -> Regex {
    match parts.len() {
        0 => Regex::Nothing,
        1 => parts.remove(0),
        _ => join(parts, false),
    }
}

/// Reads characters off the automaton over bytes.
struct Reader<'b> {
    bytes: &'b Bytes,
    /// By state and number of bytes that are still to come: the characters, as offsets from the first of them.
    rests: IdMap<(usize, u32), Steps>,
    fuel: &'b mut usize,
}

impl Reader<'_> {
    fn characters(&mut self, state: usize) -> Result<Steps, Failure> {
        let mut steps = Steps::new();
        for lead in 0..=u8::MAX {
            let Some(to) = self.bytes.step(state, lead) else {
                continue;
            };
            let (more, bits, shortest) = match lead {
                0x00..=0x7F => (0, lead, 0),
                0xC2..=0xDF => (1, lead & 0x1F, 0x80),
                0xE0..=0xEF => (2, lead & 0x0F, 0x800),
                0xF0..=0xF4 => (3, lead & 0x07, 0x1_0000),
                _ => return Err(Failure::Bytes),
            };
            let base = u32::from(bits) << (6 * more);
            for (first, last, to) in self.rest(to, more)? {
                let (first, last) = (base + first, base + last);
                let surrogate = first <= 0xDFFF && last >= 0xD800;
                if first < shortest || surrogate || last > 0x0010_FFFF {
                    return Err(Failure::Bytes);
                }
                push(&mut steps, (first, last, to));
            }
        }
        Ok(steps)
    }

    fn rest(&mut self, state: usize, more: u32) -> Result<Steps, Failure> {
        if more == 0 {
            return Ok(vec![(0, 0, state)]);
        }
        let known = self.rests.get(&(state, more)).map_or(256, Vec::len);
        *self.fuel = self.fuel.saturating_sub(known / 4);
        if *self.fuel == 0 {
            return Err(Failure::Large);
        }
        if let Some(known) = self.rests.get(&(state, more)) {
            return Ok(known.clone());
        }
        let other = (0..=u8::MAX).filter(|byte| !(0x80..=0xBF).contains(byte));
        let stray = other
            .into_iter()
            .any(|byte| self.bytes.step(state, byte).is_some());
        if self.bytes.accepting[state] || stray {
            return Err(Failure::Bytes);
        }
        let mut steps = Steps::new();
        for low in 0..64u8 {
            if let Some(to) = self.bytes.step(state, 0x80 | low) {
                let base = u32::from(low) << (6 * (more - 1));
                for (first, last, to) in self.rest(to, more - 1)? {
                    push(&mut steps, (base + first, base + last, to));
                }
            }
        }
        self.rests.insert((state, more), steps.clone());
        Ok(steps)
    }
}

/// Adds a range behind all others, joined with the last where it goes on.
fn push(steps: &mut Steps, step: (u32, u32, usize)) {
    match steps.last_mut() {
        Some((_, last, to)) if *last + 1 == step.0 && *to == step.2 => *last = step.1,
        _ => steps.push(step),
    }
}
