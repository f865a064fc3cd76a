//! A wider language for a pattern that is none: of what is not regular or cannot be held, an assertion becomes nothing, a
//! back-reference the group that it refers to, and a count that is too large `*` or `+`. All of them stand in positive
//! places, so that every text of the pattern is in the language; what is inside of look-around goes with all of it.

use std::collections::{BTreeMap, BTreeSet};

use regex_syntax::hir::{self, Dot, Hir, HirKind};

use super::alphabet::Alphabet;
use super::branch::Unsupported;
use super::cost::Counts;
use super::look_around::{Kind, Mark, Names, opening};
use super::lower::{Failure, Lowering};
use super::patterns::Patterns;
use super::{Dialect, Source, check_size};
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::{Fuel, Limits};
use crate::tuning::MAX_LEFT_OUT;

/// A language with every text of a pattern, and others.
#[derive(Debug, Clone)]
pub(crate) struct Widened {
    pub(crate) regex: Regex,
    /// What is left out of the pattern, and why.
    pub(crate) left_out: Vec<String>,
}

/// A wider language for a pattern that [`super::within`] refuses; None where it would say nothing of the pattern.
///
/// # Errors
/// `E-LIMIT-FUEL` where it takes too much work, as [`super::within`] otherwise.
pub(crate) fn widened(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    (alphabet, around): (&mut dyn Alphabet, &Regex),
    patterns: &mut Patterns,
) -> Result<Option<Widened>, Error> {
    check_size(pattern, limits)?;
    let names = Names::new(pattern);
    let source = Source::new(pattern, dialect, &names, true)?;
    let mut counts = Counts {
        names: &names,
        found: Vec::new(),
    };
    let (hir, ..) = source.hir(limits, &mut patterns.fuel, Some(&mut counts))?;
    let places = Places::of(&hir, &names);
    let mut told: BTreeMap<usize, String> = BTreeMap::new();
    let mut dropped: BTreeSet<usize> = BTreeSet::new();
    for large in counts.found {
        let what = large.error.message();
        let at = source.given_offset(large.offset);
        match large.look {
            Some(look) if dropped.insert(look) => told.insert(look, left_out(pattern, look, what)),
            Some(_) => None,
            None => told.insert(at, format!("{} has no count: {what}", column(pattern, at))),
        };
    }
    for (&offset, reference) in &places.references {
        let what = "back-references are not regular";
        match reference.look {
            Some(look) if dropped.insert(look) => told.insert(look, left_out(pattern, look, what)),
            Some(_) => None,
            None => {
                let place = column(pattern, offset);
                told.insert(offset, format!("{place} is any text of its group: {what}"))
            }
        };
    }
    for _ in 0..MAX_LEFT_OUT {
        let mut rewriting = Rewriting {
            names: &names,
            places: &places,
            dropped: &dropped,
            fuel: &mut patterns.fuel,
        };
        let wider = rewriting.node(&hir, false)?;
        let mut lowering = Lowering::new(limits, alphabet, patterns)?;
        let lowered = lowering.lower(&wider, &|name| names.read(name));
        let Unsupported(what, offset) =
            match lowered.and_then(|branches| lowering.finish(branches, around)) {
                Ok(regex) => {
                    let left_out = told.into_values().collect();
                    return Ok(Some(Widened { regex, left_out }));
                }
                Err(Failure::Limit(_)) => return Ok(None),
                Err(Failure::Unsupported(unsupported)) => unsupported,
            };
        let owner = offset.and_then(|offset| places.owners.get(&offset).copied());
        match owner.filter(|&owner| dropped.insert(owner)) {
            Some(owner) => told.insert(owner, left_out(pattern, owner, what)),
            None => return Ok(None),
        };
    }
    Ok(None)
}

fn left_out(pattern: &str, offset: usize, why: &str) -> String {
    format!("{} is left out: {why}", column(pattern, offset))
}

/// A construct, and where it stands.
fn column(pattern: &str, offset: usize) -> String {
    let (before, rest) = pattern.split_at(offset.min(pattern.len()));
    let until = |end: char| rest.find(end).map_or(rest.len(), |at| at + end.len_utf8());
    let construct = match opening(rest) {
        Some((_, length)) => format!("{}…)", &rest[..length]),
        None if rest.starts_with('(') => rest[..until(')')].to_owned(),
        None if rest.starts_with('{') => rest[..until('}')].to_owned(),
        None if rest.starts_with("\\k") => rest[..until('>')].to_owned(),
        None if rest.starts_with('\\') => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit());
            let digits = digits.unwrap_or(rest.len() - 1);
            rest.chars().take(1 + digits.max(1)).collect()
        }
        None => rest.chars().take(1).collect(),
    };
    format!("{construct} at column {}", before.chars().count() + 1)
}

/// The marked places of a pattern.
#[derive(Default)]
struct Places<'h> {
    /// For each assertion, the outermost that it is in, itself perhaps, by their offsets.
    owners: BTreeMap<usize, usize>,
    /// Groups that capture, by number.
    groups: BTreeMap<usize, (&'h Hir, Vec<usize>)>,
    /// Back-references, by offset.
    references: BTreeMap<usize, Reference>,
    /// Parts that a match may go without, numbered as they are found.
    optional: usize,
}

