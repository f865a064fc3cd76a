//! Residuals side by side: for how many bytes two of them read alike, and which bounds of one decide nothing for
//! tokens. For scans of the vocabulary, which then read one residual in place of many, or only where two differ.

use std::sync::Arc;

use smallvec::SmallVec;
use syntagma_grammar::ir::ByteSet;

use super::expression::{Bounds, Consumed, Countable};
use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::tuning;

impl Residuals {
    /// An expression that words of up to `bytes` bytes, and what can be read of longer ones in so many bytes, cannot tell
    /// from this one: counts that cannot run out are dropped. Counts below intersections and complements decide whether
    /// there is any word; they stay unless [`Self::slack_bound`] shows that they do not.
    pub(crate) fn uncounted(
        &mut self,
        id: ExprId,
        bytes: u32,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        self.uncounted_within(id, bytes, tuning::COMPARED_NESTING, fuel)
    }

    /// The same, as far as alternatives are within each other so often.
    fn uncounted_within(
        &mut self,
        id: ExprId,
        bytes: u32,
        nesting: u32,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        if let Some(&known) = self.counts.uncounted.get(&(id, bytes)) {
            return Ok(known);
        }
        let Node::Alt(parts) = self.arena.node(id) else {
            return self.without_counts(id, bytes, nesting, fuel);
        };
        let parts = Arc::clone(parts);
        let mut all = Vec::with_capacity(parts.len());
        for &part in parts.iter() {
            all.push(self.without_counts(part, bytes, nesting, fuel)?);
        }
        let result = self.arena.alt(all, fuel)?;
        self.counts.uncounted.insert((id, bytes), result);
        Ok(result)
    }

    /// [`Self::uncounted_within`] for one alternative: from its end, which many have in common.
    fn without_counts(
        &mut self,
        id: ExprId,
        bytes: u32,
        nesting: u32,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut waiting: SmallVec<[ExprId; 8]> = SmallVec::new();
        let mut rest = id;
        let mut result = loop {
            if let Some(&known) = self.counts.uncounted.get(&(rest, bytes)) {
                break known;
            }
            waiting.push(rest);
            match self.split(rest) {
                (_, Some(tail)) => rest = tail,
                _ => break ExprId::EMPTY,
            }
        };
        fuel.spend(waiting.len())?;
        while let Some(whole) = waiting.pop() {
            let (head, tail) = self.split(whole);
            let same = result == tail.unwrap_or(ExprId::EMPTY);
            let new = match *self.arena.node(head) {
                Node::Literal { .. } if same => whole,
                Node::Literal { bytes, at, .. } => {
                    self.arena.literal_from(bytes, at, result, fuel)?
                }
                _ => match self.part_without_counts(head, bytes, nesting, fuel)? {
                    new if same && new == head => whole,
                    new => {
                        let spine = self.spine(new);
                        self.rebuilt(spine, result, fuel)?
                    }
                },
            };
            self.counts.uncounted.insert((whole, bytes), new);
            result = new;
        }
        Ok(result)
    }

    /// The same for one of the parts that follow each other.
    fn part_without_counts(
        &mut self,
        part: ExprId,
        bytes: u32,
        nesting: u32,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let within = |residuals: &mut Self, part, fuel: &mut Fuel| match nesting.checked_sub(1) {
            Some(nesting) if residuals.arena.facts(part).weight <= tuning::FORM_WEIGHT => {
                residuals.uncounted_within(part, bytes, nesting, fuel)
            }
            _ => Ok(part),
        };
        match *self.arena.node(part) {
            Node::Repeat { inner, min, max } => {
                let least = self.arena.facts(inner).least.max(1);
                let max = max.filter(|max| max.saturating_mul(least) < bytes);
                let min = min.min(bytes.div_ceil(least));
                self.arena.repeat(inner, min, max, fuel)
            }
            Node::Alt(_) => within(self, part, fuel),
            Node::And(_) => match self.slack_bound(part, fuel)? {
                Some((rest, room)) if room >= bytes => within(self, rest, fuel),
                _ => Ok(match self.without_upper_bound(part, bytes, fuel)? {
                    Some((rest, room)) if room >= bytes => rest,
                    _ => part,
                }),
            },
            _ => Ok(part),
        }
    }

