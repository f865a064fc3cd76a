//! Questions about conjunctions that are answered without a grammar: does a value satisfy one, can any value. An answer may
//! be "not known"; it is never wrong.

use std::rc::Rc;

use crate::json::{Map, Value};
use smallvec::SmallVec;

use super::decimal::Decimal;
use super::demands::{Conjunction, Demands, Open};
use super::keywords::{Has, Holds, Keywords, Types, equal};
use super::number::{highest, lowest};
use super::schemas::Schemas;
use crate::error::{Error, Place};

/// Subschemas within subschemas that are looked at.
const DEPTH: u32 = 6;
/// What looking at a branch of a choice counts for: choices multiply, so that few of them are looked at together.
const CHOICE: u32 = 3;
/// Choices with more branches are not looked at.
const BRANCHES: usize = 64;
/// Items that are looked at.
const ITEMS: u64 = 8;
/// Enumerations with more values are not looked at.
const VALUES: usize = 256;

/// Members that are compared with another one for a step.
const COMPARED: usize = 32;
/// Choices that are looked up for a step.
const LOOKED_UP: usize = 8;
/// Steps for a question.
const QUESTION: usize = 8;

type Members = SmallVec<[Rc<Keywords>; 8]>;

/// What is known of a conjunction before its choices are looked at.
enum Opened {
    /// A type is left.
    Yes,
    /// Whether it is impossible.
    Decided(bool),
}

