//! Residuals: what is left of terminals after some bytes, as expressions, with everything that is found out about them.

use std::sync::Arc;

use syntagma_grammar::ir::{ByteSet, Lnf, Regex};
use syntagma_grammar::syntax::json_schema;

use super::arena::Arena;
use super::classes::{Classes, ClassesId};
use super::derivatives::Derivatives;
use super::expression::{ExprId, Node};
use super::length_table::LengthTables;
use crate::context::EngineContext;
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededIndexMap, SeededMap};
use crate::tuning;

/// Residuals of the compound expressions that were built, so that what grammars share is built once.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// Those that the store began with.
    before: Option<Arc<SeededMap<Regex, ExprId>>>,
    own: SeededMap<Regex, ExprId>,
}

impl Built {
    pub(super) fn get(&self, regex: &Regex) -> Option<ExprId> {
        let before = || self.before.as_ref()?.get(regex);
        self.own.get(regex).or_else(before).copied()
    }

    pub(super) fn insert(&mut self, regex: &Regex, residual: ExprId) {
        self.own.insert(regex.clone(), residual);
    }

    /// What any number of stores may begin with.
    pub(super) fn settled(self) -> Self {
        Self {
            before: Some(Arc::new(self.own)),
            own: SeededMap::default(),
        }
    }

    /// Without what was built since the store began.
    pub(crate) fn anew(&self) -> Self {
        Self {
            before: self.before.clone(),
            own: SeededMap::default(),
        }
    }
}

/// Whether counts may be left out of comparisons.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The same for words of up to so many bytes, with fewer counts.
    pub(super) uncounted: SeededMap<(ExprId, u32), ExprId>,
    /// What [`Residuals::slack_bound`] found out.
    pub(super) slack_bound: IdMap<ExprId, Option<(ExprId, u32)>>,
    /// Whether every word of one expression is one of another, as far as [`Residuals::slack_bound`] asked.
    pub(super) consisting: IdMap<(ExprId, ExprId), bool>,
    /// How often that took too long.
    pub(super) failures: u32,
}

/// Lengths of words, in bytes.
#[derive(Debug, Default)]
pub(super) struct WordLengths {
    /// Of shortest words of logical expressions.
    pub(super) least: IdMap<ExprId, u32>,
    /// Of shortest words of one byte or more, of nullable expressions.
    pub(super) with_byte: IdMap<ExprId, u32>,
    /// Of some words of logical expressions.
    pub(super) some: IdMap<ExprId, u32>,
}

/// Expressions, and what each analysis has found out about them so far.
#[derive(Debug)]
pub(crate) struct Residuals {
    pub(super) arena: Arena,
    pub(super) derivatives: Derivatives,
    /// Numbers of forms alone, the same in every store, as far as they were computed.
    pub(super) fingerprints: IdMap<ExprId, u128>,
    pub(super) counts: Counts,
    /// Parts of terminals that were built after the grammar.
    pub(crate) built: Built,
    pub(super) words: WordLengths,
    pub(super) units: Units,
    pub(super) lengths: LengthTables,
}

impl Residuals {
    /// No expressions but the simplest; tokens have up to `reach` bytes.
    pub(crate) fn new(reach: u32, layers: Layers) -> Self {
        Self::of(Arena::new(reach, layers), Built::default())
    }

    /// These expressions, of which nothing is known but their form.
    pub(super) fn of(arena: Arena, built: Built) -> Self {
        Self {
            arena,
            derivatives: Derivatives::new(),
            fingerprints: IdMap::default(),
            counts: Counts::default(),
            built,
            words: WordLengths::default(),
            units: Units::default(),
            lengths: LengthTables::default(),
        }
    }

    /// Whether a mechanism is in use.
    pub(crate) fn has(&self, layer: Layer) -> bool {
        self.arena.layers.has(layer)
    }

