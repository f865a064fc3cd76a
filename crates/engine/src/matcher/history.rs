//! The steps that a matcher has taken: a list that is forked in constant time and cut anywhere.

use std::sync::Arc;

use crate::earley::StateId;
use crate::position::{Input, Position};
use crate::tuning;

/// Marks an input that is text; the rest of the word is an index into `Block::texts`. Token ids are below 2³¹.
const TEXT: u32 = 1 << 31;

/// Consecutive steps.
#[derive(Debug, Clone, Default)]
struct Block {
    /// The generation whose numbers the places are.
    generation: u32,
    places: Vec<Position>,
    inputs: Vec<u32>,
    texts: Vec<Arc<[u8]>>,
}

impl Block {
    fn truncate(&mut self, kept: usize) {
        self.places.truncate(kept);
        self.inputs.truncate(kept);
        let texts = self.inputs.iter().filter(|&&input| input >= TEXT).count();
        self.texts.truncate(texts);
    }

    fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        self.inputs.iter().map(|&input| {
            if input < TEXT {
                Input::Token(input)
            } else {
                Input::Text(&self.texts[(input - TEXT) as usize])
            }
        })
    }
}

/// A full block and those before it; shared between forks.
#[derive(Debug)]
struct Sealed {
    before: Option<Arc<Sealed>>,
    /// Steps up to the end of this block.
    steps: usize,
    block: Block,
}

impl Drop for Sealed {
    fn drop(&mut self) {
        // One after the other: a chain is as long as the text, and dropping it by recursion would use up the stack.
        let mut next = self.before.take();
        while let Some(mut sealed) = next.and_then(Arc::into_inner) {
            next = sealed.before.take();
        }
    }
}

/// All steps since the start of the text.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// The generation whose numbers the latest places are.
    generation: u32,
    sealed: Option<Arc<Sealed>>,
    open: Block,
}

impl History {
    /// No steps yet, in a generation.
    pub(super) fn new(generation: u32) -> Self {
        Self {
            generation,
            sealed: None,
            open: Block {
                generation,
                ..Block::default()
            },
        }
    }

    /// Whether the last step led to a place of another generation than the latest.
    pub(super) fn is_behind(&self) -> bool {
        let last = match &self.sealed {
            Some(sealed) if self.open.places.is_empty() => &sealed.block,
            _ => &self.open,
        };
        !last.places.is_empty() && last.generation != self.generation
    }

    /// Whether the steps behind the first `kept` can be taken back without replaying those: so far as that is told without
    /// going through all blocks.
    pub(super) fn is_recent(&self, kept: usize) -> bool {
        match &self.sealed {
            Some(sealed) if kept <= sealed.steps => {
                let before = sealed.before.as_ref().map_or(0, |before| before.steps);
                kept > before && sealed.block.generation == self.generation
            }
            _ => true,
        }
    }

    /// The states of the steps that can be taken back without replaying the others: those of the last two blocks.
    pub(super) fn recent_states(&self) -> Vec<StateId> {
        let sealed = self.sealed.as_ref().map(|sealed| &sealed.block);
        let blocks = sealed.into_iter().chain([&self.open]);
        let places = blocks
            .filter(|block| block.generation == self.generation)
            .flat_map(|block| &block.places);
        places
            .filter_map(|place| match place {
                Position::At(state) => Some(*state),
                Position::Ended => None,
            })
            .collect()
    }

    /// Takes over what these states have become in another generation.
    pub(super) fn renumber_recent(&mut self, generation: u32, states: Vec<StateId>) {
        let mut states = states.into_iter();
        let mut renumber = |block: &mut Block| {
            block.generation = generation;
            for place in &mut block.places {
                if let (Position::At(state), Some(new)) = (&mut *place, states.next()) {
                    *state = new;
                }
            }
        };
        if let Some(sealed) = self.sealed.take() {
            let mut block = sealed.block.clone();
            if block.generation == self.generation {
                renumber(&mut block);
            }
            self.sealed = Some(Arc::new(Sealed {
                before: sealed.before.clone(),
                steps: sealed.steps,
                block,
            }));
        }
        renumber(&mut self.open);
        self.generation = generation;
    }

