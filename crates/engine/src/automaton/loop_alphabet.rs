//! The loop alphabet of a residual: text that it reads without dying, since every character of it is one unit of a
//! repetition. From the form of an expression, for scans of the vocabulary, which skip all below a trie node that has
//! no other bytes.

use syntagma_grammar::ir::ByteSet;

use super::classes::ClassesId;
use super::expression::{ExprId, Node};
use super::residual::Residuals;
use super::residual::Unit;
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning;
use crate::vocabulary::{ASCII, Below, PLACES, place_behind};

/// The first byte of characters of more than one byte.
const LEAD: u8 = 0xc2;

/// More residuals than this between the bytes of characters are too many.
const WITHIN: usize = 2 * PLACES;

/// Bytes that continue a character, by place: how many, and which may come first.
const CONTINUATIONS: [(usize, u8, u8); PLACES] = [
    (0, 0, 0),
    (1, 0x80, 0xbf),
    (2, 0x80, 0xbf),
    (3, 0x80, 0xbf),
    (2, 0xa0, 0xbf),
    (2, 0x80, 0x9f),
    (3, 0x90, 0xbf),
    (3, 0x80, 0x8f),
];

/// A residual does not die while it reads such text.
#[derive(Debug)]
pub(crate) struct LoopAlphabet {
    /// The ASCII bytes of the text.
    ascii: u128,
    /// Where in a character of UTF-8 the residual stands, as bits of places; [`ASCII`] besides where it stands between
    /// characters. Only that where characters of more than one byte do not belong to the text.
    places: u16,
    /// How many characters the text has at most; `u32::MAX` for any number.
    most: u32,
    /// Where the count decides alone: ASCII bytes that are a unit and nothing else, and can begin nothing that follows.
    alone: u128,
    /// The same for characters: like `places`, with [`ASCII`] where they do not belong to that text.
    alone_places: u16,
}

/// What every word of each alternative of a residual has.
#[derive(Debug)]
pub(crate) struct Needs(Vec<Need>);

impl Needs {
    /// Whether the residual may end within text of some bytes.
    pub(crate) fn may_end(&self, bytes: &ByteSet) -> bool {
        self.0.iter().any(|need| {
            need.all.intersection(bytes) == need.all
                && need
                    .some
                    .iter()
                    .all(|some| !some.intersection(bytes).is_empty())
        })
    }
}

#[derive(Debug)]
struct Need {
    /// Each of these bytes.
    all: ByteSet,
    /// A byte of each of these sets.
    some: Vec<ByteSet>,
}

/// An expression that reads a repetition.
struct Repetition {
    /// Classes that come first: the end of a character that has begun.
    before: Vec<ByteSet>,
    /// The expression without them.
    rest: ExprId,
    inner: ExprId,
    min: u32,
    max: Option<u32>,
    /// What follows the repetition.
    tail: Option<ExprId>,
}

