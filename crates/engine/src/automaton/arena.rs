//! Interned, normalised expressions, with what is known of each from its form. For every analysis of this folder; equal
//! expressions have one number, so that an automaton has few states (Owens, Reppy and Turon 2009).

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::expression::Consumed;
use super::expression::Facts;
use super::expression::Size;
use super::expression::{ByteSetId, ExprId, Node};
use super::words::Words;
use crate::error::Error;
use crate::layers::Layers;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededIndexSet};
use crate::tuning;

/// All expressions met so far.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    nodes: SeededIndexSet<Node>,
    byte_sets: SeededIndexSet<ByteSet>,
    /// By expression, in chunks: nothing is moved when there are more.
    facts: Vec<Vec<Facts>>,
    pub(super) literals: SeededIndexSet<Arc<[u8]>>,
    pub(super) tables: SeededIndexSet<Words>,
    /// Branching expressions made on behalf of each terminal.
    branching: IdMap<u32, u32>,
    /// The terminal that is being derived.
    owner: u32,
    /// How many expressions there were before its turn.
    before: usize,
    /// Bounds of repetitions above this are out of reach: no token has so many units.
    reach: u32,
    /// The mechanisms in use.
    pub(super) layers: Layers,
    pub(super) heap: usize,
}

impl Arena {
    /// No expressions but the simplest; tokens have up to `reach` bytes.
    pub(super) fn new(reach: u32, layers: Layers) -> Self {
        let mut arena = Self {
            nodes: SeededIndexSet::default(),
            byte_sets: SeededIndexSet::default(),
            facts: Vec::new(),
            literals: SeededIndexSet::default(),
            tables: SeededIndexSet::default(),
            branching: IdMap::default(),
            owner: 0,
            before: 0,
            reach: reach.max(tuning::LEAST_REACH),
            layers,
            heap: 0,
        };
        let bytes = arena.byte_set(ByteSet::FULL);
        let full = ExprId(2);
        for node in [
            Node::Nothing,
            Node::Empty,
            Node::Class(bytes),
            Node::Repeat {
                inner: full,
                min: 0,
                max: None,
            },
        ] {
            let at = arena.nodes.insert_full(node).0;
            arena.complete(at);
        }
        arena
    }

    /// The same expressions, which nobody has made.
    pub(super) fn settled(mut self) -> Self {
        self.branching.clear();
        self
    }

    /// Bounds of repetitions above this are out of reach.
    pub(super) fn reach(&self) -> u32 {
        self.reach
    }

    /// Charges branching expressions to a terminal from now on.
    pub(super) fn set_owner(&mut self, terminal: u32) {
        self.owner = terminal;
        self.before = self.nodes.len();
    }

