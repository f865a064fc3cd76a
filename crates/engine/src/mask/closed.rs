//! Closed sets of bytes and killing bytes of a residual. Scans use them to decide tokens without reading each byte.
//!
//! A residual dies when it has read bytes after which no continuation is accepted: it reaches the dead state of its
//! automaton. On a closed set of bytes it never does, whatever text of them it reads; after a killing byte it always
//! does.

use crate::vocabulary::{ASCII, Below, Kinds, kinds};

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
