//! A flat depth-first trie: a walk is a scan with jumps over dead subtrees.

/// No token ends at a node.
const NONE: u32 = u32::MAX;

/// Several tokens end at a node: the rest of the word is an index into `Trie::groups`.
const GROUP: u32 = 1 << 31;

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

/// The bytes that a token may have: what [`Node::depth`] can count.
pub(crate) const MAX_TOKEN_BYTES: usize = u16::MAX as usize;

/// The tokens that text may match.
#[derive(Debug)]
pub(crate) struct Trie {
    nodes: Vec<Node>,
    /// By node: the token that ends there, or [`NONE`], or a [`GROUP`].
    ends: Vec<u32>,
    /// Tokens of the same bytes.
    groups: Vec<Vec<u32>>,
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
            ends: Vec::new(),
            groups: Vec::new(),
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
                    next: NONE,
                    depth: depth as u16 + 1,
                    byte,
                    height: 0,
                });
                trie.ends.push(NONE);
            }
            let end = if let [(_, id)] = same {
                *id
            } else {
                trie.groups.push(same.iter().map(|&(_, id)| id).collect());
                GROUP | (trie.groups.len() as u32 - 1)
            };
            if let Some(last) = trie.ends.last_mut() {
                *last = end;
            }
            trie.longest = trie.longest.max(bytes.len());
            before = bytes;
        }
        trie.close(&mut path, 0);
        trie
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
        let end = &self.ends[node];
        if *end < GROUP {
            std::slice::from_ref(end)
        } else if *end == NONE {
            &[]
        } else {
            &self.groups[(*end - GROUP) as usize]
        }
    }

    /// Writes the tokens that end at a node into `ids` from `count` on, and counts them; there must be room. Most nodes
    /// have one token or none, in no order that a processor could guess, so there is no branch between these two.
    #[inline]
    pub(crate) fn write_tokens(&self, node: usize, ids: &mut [u32], count: &mut usize) {
        let end = self.ends[node];
        ids[*count] = end;
        *count += usize::from(end < GROUP);
        if end.wrapping_add(1) > GROUP {
            for &id in &self.groups[(end - GROUP) as usize] {
                ids[*count] = id;
                *count += 1;
            }
        }
    }

    /// Room for all tokens, as [`Self::write_tokens`] needs it.
    pub(crate) fn room(&self) -> usize {
        self.nodes.len() + self.groups.iter().map(Vec::len).sum::<usize>() + 1
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
        let groups: usize = self.groups.iter().map(|group| group.len() * 4 + 24).sum();
        self.nodes.len() * (size_of::<Node>() + 4) + groups
    }
}
