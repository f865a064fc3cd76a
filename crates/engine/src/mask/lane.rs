//! One terminal alone over bytes: a dense automaton of the residuals that a scan meets.

use rustc_hash::FxHashMap;

use crate::automaton::{FiredId, RegexId, UnionId, Unions};
use crate::error::Error;
use crate::limits::Fuel;

/// A residual on the way through a token, and in the highest bit whether the terminal may end in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rest(u32);

impl Rest {
    /// Nothing is left.
    pub(super) const DEAD: Self = Self(0);

    /// Whether the terminal may end here.
    pub(super) fn ends(self) -> bool {
        self.0 >> 31 == 1
    }

    fn index(self) -> usize {
        (self.0 & !(1 << 31)) as usize
    }
}

const UNKNOWN: Rest = Rest(u32::MAX);

/// More residuals than this get no row; they are looked up where they are met.
const ROWS: usize = 4_096;

/// Residuals by small numbers, with a row of 256 transitions each. Good for one scan of one terminal.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// 256 transitions of each residual, while there are few enough.
    rows: Vec<Rest>,
    unions: Vec<UnionId>,
    numbers: FxHashMap<(UnionId, bool), Rest>,
}

impl Lane {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.unions.clear();
        self.numbers.clear();
        self.add(UnionId::DEAD, false);
    }

    /// The number of a union of one residual (or none), in front of which the terminal may end or not.
    pub(super) fn add(&mut self, union: UnionId, ends: bool) -> Rest {
        if let Some(&known) = self.numbers.get(&(union, ends)) {
            return known;
        }
        let index = self.unions.len() as u32;
        let rest = Rest(index | u32::from(ends) << 31);
        self.unions.push(union);
        if (index as usize) < ROWS {
            self.rows.resize(self.rows.len() + 256, UNKNOWN);
        }
        self.numbers.insert((union, ends), rest);
        rest
    }

    /// The residual itself.
    pub(super) fn residual(&self, rest: Rest, unions: &Unions) -> RegexId {
        match unions.parts(self.unions[rest.index()]) {
            [(_, residual), ..] => *residual,
            [] if rest.ends() => RegexId::EMPTY,
            [] => RegexId::NOTHING,
        }
    }

    /// What a byte leaves.
    #[inline]
    pub(super) fn step(
        &mut self,
        rest: Rest,
        byte: u8,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<Rest, Error> {
        match self.rows.get(rest.index() << 8 | usize::from(byte)) {
            Some(&known) if known != UNKNOWN => Ok(known),
            _ => self.find(rest, byte, unions, fuel),
        }
    }

    #[cold]
    fn find(
        &mut self,
        rest: Rest,
        byte: u8,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<Rest, Error> {
        let (to, fired) = unions.step(self.unions[rest.index()], byte, fuel)?;
        let next = self.add(to, fired != FiredId::NONE);
        if let Some(known) = self.rows.get_mut(rest.index() << 8 | usize::from(byte)) {
            *known = next;
        }
        Ok(next)
    }
}
