//! The vocabulary: which bytes each token stands for, and the trie over them.

mod below;
mod node;
mod plain;
mod tokens;
mod trie;

pub(crate) use below::{ASCII, Below, Kinds, PLACES, kinds, kinds_of, lead, place_behind};
pub(crate) use tokens::MarkerPiece;
pub use tokens::{Vocabulary, VocabularyParts};
pub(crate) use trie::Trie;

/// How many 32-bit words a bitmask row of `vocab_size` tokens has.
#[must_use]
pub fn bitmask_words(vocab_size: usize) -> usize {
    vocab_size.div_ceil(32)
}
