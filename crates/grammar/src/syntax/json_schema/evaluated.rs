//! What `unevaluatedProperties` and `unevaluatedItems` are about: which subschemas look at the same value on behalf of the
//! one that asks, and hold.

use super::demands::{Conjunction, Demands, Unevaluated};
use super::keywords::LocationId;
use super::keywords::{Choice, Holds, Keywords};
use super::options::Draft;
use super::schemas::Schemas;
use crate::error::Error;
use crate::maps::IdSet;
use crate::tuning::{MAX_SUBSET_BRANCHES, MEMBERS_CHECKED_PER_UNIT};

/// The members that evaluate for one of them.
enum Found {
    Scope(Vec<usize>),
    /// Why that is not known.
    Unknown(&'static str),
}

impl Schemas<'_> {
    /// Fills in what is unevaluated by a conjunction whose choices are all made.
    pub(super) fn find_evaluated(
        &mut self,
        conjunction: &Conjunction,
        demands: &mut Demands,
    ) -> Result<(), Error> {
        for owner in 0..conjunction.members.len() {
            let member = std::rc::Rc::clone(&demands.members[owner]);
            let asked = [
                (member.unevaluated.clone(), false),
                (member.unevaluated_items.clone(), true),
            ];
            for (asked, items) in asked {
                let Some((schema, pointer)) = asked else {
                    continue;
                };
                let scope = match self.scope(conjunction, owner)? {
                    Found::Scope(scope) => scope,
                    Found::Unknown(reason) => {
                        demands
                            .widened
                            .push((pointer.to_string(), reason.to_owned()));
                        continue;
                    }
                };
                let mut found = Unevaluated {
                    schema,
                    scope,
                    owner,
                    items,
                };
                if items {
                    self.contained(demands, &mut found, &pointer);
                    demands.unevaluated_items.push(found);
                } else {
                    demands.unevaluated.push(found);
                }
            }
        }
        Ok(())
    }

    /// Items that `contains` has found are evaluated (from 2020-12 on).
    fn contained(
        &mut self,
        demands: &Demands,
        found: &mut Unevaluated,
        pointer: &std::rc::Rc<str>,
    ) {
        if self.draft != Draft::Draft2020 {
            return;
        }
        let matching = found
            .scope
            .iter()
            .flat_map(|&at| &demands.members[at].contains)
            .map(|contains| contains.schema);
        let mut branches: Vec<LocationId> = matching.collect();
        if branches.is_empty() {
            return;
        }
        branches.push(found.schema);
        let choice = Choice {
            branches: branches.into(),
            holds: Holds::Any,
            pointer: std::rc::Rc::clone(pointer),
        };
        let either = Keywords {
            choices: vec![choice],
            ..Keywords::default()
        };
        found.schema = self.locations.made(pointer, either);
    }

    /// Which members evaluate for the one at `owner`: what it includes, and branches that hold.
    fn scope(&mut self, conjunction: &Conjunction, owner: usize) -> Result<Found, Error> {
        let present: IdSet<LocationId> = conjunction.members.iter().copied().collect();
        let mut scope = Vec::new();
        let mut seen: IdSet<LocationId> = IdSet::default();
        let mut work = vec![conjunction.members[owner]];
        while let Some(id) = work.pop() {
            self.spend(1 + conjunction.members.len() / MEMBERS_CHECKED_PER_UNIT)?;
            // Nothing is evaluated by what must not hold.
            if self.locations.get(id).negates.is_some() || !seen.insert(id) {
                continue;
            }
            let keywords = self.keywords(id)?;
            scope.extend(conjunction.members.iter().position(|&member| member == id));
            work.extend(&keywords.includes);
            for choice in &keywords.choices {
                if choice.holds == Holds::Any && choice.branches.len() > MAX_SUBSET_BRANCHES {
                    return Ok(Found::Unknown("too many branches may evaluate"));
                }
                let mut any = false;
                for &branch in choice.branches.iter() {
                    let inside = self.conjunction([branch])?;
                    self.spend(inside.size())?;
                    if inside.members.iter().all(|member| present.contains(member)) {
                        any = true;
                        work.push(branch);
                    }
                }
                if !any {
                    return Ok(Found::Unknown("what evaluates is not known here"));
                }
            }
        }
        Ok(Found::Scope(scope))
    }
}
