//! How many units the words of an intersection with a count have.
//!
//! There are finitely many sets of places, so the rounds repeat from some round on, and any bounds are a look into the
//! table.

use super::expression::Bounds;
use super::expression::ExprId;
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::tuning;

type Places = Box<[u64]>;

/// For every place of one intersection: how many units its words have.
#[derive(Debug)]
pub(super) struct Lengths {
    /// By number of units: the places that have a word of exactly so many.
    rounds: Vec<Places>,
    /// From which round on they repeat.
    start: usize,
    /// Every place that has a word has one of up to so many units.
    within: u32,
    /// Whether every place that has a word has words of any size.
    endless: bool,
}

impl Lengths {
    /// How many rounds there are.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Whether a place has a word of so many units.
    pub(super) fn has(&self, place: usize, units: usize) -> bool {
        let round = if units < self.rounds.len() {
            units
        } else {
            self.start + (units - self.start) % self.period()
        };
        self.rounds[round][place / 64] >> (place % 64) & 1 == 1
    }

    pub(super) fn period(&self) -> usize {
        self.rounds.len() - self.start
    }

    /// Whether a place has a word within bounds.
    pub(super) fn within_bounds(&self, place: usize, bounds: Bounds) -> bool {
        let first = bounds.min as usize;
        // Behind a whole period there is nothing new.
        let last = first.max(self.start) + self.period();
        let last = bounds.max.map_or(last, |max| last.min(max as usize));
        (first..=last).any(|units| self.has(place, units))
    }

    /// By how much an upper bound must be out of reach so that every place that has a word has one within the bounds; None
    /// if that depends on more. Each unit that is read lowers both bounds.
    pub(super) fn margin(&self, bounds: Bounds, reach: u32) -> Option<u32> {
        if bounds.min == 0 {
            return Some(self.within);
        }
        let room = (self.period() as u32).saturating_add(reach);
        let is_wide = |max: u32| max - bounds.min.min(max) >= room;
        (self.endless && bounds.max.is_none_or(is_wide)).then_some(self.rounds.len() as u32)
    }

    /// While how many units are read an upper bound decides nothing.
    pub(super) fn room(&self, bounds: Bounds) -> Option<u32> {
        let needed = if bounds.min == 0 {
            self.within as usize
        } else if self.endless {
            self.start.max(bounds.min as usize) + self.period()
        } else {
            return None;
        };
        (bounds.max? as usize)
            .checked_sub(needed)
            .map(|room| room as u32)
    }
}

/// The tables of a store.
#[derive(Debug, Default)]
pub(super) struct LengthTables {
    /// Intersections with a counter in place of a count, with the bounds of the count.
    pub(super) intersections: IdMap<ExprId, Option<(ExprId, Bounds)>>,
    pub(super) tables: Vec<Lengths>,
    /// How often there was no table.
    pub(super) failures: u32,
    /// By intersection with a counter: its table and its place there, if there is a table.
    pub(super) places: IdMap<ExprId, Option<(usize, usize)>>,
}

/// The rounds, given from where each place is reached with no unit and with one, and which places are ends.
pub(super) fn rounds(
    from: &[[Vec<u32>; 2]],
    ends: Vec<u32>,
    fuel: &mut Fuel,
) -> Result<Option<Lengths>, Error> {
    let words = from.len().div_ceil(64);
    let mut known: IdMap<Places, usize> = IdMap::default();
    let mut rounds: Vec<Places> = Vec::new();
    let mut seen = vec![0_u64; words];
    let mut within = 0;
    let mut next = ends;
    let start = loop {
        // Whatever leads there without a unit.
        let mut set = vec![0_u64; words];
        let mut members = Vec::new();
        while let Some(place) = next.pop() {
            let at = place as usize;
            if set[at / 64] >> (at % 64) & 1 == 1 {
                continue;
            }
            set[at / 64] |= 1 << (at % 64);
            members.push(at);
            next.extend(&from[at][0]);
            fuel.spend(1 + from[at][0].len() + from[at][1].len())?;
        }
        if set
            .iter()
            .zip(&seen)
            .any(|(now, before)| now & !before != 0)
        {
            within = rounds.len() as u32;
            for (before, now) in seen.iter_mut().zip(&set) {
                *before |= now;
            }
        }
        next = members
            .iter()
            .flat_map(|&at| from[at][1].iter().copied())
            .collect();
        let set: Places = set.into();
        if let Some(&start) = known.get(&set) {
            break start;
        }
        known.insert(set.clone(), rounds.len());
        rounds.push(set);
        if rounds.len() > tuning::LENGTHS_ROUNDS {
            return Ok(None);
        }
    };
    let mut again = vec![0_u64; words];
    for round in &rounds[start..] {
        for (all, more) in again.iter_mut().zip(round) {
            *all |= more;
        }
    }
    Ok(Some(Lengths {
        rounds,
        start,
        within,
        endless: again == seen,
    }))
}