    /// Charges branching residuals to a terminal from now on.
    pub(crate) fn set_owner(&mut self, terminal: u32) {
        self.arena.set_owner(terminal);
    }

    /// How many expressions there are.
    pub(crate) fn len(&self) -> usize {
        self.arena.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let lengths = self.lengths.intersections.len() + self.lengths.places.len();
        self.arena.memory_bytes()
            + self.derivatives.memory_bytes()
            + self.fingerprints.len() * 36
            + self.counts.uncounted.len() * 14
            + self.built.own.len() * size_of::<(Regex, ExprId)>()
            + (lengths + self.words.some.len()) * 40
            + (self.counts.slack_bound.len() + self.counts.consisting.len()) * 20
    }

    /// Every byte that a word may begin with, and where there are intersections or complements maybe more.
    pub(crate) fn first(&self, id: ExprId) -> ByteSet {
        self.arena.first(id)
    }

    /// Whether the empty string is in it.
    pub(crate) fn is_nullable(&self, id: ExprId) -> bool {
        self.arena.is_nullable(id)
    }

    /// Whether it has an intersection or a complement anywhere.
    pub(crate) fn is_logical(&self, id: ExprId) -> bool {
        self.arena.facts(id).logical
    }

    /// The class of a byte.
    #[inline]
    pub(crate) fn class_of(&self, classes: ClassesId, byte: u8) -> usize {
        self.derivatives.classes.class(classes, byte)
    }

    /// The bytes of a class.
    pub(crate) fn class_members(&self, classes: ClassesId, class: usize) -> &[u8] {
        self.derivatives.classes.members(classes, class)
    }

    pub(crate) fn class_table(&mut self) -> &mut Classes {
        &mut self.derivatives.classes
    }
}

// ---
// Text that is one unit of a repetition. From the expression that is repeated, for `loop_alphabet`.

/// Text that is a unit of a repetition by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) ascii: u128,
    /// The ASCII bytes that are a unit and begin no other.
    pub(super) alone: u128,
    /// Whether every character of more than one byte is one.
    pub(super) characters: bool,
    /// Whether each of them is one and begins no other.
    pub(super) characters_alone: bool,
}

/// What is known of what is repeated.
#[derive(Debug, Default)]
pub(super) struct Units {
    pub(super) known: IdMap<ExprId, Unit>,
    /// The same about what is repeated beside a count of units.
    pub(super) rooms: IdMap<(ExprId, ExprId), Option<u32>>,
}

// ---
// From the grammar's regular languages to residuals: expressions in normal form, in which alternatives with one
// beginning are put together, and many literals are a table.

/// Whether no two of some words are the same.
fn words_differ(words: &[(u32, ExprId)]) -> bool {
    let mut all: Vec<u32> = words.iter().map(|&(literal, _)| literal).collect();
    all.sort_unstable();
    all.windows(2).all(|two| two[0] != two[1])
}

/// What an alternative begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Head {
    Repeat(ExprId),
    /// The number of a literal.
    Literal(u32),
}

/// A literal, perhaps without a number.
enum Beginning {
    Literal(u32),
    Byte(u8),
}

impl Beginning {
    fn number(self, residuals: &mut Residuals) -> u32 {
        match self {
            Self::Literal(number) => number,
            Self::Byte(byte) => residuals.arena.intern_literal(&[byte].into()),
        }
    }
}

/// Alternatives that are being put together.
#[derive(Debug, Default)]
struct Alternatives {
    /// Those that have no head.
    others: Vec<ExprId>,
    /// Heads, and what follows them, which is still to be put together.
    groups: Vec<(Head, Vec<ExprId>)>,
    /// Heads with what follows them.
    done: Vec<(Head, ExprId)>,
}

impl Residuals {
    /// Exactly these bytes.
    pub(crate) fn literal(&mut self, bytes: &Arc<[u8]>, fuel: &mut Fuel) -> Result<ExprId, Error> {
        self.arena.literal(bytes, fuel)
    }

