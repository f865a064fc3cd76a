//! What becomes of panics, which only the inside can bring about.

use std::sync::Arc;

use syntagma_grammar::ir::{Grammar, Regex};

use super::GrammarMatcher;
use crate::compiler::GrammarCompiler;
use crate::error::ErrorKind;
use crate::limits::Limits;
use crate::vocabulary::{Vocabulary, VocabularyParts};

fn with_bytes() -> GrammarCompiler {
    let parts = VocabularyParts {
        tokens: (0..=u8::MAX).map(|byte| vec![byte]).collect(),
        ..VocabularyParts::default()
    };
    GrammarCompiler::new(
        Arc::new(Vocabulary::new(&parts).unwrap()),
        Limits::default(),
    )
}

#[test]
fn a_panic_is_an_error_that_stays() {
    let compiler = with_bytes();
    let grammar = Arc::new(Grammar::from_regex(Regex::literal(b"ab")));
    let made = compiler.compile(&grammar).unwrap();
    let mut matcher = GrammarMatcher::new(Arc::clone(&made));
    assert!(matcher.accept_token(u32::from(b'a')).unwrap());
    let result: Result<(), _> = matcher.guard(|matcher| {
        let _held = matcher.generation.write();
        panic!("on purpose, step {}", matcher.steps());
    });
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Internal, "E-ENGINE-PANIC")
    );
    assert!(error.message().contains("on purpose, step 1"));
    assert_eq!(matcher.accept_token(u32::from(b'b')), Err(error.clone()));
    assert_eq!(matcher.state_bytes(), Err(error.clone()));

    // Nothing that the panic may have left half done is used again: not by this matcher, not by others.
    matcher.reset();
    assert_eq!(matcher.is_accepting(), Err(error.clone()));
    let other = GrammarMatcher::new(Arc::clone(&made));
    assert_eq!(other.accepts(u32::from(b'a')), Err(error));

    let anew = compiler.compile(&grammar).unwrap();
    assert!(!Arc::ptr_eq(&anew, &made));
    assert!(GrammarMatcher::new(anew).accept_bytes(b"ab").unwrap());
}