    pub(super) fn len(&self) -> usize {
        self.sealed_steps() + self.open.places.len()
    }

    /// Where the last step led.
    pub(super) fn last(&self) -> Option<Position> {
        let sealed = || self.sealed.as_ref()?.block.places.last().copied();
        self.open.places.last().copied().or_else(sealed)
    }

    pub(super) fn push(&mut self, input: Input<'_>, place: Position) {
        if self.open.places.len() == tuning::STEPS_PER_BLOCK {
            let steps = self.len();
            let generation = self.generation;
            let anew = Block {
                generation,
                ..Block::default()
            };
            let block = std::mem::replace(&mut self.open, anew);
            let before = self.sealed.take();
            self.sealed = Some(Arc::new(Sealed {
                before,
                steps,
                block,
            }));
        }
        self.open.places.push(place);
        self.open.inputs.push(match input {
            Input::Token(id) => id,
            Input::Text(bytes) => {
                self.open.texts.push(bytes.into());
                TEXT | (self.open.texts.len() as u32 - 1)
            }
        });
    }

    /// Keeps the first `kept` steps. Each block that is given up was filled by as many steps.
    pub(super) fn truncate(&mut self, kept: usize) {
        while kept < self.sealed_steps() {
            let Some(last) = self.sealed.take() else {
                return;
            };
            self.open.clone_from(&last.block);
            self.sealed.clone_from(&last.before);
        }
        self.open.truncate(kept - self.sealed_steps());
        if self.open.places.is_empty() {
            self.open.generation = self.generation;
        }
    }

    /// What the steps took, in order.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Input<'_>> {
        let mut blocks = vec![&self.open];
        let mut at = self.sealed.as_deref();
        while let Some(sealed) = at {
            blocks.push(&sealed.block);
            at = sealed.before.as_deref();
        }
        blocks.into_iter().rev().flat_map(Block::inputs)
    }

    /// Approximate bytes; those of blocks that forks share are counted for each of them.
    pub(super) fn memory_bytes(&self) -> usize {
        let texts: usize = self
            .inputs()
            .map(|input| match input {
                Input::Token(_) => 0,
                Input::Text(bytes) => bytes.len() + 32,
            })
            .sum();
        self.len() * (size_of::<Position>() + size_of::<u32>()) + texts
    }

    fn sealed_steps(&self) -> usize {
        self.sealed.as_ref().map_or(0, |sealed| sealed.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(history: &mut History, number: u32) {
        let text = number.to_le_bytes();
        let input = if number.is_multiple_of(3) {
            Input::Text(&text)
        } else {
            Input::Token(number)
        };
        history.push(input, Position::At(StateId(number)));
    }

    fn check(history: &History, count: u32) {
        assert_eq!(history.len(), count as usize);
        assert_eq!(
            history.last(),
            count.checked_sub(1).map(|last| Position::At(StateId(last)))
        );
        let mut expected = History::default();
        for number in 0..count {
            step(&mut expected, number);
        }
        assert!(history.inputs().eq(expected.inputs()));
        assert_eq!(history.inputs().count(), count as usize);
    }

    #[test]
    fn cutting_anywhere_leaves_the_beginning() {
        let mut whole = History::default();
        for number in 0..300 {
            step(&mut whole, number);
        }
        for kept in (0..=300).rev() {
            let mut cut = whole.clone();
            cut.truncate(kept as usize);
            check(&cut, kept);
            for number in kept..kept + 70 {
                step(&mut cut, number);
            }
            check(&cut, kept + 70);
        }
        check(&whole, 300);
    }

    #[test]
    fn forks_do_not_see_each_other() {
        let mut first = History::default();
        for number in 0..130 {
            step(&mut first, number);
        }
        let mut second = first.clone();
        first.truncate(10);
        for number in 130..200 {
            step(&mut second, number);
        }
        check(&first, 10);
        check(&second, 200);
    }

    #[test]
    fn a_long_history_goes_away_without_recursion() {
        let mut history = History::default();
        for number in 0..2_000_000 {
            history.push(Input::Token(number), Position::Ended);
        }
        let fork = history.clone();
        drop(history);
        assert_eq!(fork.len(), 2_000_000);
        drop(fork);
    }
}