    /// How many expressions there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<Facts>() + 16)
            + self.byte_sets.len() * (size_of::<ByteSet>() + 16)
            + self.heap
    }

    pub(super) fn node(&self, id: ExprId) -> &Node {
        self.nodes
            .get_index(id.0 as usize)
            .unwrap_or(&Node::Nothing)
    }

    pub(super) fn facts(&self, id: ExprId) -> &Facts {
        let at = id.0 as usize;
        &self.facts[at / tuning::FACTS_PER_CHUNK][at % tuning::FACTS_PER_CHUNK]
    }

    pub(super) fn facts_mut(&mut self, id: ExprId) -> &mut Facts {
        let at = id.0 as usize;
        &mut self.facts[at / tuning::FACTS_PER_CHUNK][at % tuning::FACTS_PER_CHUNK]
    }

    /// The number of a set of bytes.
    pub(super) fn byte_set(&mut self, set: ByteSet) -> ByteSetId {
        ByteSetId(self.byte_sets.insert_full(set).0 as u32)
    }

    pub(super) fn bytes(&self, id: ByteSetId) -> &ByteSet {
        &self.byte_sets[id.0 as usize]
    }

    /// Adds what is known of the newest expression.
    fn complete(&mut self, at: usize) {
        let (mut facts, first) = self.facts_of(&self.nodes[at]);
        facts.first = self.byte_set(first);
        if at.is_multiple_of(tuning::FACTS_PER_CHUNK) {
            self.facts.push(Vec::with_capacity(tuning::FACTS_PER_CHUNK));
        }
        if let Some(last) = self.facts.last_mut() {
            last.push(facts);
        }
    }

    /// Every byte that a word may begin with, and where there are intersections or complements maybe more.
    pub(super) fn first(&self, id: ExprId) -> ByteSet {
        *self.bytes(self.facts(id).first)
    }

    /// Whether the empty string is in it.
    pub(super) fn is_nullable(&self, id: ExprId) -> bool {
        self.facts(id).nullable
    }

    pub(super) fn intern(&mut self, node: Node, fuel: &mut Fuel) -> Result<ExprId, Error> {
        debug_assert!(self.is_normal(&node), "{node:?}");
        let (at, new) = self.nodes.insert_full(node);
        if new {
            if let Err(error) = self.charge(at, fuel) {
                self.nodes.pop();
                return Err(error);
            }
            self.complete(at);
        }
        Ok(ExprId(at as u32))
    }

    /// Whether an expression keeps the normal forms that [`Node`] names.
    fn is_normal(&self, node: &Node) -> bool {
        let is = |id: ExprId, test: fn(&Node) -> bool| test(self.node(id));
        match *node {
            Node::Concat(head, tail) => {
                let ends = [ExprId::NOTHING, ExprId::EMPTY];
                !ends.contains(&head)
                    && !ends.contains(&tail)
                    && !is(head, |head| {
                        matches!(head, Node::Concat(..) | Node::Literal { .. })
                    })
            }
            Node::Alt(ref parts) | Node::And(ref parts) => {
                let count =
                    |test: fn(&Node) -> bool| parts.iter().filter(|&&part| is(part, test)).count();
                let inside = match node {
                    Node::Alt(_) => count(|part| matches!(part, Node::Alt(_))),
                    _ => {
                        count(|part| matches!(part, Node::And(_)))
                            + count(|part| matches!(part, Node::Not(_))).saturating_sub(1)
                    }
                };
                parts.len() > 1
                    && parts.is_sorted_by(|a, b| a < b)
                    && !parts.contains(&ExprId::NOTHING)
                    && inside == 0
                    && count(|part| matches!(part, Node::Class(_))) <= 1
            }
            Node::Not(inner) => !is(inner, |inner| matches!(inner, Node::Not(_) | Node::Nothing)),
            Node::Literal { bytes, at, tail } => {
                tail != ExprId::NOTHING && at as usize + 2 <= self.literals[bytes as usize].len()
            }
            Node::Words { first, end, .. } => end - first >= 2,
            Node::Repeat { inner, max, .. } => {
                inner != ExprId::NOTHING && inner != ExprId::EMPTY && max != Some(0)
            }
            Node::Nothing | Node::Empty | Node::Class(_) | Node::Counter { .. } => true,
        }
    }

    /// Checks that one more expression may be made.
    fn charge(&mut self, at: usize, fuel: &mut Fuel) -> Result<(), Error> {
        let few = self.nodes.len() - self.before < tuning::CHEAP_EXPRESSIONS;
        fuel.spend(if few { 1 } else { fuel.residual })?;
        if let Node::Alt(parts) | Node::And(parts) = &self.nodes[at] {
            self.heap += parts.len() * size_of::<ExprId>() + 16;
            let made = self.branching.entry(self.owner).or_insert(0);
            *made += 1;
            if *made > fuel.terminal_residuals {
                let allowed = u64::from(fuel.terminal_residuals);
                return Err(Error::limit(
                    "E-LIMIT-RESIDUALS",
                    "terminal_residuals",
                    allowed,
                ));
            }
        }
        Ok(())
    }
}

impl Arena {
    /// All but the number of the first bytes, and these.
    fn facts_of(&self, node: &Node) -> (Facts, ByteSet) {
        let mut facts = Facts::unknown();
        let mut first = ByteSet::EMPTY;
        match node {
            Node::Nothing => facts.size = Size::Finite,
            Node::Empty => {
                facts.nullable = true;
                facts.size = Size::Finite;
                facts.most = 0;
                facts.shortest = 0;
                facts.within = 0;
            }
            Node::Class(set) => {
                first = *self.bytes(*set);
                facts.size = Size::Finite;
                (facts.least, facts.most) = (1, 1);
                facts.shortest = 1;
                facts.within = 1;
            }
            Node::Literal { bytes, at, tail } => {
                let literal = &self.literals[*bytes as usize];
                let rest = literal.len() as u32 - at;
                first = ByteSet::byte(literal[*at as usize]);
                let tail = self.facts(*tail);
                facts.logical = tail.logical;
                facts.size = tail.size.behind_some();
                facts.least = tail.least.saturating_add(rest);
                facts.most = tail.most.saturating_add(rest);
                facts.counted = tail.counted;
                facts.consumed = tail.consumed;
                facts.shortest = tail.shortest.saturating_add(rest);
                facts.within = facts.shortest.max(tail.within);
                facts.weight = tail.weight.saturating_add(1);
            }
            &Node::Words {
                table,
                first: word,
                end,
                at,
            } => {
                let words = &self.tables[table as usize];
                words.facts(word..end, at, &mut facts);
                first = words.first(word..end, at);
            }
            Node::Concat(head, tail) => {
                first = self.first(*head);
                if self.facts(*head).nullable {
                    first = first.union(&self.first(*tail));
                }
                let (head, tail) = (self.facts(*head), self.facts(*tail));
                facts.size = match (head.size, tail.size) {
                    (Size::Finite, Size::Finite) => Size::Finite,
                    _ if (head.size.endless() && tail.surely_inhabited())
                        || (tail.size.endless() && head.surely_inhabited()) =>
                    {
                        Size::Infinite
                    }
                    _ => Size::Unknown,
                };
                facts.nullable = head.nullable && tail.nullable;
                facts.least = head.least.saturating_add(tail.least);
                facts.most = head.most.saturating_add(tail.most);
                facts.logical = head.logical || tail.logical;
                facts.counted = head.counted || tail.counted;
                facts.consumed = head.consumed.with(tail.consumed);
                facts.weight = head.weight.saturating_add(tail.weight).saturating_add(1);
                facts.shortest = head.shortest.saturating_add(tail.shortest);
                facts.within = head.within.saturating_add(tail.shortest).max(tail.within);
            }
            Node::Alt(parts) | Node::And(parts) => {
                first = self.facts_of_parts(parts, matches!(node, Node::Alt(_)), &mut facts);
            }
            Node::Not(inner) => {
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.nullable = !inner.nullable;
                facts.least = u32::from(inner.nullable);
                facts.size = match inner.size {
                    Size::Finite => Size::Cofinite,
                    Size::Cofinite => Size::Finite,
                    _ => Size::Unknown,
                };
                first = ByteSet::FULL;
                facts.shortest = 0;
                facts.logical = true;
                facts.consumed = inner.consumed.fixed();
            }
            Node::Repeat { inner, .. } | Node::Counter { inner, .. } => {
                first = self.first(*inner);
                self.facts_of_repeats(node, &mut facts);
            }
        }
        (facts, first)
    }

