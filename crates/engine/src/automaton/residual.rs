//! Interned, normalised expressions: what remains of a terminal is one number.

use std::ops::Range;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use syntagma_grammar::ir::ByteSet;

use super::classes::{Classes, ClassesId};
use super::counted::{Bounds, Taken};
use super::lengths::Lengths;
use super::stretch::Unit;
use crate::error::Error;
use crate::limits::Fuel;

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

/// One expression over interned parts. The constructors of [`Residuals`] keep these normal forms:
/// no part is ∅; concatenations lean to the right and hold no ε; alternatives and intersections are flat, sorted and free
/// of duplicates, with at most one class, and an intersection has at most one complement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Nothing,
    Empty,
    Class(ByteSet),
    /// The bytes of a literal from `at` on (two or more), then `tail`.
    Literal {
        bytes: u32,
        at: u32,
        tail: RegexId,
    },
    /// Any of two or more words: those from `first` to `end` in a sorted table, which agree up to `at`, from there on.
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

/// How many words there are, as far as the form says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// Nothing is known.
    Unknown,
    /// Finitely many, maybe none.
    Finite,
    /// Infinitely many.
    Infinite,
    /// All but finitely many.
    Cofinite,
}

impl Size {
    /// Whether they certainly never end, so that there is one, and a longer one.
    pub(super) fn endless(self) -> bool {
        matches!(self, Self::Infinite | Self::Cofinite)
    }

    /// Each behind one and the same word.
    fn behind_some(self) -> Self {
        match self {
            Self::Cofinite => Self::Infinite,
            size => size,
        }
    }

    /// Those of two languages.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Cofinite, _) | (_, Self::Cofinite) => Self::Cofinite,
            (Self::Infinite, _) | (_, Self::Infinite) => Self::Infinite,
            (Self::Finite, Self::Finite) => Self::Finite,
            _ => Self::Unknown,
        }
    }

    /// Those that two languages share.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Finite, _) | (_, Self::Finite) => Self::Finite,
            (Self::Cofinite, size) | (size, Self::Cofinite) => size,
            _ => Self::Unknown,
        }
    }
}

/// What is known of an expression from its form, and what was found out.
#[derive(Debug)]
pub(super) struct Facts {
    /// Whether the empty string is in it.
    pub(super) nullable: bool,
    /// Whether it has an intersection or complement anywhere, so that form alone does not say whether it is empty.
    pub(super) logical: bool,
    /// How many words it has. An infinite language without finitely many words is still infinite: that decides about most
    /// complements without a search.
    pub(super) size: Size,
    /// The bytes that it does not tell apart, once somebody asked.
    pub(super) classes: Option<ClassesId>,
    /// Every byte that a word may begin with, and for logical expressions maybe more.
    pub(super) first: ByteSet,
    /// Length of a shortest word, for expressions that are not logical.
    pub(super) shortest: u32,
    /// From whatever is read of it, some word ends within so many bytes; for expressions that are not logical.
    pub(super) within: u32,
    /// Whether a repetition in it has a bound that may be kept beside the automaton.
    pub(super) counted: bool,
    /// What its counters have taken.
    pub(super) taken: Taken,
    /// A number of the form alone, the same in every store, once computed.
    pub(super) fingerprint: Option<u128>,
    /// The same for words of up to so many bytes, with fewer counts, once computed.
    pub(super) uncounted: Option<(u32, RegexId)>,
    /// Whether it has any word, once decided; for logical expressions.
    pub(super) inhabited: Option<bool>,
    /// The same language with ε or ∅ recognised, once decided; for logical expressions.
    pub(super) trimmed: Option<RegexId>,
    /// Where its derivatives by class begin in `Residuals::derivatives`.
    pub(super) row: Option<u32>,
}

/// Bounds up to this are never far, however short the tokens are.
const LEAST_FAR: u32 = 16;
impl Facts {
    /// Whether the form alone says that there is a word.
    fn surely_inhabited(&self) -> bool {
        self.nullable || self.size.endless() || (!self.logical && self.shortest != u32::MAX)
    }
}

