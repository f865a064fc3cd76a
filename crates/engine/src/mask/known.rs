//! Masks and steps that were found before, where anybody reads them without waiting for whoever finds more.
//!
//! Both are kept by state, in rows of slots that are set once and never moved. Whoever adds something has the grammar
//! locked, so there is one at a time; readers lock nothing of that. Only when everything is given up are the rows
//! replaced, and for as long as that takes nothing is known.

use std::sync::{Arc, PoisonError};

use super::answers::{Mask, Step};
use crate::earley::StateId;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{OnceLock, RwLock};

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
