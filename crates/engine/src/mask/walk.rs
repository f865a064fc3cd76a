//! A mask from nothing but the grammar: the trie is walked once, along living states only.

use super::memo::Mask;
use super::row::allow;
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{Vocabulary, bitmask_words};

/// The tokens that may come next in a state.
pub(crate) fn compute(
    recognizer: &mut Recognizer,
    vocabulary: &Vocabulary,
    state: StateId,
    frames: &mut Frames,
    fuel: &mut Fuel,
) -> Result<Mask, Error> {
    let mut row = vec![0_i32; bitmask_words(vocabulary.size())];
    frames.load(recognizer.state(state));
    let (fresh, accept) = (frames.top().fresh, frames.top().accept);
    if accept {
        for &id in vocabulary.eos_ids() {
            allow(&mut row, id);
        }
    }
    if let Some(set) = fresh {
        let tokens: Vec<u32> = recognizer
            .sets
            .tokens(set)
            .map(|(_, index)| index)
            .collect();
        for index in tokens {
            let ranges = recognizer.dots.tokens[index as usize].ids.clone();
            for &(first, last) in &ranges {
                fuel.spend((last - first) as usize + 1)?;
                for id in first..=last {
                    allow(&mut row, id);
                }
            }
        }
    }
    let trie = vocabulary.trie();
    let nodes = trie.nodes();
    let mut at = 0;
    while at < nodes.len() {
        let node = nodes[at];
        frames.truncate(node.depth as usize - 1);
        if !recognizer.push(frames, node.byte, fuel)? {
            at = node.next as usize;
            continue;
        }
        for id in trie.tokens(at) {
            allow(&mut row, id);
        }
        at += 1;
    }
    Ok(Mask::new(row))
}
