//! A lazy DFA of one terminal: the residuals that a scan meets, with dense rows of transitions that are filled when
//! they are first taken. From derivatives, for scans of the vocabulary.

use std::cell::OnceCell;
use std::ops::RangeInclusive;

use crate::automaton::{ExprId, LoopAlphabet, Needs, Passage, Passed, Residuals};
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::tuning;
use crate::vocabulary::{ASCII, Below, Kinds, kinds, lead, place_behind};

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

// ---
// Closed sets of bytes and killing bytes of a residual. Scans use them to decide tokens without reading each byte.
//
// A residual dies when it has read bytes after which no continuation is accepted: it reaches the dead state of its
// automaton. On a closed set of bytes it never does, whatever text of them it reads; after a killing byte it always
// does.

/// A set of text that a residual can read without reaching the dead state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Closed {
    /// The ASCII bytes of the text.
    pub(super) ascii: u128,
    /// The first bytes of its other characters, as [`lead`] tells their bits.
    pub(super) leads: u64,
    /// Where in a character the residual stands, as bits of places; [`ASCII`] besides where it stands between characters.
    pub(super) places: u16,
    /// Whether the residual may end within.
    pub(super) may_end: bool,
    /// ASCII bytes at which it dies wherever such text has led, without having ended.
    pub(super) killing: u128,
    /// Whether all other bytes are so.
    pub(super) others_deadly: bool,
}

impl Closed {
    /// Whether nothing is known.
    pub(super) fn is_none(&self) -> bool {
        self.places == 0
    }

    /// Whether that is all that is below a node.
    #[inline]
    pub(super) fn reads(&self, below: &Below) -> bool {
        below.ascii & !self.ascii == 0
            && below.leads & !self.leads == 0
            && below.from & self.places != 0
    }

    /// Kinds such that of what is below a node the residual reads exactly the texts without them, and does not end within
    /// any. To be told from other bytes by its kind, a byte must be alone with it there.
    #[inline]
    pub(super) fn killing(&self, below: &Below) -> Option<Kinds> {
        let killing = below.ascii & !self.ascii;
        let others = below.from & ASCII == 0;
        let others_safe = below.leads & !self.leads == 0 && below.from & self.places != 0;
        let others_deadly = others && self.others_deadly && self.places & ASCII != 0;
        if killing & !self.killing != 0 || !others_safe && !others_deadly {
            return None;
        }
        let killing = kinds(killing, others_deadly);
        let closed = kinds(below.ascii & self.ascii, others && !others_deadly);
        (killing & closed == 0).then_some(killing)
    }

    /// This or another of the same residual, whichever says more.
    pub(super) fn or(self, other: Self) -> Self {
        let size = |closed: &Self| closed.ascii.count_ones() + closed.leads.count_ones();
        if (self.ascii, self.leads) == (other.ascii, other.leads) {
            Self {
                places: self.places | other.places,
                may_end: self.may_end | other.may_end,
                ..self
            }
        } else if size(&self) < size(&other) {
            other
        } else {
            self
        }
    }
}

// ---
// Searches for closed sets of bytes (see `closed`): sets whose texts never lead a residual to its dead state. `scan`
// skips text that consists of such bytes. The search is needed where the form of a residual does not show the set,
// mostly for complements.
//
// The search visits all residuals that can be reached from one residual by bytes of a candidate set. If no byte of the
// set leads any of them to the dead state, the set is closed. Bytes that do lead there are removed from the candidates,
// and so are bytes that lead to residuals for which many other bytes do.

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
