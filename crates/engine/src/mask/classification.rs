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

use super::walk::{List, allow, allow_all, is_allowed, refuse};
use crate::tuning;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

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

// ---
// Boundary tokens: where tokens leave a terminal, as it cannot go on there, or though it could have. From scans, for
// `compose`.

/// Nodes of the vocabulary's trie at which a token leaves the terminal, by their bytes.
#[derive(Debug)]
pub(super) struct Exits {
    nodes: Box<[(u8, u32)]>,
}

impl Exits {
    /// Puts nodes together that are at the same byte.
    pub(super) fn new(found: Vec<(u8, u32)>) -> Self {
        // Counting is several times as fast as sorting many, and of one byte their order does not matter.
        if found.len() < tuning::SORTED_EXITS {
            let mut nodes = found;
            nodes.sort_unstable_by_key(|&(byte, _)| byte);
            return Self {
                nodes: nodes.into(),
            };
        }
        let mut next = [0; 256];
        for &(byte, _) in &found {
            next[usize::from(byte)] += 1;
        }
        let mut sum = 0;
        for next in &mut next {
            sum += std::mem::replace(next, sum);
        }
        let mut nodes = vec![(0, 0); found.len()];
        for (byte, node) in found {
            let next = &mut next[usize::from(byte)];
            nodes[*next] = (byte, node);
            *next += 1;
        }
        Self {
            nodes: nodes.into(),
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether any is among these nodes.
    pub(super) fn any_in(&self, nodes: Range<usize>) -> bool {
        self.all().any(|node| nodes.contains(&node))
    }

    /// All nodes.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().map(|&(_, node)| node as usize)
    }

    /// The nodes of a byte.
    pub(super) fn at(&self, byte: u8) -> &[(u8, u32)] {
        at(&self.nodes, byte)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.len() * size_of::<(u8, u32)>() + size_of::<Self>()
    }
}

/// Those of the exits that are at a byte.
pub(super) fn at(exits: &[(u8, u32)], byte: u8) -> &[(u8, u32)] {
    let from = exits.partition_point(|&(exit, _)| exit < byte);
    let same = exits[from..].partition_point(|&(exit, _)| exit == byte);
    &exits[from..from + same]
}

/// Where a terminal may end in the middle of a token though it could go on: the byte that then begins what follows, and the
/// bytes that may come right after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MidAccept {
    pub(super) byte: u8,
    pub(super) then: ByteSet,
}

/// The rests of tokens from such a byte on, as a trie; None if there are too many.
#[derive(Debug, Clone)]
pub(super) struct RestTrie(pub(super) Option<Arc<Trie>>);

impl RestTrie {
    pub(super) fn memory_bytes(&self) -> usize {
        let trie = self.0.as_ref().map_or(0, |trie| trie.memory_bytes());
        trie + size_of::<Self>() + 64
    }
}

// ---
// Where in the vocabulary's trie a terminal begins to read.

/// A place in the vocabulary's trie, or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Anchor {
    /// In front of every token.
    Root,
    /// Behind a node.
    Behind(u32),
    /// Behind every run of these bytes, if none of them comes next.
    Runs(ByteSet),
    /// Behind every run of up to so many of these bytes, and in front of every token.
    Lead(ByteSet, u32),
}

impl Anchor {
    /// How many nodes there are at most.
    pub(super) fn size(self, trie: &Trie) -> usize {
        match self {
            Self::Root | Self::Runs(_) => trie.nodes().len(),
            // A terminal that something leads is read at few nodes: it begins with few bytes.
            Self::Lead(..) => trie.nodes().len() / tuning::LEAD_SHARE,
            Self::Behind(node) => (trie.nodes()[node as usize].next - node) as usize,
        }
    }
}