impl Residuals {
    /// The text that a trimmed residual is known to read without dying, if any.
    pub(crate) fn loop_alphabet(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<LoopAlphabet>, Error> {
        let parts = self.alternatives(id);
        let mut best: Option<LoopAlphabet> = None;
        for &part in &parts {
            // One alternative that lives is enough; that something is left says so only of the one that is alone.
            if let Some(loop_alphabet) = self.stretch_of_part(part, fuel)?
                && best
                    .as_ref()
                    .is_none_or(|best| best.worth() < loop_alphabet.worth())
                && (parts.len() == 1 || self.trim(part, fuel)? != ExprId::NOTHING)
            {
                best = Some(loop_alphabet);
            }
        }
        if let Some(loop_alphabet) = &mut best
            && parts.len() > 1
        {
            loop_alphabet.alone_places = 0;
        }
        Ok(best)
    }

    /// What every word has, by alternative.
    pub(crate) fn needs(&self, id: ExprId) -> Needs {
        let parts = self.alternatives(id).into_iter();
        Needs(parts.map(|part| self.need(part)).collect())
    }

    /// The same for one alternative.
    fn stretch_of_part(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<LoopAlphabet>, Error> {
        let (head, _) = self.split(id);
        if let Node::And(parts) = self.arena.node(head)
            && let [a, b] = **parts
        {
            return Ok(match self.stretch_of_counted(a, b, fuel)? {
                None => self.stretch_of_counted(b, a, fuel)?,
                found => found,
            });
        }
        let Some(found) = self.repetition(id) else {
            return Ok(None);
        };
        let (places, unit) = self.places(&found, fuel)?;
        let (mut alone, mut alone_places) = (0, 0);
        if let Some(tail) = found.tail
            && !self.is_nullable(tail)
        {
            let first = self.first(tail);
            alone = unit.alone & !first.ascii();
            let characters = unit.characters_alone && first.is_ascii();
            alone_places = if characters { places } else { places & ASCII };
        }
        Ok((places != 0 && unit.ascii != 0).then_some(LoopAlphabet {
            ascii: unit.ascii,
            places,
            most: found.max.unwrap_or(u32::MAX),
            alone,
            alone_places,
        }))
    }

    /// The same for an intersection of some text with a repetition of units, which is not empty: a repetition in the text can
    /// be read as long as the other leaves room for the shortest way from it to an end.
    fn stretch_of_counted(
        &mut self,
        text: ExprId,
        count: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<LoopAlphabet>, Error> {
        let Some(
            counted @ Repetition {
                min: 0, tail: None, ..
            },
        ) = self.repetition(count)
        else {
            return Ok(None);
        };
        let (places, unit) = self.places(&counted, fuel)?;
        let mut best: Option<LoopAlphabet> = None;
        for part in self.alternatives(text) {
            let Some(found) = self.repetition(part) else {
                continue;
            };
            if found.min > 0 || found.max.is_some() {
                continue;
            }
            let (mine, other) = self.places(&found, fuel)?;
            let (places, ascii) = (places & mine, unit.ascii & other.ascii);
            if places == 0 || ascii == 0 {
                continue;
            }
            let most = match counted.max {
                None => {
                    let both = self.arena.and(vec![found.rest, counted.rest], fuel)?;
                    self.is_inhabited(both, fuel)?.then_some(u32::MAX)
                }
                Some(max) => {
                    let room = self.room(found.rest, counted.inner, fuel)?;
                    room.map(|room| max.saturating_sub(room))
                }
            };
            let Some(most) = most else {
                continue;
            };
            let loop_alphabet = LoopAlphabet {
                ascii,
                places,
                most,
                alone: 0,
                alone_places: 0,
            };
            if best
                .as_ref()
                .is_none_or(|best| best.worth() < loop_alphabet.worth())
            {
                best = Some(loop_alphabet);
            }
        }
        Ok(best)
    }

    /// So many units at most that some word consists of no more; None where that is not soon found.
    fn room(&mut self, text: ExprId, unit: ExprId, fuel: &mut Fuel) -> Result<Option<u32>, Error> {
        if let Some(&known) = self.units.rooms.get(&(text, unit)) {
            return Ok(known);
        }
        let mut found = None;
        for units in [0, 1, 2, 4, 8, 16, 32] {
            let count = self.arena.repeat(unit, 0, Some(units), fuel)?;
            let both = self.arena.and(vec![text, count], fuel)?;
            if self.is_inhabited(both, fuel)? {
                found = Some(units);
                break;
            }
        }
        self.units.rooms.insert((text, unit), found);
        Ok(found)
    }

    /// The expression as bytes of a character, if any, a repetition, and whatever follows.
    fn repetition(&self, id: ExprId) -> Option<Repetition> {
        let mut before: Vec<ByteSet> = Vec::new();
        let mut rest = id;
        loop {
            let (head, tail) = self.split(rest);
            match (self.arena.node(head), tail) {
                (&Node::Repeat { inner, min, max }, tail) => {
                    return Some(Repetition {
                        before,
                        rest,
                        inner,
                        min,
                        max,
                        tail,
                    });
                }
                (&Node::Class(set), Some(tail)) if before.len() < 3 => {
                    before.push(*self.arena.bytes(set));
                    rest = tail;
                }
                _ => return None,
            }
        }
    }

    /// Where in a character the expression stands, as [`LoopAlphabet::places`], and what its repetition repeats.
    fn places(&mut self, found: &Repetition, fuel: &mut Fuel) -> Result<(u16, Unit), Error> {
        let unit = self.unit(found.inner, fuel)?;
        let places = if found.before.is_empty() {
            ASCII | u16::from(unit.characters)
        } else if unit.characters {
            places_before(&found.before)
        } else {
            0
        };
        Ok((places, unit))
    }

    /// What every word has, as far as the parts that follow each other tell.
    fn need(&self, id: ExprId) -> Need {
        let mut need = Need {
            all: ByteSet::EMPTY,
            some: Vec::new(),
        };
        let mut rest = Some(id);
        while let Some(part) = rest
            && need.some.len() < tuning::NECESSARY_BYTES
        {
            let (head, tail) = self.split(part);
            match *self.arena.node(head) {
                Node::Class(set) => need.some.push(*self.arena.bytes(set)),
                Node::Literal { bytes, at, .. } => {
                    let literal = &self.arena.literals[bytes as usize][at as usize..];
                    literal
                        .iter()
                        .take(tuning::NECESSARY_BYTES)
                        .for_each(|&byte| need.all.insert(byte));
                }
                _ => {}
            }
            rest = tail;
        }
        need
    }

    /// What remains behind the bytes of each class.
    fn steps(&mut self, id: ExprId, fuel: &mut Fuel) -> Result<(ClassesId, Vec<ExprId>), Error> {
        let classes = self.classes_of(id);
        let count = self.derivatives.classes.count(classes);
        let mut rests = vec![ExprId::NOTHING; count];
        for index in 0..count {
            let byte = self.derivatives.classes.representatives(classes)[index];
            rests[self.class_of(classes, byte)] = self.step(id, byte, fuel)?;
        }
        Ok((classes, rests))
    }

    fn unit(&mut self, inner: ExprId, fuel: &mut Fuel) -> Result<Unit, Error> {
        if let Some(&unit) = self.units.known.get(&inner) {
            return Ok(unit);
        }
        let mut unit = Unit {
            ascii: 0,
            alone: 0,
            characters: true,
            characters_alone: true,
        };
        let (classes, rests) = self.steps(inner, fuel)?;
        for byte in 0..0x80 {
            let rest = rests[self.class_of(classes, byte)];
            unit.ascii |= u128::from(self.is_nullable(rest)) << byte;
            unit.alone |= u128::from(rest == ExprId::EMPTY) << byte;
        }
        let mut met: Vec<(ExprId, usize)> = vec![(inner, 0)];
        let mut at = 0;
        'all: while let Some(&(rest, place)) = met.get(at) {
            at += 1;
            let (classes, rests) = self.steps(rest, fuel)?;
            let start = if place == 0 { LEAD } else { 0x80 };
            // Bytes side by side mostly lead to the same.
            let mut last = None;
            for byte in start..=u8::MAX {
                let Some(behind) = place_behind(place, byte) else {
                    continue;
                };
                let next = rests[self.class_of(classes, byte)];
                if last.replace((next, behind)) == Some((next, behind)) {
                    continue;
                }
                let fits = if behind == 0 {
                    unit.characters_alone &= next == ExprId::EMPTY;
                    self.is_nullable(next)
                } else {
                    next != ExprId::NOTHING
                };
                if !fits || met.len() > WITHIN {
                    unit.characters = false;
                    break 'all;
                }
                if behind != 0 && !met.contains(&(next, behind)) {
                    met.push((next, behind));
                }
            }
        }
        self.units.known.insert(inner, unit);
        Ok(unit)
    }
}

impl LoopAlphabet {
    /// Whether it reads all that is below a node.
    #[inline]
    pub(crate) fn reads(&self, below: &Below) -> bool {
        below.ascii & !self.ascii == 0
            && below.from & self.places != 0
            && (self.most == u32::MAX
                || below.height < u8::MAX && u32::from(below.height) <= self.most)
    }

    /// Whether characters of more than one byte belong to the text.
    pub(crate) fn has_characters(&self) -> bool {
        self.places & !ASCII != 0
    }

    /// Of what is below a node, the residual reads exactly the texts in which up to so many characters begin, and does not
    /// end within any. None as well where characters are no longer told apart by number.
    #[inline]
    pub(crate) fn cuts(&self, below: &Below) -> Option<u32> {
        let cuts = below.ascii & !self.alone == 0 && below.from & self.alone_places != 0;
        let counted = u32::from(below.begun).saturating_add(self.most) < u32::from(u8::MAX);
        (cuts && counted).then_some(self.most)
    }

    fn worth(&self) -> (bool, u32, u32) {
        (self.has_characters(), self.ascii.count_ones(), self.most)
    }
}

/// The places at which classes of bytes read every way to the end of a character.
fn places_before(classes: &[ByteSet]) -> u16 {
    let reads = |class: &ByteSet, first, last| (first..=last).all(|byte| class.contains(byte));
    let mut places = 0;
    for (place, &(count, first, last)) in CONTINUATIONS.iter().enumerate().skip(1) {
        if count == classes.len()
            && reads(&classes[0], first, last)
            && classes[1..].iter().all(|class| reads(class, 0x80, 0xbf))
        {
            places |= 1 << place;
        }
    }
    places
}
