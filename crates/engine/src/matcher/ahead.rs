//! Threads that find out ahead what a batch is about to ask for.
//!
//! What they find is remembered by the compiled grammar, where the batch then looks; so nothing is handed back, and nobody
//! waits for a thread that has not begun yet: whoever calls takes tasks from one end of the list, helpers take them from
//! the other, and a helper that comes late finds the list empty. A compiled grammar is written to by one thread at a time,
//! so all that is asked of one is one task.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::{GrammarMatcher, Place};
use crate::compiled::CompiledGrammar;
use crate::earley::StateId;
use crate::error::caught;
use crate::generation::Generation;

/// For so many tasks a thread is worth waking.
const WORTH: usize = 4;

/// Threads that are kept at most.
const MOST_THREADS: usize = 64;

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
type Tasks = Mutex<VecDeque<Task>>;

/// What helpers have to do.
#[derive(Default)]
struct Work {
    batches: VecDeque<Arc<Tasks>>,
    threads: usize,
}

static WORK: Mutex<Work> = Mutex::new(Work {
    batches: VecDeque::new(),
    threads: 0,
});
static MORE: Condvar = Condvar::new();

/// Finds out what is not known yet of the places of matchers, with the help of up to `threads - 1` other threads.
pub(super) fn find_out<'a>(
    asked: impl Iterator<Item = (&'a GrammarMatcher, Option<u32>)>,
    threads: usize,
) {
    let mut tasks: VecDeque<Task> = VecDeque::new();
    let mut of_generation: FxHashMap<*const Generation, usize> = FxHashMap::default();
    for (matcher, token) in asked {
        let Place::At(state) = matcher.place() else {
            continue;
        };
        let vocabulary = matcher.compiled.vocabulary();
        if matcher.generation.is_known(state, token)
            || matcher.check().is_err()
            || token.is_some_and(|id| matcher.ledger.is_some() || vocabulary.check_id(id).is_err())
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
    let helpers = (threads - 1).min(tasks.len() / WORTH);
    if helpers == 0 {
        return;
    }
    let tasks: Arc<Tasks> = Arc::new(Mutex::new(tasks));
    offer(&tasks, helpers);
    while let Some(task) = take(&tasks, VecDeque::pop_front) {
        task.run();
    }
    // Helpers that have not come by now need not come any more.
    if let Ok(mut work) = WORK.try_lock() {
        work.batches.retain(|one| !Arc::ptr_eq(one, &tasks));
    }
}

fn take(tasks: &Tasks, end: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
    end(&mut tasks.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Puts tasks where helpers see them, unless that would mean to wait.
fn offer(tasks: &Arc<Tasks>, helpers: usize) {
    let Ok(mut work) = WORK.try_lock() else {
        return;
    };
    for _ in 0..helpers {
        work.batches.push_back(Arc::clone(tasks));
    }
    while work.threads < helpers.min(MOST_THREADS) {
        let thread = std::thread::Builder::new().name("syntagma".into());
        if thread.spawn(help).is_err() {
            break;
        }
        work.threads += 1;
    }
    drop(work);
    for _ in 0..helpers {
        MORE.notify_one();
    }
}

/// What a helper does all its life.
fn help() {
    loop {
        let mut work = WORK.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks = loop {
            if let Some(tasks) = work.batches.pop_front() {
                break tasks;
            }
            work = MORE.wait(work).unwrap_or_else(PoisonError::into_inner);
        };
        drop(work);
        while let Some(task) = take(&tasks, VecDeque::pop_back) {
            task.run();
        }
    }
}
