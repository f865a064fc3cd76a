//! Whether an intersection with a count has any word: a pattern and a length, mostly.
//!
//! A search would go through every count. Instead the count becomes a counter, and what remains of the intersection is a
//! graph of places whose edges take one unit or none. Backwards from the ends, round by round, it shows which places have
//! words of exactly so many units. There are finitely many sets of places, so the rounds repeat from some round on, and any
//! bounds are a look into the table.

use super::expression::{Bounds, Consumed};
use super::expression::{ExprId, Node};
use super::length_table::rounds;
use super::residual::Residuals;
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::IdIndexSet;
use crate::tuning;

impl Residuals {
    /// An intersection with a count without its upper bound, and with a lower one of at most so many units; and while how
    /// many bytes are read the upper bound decides nothing.
    pub(super) fn without_upper_bound(
        &mut self,
        id: ExprId,
        most: u32,
        fuel: &mut Fuel,
    ) -> Result<Option<(ExprId, u32)>, Error> {
        let Some((counter, bounds)) = self.intersection_with_counter(id, fuel)? else {
            return Ok(None);
        };
        let Some((table, _)) = self.lengths_of(counter, fuel)? else {
            return Ok(None);
        };
        let Some(room) = self.lengths.tables[table].room(bounds) else {
            return Ok(None);
        };
        let open = Bounds {
            min: bounds.min.min(most),
            max: None,
        };
        Ok(Some((self.with_bounds(counter, open, fuel)?, room)))
    }

