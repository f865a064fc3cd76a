//! Compilers and compiled grammars.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::Arc;

use syntagma_engine::{Bound, CompiledGrammar, GrammarCompiler, bitmask_words};
use syntagma_host::CompilerOptions;

use crate::call::{SyntagmaStatus, call, quietly};
use crate::given::{given, put, put_made, word};
use crate::grammar::SyntagmaGrammar;
use crate::vocabulary::SyntagmaVocabulary;

/// Compiles grammars for one vocabulary and caches them.
#[derive(Debug)]
pub struct SyntagmaCompiler(GrammarCompiler);

/// A grammar compiled for a vocabulary. Its masks are found when they are first needed, once for all matchers.
#[derive(Debug)]
pub struct SyntagmaCompiled {
    pub(crate) inner: Arc<CompiledGrammar>,
    /// What its matchers keep to.
    pub(crate) bounds: Vec<Bound>,
}

/// How the cache of a compiler fares.
#[repr(C)]
#[derive(Debug)]
pub struct SyntagmaCompilerStats {
    /// Requests that were answered from the cache.
    pub hits: u64,
    /// Requests that compiled.
    pub misses: u64,
    /// Compiled grammars in the cache.
    pub entries: u64,
    /// Their approximate size, in bytes.
    pub bytes: u64,
}

/// Makes a compiler. The first one of a large vocabulary takes some milliseconds.
///
/// `options` is NULL or a JSON object: `cache`, whether it remembers compiled grammars (true); `verify`, whether a second
/// recogniser checks every mask and token, which is very slow (false); `limits`, an object of bounds, see
/// docs/reference/limits.md. Fails with E-ARGUMENT-TYPE or E-ARGUMENT-VALUE. `*out` is freed by syntagma_compiler_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_compiler_new(
    vocabulary: Option<&SyntagmaVocabulary>,
    options: *const c_char,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaCompiler>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            let vocabulary = Arc::clone(&given(vocabulary, "vocabulary")?.0);
            // SAFETY: it ends with a zero byte.
            let options = CompilerOptions::from_json(unsafe { word(options, "options")? })?;
            let compiler = GrammarCompiler::new(vocabulary, options.limits);
            Ok(SyntagmaCompiler(
                compiler
                    .with_cache(options.cache)
                    .with_verify(options.verify),
            ))
        })
    })
}

/// Compiles a grammar, or takes it from the cache. Threads that ask for the same grammar at the same time share one
/// compilation.
///
/// Fails with E-GRAMMAR-EMPTY, no text matches; E-VOCAB-TOKEN, the vocabulary lacks a token of the grammar; E-LIMIT-…. `*out`
/// is freed by syntagma_compiled_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_compiler_compile(
    compiler: Option<&SyntagmaCompiler>,
    grammar: Option<&SyntagmaGrammar>,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaCompiled>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            let compiler = given(compiler, "compiler")?;
            let grammar = &given(grammar, "grammar")?.0;
            Ok(SyntagmaCompiled {
                inner: compiler.0.compile(&grammar.grammar)?,
                bounds: grammar.bounds.clone(),
            })
        })
    })
}

/// Empties the cache. Grammars in use stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_compiler_clear(compiler: Option<&SyntagmaCompiler>) -> SyntagmaStatus {
    call(|| {
        given(compiler, "compiler")?.0.clear();
        Ok(())
    })
}

/// How the cache fares so far.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_compiler_stats(
    compiler: Option<&SyntagmaCompiler>,
    out: Option<&mut MaybeUninit<SyntagmaCompilerStats>>,
) -> SyntagmaStatus {
    call(|| {
        let stats = given(compiler, "compiler")?.0.stats();
        let found = SyntagmaCompilerStats {
            hits: stats.hits,
            misses: stats.misses,
            entries: stats.entries as u64,
            bytes: stats.bytes as u64,
        };
        put(out, found)
    })
}

/// Frees a compiler. What it compiled lives on.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_compiler_free(compiler: Option<Box<SyntagmaCompiler>>) {
    quietly(|| drop(compiler));
}

/// Frees a compiled grammar. Its matchers live on.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_compiled_free(compiled: Option<Box<SyntagmaCompiled>>) {
    quietly(|| drop(compiled));
}

/// How many 32-bit words a bitmask row of `vocab_size` tokens has.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_bitmask_words(vocab_size: usize) -> usize {
    bitmask_words(vocab_size)
}
