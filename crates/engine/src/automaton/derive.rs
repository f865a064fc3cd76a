//! Derivatives: what remains of an expression after one byte (Brzozowski 1964), and whether any word is left of it, by
//! a search for a shortest one. For lexer states and for scans of the vocabulary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::classes::ClassesId;
use super::derivatives::Task;
use super::expression::{Bounds, Consumed};
use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdSet;

impl Residuals {
    /// What remains after `byte`, with ε and ∅ recognised exactly.
    pub(crate) fn step(&mut self, id: ExprId, byte: u8, fuel: &mut Fuel) -> Result<ExprId, Error> {
        let rest = self.derivative(id, byte, fuel)?;
        self.trim(rest, fuel)
    }

    /// The same language: ∅ if it has no word, ε if it has no other word.
    pub(crate) fn trim(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<ExprId, Error> {
        let facts = self.arena.facts(id);
        if !facts.logical || facts.size.endless() {
            return Ok(id);
        }
        if let Some(trimmed) = facts.trimmed {
            return Ok(trimmed);
        }
        let nullable = facts.nullable;
        let has_counters = facts.consumed != Consumed::Nothing;
        let classes = self.classes_of(id);
        let mut trimmed = if nullable {
            ExprId::EMPTY
        } else {
            ExprId::NOTHING
        };
        for index in 0..self.derivatives.classes.count(classes) {
            let byte = self.derivatives.classes.representatives(classes)[index];
            let mut rest = self.derivative(id, byte, fuel)?;
            if has_counters {
                // Bounds that are kept beside an intersection do not decide whether it has a word.
                rest = self.with_bounds(rest, Bounds::NONE, fuel)?;
            }
            if self.is_inhabited(rest, fuel)? {
                trimmed = id;
                break;
            }
        }
        self.arena.facts_mut(id).trimmed = Some(trimmed);
        Ok(trimmed)
    }

    /// Whether there is any word in it, if that is known without a search.
    fn known_inhabited(&self, id: ExprId) -> Option<bool> {
        let facts = self.arena.facts(id);
        if facts.nullable || facts.size.endless() {
            Some(true)
        } else if facts.logical {
            facts.inhabited
        } else {
            Some(id != ExprId::NOTHING)
        }
    }

    /// Whether there is any word in it, if no search over its residuals is needed. Where it is as good as its first part,
    /// that part takes its place.
    fn decided(&mut self, id: &mut ExprId, fuel: &mut Fuel) -> Result<Option<bool>, Error> {
        if let Some(known) = self.decided_part(id, fuel)? {
            return Ok(Some(known));
        }
        let Node::Alt(parts) = self.arena.node(*id) else {
            return Ok(None);
        };
        let mut all = Some(false);
        for mut part in Arc::clone(parts).iter().copied() {
            match self.decided_part(&mut part, fuel)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => all = None,
            }
        }
        Ok(all)
    }

    fn decided_part(&mut self, id: &mut ExprId, fuel: &mut Fuel) -> Result<Option<bool>, Error> {
        loop {
            if let Some(known) = self.known_inhabited(*id) {
                return Ok(Some(known));
            }
            match self.split(*id) {
                (head, Some(tail)) if head != *id && self.known_inhabited(tail) == Some(true) => {
                    *id = head;
                }
                _ => break,
            }
        }
        let decided = self.has_word_by_length(*id, fuel)?;
        if decided.is_some() {
            self.arena.facts_mut(*id).inhabited = decided;
        }
        Ok(decided)
    }