/// All expressions met so far.
#[derive(Debug)]
pub(crate) struct Residuals {
    pub(super) nodes: IndexMap<Node, Facts, FxBuildHasher>,
    pub(super) literals: IndexSet<Arc<[u8]>, FxBuildHasher>,
    /// Sorted lists of literals.
    pub(super) tables: IndexSet<Arc<[u32]>, FxBuildHasher>,
    pub(super) classes: Classes,
    /// Rows of derivatives; None is not yet derived.
    pub(super) derivatives: Vec<Option<RegexId>>,
    /// Lengths of shortest words of logical expressions.
    pub(super) shortest: FxHashMap<RegexId, u32>,
    /// Lengths of shortest words of one byte or more, of nullable expressions.
    pub(super) shortest_with_byte: FxHashMap<RegexId, u32>,
    /// What [`Residuals::stretch`] found out about what is repeated.
    pub(super) units: FxHashMap<RegexId, Unit>,
    /// What [`Residuals::roomy`] found out.
    pub(super) roomy: FxHashMap<RegexId, Option<(RegexId, u32)>>,
    /// How often that took too long.
    pub(super) roomy_failures: u32,
    /// Intersections with a counter in place of a count, with the bounds of the count.
    pub(super) intersections: FxHashMap<RegexId, Option<(RegexId, Bounds)>>,
    /// How many units words of intersections have.
    pub(super) lengths: Vec<Lengths>,
    /// How often there was no table.
    pub(super) length_failures: u32,
    /// By intersection with a counter: its table in `lengths` and its place there, if there is a table.
    pub(super) places: FxHashMap<RegexId, Option<(usize, usize)>>,
    /// Branching residuals made on behalf of each terminal.
    branching: FxHashMap<u32, u32>,
    /// The terminal that is being derived.
    pub(super) owner: u32,
    /// Bounds of repetitions above this are far: no token reaches them.
    pub(super) far: u32,
    pub(super) heap: usize,
}

impl Residuals {
    /// No expressions but the simplest; tokens have up to `far` bytes.
    pub(crate) fn new(far: u32) -> Self {
        let mut residuals = Self {
            nodes: IndexMap::default(),
            literals: IndexSet::default(),
            tables: IndexSet::default(),
            classes: Classes::new(),
            derivatives: Vec::new(),
            shortest: FxHashMap::default(),
            shortest_with_byte: FxHashMap::default(),
            units: FxHashMap::default(),
            roomy: FxHashMap::default(),
            roomy_failures: 0,
            intersections: FxHashMap::default(),
            lengths: Vec::new(),
            length_failures: 0,
            places: FxHashMap::default(),
            branching: FxHashMap::default(),
            owner: 0,
            far: far.max(LEAST_FAR),
            heap: 0,
        };
        let full = RegexId(2);
        for node in [
            Node::Nothing,
            Node::Empty,
            Node::Class(ByteSet::FULL),
            Node::Repeat {
                inner: full,
                min: 0,
                max: None,
            },
        ] {
            let facts = residuals.facts_of(&node);
            residuals.nodes.insert(node, facts);
        }
        residuals
    }

    /// Charges branching residuals to a terminal from now on.
    pub(crate) fn set_owner(&mut self, terminal: u32) {
        self.owner = terminal;
    }

