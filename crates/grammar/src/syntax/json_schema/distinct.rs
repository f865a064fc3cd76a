//! Arrays of different items, where there are few values that an item may have: one rule a set of values already written.

use crate::json::Value;

use super::keywords::{Types, equal};
use super::lower::Lowering;
use super::merge::{Conjunction, Demands};
use super::number::{highest, lowest};
use super::spelling::Place;
use crate::error::Error;
use crate::ir::{ExprId, ExprIds, RuleId};
use crate::maps::IdMap;

/// An item may have at most so many values.
const VALUES: usize = 64;
/// Ways on, in all rules of an array together.
const WAYS: u64 = 6_000;

impl Lowering<'_> {
    /// What follows the opening bracket of an array whose items all differ; None where the values of an item are not few, or
    /// not known.
    pub(super) fn distinct(
        &mut self,
        item: &Conjunction,
        (min, max): (u32, Option<u32>),
        place: Place,
    ) -> Result<Option<ExprId>, Error> {
        let Some(values) = self.few_values(item)? else {
            return Ok(None);
        };
        let count = values.len() as u32;
        let max = max.unwrap_or(count).min(count);
        if min > max {
            return Ok(Some(self.nothing()));
        }
        if ways(values.len() as u64, u64::from(max)) > WAYS {
            return Ok(None);
        }
        let Some(inside) = self.spelling.inside(place) else {
            return Ok(None);
        };
        let items: Vec<ExprId> = values
            .iter()
            .map(|value| {
                let word = self.spelling.value(value, inside);
                self.spelled(word)
            })
            .collect();
        let comma = self.comma(place);
        let lead = self.lead(place);
        let mut rules: IdMap<u64, RuleId> = IdMap::default();
        let start = self.fresh("distinct");
        rules.insert(0, start);
        let mut work = vec![0u64];
        while let Some(written) = work.pop() {
            self.spend(1)?;
            let length = written.count_ones();
            let mut ways = Vec::new();
            if length >= min {
                ways.push(self.end(place, length == 0));
            }
            for (at, &item) in items.iter().enumerate() {
                if written >> at & 1 == 1 || length >= max {
                    continue;
                }
                let next = written | 1 << at;
                let known = rules.get(&next).copied();
                let rest = known.unwrap_or_else(|| self.fresh("distinct"));
                if known.is_none() {
                    rules.insert(next, rest);
                    work.push(next);
                }
                let rest = self.builder.reference(rest);
                let before = if length > 0 { Some(comma) } else { lead };
                let parts: ExprIds = before.into_iter().chain([item, rest]).collect();
                ways.push(self.builder.seq(parts));
            }
            let body = self.builder.alt(ways);
            self.builder.define(rules[&written], body);
        }
        Ok(Some(self.builder.reference(start)))
    }

    /// The different values of a conjunction that has few.
    fn few_values(&mut self, item: &Conjunction) -> Result<Option<Vec<Value>>, Error> {
        let demands = self.schemas.demands(item)?;
        let listed = match &demands.values {
            Some(listed) => listed.clone(),
            None => match few_of_types(&demands) {
                Some(listed) => listed,
                None => return Ok(None),
            },
        };
        let mut values: Vec<Value> = Vec::new();
        for value in &listed {
            match self.schemas.allows(item, value)? {
                None => return Ok(None),
                Some(true) if !values.iter().any(|other| equal(other, value)) => {
                    values.push(value.clone());
                }
                Some(_) => {}
            }
        }
        Ok((values.len() <= VALUES).then_some(values))
    }
}

/// The values of types that have few.
fn few_of_types(demands: &Demands) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    if demands.types.has(Types::NULL) {
        values.push(Value::Null);
    }
    if demands.types.has(Types::BOOLEAN) {
        values.extend([Value::Bool(false), Value::Bool(true)]);
    }
    let mut few = Types::NULL.or(Types::BOOLEAN);
    if demands.types.has(Types::INTEGER)
        && let (Some(min), Some(max)) = (&demands.minimum, &demands.maximum)
    {
        let (low, high) = (lowest(min).small()?, highest(max).small()?);
        if usize::try_from(high.checked_sub(low)?).ok()? < VALUES {
            values.extend((low..=high).map(Value::from));
            few = few.or(Types::INTEGER);
        }
    }
    (demands.types.without(few) == Types::NONE).then_some(values)
}

/// How many ways on there are: for each set of values already written, each value that is not in it.
fn ways(values: u64, max: u64) -> u64 {
    let mut sets = 1u64;
    let mut all = 0u64;
    for written in 0..max {
        all = all.saturating_add(sets.saturating_mul(values - written));
        sets = sets.saturating_mul(values - written) / (written + 1);
    }
    all
}
