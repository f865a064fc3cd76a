//! What one residual of a terminal does to each token of the vocabulary, whatever grammar it stands in. From `scan`,
//! for `compose`; the store in `shared` keeps it for all grammars of a vocabulary.
//!
//! Read by the residual alone, a token has one of two outcomes. Either all of it is consumed and the text so far can be
//! completed to a word of the terminal: the token stays inside. Or the residual reaches its dead state before the
//! token ends. If the terminal could end directly before the byte that led there, the rest of the token may belong to
//! what follows the terminal: the token is an exit, also called a boundary token.
//!
//! A token may also pass positions at which the terminal could end, and read on. Where no following terminal can begin
//! with a byte on which the residual read on, these positions need no second parse, and only the exits remain to be decided.

use std::ops::Range;
use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::exits::Exits;
use super::row::{List, allow, allow_all, is_allowed, refuse};
use crate::tuning;
use crate::vocabulary::{Vocabulary, bitmask_words};

/// Tokens, as what takes less room.
#[derive(Debug, Clone)]
pub(super) enum Tokens {
    /// A whole row.
    Row(Arc<[i32]>),
    /// Few.
    List(List),
}

impl Tokens {
    /// Whether a token is among them.
    pub(super) fn has(&self, id: u32) -> bool {
        match self {
            Self::Row(row) => is_allowed(row, id),
            Self::List(list) => list.contains(&id),
        }
    }

    /// Tokens of runs in the order of the trie, and some more.
    pub(super) fn of_runs(
        runs: &[Range<u32>],
        more: impl Iterator<Item = u32> + Clone,
        vocabulary: &Vocabulary,
    ) -> Self {
        let order = vocabulary.trie().order();
        let ids_of = |run: Range<u32>| &order[run.start as usize..run.end as usize];
        let count: usize = runs.iter().map(Range::len).sum::<usize>() + more.clone().count();
        if count <= tuning::LISTED {
            let mut list = Vec::with_capacity(count);
            for run in runs {
                list.extend_from_slice(ids_of(run.clone()));
            }
            list.extend(more);
            return Self::List(list.into());
        }
        // Whatever is fewer is touched one by one: what is kept, or what is not.
        let all = order.len() as u32;
        if count > order.len() / 2 && runs.is_sorted_by_key(|run| run.start) {
            let ends = runs.iter().map(|run| run.start).chain([all]);
            let starts = [0].into_iter().chain(runs.iter().map(|run| run.end));
            return Self::row(vocabulary.text_row().iter().copied(), |row| {
                for (start, end) in starts.zip(ends) {
                    for &id in ids_of(start..end) {
                        refuse(row, id);
                    }
                }
                more.for_each(|id| allow(row, id));
            });
        }
        Self::row(nothing(vocabulary), |row| {
            for run in runs {
                allow_all(row, ids_of(run.clone()));
            }
            more.for_each(|id| allow(row, id));
        })
    }

    /// A row that is made of another one, where it is to stay.
    pub(super) fn row(other: impl Iterator<Item = i32>, change: impl FnOnce(&mut [i32])) -> Self {
        let mut row: Arc<[i32]> = other.collect();
        if let Some(own) = Arc::get_mut(&mut row) {
            change(own);
        }
        Self::Row(row)
    }
}

/// A row that allows nothing.
fn nothing(vocabulary: &Vocabulary) -> impl Iterator<Item = i32> {
    std::iter::repeat_n(0, bitmask_words(vocabulary.size()))
}

/// The tokens of one residual.
#[derive(Debug)]
pub(super) struct Classification {
    /// The tokens that stay inside.
    pub(super) tokens: Tokens,
    /// Bytes on which it goes on where it might have ended; perhaps more.
    pub(super) live: ByteSet,
    /// Nodes whose subtrees leave.
    pub(super) exits: Arc<Exits>,
    /// Tokens below `exits` that do not leave after all; ascending.
    pub(super) without: Box<[u32]>,
    /// Nodes whose subtrees leave, whatever `without` says.
    pub(super) own_exits: Box<[(u8, u32)]>,
    /// Whether it might have ended behind every byte but the last that is read, wherever a token leaves or dies.
    pub(super) ends_anywhere: bool,
}

impl Classification {
    /// Whether it is told without reference to another, so that others may refer to it.
    pub(super) fn is_whole(&self) -> bool {
        self.without.is_empty() && self.own_exits.is_empty()
    }

    /// Whether some token leaves.
    pub(super) fn leaves(&self) -> bool {
        !self.exits.is_empty() || !self.own_exits.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Row(row) => size_of_val(&**row),
            Tokens::List(list) => size_of_val(&**list),
        };
        tokens
            + self.exits.memory_bytes()
            + self.own_exits.len() * 8
            + self.without.len() * 4
            + size_of::<Self>()
            + 64
    }
}

/// Tokens without some and with others.
pub(super) fn changed(
    known: &Tokens,
    removed: &[u32],
    added: &[u32],
    vocabulary: &Vocabulary,
) -> Tokens {
    match known {
        known if removed.is_empty() && added.is_empty() => known.clone(),
        Tokens::List(list) if list.len() + added.len() <= tuning::LISTED => {
            let mut removed = removed.to_vec();
            removed.sort_unstable();
            let mut list = list.to_vec();
            list.retain(|id| removed.binary_search(id).is_err());
            list.extend_from_slice(added);
            Tokens::List(list.into())
        }
        known => {
            let change = |row: &mut [i32]| {
                for &id in removed {
                    refuse(row, id);
                }
                allow_all(row, added);
            };
            match known {
                Tokens::Row(row) => Tokens::row(row.iter().copied(), change),
                Tokens::List(list) => Tokens::row(nothing(vocabulary), |row| {
                    allow_all(row, list);
                    change(row);
                }),
            }
        }
    }
}
