//! Whether any value satisfies a conjunction, answered without a grammar. An answer may be "not known"; it is never wrong.
//!
//! `choices` drops the branches that are impossible, and `lower` the properties and items. Where a conjunction is asked about
//! while it is being asked about, the answer is "not known".

use std::rc::Rc;

use smallvec::SmallVec;

use super::demands::{Conjunction, Demands, Open};
use super::keywords::{Keywords, Types};
use super::number::{highest, lowest};
use super::schemas::Schemas;
use crate::error::Error;
use crate::tuning::{
    CHOICE_DEPTH, CHOICES_PER_UNIT, FRUGAL_QUESTION_DEPTH, MAX_QUESTION_BRANCHES,
    MAX_QUESTION_DEPTH, MAX_QUESTION_ITEMS, MAX_QUESTION_VALUES, MEMBERS_COMPARED_PER_UNIT,
    UNITS_PER_QUESTION,
};

type Members = SmallVec<[Rc<Keywords>; 8]>;

/// What is known of a conjunction, its choices aside.
enum Opened {
    /// A type is left.
    Yes,
    /// Whether it is impossible.
    Decided(bool),
}

impl Schemas<'_> {
    /// Whether it is certain that no value satisfies the conjunction.
    pub(super) fn impossible(&mut self, conjunction: &Conjunction) -> Result<bool, Error> {
        let depth = if self.is_frugal {
            FRUGAL_QUESTION_DEPTH
        } else {
            MAX_QUESTION_DEPTH
        };
        self.impossible_within(conjunction, depth)
    }

    fn impossible_within(&mut self, conjunction: &Conjunction, depth: u32) -> Result<bool, Error> {
        if depth == 0 || conjunction.members.is_empty() {
            return Ok(false);
        }
        self.spend(conjunction.size())?;
        if let Some(&known) = self.impossible.get(conjunction) {
            return Ok(known);
        }
        // A question about itself, met on the way, is answered with "perhaps not".
        let (at, _) = self.impossible.insert_full(conjunction.clone(), false);
        let answer = self.look_impossible(conjunction, depth)?;
        self.impossible[at] = answer;
        Ok(answer)
    }

    /// The conjunction without negations that the rest of it implies; None if there are none.
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
                self.spend(conjunction.members.len() / MEMBERS_COMPARED_PER_UNIT)?;
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
        self.spend(UNITS_PER_QUESTION + conjunction.members.len())?;
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
            if values.len() > MAX_QUESTION_VALUES {
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
            self.spend(member.choices.len() / CHOICES_PER_UNIT)?;
            for (index, choice) in member.choices.iter().enumerate() {
                let index = index as u16;
                if choice.branches.len() > MAX_QUESTION_BRANCHES
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
                for selection in choice.selections(subsets) {
                    let chosen = self.chosen(conjunction, &choice, &selection)?;
                    if !self.impossible_within(&chosen, depth.saturating_sub(CHOICE_DEPTH))? {
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
        for at in 0..demands.min_items.min(MAX_QUESTION_ITEMS) {
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
