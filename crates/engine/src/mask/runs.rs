//! Leading trivia: tokens that begin with bytes of one set, whitespace mostly. What leads a terminal is read once for
//! all terminals.

use std::ops::Range;

use syntagma_grammar::ir::ByteSet;

use crate::vocabulary::Trie;

/// What the trie holds behind runs of bytes of a set.
#[derive(Debug)]
pub(super) struct Runs {
    /// Tokens that are nothing but a run, with their lengths; shortest first.
    tokens: Vec<(u16, u32)>,
    /// By byte, then by node.
    branches: Vec<Branch>,
}

/// A node right behind a run (or at the root) whose byte is not in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Branch {
    byte: u8,
    node: u32,
    /// Behind all that is below it.
    next: u32,
    /// How many bytes are in front of it.
    run: u16,
}

impl Runs {
    pub(super) fn new(trie: &Trie, set: &ByteSet) -> Self {
        let nodes = trie.nodes();
        let (mut tokens, mut branches) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            if set.contains(node.byte) {
                tokens.extend(trie.tokens(at).iter().map(|&id| (node.depth, id)));
                at += 1;
            } else {
                branches.push(Branch {
                    byte: node.byte,
                    node: at as u32,
                    next: node.next,
                    run: node.depth - 1,
                });
                at = node.next as usize;
            }
        }
        tokens.sort_unstable();
        branches.sort_unstable();
        Self { tokens, branches }
    }

    /// Tokens that are a run of up to `most` bytes.
    pub(super) fn tokens(&self, most: u32) -> impl Iterator<Item = u32> + Clone {
        let shorter = move |&&(length, _): &&(u16, u32)| u32::from(length) <= most;
        self.tokens.iter().take_while(shorter).map(|&(_, id)| id)
    }

    /// The nodes of some bytes behind runs of up to `most` bytes, each with all below it.
    pub(super) fn branches(&self, most: u32, first: &ByteSet) -> Vec<Range<usize>> {
        self.behind_runs(0, most, first)
    }

    /// The nodes of some bytes behind runs of any length but none, each with all below it.
    pub(super) fn behind(&self, first: &ByteSet) -> Vec<Range<usize>> {
        self.behind_runs(1, u32::MAX, first)
    }

    fn behind_runs(&self, least: u32, most: u32, first: &ByteSet) -> Vec<Range<usize>> {
        let mut nodes = Vec::new();
        for byte in first.iter() {
            let from = self.branches.partition_point(|branch| branch.byte < byte);
            let same = self.branches[from..].iter();
            let same = same.take_while(|branch| branch.byte == byte);
            let wanted = same.filter(|branch| (least..=most).contains(&u32::from(branch.run)));
            nodes.extend(wanted.map(|branch| branch.node as usize..branch.next as usize));
        }
        nodes
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.tokens.len() * 8 + self.branches.len() * size_of::<Branch>() + 64
    }
}
