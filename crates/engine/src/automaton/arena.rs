//! Interned, normalised expressions, with what is known of each from its form. For every analysis of this folder; equal
//! expressions have one number, so that an automaton has few states (Owens, Reppy and Turon 2009).

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::bounds::Consumed;
use super::expression::{ByteSetId, ExprId, Node};
use super::facts::Facts;
use super::size::Size;
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
