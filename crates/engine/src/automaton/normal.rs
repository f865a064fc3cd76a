//! The constructors of expressions, which keep their normal forms.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::arena::Arena;
use super::expression::{ExprId, Node};
use super::size::Size;
use super::words::Words;
use crate::error::Error;
use crate::limits::Fuel;

impl Arena {
    /// Exactly these bytes.
    pub(super) fn literal(&mut self, bytes: &Arc<[u8]>, fuel: &mut Fuel) -> Result<ExprId, Error> {
        let index = self.intern_literal(bytes);
        self.literal_from(index, 0, ExprId::EMPTY, fuel)
    }

    /// The number of a literal.
    pub(super) fn intern_literal(&mut self, bytes: &Arc<[u8]>) -> u32 {
        if let Some(index) = self.literals.get_index_of(bytes) {
            return index as u32;
        }
        self.heap += bytes.len() + 32;
        self.literals.insert_full(Arc::clone(bytes)).0 as u32
    }

    pub(super) fn class(&mut self, set: ByteSet, fuel: &mut Fuel) -> Result<ExprId, Error> {
        if set.is_empty() {
            Ok(ExprId::NOTHING)
        } else {
            let set = self.byte_set(set);
            self.intern(Node::Class(set), fuel)
        }
    }

    /// The bytes of an interned literal from `at` on, then `tail`.
    pub(super) fn literal_from(
        &mut self,
        bytes: u32,
        at: u32,
        tail: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if tail == ExprId::NOTHING {
            return Ok(ExprId::NOTHING);
        }
        let literal = &self.literals[bytes as usize];
        match literal.len() - at as usize {
            0 => Ok(tail),
            1 => {
                let last = ByteSet::byte(literal[at as usize]);
                let last = self.class(last, fuel)?;
                self.concat(last, tail, fuel)
            }
            _ => self.intern(Node::Literal { bytes, at, tail }, fuel),
        }
    }

    /// Words `first` to `end` of a table, from `at` on; they agree before that.
    pub(super) fn words_from(
        &mut self,
        table: u32,
        first: u32,
        end: u32,
        at: u32,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if first >= end {
            return Ok(ExprId::NOTHING);
        }
        let words = &self.tables[table as usize];
        let tail = words.tail(first);
        if end - first == 1 {
            let only = words.literal(first);
            return self.literal_from(only, at, tail, fuel);
        }
        // Only the first word may end here.
        if tail != ExprId::EMPTY && words.ends(first, at) {
            let others = self.words_from(table, first + 1, end, at, fuel)?;
            return self.either(tail, others, fuel);
        }
        self.intern(
            Node::Words {
                table,
                first,
                end,
                at,
            },
            fuel,
        )
    }

    pub(super) fn concat(
        &mut self,
        head: ExprId,
        tail: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if head == ExprId::NOTHING || tail == ExprId::NOTHING {
            return Ok(ExprId::NOTHING);
        }
        if head == ExprId::EMPTY {
            return Ok(tail);
        }
        if tail == ExprId::EMPTY {
            return Ok(head);
        }
        match *self.node(head) {
            Node::Concat(..) | Node::Literal { .. } => {}
            Node::Repeat { .. } => return self.repeat_then(head, tail, fuel),
            _ => return self.intern(Node::Concat(head, tail), fuel),
        }
        // The head's own spine is rebuilt in front of the tail.
        let mut spine = Vec::new();
        let mut rest = head;
        loop {
            match *self.node(rest) {
                Node::Concat(first, second) => {
                    spine.push(first);
                    rest = second;
                }
                Node::Literal { tail: second, .. } if second != ExprId::EMPTY => {
                    spine.push(rest);
                    rest = second;
                }
                _ => break,
            }
        }
        spine.push(rest);
        fuel.spend(spine.len())?;
        let mut result = tail;
        while let Some(part) = spine.pop() {
            result = match *self.node(part) {
                Node::Literal { bytes, at, .. } => self.intern(
                    Node::Literal {
                        bytes,
                        at,
                        tail: result,
                    },
                    fuel,
                )?,
                Node::Repeat { .. } => self.repeat_then(part, result, fuel)?,
                _ => self.intern(Node::Concat(part, result), fuel)?,
            };
        }
        Ok(result)
    }

