//! Interned, normalised expressions: what remains of a terminal is one number.

use std::sync::Arc;

use syntagma_grammar::ir::{ByteSet, Regex};

use super::build::Built;
use super::classes::{Classes, ClassesId};
use super::counted::Bounds;
use super::derive::Task;
use super::facts::Facts;
use super::lengths::Lengths;
use super::stretch::Unit;
use super::words::Words;
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededIndexSet, SeededMap};

/// An interned expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RegexId(pub(super) u32);

impl RegexId {
    /// No string at all.
    pub(crate) const NOTHING: Self = Self(0);
    /// The empty string.
    pub(crate) const EMPTY: Self = Self(1);
    /// Every string.
    pub(super) const ANY: Self = Self(3);
}

/// An interned set of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct ByteSetId(u32);

/// One expression over interned parts. The constructors of [`Residuals`] keep these normal forms:
/// no part is ∅; concatenations lean to the right and hold no ε; alternatives and intersections are flat, sorted and free
/// of duplicates, with at most one class, and an intersection has at most one complement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Nothing,
    Empty,
    Class(ByteSetId),
    /// The bytes of a literal from `at` on (two or more), then `tail`.
    Literal {
        bytes: u32,
        at: u32,
        tail: RegexId,
    },
    /// Any of two or more words, each with what follows it: those from `first` to `end` in a table, which agree up to `at`,
    /// from there on. None that something follows ends at `at`.
    Words {
        table: u32,
        first: u32,
        end: u32,
        at: u32,
    },
    Concat(RegexId, RegexId),
    Alt(Arc<[RegexId]>),
    And(Arc<[RegexId]>),
    Not(RegexId),
    Repeat {
        inner: RegexId,
        min: u32,
        max: Option<u32>,
    },
    /// A repetition whose bounds stand beside the automaton; `counted` tells how it is used.
    Counter {
        inner: RegexId,
        /// Whether there is a lower bound, which is then out of reach.
        lower: bool,
        /// Whether there is an upper bound, which is then out of reach.
        upper: bool,
        /// How many of the bounds' units were read since they were written down.
        taken: u32,
    },
}

/// Bounds up to this are never far, however short the tokens are.
const LEAST_FAR: u32 = 16;

/// So many expressions of one terminal fit into the caches of a processor: each further one takes longer.
const FEW: usize = 1 << 14;

/// Facts of so many expressions lie side by side.
const CHUNK: usize = 64;

/// All expressions met so far.
#[derive(Debug)]
pub(crate) struct Residuals {
    nodes: SeededIndexSet<Node>,
    byte_sets: SeededIndexSet<ByteSet>,
    /// By expression, in chunks: nothing is moved when there are more.
    facts: Vec<Vec<Facts>>,
    /// Numbers of forms alone, the same in every store, as far as they were computed.
    pub(super) fingerprints: IdMap<RegexId, u128>,
    /// The same for words of up to so many bytes, with fewer counts, as far as that was computed.
    pub(super) uncounted: SeededMap<(RegexId, u32), RegexId>,
    pub(super) literals: SeededIndexSet<Arc<[u8]>>,
    pub(super) tables: SeededIndexSet<Words>,
    pub(super) classes: Classes,
    /// Rows of derivatives; None is not yet derived.
    pub(super) derivatives: Vec<Option<RegexId>>,
    /// Parts of terminals that were built after the grammar.
    pub(crate) built: Built,
    /// Lengths of shortest words of logical expressions.
    pub(super) shortest: IdMap<RegexId, u32>,
    /// Lengths of shortest words of one byte or more, of nullable expressions.
    pub(super) shortest_with_byte: IdMap<RegexId, u32>,
    /// What [`Residuals::stretch`] found out about what is repeated.
    pub(super) units: IdMap<RegexId, Unit>,
    /// The same about what is repeated beside a count of units.
    pub(super) rooms: IdMap<(RegexId, RegexId), Option<u32>>,
    /// What [`Residuals::roomy`] found out.
    pub(super) roomy: IdMap<RegexId, Option<(RegexId, u32)>>,
    /// Whether every word of one expression is one of another, as far as [`Residuals::roomy`] asked.
    pub(super) consisting: IdMap<(RegexId, RegexId), bool>,
    /// How often that took too long.
    pub(super) roomy_failures: u32,
    /// Intersections with a counter in place of a count, with the bounds of the count.
    pub(super) intersections: IdMap<RegexId, Option<(RegexId, Bounds)>>,
    /// Lengths of some words of logical expressions.
    pub(super) words: IdMap<RegexId, u32>,
    /// How many units words of intersections have.
    pub(super) lengths: Vec<Lengths>,
    /// How often there was no table.
    pub(super) length_failures: u32,
    /// By intersection with a counter: its table in `lengths` and its place there, if there is a table.
    pub(super) places: IdMap<RegexId, Option<(usize, usize)>>,
    /// Branching residuals made on behalf of each terminal.
    branching: IdMap<u32, u32>,
    /// The terminal that is being derived.
    pub(super) owner: u32,
    /// How many expressions there were before its turn.
    before: usize,
    /// Bounds of repetitions above this are far: no token reaches them.
    pub(super) far: u32,
    pub(super) heap: usize,
    /// Work space of [`Residuals::derivative`].
    pub(super) tasks: Vec<Task>,
    pub(super) values: Vec<RegexId>,
}