    /// How many expressions there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<Facts>() + 16)
            + self.derivatives.len() * size_of::<Option<RegexId>>()
            + self.classes.memory_bytes()
            + (self.intersections.len() + self.places.len()) * 40
            + self.heap
    }

    pub(super) fn node(&self, id: RegexId) -> &Node {
        self.nodes
            .get_index(id.0 as usize)
            .map_or(&Node::Nothing, |(node, _)| node)
    }

    pub(super) fn facts(&self, id: RegexId) -> &Facts {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn set_fingerprint(&mut self, id: RegexId, fingerprint: u128) {
        self.nodes[id.0 as usize].fingerprint = Some(fingerprint);
    }

    pub(super) fn set_uncounted(&mut self, id: RegexId, uncounted: (u32, RegexId)) {
        self.nodes[id.0 as usize].uncounted = Some(uncounted);
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

    /// The class of every byte.
    pub(crate) fn class_map(&self, classes: ClassesId) -> &[u8; 256] {
        self.classes.map(classes)
    }

    pub(crate) fn class_table(&mut self) -> &mut Classes {
        &mut self.classes
    }

    fn facts_of(&self, node: &Node) -> Facts {
        let mut facts = Facts {
            nullable: false,
            logical: false,
            size: Size::Finite,
            classes: None,
            first: ByteSet::EMPTY,
            shortest: u32::MAX,
            within: u32::MAX,
            counted: false,
            taken: Taken::Nothing,
            fingerprint: None,
            uncounted: None,
            inhabited: None,
            trimmed: None,
            row: None,
        };
        match node {
            Node::Nothing => {}
            Node::Empty => {
                facts.nullable = true;
                facts.shortest = 0;
                facts.within = 0;
            }
            Node::Class(set) => {
                facts.first = *set;
                facts.shortest = 1;
                facts.within = 1;
            }
            Node::Literal { bytes, at, tail } => {
                let literal = &self.literals[*bytes as usize];
                let (first, rest) = (literal[*at as usize], literal.len() as u32 - at);
                facts.first = ByteSet::byte(first);
                let tail = self.facts(*tail);
                facts.logical = tail.logical;
                facts.size = tail.size.behind_some();
                facts.counted = tail.counted;
                facts.taken = tail.taken;
                facts.shortest = tail.shortest.saturating_add(rest);
                facts.within = facts.shortest.max(tail.within);
            }
            &Node::Words {
                table,
                first,
                end,
                at,
            } => {
                self.facts_of_words(table, first..end, at, &mut facts);
            }
            Node::Concat(head, tail) => {
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
                facts.logical = head.logical || tail.logical;
                facts.counted = head.counted || tail.counted;
                facts.taken = head.taken.with(tail.taken);
                facts.shortest = head.shortest.saturating_add(tail.shortest);
                facts.within = head.within.saturating_add(tail.shortest).max(tail.within);
                facts.first = if head.nullable {
                    head.first.union(&tail.first)
                } else {
                    head.first
                };
            }
            Node::Alt(parts) | Node::And(parts) => {
                self.facts_of_parts(parts, matches!(node, Node::Alt(_)), &mut facts);
            }
            Node::Not(inner) => {
                let inner = self.facts(*inner);
                facts.nullable = !inner.nullable;
                facts.size = match inner.size {
                    Size::Finite => Size::Cofinite,
                    Size::Cofinite => Size::Finite,
                    _ => Size::Unknown,
                };
                facts.first = ByteSet::FULL;
                facts.logical = true;
                facts.taken = inner.taken.fixed();
            }
            Node::Repeat { .. } | Node::Counter { .. } => self.facts_of_repeats(node, &mut facts),
        }
        facts
    }

    fn facts_of_repeats(&self, node: &Node, facts: &mut Facts) {
        match node {
            Node::Repeat { inner, min, max } => {
                let inner = self.facts(*inner);
                facts.size = match inner.size {
                    // No part of an expression that is not logical is empty.
                    _ if max.is_none() && !inner.logical && !inner.first.is_empty() => {
                        Size::Infinite
                    }
                    Size::Finite if max.is_some() => Size::Finite,
                    size if size.endless() && *max != Some(0) => Size::Infinite,
                    _ => Size::Unknown,
                };
                facts.nullable = *min == 0 || inner.nullable;
                facts.logical = inner.logical;
                facts.counted = *min > self.far || max.is_some_and(|max| max > self.far);
                facts.taken = inner.taken.fixed();
                facts.first = inner.first;
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
                taken,
                ..
            } => {
                let inner = self.facts(*inner);
                facts.nullable = !*lower;
                facts.logical = inner.logical;
                facts.taken = Taken::All(*taken);
                facts.first = inner.first;
                facts.shortest = if *lower { u32::MAX } else { 0 };
            }
            _ => {}
        }
    }

    fn facts_of_words(&self, table: u32, range: Range<u32>, at: u32, facts: &mut Facts) {
        let words = &self.tables[table as usize][range.start as usize..range.end as usize];
        facts.within = 0;
        for &word in words {
            let word = &self.literals[word as usize];
            facts.nullable |= word.len() == at as usize;
            facts.shortest = facts.shortest.min(word.len() as u32 - at);
            facts.within = facts.within.max(word.len() as u32 - at);
            if let Some(&byte) = word.get(at as usize) {
                facts.first.insert(byte);
            }
        }
    }

    fn facts_of_parts(&self, parts: &[RegexId], any: bool, facts: &mut Facts) {
        facts.nullable = !any;
        facts.logical = !any;
        facts.size = if any { Size::Finite } else { Size::Cofinite };
        if any {
            facts.within = 0;
        } else {
            facts.first = ByteSet::FULL;
        }
        for &part in parts {
            let part = self.facts(part);
            facts.size = if any {
                facts.size.or(part.size)
            } else {
                facts.size.and(part.size)
            };
            facts.nullable = if any {
                facts.nullable || part.nullable
            } else {
                facts.nullable && part.nullable
            };
            facts.first = if any {
                facts.first.union(&part.first)
            } else {
                facts.first.intersection(&part.first)
            };
            facts.logical |= part.logical;
            facts.counted |= part.counted;
            facts.taken = facts.taken.with(part.taken);
            facts.within = facts.within.max(part.within);
            facts.shortest = facts.shortest.min(part.shortest);
        }
    }

    pub(super) fn intern(&mut self, node: Node, fuel: &mut Fuel) -> Result<RegexId, Error> {
        if let Some(index) = self.nodes.get_index_of(&node) {
            return Ok(RegexId(index as u32));
        }
        fuel.spend(1)?;
        if let Node::Alt(parts) | Node::And(parts) = &node {
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
        let facts = self.facts_of(&node);
        Ok(RegexId(self.nodes.insert_full(node, facts).0 as u32))
    }

    pub(super) fn class(&mut self, set: ByteSet, fuel: &mut Fuel) -> Result<RegexId, Error> {
        if set.is_empty() {
            Ok(RegexId::NOTHING)
        } else {
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
        match end - first {
            0 => Ok(RegexId::NOTHING),
            1 => {
                let only = self.tables[table as usize][first as usize];
                self.literal_from(only, at, RegexId::EMPTY, fuel)
            }
            _ => self.intern(
                Node::Words {
                    table,
                    first,
                    end,
                    at,
                },
                fuel,
            ),
        }
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

    pub(super) fn alt(&mut self, parts: Vec<RegexId>, fuel: &mut Fuel) -> Result<RegexId, Error> {
        fuel.spend(parts.len())?;
        let mut flat = Vec::with_capacity(parts.len());
        let mut set = ByteSet::EMPTY;
        for part in parts {
            match self.node(part) {
                Node::Nothing => {}
                Node::Class(more) => set = set.union(more),
                // An alternative inside is flat already, but may hold a class.
                Node::Alt(inner) => {
                    fuel.spend(inner.len())?;
                    for &part in &**inner {
                        match self.node(part) {
                            Node::Class(more) => set = set.union(more),
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
        let mut flat = Vec::with_capacity(parts.len());
        let mut set: Option<ByteSet> = None;
        let mut refused = Vec::new();
        let mut work = parts;
        while let Some(part) = work.pop() {
            match self.node(part) {
                Node::Nothing => return Ok(RegexId::NOTHING),
                Node::Class(more) => set = Some(set.map_or(*more, |set| set.intersection(more))),
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