    /// A repetition before `tail`; two repetitions of the same become one.
    fn repeat_then(
        &mut self,
        head: ExprId,
        tail: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let (next, rest) = match *self.node(tail) {
            Node::Concat(next, rest) => (next, rest),
            _ => (tail, ExprId::EMPTY),
        };
        if let (
            &Node::Repeat { inner, min, max },
            &Node::Repeat {
                inner: again,
                min: more_min,
                max: more_max,
            },
        ) = (self.node(head), self.node(next))
            && inner == again
            && let Some(min) = min.checked_add(more_min)
            && let Some(max) = match (max, more_max) {
                (Some(max), Some(more)) => max.checked_add(more).map(Some),
                _ => Some(None),
            }
        {
            let joined = self.intern(Node::Repeat { inner, min, max }, fuel)?;
            return if rest == ExprId::EMPTY {
                Ok(joined)
            } else {
                self.intern(Node::Concat(joined, rest), fuel)
            };
        }
        self.intern(Node::Concat(head, tail), fuel)
    }

    /// Either of two.
    pub(super) fn either(
        &mut self,
        a: ExprId,
        b: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        match (a, b) {
            (ExprId::NOTHING, only) | (only, ExprId::NOTHING) => Ok(only),
            (a, b) if a == b => Ok(a),
            (a, b) => self.alt(vec![a, b], fuel),
        }
    }

