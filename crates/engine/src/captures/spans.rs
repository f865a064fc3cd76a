//! Captures of readings, as values that share their parts.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use crate::error::Error;
use crate::limits::Fuel;

/// Captures, in the order of their starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpansId(u32);

impl SpansId {
    /// None.
    pub(super) const EMPTY: Self = Self(0);
}

/// A labelled part: label, and where it begins and ends.
pub(super) type Span = (Arc<str>, usize, usize);

#[derive(Debug)]
enum Spans {
    Empty,
    /// Those of one, then those of the other.
    Both(SpansId, SpansId),
    /// A part and those inside of it.
    Part(Span, SpansId),
}

/// All captures of parts of a text.
#[derive(Debug)]
pub(super) struct SpanTable {
    all: Vec<Spans>,
}

impl SpanTable {
    pub(super) fn new() -> Self {
        Self {
            all: vec![Spans::Empty],
        }
    }

    /// Those of one part of the text and of what follows it.
    pub(super) fn both(&mut self, first: SpansId, then: SpansId) -> SpansId {
        if then == SpansId::EMPTY {
            first
        } else if first == SpansId::EMPTY {
            then
        } else {
            self.add(Spans::Both(first, then))
        }
    }

    /// Those of a labelled part.
    pub(super) fn part(&mut self, span: Span, inside: SpansId) -> SpansId {
        self.add(Spans::Part(span, inside))
    }

    /// The better of two readings of the same text.
    pub(super) fn better(
        &self,
        known: Option<SpansId>,
        other: SpansId,
        fuel: &mut Fuel,
    ) -> Result<SpansId, Error> {
        Ok(match known {
            Some(known) if self.compare(other, known, fuel)? != Ordering::Less => known,
            _ => other,
        })
    }

    /// The captures, one by one.
    pub(super) fn list(&self, spans: SpansId) -> Vec<Span> {
        let mut list = Vec::new();
        let mut stack = vec![spans];
        while let Some(next) = stack.pop() {
            match &self.all[next.0 as usize] {
                Spans::Empty => {}
                Spans::Both(first, then) => stack.extend([*then, *first]),
                Spans::Part(span, inside) => {
                    list.push(span.clone());
                    stack.push(*inside);
                }
            }
        }
        list
    }

    fn add(&mut self, spans: Spans) -> SpansId {
        self.all.push(spans);
        SpansId(self.all.len() as u32 - 1)
    }

    /// Less is better.
    fn compare(&self, left: SpansId, right: SpansId, fuel: &mut Fuel) -> Result<Ordering, Error> {
        let (mut lefts, mut rights) = (vec![left], vec![right]);
        loop {
            fuel.spend(1)?;
            if let (Some(left), Some(right)) = (lefts.last(), rights.last())
                && left == right
            {
                lefts.pop();
                rights.pop();
                continue;
            }
            let (left, right) = match (self.first(&mut lefts), self.first(&mut rights)) {
                (None, None) => return Ok(Ordering::Equal),
                (None, Some(_)) => return Ok(Ordering::Greater),
                (Some(_), None) => return Ok(Ordering::Less),
                (Some(left), Some(right)) => (left, right),
            };
            let order = |(label, start, end): &Span| (*start, Reverse(*end), Arc::clone(label));
            let ordering = order(left).cmp(&order(right));
            if ordering != Ordering::Equal {
                return Ok(ordering);
            }
        }
    }

    /// Takes the first capture off a stack.
    fn first(&self, stack: &mut Vec<SpansId>) -> Option<&Span> {
        while let Some(next) = stack.pop() {
            match &self.all[next.0 as usize] {
                Spans::Empty => {}
                Spans::Both(first, then) => stack.extend([*then, *first]),
                Spans::Part(span, inside) => {
                    stack.push(*inside);
                    return Some(span);
                }
            }
        }
        None
    }
}
