//! What a conjunction of subschemas demands: their keywords, merged.

use std::rc::Rc;

use crate::json::Value;
use smallvec::SmallVec;

use super::demands::{Conjunction, Demands, Open};
use super::keywords::{Keywords, Listed, LocationId, Pattern, tighter};
use super::schemas::Schemas;
use crate::error::{Error, SourceLocation};
use crate::maps::IdSet;
use crate::tuning::{
    COMPARISONS_PER_UNIT, LINEAR_MEMBERS, MEMBERS_COPIED_PER_UNIT, NAME_BYTES_PER_MEMBER,
    PROPERTY_LOOKUP, UNITS_PER_MERGE,
};

impl Schemas<'_> {
    /// The conjunction of some subschemas, with all that they include.
    pub(super) fn conjunction(
        &mut self,
        starts: impl IntoIterator<Item = LocationId>,
    ) -> Result<Conjunction, Error> {
        // (subschema, whether what it includes is done)
        let mut work: SmallVec<[(LocationId, bool); 8]> =
            starts.into_iter().map(|start| (start, false)).collect();
        work.reverse();
        let mut seen: IdSet<LocationId> = IdSet::default();
        let mut members = SmallVec::new();
        // Most often there is one, which includes nothing.
        if let [(start, _)] = work[..] {
            let id = self.behind_references(start)?;
            let keywords = self.keywords(id)?;
            if keywords.includes.is_empty() {
                if !keywords.is_silent() {
                    members.push(id);
                }
                return Ok(Conjunction {
                    members,
                    made: SmallVec::new(),
                });
            }
        }
        while let Some((start, done)) = work.pop() {
            self.spend(1)?;
            if done {
                members.push(start);
                continue;
            }
            let id = self.behind_references(start)?;
            if !seen.insert(id) {
                continue;
            }
            let keywords = self.keywords(id)?;
            if !keywords.is_silent() {
                work.push((id, true));
            }
            work.extend(
                keywords
                    .includes
                    .iter()
                    .rev()
                    .map(|&include| (include, false)),
            );
        }
        Ok(Conjunction {
            members,
            made: SmallVec::new(),
        })
    }

    /// Both conjunctions at once.
    pub(super) fn joined(
        &mut self,
        left: &Conjunction,
        right: &Conjunction,
    ) -> Result<Conjunction, Error> {
        self.spend(left.size() + right.size())?;
        Ok(left.joined(right))
    }

    /// The conjunction of one subschema, which is often asked for again.
    pub(super) fn single(&mut self, id: LocationId) -> Result<Rc<Conjunction>, Error> {
        let at = id.0 as usize;
        if let Some(Some(known)) = self.singles.get(at) {
            return Ok(Rc::clone(known));
        }
        let single = Rc::new(self.conjunction([id])?);
        if self.singles.len() <= at {
            self.singles.resize(at + 1, None);
        }
        self.singles[at] = Some(Rc::clone(&single));
        Ok(single)
    }

    /// Follows subschemas that are only a reference.
    fn behind_references(&mut self, start: LocationId) -> Result<LocationId, Error> {
        let mut id = start;
        let mut passed: IdSet<LocationId> = IdSet::default();
        loop {
            let keywords = self.keywords(id)?;
            let [target] = keywords.includes[..] else {
                return Ok(id);
            };
            if !keywords.only_reference {
                return Ok(id);
            }
            if !passed.insert(id) {
                let pointer = self.pointer(id);
                let reason = "the reference refers to itself";
                return Err(Error::schema(
                    "E-SCHEMA-REF",
                    reason,
                    vec![(pointer, reason.to_owned())],
                ));
            }
            let limit = ("E-LIMIT-SCHEMA-REFS", "schema_ref_hops");
            Error::check_limit(limit, passed.len(), self.limits.schema_ref_hops)
                .map_err(|error| error.at(SourceLocation::Pointer(self.pointer(start))))?;
            id = target;
        }
    }

    /// The conjunction with branches of a choice of its own.
    pub(super) fn chosen(
        &mut self,
        conjunction: &Conjunction,
        choice: &Open,
        branches: &[LocationId],
    ) -> Result<Conjunction, Error> {
        let branches = match *branches {
            [branch] => self.single(branch)?,
            _ => Rc::new(self.conjunction(branches.iter().copied())?),
        };
        let mut chosen = self.joined(conjunction, &branches)?;
        chosen.make((choice.owner, choice.index));
        Ok(chosen)
    }

    /// What a conjunction demands, for a caller that is usually the last to ask.
    pub(super) fn last_demands(&mut self, conjunction: &Conjunction) -> Result<Rc<Demands>, Error> {
        match self.demands.remove(conjunction) {
            Some(known) => Ok(known),
            None => self.merged(conjunction).map(Rc::new),
        }
    }

    /// What a conjunction demands.
    pub(super) fn demands(&mut self, conjunction: &Conjunction) -> Result<Rc<Demands>, Error> {
        if let Some(known) = self.demands.get(conjunction) {
            return Ok(Rc::clone(known));
        }
        let demands = Rc::new(self.merged(conjunction)?);
        self.demands
            .insert(conjunction.clone(), Rc::clone(&demands));
        Ok(demands)
    }

    fn merged(&mut self, conjunction: &Conjunction) -> Result<Demands, Error> {
        // All that is demanded is put together from the members.
        self.spend(UNITS_PER_MERGE + 4 * conjunction.members.len())?;
        let mut all = Demands::default();
        for &id in &conjunction.members {
            let member = self.keywords(id)?;
            all.types = all.types.and(member.types);
            self.spend(member.copied())?;
            all.values = match (all.values.take(), &member.values) {
                (Some(values), Some(others)) => Some(self.common(values, others)?),
                (values, others) => values.or_else(|| others.clone()),
            };
            all.excluded.extend(member.excluded.iter().cloned());
            all.min_length = all.min_length.max(member.min_length);
            all.max_length = least(all.max_length, member.max_length);
            for pattern in &member.patterns {
                let known = |other: &Pattern| {
                    other.source == pattern.source && other.negated == pattern.negated
                };
                if !all.patterns.iter().any(known) {
                    all.patterns.push(pattern.clone());
                }
            }
            all.minimum = tighter(all.minimum, member.minimum.clone(), false);
            all.maximum = tighter(all.maximum, member.maximum.clone(), true);
            all.min_items = all.min_items.max(member.min_items);
            all.max_items = least(all.max_items, member.max_items);
            all.min_properties = all.min_properties.max(member.min_properties);
            all.max_properties = least(all.max_properties, member.max_properties);
            all.required.extend(member.required.iter().cloned());
            all.multiples.extend(member.multiples.iter().cloned());
            let contains = member.contains.iter();
            // Any number of items will do: that asks for nothing.
            let contains = contains.filter(|one| one.min > 0 || one.max.is_some());
            all.contains.extend(contains.cloned());
            all.widened.extend(member.widened.iter().cloned());
            all.has.extend(member.has.iter().cloned());
            all.evaluation |= member.evaluates();
            for (index, choice) in member.choices.iter().enumerate() {
                let index = index as u16;
                if conjunction.made.binary_search(&(id, index)).is_err() {
                    all.choices.push(Open {
                        owner: id,
                        index,
                        choice: choice.clone(),
                    });
                }
            }
            all.ids.push(id);
            all.members.push(member);
        }
        if all.evaluation && all.choices.is_empty() {
            self.find_evaluated(conjunction, &mut all)?;
        }
        Ok(all)
    }

    /// The values that equal one of the others.
    fn common(&mut self, values: Vec<Value>, others: &[Value]) -> Result<Vec<Value>, Error> {
        let listed = Listed::of(others);
        let mut common = Vec::new();
        for value in values {
            self.spend(1 + listed.compared(&value) / COMPARISONS_PER_UNIT)?;
            if listed.has(&value) {
                common.push(value);
            }
        }
        Ok(common)
    }

    /// What the value of property `name` must satisfy.
    pub(super) fn property(&mut self, demands: &Demands, name: &str) -> Result<Conjunction, Error> {
        let scopes = demands.unevaluated.iter().map(|one| 1 + one.scope.len());
        let asked = demands.members.len().min(LINEAR_MEMBERS) + scopes.sum::<usize>();
        self.spend(
            asked.saturating_mul(PROPERTY_LOOKUP + name.len() / NAME_BYTES_PER_MEMBER)
                / MEMBERS_COPIED_PER_UNIT,
        )?;
        let mut parts: Vec<LocationId> = Vec::new();
        if demands.members.len() <= LINEAR_MEMBERS {
            for member in &demands.members {
                self.property_of(member, name, &mut parts)?;
            }
        } else {
            for &at in demands.saying(name).iter() {
                self.property_of(&demands.members[at as usize], name, &mut parts)?;
            }
        }
        for unevaluated in &demands.unevaluated {
            let mut evaluated = false;
            for &at in &unevaluated.scope {
                let member = &demands.members[at];
                evaluated |= unevaluated.covers(at, member)
                    || member.properties.named(name).next().is_some();
                for (pattern, _) in &member.pattern_properties {
                    evaluated |= self.pattern_matches(pattern, name)?.unwrap_or(true);
                }
            }
            if !evaluated {
                parts.push(unevaluated.schema);
            }
        }
        self.conjunction(parts)
    }

    /// Adds what one member says of the value of property `name`.
    pub(super) fn property_of(
        &mut self,
        member: &Keywords,
        name: &str,
        parts: &mut Vec<LocationId>,
    ) -> Result<(), Error> {
        let before = parts.len();
        parts.extend(member.properties.named(name));
        for (pattern, schema) in &member.pattern_properties {
            // A pattern that cannot be read is reported where the object is written.
            if self.pattern_matches(pattern, name)?.unwrap_or(false) {
                parts.push(*schema);
            }
        }
        if parts.len() == before {
            parts.extend(member.additional);
        }
        Ok(())
    }

    /// What the item at a position must satisfy.
    pub(super) fn item(&mut self, demands: &Demands, at: usize) -> Result<Conjunction, Error> {
        let scopes = demands
            .unevaluated_items
            .iter()
            .map(|one| 1 + one.scope.len());
        self.spend((demands.members.len() + scopes.sum::<usize>()) / MEMBERS_COPIED_PER_UNIT)?;
        let mut parts: Vec<LocationId> = demands
            .members
            .iter()
            .filter_map(|member| member.prefix.get(at).copied().or(member.rest))
            .collect();
        for unevaluated in &demands.unevaluated_items {
            let evaluated = unevaluated.scope.iter().any(|&own| {
                let member = &demands.members[own];
                unevaluated.covers(own, member) || at < member.prefix.len()
            });
            if !evaluated {
                parts.push(unevaluated.schema);
            }
        }
        self.conjunction(parts)
    }
}

fn least(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}