    /// For an intersection of an expression with a count of units, such as the characters of a string with at most so
    /// many: the expression, and for how many bytes the count changes nothing.
    ///
    /// That is so if every word of the expression consists of such units, however many. From wherever reading has led,
    /// some word of it ends within a known number of bytes, so also within as many units.
    fn slack_bound(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<Option<(ExprId, u32)>, Error> {
        if let Some(&known) = self.counts.slack_bound.get(&id) {
            return Ok(known);
        }
        let parts = match self.arena.node(id) {
            Node::And(parts) => Arc::clone(parts),
            _ => return Ok(None),
        };
        let mut found = None;
        if let [a, b] = *parts
            && self.counts.failures < tuning::INCLUSION_FAILURES
        {
            for (counted, rest) in [(a, b), (b, a)] {
                let facts = self.arena.facts(rest);
                let (logical, within) = (facts.logical, facts.within);
                let Some((unbounded, max)) = self.unbounded(counted, fuel)? else {
                    continue;
                };
                if logical || max <= within {
                    continue;
                }
                if self.consists(rest, unbounded, fuel) {
                    // Without a bound there is room for anything.
                    let room = if max == u32::MAX { max } else { max - within };
                    found = Some((rest, room));
                    break;
                }
            }
        }
        self.counts.slack_bound.insert(id, found);
        Ok(found)
    }

    /// Whether every word of an expression, whatever its own counts, is one of another; false if that is not found out.
    fn consists(&mut self, part: ExprId, all: ExprId, fuel: &mut Fuel) -> bool {
        if let Some(&known) = self.counts.consisting.get(&(part, all)) {
            return known;
        }
        let mut some = fuel.up_to(tuning::INCLUSION_FUEL);
        let known = self.prove(part, all, &mut some).unwrap_or_else(|_| {
            self.counts.failures += 1;
            false
        });
        self.counts.consisting.insert((part, all), known);
        known
    }

    fn prove(&mut self, part: ExprId, all: ExprId, fuel: &mut Fuel) -> Result<bool, Error> {
        // Without the bounds there is less to go through, and the same for all that count down from them.
        let boundless = self.boundless(part, fuel)?;
        Ok(self.is_part(boundless, all, fuel)?
            || boundless != part && self.is_part(part, all, fuel)?)
    }

    /// An expression with all words of this one, and more: without the bounds of repetitions.
    fn boundless(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<ExprId, Error> {
        let mut all = Vec::new();
        for part in self.alternatives(id) {
            all.push(self.rewrite(part, fuel, &|residuals, part, fuel| {
                match *residuals.arena.node(part) {
                    Node::Repeat { inner, min, .. } => {
                        residuals.arena.repeat(inner, min.min(1), None, fuel)
                    }
                    _ => Ok(part),
                }
            })?);
        }
        self.arena.alt(all, fuel)
    }

    /// Whether every word of `part` is one of `all`.
    fn is_part(&mut self, part: ExprId, all: ExprId, fuel: &mut Fuel) -> Result<bool, Error> {
        let others = self.arena.not(all, fuel)?;
        let outside = self.arena.and(vec![part, others], fuel)?;
        Ok(self.trim(outside, fuel)? == ExprId::NOTHING)
    }

    /// The expression without the upper bound of the repetition at its end, and that bound, if there is any.
    fn unbounded(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<Option<(ExprId, u32)>, Error> {
        let mut last = id;
        while let (_, Some(tail)) = self.split(last) {
            fuel.spend(1)?;
            last = tail;
        }
        let max = match *self.arena.node(last) {
            Node::Repeat {
                min: 0, max: None, ..
            } => return Ok(Some((id, u32::MAX))),
            Node::Repeat {
                min: 0,
                max: Some(max),
                ..
            } => max,
            _ => return Ok(None),
        };
        let unbounded = self.rewrite(id, fuel, &|residuals, part, fuel| match *residuals
            .arena
            .node(part)
        {
            Node::Repeat { inner, .. } if part == last => {
                residuals.arena.repeat(inner, 0, None, fuel)
            }
            _ => Ok(part),
        })?;
        Ok(Some((unbounded, max)))
    }

    /// Changes the parts that follow each other in an expression.
    fn rewrite(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
        change: &dyn Fn(&mut Self, ExprId, &mut Fuel) -> Result<ExprId, Error>,
    ) -> Result<ExprId, Error> {
        let mut spine = Vec::new();
        let mut rest = id;
        let mut changed = false;
        loop {
            let (head, tail) = self.split(rest);
            let new = match self.arena.node(head) {
                Node::Literal { .. } => head,
                _ => change(self, head, fuel)?,
            };
            if new == head {
                spine.push(head);
            } else {
                changed = true;
                spine.extend(self.spine(new));
            }
            match tail {
                Some(tail) => rest = tail,
                None => break,
            }
        }
        fuel.spend(spine.len())?;
        if changed {
            self.rebuilt(spine, ExprId::EMPTY, fuel)
        } else {
            Ok(id)
        }
    }

    /// The parts that follow each other in an expression.
    pub(super) fn spine(&self, id: ExprId) -> Vec<ExprId> {
        let mut spine = Vec::new();
        let mut rest = Some(id);
        while let Some(at) = rest {
            let (head, tail) = self.split(at);
            spine.push(head);
            rest = tail;
        }
        spine
    }

    /// Parts that follow each other, as [`Self::spine`] gave them, put together again in front of a rest.
    pub(super) fn rebuilt(
        &mut self,
        spine: Vec<ExprId>,
        rest: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut result = rest;
        for part in spine.into_iter().rev() {
            result = match *self.arena.node(part) {
                // The part stands for its bytes alone; its own tail comes next in the spine.
                Node::Literal { bytes, at, tail } if tail != ExprId::EMPTY => {
                    self.arena.literal_from(bytes, at, result, fuel)?
                }
                _ => self.arena.concat(part, result, fuel)?,
            };
        }
        Ok(result)
    }

    /// For how many bytes two expressions cannot be told apart, as far as their form shows.
    pub(crate) fn agreement(
        &mut self,
        a: ExprId,
        b: ExprId,
        fuel: &mut Fuel,
    ) -> Result<u32, Error> {
        self.agreement_within(a, b, tuning::COMPARED_NESTING, fuel)
    }

    fn agreement_within(
        &mut self,
        mut a: ExprId,
        mut b: ExprId,
        nesting: u32,
        fuel: &mut Fuel,
    ) -> Result<u32, Error> {
        let mut bytes = u32::MAX;
        while a != b {
            let ((head_a, tail_a), (head_b, tail_b)) = (self.split(a), self.split(b));
            if head_a != head_b {
                match (self.arena.node(head_a), self.arena.node(head_b)) {
                    (
                        &Node::Repeat {
                            inner: inner_a,
                            min: min_a,
                            max: max_a,
                        },
                        &Node::Repeat {
                            inner: inner_b,
                            min: min_b,
                            max: max_b,
                        },
                    ) if inner_a == inner_b => {
                        let least = self.arena.facts(inner_a).least.max(1);
                        let of = |units: u32| units.saturating_mul(least);
                        if min_a != min_b {
                            bytes = bytes.min(of(min_a.min(min_b)));
                        }
                        if max_a != max_b {
                            let max = max_a.unwrap_or(u32::MAX).min(max_b.unwrap_or(u32::MAX));
                            bytes = bytes.min(of(max));
                        }
                    }
                    (
                        Node::Literal {
                            bytes: bytes_a,
                            at: at_a,
                            ..
                        },
                        Node::Literal {
                            bytes: bytes_b,
                            at: at_b,
                            ..
                        },
                    ) if (bytes_a, at_a) == (bytes_b, at_b) && tail_a.is_some() => {}
                    (Node::And(_), _) => {
                        let slack_bound = match self.slack_bound(head_a, fuel)? {
                            None => self.without_upper_bound(head_a, u32::MAX, fuel)?,
                            found => found,
                        };
                        let Some((rest, room)) = slack_bound else {
                            return Ok(0);
                        };
                        a = match tail_a {
                            Some(tail) => self.arena.concat(rest, tail, fuel)?,
                            None => rest,
                        };
                        bytes = bytes.min(room);
                        if matches!(self.arena.node(self.split(a).0), Node::And(_)) {
                            return Ok(if a == b { bytes } else { 0 });
                        }
                        continue;
                    }
                    (Node::Alt(_), Node::Alt(_)) if nesting > 0 => {
                        bytes = bytes.min(self.pairs(head_a, head_b, nesting - 1, fuel)?);
                    }
                    _ => return Ok(0),
                }
            }
            match (tail_a, tail_b) {
                (Some(tail_a), Some(tail_b)) => (a, b) = (tail_a, tail_b),
                (None, None) => break,
                _ => return Ok(0),
            }
        }
        Ok(bytes)
    }

    /// The agreement of alternatives, each with one of the others.
    fn pairs(&mut self, a: ExprId, b: ExprId, nesting: u32, fuel: &mut Fuel) -> Result<u32, Error> {
        let (all_a, all_b) = (self.alternatives(a), self.alternatives(b));
        // Alternatives are in the order of their numbers.
        let own = |all: &[ExprId], others: &[ExprId]| -> Vec<ExprId> {
            let own = |part: &&ExprId| others.binary_search(part).is_err();
            all.iter()
                .filter(own)
                .take(tuning::COMPARED_ALTERNATIVES + 1)
                .copied()
                .collect()
        };
        let (of_a, mut of_b) = (own(&all_a, &all_b), own(&all_b, &all_a));
        if of_a.len() != of_b.len() || of_a.len() > tuning::COMPARED_ALTERNATIVES {
            return Ok(0);
        }
        let mut bytes = u32::MAX;
        for one in of_a {
            let mut best = (0, 0);
            for (index, &other) in of_b.iter().enumerate() {
                let agreement = self.agreement_within(one, other, nesting, fuel)?;
                if agreement > best.0 {
                    best = (agreement, index);
                }
            }
            if best.0 == 0 {
                return Ok(0);
            }
            of_b.swap_remove(best.1);
            bytes = bytes.min(best.0);
        }
        Ok(bytes)
    }

    /// Whether two expressions agree in the first of the parts that follow each other.
    pub(crate) fn same_head(&self, a: ExprId, b: ExprId) -> bool {
        a == b || self.split(a).0 == self.split(b).0
    }

    /// An expression as up to so many bytes of a set, whitespace mostly, before a rest that has a byte and begins with none of
    /// the set. For most expressions the set is empty and the rest is all.
    pub(crate) fn lead(&self, id: ExprId) -> (ByteSet, u32, ExprId) {
        if self.has(Layer::Lead)
            && let (head, Some(tail)) = self.split(id)
            && let &Node::Repeat { inner, min: 0, max } = self.arena.node(head)
            && let &Node::Class(set) = self.arena.node(inner)
            && let set = self.arena.bytes(set)
            && set.len() <= tuning::LEAD_BYTES
            && !self.is_nullable(tail)
            && set.intersection(&self.first(tail)).is_empty()
        {
            return (*set, max.unwrap_or(u32::MAX), tail);
        }
        (ByteSet::EMPTY, 0, id)
    }

    /// The first of the parts that follow each other, and the others. A literal with a tail is its own first part.
    pub(super) fn split(&self, id: ExprId) -> (ExprId, Option<ExprId>) {
        match *self.arena.node(id) {
            Node::Concat(head, tail) => (head, Some(tail)),
            Node::Literal { tail, .. } if tail != ExprId::EMPTY => (id, Some(tail)),
            _ => (id, None),
        }
    }
}

// ---
// Residuals that are another one but for some words, such as the keys that an object does not name. From the form of
// an intersection with a complement, for `mask::excluded`.

/// What a residual is: all but some words of a body, and a tail behind it.
#[derive(Debug)]
pub(crate) struct Exclusion {
    /// The body with the tail, nothing being left out.
    pub(crate) plain: ExprId,
    /// The words that the body must not be; sorted. Where one of them ends, the tail may not begin, and nothing else differs.
    pub(crate) words: Vec<Vec<u8>>,
    /// The tail: it has a byte, and begins with none that the body reads where a word ends, nor with one of a word.
    pub(crate) tail: ExprId,
}

impl Residuals {
    /// What a residual leaves out of another, if that is all there is between the two.
    ///
    /// For `(body & ~words) tail` that is so if the body always goes on, and if no other reading of a text can take the place
    /// of the one in which the body is a word: the tail begins with a byte that is in no word, and on which the body dies
    /// behind them.
    pub(crate) fn exclusion(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<Exclusion>, Error> {
        let Node::Concat(head, tail) = *self.arena.node(id) else {
            return Ok(None);
        };
        let Node::And(parts) = self.arena.node(head) else {
            return Ok(None);
        };
        let mut kept = Vec::with_capacity(parts.len() - 1);
        let mut excluded = None;
        for &part in &**parts {
            match *self.arena.node(part) {
                Node::Not(inner) => excluded = Some(inner),
                _ => kept.push(part),
            }
        }
        let (Some(excluded), [body]) = (excluded, &kept[..]) else {
            return Ok(None);
        };
        let body = *body;
        let goes_on = matches!(self.arena.node(body), Node::Repeat { max: None, .. });
        if !goes_on || self.is_logical(body) || self.is_nullable(tail) {
            return Ok(None);
        }
        let Some(mut words) = self.finite_words(excluded) else {
            return Ok(None);
        };
        words.sort_unstable();
        let first = self.first(tail);
        if words.iter().flatten().any(|&byte| first.contains(byte)) {
            return Ok(None);
        }
        // Where the word before has led, byte by byte: sorted words share their beginnings.
        let mut path = vec![body];
        let mut before: &[u8] = &[];
        let mut seen = ExprId::NOTHING;
        for word in &words {
            let same = before.iter().zip(word).take_while(|(a, b)| a == b).count();
            path.truncate(same + 1);
            let mut rest = path[same];
            for &byte in &word[same..] {
                rest = self.derivative(rest, byte, fuel)?;
                path.push(rest);
            }
            before = word;
            if rest == seen || !self.is_nullable(rest) {
                continue;
            }
            for byte in first.iter() {
                if self.derivative(rest, byte, fuel)? != ExprId::NOTHING {
                    return Ok(None);
                }
            }
            seen = rest;
        }
        let plain = self.arena.concat(body, tail, fuel)?;
        Ok(Some(Exclusion { plain, words, tail }))
    }

    /// The words of an expression that is plainly a set of few.
    fn finite_words(&self, root: ExprId) -> Option<Vec<Vec<u8>>> {
        let mut words = Vec::new();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match self.arena.node(id) {
                Node::Empty => words.push(Vec::new()),
                Node::Class(set)
                    if self.arena.bytes(*set).len() <= tuning::EXCLUDED_CLASS_BYTES =>
                {
                    words.extend(self.arena.bytes(*set).iter().map(|byte| vec![byte]));
                }
                Node::Literal { bytes, at, tail } if *tail == ExprId::EMPTY => {
                    words.push(self.arena.literals[*bytes as usize][*at as usize..].to_vec());
                }
                &Node::Words {
                    table,
                    first,
                    end,
                    at,
                } if (end - first) as usize <= tuning::EXCLUDED_WORDS => {
                    let table = &self.arena.tables[table as usize];
                    if !table.tails().is_empty() {
                        return None;
                    }
                    let rest = |word| {
                        let literal = &self.arena.literals[table.literal(word) as usize];
                        literal[at as usize..].to_vec()
                    };
                    words.extend((first..end).map(rest));
                }
                Node::Alt(parts) if parts.len() <= tuning::EXCLUDED_WORDS => {
                    work.extend(parts.iter().copied());
                }
                _ => return None,
            }
            if words.len() > tuning::EXCLUDED_WORDS {
                return None;
            }
        }
        Some(words)
    }
}

// ---
// Counting registers: large bounds of repetitions are kept beside the automaton, so that counting makes neither
// residuals nor masks. For `lexer_state`, from expressions.
//
// A bound is *out of reach* if it is larger than the longest token. While the bounds of the repetition that is being
// read are out of reach, what a byte leaves does not depend on them, only on which of them there are: `x{0,999}y` goes
// on as `x{0,998}y` does. So the repetition becomes a [`Node::Counter`], an unknown that remembers how many units it
// consumed, and the numbers are kept with the lexer state that the counter is in. A step takes the consumed units off
// the numbers and sets the counter back; every count then runs through the same few residuals. Substituting numbers
// for the unknown commutes with taking a derivative as long as no number runs out. Three things end it, and the
// counter becomes a repetition again: a bound comes within reach; the repetition has been left in all parts; or parts
// disagree on how many units were read, as those of `(a|aa){0,999}` do.
//
// A count beside a pattern, in an intersection, may also decide whether there is any word left. It is put aside only
// while it cannot: `lengths` knows how many units the words of all that remains of the intersection have.
//
// No token can tell lexer states apart that differ only in numbers out of reach: it takes one unit per byte at most.
// They share a representative without an upper bound, and with it all masks.

/// What becomes of a counter: its inner expression, and whether it has a lower and an upper bound.
type Change<'a> =
    &'a dyn Fn(&mut Residuals, (ExprId, bool, bool), &mut Fuel) -> Result<ExprId, Error>;

/// Something to count beside the automaton in one alternative.
enum Place {
    /// The part at this index of those that follow each other.
    Repeat(usize),
    /// The first part, an intersection; with the counter it is the other.
    And(ExprId),
}

impl Residuals {
    /// Bounds above this are out of reach.
    pub(super) fn reach(&self) -> u32 {
        self.arena.reach()
    }

    /// What the counters in an expression have taken.
    pub(super) fn consumed(&self, id: ExprId) -> Consumed {
        self.arena.facts(id).consumed
    }

    /// The bounds that counters could stand for in the alternatives of an expression.
    pub(super) fn countable_bounds(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Countable, Error> {
        let mut all = Countable::Nothing;
        if self.arena.facts(id).counted {
            for part in self.alternatives(id) {
                if let Some((_, bounds, margin)) = self.countable_place(part, fuel)? {
                    all = all.with(Countable::Same(bounds, margin));
                }
            }
        }
        Ok(all)
    }

    /// The alternatives of an expression, which may be one.
    pub(super) fn alternatives(&self, id: ExprId) -> Vec<ExprId> {
        match self.arena.node(id) {
            Node::Alt(parts) => parts.to_vec(),
            _ => vec![id],
        }
    }

    /// What could be counted in one alternative: where, its bounds, and their margin.
    fn countable_place(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<(Place, Bounds, u32)>, Error> {
        if !self.arena.facts(id).logical {
            let found = self.countable_repeat(id);
            return Ok(found.map(|(index, bounds)| (Place::Repeat(index), bounds, 0)));
        }
        // An intersection may have words or not depending on its count: it must not be able to.
        let (head, tail) = self.split(id);
        if tail.is_some_and(|tail| self.arena.facts(tail).logical) {
            return Ok(None);
        }
        let Some((counter, bounds)) = self.intersection_with_counter(head, fuel)? else {
            return Ok(None);
        };
        if !bounds.are_out_of_reach(self.arena.reach(), 0) {
            return Ok(None);
        }
        let Some((table, _)) = self.lengths_of(counter, fuel)? else {
            return Ok(None);
        };
        let margin = self.lengths.tables[table].margin(bounds, self.arena.reach());
        Ok(margin
            .filter(|&margin| bounds.are_out_of_reach(self.arena.reach(), margin))
            .map(|margin| (Place::And(counter), bounds, margin)))
    }

    /// The first of the parts that follow each other that is a repetition with bounds out of reach: its index and bounds.
    fn countable_repeat(&self, id: ExprId) -> Option<(usize, Bounds)> {
        let mut rest = id;
        for index in 0.. {
            let (head, tail) = self.split(rest);
            if let &Node::Repeat { min, max, .. } = self.arena.node(head) {
                let bounds = Bounds { min, max };
                if bounds.are_out_of_reach(self.arena.reach(), 0) {
                    return Some((index, bounds));
                }
            }
            rest = tail.filter(|&tail| self.arena.facts(tail).counted)?;
        }
        None
    }

    /// The expression with counters in place of the repetitions that [`Self::countable_bounds`] speaks of.
    pub(super) fn with_counters(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<ExprId, Error> {
        let mut parts = self.alternatives(id);
        for part in &mut parts {
            let Some((place, Bounds { min, max }, _)) = self.countable_place(*part, fuel)? else {
                continue;
            };
            let mut spine = self.spine(*part);
            fuel.spend(spine.len())?;
            let counter = |inner| Node::Counter {
                inner,
                lower: min > 0,
                upper: max.is_some(),
                consumed: 0,
            };
            match place {
                Place::Repeat(index) => {
                    if let &Node::Repeat { inner, .. } = self.arena.node(spine[index]) {
                        spine[index] = self.arena.intern(counter(inner), fuel)?;
                    }
                }
                Place::And(other) => {
                    let change: Change<'_> = &|residuals, (inner, _, _), fuel| {
                        residuals.arena.intern(counter(inner), fuel)
                    };
                    let other = self.replace_counters(other, fuel, change)?;
                    spine.splice(..1, self.spine(other));
                }
            }
            *part = self.rebuilt(spine, ExprId::EMPTY, fuel)?;
        }
        self.arena.alt(parts, fuel)
    }

    /// The expression with its counters set back.
    pub(super) fn reset_counters(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<ExprId, Error> {
        self.replace_counters(id, fuel, &|residuals, (inner, lower, upper), fuel| {
            let counter = Node::Counter {
                inner,
                lower,
                upper,
                consumed: 0,
            };
            residuals.arena.intern(counter, fuel)
        })
    }

    /// The expression with its counters, which have taken nothing, as the repetitions that they stand for.
    pub(super) fn with_bounds(
        &mut self,
        id: ExprId,
        Bounds { min, max }: Bounds,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        self.replace_counters(id, fuel, &|residuals, (inner, _, _), fuel| {
            residuals.arena.repeat(inner, min, max, fuel)
        })
    }

    /// The expression with bounds that no token can tell from any that are out of reach.
    pub(super) fn with_out_of_reach(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let reach = self.arena.reach();
        self.replace_counters(id, fuel, &|residuals, (inner, lower, _), fuel| {
            residuals
                .arena
                .repeat(inner, if lower { reach } else { 0 }, None, fuel)
        })
    }

    /// The expression with something else in place of its counters.
    fn replace_counters(
        &mut self,
        root: ExprId,
        fuel: &mut Fuel,
        change: Change<'_>,
    ) -> Result<ExprId, Error> {
        let mut work = vec![(root, false)];
        let mut values: Vec<ExprId> = Vec::new();
        while let Some((id, visited)) = work.pop() {
            fuel.spend(1)?;
            let parts: Vec<ExprId> = match *self.arena.node(id) {
                _ if self.arena.facts(id).consumed == Consumed::Nothing => Vec::new(),
                Node::Concat(head, tail) => vec![head, tail],
                Node::Literal { tail, .. } => vec![tail],
                Node::Alt(ref parts) | Node::And(ref parts) => parts.to_vec(),
                Node::Counter {
                    inner,
                    lower,
                    upper,
                    ..
                } => {
                    values.push(change(self, (inner, lower, upper), fuel)?);
                    continue;
                }
                _ => Vec::new(),
            };
            if parts.is_empty() {
                values.push(id);
                continue;
            }
            if !visited {
                work.push((id, true));
                work.extend(parts.into_iter().rev().map(|part| (part, false)));
                continue;
            }
            let parts = values.split_off(values.len() - parts.len());
            let value = match (self.arena.node(id), &parts[..]) {
                (&Node::Literal { bytes, at, .. }, &[tail]) => {
                    self.arena.literal_from(bytes, at, tail, fuel)?
                }
                (Node::Concat(..), &[head, tail]) => self.arena.concat(head, tail, fuel)?,
                (Node::And(_), _) => self.arena.and(parts, fuel)?,
                _ => self.arena.alt(parts, fuel)?,
            };
            values.push(value);
        }
        Ok(values.pop().unwrap_or(ExprId::NOTHING))
    }
}
