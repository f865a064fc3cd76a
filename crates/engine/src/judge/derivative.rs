//! Derivatives of regular expressions as their definition has them (Brzozowski 1964): bounds of repetitions are numbers,
//! and whether a word is left is searched for.

use std::collections::VecDeque;

use syntagma_grammar::ir::{ByteSet, Regex};

use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededIndexSet, SeededMap, SeededSet};

/// An interned expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ExprId(u32);

impl ExprId {
    const NOTHING: Self = Self(0);
    const EMPTY: Self = Self(1);
}

/// No part of one is [`ExprId::NOTHING`]; alternatives and intersections are flat, sorted and without repetitions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Expr {
    Nothing,
    Empty,
    Class(ByteSet),
    Concat(ExprId, ExprId),
    Alt(Box<[ExprId]>),
    And(Box<[ExprId]>),
    Not(ExprId),
    Repeat(ExprId, u32, Option<u32>),
}

/// What is known of an expression from its form.
#[derive(Debug, Clone, Copy)]
struct Facts {
    nullable: bool,
    /// Whether there is no intersection or complement in it: then it has a word unless it is [`Expr::Nothing`].
    plain: bool,
}

/// The expressions of one grammar, and their derivatives as far as they were asked for.
#[derive(Debug)]
pub(super) struct Expressions {
    exprs: SeededIndexSet<Expr>,
    facts: Vec<Facts>,
    /// By byte, a byte that no expression of the grammar tells from it.
    same: [u8; 256],
    /// The values of `same`.
    bytes: Vec<u8>,
    derivatives: IdMap<(ExprId, u8), ExprId>,
    /// Whether there is a word of one byte or more; for expressions that are not plain.
    longer: IdMap<ExprId, bool>,
}