    fn facts_of_repeats(&self, node: &Node, facts: &mut Facts) {
        match node {
            Node::Repeat { inner, min, max } => {
                let begins = !self.first(*inner).is_empty();
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.size = match inner.size {
                    // No part of an expression that is not logical is empty.
                    _ if max.is_none() && !inner.logical && begins => Size::Infinite,
                    Size::Finite if max.is_some() => Size::Finite,
                    size if size.endless() && *max != Some(0) => Size::Infinite,
                    _ => Size::Unknown,
                };
                facts.nullable = *min == 0 || inner.nullable;
                facts.least = inner.least.saturating_mul(*min);
                facts.most = max.map_or(u32::MAX, |max| inner.most.saturating_mul(max));
                facts.logical = inner.logical;
                facts.counted = *min > self.reach || max.is_some_and(|max| max > self.reach);
                facts.consumed = inner.consumed.fixed();
                facts.shortest = if *min == 0 {
                    0
                } else {
                    inner.shortest.saturating_mul(*min)
                };
                facts.within = inner
                    .within
                    .saturating_add(inner.shortest.saturating_mul(*min));
            }
            Node::Counter {
                inner,
                lower,
                consumed,
                ..
            } => {
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.size = Size::Unknown;
                facts.nullable = !*lower;
                facts.logical = inner.logical;
                facts.consumed = Consumed::All(*consumed);
                facts.shortest = if *lower { u32::MAX } else { 0 };
            }
            _ => {}
        }
    }

    /// The first bytes.
    fn facts_of_parts(&self, parts: &[ExprId], any: bool, facts: &mut Facts) -> ByteSet {
        let mut first = if any { ByteSet::EMPTY } else { ByteSet::FULL };
        facts.nullable = !any;
        facts.logical = !any;
        facts.size = if any { Size::Finite } else { Size::Cofinite };
        if any {
            facts.within = 0;
            (facts.least, facts.most) = (u32::MAX, 0);
        } else {
            facts.shortest = 0;
        }
        for &part in parts {
            let more = self.bytes(self.facts(part).first);
            first = if any {
                first.union(more)
            } else {
                first.intersection(more)
            };
            let part = self.facts(part);
            facts.weight = facts.weight.saturating_add(part.weight);
            facts.size = if any {
                facts.size.or(part.size)
            } else {
                facts.size.and(part.size)
            };
            (facts.least, facts.most) = if any {
                (facts.least.min(part.least), facts.most.max(part.most))
            } else {
                (facts.least.max(part.least), facts.most.min(part.most))
            };
            facts.nullable = if any {
                facts.nullable || part.nullable
            } else {
                facts.nullable && part.nullable
            };
            facts.logical |= part.logical;
            facts.counted |= part.counted;
            facts.consumed = facts.consumed.with(part.consumed);
            facts.within = facts.within.max(part.within);
            facts.shortest = if any {
                facts.shortest.min(part.shortest)
            } else {
                facts.shortest.saturating_add(part.shortest)
            };
        }
        first
    }
}

// ---
// The constructors of expressions, which keep their normal forms.

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
