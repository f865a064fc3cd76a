//! Boundary tokens: where tokens leave a terminal, as it cannot go on there, or though it could have. From scans, for
//! `compose`.

use std::ops::Range;
use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use crate::tuning;
use crate::vocabulary::Trie;

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
