//! What a grammar is found by: bytes that are the same for equal grammars only.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::maps::hash_of;

/// The canonical form of a grammar and its report; cheap to clone.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Of the bytes, which may be many.
    hash: u64,
    bytes: Arc<[u8]>,
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && (Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes)
    }
}

impl Eq for Identity {}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Identity {
    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Approximate bytes of it.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + 64
    }
}

/// The identity of a grammar once somebody asked. A copy, which may become another grammar, has none.
#[derive(Debug, Default)]
pub(super) struct Identified(OnceLock<Identity>);

impl Clone for Identified {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Identified {
    /// The identity; its bytes are written where nobody has asked before.
    pub(super) fn get(&self, bytes: impl FnOnce() -> Vec<u8>) -> &Identity {
        self.0.get_or_init(|| {
            let bytes = bytes();
            Identity {
                hash: hash_of(&bytes[..]),
                bytes: bytes.into(),
            }
        })
    }
}
