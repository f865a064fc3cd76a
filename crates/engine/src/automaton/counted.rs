//! Counting registers: large bounds of repetitions are kept beside the automaton, so that counting makes neither
//! residuals nor masks. For `lexer_state`, from expressions.
//!
//! A bound is *out of reach* if it is larger than the longest token. While the bounds of the repetition that is being
//! read are out of reach, what a byte leaves does not depend on them, only on which of them there are: `x{0,999}y` goes
//! on as `x{0,998}y` does. So the repetition becomes a [`Node::Counter`], an unknown that remembers how many units it
//! consumed, and the numbers are kept with the lexer state that the counter is in. A step takes the consumed units off
//! the numbers and sets the counter back; every count then runs through the same few residuals. Substituting numbers
//! for the unknown commutes with taking a derivative as long as no number runs out. Three things end it, and the
//! counter becomes a repetition again: a bound comes within reach; the repetition has been left in all parts; or parts
//! disagree on how many units were read, as those of `(a|aa){0,999}` do.
//!
//! A count beside a pattern, in an intersection, may also decide whether there is any word left. It is put aside only
//! while it cannot: `lengths` knows how many units the words of all that remains of the intersection have.
//!
//! No token can tell lexer states apart that differ only in numbers out of reach: it takes one unit per byte at most.
//! They share a representative without an upper bound, and with it all masks.

use super::bounds::{Bounds, Consumed, Countable};
use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::error::Error;
use crate::limits::Fuel;

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