    /// Whether there is any word in it: a search for a residual that has one, remembered for every residual on the way. What
    /// seems to end soonest comes first, and of that what was found last, behind large byte classes, since most complements
    /// are won there.
    pub(super) fn is_inhabited(
        &mut self,
        mut root: ExprId,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        if let Some(known) = self.decided(&mut root, fuel)? {
            return Ok(known);
        }
        // Every residual met, with the index of the one that it came from.
        let mut met: Vec<(ExprId, usize)> = vec![(root, 0)];
        let mut seen: IdSet<ExprId> = IdSet::from_iter([root]);
        let mut work = BinaryHeap::from([(Reverse(0), 0)]);
        let mut shortened = false;
        while let Some((_, at)) = work.pop() {
            let (id, _) = met[at];
            let classes = self.classes_of(id);
            for index in (0..self.derivatives.classes.count(classes)).rev() {
                let byte = self.derivatives.classes.representatives(classes)[index];
                let whole = self.derivative(id, byte, fuel)?;
                let mut rest = whole;
                match self.decided(&mut rest, fuel)? {
                    Some(true) => {
                        let (mut at, mut length) = (at, self.known_word(whole));
                        loop {
                            let (id, parent) = met[at];
                            self.arena.facts_mut(id).inhabited = Some(true);
                            length = length.and_then(|length| length.checked_add(1));
                            // Where a first part stands for all of it, the length of that says nothing.
                            match length {
                                Some(length) if !shortened => self.words.some.insert(id, length),
                                _ => None,
                            };
                            if at == 0 {
                                return Ok(true);
                            }
                            at = parent;
                        }
                    }
                    Some(false) => {}
                    None => {
                        shortened |= rest != whole;
                        if seen.insert(rest) {
                            work.push((Reverse(self.distance(rest)), met.len()));
                            met.push((rest, at));
                        }
                    }
                }
            }
        }
        for (id, _) in met {
            self.arena.facts_mut(id).inhabited = Some(false);
        }
        Ok(false)
    }

    /// How far the end of a word seems to be: what each part of an intersection still wants, all together.
    fn distance(&self, id: ExprId) -> u32 {
        let (head, behind) = match *self.arena.node(id) {
            Node::Concat(head, tail) => (head, self.arena.facts(tail).least),
            _ => (id, 0),
        };
        match self.arena.node(head) {
            Node::And(parts) => parts.iter().fold(behind, |sum, &part| {
                sum.saturating_add(self.arena.facts(part).least)
            }),
            _ => self.arena.facts(head).least.saturating_add(behind),
        }
    }

    /// The derivative by a byte. Works over an explicit stack, so that no chain is too long for it.
    pub(super) fn derivative(
        &mut self,
        id: ExprId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if let Some(known) = self.known_derivative(id, byte, fuel)? {
            return Ok(known);
        }
        let (mut work, mut values) = (
            std::mem::take(&mut self.derivatives.tasks),
            std::mem::take(&mut self.derivatives.values),
        );
        work.clear();
        values.clear();
        work.push(Task::Visit(id));
        let result = self.derive(byte, &mut work, &mut values, fuel);
        (self.derivatives.tasks, self.derivatives.values) = (work, values);
        result
    }

