//! One terminal alone over bytes: a dense automaton of the residuals that a scan meets.

use rustc_hash::FxHashMap;

use crate::automaton::{RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{ASCII, Below, PLACES, place_behind};

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

/// A residual that returns to itself on so many ASCII bytes is tried with whole characters, too.
const LOOPS: u32 = 32;

/// The first byte of characters of more than one byte.
const LEAD: u8 = 0xc2;

/// What is known of one residual.
#[derive(Debug, Clone, Copy)]
struct Known {
    residual: RegexId,
    /// The residual to which reading UTF-8 from here leads back: itself, unless it is in the middle of a character.
    home: Rest,
    /// The ASCII bytes on which it returns to itself.
    loops: u128,
    /// The places of UTF-8, as bits, from which reading leads home; and [`ASCII`] between characters.
    places: u16,
    /// Whether it was tried with whole characters.
    tried: bool,
}

/// Residuals by small numbers, with a row of 256 transitions each. Good for one scan of one terminal.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// 256 transitions of each residual, while there are few enough.
    rows: Vec<Rest>,
    known: Vec<Known>,
    numbers: FxHashMap<(RegexId, bool), Rest>,
}

impl Lane {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.known.clear();
        self.numbers.clear();
        self.add(RegexId::NOTHING, false);
    }

    /// The number of a trimmed residual, in front of which the terminal may end or not.
    pub(super) fn add(&mut self, residual: RegexId, ends: bool) -> Rest {
        if let Some(&known) = self.numbers.get(&(residual, ends)) {
            return known;
        }
        let index = self.known.len() as u32;
        let rest = Rest(index | u32::from(ends) << 31);
        self.known.push(Known {
            residual,
            home: rest,
            loops: 0,
            places: ASCII,
            tried: false,
        });
        if (index as usize) < ROWS {
            self.rows.resize(self.rows.len() + 256, UNKNOWN);
        }
        self.numbers.insert((residual, ends), rest);
        rest
    }

    /// The residual itself.
    pub(super) fn residual(&self, rest: Rest) -> RegexId {
        self.known[rest.index()].residual
    }

    /// What a byte leaves.
    #[inline]
    pub(super) fn step(
        &mut self,
        rest: Rest,
        byte: u8,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<Rest, Error> {
        match self.rows.get(rest.index() << 8 | usize::from(byte)) {
            Some(&known) if known != UNKNOWN => Ok(known),
            _ => self.find(rest, byte, residuals, fuel),
        }
    }

    /// Takes the derivative, for all bytes that the residual does not tell apart.
    #[cold]
    fn find(
        &mut self,
        rest: Rest,
        byte: u8,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<Rest, Error> {
        let residual = self.residual(rest);
        let next = residuals.step(residual, byte, fuel)?;
        let next = self.add(next, residuals.is_nullable(next));
        let start = rest.index() << 8;
        if let Some(row) = self.rows.get_mut(start..start + 256) {
            let classes = residuals.class_map(residuals.classes_of(residual));
            let class = classes[usize::from(byte)];
            let mut loops = 0;
            for (at, (known, &other)) in row.iter_mut().zip(classes).enumerate() {
                if other == class {
                    *known = next;
                    loops |= 1_u128.checked_shl(at as u32).unwrap_or(0);
                }
            }
            if next == rest {
                self.known[rest.index()].loops |= loops;
            }
        }
        Ok(next)
    }

    /// Whether all bytes below a node, whatever the way, lead from a residual back to it, or into a character on the way
    /// back to it. Learns of whole characters where it pays.
    #[inline]
    pub(super) fn returns(
        &mut self,
        rest: Rest,
        below: &Below,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let known = self.known[rest.index()];
        if below.ascii & !self.known[known.home.index()].loops != 0 {
            return Ok(false);
        }
        if known.places & below.from != 0 {
            return Ok(true);
        }
        if known.tried || known.loops.count_ones() < LOOPS || below.from & 1 == 0 {
            return Ok(false);
        }
        self.try_characters(rest, residuals, fuel)
    }

    /// Whether a terminal that may end in front of a residual's home goes on there.
    pub(super) fn ends_at_home(&self, rest: Rest) -> bool {
        self.known[rest.index()].home.ends()
    }

    /// Finds out whether every character of more than one byte leads from a residual back to it, and remembers the
    /// residuals in between.
    #[cold]
    fn try_characters(
        &mut self,
        home: Rest,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        self.known[home.index()].tried = true;
        let mut met: Vec<(Rest, usize)> = vec![(home, 0)];
        let mut at = 0;
        while let Some(&(rest, place)) = met.get(at) {
            let start = if place == 0 { LEAD } else { 0x80 };
            for byte in start..=u8::MAX {
                let Some(behind) = place_behind(place, byte) else {
                    continue;
                };
                let next = self.step(rest, byte, residuals, fuel)?;
                let inside = next != Rest::DEAD && next != home && !next.ends();
                if (behind == 0) != (next == home) || behind != 0 && !inside {
                    return Ok(false);
                }
                if behind != 0 && !met.contains(&(next, behind)) {
                    if met.len() > 2 * PLACES {
                        return Ok(false);
                    }
                    met.push((next, behind));
                }
            }
            at += 1;
        }
        for (rest, place) in met {
            let known = &mut self.known[rest.index()];
            if place != 0 {
                known.home = home;
                known.places &= !ASCII;
            }
            known.places |= 1 << place;
        }
        Ok(true)
    }
}
