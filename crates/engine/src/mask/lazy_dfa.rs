//! A lazy DFA of one terminal: the residuals that a scan meets, with dense rows of transitions that are filled when
//! they are first taken. From derivatives, for scans of the vocabulary.

use std::cell::OnceCell;

use crate::automaton::{ExprId, LoopAlphabet, Needs, Passage, Passed, Residuals};
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::vocabulary::{ASCII, Below, Kinds};

use super::closed::Closed;
use crate::tuning;

/// A residual on the way through a token, and in the highest bit whether the terminal may end in front of it; in the bit
/// below whether it is on the way through words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DfaState(u32);

const ENDS: u32 = 1 << 31;
const PASSING: u32 = 1 << 30;

impl DfaState {
    /// Nothing is left.
    pub(super) const DEAD: Self = Self(0);

    /// Whether the terminal may end here.
    pub(super) fn ends(self) -> bool {
        self.0 & ENDS != 0
    }

    /// Whether it is on the way through words, and no residual of its own.
    pub(super) fn passes(self) -> bool {
        self.0 & PASSING != 0
    }

    fn index(self) -> usize {
        (self.0 & !(ENDS | PASSING)) as usize
    }
}

const UNKNOWN: DfaState = DfaState(u32::MAX);

/// What is known of one residual.
#[derive(Debug)]
struct Known {
    residual: ExprId,
    /// What it reads without dying, by its form, once somebody asked.
    loop_alphabet: OnceCell<Option<LoopAlphabet>>,
    /// Whether somebody looked for the same.
    looked: bool,
    /// What was found so.
    closed: Closed,
    /// What every word of it has, once somebody asked.
    needs: OnceCell<Needs>,
    /// ASCII bytes that lead back to it, as far as they were met.
    loops: u128,
}

/// How words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Way {
    /// As a residual for each of their bytes, so that what is alike has one number.
    #[default]
    Residuals,
    /// As a place for each byte that is read: what is met once need not be known again.
    Places,
}

/// Residuals by small numbers, with a row of 256 transitions each. Good for one scan of one terminal.
#[derive(Debug, Default)]
pub(super) struct LazyDfa {
    /// 256 transitions of each residual, while there are few enough.
    rows: Vec<DfaState>,
    known: Vec<Known>,
    numbers: IdMap<(ExprId, bool), DfaState>,
    /// Places within words.
    places: Vec<Passage>,
    words: Way,
    /// Whether `closed_search` searches for closed sets where the form of a residual does not show them. Switched on
    /// once a scan has become long, since the search costs more than a short one.
    pub(super) looking: bool,
    /// Whether it is worth while to look for all of it, and not only for what leads back.
    pub(super) looks: bool,
}

