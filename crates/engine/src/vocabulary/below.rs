//! What the bytes below a trie node are: enough to tell that a repetition reads all of them.

use syntagma_grammar::ir::ByteSet;

use super::node::Node;
use crate::tuning;

/// Places inside a UTF-8 character, as far as they differ in what may follow; 0 is between characters.
pub(crate) const PLACES: usize = 8;

/// Bit of [`Below::from`] where all bytes below are ASCII.
pub(crate) const ASCII: u16 = 1 << PLACES;

/// The place behind a byte, or None if the byte cannot follow.
pub(crate) fn place_behind(place: usize, byte: u8) -> Option<usize> {
    let more = |first: u8, last: u8, to| (first..=last).contains(&byte).then_some(to);
    match place {
        0 => match byte {
            0..0x80 => Some(0),
            0xc2..=0xdf => Some(1),
            0xe0 => Some(4),
            0xed => Some(5),
            0xe1..=0xef => Some(2),
            0xf0 => Some(6),
            0xf1..=0xf3 => Some(3),
            0xf4 => Some(7),
            _ => None,
        },
        1 => more(0x80, 0xbf, 0),
        2 => more(0x80, 0xbf, 1),
        3 => more(0x80, 0xbf, 2),
        4 => more(0xa0, 0xbf, 1),
        5 => more(0x80, 0x9f, 1),
        6 => more(0x90, 0xbf, 2),
        _ => more(0x80, 0x8f, 2),
    }
}

/// What is below a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Below {
    /// The ASCII bytes that occur.
    pub(crate) ascii: u128,
    /// The bytes that begin a character of more than one byte, as [`lead`] tells their bits.
    pub(crate) leads: u64,
    /// The places from which on every way down is UTF-8 (perhaps cut off), as bits; and [`ASCII`].
    pub(crate) from: u16,
    /// How many characters begin on the way down on which most do; 255 stands for any larger number too.
    pub(crate) height: u8,
    /// How many characters began on the way to the node, that of its byte included; 255 as before.
    pub(crate) begun: u8,
}

/// The bit of a byte that may begin a character of more than one byte, 0 for others.
pub(crate) fn lead(byte: u8) -> u64 {
    if (0xc2..=0xf4).contains(&byte) {
        1 << (byte - 0xc2)
    } else {
        0
    }
}

/// The bit of [`Kinds`] for bytes that are not ASCII, and for two that are.
const OTHERS: u64 = 1 << 63;

/// Which bytes a text has, more or less: the bits of ASCII bytes are shared by two.
pub(crate) type Kinds = u64;

/// The kinds of some ASCII bytes, and perhaps of others.
pub(crate) fn kinds(ascii: u128, others: bool) -> Kinds {
    ascii as u64 | (ascii >> 64) as u64 | if others { OTHERS } else { 0 }
}

/// The kinds of the bytes of a text.
pub(crate) fn kinds_of(text: &[u8]) -> Kinds {
    text.iter().fold(0, |kinds, &byte| {
        kinds
            | if byte < 0x80 {
                1 << (byte & 63)
            } else {
                OTHERS
            }
    })
}

/// Whether a character begins with a byte, or is one.
fn begins(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

impl Below {
    /// Text of ASCII bytes and any other characters, of which up to so many begin.
    pub(super) fn of_text(ascii: u128, height: u8) -> Self {
        Self {
            ascii,
            leads: (1 << (0xf5 - 0xc2)) - 1,
            from: 1,
            height,
            begun: 0,
        }
    }

    /// Every byte that may occur.
    #[inline]
    pub(crate) fn bytes(&self) -> ByteSet {
        let others = if self.from & ASCII == 0 { u64::MAX } else { 0 };
        ByteSet::of_words([self.ascii as u64, (self.ascii >> 64) as u64, others, others])
    }
}

/// What is below each of the larger nodes.
#[derive(Debug, Default)]
pub(crate) struct Belows {
    /// By node: an index into `large`, or `u32::MAX`.
    index: Vec<u32>,
    large: Vec<Below>,
    /// How many characters begin in each token, in the order of the trie; 255 for more.
    lengths: Vec<u8>,
    /// Which bytes each token has, in the same order.
    kinds: Vec<Kinds>,
}

impl Belows {
    /// Reads a trie from its last node to its first, so that children come before their parents. `tokens` counts those that
    /// end at a node.
    pub(super) fn new(nodes: &[Node], tokens: impl Fn(usize) -> usize) -> Self {
        let (mut lengths, mut token_kinds) = (Vec::new(), Vec::new());
        let mut begun = Vec::with_capacity(nodes.len());
        let mut path: Vec<(u8, Kinds)> = vec![(0, 0)];
        for (at, node) in nodes.iter().enumerate() {
            path.truncate(usize::from(node.depth));
            let above = path.last().copied().unwrap_or((0, 0));
            let length = above.0.saturating_add(u8::from(begins(node.byte)));
            let kinds = above.1 | kinds_of(&[node.byte]);
            path.push((length, kinds));
            begun.push(length);
            lengths.extend(std::iter::repeat_n(length, tokens(at)));
            token_kinds.extend(std::iter::repeat_n(kinds, tokens(at)));
        }
        let mut index = vec![u32::MAX; nodes.len()];
        let mut large = Vec::new();
        let nothing = Below {
            ascii: 0,
            leads: 0,
            from: (ASCII << 1) - 1,
            height: 0,
            begun: 0,
        };
        let mut all = vec![nothing; nodes.len()];
        for at in (0..nodes.len()).rev() {
            let end = nodes[at].next as usize;
            let mut below = Below {
                begun: begun[at],
                ..nothing
            };
            let mut child = at + 1;
            while child < end {
                let Node { byte, next, .. } = nodes[child];
                let further = all[child];
                below.ascii |= further.ascii;
                below.leads |= further.leads | lead(byte);
                let mut from = 0;
                if byte < 0x80 {
                    below.ascii |= 1 << byte;
                    from |= further.from & ASCII;
                }
                for place in 0..PLACES {
                    let behind = place_behind(place, byte);
                    from |= behind.map_or(0, |behind| (further.from >> behind & 1) << place);
                }
                below.from &= from;
                let height = further.height.saturating_add(u8::from(begins(byte)));
                below.height = below.height.max(height);
                child = next as usize;
            }
            all[at] = below;
            let is_large = nodes[at].next - at as u32 > tuning::NOTED_SUBTREE;
            if is_large {
                index[at] = large.len() as u32;
                large.push(below);
            }
        }
        Self {
            index,
            large,
            lengths,
            kinds: token_kinds,
        }
    }

    #[inline]
    pub(super) fn get(&self, node: usize) -> Option<&Below> {
        self.large.get(*self.index.get(node)? as usize)
    }

    pub(super) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    pub(super) fn kinds(&self) -> &[Kinds] {
        &self.kinds
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.index.len() * 4 + self.lengths.len() * 9 + self.large.len() * size_of::<Below>()
    }
}
