//! What a trie is made of.

/// One byte of one or more tokens; eight bytes, so that a walk reads little.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The first node behind this node's subtree.
    pub(crate) next: u32,
    /// How many bytes lead here, this one included.
    pub(crate) depth: u16,
    /// The byte.
    pub(crate) byte: u8,
    /// How many bytes the longest way down from here has; 255 stands for any larger number too.
    pub(crate) height: u8,
}