impl Schemas<'_> {
    /// Whether it is certain that no value satisfies the conjunction.
    pub(super) fn impossible(&mut self, conjunction: &Conjunction) -> Result<bool, Error> {
        self.impossible_within(conjunction, DEPTH)
    }

    fn impossible_within(&mut self, conjunction: &Conjunction, depth: u32) -> Result<bool, Error> {
        if depth == 0 || conjunction.members.is_empty() {
            return Ok(false);
        }
        self.work(conjunction.size())?;
        if let Some(&known) = self.impossible.get(conjunction) {
            return Ok(known);
        }
        // A question about itself, met on the way, is answered with "perhaps not".
        let (at, _) = self.impossible.insert_full(conjunction.clone(), false);
        let answer = self.look_impossible(conjunction, depth)?;
        self.impossible[at] = answer;
        Ok(answer)
    }

    /// The conjunction without negations that hold anyway; None if there are none.
    pub(super) fn without_idle_negations(
        &mut self,
        conjunction: &Conjunction,
    ) -> Result<Option<Conjunction>, Error> {
        // A branch that is taken must be recognised by all that it asks.
        if self.locations.tracks_evaluation {
            return Ok(None);
        }
        let mut simple: Option<Conjunction> = None;
        for &id in &conjunction.members {
            let Some(positive) = self.locations.get(id).negates else {
                continue;
            };
            let mut others = simple.as_ref().unwrap_or(conjunction).clone();
            others.members.retain(|member| *member != id);
            let positive = self.single(positive)?;
            let both = self.joined(&others, &positive)?;
            if self.impossible(&both)? {
                simple = Some(others);
            }
        }
        Ok(simple)
    }

    /// Whether something is asked together with its negation.
    fn contradicts(&mut self, conjunction: &Conjunction) -> Result<bool, Error> {
        for &id in &conjunction.members {
            if let Some(positive) = self.locations.get(id).negates {
                let positive = self.single(positive)?;
                self.work(conjunction.members.len() / COMPARED)?;
                let mut members = positive.members.iter();
                if members.all(|member| conjunction.members.contains(member)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn look_impossible(&mut self, conjunction: &Conjunction, depth: u32) -> Result<bool, Error> {
        self.questions += 1;
        self.work(QUESTION + conjunction.members.len())?;
        // What shares no type needs no further look.
        let mut types = Types::ALL;
        for &id in &conjunction.members {
            types = types.and(self.keywords(id)?.types);
        }
        if types == Types::NONE || self.contradicts(conjunction)? {
            return Ok(true);
        }
        match self.visibly_open(conjunction, types, depth)? {
            Some(true) => {}
            Some(false) => return Ok(true),
            None => match self.open(conjunction, depth)? {
                Opened::Yes => {}
                Opened::Decided(answer) => return Ok(answer),
            },
        }
        self.no_choice(conjunction, depth)
    }

    /// Whether one of the types is left by what the members say of it, choices aside; None where that takes more than a
    /// look at each of them.
    fn visibly_open(
        &mut self,
        conjunction: &Conjunction,
        types: Types,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        let mut members: Members = SmallVec::new();
        for &id in &conjunction.members {
            members.push(self.keywords(id)?);
        }
        let any = |asks: fn(&Keywords) -> bool| members.iter().any(|member| asks(member));
        if any(|member| member.values.is_some() || member.evaluates()) {
            return Ok(None);
        }
        let mut free = Types::NULL.or(Types::BOOLEAN);
        let shortest = members.iter().map(|member| member.min_length).max();
        let longest = members.iter().filter_map(|member| member.max_length).min();
        if longest.is_none_or(|longest| shortest.is_none_or(|shortest| shortest <= longest)) {
            free = free.or(Types::STRING);
        }
        let bounds = any(|member| member.minimum.is_some() || member.maximum.is_some());
        let items =
            any(|member| member.min_items > 0 || member.contains.iter().any(|one| one.min > 0));
        let counts = any(|member| member.max_properties.is_some());
        let asked = any(|member| !member.required.is_empty() || !member.has.is_empty());
        if !bounds {
            free = free.or(Types::NUMBER);
        }
        if !items {
            free = free.or(Types::ARRAY);
        }
        if !counts && !asked {
            free = free.or(Types::OBJECT);
        }
        if types.has(free) {
            return Ok(Some(true));
        }
        if (bounds && types.has(Types::NUMBER))
            || (items && types.has(Types::ARRAY))
            || (counts && types.has(Types::OBJECT))
        {
            return Ok(None);
        }
        Ok(Some(
            types.has(Types::OBJECT) && !self.lacks_member(&members, depth)?,
        ))
    }

    /// Whether a type is left by all that is demanded, choices aside.
    fn open(&mut self, conjunction: &Conjunction, depth: u32) -> Result<Opened, Error> {
        let demands = self.demands(conjunction)?;
        if let Some(values) = &demands.values {
            if values.len() > VALUES {
                return Ok(Opened::Decided(false));
            }
            for value in values {
                if self.allows_listed(&demands, value)? != Some(false) {
                    return Ok(Opened::Decided(false));
                }
            }
            return Ok(Opened::Decided(true));
        }
        let mut open = false;
        for (types, dead) in [
            (Types::NULL.or(Types::BOOLEAN), false),
            (
                Types::STRING,
                demands
                    .max_length
                    .is_some_and(|max| max < demands.min_length),
            ),
            (Types::INTEGER, no_integer(&demands)),
            (Types::FRACTION, no_fraction(&demands)),
        ] {
            open |= demands.types.has(types) && !dead;
        }
        if demands.types.has(Types::ARRAY) && !open {
            open = !self.no_array(&demands, depth)?;
        }
        if demands.types.has(Types::OBJECT) && !open {
            open = !self.no_object(&demands, depth)?;
        }
        Ok(if open {
            Opened::Yes
        } else {
            Opened::Decided(true)
        })
    }

    /// Whether there is a choice none of whose branches is left.
    fn no_choice(&mut self, conjunction: &Conjunction, depth: u32) -> Result<bool, Error> {
        let mut evaluation = None;
        for &owner in &conjunction.members {
            let member = self.keywords(owner)?;
            self.work(member.choices.len() / LOOKED_UP)?;
            for (index, choice) in member.choices.iter().enumerate() {
                let index = index as u16;
                if choice.branches.len() > BRANCHES
                    || conjunction.made.binary_search(&(owner, index)).is_ok()
                {
                    continue;
                }
                let subsets = match evaluation {
                    Some(known) => known,
                    None => *evaluation.insert(self.evaluates(conjunction)?),
                };
                let choice = Open {
                    owner,
                    index,
                    choice: choice.clone(),
                };
                let mut alive = false;
                for way in choice.ways(subsets) {
                    let chosen = self.chosen(conjunction, &choice, &way)?;
                    if !self.impossible_within(&chosen, depth.saturating_sub(CHOICE))? {
                        alive = true;
                        break;
                    }
                }
                if !alive {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether anything is asked of what other keywords evaluate.
    fn evaluates(&mut self, conjunction: &Conjunction) -> Result<bool, Error> {
        for &id in &conjunction.members {
            if self.keywords(id)?.evaluates() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a member that is required, or asked for, cannot be had. No member evaluates.
    fn lacks_member(&mut self, members: &Members, depth: u32) -> Result<bool, Error> {
        for member in members {
            for name in &member.required {
                let mut parts = Vec::new();
                for member in members {
                    self.property_of(member, name, &mut parts)?;
                }
                let property = self.conjunction(parts)?;
                if self.impossible_within(&property, depth - 1)? {
                    return Ok(true);
                }
            }
            for has in &member.has {
                let value = self.conjunction([has.value])?;
                if self.impossible_within(&value, depth - 1)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn no_array(&mut self, demands: &Demands, depth: u32) -> Result<bool, Error> {
        if demands.max_items.is_some_and(|max| max < demands.min_items) {
            return Ok(true);
        }
        for at in 0..demands.min_items.min(ITEMS) {
            let item = self.item(demands, at as usize)?;
            if self.impossible_within(&item, depth - 1)? {
                return Ok(true);
            }
        }
        for contains in demands.contains.iter().filter(|contains| contains.min > 0) {
            let max = demands.max_items.unwrap_or(u64::MAX);
            let wanted = self.conjunction([contains.schema])?;
            if max < contains.from as u64 + contains.min
                || contains.max.is_some_and(|max| max < contains.min)
                || self.impossible_within(&wanted, depth - 1)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn no_object(&mut self, demands: &Demands, depth: u32) -> Result<bool, Error> {
        let required = demands.required.len() as u64;
        if demands
            .max_properties
            .is_some_and(|max| max < demands.min_properties.max(required))
        {
            return Ok(true);
        }
        for name in &demands.required {
            let property = self.property(demands, name)?;
            if self.impossible_within(&property, depth - 1)? {
                return Ok(true);
            }
        }
        for has in &demands.has {
            let value = self.conjunction([has.value])?;
            if self.impossible_within(&value, depth - 1)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a value satisfies the conjunction; None where that is not known.
    pub(super) fn allows(
        &mut self,
        conjunction: &Conjunction,
        value: &Value,
    ) -> Result<Option<bool>, Error> {
        self.allows_within(conjunction, value, DEPTH)
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
        self.work(demands.values.as_ref().map_or(0, Vec::len))?;
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
        self.allows_otherwise(demands, value, DEPTH)
    }

    /// Whether a value satisfies all but the list of values.
    fn allows_otherwise(
        &mut self,
        demands: &Demands,
        value: &Value,
        depth: u32,
    ) -> Result<Option<bool>, Error> {
        self.work(QUESTION + demands.excluded.len() + demands.choices.len())?;
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
                    let place = || Place::Pointer(pattern.pointer.to_string());
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
                self.work(items.len().saturating_mul(items.len()))?;
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
        has: &Has,
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
    pub(super) fn has_name(&mut self, has: &Has, name: &str) -> Result<Option<bool>, Error> {
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

fn no_integer(demands: &Demands) -> bool {
    match (&demands.minimum, &demands.maximum) {
        (Some(min), Some(max)) => lowest(min) > highest(max),
        _ => false,
    }
}

fn no_fraction(demands: &Demands) -> bool {
    match (&demands.minimum, &demands.maximum) {
        (Some(min), Some(max)) => {
            min.value > max.value || (min.value == max.value && min.value.is_integer())
        }
        _ => false,
    }
}
