//! The plain way to a mask: the vocabulary's trie is walked along living states only. Used for terminals that read few
//! tokens, and for all where [`Layer::Parts`](crate::Layer::Parts) is taken away.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use smallvec::SmallVec;

use crate::automaton::{AcceptSetId, LexerStateId};
use crate::earley::{Frames, Recognizer, SetId, StateId, Thread};
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

/// The tokens that may come next in a state, as a row, by one walk over the whole vocabulary.
pub(crate) fn walked_row(
    recognizer: &mut Recognizer,
    vocabulary: &Vocabulary,
    state: StateId,
    frames: &mut Frames,
    fuel: &mut Fuel,
) -> Result<Vec<i32>, Error> {
    let mut ids = Vec::new();
    symbols(recognizer, vocabulary, state, &mut ids, fuel)?;
    frames.load(recognizer.state(state));
    let trie = vocabulary.trie();
    let mut stack = WalkStack::default();
    let all = &mut Listed(&mut ids);
    walk(recognizer, trie, whole(trie), frames, &mut stack, fuel, all)?;
    let mut row = vec![0_i32; bitmask_words(vocabulary.size())];
    for id in ids {
        allow(&mut row, id);
    }
    Ok(row)
}

/// The tokens that may come next in a state not as text: symbols of the grammar and ends of the turn.
pub(super) fn symbols(
    recognizer: &Recognizer,
    vocabulary: &Vocabulary,
    state: StateId,
    ids: &mut Vec<u32>,
    fuel: &mut Fuel,
) -> Result<(), Error> {
    let state = recognizer.state(state);
    if state.accept {
        ids.extend_from_slice(vocabulary.eos_ids());
    }
    if let Some(set) = state.fresh {
        for (_, index) in recognizer.sets.tokens(set) {
            for &(first, last) in &recognizer.dots.tokens[index as usize].ids {
                fuel.spend((last - first) as usize + 1)?;
                ids.extend(first..=last);
            }
        }
    }
    Ok(())
}

/// All of a trie.
pub(super) fn whole(trie: &Trie) -> Range<usize> {
    0..trie.nodes().len()
}

/// What a walk comes upon.
pub(super) trait Visitor {
    /// A token that may come next.
    fn found(&mut self, id: u32);

    /// A node with much below it, and the threads behind it. Returns those whose tokens below the node
    /// are still to be walked, unless that is all of them.
    fn enter(
        &mut self,
        _node: usize,
        _threads: &[Thread],
        _recognizer: &mut Recognizer,
        _fuel: &mut Fuel,
    ) -> Result<Option<Vec<Thread>>, Error> {
        Ok(None)
    }
}

/// Lists the tokens and does nothing else.
pub(super) struct Listed<'a>(pub(super) &'a mut Vec<u32>);

impl Visitor for Listed<'_> {
    fn found(&mut self, id: u32) {
        self.0.push(id);
    }
}

/// What remains of the terminals that are read, by depth: work space of walks.
pub(super) type WalkStack = Vec<LexerStateId>;

/// Finds the tokens in a part of a trie (nodes side by side, with all that is below them) that may follow the state that is loaded,
/// which stands in front of the first node's byte.
///
/// Nearly all nodes are inside terminals of one set. There the walk keeps what remains of these on a stack, by depth, and
/// makes speculative states only where a terminal ends.
pub(super) fn walk(
    recognizer: &mut Recognizer,
    trie: &Trie,
    part: Range<usize>,
    frames: &mut Frames,
    rests: &mut WalkStack,
    fuel: &mut Fuel,
    visitor: &mut impl Visitor,
) -> Result<(), Error> {
    let nodes = trie.nodes();
    let large = (nodes.len() / tuning::ENTERED_SHARE).min(tuning::ENTERED_SUBTREE);
    rests.resize(trie.longest() + 1, LexerStateId::DEAD);
    let mut at = part.start;
    let above = match nodes.get(at) {
        Some(first) => usize::from(first.depth),
        None => return Ok(()),
    };
    // The depth from which on the stack holds, and its set.
    let mut inside: Option<(usize, SetId)> = None;
    while at < part.end {
        let node = nodes[at];
        let before = usize::from(node.depth) - above;
        if inside.is_none_or(|(start, _)| before < start) {
            frames.truncate(before);
            inside = None;
            if let &[(set, lexer_state)] = frames.threads() {
                inside = Some((before, set));
                rests[before] = lexer_state;
            }
        }
        // Behind a node with nothing below it, nobody asks for more than whether there is anything.
        let known = match inside {
            _ if node.next as usize > at + 1 => None,
            Some(_) => recognizer.lexer.lives(rests[before], node.byte),
            None => recognizer.lives(frames.threads(), node.byte),
        };
        let alive = match (known, inside) {
            (Some(alive), _) => {
                fuel.spend(1)?;
                alive
            }
            (None, None) => recognizer.push(frames, node.byte, fuel)?,
            (None, Some((start, set))) => {
                fuel.spend(1)?;
                let (to, accept_set) = recognizer.lexer.step(rests[before], node.byte, fuel)?;
                if accept_set == AcceptSetId::NONE {
                    rests[before + 1] = to;
                    to != LexerStateId::DEAD
                } else {
                    leave(&rests[start..=before], set, start, frames);
                    inside = None;
                    recognizer.push(frames, node.byte, fuel)?
                }
            }
        };
        if !alive {
            at = node.next as usize;
            continue;
        }
        for &id in trie.tokens(at) {
            visitor.found(id);
        }
        let next = node.next as usize;
        if next - at > large + 1 {
            let single = inside.map(|(_, set)| [(set, rests[before + 1])]);
            let threads = single.as_ref().map_or(frames.threads(), |thread| thread);
            if let Some(left) = visitor.enter(at, threads, recognizer, fuel)? {
                if left.is_empty() {
                    at = next;
                    continue;
                }
                if let Some((start, set)) = inside.take() {
                    leave(&rests[start..=before + 1], set, start, frames);
                }
                frames.replace_threads(&left);
            }
        }
        at += 1;
    }
    Ok(())
}

