//! A flat depth-first trie: a walk is a scan with jumps over dead subtrees.

use super::below::{Below, Belows, Kinds};
use super::node::Node;
use crate::tuning;

/// The bytes that a token may have: what [`Node::depth`] can count.
pub(crate) const MAX_TOKEN_BYTES: usize = u16::MAX as usize;

/// The tokens that text may match.
#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// The tokens in the order of the nodes at which they end.
    order: Vec<u32>,
    /// By node: where its tokens begin in `order`, and where all of them end.
    first: Vec<u32>,
    /// What is below the larger nodes; empty in small tries.
    belows: Belows,
    longest: usize,
}

impl Trie {
    /// Builds the trie of the non-empty tokens, none longer than [`MAX_TOKEN_BYTES`]; ids are below 2³¹.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = (u32, &'a [u8])>) -> Self {
        let mut sorted: Vec<(&[u8], u32)> = tokens
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(id, bytes)| (bytes, id))
            .collect();
        sorted.sort_unstable();
        let mut trie = Self {
            nodes: Vec::new(),
            order: Vec::with_capacity(sorted.len()),
            first: Vec::new(),
            belows: Belows::default(),
            longest: 0,
        };
        let mut path: Vec<u32> = Vec::new();
        let mut before: &[u8] = &[];
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            let bytes = same[0].0;
            let shared = bytes.iter().zip(before).take_while(|(a, b)| a == b).count();
            trie.close(&mut path, shared);
            for (depth, &byte) in bytes.iter().enumerate().skip(shared) {
                path.push(trie.nodes.len() as u32);
                trie.nodes.push(Node {
                    next: u32::MAX,
                    depth: depth as u16 + 1,
                    byte,
                    height: 0,
                });
                trie.first.push(trie.order.len() as u32);
            }
            trie.order.extend(same.iter().map(|&(_, id)| id));
            trie.longest = trie.longest.max(bytes.len());
            before = bytes;
        }
        trie.close(&mut path, 0);
        trie.first.push(trie.order.len() as u32);
        debug_assert!(
            (0..)
                .zip(&trie.nodes)
                .all(|(at, node)| at < node.next && node.next as usize <= trie.nodes.len()),
            "a scan would not go on"
        );
        trie
    }

    /// The same trie, with what scans need to know of the larger nodes.
    pub(crate) fn with_belows(mut self) -> Self {
        self.belows = Belows::new(&self.nodes, |node| self.tokens(node).len());
        self
    }

    fn close(&mut self, path: &mut Vec<u32>, depth: usize) {
        let end = self.nodes.len() as u32;
        let mut height = 0;
        while path.len() > depth {
            let Some(node) = path.pop() else { break };
            let node = &mut self.nodes[node as usize];
            node.next = end;
            node.height = node.height.max(height);
            height = node.height.saturating_add(1);
        }
        if let Some(&parent) = path.last() {
            let parent = &mut self.nodes[parent as usize];
            parent.height = parent.height.max(height);
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tokens that end at a node.
    #[inline]
    pub(crate) fn tokens(&self, node: usize) -> &[u32] {
        &self.order[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// All tokens, in the order of the nodes at which they end.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many tokens end before a node, that is where its own begin in [`Self::order`]; a node may be one past the last.
    #[inline]
    pub(crate) fn before(&self, node: usize) -> u32 {
        self.first[node]
    }

    /// What is below a node, if it is a large one.
    #[inline]
    pub(crate) fn below(&self, node: usize) -> Option<&Below> {
        let Node { next, .. } = self.nodes[node];
        if next - node as u32 <= tuning::NOTED_SUBTREE {
            return None;
        }
        self.belows.get(node)
    }

    /// How many characters begin in each token, in the order of [`Self::order`], 255 standing for any larger number; only in
    /// tries [with notes](Self::with_belows).
    pub(crate) fn lengths(&self) -> &[u8] {
        self.belows.lengths()
    }

    /// Which bytes each token has, in the order of [`Self::order`]; only in tries [with notes](Self::with_belows).
    pub(crate) fn kinds(&self) -> &[Kinds] {
        self.belows.kinds()
    }

    /// The bytes of the longest token.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// The child of `parent` (None: of the root) for `byte`.
    pub(crate) fn child(&self, parent: Option<usize>, byte: u8) -> Option<usize> {
        let (mut at, end) = match parent {
            Some(node) => (node + 1, self.nodes[node].next as usize),
            None => (0, self.nodes.len()),
        };
        while at < end {
            let node = self.nodes[at];
            if node.byte == byte {
                return Some(at);
            }
            at = node.next as usize;
        }
        None
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 4)
            + self.order.len() * 4
            + self.belows.memory_bytes()
    }
}
