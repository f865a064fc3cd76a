//! Derivatives of regular languages (Brzozowski, Derivatives of regular expressions, 1964).
//!
//! The derivative of a language by a byte is what may follow that byte in it. Derivatives are kept in a normal form, in
//! which alternatives and intersections are equal up to order, nesting and repetition; so a language has finitely many.
//! [`super::automaton`] makes states of them, [`super::empty_regex`] looks for an accepting one, and [`Matcher`] follows one
//! text. The engine has derivatives of its own, which count and are shared by all grammars of a vocabulary.
//!
//! Recursion follows the nesting of an expression, which the front ends bound.

use std::sync::Arc;

use super::byte_set::ByteSet;
use super::regex::{Facts, Regex};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{SeededSet, hash_of};
use crate::tuning::{DERIVED_BYTES_PER_UNIT, MAX_DERIVATIVE_WEIGHT, UNITS_PER_BYTE_CLASS};

/// A language that texts are compared with, in normal form.
#[derive(Debug, Clone)]
pub(crate) struct Matcher(Regex);

impl Matcher {
    /// One for a language.
    pub(crate) fn new(regex: &Regex) -> Self {
        Self(normalized(regex))
    }

    /// Whether a text as a whole is in the language. `fuel` pays for every node of the derivatives.
    ///
    /// # Errors
    /// `E-LIMIT-FUEL`.
    pub(crate) fn matches(&self, text: &[u8], fuel: &mut Fuel) -> Result<bool, Error> {
        let mut rest = self.0.clone();
        for &byte in text {
            rest = derive(&rest, byte, fuel);
            // Without fuel a derivative is not the one that was asked for.
            if fuel.is_spent() || rest == Regex::Nothing {
                break;
            }
        }
        if fuel.is_spent() {
            fuel.spend(1)?;
        }
        Ok(rest.is_nullable())
    }
}

/// Bytes that no part of the expression tells apart, as a class for each byte and a byte of each class.
pub(super) fn byte_classes(regex: &Regex, fuel: &mut Fuel) -> ([usize; 256], Vec<u8>) {
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
    fuel.take(sets.len() * UNITS_PER_BYTE_CLASS);
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
    debug_assert!(
        (0..=u8::MAX).all(|byte| class_of[usize::from(byte)] < samples.len())
            && (samples.iter().enumerate()).all(|(class, &at)| class_of[usize::from(at)] == class),
        "every byte has a class, and every class its sample"
    );
    (class_of, samples)
}

/// Whether an expression is larger than any derivative may become.
pub(super) fn is_large(regex: &Regex) -> bool {
    Facts::of(regex).weight > MAX_DERIVATIVE_WEIGHT
}

/// The same language in normal form.
pub(super) fn normalized(regex: &Regex) -> Regex {
    match regex {
        Regex::Concat(parts) => concat(parts.iter().map(normalized)),
        Regex::Alt(parts) => join(parts.iter().map(normalized), false),
        Regex::And(parts) => join(parts.iter().map(normalized), true),
        Regex::Not(inner) => not(normalized(inner)),
        Regex::Repeat { inner, min, max } => repeat(&Arc::new(normalized(inner)), *min, *max),
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

/// A union or an intersection; its parts have one order in a process, whatever the order they come in.
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

/// Whether the outermost operator of an expression is one that a normal form has there.
fn is_normal(regex: &Regex) -> bool {
    match regex {
        Regex::Concat(parts) => {
            parts.len() > 1
                && !parts
                    .iter()
                    .any(|part| is_empty(part) || matches!(part, Regex::Nothing | Regex::Concat(_)))
        }
        Regex::Alt(parts) => {
            parts.len() > 1
                && !parts
                    .iter()
                    .any(|part| matches!(part, Regex::Nothing | Regex::Alt(_)))
        }
        Regex::And(parts) => {
            parts.len() > 1
                && !parts
                    .iter()
                    .any(|part| matches!(part, Regex::Nothing | Regex::And(_)))
        }
        Regex::Not(inner) => !matches!(**inner, Regex::Not(_)),
        Regex::Repeat { min, max, .. } => {
            *max != Some(0) && (*min, *max) != (1, Some(1)) && max.is_none_or(|max| *min <= max)
        }
        Regex::Class(set) => !set.is_empty(),
        Regex::Nothing | Regex::Literal(_) => true,
    }
}

/// What may follow a byte. Without fuel it is something else.
///
/// # Panics
/// With debug assertions, if the expression is not in normal form.
pub(super) fn derive(regex: &Regex, byte: u8, fuel: &mut Fuel) -> Regex {
    if fuel.is_spent() {
        return Regex::Nothing;
    }
    fuel.take(1);
    debug_assert!(is_normal(regex), "derivatives are taken of normal forms");
    match regex {
        Regex::Class(set) if set.contains(byte) => Regex::empty(),
        Regex::Nothing | Regex::Class(_) | Regex::Repeat { max: Some(0), .. } => Regex::Nothing,
        Regex::Literal(bytes) => match &**bytes {
            [first, rest @ ..] if *first == byte => {
                fuel.take(rest.len() / DERIVED_BYTES_PER_UNIT);
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
                    fuel.take(rest.len());
                    found.push(concat(std::iter::once(first).chain(rest.iter().cloned())));
                }
                if fuel.is_spent() || !part.is_nullable() {
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
