//! Plain tokens, and a trie of the others.
//!
//! What reads text up to a quote or the end of a line reads plain tokens without looking at them. The others are few, and
//! a trie of nothing else is read in order, where their nodes in the vocabulary's trie are far from each other.

use std::sync::Arc;

use super::below::{ASCII, Below, lead, place_behind};
use super::trie::Trie;

/// Bytes that end a text in most notations, or may not be in it.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, 0..0x20 | b'"' | b'\'' | b'\\' | 0x7f)
}

/// The tokens of a vocabulary in two parts.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The tokens that are not plain.
    others: Trie,
    /// By node of theirs: the same node of the vocabulary's trie.
    nodes: Box<[u32]>,
    /// The bitmask row of plain tokens.
    row: Arc<[i32]>,
    /// What the plain tokens are, as of what is below a node; those that are not ASCII are UTF-8.
    below: Below,
}

impl Plain {
    /// Sorts the tokens of a trie; `words` is how many a row of the vocabulary has.
    pub(super) fn new<'a>(trie: &Trie, token: impl Fn(u32) -> &'a [u8], words: usize) -> Self {
        let mut row = vec![0; words];
        let mut below = Below {
            ascii: 0,
            leads: 0,
            from: 1,
            height: 0,
            begun: 0,
        };
        let mut others: Vec<(u32, &[u8])> = Vec::new();
        let mut is_ascii = true;
        for (&id, &length) in trie.order().iter().zip(trie.lengths()) {
            let bytes = token(id);
            let mut place = Some(0);
            for &byte in bytes {
                place = place.and_then(|place| place_behind(place, byte));
            }
            if place.is_none() || !bytes.iter().all(|&byte| is_plain(byte)) {
                others.push((id, bytes));
                continue;
            }
            row[id as usize / 32] |= 1 << (id % 32);
            below.height = below.height.max(length);
            for &byte in bytes {
                if byte < 0x80 {
                    below.ascii |= 1 << byte;
                } else {
                    is_ascii = false;
                    below.leads |= lead(byte);
                }
            }
        }
        if is_ascii {
            below.from |= ASCII;
        }
        let others = Trie::new(others.into_iter()).with_belows();
        Self {
            nodes: same_nodes(&others, trie),
            others,
            row: row.into(),
            below,
        }
    }

    pub(crate) fn others(&self) -> &Trie {
        &self.others
    }

    /// The node of the vocabulary's trie that is a node of the [others'](Self::others).
    pub(crate) fn node(&self, other: u32) -> u32 {
        self.nodes[other as usize]
    }

    pub(crate) fn row(&self) -> &Arc<[i32]> {
        &self.row
    }

    pub(crate) fn below(&self) -> &Below {
        &self.below
    }
}

/// The nodes of a trie that are those of a part of it.
fn same_nodes(part: &Trie, trie: &Trie) -> Box<[u32]> {
    let mut nodes = Vec::with_capacity(part.nodes().len());
    // By depth: where the next child may be.
    let mut next = vec![0; part.longest() + 1];
    for node in part.nodes() {
        let depth = usize::from(node.depth);
        let mut at = next[depth - 1];
        while trie.nodes()[at].byte != node.byte {
            at = trie.nodes()[at].next as usize;
        }
        nodes.push(at as u32);
        next[depth - 1] = trie.nodes()[at].next as usize;
        next[depth] = at + 1;
    }
    nodes.into()
}