/// Pushes the states of a stack, the first of which, behind so many steps, is there.
fn leave(rests: &[LexerStateId], set: SetId, start: usize, frames: &mut Frames) {
    frames.truncate(start);
    for &lexer_state in &rests[1..] {
        frames.push_single(set, lexer_state);
    }
}

// ---
// The layout of a bitmask row: bit `i` of word `w` is token `32 w + i`.

/// Tokens by id, in no order.
pub(super) type List = Arc<[u32]>;

/// Words of a row; bit `i` of word `w` is token `32 w + i`, 1 is allowed.
pub trait MaskRow {
    /// How many words there are.
    fn word_count(&self) -> usize;

    /// Sets as many words, from the first one on; there are enough.
    fn copy_from(&mut self, words: &[i32]);

    /// Sets words in a range of them, which lies within the row.
    fn fill_range(&mut self, range: Range<usize>, word: i32);

    /// Allows a token, whose word lies within the row.
    fn allow(&mut self, id: u32);
}

impl MaskRow for [i32] {
    fn word_count(&self) -> usize {
        self.len()
    }

    fn copy_from(&mut self, words: &[i32]) {
        self[..words.len()].copy_from_slice(words);
    }

    fn fill_range(&mut self, range: Range<usize>, word: i32) {
        self[range].fill(word);
    }

    fn allow(&mut self, id: u32) {
        self[id as usize / 32] |= 1 << (id % 32);
    }
}

/// A row that other threads may write at the same time. What it then holds is a mixture of what was written, word by word.
impl MaskRow for &[AtomicI32] {
    fn word_count(&self) -> usize {
        self.len()
    }

    fn copy_from(&mut self, words: &[i32]) {
        for (cell, &word) in self.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn fill_range(&mut self, range: Range<usize>, word: i32) {
        for cell in &self[range] {
            cell.store(word, Ordering::Relaxed);
        }
    }

    fn allow(&mut self, id: u32) {
        self[id as usize / 32].fetch_or(1 << (id % 32), Ordering::Relaxed);
    }
}

/// Allows a token.
pub(crate) fn allow(row: &mut [i32], id: u32) {
    row[id as usize / 32] |= 1 << (id % 32);
}

/// Allows some tokens.
pub(super) fn allow_all(row: &mut [i32], ids: &[u32]) {
    for &id in ids {
        allow(row, id);
    }
}

/// Allows the tokens of another row.
pub(super) fn allow_row(row: &mut [i32], other: &[i32]) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

/// Refuses a token.
pub(super) fn refuse(row: &mut [i32], id: u32) {
    row[id as usize / 32] &= !(1 << (id % 32));
}

/// Whether a token is allowed.
pub(crate) fn is_allowed(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}

// ---
// What is found out about a state: its mask, and where tokens lead from it.

/// The tokens that are allowed in a state; cheap to clone. Others may hold its parts, too.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    pub(super) row: Option<Arc<[i32]>>,
    /// Allowed besides.
    pub(super) lists: SmallVec<[List; 2]>,
}

impl Mask {
    /// Writes the mask into a row, of which the vocabulary takes so many words.
    pub(crate) fn write<R: MaskRow + ?Sized>(&self, row: &mut R, words: usize) {
        match &self.row {
            Some(words) => row.copy_from(words),
            None => row.fill_range(0..words, 0),
        }
        for &id in self.lists.iter().flat_map(|list| list.iter()) {
            row.allow(id);
        }
    }

    /// Whether a token of the vocabulary is allowed.
    pub(crate) fn allows(&self, id: u32) -> bool {
        self.row.as_ref().is_some_and(|row| is_allowed(row, id))
            || self.lists.iter().any(|list| list.contains(&id))
    }
}

/// Where a token leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It cannot come next.
    Refused,
    /// It ends the text.
    End,
    /// To this state.
    To(StateId),
}
