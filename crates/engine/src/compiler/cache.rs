//! Compiled grammars that are remembered: each is compiled by one thread while others wait, and those unused for longest
//! go first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use syntagma_grammar::ir::Identity as Key;

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
    /// What is ready, by when it was last used.
    order: BTreeMap<u64, Key>,
    key_bytes: usize,
    /// Bytes of all that is ready, which grows while it is used.
    compiled_bytes: Arc<AtomicUsize>,
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
            let Table {
                slots,
                order,
                clock,
                hits,
                ..
            } = &mut *table;
            match slots.get_mut(key) {
                Some(Slot::Ready { compiled, used }) if compiled.check().is_ok() => {
                    *clock += 1;
                    *hits += 1;
                    if let Some(key) = order.remove(used) {
                        order.insert(*clock, key);
                    }
                    *used = *clock;
                    let compiled = Arc::clone(compiled);
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
        let broken = table.remove(key);
        table.slots.insert(key.clone(), Slot::Building);
        drop(table);
        drop(broken);
        let claim = Claim { cache: self, key };
        let compiled = build()?;
        let mut table = self.lock();
        table.add(key, &compiled);
        let dropped = table.keep_within(limits);
        drop(table);
        // To give back what they hold takes long, and nobody waits for it.
        drop(dropped);
        drop(claim);
        Ok(compiled)
    }

    /// Forgets what is ready; what is being compiled still arrives.
    pub(super) fn clear(&self) {
        let mut table = self.lock();
        let keys: Vec<Key> = table.order.values().cloned().collect();
        let dropped: Vec<_> = keys.iter().filter_map(|key| table.remove(key)).collect();
        drop(table);
        drop(dropped);
    }

    pub(super) fn stats(&self) -> CompilerStats {
        let table = self.lock();
        CompilerStats {
            hits: table.hits,
            misses: table.misses,
            entries: table.order.len(),
            bytes: table.bytes(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Approximate bytes of what is ready.
    fn bytes(&self) -> usize {
        self.key_bytes + self.compiled_bytes.load(Ordering::Relaxed)
    }

    fn add(&mut self, key: &Key, compiled: &Arc<CompiledGrammar>) {
        self.clock += 1;
        compiled.tally().count_in(Some(&self.compiled_bytes));
        self.key_bytes += key.memory_bytes();
        self.order.insert(self.clock, key.clone());
        let ready = Slot::Ready {
            compiled: Arc::clone(compiled),
            used: self.clock,
        };
        self.slots.insert(key.clone(), ready);
    }

    /// Takes out what is ready, if it is.
    fn remove(&mut self, key: &Key) -> Option<Arc<CompiledGrammar>> {
        let Some(Slot::Ready { used, .. }) = self.slots.get(key) else {
            return None;
        };
        self.order.remove(used);
        let Some(Slot::Ready { compiled, .. }) = self.slots.remove(key) else {
            return None;
        };
        compiled.tally().count_in(None);
        self.key_bytes -= key.memory_bytes();
        Some(compiled)
    }

    /// Takes out compiled grammars, unused for longest first, until the bounds hold. They grow while they are used, so this
    /// looks at what they hold now. The newest one stays, however big.
    fn keep_within(&mut self, limits: &Limits) -> Vec<Arc<CompiledGrammar>> {
        let mut dropped = Vec::new();
        while self.order.len() > 1
            && (self.order.len() > limits.cache_entries || self.bytes() > limits.cache_bytes)
        {
            let Some((_, oldest)) = self.order.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            dropped.extend(self.remove(&oldest));
        }
        dropped
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
                    cache.get_or_build(grammar().identity(), build, &Limits::default())
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