    /// The intersection with a counter in place of the repetition with bounds at the end of one of its parts, and the bounds.
    pub(super) fn intersection_with_counter(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<(ExprId, Bounds)>, Error> {
        let Node::And(parts) = self.arena.node(id) else {
            return Ok(None);
        };
        // One count after the other is taken out of an intersection, each within the question about the last.
        if parts.len() > tuning::COUNTED_PARTS || !self.has(Layer::Lengths) {
            return Ok(None);
        }
        if let Some(&known) = self.lengths.intersections.get(&id) {
            return Ok(known);
        }
        let mut parts = parts.to_vec();
        let found = parts
            .iter()
            .enumerate()
            .filter(|&(_, &part)| !self.arena.facts(part).logical)
            .find_map(|(index, &part)| Some((index, self.count_at_end(part)?)));
        let result = match found {
            // Without a table lower bounds are searched through.
            Some((_, (_, bounds)))
                if bounds.min > 0 && self.lengths.failures >= tuning::LENGTHS_FAILURES =>
            {
                None
            }
            Some((index, (inner, bounds))) => {
                let mut spine = self.spine(parts[index]);
                fuel.spend(spine.len())?;
                let counter = Node::Counter {
                    inner,
                    lower: false,
                    upper: true,
                    consumed: 0,
                };
                let last = spine.len() - 1;
                spine[last] = self.arena.intern(counter, fuel)?;
                parts[index] = self.rebuilt(spine, ExprId::EMPTY, fuel)?;
                Some((self.arena.and(parts, fuel)?, bounds))
            }
            None => None,
        };
        self.lengths.intersections.insert(id, result);
        Ok(result)
    }

    /// The repetition with bounds at the end of an expression, behind which nothing is read: what is repeated, and the
    /// bounds.
    fn count_at_end(&self, id: ExprId) -> Option<(ExprId, Bounds)> {
        let mut last = id;
        while let (_, Some(tail)) = self.split(last) {
            last = tail;
        }
        match *self.arena.node(last) {
            Node::Repeat { inner, min, max }
                if min > tuning::SEARCHED_BOUND
                    || max.is_some_and(|max| max > tuning::SEARCHED_BOUND) =>
            {
                Some((inner, Bounds { min, max }))
            }
            _ => None,
        }
    }

    /// Whether an intersection with a count has any word; None if that is not found out.
    pub(super) fn has_word_by_length(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<bool>, Error> {
        let Some((counter, bounds)) = self.intersection_with_counter(id, fuel)? else {
            return Ok(None);
        };
        if bounds.min == 0 {
            // A word that is found without the bounds has no more units than bytes.
            let unbounded = self.with_bounds(counter, Bounds::NONE, fuel)?;
            if !self.is_inhabited(unbounded, fuel)? {
                return Ok(Some(false));
            }
            let fits = |bytes: u32| bounds.max.is_none_or(|max| bytes <= max);
            if self.known_word(unbounded).is_some_and(fits) {
                return Ok(Some(true));
            }
        }
        let Some((table, place)) = self.lengths_of(counter, fuel)? else {
            return Ok(None);
        };
        Ok(Some(
            self.lengths.tables[table].within_bounds(place, bounds),
        ))
    }

    /// Length of some word, if one is known.
    pub(super) fn known_word(&self, id: ExprId) -> Option<u32> {
        let facts = self.arena.facts(id);
        if facts.nullable {
            Some(0)
        } else if facts.logical {
            self.words.some.get(&id).copied()
        } else {
            Some(facts.shortest).filter(|&length| length != u32::MAX)
        }
    }

    /// Which table speaks of an intersection with a counter, and which place it is there.
    pub(super) fn lengths_of(
        &mut self,
        counter: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<(usize, usize)>, Error> {
        if let Some(&known) = self.lengths.places.get(&counter) {
            return Ok(known);
        }
        if self.lengths.failures >= tuning::LENGTHS_FAILURES {
            return Ok(None);
        }
        let mut some = fuel.up_to(tuning::LENGTHS_FUEL);
        let before = some.left();
        let table = self.measure(counter, &mut some);
        fuel.spend((before - some.left()) as usize)?;
        if !matches!(table, Ok(true)) {
            self.lengths.places.insert(counter, None);
            self.lengths.failures += 1;
        }
        Ok(self.lengths.places.get(&counter).copied().flatten())
    }

    /// Makes the table of an intersection with a counter and everything that remains of it; false if it is too large.
    fn measure(&mut self, counter: ExprId, fuel: &mut Fuel) -> Result<bool, Error> {
        let mut order: IdIndexSet<ExprId> = IdIndexSet::default();
        order.insert(counter);
        // By place: from where it is reached with no unit, and with one.
        let mut from: Vec<[Vec<u32>; 2]> = vec![Default::default()];
        let mut at = 0;
        while let Some(&id) = order.get_index(at) {
            let classes = self.classes_of(id);
            let counting = match self.arena.node(id) {
                Node::And(parts) => {
                    let counts =
                        |part: &&ExprId| self.arena.facts(**part).consumed != Consumed::Nothing;
                    parts.iter().find(counts).copied().unwrap_or(id)
                }
                _ => id,
            };
            for index in 0..self.derivatives.classes.count(classes) {
                let byte = self.derivatives.classes.representatives(classes)[index];
                let rest = self.derivative(id, byte, fuel)?;
                if rest == ExprId::NOTHING {
                    continue;
                }
                // The part that counts knows; put together with the others it may have become something shorter.
                let part = self.derivative(counting, byte, fuel)?;
                let units = match self.arena.facts(part).consumed {
                    Consumed::All(0) => 0,
                    Consumed::All(1) => 1,
                    _ => return Ok(false),
                };
                let rest = self.reset_counters(rest, fuel)?;
                let to = order.insert_full(rest).0;
                if to == from.len() {
                    from.push(Default::default());
                }
                from[to][units].push(at as u32);
            }
            if order.len() > tuning::LENGTHS_STATES {
                return Ok(false);
            }
            at += 1;
        }
        let ends: Vec<u32> = (0..)
            .zip(&order)
            .filter(|&(_, &id)| self.arena.facts(id).nullable)
            .map(|(place, _)| place)
            .collect();
        let Some(lengths) = rounds(&from, ends, fuel)? else {
            return Ok(false);
        };
        let table = self.lengths.tables.len();
        self.arena.heap += lengths.rounds() * (from.len() / 8 + 32) + from.len() * 32;
        self.lengths.tables.push(lengths);
        for (place, id) in order.into_iter().enumerate() {
            self.lengths
                .places
                .entry(id)
                .or_insert(Some((table, place)));
        }
        Ok(true)
    }
}