    /// Does what is to be done for a derivative.
    fn derive(
        &mut self,
        byte: u8,
        work: &mut Vec<Task>,
        values: &mut Vec<ExprId>,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        while let Some(task) = work.pop() {
            match task {
                Task::Visit(id) => {
                    if let Some(known) = self.known_derivative(id, byte, fuel)? {
                        values.push(known);
                        continue;
                    }
                    work.push(Task::Build(id));
                    match self.arena.node(id) {
                        &Node::Concat(head, tail) => {
                            if self.is_nullable(head) {
                                work.push(Task::Visit(tail));
                            }
                            work.push(Task::Visit(head));
                        }
                        Node::Alt(parts) | Node::And(parts) => {
                            fuel.spend(parts.len())?;
                            work.extend(parts.iter().map(|&part| Task::Visit(part)));
                        }
                        &Node::Not(inner)
                        | &Node::Repeat { inner, .. }
                        | &Node::Counter { inner, .. } => {
                            work.push(Task::Visit(inner));
                        }
                        _ => {}
                    }
                }
                Task::Build(id) => {
                    let value = match *self.arena.node(id) {
                        Node::Concat(head, tail) => {
                            let after_tail = if self.is_nullable(head) {
                                values.pop()
                            } else {
                                None
                            };
                            let after_head = values.pop().unwrap_or(ExprId::NOTHING);
                            let through = self.arena.concat(after_head, tail, fuel)?;
                            match after_tail {
                                Some(after_tail) => self.arena.either(through, after_tail, fuel)?,
                                None => through,
                            }
                        }
                        Node::Alt(ref parts) => {
                            let parts = values.split_off(values.len() - parts.len());
                            self.arena.alt(parts, fuel)?
                        }
                        Node::And(ref parts) => {
                            let parts = values.split_off(values.len() - parts.len());
                            self.arena.and(parts, fuel)?
                        }
                        Node::Not(_) => {
                            let inner = values.pop().unwrap_or(ExprId::NOTHING);
                            self.arena.not(inner, fuel)?
                        }
                        Node::Repeat { inner, min, max } => {
                            let once = values.pop().unwrap_or(ExprId::NOTHING);
                            let more = self.arena.repeat(
                                inner,
                                min.saturating_sub(1),
                                max.map(|max| max.saturating_sub(1)),
                                fuel,
                            )?;
                            self.arena.concat(once, more, fuel)?
                        }
                        Node::Counter {
                            inner,
                            lower,
                            upper,
                            consumed,
                        } => {
                            let once = values.pop().unwrap_or(ExprId::NOTHING);
                            let more = Node::Counter {
                                inner,
                                lower,
                                upper,
                                consumed: consumed + 1,
                            };
                            let more = self.arena.intern(more, fuel)?;
                            self.arena.concat(once, more, fuel)?
                        }
                        _ => ExprId::NOTHING,
                    };
                    self.remember(id, byte, value);
                    values.push(value);
                }
            }
        }
        Ok(values.pop().unwrap_or(ExprId::NOTHING))
    }