/// A back-reference.
struct Reference {
    /// The parts that it stands in and that a match may go without.
    path: Vec<usize>,
    /// The outermost look-around that it stands in.
    look: Option<usize>,
}

impl<'h> Places<'h> {
    fn of(hir: &'h Hir, names: &Names) -> Self {
        let mut places = Self::default();
        places.walk(hir, names, &mut Vec::new(), None);
        places
    }

    /// Recursion follows the nesting, which the reader bounds.
    fn walk(&mut self, hir: &'h Hir, names: &Names, path: &mut Vec<usize>, look: Option<usize>) {
        let mut optional = |places: &mut Self, part: &'h Hir, look| {
            path.push(places.optional);
            places.optional += 1;
            places.walk(part, names, path, look);
            path.pop();
        };
        match hir.kind() {
            HirKind::Concat(parts) => {
                for part in parts {
                    self.walk(part, names, path, look);
                }
            }
            HirKind::Alternation(parts) => {
                for part in parts {
                    optional(self, part, look);
                }
            }
            HirKind::Repetition(repetition) => optional(self, &repetition.sub, look),
            HirKind::Capture(capture) => {
                let Some(Mark { kind, offset }) = mark_of(capture, names) else {
                    return self.walk(&capture.sub, names, path, look);
                };
                let outermost = look.unwrap_or(offset);
                match kind {
                    Kind::Edge => {
                        self.owners.insert(offset, outermost);
                    }
                    Kind::Look(..) => {
                        self.owners.insert(offset, outermost);
                        optional(self, &capture.sub, Some(outermost));
                    }
                    Kind::Group(number) => {
                        self.groups.insert(number, (&capture.sub, path.clone()));
                        self.walk(&capture.sub, names, path, look);
                    }
                    Kind::Reference(_) => {
                        let path = path.clone();
                        self.references.insert(offset, Reference { path, look });
                    }
                }
            }
            _ => {}
        }
    }
}

fn mark_of(capture: &hir::Capture, names: &Names) -> Option<Mark> {
    names.read(capture.name.as_deref()?)
}

/// The pattern without what is left out of it.
struct Rewriting<'a, 'h> {
    names: &'a Names,
    places: &'a Places<'h>,
    /// The assertions that are left out, by offset.
    dropped: &'a BTreeSet<usize>,
    fuel: &'a mut Fuel,
}

impl Rewriting<'_, '_> {
    /// A part of the pattern; `again`: as what refers to it may read, where assertions need not hold.
    fn node(&mut self, hir: &Hir, again: bool) -> Result<Hir, Error> {
        self.fuel.spend(1)?;
        let mut all = |parts: &[Hir]| -> Result<Vec<Hir>, Error> {
            parts.iter().map(|part| self.node(part, again)).collect()
        };
        Ok(match hir.kind() {
            HirKind::Concat(parts) => Hir::concat(all(parts)?),
            HirKind::Alternation(parts) => Hir::alternation(all(parts)?),
            HirKind::Repetition(repetition) => Hir::repetition(hir::Repetition {
                sub: Box::new(self.node(&repetition.sub, again)?),
                ..repetition.clone()
            }),
            HirKind::Capture(capture) => return self.capture(capture, again),
            HirKind::Look(_) if again => Hir::empty(),
            _ => hir.clone(),
        })
    }

    fn capture(&mut self, capture: &hir::Capture, again: bool) -> Result<Hir, Error> {
        let mark = mark_of(capture, self.names);
        match mark.map(|mark| (mark.kind, mark.offset)) {
            Some((Kind::Edge | Kind::Look(..), offset)) => {
                if again || self.dropped.contains(&offset) {
                    return Ok(Hir::empty());
                }
            }
            Some((Kind::Reference(number), offset)) => {
                return self.reference(number, offset, again);
            }
            Some((Kind::Group(_), _)) | None => return self.node(&capture.sub, again),
        }
        Ok(Hir::capture(hir::Capture {
            sub: Box::new(self.node(&capture.sub, again)?),
            ..capture.clone()
        }))
    }

    /// What a back-reference may read: any text of its group, or nothing where the group need not have been passed.
    fn reference(&mut self, number: usize, offset: usize, again: bool) -> Result<Hir, Error> {
        if again {
            let any = Box::new(Hir::dot(Dot::AnyChar));
            return Ok(Hir::repetition(hir::Repetition {
                min: 0,
                max: None,
                greedy: true,
                sub: any,
            }));
        }
        let places = self.places;
        let Some((group, passed)) = places.groups.get(&number) else {
            return Ok(Hir::empty());
        };
        let group = self.node(group, true)?;
        let reference = places.references.get(&offset);
        let is_certain = reference.is_some_and(|reference| reference.path.starts_with(passed));
        Ok(if is_certain {
            group
        } else {
            Hir::alternation(vec![group, Hir::empty()])
        })
    }
}
