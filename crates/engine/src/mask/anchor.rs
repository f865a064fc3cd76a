//! Where in the vocabulary's trie a terminal begins to read.

use syntagma_grammar::ir::ByteSet;

use crate::tuning;
use crate::vocabulary::Trie;

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