    /// The residual of a whole regular language. Shared parts are built once; nothing recurses.
    pub(crate) fn build(
        &mut self,
        regex: &Regex,
        built: &mut Built,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut work = vec![(regex, false)];
        let mut values: Vec<ExprId> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            let children: &[Regex] = match node {
                Regex::Nothing => {
                    values.push(ExprId::NOTHING);
                    continue;
                }
                Regex::Class(set) => {
                    values.push(self.arena.class(*set, fuel)?);
                    continue;
                }
                Regex::Literal(bytes) => {
                    values.push(self.arena.literal(bytes, fuel)?);
                    continue;
                }
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
                Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
            };
            // Literals in a concatenation wait for what follows them.
            let waits =
                |child: &&Regex| matches!((node, child), (Regex::Concat(_), Regex::Literal(_)));
            // The outermost expression is not looked up: callers keep its value themselves.
            let whole = work.is_empty() && matches!(node, Regex::Concat(_));
            if !visited {
                if !whole && let Some(value) = built.get(node) {
                    values.push(value);
                    continue;
                }
                fuel.spend(children.len())?;
                work.push((node, true));
                let others = children.iter().rev().filter(|child| !waits(child));
                work.extend(others.map(|child| (child, false)));
                continue;
            }
            let first = values.len() - children.iter().filter(|child| !waits(child)).count();
            let value = match node {
                Regex::Concat(children) => self.build_concat(children, &values[first..], fuel)?,
                Regex::Alt(_) => self.build_alt(&values[first..], fuel)?,
                Regex::And(_) => self.arena.and(values[first..].to_vec(), fuel)?,
                Regex::Not(_) => self.arena.not(values[first], fuel)?,
                Regex::Repeat { min, max, .. } => {
                    self.arena.repeat(values[first], *min, *max, fuel)?
                }
                _ => ExprId::NOTHING,
            };
            if !whole {
                built.insert(node, value);
            }
            values.truncate(first);
            values.push(value);
        }
        Ok(values.pop().unwrap_or(ExprId::NOTHING))
    }

    /// Alternatives; those that begin alike, with whitespace mostly or with literals, do so once.
    fn build_alt(&mut self, parts: &[ExprId], fuel: &mut Fuel) -> Result<ExprId, Error> {
        let mut work = vec![self.by_head(parts.to_vec(), fuel)?];
        let mut last = None;
        while let Some(open) = work.last_mut() {
            if let Some(tails) = last.take()
                && let Some((head, _)) = open.groups.pop()
            {
                open.done.push((head, tails));
            }
            let tails = open
                .groups
                .last_mut()
                .map(|(_, tails)| std::mem::take(tails));
            match tails {
                Some(tails) if tails.len() == 1 => last = Some(tails[0]),
                Some(tails) => work.push(self.by_head(tails, fuel)?),
                None => {
                    let Alternatives { others, done, .. } = std::mem::take(open);
                    work.pop();
                    last = Some(self.alternatives_of(others, done, fuel)?);
                }
            }
        }
        Ok(last.unwrap_or(ExprId::NOTHING))
    }

    /// Sorts alternatives by what they begin with.
    fn by_head(&mut self, parts: Vec<ExprId>, fuel: &mut Fuel) -> Result<Alternatives, Error> {
        fuel.spend(parts.len())?;
        let mut sorted = Alternatives::default();
        let literals = parts
            .iter()
            .filter(|&&part| self.literal_head(part).is_some());
        let many = self.has(Layer::Tables) && literals.count() >= tuning::WORDS_OF_A_TABLE;
        let mut groups: SeededIndexMap<Head, Vec<ExprId>> = SeededIndexMap::default();
        for part in parts {
            let (head, tail) = self.split(part);
            let (head, tail) = match (self.literal_head(part), tail) {
                (Some((literal, tail)), _) if many => (Head::Literal(literal.number(self)), tail),
                (_, Some(tail)) if matches!(self.arena.node(head), Node::Repeat { .. }) => {
                    (Head::Repeat(head), tail)
                }
                _ => {
                    sorted.others.push(part);
                    continue;
                }
            };
            groups.entry(head).or_default().push(tail);
        }
        sorted.groups = groups.into_iter().collect();
        Ok(sorted)
    }

    /// The literal that an expression begins with, and what follows it.
    fn literal_head(&self, part: ExprId) -> Option<(Beginning, ExprId)> {
        match *self.arena.node(part) {
            Node::Literal { bytes, at: 0, tail } => Some((Beginning::Literal(bytes), tail)),
            Node::Concat(head, tail) => match self.arena.node(head) {
                &Node::Class(set) if self.arena.bytes(set).len() == 1 => {
                    let mut bytes = self.arena.bytes(set).iter();
                    bytes.next().map(|byte| (Beginning::Byte(byte), tail))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Alternatives of which some begin with a head each. Many literals become one table, so that a byte costs a search
    /// and not a look at each of them.
    fn alternatives_of(
        &mut self,
        mut all: Vec<ExprId>,
        heads: Vec<(Head, ExprId)>,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        fuel.spend(heads.len())?;
        let mut words = Vec::new();
        for (head, tail) in heads {
            match head {
                Head::Repeat(head) => all.push(self.arena.concat(head, tail, fuel)?),
                Head::Literal(literal) if self.arena.may_follow_words(tail) => {
                    words.push((literal, tail));
                }
                Head::Literal(literal) => {
                    all.push(self.arena.literal_from(literal, 0, tail, fuel)?);
                }
            }
        }
        if words.len() >= tuning::WORDS_OF_A_TABLE {
            let end = words.len() as u32;
            let table = self.arena.intern_words(words);
            all.push(self.arena.words_from(table, 0, end, 0, fuel)?);
        } else {
            for (literal, tail) in words {
                all.push(self.arena.literal_from(literal, 0, tail, fuel)?);
            }
        }
        self.arena.alt(all, fuel)
    }

    /// A whole table of words before `tail`, as a table: reading on in it costs nothing but the search.
    fn words_then(
        &mut self,
        words: ExprId,
        tail: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<ExprId>, Error> {
        let &Node::Words {
            table,
            first: 0,
            end,
            at: 0,
        } = self.arena.node(words)
        else {
            return Ok(None);
        };
        let table = &self.arena.tables[table as usize];
        if table.len() != end || tail == ExprId::EMPTY || !self.arena.may_follow_words(tail) {
            return Ok(None);
        }
        let mut all: Vec<(u32, ExprId)> = table.iter().collect();
        fuel.spend(all.len())?;
        // A literal makes all words longer: what is a part of another one may then be none.
        let (literal, rest) = match (self.literal_head(tail), self.arena.node(tail)) {
            (Some((literal, rest)), _) => (Some(literal.number(self)), rest),
            (None, &Node::Class(set)) if self.arena.bytes(set).len() == 1 => {
                let bytes: Vec<u8> = self.arena.bytes(set).iter().collect();
                (
                    Some(self.arena.intern_literal(&bytes.into())),
                    ExprId::EMPTY,
                )
            }
            _ => (None, tail),
        };
        for (word, behind) in &mut all {
            if *behind == ExprId::EMPTY
                && let Some(literal) = literal
            {
                let parts = [*word, literal].map(|part| &*self.arena.literals[part as usize]);
                *word = self.arena.intern_literal(&parts.concat().into());
                *behind = rest;
            } else {
                *behind = self.arena.concat(*behind, tail, fuel)?;
            }
            if !self.arena.may_follow_words(*behind) {
                return Ok(None);
            }
        }
        // Words with different ends could have become the same.
        if literal.is_some() && !words_differ(&all) {
            return Ok(None);
        }
        let table = self.arena.intern_words(all);
        self.arena.words_from(table, 0, end, 0, fuel).map(Some)
    }

    /// Parts from right to left; literals side by side become one. `parts` are those that are no literals.
    fn build_concat(
        &mut self,
        children: &[Regex],
        parts: &[ExprId],
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut result = ExprId::EMPTY;
        let mut parts = parts.iter().rev();
        let mut end = children.len();
        while end > 0 {
            let is_literal = |child: &Regex| matches!(child, Regex::Literal(_));
            let start = children[..end]
                .iter()
                .rposition(|child| !is_literal(child))
                .map_or(0, |at| at + 1);
            result = match &children[start..end] {
                [] => {
                    end -= 1;
                    let Some(&part) = parts.next() else {
                        break;
                    };
                    match self.words_then(part, result, fuel)? {
                        Some(words) => words,
                        None => self.arena.concat(part, result, fuel)?,
                    }
                }
                [Regex::Literal(bytes)] => {
                    end = start;
                    let index = self.arena.intern_literal(bytes);
                    self.arena.literal_from(index, 0, result, fuel)?
                }
                literals => {
                    end = start;
                    let mut bytes = Vec::new();
                    for child in literals {
                        if let Regex::Literal(more) = child {
                            bytes.extend_from_slice(more);
                        }
                    }
                    let index = self.arena.intern_literal(&bytes.into());
                    self.arena.literal_from(index, 0, result, fuel)?
                }
            };
        }
        Ok(result)
    }
}

// ---
// Numbers of expressions by form alone: equal in all stores of this process, and different for different forms.
//
// A form is a sequence of numbers, and that the coefficients of a polynomial, taken at a secret point modulo 2^61 - 1. Two
// sequences of up to n numbers that differ come to the same at n points at most (Carter and Wegman, Universal classes of
// hash functions, 1979), and there are two points: nobody who writes grammars can aim at a collision.

const PRIME: u64 = (1 << 61) - 1;

/// Two polynomials being evaluated.
struct Form {
    at: [u64; 2],
    value: [u64; 2],
}

impl Form {
    /// Begins with what kind of expression it is.
    fn new(kind: u32) -> Self {
        let at = EngineContext::current()
            .secrets
            .map(|secret| secret % PRIME);
        // No sequence begins with zero, or it could be longer and mean the same.
        let first = u64::from(kind) + 1;
        Self {
            at,
            value: [first; 2],
        }
    }

    /// A number below 2^61 - 1.
    fn number(&mut self, number: u64) {
        for (value, at) in self.value.iter_mut().zip(self.at) {
            let product = u128::from(*value) * u128::from(at);
            // 2^61 is one more than the prime.
            let folded = (product as u64 & PRIME) + (product >> 61) as u64 + number;
            *value = folded % PRIME;
        }
    }

    fn fingerprint(&mut self, fingerprint: u128) {
        for part in [fingerprint as u64, (fingerprint >> 64) as u64] {
            self.number(part);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(7) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    fn finish(self) -> u128 {
        u128::from(self.value[1]) << 64 | u128::from(self.value[0])
    }
}

impl Residuals {
    /// The number of an expression; None for those of which it would take longer than it is worth.
    pub(crate) fn fingerprint(&mut self, root: ExprId) -> Option<u128> {
        if self.arena.facts(root).weight > tuning::FORM_WEIGHT {
            return None;
        }
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.fingerprints.contains_key(&id) {
                work.pop();
                continue;
            }
            let waiting = work.len();
            let form = self.form(id, &mut work);
            if work.len() == waiting {
                self.fingerprints.insert(id, form.finish());
            }
        }
        self.fingerprints.get(&root).copied()
    }

    /// The form of an expression; whose parts have no number yet are added to the work that comes first.
    fn form(&self, id: ExprId, work: &mut Vec<ExprId>) -> Form {
        let mut part = |part: ExprId| {
            let known = self.fingerprints.get(&part).copied();
            known.unwrap_or_else(|| {
                work.push(part);
                0
            })
        };
        match self.arena.node(id) {
            Node::Nothing => Form::new(0),
            Node::Empty => Form::new(1),
            Node::Class(set) => {
                let mut form = Form::new(2);
                for word in self.arena.bytes(*set).words() {
                    form.number(word & u64::from(u32::MAX));
                    form.number(word >> 32);
                }
                form
            }
            Node::Literal { bytes, at, tail } => {
                let mut form = Form::new(3);
                form.bytes(&self.arena.literals[*bytes as usize][*at as usize..]);
                form.fingerprint(part(*tail));
                form
            }
            &Node::Words {
                table,
                first,
                end,
                at,
            } => {
                let mut form = Form::new(4);
                let words = &self.arena.tables[table as usize];
                form.number(u64::from(end - first));
                for word in first..end {
                    form.bytes(words.rest(word, at));
                }
                let tails = words.tails().get(first as usize..end as usize);
                for &tail in tails.unwrap_or_default() {
                    form.fingerprint(part(tail));
                }
                form
            }
            &Node::Concat(head, tail) => {
                let mut form = Form::new(5);
                form.fingerprint(part(head));
                form.fingerprint(part(tail));
                form
            }
            Node::Alt(parts) | Node::And(parts) => {
                let any = matches!(self.arena.node(id), Node::Alt(_));
                // Their order is that of this store.
                let mut all: Vec<u128> = parts.iter().map(|&one| part(one)).collect();
                all.sort_unstable();
                let mut form = Form::new(if any { 6 } else { 7 });
                for one in all {
                    form.fingerprint(one);
                }
                form
            }
            &Node::Not(inner) => {
                let mut form = Form::new(8);
                form.fingerprint(part(inner));
                form
            }
            &Node::Repeat { inner, min, max } => {
                let mut form = Form::new(9);
                form.fingerprint(part(inner));
                form.number(u64::from(min));
                // One more than any bound.
                form.number(max.map_or(1 << 32, u64::from));
                form
            }
            &Node::Counter {
                inner,
                lower,
                upper,
                consumed,
            } => {
                let mut form = Form::new(10);
                form.fingerprint(part(inner));
                form.number(u64::from(lower) << 1 | u64::from(upper));
                form.number(u64::from(consumed));
                form
            }
        }
    }
}

// ---
// What a store still needs, in a new one.
//
// A store only grows. When it has grown too large, a new one takes over the few expressions that are still in use, as they
// are: what they are made of keeps its form, only the numbers are others.

/// Expressions of an old store and what they are in the new one.
pub(crate) type Carried = IdMap<ExprId, ExprId>;

impl Residuals {
    /// An expression of another store. Nothing recurses.
    pub(crate) fn carry(
        &mut self,
        from: &Self,
        root: ExprId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut work = vec![(root, false)];
        while let Some((id, visited)) = work.pop() {
            if carried.contains_key(&id) {
                continue;
            }
            let node = from.arena.node(id);
            if visited {
                let node = self.renumbered(from, node, carried);
                let here = self.arena.intern(node, fuel)?;
                carried.insert(id, here);
                continue;
            }
            work.push((id, true));
            let parts: &[ExprId] = match node {
                Node::Nothing | Node::Empty | Node::Class(_) => &[],
                Node::Words { table, .. } => from.arena.tables[*table as usize].tails(),
                Node::Concat(head, tail) => &[*head, *tail],
                Node::Alt(parts) | Node::And(parts) => parts,
                Node::Literal { tail: part, .. }
                | Node::Not(part)
                | Node::Repeat { inner: part, .. }
                | Node::Counter { inner: part, .. } => std::slice::from_ref(part),
            };
            work.extend(parts.iter().map(|&part| (part, false)));
        }
        Ok(carried[&root])
    }

    /// An expression of another store whose parts are in this one already.
    fn renumbered(&mut self, from: &Self, node: &Node, carried: &Carried) -> Node {
        let sorted = |parts: &[ExprId]| {
            let mut parts: Vec<ExprId> = parts.iter().map(|part| carried[part]).collect();
            parts.sort_unstable();
            parts.into()
        };
        match *node {
            Node::Nothing => Node::Nothing,
            Node::Empty => Node::Empty,
            Node::Class(set) => Node::Class(self.arena.byte_set(*from.arena.bytes(set))),
            Node::Literal { bytes, at, tail } => Node::Literal {
                bytes: self.carry_literal(from, bytes),
                at,
                tail: carried[&tail],
            },
            Node::Words {
                table,
                first,
                end,
                at,
            } => {
                let words = from.arena.tables[table as usize].iter();
                let words = words.map(|(literal, tail)| {
                    let tail = carried.get(&tail).copied();
                    (
                        self.carry_literal(from, literal),
                        tail.unwrap_or(ExprId::EMPTY),
                    )
                });
                let words = words.collect();
                Node::Words {
                    table: self.arena.intern_words(words),
                    first,
                    end,
                    at,
                }
            }
            Node::Concat(head, tail) => Node::Concat(carried[&head], carried[&tail]),
            Node::Alt(ref parts) => Node::Alt(sorted(parts)),
            Node::And(ref parts) => Node::And(sorted(parts)),
            Node::Not(inner) => Node::Not(carried[&inner]),
            Node::Repeat { inner, min, max } => Node::Repeat {
                inner: carried[&inner],
                min,
                max,
            },
            Node::Counter {
                inner,
                lower,
                upper,
                consumed,
            } => Node::Counter {
                inner: carried[&inner],
                lower,
                upper,
                consumed,
            },
        }
    }

    fn carry_literal(&mut self, from: &Self, index: u32) -> u32 {
        let bytes = &from.arena.literals[index as usize];
        self.arena.intern_literal(bytes)
    }
}

// ---
// Expressions that most grammars need, made once: those of any JSON value, of integers and of names. For compiling, which
// begins with a copy of them instead of none.
//
// A copy takes a few microseconds, making them anew some twenty. They are the same for every grammar of a vocabulary, so
// what a compilation takes does not depend on what was compiled before.

/// Any value beside an integer; the names of others are spelled in the one way that counts.
const SCHEMA: &str = r#"{"properties": {"": {"type": "integer"}}}"#;

/// Where the store of a grammar begins.
#[derive(Debug)]
pub(crate) struct Seed {
    arena: Arena,
    built: Built,
}

impl Seed {
    /// That of a vocabulary whose tokens have up to `reach` bytes.
    pub(crate) fn new(reach: u32, layers: Layers) -> Self {
        let mut residuals = Residuals::new(reach, layers);
        let mut built = Built::default();
        // What could not be made before would be made later.
        let _ = fill(&mut residuals, &mut built);
        Self {
            arena: residuals.arena.settled(),
            built: built.settled(),
        }
    }

    /// A store that has these expressions and knows nothing else; an empty one for other mechanisms.
    pub(crate) fn store(&self, layers: Layers) -> Residuals {
        if self.arena.layers == layers {
            Residuals::of(self.arena.clone(), self.built.anew())
        } else {
            Residuals::new(self.arena.reach(), layers)
        }
    }
}

fn fill(residuals: &mut Residuals, built: &mut Built) -> Result<(), Error> {
    let (options, limits) = Default::default();
    let grammar = json_schema::parse(SCHEMA, &options, &limits)?;
    let lnf = Lnf::new(&Arc::new(grammar), &limits)?;
    for regex in &lnf.symbols.regexes {
        residuals.build(regex, built, &mut Fuel::endless())?;
    }
    Ok(())
}
