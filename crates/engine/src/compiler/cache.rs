//! Compiled grammars that are remembered: each is compiled by one thread while others wait, and those unused for longest
//! go first.

use std::sync::{Arc, PoisonError};

use super::key::Key;
use crate::compiled::CompiledGrammar;
use crate::error::Error;
use crate::limits::Limits;
use crate::maps::SeededMap;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// How a [`GrammarCompiler`](crate::GrammarCompiler)'s cache fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CompilerStats {
    /// Compilations answered from the cache, or by waiting for another thread's.
    pub hits: u64,
    /// Compilations done.
    pub misses: u64,
    /// Compiled grammars held.
    pub entries: usize,
    /// Their approximate bytes.
    pub bytes: usize,
}

/// What a key leads to.
#[derive(Debug)]
enum Slot {
    /// Some thread is compiling it.
    Building,
    Ready {
        compiled: Arc<CompiledGrammar>,
        used: u64,
    },
}

#[derive(Debug, Default)]
struct Table {
    slots: SeededMap<Key, Slot>,
    clock: u64,
    hits: u64,
    misses: u64,
}

/// The cache of one compiler.
#[derive(Debug, Default)]
pub(super) struct Cache {
    table: Mutex<Table>,
    changed: Condvar,
}

/// Frees the key if compiling fails, or panics, so that nobody waits for ever.
struct Claim<'a> {
    cache: &'a Cache,
    key: &'a Key,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut table = self.cache.lock();
        if matches!(table.slots.get(self.key), Some(Slot::Building)) {
            table.slots.remove(self.key);
        }
        drop(table);
        self.cache.changed.notify_all();
    }
}

impl Cache {
    /// The compiled grammar of a key; `build` runs only where no other thread has done it or is doing it.
    pub(super) fn get_or_build(
        &self,
        key: &Key,
        build: impl FnOnce() -> Result<Arc<CompiledGrammar>, Error>,
        limits: &Limits,
    ) -> Result<Arc<CompiledGrammar>, Error> {
        let mut table = self.lock();
        loop {
            table.clock += 1;
            let now = table.clock;
            match table.slots.get_mut(key) {
                Some(Slot::Ready { compiled, used }) if compiled.check().is_ok() => {
                    *used = now;
                    let compiled = Arc::clone(compiled);
                    table.hits += 1;
                    return Ok(compiled);
                }
                Some(Slot::Building) => {
                    table = self
                        .changed
                        .wait(table)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                // What a panic has broken is made anew.
                Some(Slot::Ready { .. }) | None => break,
            }
        }
        table.misses += 1;
        table.slots.insert(key.clone(), Slot::Building);
        drop(table);
        let claim = Claim { cache: self, key };
        let compiled = build()?;
        let mut table = self.lock();
        table.clock += 1;
        let used = table.clock;
        table.slots.insert(
            key.clone(),
            Slot::Ready {
                compiled: Arc::clone(&compiled),
                used,
            },
        );
        table.keep_within(limits);
        drop(table);
        drop(claim);
        Ok(compiled)
    }

    /// Forgets what is ready; what is being compiled still arrives.
    pub(super) fn clear(&self) {
        self.lock()
            .slots
            .retain(|_, slot| matches!(slot, Slot::Building));
    }

    pub(super) fn stats(&self) -> CompilerStats {
        let table = self.lock();
        let (entries, bytes) = table.totals();
        CompilerStats {
            hits: table.hits,
            misses: table.misses,
            entries,
            bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// What is ready: key, when it was last used, bytes.
    fn ready(&self) -> impl Iterator<Item = (&Key, u64, usize)> {
        self.slots.iter().filter_map(|(key, slot)| match slot {
            Slot::Ready { compiled, used } => {
                let bytes = compiled.memory_bytes() + key.memory_bytes();
                Some((key, *used, bytes))
            }
            Slot::Building => None,
        })
    }

    /// How many compiled grammars are ready, and their bytes.
    fn totals(&self) -> (usize, usize) {
        self.ready().fold((0, 0), |(entries, all), (_, _, bytes)| {
            (entries + 1, all + bytes)
        })
    }

    /// Drops compiled grammars, unused for longest first, until the bounds hold. They grow while they are used, so this
    /// looks at what they hold now. The newest one stays, however big.
    fn keep_within(&mut self, limits: &Limits) {
        let within = |entries: usize, bytes: usize| {
            entries <= 1 || (entries <= limits.cache_entries && bytes <= limits.cache_bytes)
        };
        let (mut entries, mut bytes) = self.totals();
        if within(entries, bytes) {
            return;
        }
        let mut ready: Vec<(u64, usize, Key)> = self
            .ready()
            .map(|(key, used, bytes)| (used, bytes, key.clone()))
            .collect();
        ready.sort_unstable_by_key(|(used, ..)| *used);
        for (_, own, key) in ready {
            if within(entries, bytes) {
                return;
            }
            self.slots.remove(&key);
            entries -= 1;
            bytes -= own;
        }
    }
}

/// In every order of threads.
#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc;

    use loom::model;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;
    use syntagma_grammar::ir::{Grammar, Lnf, Regex};

    use super::super::key::Key;
    use super::Cache;
    use crate::compiled::CompiledGrammar;
    use crate::error::Error;
    use crate::limits::Limits;
    use crate::vocabulary::{Vocabulary, VocabularyParts};

    /// Room for a compilation, in words of the machine; loom gives a thread 4,096.
    const STACK_WORDS: usize = 1 << 18;

    fn compile() -> Result<Arc<CompiledGrammar>, Error> {
        let lnf = Lnf::new(&grammar(), &syntagma_grammar::Limits::default())?;
        let parts = VocabularyParts {
            tokens: vec![b"a".to_vec()],
            ..VocabularyParts::default()
        };
        let vocabulary = Arc::new(Vocabulary::new(&parts)?);
        let report = grammar().report().clone();
        let limits = Limits::default();
        CompiledGrammar::from_lnf(&lnf, report, vocabulary, &limits, false).map(Arc::new)
    }

    fn grammar() -> Grammar {
        Grammar::from_regex(Regex::literal(b"a"))
    }

    /// Two threads ask for one grammar; so many of the compilations, from the first on, fail.
    fn ask_twice(failing: usize) {
        model(move || {
            let cache = Arc::new(Cache::default());
            let compilations = Arc::new(AtomicUsize::new(0));
            let ask = {
                let (cache, compilations) = (Arc::clone(&cache), Arc::clone(&compilations));
                move || {
                    let build = || {
                        if compilations.fetch_add(1, Ordering::Relaxed) < failing {
                            return Err(Error::grammar("E-GRAMMAR-EMPTY", "on purpose"));
                        }
                        compile()
                    };
                    let key = Key::new(&grammar());
                    cache.get_or_build(&key, build, &Limits::default())
                }
            };
            let asking = [ask.clone(), ask].map(|ask| {
                let thread = thread::Builder::new().stack_size(STACK_WORDS);
                thread.spawn(ask).unwrap()
            });
            let answers = asking.map(|thread| thread.join().unwrap());
            let made: Vec<_> = answers.iter().filter_map(|one| one.as_ref().ok()).collect();
            assert_eq!(made.len(), 2 - failing);
            assert!(made.windows(2).all(|two| Arc::ptr_eq(two[0], two[1])));
            assert_eq!(compilations.load(Ordering::Relaxed), 1 + failing);
        });
    }

    #[test]
    fn two_who_ask_share_one_compilation() {
        ask_twice(0);
    }

    #[test]
    fn whoever_waits_for_one_that_fails_compiles_it() {
        ask_twice(1);
    }
}
