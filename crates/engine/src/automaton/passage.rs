//! The way through words and literals, without an expression for each byte. For scans of the vocabulary, which pass
//! each place once.

use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::error::Error;
use crate::limits::Fuel;

/// A place within words, for those who pass through them once: nothing is interned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    what: What,
    /// How many bytes are behind.
    at: u32,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// The words from `first` to `end` of a table. Those before `next` go on with lesser bytes than the one that was asked
    /// for last: bytes are mostly asked for in their order.
    Words {
        table: u32,
        first: u32,
        end: u32,
        next: u32,
    },
    /// A literal, and what follows it.
    Literal { bytes: u32, tail: ExprId },
}

/// Where a byte leads within words.
#[derive(Debug)]
pub(crate) enum Passed {
    /// Nowhere.
    Dead,
    /// To another place, at which a word may end or not.
    Within(Passage, bool),
    /// To what follows a word.
    Through(ExprId),
}

impl Residuals {
    /// The place in front of words, if an expression is nothing else.
    pub(crate) fn passage(&self, id: ExprId) -> Option<Passage> {
        match *self.arena.node(id) {
            Node::Words {
                table,
                first,
                end,
                at,
            } => Some(Passage {
                what: What::Words {
                    table,
                    first,
                    end,
                    next: first,
                },
                at,
            }),
            Node::Literal { bytes, at, tail } => Some(Passage {
                what: What::Literal { bytes, tail },
                at,
            }),
            _ => None,
        }
    }

    /// Where a byte leads from a place within words.
    pub(crate) fn pass(
        &mut self,
        passage: &mut Passage,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Passed, Error> {
        let behind = passage.at + 1;
        let (what, ends) = match passage.what {
            What::Literal { bytes, tail } => {
                let literal = &self.arena.literals[bytes as usize];
                if literal[passage.at as usize] != byte {
                    return Ok(Passed::Dead);
                }
                if literal.len() == behind as usize {
                    return Ok(Passed::Through(tail));
                }
                (passage.what, false)
            }
            What::Words {
                table,
                first,
                end,
                ref mut next,
            } => {
                let words = &self.arena.tables[table as usize];
                // Those before `next` go on with lesser bytes than it, but perhaps not than this one.
                if *next > first && words.byte(*next - 1, passage.at) >= Some(byte) {
                    *next = first;
                }
                let found = words.with_byte(*next..end, passage.at, byte);
                *next = found.start;
                if found.is_empty() {
                    return Ok(Passed::Dead);
                }
                let ends = words.ends(found.start, behind);
                let tail = words.tail(found.start);
                if ends && (tail != ExprId::EMPTY || found.len() == 1) {
                    let rest =
                        self.arena
                            .words_from(table, found.start, found.end, behind, fuel)?;
                    return Ok(Passed::Through(rest));
                }
                let what = What::Words {
                    table,
                    first: found.start,
                    end: found.end,
                    next: found.start,
                };
                (what, ends)
            }
        };
        Ok(Passed::Within(Passage { what, at: behind }, ends))
    }
}
