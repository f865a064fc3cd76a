//! Arrays of different items, where there are few values that an item may have: one rule a set of values already written,
//! or, where there are many such sets, a regular language of lists in which no value comes twice, whose states are only made
//! where a text has been.

use crate::json::Value;

use super::demands::{Conjunction, Demands};
use super::keywords::{Types, equal};
use super::lower::Lowering;
use super::number::{highest, lowest};
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ExprId, ExprIds, Regex, RuleId};
use crate::maps::IdMap;
use crate::tuning::{MAX_DISTINCT_EDGES, MAX_DISTINCT_SETS, MAX_DISTINCT_VALUES};

impl Lowering<'_> {
    /// What follows the opening bracket of an array whose items all differ; None where the values of an item are not few, or
    /// not known.
    pub(super) fn distinct(
        &mut self,
        item: &Conjunction,
        (min, max): (u32, Option<u32>),
        place: Position,
    ) -> Result<Option<ExprId>, Error> {
        let Some(inside) = self.spelling.inside(place) else {
            return Ok(None);
        };
        let Some(values) = self.few_values(item)? else {
            return Ok(None);
        };
        let count = values.len() as u32;
        let max = max.unwrap_or(count).min(count);
        if min > max {
            return Ok(Some(self.nothing()));
        }
        let spelled = |same: &Vec<Value>| {
            let edges = same.iter().map(|value| self.spelling.value(value, inside));
            Regex::alt(edges.collect())
        };
        let words: Vec<Regex> = values.iter().map(spelled).collect();
        if edges(u64::from(count), u64::from(max)) > MAX_DISTINCT_EDGES {
            if sets(u64::from(count), u64::from(min)) > MAX_DISTINCT_SETS {
                return Ok(None);
            }
            let lists = self.lists(&words, (min, max), place);
            return Ok(Some(self.spelled(lists)));
        }
        let items: Vec<ExprId> = words.into_iter().map(|word| self.spelled(word)).collect();
        let comma = self.comma(place);
        let lead = self.lead(place);
        const { assert!(MAX_DISTINCT_VALUES <= u128::BITS as usize) };
        let mut rules: IdMap<u128, RuleId> = IdMap::default();
        let start = self.fresh("distinct");
        rules.insert(0, start);
        let mut work = vec![0_u128];
        while let Some(written) = work.pop() {
            self.spend(1)?;
            let length = written.count_ones();
            let mut edges = Vec::new();
            if length >= min {
                edges.push(self.end(place, length == 0));
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
                edges.push(self.builder.seq(parts));
            }
            let body = self.builder.alt(edges);
            self.builder.define(rules[&written], body);
        }
        Ok(Some(self.builder.reference(start)))
    }

    /// The lists of some of these values, each at most once, as an intersection: those of any items, and for each value
    /// those in which it does not come twice.
    fn lists(&self, words: &[Regex], (min, max): (u32, u32), place: Position) -> Regex {
        let comma = self.spelling.comma(place);
        let after_comma = |item: &Regex| Regex::concat(vec![comma.clone(), item.clone()]);
        let any = Regex::alt(words.to_vec());
        let most = ((max as usize) < words.len()).then(|| max - 1);
        let more = Regex::repeat(after_comma(&any), min.saturating_sub(1), most);
        let mut held = vec![Regex::concat(vec![any, more])];
        for (at, word) in words.iter().enumerate() {
            let other = Regex::alt([&words[..at], &words[at + 1..]].concat());
            let before = Regex::concat(vec![other.clone(), comma.clone()]);
            let once = Regex::concat(vec![
                word.clone(),
                Regex::repeat(after_comma(&other), 0, None),
            ]);
            held.push(Regex::concat(vec![
                Regex::repeat(before, 0, None),
                Regex::alt(vec![other, once]),
            ]));
        }
        let lists = Regex::concat(vec![
            self.spelling.lead(place),
            Regex::And(held.into()),
            self.spelling.close("]", place, false),
        ]);
        let empty = (min == 0).then(|| self.spelling.close("]", place, true));
        Regex::alt(empty.into_iter().chain([lists]).collect())
    }

    /// The different values of a conjunction that has few, each as often as it is listed: `1` and `1.0` are one.
    fn few_values(&mut self, item: &Conjunction) -> Result<Option<Vec<Vec<Value>>>, Error> {
        let demands = self.schemas.demands(item)?;
        let listed = match &demands.values {
            Some(listed) => listed.clone(),
            None => match few_of_types(&demands) {
                Some(listed) => listed,
                None => return Ok(None),
            },
        };
        let mut values: Vec<Vec<Value>> = Vec::new();
        for value in listed {
            match self.schemas.allows(item, &value)? {
                None => return Ok(None),
                Some(false) => {}
                Some(true) => match values.iter().position(|same| equal(&same[0], &value)) {
                    Some(at) => values[at].push(value),
                    None if values.len() == MAX_DISTINCT_VALUES => return Ok(None),
                    None => values.push(vec![value]),
                },
            }
        }
        Ok(Some(values))
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
        if usize::try_from(high.checked_sub(low)?).ok()? < MAX_DISTINCT_VALUES {
            values.extend((low..=high).map(Value::from));
            few = few.or(Types::INTEGER);
        }
    }
    (demands.types.without(few) == Types::NONE).then_some(values)
}

/// The number of subsets of a size.
fn sets(values: u64, size: u64) -> u64 {
    (0..size.min(values)).fold(1u64, |sets, at| sets.saturating_mul(values - at) / (at + 1))
}

/// How many transitions there are: for each set of values already written, each value that is not in it.
fn edges(values: u64, max: u64) -> u64 {
    let mut sets = 1u64;
    let mut all = 0u64;
    for written in 0..max {
        all = all.saturating_add(sets.saturating_mul(values - written));
        sets = sets.saturating_mul(values - written) / (written + 1);
    }
    all
}
