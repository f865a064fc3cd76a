//! Grammars to compiled grammars, each once.

use std::sync::Arc;

use syntagma_grammar::Grammar;

use crate::compiled::CompiledGrammar;
use crate::error::Error;
use crate::limits::Limits;
use crate::vocabulary::Vocabulary;

/// How a [`GrammarCompiler`]'s cache fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

/// Compiles grammars for one vocabulary and remembers them. Every method may be called from many threads at once.
#[derive(Debug)]
pub struct GrammarCompiler {}

impl GrammarCompiler {
    /// A compiler with a cache.
    #[must_use]
    pub fn new(_vocabulary: Arc<Vocabulary>, _limits: Limits) -> Self {
        todo!()
    }

    /// The same compiler with or without its cache.
    #[must_use]
    pub fn with_cache(self, _cache: bool) -> Self {
        todo!()
    }

    /// The same compiler; with `verify`, matchers recompute every mask that they find in a memo and report a
    /// difference as `E-ENGINE-VERIFY`. Slow, for canaries.
    #[must_use]
    pub fn with_verify(self, _verify: bool) -> Self {
        todo!()
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        todo!()
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        todo!()
    }

    /// The compiled grammar; equal grammars give the same one while it is in the cache, and threads that ask for the
    /// same grammar at the same time share one compilation.
    ///
    /// Errors: as [`CompiledGrammar::from_lnf`], and those of the normal form.
    pub fn compile(&self, _grammar: &Arc<Grammar>) -> Result<Arc<CompiledGrammar>, Error> {
        todo!()
    }

    /// Forgets every compiled grammar; those in use live on.
    pub fn clear(&self) {
        todo!()
    }

    /// How the cache fares.
    #[must_use]
    pub fn stats(&self) -> CompilerStats {
        todo!()
    }
}
