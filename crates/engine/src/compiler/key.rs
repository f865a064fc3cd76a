//! What a compiled grammar is found by: a string of bytes that is the same for equal grammars only.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::maps::hash_of;
use syntagma_grammar::Grammar;

/// The canonical form of a grammar and its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// Of the bytes, which may be many.
    hash: u64,
    bytes: Arc<[u8]>,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Key {
    pub(super) fn new(grammar: &Grammar) -> Self {
        let mut bytes = grammar.structure();
        // Nothing that is said could be more of the structure, which says how much it is.
        for (pointer, reason) in &grammar.report().pointers {
            for text in [pointer, reason] {
                bytes.extend((text.len() as u64).to_le_bytes());
                bytes.extend_from_slice(text.as_bytes());
            }
        }
        Self {
            hash: hash_of(&bytes[..]),
            bytes: bytes.into(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + 64
    }
}