impl Residuals {
    /// No expressions but the simplest; tokens have up to `far` bytes.
    pub(crate) fn new(far: u32) -> Self {
        let mut residuals = Self {
            nodes: SeededIndexSet::default(),
            byte_sets: SeededIndexSet::default(),
            facts: Vec::new(),
            fingerprints: IdMap::default(),
            uncounted: SeededMap::default(),
            literals: SeededIndexSet::default(),
            tables: SeededIndexSet::default(),
            classes: Classes::new(),
            derivatives: Vec::new(),
            built: Built::default(),
            shortest: IdMap::default(),
            shortest_with_byte: IdMap::default(),
            units: IdMap::default(),
            rooms: IdMap::default(),
            roomy: IdMap::default(),
            consisting: IdMap::default(),
            roomy_failures: 0,
            intersections: IdMap::default(),
            words: IdMap::default(),
            lengths: Vec::new(),
            length_failures: 0,
            places: IdMap::default(),
            branching: IdMap::default(),
            owner: 0,
            before: 0,
            far: far.max(LEAST_FAR),
            heap: 0,
            tasks: Vec::new(),
            values: Vec::new(),
        };
        let bytes = residuals.byte_set(ByteSet::FULL);
        let full = RegexId(2);
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
            let at = residuals.nodes.insert_full(node).0;
            residuals.complete(at);
        }
        residuals
    }

    /// Charges branching residuals to a terminal from now on.
    pub(crate) fn set_owner(&mut self, terminal: u32) {
        self.owner = terminal;
        self.before = self.nodes.len();
    }

    /// How many expressions there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<Facts>() + 16)
            + self.byte_sets.len() * (size_of::<ByteSet>() + 16)
            + self.fingerprints.len() * 36
            + self.uncounted.len() * 14
            + self.derivatives.len() * size_of::<Option<RegexId>>()
            + self.classes.memory_bytes()
            + self.built.len() * size_of::<(Regex, RegexId)>()
            + (self.intersections.len() + self.places.len() + self.words.len()) * 40
            + (self.roomy.len() + self.consisting.len()) * 20
            + self.heap
    }

    pub(super) fn node(&self, id: RegexId) -> &Node {
        self.nodes
            .get_index(id.0 as usize)
            .unwrap_or(&Node::Nothing)
    }

    pub(super) fn facts(&self, id: RegexId) -> &Facts {
        let at = id.0 as usize;
        &self.facts[at / CHUNK][at % CHUNK]
    }

    pub(super) fn facts_mut(&mut self, id: RegexId) -> &mut Facts {
        let at = id.0 as usize;
        &mut self.facts[at / CHUNK][at % CHUNK]
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
        if at % CHUNK == 0 {
            self.facts.push(Vec::with_capacity(CHUNK));
        }
        if let Some(last) = self.facts.last_mut() {
            last.push(facts);
        }
    }

    /// Whether the empty string is in it.
    pub(crate) fn is_nullable(&self, id: RegexId) -> bool {
        self.facts(id).nullable
    }

    /// Whether it has an intersection or a complement anywhere.
    pub(crate) fn is_logical(&self, id: RegexId) -> bool {
        self.facts(id).logical
    }

    /// The class of a byte.
    #[inline]
    pub(crate) fn class_of(&self, classes: ClassesId, byte: u8) -> usize {
        self.classes.class(classes, byte)
    }

    /// The bytes of a class.
    pub(crate) fn class_members(&self, classes: ClassesId, class: usize) -> &[u8] {
        self.classes.members(classes, class)
    }

    pub(crate) fn class_table(&mut self) -> &mut Classes {
        &mut self.classes
    }

    pub(super) fn intern(&mut self, node: Node, fuel: &mut Fuel) -> Result<RegexId, Error> {
        let (at, new) = self.nodes.insert_full(node);
        if new {
            if let Err(error) = self.charge(at, fuel) {
                self.nodes.pop();
                return Err(error);
            }
            self.complete(at);
        }
        Ok(RegexId(at as u32))
    }

    /// Checks that one more expression may be made.
    fn charge(&mut self, at: usize, fuel: &mut Fuel) -> Result<(), Error> {
        let few = self.nodes.len() - self.before < FEW;
        fuel.spend(if few { 1 } else { fuel.residual })?;
        if let Node::Alt(parts) | Node::And(parts) = &self.nodes[at] {
            self.heap += parts.len() * size_of::<RegexId>() + 16;
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

    pub(super) fn class(&mut self, set: ByteSet, fuel: &mut Fuel) -> Result<RegexId, Error> {
        if set.is_empty() {
            Ok(RegexId::NOTHING)
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
        tail: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        if tail == RegexId::NOTHING {
            return Ok(RegexId::NOTHING);
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
    ) -> Result<RegexId, Error> {
        if first >= end {
            return Ok(RegexId::NOTHING);
        }
        let words = &self.tables[table as usize];
        let tail = words.tail(first);
        if end - first == 1 {
            let only = words.literal(first);
            return self.literal_from(only, at, tail, fuel);
        }
        // Only the first word may end here.
        if tail != RegexId::EMPTY && words.ends(first, at) {
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
        head: RegexId,
        tail: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        if head == RegexId::NOTHING || tail == RegexId::NOTHING {
            return Ok(RegexId::NOTHING);
        }
        if head == RegexId::EMPTY {
            return Ok(tail);
        }
        if tail == RegexId::EMPTY {
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
                Node::Literal { tail: second, .. } if second != RegexId::EMPTY => {
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
        head: RegexId,
        tail: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        let (next, rest) = match *self.node(tail) {
            Node::Concat(next, rest) => (next, rest),
            _ => (tail, RegexId::EMPTY),
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
            return if rest == RegexId::EMPTY {
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
        a: RegexId,
        b: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        match (a, b) {
            (RegexId::NOTHING, only) | (only, RegexId::NOTHING) => Ok(only),
            (a, b) if a == b => Ok(a),
            (a, b) => self.alt(vec![a, b], fuel),
        }
    }

    pub(super) fn alt(&mut self, parts: Vec<RegexId>, fuel: &mut Fuel) -> Result<RegexId, Error> {
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
        if flat.binary_search(&RegexId::ANY).is_ok() {
            return Ok(RegexId::ANY);
        }
        self.join_repeats(&mut flat, fuel)?;
        if let Ok(at) = flat.binary_search(&RegexId::EMPTY)
            && flat
                .iter()
                .any(|&part| part != RegexId::EMPTY && self.is_nullable(part))
        {
            flat.remove(at);
        }
        match flat[..] {
            [] => Ok(RegexId::NOTHING),
            [only] => Ok(only),
            _ => self.intern(Node::Alt(flat.into()), fuel),
        }
    }

    /// Joins alternatives `x{a,b} t` and `x{c,d} t` whose counts touch: what keeps ambiguous counters from multiplying.
    fn join_repeats(&mut self, flat: &mut Vec<RegexId>, fuel: &mut Fuel) -> Result<(), Error> {
        let mut counted: Vec<(RegexId, RegexId, u32, Option<u32>)> = Vec::new();
        for &part in flat.iter() {
            let (head, tail) = match *self.node(part) {
                Node::Concat(head, tail) => (head, tail),
                _ => (part, RegexId::EMPTY),
            };
            if let Node::Repeat { inner, min, max } = *self.node(head) {
                counted.push((inner, tail, min, max));
            }
        }
        if counted.len() < 2 {
            return Ok(());
        }
        counted.sort_unstable();
        let mut joined: Vec<(RegexId, RegexId, u32, Option<u32>)> =
            Vec::with_capacity(counted.len());
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

    pub(super) fn and(&mut self, parts: Vec<RegexId>, fuel: &mut Fuel) -> Result<RegexId, Error> {
        fuel.spend(parts.len())?;
        if parts.contains(&RegexId::NOTHING) {
            return Ok(RegexId::NOTHING);
        }
        let mut flat = Vec::with_capacity(parts.len());
        let mut set: Option<ByteSet> = None;
        let mut refused = Vec::new();
        let mut work = parts;
        while let Some(part) = work.pop() {
            match self.node(part) {
                Node::Nothing => return Ok(RegexId::NOTHING),
                Node::Class(more) => {
                    let more = self.bytes(*more);
                    set = Some(set.map_or(*more, |set| set.intersection(more)));
                }
                Node::And(inner) => {
                    fuel.spend(inner.len())?;
                    work.extend_from_slice(inner);
                }
                Node::Not(inner) => refused.push(*inner),
                _ if part == RegexId::ANY => {}
                _ => flat.push(part),
            }
        }
        if let Some(set) = set {
            flat.push(self.class(set, fuel)?);
        }
        if !refused.is_empty() {
            let refused = self.alt(refused, fuel)?;
            if flat.contains(&refused) {
                return Ok(RegexId::NOTHING);
            }
            flat.push(self.not(refused, fuel)?);
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&RegexId::NOTHING) {
            return Ok(RegexId::NOTHING);
        }
        if flat.contains(&RegexId::EMPTY) {
            let nullable = flat.iter().all(|&part| self.is_nullable(part));
            return Ok(if nullable {
                RegexId::EMPTY
            } else {
                RegexId::NOTHING
            });
        }
        let least = flat.iter().map(|&part| self.facts(part).least).max();
        let most = flat.iter().map(|&part| self.facts(part).most).min();
        if least > most {
            return Ok(RegexId::NOTHING);
        }
        match flat[..] {
            [] => Ok(RegexId::ANY),
            [only] => Ok(only),
            _ => self.intern(Node::And(flat.into()), fuel),
        }
    }

    pub(super) fn not(&mut self, inner: RegexId, fuel: &mut Fuel) -> Result<RegexId, Error> {
        match *self.node(inner) {
            Node::Nothing => Ok(RegexId::ANY),
            Node::Not(inner) => Ok(inner),
            _ if inner == RegexId::ANY => Ok(RegexId::NOTHING),
            _ => self.intern(Node::Not(inner), fuel),
        }
    }

    pub(super) fn repeat(
        &mut self,
        inner: RegexId,
        min: u32,
        max: Option<u32>,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        if max.is_some_and(|max| max < min) {
            return Ok(RegexId::NOTHING);
        }
        if inner == RegexId::NOTHING {
            return Ok(if min == 0 {
                RegexId::EMPTY
            } else {
                RegexId::NOTHING
            });
        }
        if inner == RegexId::EMPTY || max == Some(0) {
            return Ok(RegexId::EMPTY);
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
}
