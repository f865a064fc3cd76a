//! Where tokens leave a terminal: where it cannot go on, and where it could have.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use syntagma_grammar::ir::ByteSet;

use crate::vocabulary::{Trie, Vocabulary};

/// From so many exits at one byte on, the rests of the tokens get a trie of their own.
const EXITS: usize = 8;

/// Up to so many nodes below the exits: making it takes about a microsecond for three.
const CROSSING: usize = 1_500;

/// Nodes of the vocabulary's trie at which a token leaves the terminal, by their bytes.
#[derive(Debug)]
pub(super) struct Exits {
    nodes: Box<[(u8, u32)]>,
    /// Bytes with many nodes, ascending.
    crowds: Box<[Crowd]>,
}

/// Many exits at one byte.
#[derive(Debug)]
struct Crowd {
    byte: u8,
    /// Whether somebody has walked below the nodes: who comes second makes the trie of the rests.
    walked: AtomicBool,
    rests: OnceLock<Option<Box<Trie>>>,
}

impl Exits {
    /// Puts nodes together that are at the same byte.
    pub(super) fn new(found: Vec<(u8, u32)>) -> Self {
        // Counting is several times as fast as sorting many, and of one byte their order does not matter.
        if found.len() < EXITS {
            let mut nodes = found;
            nodes.sort_unstable_by_key(|&(byte, _)| byte);
            return Self {
                nodes: nodes.into(),
                crowds: Box::default(),
            };
        }
        let mut next = [0; 256];
        for &(byte, _) in &found {
            next[usize::from(byte)] += 1;
        }
        let mut sum = 0;
        for next in &mut next {
            sum += std::mem::replace(next, sum);
        }
        let mut nodes = vec![(0, 0); found.len()];
        for (byte, node) in found {
            let next = &mut next[usize::from(byte)];
            nodes[*next] = (byte, node);
            *next += 1;
        }
        let crowds = nodes
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() >= EXITS)
            .map(|same| Crowd {
                byte: same[0].0,
                walked: AtomicBool::new(false),
                rests: OnceLock::new(),
            })
            .collect();
        Self {
            nodes: nodes.into(),
            crowds,
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All of them, with their bytes.
    pub(super) fn nodes(&self) -> &[(u8, u32)] {
        &self.nodes
    }

    /// Whether any is among these nodes.
    pub(super) fn any_in(&self, nodes: Range<usize>) -> bool {
        self.all().any(|node| nodes.contains(&node))
    }

    /// All nodes.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().map(|&(_, node)| node as usize)
    }

    /// The nodes of a byte.
    pub(super) fn at(&self, byte: u8) -> &[(u8, u32)] {
        at(&self.nodes, byte)
    }

    /// A trie of what is left of the tokens that leave at a byte, where it is worth while to walk that instead.
    pub(super) fn rests(&self, byte: u8, vocabulary: &Vocabulary) -> Option<&Trie> {
        let crowd = self.crowds.binary_search_by_key(&byte, |crowd| crowd.byte);
        let crowd = &self.crowds[crowd.ok()?];
        if !crowd.walked.swap(true, Ordering::Relaxed) {
            return None;
        }
        let make = || {
            let nodes = vocabulary.trie().nodes();
            let below = |&(_, node): &(u8, u32)| nodes[node as usize].next - node;
            let exits = self.at(byte);
            let crossing: u32 = exits.iter().map(below).sum();
            let few = crossing as usize <= CROSSING;
            few.then(|| Box::new(rest_trie(exits, vocabulary)))
        };
        crowd.rests.get_or_init(make).as_deref()
    }

    /// Counts the tries as if they were there.
    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.len() * 40 + self.crowds.len() * size_of::<Crowd>() + size_of::<Self>()
    }
}

/// Those of the exits that are at a byte.
pub(super) fn at(exits: &[(u8, u32)], byte: u8) -> &[(u8, u32)] {
    let from = exits.partition_point(|&(exit, _)| exit < byte);
    let same = exits[from..].partition_point(|&(exit, _)| exit == byte);
    &exits[from..from + same]
}

/// A byte at which tokens may leave, and what may come right behind it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Leave {
    pub(super) byte: u8,
    pub(super) then: ByteSet,
}

/// What tokens have behind the places at which they may leave at a byte, that byte included; None if that is too much.
#[derive(Debug, Clone)]
pub(super) struct Split(pub(super) Option<Arc<Trie>>);

impl Split {
    pub(super) fn memory_bytes(&self) -> usize {
        let trie = self.0.as_ref().map_or(0, |trie| trie.memory_bytes());
        trie + size_of::<Self>() + 64
    }
}

/// A trie of what is left of tokens behind the places where they leave.
fn rest_trie(exits: &[(u8, u32)], vocabulary: &Vocabulary) -> Trie {
    let trie = vocabulary.trie();
    let mut rests: Vec<(u32, &[u8])> = Vec::new();
    for &(_, exit) in exits {
        let exit = exit as usize;
        let inside = usize::from(trie.nodes()[exit].depth) - 1;
        for at in exit..trie.nodes()[exit].next as usize {
            let tokens = trie.tokens(at).iter();
            rests.extend(tokens.map(|&id| (id, &vocabulary.token(id)[inside..])));
        }
    }
    Trie::new(rests.into_iter())
}
