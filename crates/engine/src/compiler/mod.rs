//! Grammars to compiled grammars, each once.

mod cache;
mod common;

use std::sync::Arc;

use syntagma_grammar::Grammar;
use syntagma_grammar::ir::Lnf;

pub use self::cache::CompilerStats;

use self::cache::Cache;
use crate::compiled::CompiledGrammar;
use crate::error::{Error, caught};
use crate::layers::Layers;
use crate::limits::Limits;
use crate::mask::Shared;
use crate::vocabulary::Vocabulary;

/// Compiles grammars for one vocabulary and remembers them. Every method may be called from many threads at once.
#[derive(Debug)]
pub struct GrammarCompiler {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    verify: bool,
    layers: Layers,
    cache: Option<Cache>,
    /// What all grammars of the vocabulary have found out about terminals.
    shared: Arc<Shared>,
}

impl GrammarCompiler {
    /// A compiler with a cache. The first one of a large vocabulary reads that by the usual terminals of JSON, which takes
    /// some milliseconds.
    #[must_use]
    pub fn new(vocabulary: Arc<Vocabulary>, limits: Limits) -> Self {
        let (compiler, new) = Self::made(vocabulary, limits);
        if new {
            common::learn(compiler.vocabulary.size(), |grammar| {
                compiler.build(grammar)
            });
        }
        compiler
    }

    /// A compiler with a cache, which reads the vocabulary only when a mask asks for it.
    #[must_use]
    pub fn lazy(vocabulary: Arc<Vocabulary>, limits: Limits) -> Self {
        Self::made(vocabulary, limits).0
    }

    /// A compiler, and whether it is the first one of its vocabulary.
    fn made(vocabulary: Arc<Vocabulary>, limits: Limits) -> (Self, bool) {
        let bytes = limits.terminal_cache_bytes;
        let (shared, new) = vocabulary.beside(|| Shared::new(bytes));
        shared.allow(bytes);
        let compiler = Self {
            shared,
            vocabulary,
            limits,
            verify: false,
            layers: Layers::default(),
            cache: Some(Cache::default()),
        };
        (compiler, new)
    }

    /// The same compiler, with an empty cache or without any.
    #[must_use]
    pub fn with_cache(mut self, cache: bool) -> Self {
        self.cache = cache.then(Cache::default);
        self
    }

    /// The same compiler; with `verify`, a second recogniser, which shares nothing with the engine but the rules of the
    /// grammar, reads the text again for every mask and every token, and a difference is reported as `E-ENGINE-VERIFY`.
    /// Very slow, for canaries and tests.
    #[must_use]
    pub fn with_verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// The same compiler with fewer layers: slower, for tests that compare.
    #[must_use]
    pub fn with_layers(mut self, layers: Layers) -> Self {
        self.layers = layers;
        self
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The compiled grammar; equal grammars give the same one while it is in the cache, and threads that ask for the
    /// same grammar at the same time share one compilation.
    ///
    /// Errors: as [`CompiledGrammar::from_lnf`], and those of the normal form.
    pub fn compile(&self, grammar: &Arc<Grammar>) -> Result<Arc<CompiledGrammar>, Error> {
        caught(|| {
            let Some(cache) = &self.cache else {
                return self.build(grammar);
            };
            cache.get_or_build(grammar.identity(), || self.build(grammar), &self.limits)
        })
    }

    /// Forgets every compiled grammar, and what is known about terminals; what is in use lives on.
    pub fn clear(&self) {
        if let Some(cache) = &self.cache {
            cache.clear();
        }
        self.shared.clear();
    }

    /// How the cache fares.
    #[must_use]
    pub fn stats(&self) -> CompilerStats {
        self.cache.as_ref().map(Cache::stats).unwrap_or_default()
    }

    fn build(&self, grammar: &Grammar) -> Result<Arc<CompiledGrammar>, Error> {
        let mut limits = syntagma_grammar::Limits::default();
        limits.compile_fuel = self.limits.compile_fuel;
        let lnf = Lnf::new(grammar, &limits)?;
        let (report, vocabulary) = (grammar.report().clone(), Arc::clone(&self.vocabulary));
        let shared = Arc::clone(&self.shared);
        let mode = (self.verify, self.layers);
        CompiledGrammar::with_shared(lnf, report, vocabulary, &self.limits, mode, shared)
            .map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::GrammarMatcher;
    use crate::tuning;
    use crate::vocabulary::{VocabularyParts, bitmask_words};

    fn vocabulary() -> Arc<Vocabulary> {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let words = (0..tuning::LEARNT_VOCABULARY).map(|number| format!("\"{number}").into_bytes());
        let tokens = bytes.chain(words).collect();
        let parts = VocabularyParts {
            tokens,
            ..VocabularyParts::default()
        };
        Arc::new(Vocabulary::new(&parts).unwrap())
    }

    /// The masks along a text in JSON.
    fn masks(compiler: &GrammarCompiler) -> Vec<Vec<i32>> {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
        let (options, limits) = Default::default();
        let read = syntagma_grammar::syntax::json_schema::parse(schema, &options, &limits);
        let mut matcher = GrammarMatcher::new(compiler.compile(&Arc::new(read.unwrap())).unwrap());
        let mut mask = |byte: &u8| {
            let mut row = vec![0; bitmask_words(compiler.vocabulary().size())];
            matcher.fill_next_token_bitmask(&mut row).unwrap();
            assert!(matcher.accept_token(u32::from(*byte)).unwrap());
            row
        };
        br#"{"a": 12, "b": "c"#.iter().map(&mut mask).collect()
    }

    #[test]
    fn a_lazy_compiler_finds_the_same_masks() {
        let eager = GrammarCompiler::new(vocabulary(), Limits::default());
        let lazy = GrammarCompiler::lazy(vocabulary(), Limits::default());
        assert_eq!(masks(&lazy), masks(&eager));
    }
}
