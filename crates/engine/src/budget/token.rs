//! What a token writes of which part.

use super::parts::{OUTSIDE, Parts, PieceId};
use crate::earley::{Ended, Frames, Recognizer};
use crate::error::Error;
use crate::limits::Fuel;

/// One way of reading a token, from a piece on. It holds whatever was counted before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outcome {
    /// Where it leads.
    pub(crate) piece: PieceId,
    /// The parts in which it has a byte, as bits.
    pub(crate) touched: u64,
    /// If the part that was under way was left: how many bytes the token has of it, where they are counted.
    pub(crate) left: Option<u32>,
    /// Parts that began and ended inside the token: where they began, and how many bytes they have.
    pub(crate) passed: Vec<(PieceId, u32)>,
    /// Where the part that is under way began, if that was inside the token or right behind it.
    pub(crate) entry: Option<PieceId>,
    /// How many bytes the token has before that part, else 0.
    pub(crate) since: u32,
}

impl Outcome {
    /// Before the first byte.
    pub(crate) fn start(piece: PieceId) -> Self {
        Self {
            piece,
            touched: 0,
            left: None,
            passed: Vec::new(),
            entry: None,
            since: 0,
        }
    }

    /// The bytes of the part that is under way, in a token of so many bytes.
    pub(crate) fn run(&self, length: u32) -> u32 {
        length - self.since
    }

    /// Whether it may have noted down that a part began or ended at this length.
    pub(crate) fn tells(&self, length: u32) -> bool {
        self.since == length || self.left == Some(length) || !self.passed.is_empty()
    }

    /// The same after a byte or symbol that leads to another piece, as the `length`-th.
    fn after(&self, parts: &Parts, to: PieceId, length: u32) -> Self {
        let (class, next) = (parts.piece(self.piece).class, parts.piece(to).class);
        let mut after = Self {
            piece: to,
            ..self.clone()
        };
        if class != OUTSIDE {
            after.touched |= 1 << class;
        }
        if class == next {
            return after;
        }
        if class != OUTSIDE {
            match after.entry.take() {
                Some(entry) => after.passed.push((entry, length - self.since)),
                None => after.left = Some(if parts.in_bytes(class) { length } else { 0 }),
            }
        }
        (after.entry, after.since) = if next == OUTSIDE {
            (None, 0)
        } else {
            (Some(to), length)
        };
        after
    }
}

/// The ways of reading `length` bytes, with one byte more.
pub(crate) fn longer(
    outcomes: &[Outcome],
    length: u32,
    byte: u8,
    parts: &mut Parts,
    (recognizer, frames): (&mut Recognizer, &mut Frames),
    fuel: &mut Fuel,
) -> Result<Vec<Outcome>, Error> {
    let mut longer = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        let pieces = parts.step(outcome.piece, byte, recognizer, frames, fuel)?;
        longer.extend(
            pieces
                .iter()
                .map(|&to| outcome.after(parts, to, length + 1)),
        );
    }
    longer.sort_unstable();
    longer.dedup();
    Ok(longer)
}

/// The ways of reading text from a piece on.
pub(crate) fn read_text(
    piece: PieceId,
    text: &[u8],
    parts: &mut Parts,
    (recognizer, frames): (&mut Recognizer, &mut Frames),
    fuel: &mut Fuel,
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = vec![Outcome::start(piece)];
    for (length, &byte) in text.iter().enumerate() {
        let work = (&mut *recognizer, &mut *frames);
        outcomes = longer(&outcomes, length as u32, byte, parts, work, fuel)?;
        if outcomes.is_empty() {
            break;
        }
    }
    Ok(outcomes)
}

/// The ways of reading a token as these symbols; it counts as one byte.
pub(crate) fn read_symbols(
    piece: PieceId,
    symbols: Ended,
    parts: &mut Parts,
    (recognizer, frames): (&mut Recognizer, &mut Frames),
    fuel: &mut Fuel,
) -> Result<Vec<Outcome>, Error> {
    let pieces = parts.step_symbols(piece, symbols, recognizer, frames, fuel)?;
    let start = Outcome::start(piece);
    Ok(pieces.iter().map(|&to| start.after(parts, to, 1)).collect())
}
