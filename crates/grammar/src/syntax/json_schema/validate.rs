//! Whether a value satisfies a conjunction, answered without a grammar: for values and names that stand in the schema itself.
//! An answer may be "not known"; it is never wrong.

use super::decimal::Decimal;
use super::demands::{Conjunction, Demands};
use super::keywords::{Holds, RequiredMember, Types, equal};
use super::schemas::Schemas;
use crate::error::{Error, SourceLocation};
use crate::json::{Map, Value};
use crate::tuning::{MAX_QUESTION_DEPTH, UNITS_PER_QUESTION};

impl Schemas<'_> {
    /// Whether a value satisfies the conjunction; None where that is not known.
    pub(super) fn allows(
        &mut self,
        conjunction: &Conjunction,
        value: &Value,
    ) -> Result<Option<bool>, Error> {
        self.allows_within(conjunction, value, MAX_QUESTION_DEPTH)
    }

    fn allows_within(
        &mut self,
        conjunction: &Conjunction,
        value: &Value,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        if depth == 0 {
            return Ok(None);
        }
        let demands = self.demands(conjunction)?;
        self.spend(demands.values.as_ref().map_or(0, Vec::len))?;
        let listed = |values: &Vec<Value>| values.iter().any(|other| equal(other, value));
        if demands
            .values
            .as_ref()
            .is_some_and(|values| !listed(values))
        {
            return Ok(Some(false));
        }
        self.allows_otherwise(&demands, value, depth)
    }

    /// Whether one of the listed values of a conjunction satisfies the rest of it; None where that is not known.
    pub(super) fn allows_listed(
        &mut self,
        demands: &Demands,
        value: &Value,
    ) -> Result<Option<bool>, Error> {
        self.allows_otherwise(demands, value, MAX_QUESTION_DEPTH)
    }

    /// Whether a value satisfies all but the list of values.
    fn allows_otherwise(
        &mut self,
        demands: &Demands,
        value: &Value,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        self.spend(UNITS_PER_QUESTION + demands.excluded.len() + demands.choices.len())?;
        if !demands.types.has(Types::of(value))
            || demands.excluded.iter().any(|other| equal(other, value))
        {
            return Ok(Some(false));
        }
        // What branches evaluate is not looked at here.
        let mut known =
            demands.widened.is_empty() && (demands.choices.is_empty() || !demands.evaluation);
        let own = match value {
            Value::String(text) => self.allows_text(demands, text)?,
            Value::Number(number) => allows_number(demands, number.as_str()),
            Value::Array(items) => self.allows_items(demands, items, depth)?,
            Value::Object(members) => self.allows_members(demands, members, depth)?,
            Value::Null | Value::Bool(_) => Some(true),
        };
        match own {
            Some(false) => return Ok(Some(false)),
            None => known = false,
            Some(true) => {}
        }
        for open in &demands.choices {
            let mut certain = 0;
            let mut unknown = 0;
            for &branch in open.choice.branches.iter() {
                let branch = self.conjunction([branch])?;
                match self.allows_within(&branch, value, depth - 1)? {
                    Some(true) => certain += 1,
                    Some(false) => {}
                    None => unknown += 1,
                }
            }
            let exclusive = open.choice.holds == Holds::One;
            if certain + unknown == 0 || (exclusive && certain > 1) {
                return Ok(Some(false));
            }
            known &= certain > 0 && !(exclusive && unknown > 0);
        }
        Ok(known.then_some(true))
    }

    fn allows_text(&mut self, demands: &Demands, text: &str) -> Result<Option<bool>, Error> {
        let length = text.chars().count() as u64;
        if length < demands.min_length || demands.max_length.is_some_and(|max| length > max) {
            return Ok(Some(false));
        }
        let mut known = true;
        for pattern in &demands.patterns {
            match self.readings(&pattern.source, &pattern.pointer)? {
                Ok(readings) => {
                    let matches = readings.matches(text, &mut self.read.fuel);
                    let place = || SourceLocation::Pointer(pattern.pointer.to_string());
                    if matches.map_err(|error| error.at(place()))? == pattern.negated {
                        return Ok(Some(false));
                    }
                }
                Err(_) => known = false,
            }
        }
        Ok(known.then_some(true))
    }

    fn allows_items(
        &mut self,
        demands: &Demands,
        items: &[Value],
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        let count = items.len() as u64;
        if count < demands.min_items || demands.max_items.is_some_and(|max| count > max) {
            return Ok(Some(false));
        }
        let mut known = true;
        let fail = |verdict: Option<bool>, known: &mut bool| {
            *known &= verdict.is_some();
            verdict == Some(false)
        };
        for (at, item) in items.iter().enumerate() {
            let schema = self.item(demands, at)?;
            if fail(self.allows_within(&schema, item, depth - 1)?, &mut known) {
                return Ok(Some(false));
            }
        }
        for contains in &demands.contains {
            let schema = self.conjunction([contains.schema])?;
            let (mut certain, mut possible) = (0, 0);
            for item in items.iter().skip(contains.from) {
                let verdict = self.allows_within(&schema, item, depth - 1)?;
                certain += u64::from(verdict == Some(true));
                possible += u64::from(verdict != Some(false));
            }
            if possible < contains.min || contains.max.is_some_and(|max| certain > max) {
                return Ok(Some(false));
            }
            known &= certain >= contains.min && contains.max.is_none_or(|max| possible <= max);
        }
        for member in &demands.members {
            if member.unique.is_some() {
                self.spend(items.len().saturating_mul(items.len()))?;
            }
            let repeated = || {
                (1..items.len()).any(|at| items[..at].iter().any(|other| equal(other, &items[at])))
            };
            if member.unique.is_some() && repeated() {
                return Ok(Some(false));
            }
        }
        Ok(known.then_some(true))
    }

    fn allows_members(
        &mut self,
        demands: &Demands,
        members: &Map,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        let count = members.len() as u64;
        if count < demands.min_properties
            || demands.max_properties.is_some_and(|max| count > max)
            || demands
                .required
                .iter()
                .any(|name| !members.contains_key(name))
        {
            return Ok(Some(false));
        }
        let mut known = true;
        for (name, value) in members {
            let mut parts = vec![(self.property(demands, name)?, value.clone())];
            for member in &demands.members {
                if let Some((names, _)) = member.names {
                    parts.push((self.conjunction([names])?, Value::String(name.clone())));
                }
            }
            for (schema, value) in parts {
                match self.allows_within(&schema, &value, depth - 1)? {
                    Some(false) => return Ok(Some(false)),
                    None => known = false,
                    Some(true) => {}
                }
            }
        }
        for has in &demands.has {
            let mut found = Some(false);
            for (name, value) in members {
                let verdict = self.has(has, name, value, depth - 1)?;
                if verdict == Some(true) {
                    found = verdict;
                    break;
                }
                found = found.and(verdict);
            }
            match found {
                Some(false) => return Ok(Some(false)),
                None => known = false,
                Some(true) => {}
            }
        }
        Ok(known.then_some(true))
    }

    /// Whether a member is one that is asked for.
    fn has(
        &mut self,
        has: &RequiredMember,
        name: &str,
        value: &Value,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        match self.has_name(has, name)? {
            Some(true) => {
                let schema = self.conjunction([has.value])?;
                self.allows_within(&schema, value, depth)
            }
            verdict => Ok(verdict),
        }
    }

    /// Whether a name is one that is asked for.
    pub(super) fn has_name(
        &mut self,
        has: &RequiredMember,
        name: &str,
    ) -> Result<Option<bool>, Error> {
        if has.others_than.iter().any(|other| **other == *name) {
            return Ok(Some(false));
        }
        for (pattern, found) in &has.patterns {
            match self.pattern_matches(pattern, name)? {
                Some(verdict) if verdict == *found => {}
                Some(_) => return Ok(Some(false)),
                None => return Ok(None),
            }
        }
        let Some(schema) = has.name else {
            return Ok(Some(true));
        };
        let schema = self.conjunction([schema])?;
        self.allows(&schema, &Value::String(name.to_owned()))
    }
}

fn allows_number(demands: &Demands, text: &str) -> Option<bool> {
    let number = Decimal::parse(text)?;
    let below = demands
        .minimum
        .as_ref()
        .is_some_and(|bound| number < bound.value || (bound.exclusive && number == bound.value));
    let above = demands
        .maximum
        .as_ref()
        .is_some_and(|bound| number > bound.value || (bound.exclusive && number == bound.value));
    if below || above {
        return Some(false);
    }
    for multiple in &demands.multiples {
        if number.is_multiple_of(&multiple.factor)? == multiple.negated {
            return Some(false);
        }
    }
    Some(true)
}
