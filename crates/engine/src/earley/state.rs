//! A state of the recogniser: the Earley sets that are alive, each with the lexer state of its terminals; and
//! speculative states on a stack, for walks through tokens.

use std::hash::{Hash, Hasher};

use super::arena::{Chunks, Table};
use super::sets::{Ended, GotoResult, SetId};
use crate::automaton::LexerStateId;
use crate::maps::IdHasher;

/// An interned state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateId(pub(crate) u32);

/// One set and what remains of its terminals.
pub(crate) type Thread = (SetId, LexerStateId);

/// The value of a state. That the text may end here is part of it, since it holds only where something has just been
/// completed, not wherever the same threads occur; the same goes for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct State<'a> {
    /// Sorted, without repetitions.
    pub(crate) threads: &'a [Thread],
    /// The set that begins here, if tokens may come next in it.
    pub(crate) fresh: Option<SetId>,
    /// Whether the text may end here.
    pub(crate) accept: bool,
}

/// A state with its threads as a slice of `States::threads`.
#[derive(Debug)]
struct Stored {
    start: u32,
    len: u32,
    fresh: Option<SetId>,
    accept: bool,
}

/// All states met so far.
#[derive(Debug, Default)]
pub(crate) struct States {
    all: Chunks<Stored>,
    threads: Chunks<Thread>,
    table: Table,
}

impl States {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// A state that this table made.
    pub(crate) fn get(&self, id: StateId) -> State<'_> {
        let &Stored {
            start,
            len,
            fresh,
            accept,
        } = &self.all[id.0];
        State {
            threads: self.threads.slice(start, len),
            fresh,
            accept,
        }
    }

    /// The id of the topmost frame.
    pub(crate) fn intern(&mut self, frames: &Frames) -> StateId {
        let Frame { fresh, accept, .. } = frames.top();
        self.insert(State {
            threads: frames.threads(),
            fresh,
            accept,
        })
    }

    /// The id of a state whose threads are sorted and without repetitions.
    pub(super) fn insert(&mut self, state: State<'_>) -> StateId {
        // Equal states are one only if their threads are in one order.
        debug_assert!(state.threads.is_sorted_by(|a, b| a < b));
        let mut hasher = IdHasher::default();
        state.hash(&mut hasher);
        let hash = hasher.finish();
        let known = self.table.find(hash, |at| self.get(StateId(at)) == state);
        if let Some(known) = known {
            return StateId(known);
        }
        let at = self.all.push(Stored {
            start: self.threads.extend(state.threads),
            len: state.threads.len() as u32,
            fresh: state.fresh,
            accept: state.accept,
        });
        self.table.insert(hash, at);
        StateId(at)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.all.memory_bytes() + self.threads.memory_bytes() + self.table.memory_bytes()
    }
}

/// One speculative state: a range of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    start: usize,
    end: usize,
    pub(crate) fresh: Option<SetId>,
    pub(crate) accept: bool,
}

/// Speculative states on a stack: a step forward pushes, a step back truncates, nothing is interned.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    threads: Vec<Thread>,
    stack: Vec<Frame>,
    /// What ended at the byte being taken.
    pub(super) ended: Vec<Ended>,
}

impl Frames {
    /// Starts over from a state.
    pub(crate) fn load(&mut self, state: State<'_>) {
        self.threads.clear();
        self.stack.clear();
        self.threads.extend_from_slice(state.threads);
        let (end, fresh, accept) = (self.threads.len(), state.fresh, state.accept);
        self.stack.push(Frame {
            start: 0,
            end,
            fresh,
            accept,
        });
    }

    /// Starts over from threads inside of a token.
    pub(crate) fn load_threads(&mut self, threads: &[Thread]) {
        self.threads.clear();
        self.stack.clear();
        self.threads.extend_from_slice(threads);
        self.stack.push(Frame {
            start: 0,
            end: threads.len(),
            fresh: None,
            accept: false,
        });
    }

    /// The speculative state that was pushed last.
    pub(crate) fn top(&self) -> Frame {
        self.stack.last().copied().unwrap_or(Frame {
            start: 0,
            end: 0,
            fresh: None,
            accept: false,
        })
    }

    /// The threads of the topmost state.
    pub(crate) fn threads(&self) -> &[Thread] {
        let top = self.top();
        &self.threads[top.start..top.end]
    }

    /// How many steps were pushed since the state that was loaded.
    pub(crate) fn steps(&self) -> usize {
        self.stack.len().saturating_sub(1)
    }

    /// Forgets all but the first `steps` steps.
    pub(crate) fn truncate(&mut self, steps: usize) {
        self.stack.truncate(steps + 1);
        self.threads.truncate(self.top().end);
    }

    /// Forgets all but the topmost state, which no step can take back any more.
    pub(crate) fn keep_top(&mut self) {
        let Frame {
            start,
            end,
            fresh,
            accept,
        } = self.top();
        self.threads.truncate(end);
        self.threads.drain(..start);
        self.stack.clear();
        self.stack.push(Frame {
            start: 0,
            end: end - start,
            fresh,
            accept,
        });
    }

    /// Puts other threads (sorted, without repetitions) in place of those of the topmost state.
    pub(crate) fn replace_threads(&mut self, threads: &[Thread]) {
        if let Some(top) = self.stack.last_mut() {
            self.threads.truncate(top.start);
            self.threads.extend_from_slice(threads);
            top.end = self.threads.len();
        }
    }

    /// Adds a thread to the state that is being made.
    pub(super) fn add(&mut self, set: SetId, lexer_state: LexerStateId) {
        if lexer_state != LexerStateId::DEAD {
            self.threads.push((set, lexer_state));
        }
    }

    /// Pushes a state of one thread, unless that is dead.
    #[inline]
    pub(crate) fn push_single(&mut self, set: SetId, lexer_state: LexerStateId) -> bool {
        if lexer_state == LexerStateId::DEAD {
            return false;
        }
        let start = self.threads.len();
        self.threads.push((set, lexer_state));
        self.stack.push(Frame {
            start,
            end: start + 1,
            fresh: None,
            accept: false,
        });
        true
    }

    /// Finishes the state of the threads since the last one; forgets it again if nothing may follow in it.
    pub(super) fn finish(&mut self, goto: GotoResult, fresh: Option<SetId>) -> bool {
        let start = self.top().end;
        if self.threads.len() > start + 1 {
            let threads = &mut self.threads[start..];
            threads.sort_unstable();
            let mut kept = 1;
            for index in 1..threads.len() {
                if threads[index] != threads[kept - 1] {
                    threads[kept] = threads[index];
                    kept += 1;
                }
            }
            self.threads.truncate(start + kept);
        }
        let end = self.threads.len();
        if start == end && fresh.is_none() && !goto.accept {
            return false;
        }
        self.stack.push(Frame {
            start,
            end,
            fresh,
            accept: goto.accept,
        });
        true
    }

    /// Drops threads of a state that could not be finished.
    pub(super) fn abandon(&mut self) {
        self.threads.truncate(self.top().end);
    }
}
