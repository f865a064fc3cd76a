//! Threads that find out ahead what a batch is about to ask for.
//!
//! What they find is remembered by the compiled grammar, where the batch then looks; so nothing is handed back, and nobody
//! waits for a thread that has not begun yet: whoever calls takes tasks from one end of the list, helpers take them from
//! the other, and a helper that comes late finds the list empty. A compiled grammar is written to by one thread at a time,
//! so all that is asked of one is one task.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::GrammarMatcher;
use crate::compiled::CompiledGrammar;
use crate::context::{EngineContext, Job};
use crate::earley::StateId;
use crate::error::caught;
use crate::generation::Generation;
use crate::maps::IdMap;
use crate::position::Position;
use crate::tuning;

/// What is to be found out in one compiled grammar: the masks of places, or where tokens lead from them.
struct Task {
    compiled: Arc<CompiledGrammar>,
    generation: Arc<Generation>,
    wanted: Vec<(StateId, Option<u32>)>,
}

impl Task {
    /// Finds it out. An error comes up again where the batch asks.
    fn run(&self) {
        for &(state, token) in &self.wanted {
            let found = caught(|| match token {
                Some(id) => self.generation.step(state, id).map(|_| ()),
                None => self.generation.mask(state).map(|_| ()),
            });
            if let Err(error) = found {
                self.compiled.note(&error);
            }
        }
    }
}

/// The tasks of one batch that nobody has begun.
struct Batch(Mutex<VecDeque<Task>>);

impl Batch {
    fn take(&self, end: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
        end(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Job for Batch {
    fn take_part(&self) {
        while let Some(task) = self.take(VecDeque::pop_back) {
            task.run();
        }
    }
}

/// Finds out what is not known yet of the places of matchers, with the help of up to `threads - 1` other threads.
pub(super) fn find_out<'a>(
    asked: impl Iterator<Item = (&'a GrammarMatcher, Option<u32>)>,
    threads: usize,
) {
    let mut tasks: VecDeque<Task> = VecDeque::new();
    let mut of_generation: IdMap<*const Generation, usize> = IdMap::default();
    for (matcher, token) in asked {
        let Position::At(state) = matcher.place() else {
            continue;
        };
        let vocabulary = matcher.compiled.vocabulary();
        if matcher.generation.is_known(state, token)
            || matcher.check().is_err()
            || token.is_some_and(|id| matcher.tracker.is_some() || vocabulary.check_id(id).is_err())
        {
            continue;
        }
        let generation = &matcher.generation;
        let at = *of_generation
            .entry(Arc::as_ptr(generation))
            .or_insert(tasks.len());
        if at == tasks.len() {
            tasks.push_back(Task {
                compiled: Arc::clone(&matcher.compiled),
                generation: Arc::clone(generation),
                wanted: Vec::new(),
            });
        }
        tasks[at].wanted.push((state, token));
    }
    let helpers = (threads - 1).min(tasks.len() / tuning::TASKS_PER_HELPER);
    if helpers == 0 {
        return;
    }
    let batch = Arc::new(Batch(Mutex::new(tasks)));
    let job: Arc<dyn Job> = batch.clone();
    let context = EngineContext::current();
    context.offer(&job, helpers);
    while let Some(task) = batch.take(VecDeque::pop_front) {
        task.run();
    }
    context.withdraw(&job);
}
