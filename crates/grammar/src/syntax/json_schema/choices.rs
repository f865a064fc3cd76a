//! Choices (`anyOf`, `oneOf`, conditions, negations): which branches are left, which of them can hold together.

use std::rc::Rc;

use super::decimal::Decimal;
use super::demands::{Conjunction, Demands, Open};
use super::keywords::{Holds, LocationId, Types};
use super::lower::Lowering;
use crate::error::Error;
use crate::json::Value;
use crate::maps::{SeededIndexSet, SeededMap, SeededSet};
use crate::tuning::{
    MAX_COMBINATIONS, MAX_COMPARED_BRANCHES, MAX_OVERLAPS, MAX_TELLING_PROPERTIES,
};

/// A branch that may hold, and all that holds then.
type Branch = (LocationId, Conjunction);

impl Lowering<'_> {
    /// Conjunctions of which one holds, each with a choice fewer; `demands` has choices.
    pub(super) fn alternatives(
        &mut self,
        conjunction: &Conjunction,
        demands: &Demands,
    ) -> Result<Vec<Conjunction>, Error> {
        let mut conjunction = conjunction.clone();
        // What each choice leaves open, the narrowest first.
        let mut open: Vec<(Open, Vec<Branch>)> = Vec::new();
        for choice in &demands.choices {
            self.spend(1)?;
            if self.holds_already(&conjunction, choice, demands)? {
                conjunction.make((choice.owner, choice.index));
                continue;
            }
            let branches = self.possible(&conjunction, choice, demands.evaluation)?;
            open.push((choice.clone(), branches));
        }
        if open.is_empty() {
            return Ok(vec![conjunction]);
        }
        let combinations = |open: &[(Open, Vec<Branch>)]| {
            open.iter().fold(1usize, |product, (_, branches)| {
                product.saturating_mul(branches.len().max(1))
            })
        };
        // Leaves choices out, last first, for as long as there are too many combinations.
        let most = if self.schemas.is_frugal {
            1
        } else {
            MAX_COMBINATIONS
        };
        while open.len() > 1 && combinations(&open) > most {
            let Some((left_out, branches)) = open.pop() else {
                break;
            };
            if branches.len() < 2 {
                open.insert(0, (left_out, branches));
                continue;
            }
            self.schemas.widen(
                &left_out.choice.pointer,
                "too many combinations with other keywords",
            );
            conjunction.make((left_out.owner, left_out.index));
        }
        let at = (0..open.len())
            .min_by_key(|&at| (open[at].1.len() > 1, at))
            .unwrap_or(0);
        let (choice, _) = open.swap_remove(at);
        // Once more, since choices may have been left out.
        let branches = if choice.choice.holds == Holds::One {
            self.exactly_one(&conjunction, &choice, demands.evaluation)?
        } else {
            self.possible(&conjunction, &choice, demands.evaluation)?
        };
        self.spend(branches.len())?;
        let mut seen = SeededSet::default();
        let mut possible = Vec::with_capacity(branches.len());
        for (_, branch) in branches {
            let simple = self.schemas.without_idle_negations(&branch)?;
            let branch = simple.unwrap_or(branch);
            if seen.insert(branch.clone()) {
                possible.push(branch);
            }
        }
        Ok(possible)
    }

    /// Whether a branch holds because the conjunction demands all that it demands.
    fn holds_already(
        &mut self,
        conjunction: &Conjunction,
        choice: &Open,
        demands: &Demands,
    ) -> Result<bool, Error> {
        if demands.evaluation || choice.choice.holds == Holds::One {
            return Ok(false);
        }
        for &branch in choice.choice.branches.iter() {
            let branch = self.schemas.single(branch)?;
            self.spend(conjunction.size())?;
            if branch
                .members
                .iter()
                .all(|member| conjunction.members.contains(member))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The branches that may hold.
    fn possible(
        &mut self,
        conjunction: &Conjunction,
        choice: &Open,
        subsets: bool,
    ) -> Result<Vec<Branch>, Error> {
        let mut branches = Vec::new();
        for selection in choice.selections(subsets) {
            let chosen = self.schemas.chosen(conjunction, choice, &selection)?;
            if !self.schemas.impossible(&chosen)? {
                branches.push((selection[0], chosen));
            }
        }
        Ok(branches)
    }

    /// The branches that may hold, each with that the others fail.
    fn exactly_one(
        &mut self,
        conjunction: &Conjunction,
        choice: &Open,
        evaluation: bool,
    ) -> Result<Vec<Branch>, Error> {
        if !evaluation {
            let mut branches = self.possible(conjunction, choice, false)?;
            self.exclude(&mut branches, choice)?;
            return Ok(branches);
        }
        // A branch may be impossible alone and possible together with another one: then the properties that it requires
        // are evaluated by that one, and `unevaluatedProperties: false` no longer forbids them.
        let ids = choice.choice.branches.iter();
        let mut all: Vec<Branch> = ids
            .map(|&id| Ok((id, self.schemas.chosen(conjunction, choice, &[id])?)))
            .collect::<Result<_, Error>>()?;
        self.exclude(&mut all, choice)?;
        let mut branches = Vec::with_capacity(all.len());
        for branch in all {
            if !self.schemas.impossible(&branch.1)? {
                branches.push(branch);
            }
        }
        Ok(branches)
    }

    /// Exactly one branch: to each is added that those that it overlaps with fail.
    fn exclude(&mut self, branches: &mut [Branch], choice: &Open) -> Result<(), Error> {
        if self.schemas.is_frugal {
            let reason =
                "more than one branch may hold: to tell them apart is too much work in this schema";
            self.schemas.widen(&choice.choice.pointer, reason);
            return Ok(());
        }
        let Some(pairs) = self.compared(branches)? else {
            self.schemas.widen(
                &choice.choice.pointer,
                "more than one of so many branches may hold",
            );
            return Ok(());
        };
        let mut overlaps: Vec<Vec<usize>> = vec![Vec::new(); branches.len()];
        for (left, right) in pairs {
            self.spend(1)?;
            let both = self.schemas.joined(&branches[left].1, &branches[right].1)?;
            if !self.schemas.impossible(&both)? {
                overlaps[left].push(right);
                overlaps[right].push(left);
            }
        }
        if overlaps.iter().map(Vec::len).sum::<usize>() / 2 > MAX_OVERLAPS {
            self.schemas.widen(
                &choice.choice.pointer,
                "too many of the branches may hold at once",
            );
            return Ok(());
        }
        let ids: Vec<LocationId> = branches.iter().map(|(id, _)| *id).collect();
        for (own, others) in overlaps.iter().enumerate() {
            for &other in others {
                let pointer = &choice.choice.pointer;
                let negation = self.schemas.locations.negation(ids[other], pointer);
                let fails = self.schemas.conjunction([negation])?;
                branches[own].1 = self.schemas.joined(&branches[own].1, &fails)?;
            }
        }
        Ok(())
    }

    /// The pairs of branches that may hold at once, more rather than less; None if there are too many. Where there are many
    /// branches, most must be told apart by the values that they list, or that they list for a property that they require.
    fn compared(&mut self, branches: &[Branch]) -> Result<Option<Vec<(usize, usize)>>, Error> {
        let all = 0..branches.len();
        if branches.len() <= MAX_COMPARED_BRANCHES {
            let pairs =
                all.flat_map(|left| (left + 1..branches.len()).map(move |right| (left, right)));
            return Ok(Some(pairs.collect()));
        }
        let mut demands = Vec::with_capacity(branches.len());
        for (_, branch) in branches {
            demands.push(self.schemas.demands(branch)?);
        }
        let required = demands.first().map(|first| first.required.clone());
        let names = required
            .into_iter()
            .flatten()
            .map(Some)
            .take(MAX_TELLING_PROPERTIES);
        for name in std::iter::once(None).chain(names) {
            let mut listed = Vec::with_capacity(branches.len());
            for demands in &demands {
                listed.push(match &name {
                    None => Some(Rc::clone(demands)),
                    Some(name)
                        if demands.types == Types::OBJECT && demands.required.contains(name) =>
                    {
                        let value = self.schemas.property(demands, name)?;
                        Some(self.schemas.demands(&value)?)
                    }
                    Some(_) => None,
                });
            }
            let values =
                |demands: &Option<Rc<Demands>>| demands.as_ref()?.values.as_ref().map(Vec::len);
            self.spend(listed.iter().filter_map(values).sum())?;
            if let Some(pairs) = sharing(&listed) {
                return Ok(Some(pairs));
            }
        }
        Ok(None)
    }
}

/// The pairs of which both may have a value in common; None if there are too many.
fn sharing(listed: &[Option<Rc<Demands>>]) -> Option<Vec<(usize, usize)>> {
    let mut by_value: SeededMap<Key<'_>, Vec<usize>> = SeededMap::default();
    // Those that list nothing may share a value with any other.
    let mut open: Vec<usize> = Vec::new();
    let mut pairs = SeededIndexSet::default();
    for (at, demands) in listed.iter().enumerate() {
        let values = demands.as_ref().and_then(|demands| demands.values.as_ref());
        let mut before = open.clone();
        match values {
            None => {
                before = (0..at).collect();
                open.push(at);
            }
            Some(values) => {
                for value in values {
                    let same = by_value.entry(Key::of(value)).or_default();
                    before.extend_from_slice(same);
                    same.push(at);
                    if pairs.len() + before.len() > MAX_COMPARED_BRANCHES.pow(2) {
                        return None;
                    }
                }
            }
        }
        pairs.extend(
            before
                .into_iter()
                .filter(|&other| other != at)
                .map(|other| (other, at)),
        );
        if pairs.len() > MAX_COMPARED_BRANCHES.pow(2) / 2 {
            return None;
        }
    }
    Some(pairs.into_iter().collect())
}

/// What equal values have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key<'v> {
    Text(&'v str),
    Number(Decimal),
    Boolean(bool),
    /// Null, arrays or objects.
    Other(u8),
}

impl<'v> Key<'v> {
    fn of(value: &'v Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Number(number) => {
                Decimal::parse(number.as_str()).map_or(Self::Other(0), Self::Number)
            }
            Value::Bool(value) => Self::Boolean(*value),
            Value::Null => Self::Other(1),
            Value::Array(_) => Self::Other(2),
            Value::Object(_) => Self::Other(3),
        }
    }
}
