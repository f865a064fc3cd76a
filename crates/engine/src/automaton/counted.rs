//! Large bounds of repetitions stand beside the automaton, so that counting makes neither residuals nor masks.
//!
//! A bound is *far* if it is larger than the longest token. While the bounds of the repetition that is being read are far,
//! what a byte leaves does not depend on them, only on which of them there are: `x{0,999}y` goes on as `x{0,998}y` does. So
//! the repetition becomes a [`Node::Counter`], an unknown that remembers how often it was begun, and the numbers are kept
//! with the union that the counter is in. A step takes the counter's units from the numbers and sets it back; every count
//! then runs through the same few residuals. Three things end it, and the counter becomes a repetition again: a bound is
//! no longer far; the repetition has been left in all parts; or parts disagree on how many units were read, as those of
//! `(a|aa){0,999}` do.
//!
//! Of unions that differ in far numbers alone no token can tell one from another: it takes one unit per byte at most. They
//! share a representative without an upper bound, and with it all masks.

use super::residual::{Node, RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;

/// What the counters in an expression have taken since the numbers were written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// There is no counter.
    Nothing,
    /// So many units, in every way of reading.
    All(u32),
    /// That depends on the way of reading.
    Unclear,
}

impl Taken {
    /// For both of two parts.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, known) | (known, Self::Nothing) => known,
            (Self::All(mine), Self::All(theirs)) if mine == theirs => self,
            _ => Self::Unclear,
        }
    }

    /// For something under which counters are not looked for.
    pub(super) fn fixed(self) -> Self {
        match self {
            Self::Nothing => self,
            _ => Self::Unclear,
        }
    }
}

/// The bounds that a counter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Bounds {
    /// At least so many units; 0 if there is no lower bound.
    min: u32,
    /// At most so many units.
    max: Option<u32>,
}

impl Bounds {
    /// Whether there is a bound, and no bound is near.
    pub(super) fn are_far(self, far: u32) -> bool {
        (self.min > 0 || self.max.is_some())
            && (self.min == 0 || self.min > far)
            && self.max.is_none_or(|max| max > far)
    }

    /// The bounds after some units.
    pub(super) fn less(self, units: u32) -> Self {
        Self {
            min: self.min.saturating_sub(units),
            max: self.max.map(|max| max.saturating_sub(units)),
        }
    }
}

/// What becomes of a counter: its inner expression, and whether it has a lower and an upper bound.
type Change<'a> =
    &'a dyn Fn(&mut Residuals, (RegexId, bool, bool), &mut Fuel) -> Result<RegexId, Error>;

/// Parts of an expression have different bounds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disagreement;

impl Residuals {
    /// Bounds above this are far.
    pub(super) fn far(&self) -> u32 {
        self.far
    }

    /// What the counters in an expression have taken.
    pub(super) fn taken(&self, id: RegexId) -> Taken {
        self.facts(id).taken
    }

    /// The bounds that a counter could stand for in each alternative of an expression: those of the first repetition with
    /// far ones. `Err` if the alternatives disagree.
    pub(super) fn far_bounds(&self, id: RegexId) -> Result<Option<Bounds>, Disagreement> {
        let facts = self.facts(id);
        if !facts.counted || facts.logical {
            return Ok(None);
        }
        let mut bounds = None;
        for &part in self.alternatives(&id) {
            if let Some((_, found)) = self.far_repeat(part)
                && *bounds.get_or_insert(found) != found
            {
                return Err(Disagreement);
            }
        }
        Ok(bounds)
    }

    pub(super) fn alternatives<'a>(&'a self, id: &'a RegexId) -> &'a [RegexId] {
        match self.node(*id) {
            Node::Alt(parts) => parts,
            _ => std::slice::from_ref(id),
        }
    }

    /// The first of the parts that follow each other that is a repetition with far bounds: its index and bounds.
    fn far_repeat(&self, id: RegexId) -> Option<(usize, Bounds)> {
        let mut rest = id;
        for index in 0.. {
            let (head, tail) = self.split(rest);
            if let &Node::Repeat { min, max, .. } = self.node(head) {
                let bounds = Bounds { min, max };
                if bounds.are_far(self.far) {
                    return Some((index, bounds));
                }
            }
            rest = tail.filter(|&tail| self.facts(tail).counted)?;
        }
        None
    }

    /// The expression with counters in place of the repetitions that [`Self::far_bounds`] speaks of.
    pub(super) fn with_counters(&mut self, id: RegexId, fuel: &mut Fuel) -> Result<RegexId, Error> {
        let mut parts = self.alternatives(&id).to_vec();
        for part in &mut parts {
            let Some((index, _)) = self.far_repeat(*part) else {
                continue;
            };
            let mut spine = Vec::new();
            let mut rest = Some(*part);
            while let Some(at) = rest {
                let (head, tail) = self.split(at);
                spine.push(head);
                rest = tail;
            }
            fuel.spend(spine.len())?;
            if let &Node::Repeat { inner, min, max } = self.node(spine[index]) {
                let counter = Node::Counter {
                    inner,
                    lower: min > 0,
                    upper: max.is_some(),
                    taken: 0,
                };
                spine[index] = self.intern(counter, fuel)?;
                *part = self.rebuilt(spine, fuel)?;
            }
        }
        self.alt(parts, fuel)
    }

    /// The expression with its counters set back.
    pub(super) fn reset_counters(
        &mut self,
        id: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        self.replace_counters(id, fuel, &|residuals, (inner, lower, upper), fuel| {
            let counter = Node::Counter {
                inner,
                lower,
                upper,
                taken: 0,
            };
            residuals.intern(counter, fuel)
        })
    }

    /// The expression with its counters, which have taken nothing, as the repetitions that they stand for.
    pub(super) fn with_bounds(
        &mut self,
        id: RegexId,
        Bounds { min, max }: Bounds,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        self.replace_counters(id, fuel, &|residuals, (inner, _, _), fuel| {
            residuals.repeat(inner, min, max, fuel)
        })
    }

    /// The expression with bounds that no token can tell from any far ones.
    pub(super) fn with_out_of_reach(
        &mut self,
        id: RegexId,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        let far = self.far;
        self.replace_counters(id, fuel, &|residuals, (inner, lower, _), fuel| {
            residuals.repeat(inner, if lower { far } else { 0 }, None, fuel)
        })
    }

    /// The expression with something else in place of its counters.
    fn replace_counters(
        &mut self,
        root: RegexId,
        fuel: &mut Fuel,
        change: Change<'_>,
    ) -> Result<RegexId, Error> {
        let mut work = vec![(root, false)];
        let mut values: Vec<RegexId> = Vec::new();
        while let Some((id, visited)) = work.pop() {
            fuel.spend(1)?;
            let parts: Vec<RegexId> = match *self.node(id) {
                _ if self.facts(id).taken == Taken::Nothing => Vec::new(),
                Node::Concat(head, tail) => vec![head, tail],
                Node::Literal { tail, .. } => vec![tail],
                Node::Alt(ref parts) => parts.to_vec(),
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
            let value = match (self.node(id), &parts[..]) {
                (&Node::Literal { bytes, at, .. }, &[tail]) => {
                    self.literal_from(bytes, at, tail, fuel)?
                }
                (Node::Concat(..), &[head, tail]) => self.concat(head, tail, fuel)?,
                _ => self.alt(parts, fuel)?,
            };
            values.push(value);
        }
        Ok(values.pop().unwrap_or(RegexId::NOTHING))
    }
}
