//! The C library: arguments, results and errors are converted here, and everything else is decided in the crates below.
//!
//! What C programmers read is the header, which is made from these declarations and their comments. This is the one crate
//! beside the Python binding with unsafe code: it reads what pointers lead to, and takes handles back.

// What callers have to keep to is the same for all functions, and is said once, at the top of the header.
#![allow(clippy::missing_safety_doc)]
// Comments are for readers of C.
#![allow(clippy::doc_markdown)]
// A handle that is given back is dropped, not used.
#![allow(clippy::needless_pass_by_value)]

mod call;
mod compiler;
mod fork;
mod given;
mod grammar;
mod many;
mod matcher;
mod memory;
mod vocabulary;

pub use call::{
    SyntagmaStatus, syntagma_error_code, syntagma_error_json, syntagma_error_text, syntagma_version,
};
pub use compiler::{
    SyntagmaCompiled, SyntagmaCompiler, SyntagmaCompilerStats, syntagma_bitmask_words,
    syntagma_compiled_free, syntagma_compiler_clear, syntagma_compiler_compile,
    syntagma_compiler_free, syntagma_compiler_new, syntagma_compiler_stats,
};
pub use fork::{syntagma_after_fork_in_child, syntagma_after_fork_in_parent, syntagma_before_fork};
pub use grammar::{
    SyntagmaGrammar, syntagma_grammar_free, syntagma_grammar_load, syntagma_grammar_read,
    syntagma_grammar_report, syntagma_grammar_save,
};
pub use many::{syntagma_accept_tokens, syntagma_fill_bitmask, syntagma_matcher_fill_draft};
pub use matcher::{
    SyntagmaMatcher, syntagma_matcher_accept_bytes, syntagma_matcher_accept_token,
    syntagma_matcher_accepts, syntagma_matcher_captures, syntagma_matcher_explain,
    syntagma_matcher_fill, syntagma_matcher_fork, syntagma_matcher_free,
    syntagma_matcher_is_accepting, syntagma_matcher_is_terminated, syntagma_matcher_jump_forward,
    syntagma_matcher_load, syntagma_matcher_new, syntagma_matcher_reset, syntagma_matcher_rollback,
    syntagma_matcher_save, syntagma_matcher_shortest_close, syntagma_matcher_steps,
    syntagma_matcher_validate,
};
pub use memory::{SyntagmaBytes, SyntagmaTokens, syntagma_bytes_free, syntagma_tokens_free};
pub use vocabulary::{
    SyntagmaVocabulary, SyntagmaVocabularyParts, syntagma_vocabulary_free,
    syntagma_vocabulary_from_tokenizer_json, syntagma_vocabulary_new, syntagma_vocabulary_size,
    syntagma_vocabulary_token,
};

/// What the header says about threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<SyntagmaVocabulary>();
    shared::<SyntagmaGrammar>();
    shared::<SyntagmaCompiler>();
    shared::<SyntagmaCompiled>();
    shared::<SyntagmaMatcher>();
};