    /// The derivative, if it was made before, or the form shows it.
    fn known_derivative(
        &mut self,
        mut id: ExprId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Option<ExprId>, Error> {
        fuel.spend(1)?;
        // Bytes of a set, or any number of them, in front of a rest: whitespace and punctuation mostly.
        while let Node::Concat(head, tail) = *self.arena.node(id) {
            match *self.arena.node(head) {
                Node::Class(set) => {
                    let takes = self.arena.bytes(set).contains(byte);
                    return Ok(Some(if takes { tail } else { ExprId::NOTHING }));
                }
                Node::Repeat { inner, min: 0, .. } => match *self.arena.node(inner) {
                    Node::Class(set) if !self.arena.bytes(set).contains(byte) => id = tail,
                    _ => break,
                },
                _ => break,
            }
        }
        Ok(match *self.arena.node(id) {
            Node::Nothing | Node::Empty => Some(ExprId::NOTHING),
            Node::Class(set) => Some(if self.arena.bytes(set).contains(byte) {
                ExprId::EMPTY
            } else {
                ExprId::NOTHING
            }),
            Node::Literal { bytes, at, tail } => Some(
                if self.arena.literals[bytes as usize][at as usize] == byte {
                    self.arena.literal_from(bytes, at + 1, tail, fuel)?
                } else {
                    ExprId::NOTHING
                },
            ),
            Node::Words {
                table,
                first,
                end,
                at,
            } => {
                let words = &self.arena.tables[table as usize];
                let words = words.with_byte(first..end, at, byte);
                Some(
                    self.arena
                        .words_from(table, words.start, words.end, at + 1, fuel)?,
                )
            }
            _ => {
                let facts = self.arena.facts(id);
                let (Some(row), Some(classes)) = (facts.row, facts.classes) else {
                    return Ok(None);
                };
                let class = self.derivatives.classes.class(classes, byte);
                self.derivatives.rows[row as usize + class]
            }
        })
    }

    fn remember(&mut self, id: ExprId, byte: u8, value: ExprId) {
        let classes = self.classes_of(id);
        let (count, class) = (
            self.derivatives.classes.count(classes),
            self.derivatives.classes.class(classes, byte),
        );
        let end = self.derivatives.rows.len();
        let row = *self.arena.facts_mut(id).row.get_or_insert(end as u32) as usize;
        if row == end {
            self.derivatives.rows.resize(end + count, None);
        }
        self.derivatives.rows[row + class] = Some(value);
    }

    /// The bytes that an expression does not tell apart.
    pub(crate) fn classes_of(&mut self, root: ExprId) -> ClassesId {
        if let Some(known) = self.arena.facts(root).classes {
            return known;
        }
        let mut work: SmallVec<[ExprId; 8]> = SmallVec::from_slice(&[root]);
        while let Some(&id) = work.last() {
            if self.arena.facts(id).classes.is_some() {
                work.pop();
                continue;
            }
            let classes = match *self.arena.node(id) {
                Node::Nothing | Node::Empty => ClassesId::ONE,
                Node::Class(_) | Node::Literal { .. } => {
                    let first = self.first(id);
                    self.derivatives.classes.of_set(&first)
                }
                Node::Words { .. } => {
                    let first = self.first(id);
                    self.derivatives.classes.of_bytes(&first)
                }
                Node::Concat(head, tail) => {
                    let parts = [head, tail];
                    let count = 1 + usize::from(self.is_nullable(head));
                    match self.classes_of_all(&parts[..count], &mut work) {
                        Some(classes) => classes,
                        None => continue,
                    }
                }
                Node::Alt(ref parts) | Node::And(ref parts) => {
                    let parts = Arc::clone(parts);
                    match self.classes_of_all(&parts, &mut work) {
                        Some(classes) => classes,
                        None => continue,
                    }
                }
                Node::Not(inner) | Node::Repeat { inner, .. } | Node::Counter { inner, .. } => {
                    match self.classes_of_all(&[inner], &mut work) {
                        Some(classes) => classes,
                        None => continue,
                    }
                }
            };
            self.arena.facts_mut(id).classes = Some(classes);
        }
        self.arena.facts(root).classes.unwrap_or(ClassesId::ONE)
    }

    /// What the parts tell apart together; None if some must be asked first.
    fn classes_of_all(
        &mut self,
        parts: &[ExprId],
        work: &mut SmallVec<[ExprId; 8]>,
    ) -> Option<ClassesId> {
        let waiting = work.len();
        let unknown = parts.iter().copied();
        work.extend(unknown.filter(|&part| self.arena.facts(part).classes.is_none()));
        if work.len() > waiting {
            return None;
        }
        let all = parts
            .iter()
            .filter_map(|&part| self.arena.facts(part).classes);
        let all: SmallVec<[ClassesId; 8]> = all.collect();
        Some(self.derivatives.classes.meet_all(all))
    }

    /// Length of a shortest word of one byte or more; `u32::MAX` where there is none.
    pub(crate) fn shortest_with_byte(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<u32, Error> {
        if !self.is_nullable(id) {
            return self.shortest(id, fuel);
        }
        if let Some(&length) = self.words.with_byte.get(&id) {
            return Ok(length);
        }
        let classes = self.classes_of(id);
        let mut best = u32::MAX;
        for index in 0..self.derivatives.classes.count(classes) {
            let byte = self.derivatives.classes.representatives(classes)[index];
            let rest = self.step(id, byte, fuel)?;
            best = best.min(self.shortest(rest, fuel)?.saturating_add(1));
        }
        self.words.with_byte.insert(id, best);
        Ok(best)
    }

    /// Length of a shortest word; `u32::MAX` where there is none.
    fn shortest(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<u32, Error> {
        if !self.arena.facts(id).logical {
            return Ok(self.arena.facts(id).shortest);
        }
        if let Some(&length) = self.words.least.get(&id) {
            return Ok(length);
        }
        // Breadth first over residuals; those that are not logical know the length of their rest.
        let mut best = u32::MAX;
        let mut seen: IdSet<ExprId> = IdSet::from_iter([id]);
        let mut level = vec![id];
        let mut depth = 0;
        while !level.is_empty() && depth < best {
            let mut next = Vec::new();
            for id in level {
                let facts = self.arena.facts(id);
                if facts.nullable {
                    best = best.min(depth);
                    continue;
                }
                if !facts.logical {
                    best = best.min(facts.shortest.saturating_add(depth));
                    continue;
                }
                let classes = self.classes_of(id);
                for index in 0..self.derivatives.classes.count(classes) {
                    let byte = self.derivatives.classes.representatives(classes)[index];
                    let rest = self.step(id, byte, fuel)?;
                    if rest != ExprId::NOTHING && seen.insert(rest) {
                        next.push(rest);
                    }
                }
            }
            level = next;
            depth += 1;
        }
        self.words.least.insert(id, best);
        Ok(best)
    }
}

// ---
// The way through words and literals, without an expression for each byte. For scans of the vocabulary, which pass
// each place once.

/// A place within words, for those who pass through them once: nothing is interned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    what: What,
    /// How many bytes are behind.
    at: u32,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// The words from `first` to `end` of a table. Those before `next` go on with lesser bytes than the one that was asked
    /// for last: bytes are mostly asked for in their order.
    Words {
        table: u32,
        first: u32,
        end: u32,
        next: u32,
    },
    /// A literal, and what follows it.
    Literal { bytes: u32, tail: ExprId },
}

/// Where a byte leads within words.
#[derive(Debug)]
pub(crate) enum Passed {
    /// Nowhere.
    Dead,
    /// To another place, at which a word may end or not.
    Within(Passage, bool),
    /// To what follows a word.
    Through(ExprId),
}

impl Residuals {
    /// The place in front of words, if an expression is nothing else.
    pub(crate) fn passage(&self, id: ExprId) -> Option<Passage> {
        match *self.arena.node(id) {
            Node::Words {
                table,
                first,
                end,
                at,
            } => Some(Passage {
                what: What::Words {
                    table,
                    first,
                    end,
                    next: first,
                },
                at,
            }),
            Node::Literal { bytes, at, tail } => Some(Passage {
                what: What::Literal { bytes, tail },
                at,
            }),
            _ => None,
        }
    }

    /// Where a byte leads from a place within words.
    pub(crate) fn pass(
        &mut self,
        passage: &mut Passage,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Passed, Error> {
        let behind = passage.at + 1;
        let (what, ends) = match passage.what {
            What::Literal { bytes, tail } => {
                let literal = &self.arena.literals[bytes as usize];
                if literal[passage.at as usize] != byte {
                    return Ok(Passed::Dead);
                }
                if literal.len() == behind as usize {
                    return Ok(Passed::Through(tail));
                }
                (passage.what, false)
            }
            What::Words {
                table,
                first,
                end,
                ref mut next,
            } => {
                let words = &self.arena.tables[table as usize];
                // Those before `next` go on with lesser bytes than it, but perhaps not than this one.
                if *next > first && words.byte(*next - 1, passage.at) >= Some(byte) {
                    *next = first;
                }
                let found = words.with_byte(*next..end, passage.at, byte);
                *next = found.start;
                if found.is_empty() {
                    return Ok(Passed::Dead);
                }
                let ends = words.ends(found.start, behind);
                let tail = words.tail(found.start);
                if ends && (tail != ExprId::EMPTY || found.len() == 1) {
                    let rest =
                        self.arena
                            .words_from(table, found.start, found.end, behind, fuel)?;
                    return Ok(Passed::Through(rest));
                }
                let what = What::Words {
                    table,
                    first: found.start,
                    end: found.end,
                    next: found.start,
                };
                (what, ends)
            }
        };
        Ok(Passed::Within(Passage { what, at: behind }, ends))
    }
}
