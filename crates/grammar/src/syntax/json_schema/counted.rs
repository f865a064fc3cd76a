//! Arrays in which items are counted (`contains`): one rule for each position and each count that matters.

use super::demands::Conjunction;
use super::keywords::Contains;
use super::lower::Lowering;
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ExprId, ExprIds, RuleId};
use crate::maps::IdMap;
use crate::tuning::{MAX_ARRAY_RULES, MAX_ITEM_COUNTS};

/// How many items there are, and how many match each `contains`; both no further than it matters.
type CountState = (u32, Vec<u64>);

impl Lowering<'_> {
    /// What follows the opening bracket; None where that takes too many rules.
    pub(super) fn counted_items(
        &mut self,
        prefix: &[Conjunction],
        rest: &Conjunction,
        contains: &[Contains],
        (min, max): (u32, Option<u32>),
        place: Position,
    ) -> Result<Option<ExprId>, Error> {
        let from = contains.iter().map(|one| one.from).max().unwrap_or(0);
        // Positions from here on are alike.
        let last = (min.max(max.unwrap_or(0)) as usize)
            .max(prefix.len())
            .max(from)
            .max(1);
        let tops: Vec<u64> = contains
            .iter()
            .map(|one| one.max.map_or(one.min, |max| max.max(one.min)))
            .collect();
        let states = tops.iter().fold(last + 1, |product, &top| {
            let top = usize::try_from(top).unwrap_or(usize::MAX);
            product.saturating_mul(top.saturating_add(1))
        });
        if states > MAX_ARRAY_RULES || contains.len() > MAX_ITEM_COUNTS.ilog2() as usize {
            return Ok(None);
        }
        let mut rules: IdMap<CountState, RuleId> = IdMap::default();
        let mut work: Vec<(CountState, RuleId)> = Vec::new();
        let start = self.counted((0, vec![0; contains.len()]), &mut rules, &mut work);
        while let Some(((at, counts), rule)) = work.pop() {
            self.spend(1)?;
            let mut alternatives = Vec::new();
            let enough = counts
                .iter()
                .zip(contains)
                .all(|(count, one)| *count >= one.min);
            if at >= min && enough {
                alternatives.push(self.end(place, at == 0));
            }
            if max.is_none_or(|max| at < max) {
                let item = prefix.get(at as usize).unwrap_or(rest).clone();
                for (item, counts) in self.ways_to_count(item, at as usize, &counts, contains)? {
                    let next = (at + 1).min(last as u32);
                    let then = self.counted((next, counts), &mut rules, &mut work);
                    let before = if at > 0 {
                        Some(self.comma(place))
                    } else {
                        self.lead(place)
                    };
                    let parts = [self.value(&item, place)?, self.builder.reference(then)];
                    let parts: ExprIds = before.into_iter().chain(parts).collect();
                    alternatives.push(self.builder.seq(parts));
                }
            }
            let body = if alternatives.is_empty() {
                self.nothing()
            } else {
                self.builder.alt(alternatives)
            };
            self.builder.define(rule, body);
        }
        Ok(Some(self.builder.reference(start)))
    }

    fn counted(
        &mut self,
        state: CountState,
        rules: &mut IdMap<CountState, RuleId>,
        work: &mut Vec<(CountState, RuleId)>,
    ) -> RuleId {
        if let Some(&rule) = rules.get(&state) {
            return rule;
        }
        let rule = self.fresh("items");
        rules.insert(state.clone(), rule);
        work.push((state, rule));
        rule
    }

    /// An item, by which of the `contains` it counts for. Without an upper bound there is no need to exclude that an item
    /// matches: leaving it uncounted is one alternative.
    fn ways_to_count(
        &mut self,
        item: Conjunction,
        at: usize,
        counts: &[u64],
        contains: &[Contains],
    ) -> Result<Vec<(Conjunction, Vec<u64>)>, Error> {
        let mut alternatives = vec![(item, counts.to_vec())];
        for (which, one) in contains.iter().enumerate() {
            if at < one.from || (one.max.is_none() && counts[which] >= one.min) {
                continue;
            }
            let matching = self.schemas.conjunction([one.schema])?;
            let failing = if one.max.is_some() {
                let negation = self.schemas.locations.negation(one.schema, &one.pointer);
                Some(self.schemas.conjunction([negation])?)
            } else {
                None
            };
            let mut next = Vec::new();
            for (item, counts) in alternatives {
                if one.max.is_none_or(|max| counts[which] < max) {
                    let mut more = counts.clone();
                    more[which] += 1;
                    next.push((self.schemas.joined(&item, &matching)?, more));
                }
                let left = match &failing {
                    Some(failing) => self.schemas.joined(&item, failing)?,
                    None => item,
                };
                next.push((left, counts));
            }
            alternatives = next;
        }
        let mut possible = Vec::with_capacity(alternatives.len());
        for alternative in alternatives {
            if !self.schemas.impossible(&alternative.0)? {
                possible.push(alternative);
            }
        }
        Ok(possible)
    }
}
