//! A recogniser of a grammar for what takes long, beside the one that everybody uses.

use crate::distance::Costs;
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdMap;

/// A recogniser of the same grammar, which knows nothing yet.
#[derive(Debug)]
pub(crate) struct Aside {
    pub(crate) recognizer: Recognizer,
    pub(crate) frames: Frames,
    /// Units of fuel that all it knows has taken.
    pub(crate) spent: u64,
    /// Distances to the end of the text, once somebody asked.
    pub(crate) costs: Option<Costs>,
    /// States of the other recogniser, and what they are here.
    states: IdMap<StateId, StateId>,
}

impl Aside {
    pub(crate) fn new(beside: &Recognizer) -> Result<Self, Error> {
        let (recognizer, _) = beside.anew(&mut Fuel::endless())?;
        Ok(Self {
            recognizer,
            frames: Frames::default(),
            spent: 0,
            costs: None,
            states: IdMap::default(),
        })
    }

    /// What a state of the other recogniser is here, if it was taken over.
    pub(crate) fn known(&self, state: StateId) -> Option<StateId> {
        self.states.get(&state).copied()
    }

    /// Takes over a state.
    pub(crate) fn carry(&mut self, from: &Recognizer, state: StateId) -> Result<StateId, Error> {
        let here = self
            .recognizer
            .carry(from, &[state], &mut Fuel::endless())?[0];
        self.states.insert(state, here);
        Ok(here)
    }

    /// Approximate bytes of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.recognizer.memory_bytes()
            + self.states.len() * 16
            + self.costs.as_ref().map_or(0, Costs::memory_bytes)
    }
}
