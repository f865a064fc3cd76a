//! A mask from nothing but the grammar: the trie is walked once, along living states only.

use super::memo::Mask;
use super::row::allow;
use crate::automaton::{FiredId, UnionId};
use crate::earley::{Frames, Recognizer, SetId, StateId};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

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
    walk(recognizer, vocabulary.trie(), frames, &mut row, fuel)?;
    Ok(Mask::new(row))
}

/// Allows the tokens of the trie that may follow the state that is loaded.
///
/// Nearly all nodes are inside one terminal of one set. There the walk keeps what remains of the terminal in a lane, by
/// depth, and makes speculative states only where a terminal ends.
fn walk(
    recognizer: &mut Recognizer,
    trie: &Trie,
    frames: &mut Frames,
    row: &mut [i32],
    fuel: &mut Fuel,
) -> Result<(), Error> {
    let nodes = trie.nodes();
    let mut lane = vec![UnionId::DEAD; trie.longest() + 1];
    // The depth from which on the lane holds, and its set.
    let mut inside: Option<(usize, SetId)> = None;
    let mut at = 0;
    while at < nodes.len() {
        let node = nodes[at];
        let before = node.depth as usize - 1;
        if inside.is_none_or(|(start, _)| before < start) {
            frames.truncate(before);
            inside = None;
            if let &[(set, union)] = frames.threads() {
                inside = Some((before, set));
                lane[before] = union;
            }
        }
        let alive = match inside {
            None => recognizer.push(frames, node.byte, fuel)?,
            Some((start, set)) => {
                fuel.spend(1)?;
                let (to, fired) = recognizer.unions.step(lane[before], node.byte, fuel)?;
                if fired == FiredId::NONE {
                    lane[before + 1] = to;
                    to != UnionId::DEAD
                } else {
                    frames.truncate(start);
                    for &union in &lane[start + 1..=before] {
                        frames.push_single(set, union);
                    }
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
            allow(row, id);
        }
        at += 1;
    }
    Ok(())
}