impl LazyDfa {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.known.clear();
        self.numbers.clear();
        self.places.clear();
        self.words = Way::Residuals;
        self.looking = false;
        self.looks = true;
        self.add(ExprId::NOTHING, false);
    }

    /// The number of a trimmed residual, in front of which the terminal may end or not.
    pub(super) fn add(&mut self, residual: ExprId, ends: bool) -> DfaState {
        if let Some(&known) = self.numbers.get(&(residual, ends)) {
            return known;
        }
        let index = self.known.len() as u32;
        let rest = DfaState(index | if ends { ENDS } else { 0 });
        self.known.push(Known {
            residual,
            loop_alphabet: OnceCell::new(),
            looked: false,
            closed: Closed::default(),
            needs: OnceCell::new(),
            loops: 0,
        });
        if (index as usize) < tuning::LANE_ROWS {
            self.rows.resize(self.rows.len() + 256, UNKNOWN);
        }
        self.numbers.insert((residual, ends), rest);
        rest
    }

    /// A scan begins with a trimmed residual, and passes through words: no two of its places in them are the same.
    pub(super) fn start(&mut self, residual: ExprId, residuals: &Residuals) -> DfaState {
        self.words = Way::Places;
        self.enter(residual, false, residuals)
    }

    /// The number of a residual that is met, or its place if it is words.
    fn enter(&mut self, residual: ExprId, ends: bool, residuals: &Residuals) -> DfaState {
        match residuals.passage(residual) {
            Some(passage) if self.words == Way::Places => self.pass(passage, ends),
            _ => self.add(residual, ends),
        }
    }

    fn pass(&mut self, passage: Passage, ends: bool) -> DfaState {
        let index = self.places.len() as u32;
        self.places.push(passage);
        DfaState(index | PASSING | if ends { ENDS } else { 0 })
    }

    /// The residual itself; none within words.
    pub(super) fn residual(&self, rest: DfaState) -> Option<ExprId> {
        (!rest.passes()).then(|| self.known[rest.index()].residual)
    }

    /// What a byte leaves.
    #[inline]
    pub(super) fn step(
        &mut self,
        rest: DfaState,
        byte: u8,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<DfaState, Error> {
        if rest.passes() {
            return self.step_within(rest, byte, residuals, fuel);
        }
        match self.rows.get(rest.index() << 8 | usize::from(byte)) {
            Some(&known) if known != UNKNOWN => Ok(known),
            _ => self.find(rest, byte, residuals, fuel),
        }
    }

    /// The same within words.
    fn step_within(
        &mut self,
        rest: DfaState,
        byte: u8,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<DfaState, Error> {
        let place = &mut self.places[rest.index()];
        Ok(match residuals.pass(place, byte, fuel)? {
            Passed::Dead => DfaState::DEAD,
            Passed::Within(passage, ends) => self.pass(passage, ends),
            Passed::Through(residual) => {
                let ends = residuals.is_nullable(residual);
                self.enter(residual, ends, residuals)
            }
        })
    }

    /// Takes the derivative, for all bytes that the residual does not tell apart.
    #[cold]
    fn find(
        &mut self,
        rest: DfaState,
        byte: u8,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<DfaState, Error> {
        let residual = self.known[rest.index()].residual;
        let next = residuals.step(residual, byte, fuel)?;
        let next = self.enter(next, residuals.is_nullable(next), residuals);
        let start = rest.index() << 8;
        if let Some(row) = self.rows.get_mut(start..start + 256) {
            let classes = residuals.classes_of(residual);
            let class = residuals.class_of(classes, byte);
            let same = residuals.class_members(classes, class);
            for &byte in same {
                row[usize::from(byte)] = next;
            }
            if next == rest && rest != DfaState::DEAD {
                let ascii = same.iter().filter(|&&byte| byte < 0x80);
                self.known[rest.index()].loops |=
                    ascii.fold(0_u128, |loops, &byte| loops | 1 << byte);
            }
        }
        Ok(next)
    }

    /// ASCII bytes that lead back to a residual, as far as they were met.
    pub(super) fn loops(&self, rest: DfaState) -> u128 {
        self.known[rest.index()].loops
    }

    pub(super) fn closed_mut(&mut self, rest: DfaState) -> &mut Closed {
        &mut self.known[rest.index()].closed
    }

    /// What a residual is known to read of all that is below a node.
    #[inline]
    pub(super) fn reads(
        &mut self,
        rest: DfaState,
        below: &Below,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<Reads, Error> {
        if rest.passes() || !residuals.has(Layer::LoopAlphabets) {
            return Ok(Reads::Unknown);
        }
        let mut known = &self.known[rest.index()];
        if self.looking && !known.looked && residuals.has(Layer::Closed) {
            self.look(rest, residuals, fuel)?;
            known = &self.known[rest.index()];
        }
        if below.ascii & !known.loops == 0 && below.from & ASCII != 0 {
            return Ok(Reads::All {
                may_end: rest.ends(),
            });
        }
        if known.closed.reads(below) {
            return Ok(Reads::All {
                may_end: known.closed.may_end,
            });
        }
        if !known.closed.is_none()
            && let Some(kinds) = known.closed.killing(below)
        {
            return Ok(Reads::Without(kinds));
        }
        let loop_alphabet = if let Some(loop_alphabet) = known.loop_alphabet.get() {
            loop_alphabet
        } else {
            let loop_alphabet = residuals.loop_alphabet(known.residual, fuel)?;
            known.loop_alphabet.get_or_init(|| loop_alphabet)
        };
        let Some(loop_alphabet) = loop_alphabet else {
            return Ok(Reads::Unknown);
        };
        if loop_alphabet.reads(below) {
            let needs = known.needs.get_or_init(|| residuals.needs(known.residual));
            return Ok(Reads::All {
                may_end: needs.may_end(&below.bytes()),
            });
        }
        Ok(loop_alphabet
            .cuts(below)
            .map_or(Reads::Unknown, Reads::UpTo))
    }

    /// Finds out what a residual reads without dying.
    #[cold]
    fn look(
        &mut self,
        rest: DfaState,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let known = &mut self.known[rest.index()];
        let residual = known.residual;
        known.looked = true;
        let plain = match known.loop_alphabet.get() {
            Some(Some(loop_alphabet)) => loop_alphabet.has_characters(),
            _ => false,
        };
        if known.closed.is_none() && (!plain || residuals.is_logical(residual)) {
            self.find_closed(rest, residuals, fuel)?;
        }
        Ok(())
    }
}

/// What a residual reads of all that is below a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// All of it; the residual may end within, or not.
    All { may_end: bool },
    /// What has at most so many bytes, and nothing else; the residual does not end within.
    UpTo(u32),
    /// What has no byte of some kinds, and nothing else; the residual does not end within.
    Without(Kinds),
    /// That has to be found out.
    Unknown,
}
