//! Choices (`anyOf`, `oneOf`, conditions, negations): which branches are left, which of them can hold together.

use super::demands::{Conjunction, Demands, Open};
use super::keywords::Holds;
use super::keywords::LocationId;
use super::lower::Lowering;
use crate::error::Error;
use crate::maps::SeededSet;
use crate::tuning::{MAX_COMBINATIONS, MAX_COMPARED_BRANCHES, MAX_OVERLAPS};

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
        while open.len() > 1 && combinations(&open) > MAX_COMBINATIONS {
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
        if branches.len() > MAX_COMPARED_BRANCHES {
            self.schemas.widen(
                &choice.choice.pointer,
                "more than one of so many branches may hold",
            );
            return Ok(());
        }
        let mut overlaps: Vec<Vec<usize>> = vec![Vec::new(); branches.len()];
        for left in 0..branches.len() {
            for right in left + 1..branches.len() {
                self.spend(1)?;
                let both = self.schemas.joined(&branches[left].1, &branches[right].1)?;
                if !self.schemas.impossible(&both)? {
                    overlaps[left].push(right);
                    overlaps[right].push(left);
                }
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
}
