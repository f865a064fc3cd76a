//! Conjunctions: subschemas that must hold together, and all that they demand.
//!
//! A [`Conjunction`] is a set of subschemas in the order in which their properties are written; intersecting two schemas is
//! joining their sets. There are finitely many, which is what makes recursion end.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::keywords::{
    Choice, Contains, Holds, Keywords, LocationId, Multiple, Pattern, RequiredMember, Types,
};
use super::number::Bound;
use crate::json::Value;
use crate::limits::Limits;
use crate::maps::{IdSet, SeededIndexSet, SeededMap};
use crate::tuning::{COMPARED_MEMBERS, MAX_SUBSET_BRANCHES, MEMBERS_COPIED_PER_UNIT};

/// Subschemas that all hold, without those that say nothing, and the choices among them that are made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Conjunction {
    /// What is included stands before what includes it: that is the order in which properties are written.
    pub(super) members: SmallVec<[LocationId; 4]>,
    /// Sorted: (member, which of its choices).
    pub(super) made: SmallVec<[(LocationId, u16); 2]>,
}

impl Conjunction {
    /// Steps for copying it or looking it up.
    pub(super) fn size(&self) -> usize {
        1 + (self.members.len() + self.made.len()) / MEMBERS_COPIED_PER_UNIT
    }

    /// Both conjunctions at once; [`Schemas::joined`] pays for it.
    pub(super) fn joined(&self, right: &Self) -> Self {
        let mut joined = self.clone();
        if joined.members.len().saturating_mul(right.members.len()) <= COMPARED_MEMBERS {
            for id in &right.members {
                if !joined.members.contains(id) {
                    joined.members.push(*id);
                }
            }
        } else {
            let mut seen: IdSet<LocationId> = joined.members.iter().copied().collect();
            let others = right.members.iter().filter(|&&id| seen.insert(id));
            joined.members.extend(others.copied());
        }
        if !right.made.is_empty() {
            joined.made.extend(right.made.iter().copied());
            joined.made.sort_unstable();
            joined.made.dedup();
        }
        debug_assert!(joined.made.is_sorted_by(|left, right| left < right));
        joined
    }

    /// Notes that a choice is made.
    pub(super) fn make(&mut self, choice: (LocationId, u16)) {
        if let Err(at) = self.made.binary_search(&choice) {
            self.made.insert(at, choice);
        }
        debug_assert!(self.made.is_sorted_by(|left, right| left < right));
    }
}

/// A choice that is still to be made.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) owner: LocationId,
    pub(super) index: u16,
    pub(super) choice: Choice,
}

impl Open {
    /// The branches, one or several together, of which one must hold; `subsets`: it matters which of them hold at once.
    pub(super) fn selections(&self, subsets: bool) -> Vec<SmallVec<[LocationId; 1]>> {
        let branches = &self.choice.branches;
        if !subsets || self.choice.holds != Holds::Any || branches.len() > MAX_SUBSET_BRANCHES {
            return branches.iter().map(|&branch| smallvec![branch]).collect();
        }
        let chosen = |set: usize| {
            let all = branches.iter().enumerate();
            all.filter(|(at, _)| set >> at & 1 == 1)
                .map(|(_, &branch)| branch)
                .collect()
        };
        (1..1usize << branches.len()).map(chosen).collect()
    }
}

/// One `unevaluatedProperties` or `unevaluatedItems`.
pub(super) struct Unevaluated {
    /// What holds for all that is not evaluated.
    pub(super) schema: LocationId,
    /// Which members of the conjunction evaluate.
    pub(super) scope: Vec<usize>,
    /// The member that asks.
    pub(super) owner: usize,
    pub(super) items: bool,
}

impl Unevaluated {
    /// Whether a member of the scope evaluates everything that it does not name.
    pub(super) fn covers(&self, at: usize, member: &Keywords) -> bool {
        let (rest, nested) = if self.items {
            (member.rest.is_some(), member.unevaluated_items.is_some())
        } else {
            (member.additional.is_some(), member.unevaluated.is_some())
        };
        rest || (nested && at != self.owner)
    }
}

/// All that a conjunction demands. The default demands nothing.
#[derive(Default)]
pub(super) struct Demands {
    pub(super) types: Types,
    pub(super) values: Option<Vec<Value>>,
    pub(super) excluded: Vec<Value>,
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
    pub(super) required: SeededIndexSet<Rc<str>>,
    pub(super) multiples: Vec<Multiple>,
    pub(super) contains: Vec<Contains>,
    pub(super) has: Vec<Rc<RequiredMember>>,
    /// Only where no choice is open; whether there is any, open choices or not, says `evaluation`.
    pub(super) unevaluated: Vec<Unevaluated>,
    pub(super) unevaluated_items: Vec<Unevaluated>,
    pub(super) evaluation: bool,
    /// (pointer, reason) of what is not enforced.
    pub(super) widened: Vec<(String, String)>,
    pub(super) choices: Vec<Open>,
    /// The members themselves, for what is not merged into one value.
    pub(super) members: SmallVec<[Rc<Keywords>; 1]>,
    /// Which they are.
    pub(super) ids: SmallVec<[LocationId; 1]>,
    /// Made when it is first needed.
    pub(super) saying: OnceCell<Saying>,
}

/// Which of many members say something of properties.
pub(super) struct Saying {
    /// Those that list a name, ascending.
    listed: SeededMap<Rc<str>, Vec<u32>>,
    /// Those that may say something of any name, ascending.
    any: Vec<u32>,
}

impl Demands {
    /// The members that may say something of a property, ascending.
    pub(super) fn saying(&self, name: &str) -> Cow<'_, [u32]> {
        let saying = self.saying.get_or_init(|| {
            let mut listed: SeededMap<Rc<str>, Vec<u32>> = SeededMap::default();
            let mut any = Vec::new();
            for (at, member) in (0..).zip(&self.members) {
                if member.additional.is_some() || !member.pattern_properties.is_empty() {
                    any.push(at);
                    continue;
                }
                for (name, _) in &member.properties {
                    let places = listed.entry(name.clone()).or_default();
                    if places.last() != Some(&at) {
                        places.push(at);
                    }
                }
            }
            Saying { listed, any }
        });
        match saying.listed.get(name) {
            None => Cow::Borrowed(&saying.any),
            Some(listed) if saying.any.is_empty() => Cow::Borrowed(listed),
            Some(listed) => {
                let mut both = [&listed[..], &saying.any].concat();
                both.sort_unstable();
                Cow::Owned(both)
            }
        }
    }

    /// Declared names in order: listed properties first, then those only required, then others that must be told apart.
    pub(super) fn names(&self) -> SeededIndexSet<Rc<str>> {
        let listed = self
            .members
            .iter()
            .flat_map(|member| &member.properties)
            .map(|(name, _)| name);
        let told_apart = self.has.iter().flat_map(|has| &has.others_than);
        listed
            .chain(&self.required)
            .chain(told_apart)
            .cloned()
            .collect()
    }
}

/// A count as the engine's counters take it, and whether it fits.
pub(super) fn counter(count: u64, limits: &Limits) -> Option<u32> {
    u32::try_from(count)
        .ok()
        .filter(|&count| count <= limits.regex_repetition)
}
