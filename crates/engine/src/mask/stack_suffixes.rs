//! States whose masks are the same, found without computing these. From what lies below the sets of a state, for
//! whoever keeps masks.
//!
//! To find a mask, only so much is looked into as lies below the sets of a state down to some depth: a suffix of the
//! stack of calls. A state whose sets are the same down to that depth has the same mask: the thousandth bracket has the
//! mask of the tenth. What sets are down to a depth has a number, by interning; nothing rests on a hash.

use crate::earley::{Recognizer, SetId, Sets, StateId};
use crate::maps::{IdIndexSet, IdMap};
use crate::tuning;

/// Masks by what was looked into; all of it can be forgotten at any time.
#[derive(Debug, Default)]
pub(crate) struct StackSuffixes {
    /// What a set is down to a depth: the depth, then dot, nonterminal and what the set returned to is, by item.
    suffixes: IdIndexSet<Box<[u32]>>,
    /// By set and depth.
    of_sets: IdMap<(SetId, u8), u32>,
    /// By what states are down to depth 0: which of [`tuning::DEPTHS`] those of them have that have a mask, as bits.
    depths: IdMap<Box<[u32]>, u16>,
    /// A state that has its mask, by what it is down to a depth.
    states: IdMap<Box<[u32]>, StateId>,
    /// What the state that was looked for last is down to depth 0.
    last: Option<(StateId, Box<[u32]>)>,
    /// States that were too much to look at.
    too_much: u32,
    heap: usize,
}

impl StackSuffixes {
    /// A state with a mask that is the mask of this one.
    pub(crate) fn find(&mut self, recognizer: &Recognizer, state: StateId) -> Option<StateId> {
        if self.too_much > tuning::DEPTH_FAILURES {
            return None;
        }
        let items = &mut { tuning::DEPTH_ITEMS };
        let shallow = self.state(recognizer, state, 0, items)?;
        let depths = self.depths.get(&shallow).copied();
        self.last = Some((state, shallow));
        let depths = depths?;
        for (bit, &depth) in tuning::DEPTHS.iter().enumerate() {
            if depths >> bit & 1 == 1 {
                let key = self.state(recognizer, state, depth, items)?;
                if let Some(&known) = self.states.get(&key) {
                    return Some(known);
                }
            }
        }
        None
    }

    /// Remembers that a state has a mask for which it was looked so deep.
    pub(crate) fn remember(&mut self, recognizer: &Recognizer, state: StateId, depth: u8) {
        let Some(bit) = tuning::DEPTHS.iter().position(|&known| depth <= known) else {
            return;
        };
        if self.too_much > tuning::DEPTH_FAILURES {
            return;
        }
        let items = &mut { tuning::DEPTH_ITEMS };
        let shallow = match self.last.take() {
            Some((known, shallow)) if known == state => Some(shallow),
            _ => self.state(recognizer, state, 0, items),
        };
        let Some(shallow) = shallow else {
            return;
        };
        if let Some(key) = self.state(recognizer, state, tuning::DEPTHS[bit], items) {
            self.heap += (key.len() + shallow.len()) * 4;
            *self.depths.entry(shallow).or_insert(0) |= 1 << bit;
            self.states.insert(key, state);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.heap
            + self.suffixes.len() * 40
            + self.of_sets.len() * 16
            + (self.depths.len() + self.states.len()) * 40
    }

    /// What a state is down to a depth; None if that is too much to look at.
    fn state(
        &mut self,
        recognizer: &Recognizer,
        state: StateId,
        depth: u8,
        items: &mut usize,
    ) -> Option<Box<[u32]>> {
        let state = recognizer.state(state);
        let mut threads = Vec::with_capacity(state.threads.len());
        for &(set, lexer_state) in state.threads {
            threads.push((
                self.set(&recognizer.sets, set, depth, items)?,
                lexer_state.number()?,
            ));
        }
        threads.sort_unstable();
        let mut key = Vec::with_capacity(threads.len() * 2 + 3);
        key.extend([u32::from(depth), u32::from(state.accept)]);
        key.push(match state.fresh {
            Some(set) => self.set(&recognizer.sets, set, depth, items)? + 1,
            None => 0,
        });
        key.extend(
            threads
                .into_iter()
                .flat_map(|(set, lexer_state)| [set, lexer_state]),
        );
        Some(key.into())
    }

    /// What a set is down to a depth.
    fn set(&mut self, sets: &Sets, set: SetId, depth: u8, items: &mut usize) -> Option<u32> {
        if let Some(&known) = self.of_sets.get(&(set, depth)) {
            return Some(known);
        }
        let mut found: Vec<[u32; 3]> = Vec::new();
        for (dot, ret) in sets.items(set) {
            let Some(left) = items.checked_sub(1) else {
                self.too_much += 1;
                return None;
            };
            *items = left;
            found.push(match ret {
                _ if depth == 0 => [dot, 0, 0],
                None => [dot, u32::MAX, 0],
                // Calls within each other are at most as many as the greatest of the depths.
                Some((nonterminal, below)) => {
                    let below = self.set(sets, below, depth - 1, items)?;
                    [dot, nonterminal, below]
                }
            });
        }
        found.sort_unstable();
        let suffix: Vec<u32> = [u32::from(depth)]
            .into_iter()
            .chain(found.into_iter().flatten())
            .collect();
        let length = suffix.len();
        let (number, new) = self.suffixes.insert_full(suffix.into());
        self.heap += if new { length * 4 } else { 0 };
        self.of_sets.insert((set, depth), number as u32);
        Some(number as u32)
    }
}
