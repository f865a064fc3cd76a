//! Plain tokens, and a trie of the others.
//!
//! What reads text up to a quote or the end of a line reads plain tokens without looking at them. The others are few, and
//! a trie of nothing else is read in order, where their nodes in the vocabulary's trie are far from each other.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::below::{Below, place_behind};
use super::trie::Trie;

/// All ASCII bytes but those that end a text in most notations, or may not be in it.
const PLAIN: u128 = {
    let ends = 1 << b'"' | 1 << b'\'' | 1 << b'\\' | 1 << 0x7f;
    u128::MAX << 0x20 & !ends
};

/// Whether a token is plain: UTF-8, perhaps cut off, without such bytes.
fn is_plain(token: &[u8]) -> bool {
    let plain = |&byte: &u8| byte >= 0x80 || PLAIN >> byte & 1 == 1;
    token.iter().all(plain) && (token.is_ascii() || is_utf8(token))
}

fn is_utf8(token: &[u8]) -> bool {
    let mut bytes = token.iter();
    let place = bytes.try_fold(0, |place, &byte| place_behind(place, byte));
    place.is_some()
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
    /// By number of characters: those in which no more begin. Where there are no longer ones, it is the whole row.
    shorter: Box<[Arc<[i32]>]>,
    /// What the plain tokens are, as of what is below a node, and perhaps more.
    below: Below,
}

impl Plain {
    /// Sorts the tokens of a trie; `words` is how many a row of the vocabulary has.
    pub(super) fn new<'a>(trie: &Trie, token: impl Fn(u32) -> &'a [u8], words: usize) -> Self {
        let mut row = vec![0; words];
        let mut height = 0;
        let mut by_length: Vec<Vec<u32>> = vec![Vec::new(); usize::from(u8::MAX) + 1];
        let mut others: Vec<(u32, &[u8])> = Vec::new();
        for (&id, &length) in trie.order().iter().zip(trie.lengths()) {
            let bytes = token(id);
            if is_plain(bytes) {
                row[id as usize / 32] |= 1 << (id % 32);
                height = height.max(length);
                by_length[usize::from(length)].push(id);
            } else {
                others.push((id, bytes));
            }
        }
        let others = Trie::new(others.into_iter()).with_belows();
        let row: Arc<[i32]> = row.into();
        Self {
            nodes: same_nodes(&others, trie),
            others,
            shorter: shorter(&row, &by_length[..=usize::from(height)]),
            row,
            below: Below::of_text(PLAIN, height),
        }
    }

    /// Whether all plain tokens in ASCII begin with one of these bytes.
    pub(crate) fn begin_within(&self, first: &ByteSet) -> bool {
        let ascii = self.below.ascii;
        let ascii = ByteSet::of_words([ascii as u64, (ascii >> 64) as u64, 0, 0]);
        ascii.intersection(first) == ascii
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

    /// The bitmask row of plain tokens in which up to so many characters begin, fewer than 255, as lengths are counted to
    /// that.
    pub(crate) fn row_up_to(&self, characters: u32) -> &Arc<[i32]> {
        self.shorter.get(characters as usize).unwrap_or(&self.row)
    }

    pub(crate) fn below(&self) -> &Below {
        &self.below
    }
}

/// The rows that are left of one without the longest of its tokens, given by length: by the length that is left.
fn shorter(row: &Arc<[i32]>, by_length: &[Vec<u32>]) -> Box<[Arc<[i32]>]> {
    let mut rows = vec![Arc::clone(row)];
    for tokens in by_length[1..].iter().rev() {
        let mut next = Arc::clone(&rows[rows.len() - 1]);
        if !tokens.is_empty() {
            let words = Arc::make_mut(&mut next);
            for &id in tokens {
                words[id as usize / 32] &= !(1 << (id % 32));
            }
        }
        rows.push(next);
    }
    rows.reverse();
    rows.into()
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
