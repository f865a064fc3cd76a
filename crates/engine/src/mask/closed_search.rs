//! Searches for closed sets of bytes (see `closed`): sets whose texts never lead a residual to its dead state. `scan`
//! skips text that consists of such bytes. The search is needed where the form of a residual does not show the set,
//! mostly for complements.
//!
//! The search visits all residuals that can be reached from one residual by bytes of a candidate set. If no byte of the
//! set leads any of them to the dead state, the set is closed. Bytes that do lead there are removed from the candidates,
//! and so are bytes that lead to residuals for which many other bytes do.

use std::ops::RangeInclusive;

use super::closed::Closed;
use super::lazy_dfa::{DfaState, LazyDfa};
use crate::automaton::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning;
use crate::vocabulary::{ASCII, lead, place_behind};

/// The first bytes of characters of more than one.
const LEADS: RangeInclusive<u8> = 0xc2..=0xf4;

/// The other bytes of characters.
const OTHERS: RangeInclusive<u8> = 0x80..=0xbf;

/// What is met on the way from one residual.
struct Met {
    /// Residuals between characters; all that the text leads to from one of them is here, too.
    between: Vec<DfaState>,
    /// Residuals within characters with their places, and whether every end of the character leads to one of `between`.
    within: Vec<(DfaState, usize, bool)>,
    ascii: u128,
    leads: u64,
    /// Whether `between` may grow.
    grows: bool,
}

impl Met {
    /// Whether text may lead to a residual between characters.
    fn admits(&mut self, dfa: &LazyDfa, rest: DfaState, residuals: &Residuals) -> bool {
        if self.between.contains(&rest) {
            return true;
        }
        if !self.grows || rest == DfaState::DEAD {
            return false;
        }
        let Some(residual) = dfa.residual(rest) else {
            return false;
        };
        let first = residuals.first(residual).ascii();
        let admits = (self.ascii & !first).count_ones() < tuning::KILLED_BYTES;
        if admits {
            self.between.push(rest);
        }
        admits
    }
}

impl LazyDfa {
    /// Finds the closed set of a residual that stands between two characters. The same set holds for all residuals that
    /// its bytes lead to.
    pub(super) fn find_closed(
        &mut self,
        rest: DfaState,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let Some(residual) = self.residual(rest) else {
            return Ok(());
        };
        let first = residuals.first(residual);
        if first.ascii().count_ones() < tuning::CLOSED_BYTES {
            return Ok(());
        }
        // What failed once because too much was met does so again where reading has led.
        if self.looks {
            if self.close(rest, first.ascii(), true, residuals, fuel)? {
                return Ok(());
            }
            self.looks = false;
        }
        let loops = self.loops(rest);
        if loops.count_ones() >= tuning::CLOSED_BYTES {
            self.close(rest, loops, false, residuals, fuel)?;
        }
        Ok(())
    }

    /// Tries it with some bytes and all characters; false if too much is met or too little left.
    fn close(
        &mut self,
        start: DfaState,
        ascii: u128,
        grows: bool,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let few = self.residual(start).is_none_or(|residual| {
            !residuals.is_logical(residual) && !residuals.first(residual).is_ascii()
        });
        let most = if few {
            tuning::CLOSED_RESIDUALS_PLAIN
        } else {
            tuning::CLOSED_RESIDUALS
        };
        let mut met = Met {
            between: vec![start],
            within: Vec::new(),
            ascii,
            leads: LEADS.fold(0, |leads, byte| leads | lead(byte)),
            grows,
        };
        let mut at = 0;
        while let Some(&rest) = met.between.get(at) {
            at += 1;
            let mut last = None;
            let mut bytes = met.ascii;
            while bytes != 0 {
                let byte = bytes.trailing_zeros() as u8;
                bytes &= bytes - 1;
                let next = self.step(rest, byte, residuals, fuel)?;
                if last == Some(next) {
                    continue;
                }
                if met.admits(self, next, residuals) {
                    last = Some(next);
                } else {
                    met.ascii &= !(1 << byte);
                }
            }
            for byte in LEADS {
                if met.leads & lead(byte) != 0 {
                    let place = place_behind(0, byte).unwrap_or(0);
                    let next = self.step(rest, byte, residuals, fuel)?;
                    if !self.ends_between(next, place, &mut met, residuals, fuel)? {
                        met.leads &= !lead(byte);
                    }
                }
            }
            if met.ascii.count_ones() < tuning::CLOSED_BYTES || met.between.len() > most {
                return Ok(false);
            }
        }
        let may_end = met.between.iter().any(|rest| rest.ends())
            || met.within.iter().any(|(rest, _, _)| rest.ends());
        let between = met.between.iter().map(|&rest| (rest, ASCII | 1));
        let within = met.within.iter().filter(|&&(_, _, closed)| closed);
        let within = within.map(|&(rest, place, _)| (rest, 1 << place));
        let (killing, others_deadly) = if may_end {
            (0, false)
        } else {
            self.killing(&met, residuals, fuel)?
        };
        for (rest, places) in between.chain(within) {
            let closed = Closed {
                ascii: met.ascii,
                leads: met.leads,
                places,
                may_end,
                killing,
                others_deadly,
            };
            let known = self.closed_mut(rest);
            *known = known.or(closed);
        }
        Ok(true)
    }

    /// The ASCII bytes at which all that is met between characters dies, and whether it does at all others.
    fn killing(
        &mut self,
        met: &Met,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<(u128, bool), Error> {
        let mut killing = !met.ascii;
        let mut others = met.leads == 0;
        for &rest in &met.between {
            let mut bytes = killing;
            while bytes != 0 {
                let byte = bytes.trailing_zeros() as u8;
                bytes &= bytes - 1;
                if self.step(rest, byte, residuals, fuel)? != DfaState::DEAD {
                    killing &= !(1 << byte);
                }
            }
            for byte in 0x80..=u8::MAX {
                others = others && self.step(rest, byte, residuals, fuel)? == DfaState::DEAD;
            }
        }
        Ok((killing, others))
    }

    /// Whether every end of a character that has begun leads to a residual between characters that is met. A character has
    /// few bytes, so this does not go deep.
    fn ends_between(
        &mut self,
        rest: DfaState,
        place: usize,
        met: &mut Met,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        if rest == DfaState::DEAD {
            return Ok(false);
        }
        let known = met
            .within
            .iter()
            .find(|known| (known.0, known.1) == (rest, place));
        if let Some(&(_, _, closed)) = known {
            return Ok(closed);
        }
        let mut closed = true;
        // What the last byte led to, if that is as it should be: bytes side by side mostly lead to the same.
        let mut last = None;
        for byte in OTHERS {
            let Some(behind) = place_behind(place, byte) else {
                continue;
            };
            let next = self.step(rest, byte, residuals, fuel)?;
            if last == Some((next, behind)) {
                continue;
            }
            let ends = if behind == 0 {
                met.admits(self, next, residuals)
            } else {
                self.ends_between(next, behind, met, residuals, fuel)?
            };
            closed &= ends;
            last = ends.then_some((next, behind));
        }
        met.within.push((rest, place, closed));
        Ok(closed)
    }
}