    pub(super) fn alt(&mut self, parts: Vec<ExprId>, fuel: &mut Fuel) -> Result<ExprId, Error> {
        fuel.spend(parts.len())?;
        let mut flat = Vec::with_capacity(parts.len());
        let mut set = ByteSet::EMPTY;
        for part in parts {
            match self.node(part) {
                Node::Nothing => {}
                Node::Class(more) => set = set.union(self.bytes(*more)),
                // An alternative inside is flat already, but may hold a class.
                Node::Alt(inner) => {
                    fuel.spend(inner.len())?;
                    for &part in &**inner {
                        match self.node(part) {
                            Node::Class(more) => set = set.union(self.bytes(*more)),
                            _ => flat.push(part),
                        }
                    }
                }
                _ => flat.push(part),
            }
        }
        if !set.is_empty() {
            flat.push(self.class(set, fuel)?);
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.binary_search(&ExprId::ANY).is_ok() {
            return Ok(ExprId::ANY);
        }
        self.join_repeats(&mut flat, fuel)?;
        if let Ok(at) = flat.binary_search(&ExprId::EMPTY)
            && flat
                .iter()
                .any(|&part| part != ExprId::EMPTY && self.is_nullable(part))
        {
            flat.remove(at);
        }
        match flat[..] {
            [] => Ok(ExprId::NOTHING),
            [only] => Ok(only),
            _ => self.intern(Node::Alt(flat.into()), fuel),
        }
    }

    /// Joins alternatives `x{a,b} t` and `x{c,d} t` whose counts touch: what keeps ambiguous counters from multiplying.
    fn join_repeats(&mut self, flat: &mut Vec<ExprId>, fuel: &mut Fuel) -> Result<(), Error> {
        let mut counted: Vec<(ExprId, ExprId, u32, Option<u32>)> = Vec::new();
        for &part in flat.iter() {
            let (head, tail) = match *self.node(part) {
                Node::Concat(head, tail) => (head, tail),
                _ => (part, ExprId::EMPTY),
            };
            if let Node::Repeat { inner, min, max } = *self.node(head) {
                counted.push((inner, tail, min, max));
            }
        }
        if counted.len() < 2 {
            return Ok(());
        }
        counted.sort_unstable();
        let mut joined: Vec<(ExprId, ExprId, u32, Option<u32>)> = Vec::with_capacity(counted.len());
        for &(inner, tail, min, max) in &counted {
            if let Some((last_inner, last_tail, _, last_max)) = joined.last_mut()
                && (*last_inner, *last_tail) == (inner, tail)
                && last_max.is_none_or(|last| last.saturating_add(1) >= min)
            {
                *last_max = last_max.and_then(|last| max.map(|max| max.max(last)));
                continue;
            }
            joined.push((inner, tail, min, max));
        }
        if joined.len() == counted.len() {
            return Ok(());
        }
        flat.retain(|&part| {
            let head = match *self.node(part) {
                Node::Concat(head, _) => head,
                _ => part,
            };
            !matches!(self.node(head), Node::Repeat { .. })
        });
        for (inner, tail, min, max) in joined {
            let head = self.repeat(inner, min, max, fuel)?;
            flat.push(self.concat(head, tail, fuel)?);
        }
        flat.sort_unstable();
        flat.dedup();
        Ok(())
    }

    pub(super) fn and(&mut self, parts: Vec<ExprId>, fuel: &mut Fuel) -> Result<ExprId, Error> {
        fuel.spend(parts.len())?;
        if parts.contains(&ExprId::NOTHING) {
            return Ok(ExprId::NOTHING);
        }
        let mut flat = Vec::with_capacity(parts.len());
        let mut set: Option<ByteSet> = None;
        let mut refused = Vec::new();
        let mut work = parts;
        while let Some(part) = work.pop() {
            match self.node(part) {
                Node::Nothing => return Ok(ExprId::NOTHING),
                Node::Class(more) => {
                    let more = self.bytes(*more);
                    set = Some(set.map_or(*more, |set| set.intersection(more)));
                }
                Node::And(inner) => {
                    fuel.spend(inner.len())?;
                    work.extend_from_slice(inner);
                }
                Node::Not(inner) => refused.push(*inner),
                _ if part == ExprId::ANY => {}
                _ => flat.push(part),
            }
        }
        if let Some(set) = set {
            flat.push(self.class(set, fuel)?);
        }
        if !refused.is_empty() {
            let refused = self.alt(refused, fuel)?;
            if flat.contains(&refused) {
                return Ok(ExprId::NOTHING);
            }
            flat.push(self.not(refused, fuel)?);
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&ExprId::NOTHING) {
            return Ok(ExprId::NOTHING);
        }
        if flat.contains(&ExprId::EMPTY) {
            let nullable = flat.iter().all(|&part| self.is_nullable(part));
            return Ok(if nullable {
                ExprId::EMPTY
            } else {
                ExprId::NOTHING
            });
        }
        let least = flat.iter().map(|&part| self.facts(part).least).max();
        let most = flat.iter().map(|&part| self.facts(part).most).min();
        if least > most {
            return Ok(ExprId::NOTHING);
        }
        match flat[..] {
            [] => Ok(ExprId::ANY),
            [only] => Ok(only),
            _ => self.intern(Node::And(flat.into()), fuel),
        }
    }

    pub(super) fn not(&mut self, inner: ExprId, fuel: &mut Fuel) -> Result<ExprId, Error> {
        match *self.node(inner) {
            Node::Nothing => Ok(ExprId::ANY),
            Node::Not(inner) => Ok(inner),
            _ if inner == ExprId::ANY => Ok(ExprId::NOTHING),
            _ => self.intern(Node::Not(inner), fuel),
        }
    }

    pub(super) fn repeat(
        &mut self,
        inner: ExprId,
        min: u32,
        max: Option<u32>,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if max.is_some_and(|max| max < min) {
            return Ok(ExprId::NOTHING);
        }
        if inner == ExprId::NOTHING {
            return Ok(if min == 0 {
                ExprId::EMPTY
            } else {
                ExprId::NOTHING
            });
        }
        if inner == ExprId::EMPTY || max == Some(0) {
            return Ok(ExprId::EMPTY);
        }
        let min = if self.is_nullable(inner) { 0 } else { min };
        match (min, max, self.node(inner)) {
            (_, Some(1), _) if min == 1 || self.is_nullable(inner) => Ok(inner),
            (
                _,
                _,
                Node::Repeat {
                    min: 0, max: None, ..
                },
            ) => Ok(inner),
            (
                _,
                _,
                &Node::Repeat {
                    inner,
                    min: 0,
                    max: Some(1),
                },
            ) => self.intern(Node::Repeat { inner, min, max }, fuel),
            _ => self.intern(Node::Repeat { inner, min, max }, fuel),
        }
    }

    /// Whether an expression may follow a word of a table.
    pub(super) fn may_follow_words(&self, tail: ExprId) -> bool {
        let facts = self.facts(tail);
        let clear = match facts.size {
            Size::Finite => facts.most < u32::MAX / 2,
            Size::Infinite => facts.most == u32::MAX,
            _ => false,
        };
        clear && !facts.logical && !facts.counted && facts.shortest < u32::MAX / 2
    }

    /// The number of a table of different words, in any order, which [may](Self::may_follow_words) be followed by what
    /// follows them.
    pub(super) fn intern_words(&mut self, mut words: Vec<(u32, ExprId)>) -> u32 {
        words
            .sort_unstable_by(|a, b| self.literals[a.0 as usize].cmp(&self.literals[b.0 as usize]));
        let mut table = Words::new(&words);
        if let Some(known) = self.tables.get_index_of(&table) {
            return known as u32;
        }
        let known = |&(literal, tail): &(u32, ExprId)| {
            (&*self.literals[literal as usize], self.facts(tail))
        };
        table.complete(words.iter().map(known));
        self.heap += table.memory_bytes();
        self.tables.insert_full(table).0 as u32
    }
}
