//! Masks and steps that were found before, where anybody reads them without waiting for whoever finds more.
//!
//! Both are kept by state, in rows of slots that are set once and never moved. Whoever adds something has the grammar
//! locked, so there is one at a time; readers lock nothing of that. Only when everything is given up are the rows
//! replaced, and for as long as that takes nothing is known.

use std::sync::{Arc, PoisonError};

use super::walk::{Mask, Step};
use crate::earley::{Recognizer, SetId, Sets, StateId};
use crate::maps::{IdIndexSet, IdMap};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{OnceLock, RwLock};
use crate::tuning;

/// Slots of the first row.
const FIRST: u32 = 32;

/// As many as states have numbers.
const ROWS: usize = 28;

/// Children of a node, by two bits of what is left of the mixed token id.
const BRANCHES: usize = 4;

/// Bytes of a mask, its parts aside.
const MASK: usize = 96;

/// Slots by number. Each row is as long as all before it and the first one together.
#[derive(Debug)]
struct Rows<T> {
    all: [OnceLock<Box<[OnceLock<T>]>>; ROWS],
    /// What was put in, without what was there under another number.
    count: AtomicUsize,
    bytes: AtomicUsize,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            all: std::array::from_fn(|_| OnceLock::new()),
            count: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl<T> Rows<T> {
    /// The row of a slot, and its place there.
    fn place(slot: u32) -> (usize, usize) {
        let row = (slot / FIRST + 1).ilog2();
        let before = FIRST * ((1 << row) - 1);
        (row as usize, (slot - before) as usize)
    }

    fn get(&self, slot: u32) -> Option<&T> {
        let (row, at) = Self::place(slot);
        self.all[row].get()?[at].get()
    }

    /// The slot, which is made if it is not there.
    fn slot(&self, slot: u32) -> &OnceLock<T> {
        let (row, at) = Self::place(slot);
        let slots = self.all[row].get_or_init(|| {
            let length = (FIRST as usize) << row;
            self.grow(length * size_of::<OnceLock<T>>());
            (0..length).map(|_| OnceLock::new()).collect()
        });
        &slots[at]
    }

    fn grow(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Where tokens lead from one state: a tree by the digits of their ids.
#[derive(Debug)]
struct Node {
    id: u32,
    step: Step,
    children: [OnceLock<Box<Node>>; BRANCHES],
}

/// The digits of an id, the first one lowest. No two ids have the same.
fn digits(id: u32) -> u32 {
    id.wrapping_mul(0x9e37_79b1).reverse_bits()
}

impl Node {
    fn new(id: u32, step: Step) -> Self {
        let children = std::array::from_fn(|_| OnceLock::new());
        Self { id, step, children }
    }

    fn get(&self, id: u32) -> Option<Step> {
        let mut node = self;
        let mut left = digits(id);
        while node.id != id {
            node = node.children[left as usize % BRANCHES].get()?;
            left /= BRANCHES as u32;
        }
        Some(node.step)
    }

    /// Adds a token; whether it was not there.
    fn add(&self, id: u32, step: Step) -> bool {
        let mut node = self;
        let mut left = digits(id);
        while node.id != id {
            let child = &node.children[left as usize % BRANCHES];
            left /= BRANCHES as u32;
            match child.get() {
                Some(below) => node = below,
                None => return child.set(Box::new(Self::new(id, step))).is_ok(),
            }
        }
        false
    }
}

/// What is known of the states of a generation; all of it can be forgotten at any time.
#[derive(Debug, Default)]
pub(crate) struct Known {
    masks: RwLock<Rows<Arc<Mask>>>,
    steps: RwLock<Rows<Box<Node>>>,
}

impl Known {
    /// The mask of a state.
    pub(crate) fn mask(&self, state: StateId) -> Option<Arc<Mask>> {
        self.masks.try_read().ok()?.get(state.0).cloned()
    }

    /// Whether there is a mask of a state.
    pub(crate) fn has_mask(&self, state: StateId) -> bool {
        let masks = self.masks.try_read();
        masks.is_ok_and(|masks| masks.get(state.0).is_some())
    }

    /// Where a token leads from a state.
    pub(crate) fn step(&self, state: StateId, id: u32) -> Option<Step> {
        self.steps.try_read().ok()?.get(state.0)?.get(id)
    }

    /// Adds the mask of a state. The caller has the generation locked.
    pub(crate) fn add_mask(&self, state: StateId, mask: &Arc<Mask>) {
        if self.add_same(state, mask) {
            let masks = self.masks.read().unwrap_or_else(PoisonError::into_inner);
            masks.count.fetch_add(1, Ordering::Relaxed);
            masks.grow(MASK);
        }
    }

    /// The same with a mask that another state has already; whether there was none.
    pub(crate) fn add_same(&self, state: StateId, mask: &Arc<Mask>) -> bool {
        let masks = self.masks.read().unwrap_or_else(PoisonError::into_inner);
        masks.slot(state.0).set(Arc::clone(mask)).is_ok()
    }

    /// Adds where a token leads from a state. The caller has the generation locked.
    pub(crate) fn add_step(&self, state: StateId, id: u32, step: Step) {
        let steps = self.steps.read().unwrap_or_else(PoisonError::into_inner);
        let slot = steps.slot(state.0);
        let new = match slot.get() {
            Some(root) => root.add(id, step),
            None => slot.set(Box::new(Node::new(id, step))).is_ok(),
        };
        if new {
            steps.grow(size_of::<Node>());
        }
    }

    pub(crate) fn mask_count(&self) -> usize {
        let masks = self.masks.read().unwrap_or_else(PoisonError::into_inner);
        masks.count.load(Ordering::Relaxed)
    }

    /// Without the parts of masks.
    pub(crate) fn memory_bytes(&self) -> usize {
        let masks = self.masks.read().unwrap_or_else(PoisonError::into_inner);
        let steps = self.steps.read().unwrap_or_else(PoisonError::into_inner);
        masks.bytes.load(Ordering::Relaxed) + steps.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn forget_masks(&self) {
        forget(&self.masks);
    }

    pub(crate) fn forget_steps(&self) {
        forget(&self.steps);
    }
}

/// Takes the rows away, and gives them back when nobody is kept from reading any more.
fn forget<T>(rows: &RwLock<Rows<T>>) {
    let old = std::mem::take(&mut *rows.write().unwrap_or_else(PoisonError::into_inner));
    drop(old);
}

// ---
// States whose masks are the same, found without computing these. From what lies below the sets of a state, for
// whoever keeps masks.
//
// To find a mask, only so much is looked into as lies below the sets of a state down to some depth: a suffix of the
// stack of calls. A state whose sets are the same down to that depth has the same mask: the thousandth bracket has the
// mask of the tenth. What sets are down to a depth has a number, by interning; nothing rests on a hash.

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

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::maps::IdMap;

    fn mask() -> Arc<Mask> {
        let lists = smallvec::SmallVec::new();
        Arc::new(Mask { row: None, lists })
    }

    #[test]
    fn every_state_has_a_slot_of_its_own() {
        let mut expected = (0, 0);
        for slot in 0..100_000 {
            assert_eq!(Rows::<u8>::place(slot), expected);
            expected.1 += 1;
            if expected.1 == (FIRST as usize) << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(Rows::<u8>::place(u32::MAX - FIRST).0 < ROWS);
    }

    proptest! {
        #[test]
        fn what_was_added_is_known(
            steps in prop::collection::vec((0..40_u32, 0..3_000_u32, 0..9_u32), 0..300),
            given in prop::collection::vec(0..1_000_u32, 0..30),
        ) {
            let known = Known::default();
            let mut model: IdMap<(u32, u32), Step> = IdMap::default();
            for (state, id, to) in steps {
                let step = Step::To(StateId(to));
                known.add_step(StateId(state), id, step);
                model.entry((state, id)).or_insert(step);
            }
            for state in 0..41 {
                for id in 0..3_000 {
                    prop_assert_eq!(known.step(StateId(state), id), model.get(&(state, id)).copied());
                }
            }
            for &state in &given {
                known.add_mask(StateId(state), &mask());
            }
            for state in 0..1_000 {
                prop_assert_eq!(known.has_mask(StateId(state)), given.contains(&state));
            }
            let bytes = known.memory_bytes();
            prop_assert!(bytes >= model.len() * size_of::<Node>());
            known.forget_masks();
            prop_assert_eq!(known.mask_count(), 0);
            prop_assert!(known.memory_bytes() < bytes || given.is_empty());
            known.forget_steps();
            prop_assert_eq!(known.memory_bytes(), 0);
        }
    }
}

/// In every order of threads.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::{model, thread};

    use super::{Arc, Known, StateId, Step};

    #[test]
    fn what_is_read_is_what_was_added_or_nothing() {
        model(|| {
            let known = Arc::new(Known::default());
            let to = |state| Step::To(StateId(state));
            known.add_step(StateId(1), 7, to(70));
            let writer = {
                let known = Arc::clone(&known);
                thread::spawn(move || {
                    known.add_step(StateId(1), 8, to(80));
                    known.forget_steps();
                    known.add_step(StateId(1), 7, to(71));
                })
            };
            let step = known.step(StateId(1), 7);
            assert!(step.is_none_or(|step| step == to(70) || step == to(71)));
            let step = known.step(StateId(1), 8);
            assert!(step.is_none_or(|step| step == to(80)));
            writer.join().unwrap();
            assert_eq!(known.step(StateId(1), 7), Some(to(71)));
            assert_eq!(known.step(StateId(1), 8), None);
        });
    }
}
