//! The plain way to a mask, from nothing but the grammar: the trie is walked along living states only.

use std::ops::Range;

use super::row::allow;
use crate::automaton::{FiredId, UnionId};
use crate::earley::{Frames, Recognizer, SetId, StateId};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

/// The tokens that may come next in a state, as a row, by one walk over the whole vocabulary. What other ways come to is
/// compared with this.
pub(crate) fn plain_row(
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
    let mut lane = Vec::new();
    walk(
        recognizer,
        trie,
        whole(trie),
        frames,
        &mut lane,
        fuel,
        |id| ids.push(id),
    )?;
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

/// Finds the tokens in a part of a trie (siblings with all that is below them) that may follow the state that is loaded,
/// which stands in front of the first node's byte.
///
/// Nearly all nodes are inside one terminal of one set. There the walk keeps what remains of the terminal in a lane, by
/// depth, and makes speculative states only where a terminal ends.
pub(super) fn walk(
    recognizer: &mut Recognizer,
    trie: &Trie,
    part: Range<usize>,
    frames: &mut Frames,
    lane: &mut Vec<UnionId>,
    fuel: &mut Fuel,
    mut found: impl FnMut(u32),
) -> Result<(), Error> {
    let nodes = trie.nodes();
    lane.resize(trie.longest() + 1, UnionId::DEAD);
    let mut at = part.start;
    let above = match nodes.get(at) {
        Some(first) => usize::from(first.depth),
        None => return Ok(()),
    };
    // The depth from which on the lane holds, and its set.
    let mut inside: Option<(usize, SetId)> = None;
    while at < part.end {
        let node = nodes[at];
        let before = usize::from(node.depth) - above;
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
        trie.tokens(at).iter().copied().for_each(&mut found);
        at += 1;
    }
    Ok(())
}
