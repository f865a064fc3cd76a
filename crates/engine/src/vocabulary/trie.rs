//! A flat depth-first trie: a walk is a scan with jumps over dead subtrees.

/// No token.
const NONE: u32 = u32::MAX;

/// One byte of one or more tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The first node behind this node's subtree.
    pub(crate) next: u32,
    /// How many bytes lead here, this one included.
    pub(crate) depth: u32,
    /// The byte.
    pub(crate) byte: u8,
}

/// The tokens that text may match.
#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// By node: the first token that ends there.
    first: Vec<u32>,
    /// By token: another token of the same bytes.
    same: Vec<u32>,
    longest: usize,
}

impl Trie {
    /// Builds the trie of the non-empty tokens; ids are below `size`.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = (u32, &'a [u8])>, size: usize) -> Self {
        let mut sorted: Vec<(&[u8], u32)> = tokens
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(id, bytes)| (bytes, id))
            .collect();
        sorted.sort_unstable();
        let mut trie = Self {
            nodes: Vec::new(),
            first: Vec::new(),
            same: vec![NONE; size],
            longest: 0,
        };
        let mut path: Vec<u32> = Vec::new();
        let mut before: (&[u8], u32) = (&[], NONE);
        for (bytes, id) in sorted {
            if bytes == before.0 {
                trie.same[before.1 as usize] = id;
                before.1 = id;
                continue;
            }
            let shared = bytes
                .iter()
                .zip(before.0)
                .take_while(|(a, b)| a == b)
                .count();
            trie.close(&mut path, shared);
            for (depth, &byte) in bytes.iter().enumerate().skip(shared) {
                path.push(trie.nodes.len() as u32);
                trie.nodes.push(Node {
                    next: NONE,
                    depth: depth as u32 + 1,
                    byte,
                });
                trie.first.push(NONE);
            }
            if let Some(last) = trie.first.last_mut() {
                *last = id;
            }
            trie.longest = trie.longest.max(bytes.len());
            before = (bytes, id);
        }
        trie.close(&mut path, 0);
        trie
    }

    fn close(&mut self, path: &mut Vec<u32>, depth: usize) {
        let end = self.nodes.len() as u32;
        for node in path.drain(depth..) {
            self.nodes[node as usize].next = end;
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tokens that end at a node.
    pub(crate) fn tokens(&self, node: usize) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| (id != NONE).then_some(id);
        std::iter::successors(some(self.first[node]), move |&id| {
            some(self.same[id as usize])
        })
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
        self.nodes.len() * (size_of::<Node>() + 4) + self.same.len() * 4
    }
}
