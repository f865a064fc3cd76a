//! The deterministic automaton of a regular language, over bytes and then over characters.
//!
//! It is made for notations that have neither intersection nor complement nor bytes: `print` writes a state as a rule. States
//! are derivatives ([`super::derive`]), made breadth first (Owens, Reppy and Turon, Regular-expression derivatives
//! re-examined, 2009, section 3); characters are read off paths of UTF-8 (RFC 3629) from one state to another.

use super::derive::{byte_classes, derive, is_large, normalized};
use super::regex::{Facts, Regex};
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap, SeededIndexSet};
use crate::tuning::{MAX_STATES, PATHS_PER_UNIT};

/// Ranges of characters with the state that each leads to, ascending and disjoint.
pub(crate) type Steps = Vec<(u32, u32, usize)>;

/// A state between two characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CharacterState {
    /// Whether the text may end here.
    pub(crate) accepting: bool,
    /// Where each character leads; none that leads nowhere.
    pub(crate) steps: Steps,
}

/// Why there is no automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It would be too large.
    TooLarge,
    /// The language holds byte strings that are no UTF-8.
    NotUtf8,
}

/// The automaton of a language; the first state is the start, and every state leads to acceptance unless it is the start.
///
/// `fuel` pays for every node that is visited or made; without it the language counts as too large.
pub(crate) fn over_characters(
    regex: &Regex,
    fuel: &mut Fuel,
) -> Result<Vec<CharacterState>, Failure> {
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
        debug_assert!(
            steps.is_sorted_by(|left, right| left.1 < right.0),
            "ranges are ascending and disjoint"
        );
        states.push(CharacterState {
            accepting: bytes.accepting[state],
            steps,
        });
    }
    Ok(states)
}

/// Derivatives, numbered in the order in which they are found.
pub(super) struct States {
    pub(super) known: SeededIndexSet<Regex>,
    class_of: [usize; 256],
    samples: Vec<u8>,
}

impl States {
    /// The start: a language in normal form.
    pub(super) fn new(normal: Regex, fuel: &mut Fuel) -> Self {
        let (class_of, samples) = byte_classes(&normal, fuel);
        let mut known: SeededIndexSet<Regex> = SeededIndexSet::default();
        known.insert(normal);
        Self {
            known,
            class_of,
            samples,
        }
    }

    /// Where each class of bytes leads from a state; None after the last state.
    pub(super) fn row(
        &mut self,
        state: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<usize>>, Failure> {
        let Some(from) = self.known.get_index(state).cloned() else {
            return Ok(None);
        };
        let mut row = Vec::with_capacity(self.samples.len());
        for &byte in &self.samples {
            let derived = derive(&from, byte, fuel);
            if fuel.is_spent() || is_large(&derived) {
                return Err(Failure::TooLarge);
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
    fn new(regex: &Regex, fuel: &mut Fuel) -> Result<Self, Failure> {
        let mut states = States::new(normal_form(regex, fuel)?, fuel);
        let mut next = Vec::new();
        while let Some(row) = states.row(next.len(), fuel)? {
            next.push(row);
            if states.known.len() > MAX_STATES {
                return Err(Failure::TooLarge);
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

/// The same language in the normal form of derivatives.
pub(super) fn normal_form(regex: &Regex, fuel: &mut Fuel) -> Result<Regex, Failure> {
    if is_large(regex) {
        return Err(Failure::TooLarge);
    }
    fuel.take(Facts::of(regex).weight as usize);
    Ok(normalized(regex))
}

/// Reads characters off the automaton over bytes.
struct Reader<'b> {
    bytes: &'b Bytes,
    /// By state and number of bytes that are still to come: the characters, as offsets from the first of them.
    rests: IdMap<(usize, u32), Steps>,
    fuel: &'b mut Fuel,
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
                _ => return Err(Failure::NotUtf8),
            };
            let base = u32::from(bits) << (6 * more);
            for (first, last, to) in self.rest(to, more)? {
                let (first, last) = (base + first, base + last);
                let surrogate = first <= 0xDFFF && last >= 0xD800;
                if first < shortest || surrogate || last > 0x0010_FFFF {
                    return Err(Failure::NotUtf8);
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
        self.fuel.take(known / PATHS_PER_UNIT);
        if self.fuel.is_spent() {
            return Err(Failure::TooLarge);
        }
        if let Some(known) = self.rests.get(&(state, more)) {
            return Ok(known.clone());
        }
        let other = (0..=u8::MAX).filter(|byte| !(0x80..=0xBF).contains(byte));
        let stray = other
            .into_iter()
            .any(|byte| self.bytes.step(state, byte).is_some());
        if self.bytes.accepting[state] || stray {
            return Err(Failure::NotUtf8);
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

/// Adds a range after all others, joined with the last one where the two meet.
fn push(steps: &mut Steps, step: (u32, u32, usize)) {
    match steps.last_mut() {
        Some((_, last, to)) if *last + 1 == step.0 && *to == step.2 => *last = step.1,
        _ => steps.push(step),
    }
}