impl Expressions {
    /// The regular languages of a grammar as expressions, in their order.
    pub(super) fn new<'a>(regexes: impl Iterator<Item = &'a Regex> + Clone) -> (Self, Vec<ExprId>) {
        let same = same_bytes(regexes.clone());
        let mut bytes = same.to_vec();
        bytes.sort_unstable();
        bytes.dedup();
        let mut all = Self {
            exprs: SeededIndexSet::default(),
            facts: Vec::new(),
            same,
            bytes,
            derivatives: IdMap::default(),
            longer: IdMap::default(),
        };
        all.intern(Expr::Nothing);
        all.intern(Expr::Empty);
        let mut built = SeededMap::default();
        let roots = regexes
            .map(|regex| all.of_regex(regex, &mut built))
            .collect();
        (all, roots)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.exprs.len()
    }

    /// Whether the empty string is in it.
    pub(super) fn is_nullable(&self, id: ExprId) -> bool {
        self.facts[id.0 as usize].nullable
    }

    /// What is left of it after a byte.
    pub(super) fn derivative(
        &mut self,
        root: ExprId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let byte = self.same[usize::from(byte)];
        if let Some(&known) = self.derivatives.get(&(root, byte)) {
            return Ok(known);
        }
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.derivatives.contains_key(&(id, byte)) {
                work.pop();
                continue;
            }
            let before = work.len();
            let parts = self.derived_parts(id);
            fuel.spend(1 + parts.len())?;
            let unknown = parts
                .iter()
                .filter(|&&part| !self.derivatives.contains_key(&(part, byte)));
            work.extend(unknown);
            if work.len() == before {
                let parts = parts
                    .iter()
                    .map(|&part| self.derivatives[&(part, byte)])
                    .collect();
                let derivative = self.of_parts(id, byte, parts);
                self.derivatives.insert((id, byte), derivative);
                work.pop();
            }
        }
        Ok(self.derivatives[&(root, byte)])
    }

    /// Whether a word of one byte or more is in it.
    pub(super) fn has_longer_word(&mut self, root: ExprId, fuel: &mut Fuel) -> Result<bool, Error> {
        if let Some(known) = self.known_longer(root) {
            return Ok(known);
        }
        // Breadth first; `from` has where each was reached from.
        let mut from: IdMap<ExprId, ExprId> = IdMap::from_iter([(root, root)]);
        let mut queue = VecDeque::from([root]);
        while let Some(id) = queue.pop_front() {
            for index in 0..self.bytes.len() {
                let rest = self.derivative(id, self.bytes[index], fuel)?;
                if rest == ExprId::NOTHING {
                    continue;
                }
                if self.is_nullable(rest) || self.known_longer(rest) == Some(true) {
                    let mut at = id;
                    while self.longer.insert(at, true).is_none() && at != root {
                        at = from[&at];
                    }
                    return Ok(true);
                }
                if self.known_longer(rest).is_none() && !from.contains_key(&rest) {
                    from.insert(rest, id);
                    queue.push_back(rest);
                }
            }
        }
        self.longer.extend(from.into_keys().map(|id| (id, false)));
        Ok(false)
    }

    fn known_longer(&self, id: ExprId) -> Option<bool> {
        if self.facts[id.0 as usize].plain {
            return Some(id != ExprId::NOTHING && id != ExprId::EMPTY);
        }
        self.longer.get(&id).copied()
    }

    /// The expressions whose derivatives make up that of this one.
    fn derived_parts(&self, id: ExprId) -> Vec<ExprId> {
        match &self.exprs[id.0 as usize] {
            Expr::Nothing | Expr::Empty | Expr::Class(_) => Vec::new(),
            &Expr::Concat(head, tail) if self.is_nullable(head) => vec![head, tail],
            &Expr::Concat(part, _) | &Expr::Not(part) | &Expr::Repeat(part, ..) => vec![part],
            Expr::Alt(parts) | Expr::And(parts) => parts.to_vec(),
        }
    }

    /// The derivative, from those of [`Self::derived_parts`].
    fn of_parts(&mut self, id: ExprId, byte: u8, parts: Vec<ExprId>) -> ExprId {
        match self.exprs[id.0 as usize].clone() {
            Expr::Class(set) if set.contains(byte) => ExprId::EMPTY,
            Expr::Nothing | Expr::Empty | Expr::Class(_) => ExprId::NOTHING,
            Expr::Concat(_, tail) => {
                let first = self.concat(parts[0], tail);
                let second = parts.get(1).copied().unwrap_or(ExprId::NOTHING);
                self.alt(vec![first, second])
            }
            Expr::Alt(_) => self.alt(parts),
            Expr::And(_) => self.and(parts),
            Expr::Not(_) => self.not(parts[0]),
            Expr::Repeat(inner, min, max) => {
                // What may be empty may be left out as often as one likes.
                let min = if self.is_nullable(inner) {
                    0
                } else {
                    min.saturating_sub(1)
                };
                let rest = self.repeat(inner, min, max.map(|max| max - 1));
                self.concat(parts[0], rest)
            }
        }
    }

    fn intern(&mut self, expr: Expr) -> ExprId {
        let (at, new) = self.exprs.insert_full(expr);
        if new {
            let of = |id: ExprId| self.facts[id.0 as usize];
            let (nullable, plain) = match &self.exprs[at] {
                Expr::Nothing | Expr::Class(_) => (false, true),
                Expr::Empty => (true, true),
                &Expr::Concat(head, tail) => {
                    let (head, tail) = (of(head), of(tail));
                    (head.nullable && tail.nullable, head.plain && tail.plain)
                }
                Expr::Alt(parts) => (
                    parts.iter().any(|&part| of(part).nullable),
                    parts.iter().all(|&part| of(part).plain),
                ),
                Expr::And(parts) => (parts.iter().all(|&part| of(part).nullable), false),
                &Expr::Not(inner) => (!of(inner).nullable, false),
                &Expr::Repeat(inner, min, _) => (min == 0 || of(inner).nullable, of(inner).plain),
            };
            self.facts.push(Facts { nullable, plain });
        }
        ExprId(at as u32)
    }

    fn class(&mut self, set: ByteSet) -> ExprId {
        if set.is_empty() {
            ExprId::NOTHING
        } else {
            self.intern(Expr::Class(set))
        }
    }

    fn concat(&mut self, head: ExprId, tail: ExprId) -> ExprId {
        match (head, tail) {
            (ExprId::NOTHING, _) | (_, ExprId::NOTHING) => ExprId::NOTHING,
            (ExprId::EMPTY, other) | (other, ExprId::EMPTY) => other,
            _ => self.intern(Expr::Concat(head, tail)),
        }
    }

    fn alt(&mut self, parts: Vec<ExprId>) -> ExprId {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.exprs[part.0 as usize] {
                Expr::Nothing => {}
                Expr::Alt(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [] => ExprId::NOTHING,
            [one] => one,
            _ => self.intern(Expr::Alt(flat.into())),
        }
    }

    fn and(&mut self, parts: Vec<ExprId>) -> ExprId {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.exprs[part.0 as usize] {
                Expr::Nothing => return ExprId::NOTHING,
                Expr::And(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [one] => one,
            _ => self.intern(Expr::And(flat.into())),
        }
    }

    fn not(&mut self, inner: ExprId) -> ExprId {
        match self.exprs[inner.0 as usize] {
            Expr::Not(other) => other,
            _ => self.intern(Expr::Not(inner)),
        }
    }

    fn repeat(&mut self, inner: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max.is_some_and(|max| max < min) {
            return ExprId::NOTHING;
        }
        match inner {
            _ if max == Some(0) => ExprId::EMPTY,
            ExprId::NOTHING if min > 0 => ExprId::NOTHING,
            ExprId::NOTHING | ExprId::EMPTY => ExprId::EMPTY,
            _ => self.intern(Expr::Repeat(inner, min, max)),
        }
    }

    /// The expression of a regular language; nothing recurses, and parts that are shared are built once.
    fn of_regex(&mut self, root: &Regex, built: &mut SeededMap<Regex, ExprId>) -> ExprId {
        let mut work = vec![(root, false)];
        let mut values = Vec::new();
        while let Some((regex, visited)) = work.pop() {
            if let Some(&known) = built.get(regex) {
                values.push(known);
                continue;
            }
            let children: &[Regex] = match regex {
                Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => &[],
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
                Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
            };
            if !visited && !children.is_empty() {
                work.push((regex, true));
                work.extend(children.iter().rev().map(|child| (child, false)));
                continue;
            }
            let parts = values.split_off(values.len() - children.len());
            let value = match regex {
                Regex::Nothing => ExprId::NOTHING,
                Regex::Class(set) => self.class(*set),
                Regex::Literal(bytes) => bytes.iter().rev().fold(ExprId::EMPTY, |tail, &byte| {
                    let head = self.class(ByteSet::byte(byte));
                    self.concat(head, tail)
                }),
                Regex::Concat(_) => {
                    let parts = parts.into_iter().rev();
                    parts.fold(ExprId::EMPTY, |tail, head| self.concat(head, tail))
                }
                Regex::Alt(_) => self.alt(parts),
                // An intersection of nothing is everything.
                Regex::And(_) if parts.is_empty() => self.not(ExprId::NOTHING),
                Regex::And(_) => self.and(parts),
                Regex::Not(_) => self.not(parts[0]),
                Regex::Repeat { min, max, .. } => self.repeat(parts[0], *min, *max),
            };
            built.insert(regex.clone(), value);
            values.push(value);
        }
        values.pop().unwrap_or(ExprId::NOTHING)
    }
}

/// By byte, the first byte that is in the same sets of the regular languages.
fn same_bytes<'a>(regexes: impl Iterator<Item = &'a Regex>) -> [u8; 256] {
    let mut sets: SeededSet<ByteSet> = SeededSet::default();
    let mut seen: SeededSet<&Regex> = SeededSet::default();
    let mut work: Vec<&Regex> = regexes.collect();
    while let Some(regex) = work.pop() {
        if !seen.insert(regex) {
            continue;
        }
        match regex {
            Regex::Nothing => {}
            Regex::Class(set) => drop(sets.insert(*set)),
            Regex::Literal(bytes) => sets.extend(bytes.iter().map(|&byte| ByteSet::byte(byte))),
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                work.extend(parts.iter());
            }
            Regex::Not(inner) | Regex::Repeat { inner, .. } => work.push(inner),
        }
    }
    let mut same = [0; 256];
    for set in sets {
        let mut first: IdMap<(u8, bool), u8> = IdMap::default();
        for byte in 0..=u8::MAX {
            let of = &mut same[usize::from(byte)];
            *of = *first.entry((*of, set.contains(byte))).or_insert(byte);
        }
    }
    same
}
