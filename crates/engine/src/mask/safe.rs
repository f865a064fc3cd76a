//! Text on which a residual never dies, found by looking: for residuals whose form does not tell, complements mostly.
//!
//! From one residual, all are met that some bytes lead to. If none of them dies at any of these bytes, none ever does while
//! it reads nothing else. Bytes at which some would die, or which lead to what dies at many others, are left out.

use crate::automaton::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{ASCII, Below, place_behind};

use super::lane::{Lane, Rest};

/// Fewer bytes than this are not worth looking for.
const BYTES: u32 = 16;

/// A byte that leads to where so many of the others are lost is left out.
const LOST: u32 = 6;

/// More residuals than this are too many in all.
const MET: usize = 60;

/// More residuals than this are too many between characters: for logical expressions, which mostly look for a word, and for
/// others, which mostly count.
const BETWEEN: (usize, usize) = (24, 4);

/// The first bytes of characters of more than one.
const LEADS: std::ops::RangeInclusive<u8> = 0xc2..=0xf4;

/// Bytes that a residual reads in any order and number without dying.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Safe {
    ascii: u128,
    /// Where in a character the residual stands, as bits of places, [`ASCII`] included; the latter alone where characters
    /// of more than one byte are not safe.
    places: u16,
    /// Whether the residual may end within.
    pub(super) may_end: bool,
}

impl Safe {
    /// Whether nothing is known.
    pub(super) fn is_none(&self) -> bool {
        self.places == 0
    }

    /// Whether that is all that is below a node.
    #[inline]
    pub(super) fn reads(&self, below: &Below) -> bool {
        below.ascii & !self.ascii == 0 && below.from & self.places != 0
    }

    /// This or another of the same residual, whichever says more.
    fn or(self, other: Self) -> Self {
        if self.ascii == other.ascii {
            Self {
                ascii: self.ascii,
                places: self.places | other.places,
                may_end: self.may_end | other.may_end,
            }
        } else if (self.places.count_ones(), self.ascii.count_ones())
            < (other.places.count_ones(), other.ascii.count_ones())
        {
            other
        } else {
            self
        }
    }
}

impl Lane {
    /// Finds safe bytes of a residual that stands between characters, and with it for all that they lead to.
    pub(super) fn find_safe(
        &mut self,
        rest: Rest,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let first = residuals.first(self.residual(rest));
        if first.ascii().count_ones() < BYTES {
            return Ok(());
        }
        let characters = LEADS.into_iter().all(|byte| first.contains(byte));
        // What failed once because too much was met does so again where reading has led.
        if self.looks.0 && self.close(rest, first.ascii(), characters, residuals, fuel)? {
            return Ok(());
        }
        self.looks.0 = false;
        let loops = self.loops(rest);
        if characters && self.looks.1 && loops.count_ones() >= BYTES {
            self.looks.1 = self.close(rest, loops, true, residuals, fuel)?;
        }
        Ok(())
    }

    /// Tries it with some bytes; false if that fails, which may depend on the bytes.
    fn close(
        &mut self,
        rest: Rest,
        mut ascii: u128,
        characters: bool,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let mut met: Vec<(Rest, usize)> = vec![(rest, 0)];
        let (mut at, mut between) = (0, 1);
        let most = if residuals.is_logical(self.residual(rest)) {
            BETWEEN.0
        } else {
            BETWEEN.1
        };
        while let Some(&(rest, place)) = met.get(at) {
            at += 1;
            if between > most || met.len() > MET {
                return Ok(false);
            }
            // Bytes side by side mostly lead to the same.
            let mut last = (Rest::DEAD, 0);
            if place == 0 {
                let mut bytes = ascii;
                while bytes != 0 {
                    let byte = bytes.trailing_zeros() as u8;
                    bytes &= bytes - 1;
                    let next = self.step(rest, byte, residuals, fuel)?;
                    if (next, 0) == last && next != Rest::DEAD {
                        continue;
                    }
                    let is_met = met.contains(&(next, 0));
                    if next == Rest::DEAD
                        || !is_met && {
                            let first = residuals.first(self.residual(next)).ascii();
                            (ascii & !first).count_ones() >= LOST
                        }
                    {
                        ascii &= !(1 << byte);
                        continue;
                    }
                    last = (next, 0);
                    if !is_met {
                        met.push((next, 0));
                        between += 1;
                    }
                }
                if ascii.count_ones() < BYTES {
                    return Ok(false);
                }
            }
            let further = if place == 0 { LEADS } else { 0x80..=0xbf };
            if !characters {
                continue;
            }
            for byte in further {
                let Some(behind) = place_behind(place, byte) else {
                    continue;
                };
                let next = self.step(rest, byte, residuals, fuel)?;
                if next == Rest::DEAD {
                    return Ok(false);
                }
                if (next, behind) != last && !met.contains(&(next, behind)) {
                    met.push((next, behind));
                    between += usize::from(behind == 0);
                }
                last = (next, behind);
            }
        }
        let may_end = met.iter().any(|(rest, _)| rest.ends());
        for (rest, place) in met {
            let places = match (place, characters) {
                (0, true) => ASCII | 1,
                (0, false) => ASCII,
                (place, _) => 1 << place,
            };
            let safe = Safe {
                ascii,
                places,
                may_end,
            };
            let known = self.safe_mut(rest);
            *known = known.or(safe);
        }
        Ok(true)
    }
}
