//! Arrays of different items, where there are few values that an item may have: one rule a set of values already written.

use serde_json::Value;

use super::keywords::equal;
use super::lower::Lowering;
use super::merge::Conjunction;
use crate::error::Error;
use crate::ir::ExprId;

/// An item may have at most so many values; there are two to that many rules.
const VALUES: usize = 8;

impl Lowering<'_> {
    /// What follows the opening bracket of an array whose items all differ; None where the values of an item are not few, or
    /// not known.
    pub(super) fn distinct(
        &mut self,
        item: &Conjunction,
        min: u32,
        max: Option<u32>,
    ) -> Result<Option<ExprId>, Error> {
        let Some(values) = self.few_values(item)? else {
            return Ok(None);
        };
        let count = values.len() as u32;
        let max = max.unwrap_or(count).min(count);
        if min > max {
            return Ok(Some(self.nothing()));
        }
        self.spend(values.len() << values.len())?;
        let items: Vec<ExprId> = values
            .iter()
            .map(|value| {
                let word = self.spelling.value(value, false);
                self.builder.regex(word)
            })
            .collect();
        let end = self.spelling.sign("]");
        let comma = self.spelling.sign(",");
        let (end, comma) = (self.builder.regex(end), self.builder.regex(comma));
        let rules: Vec<_> = (0..1usize << values.len())
            .map(|_| self.fresh("distinct"))
            .collect();
        for (written, &rule) in rules.iter().enumerate() {
            let length = written.count_ones();
            let mut ways = Vec::new();
            if length >= min {
                ways.push(end);
            }
            for (at, &item) in items.iter().enumerate() {
                if written >> at & 1 == 1 || length >= max {
                    continue;
                }
                let rest = self.builder.reference(rules[written | 1 << at]);
                let mut parts = vec![item, rest];
                if length > 0 {
                    parts.insert(0, comma);
                }
                ways.push(self.builder.seq(parts));
            }
            let body = self.builder.alt(ways);
            self.builder.define(rule, body);
        }
        Ok(Some(self.builder.reference(rules[0])))
    }

    /// The different values of a conjunction that lists them.
    fn few_values(&mut self, item: &Conjunction) -> Result<Option<Vec<Value>>, Error> {
        let demands = self.schemas.demands(item)?;
        let Some(listed) = &demands.values else {
            return Ok(None);
        };
        let mut values: Vec<Value> = Vec::new();
        for value in listed {
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
