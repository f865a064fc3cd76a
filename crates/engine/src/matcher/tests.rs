//! What becomes of panics and of faults, which only the inside can bring about.

use std::sync::Arc;

use syntagma_grammar::ir::{Grammar, Regex};

use super::GrammarMatcher;
use crate::compiler::GrammarCompiler;
use crate::error::ErrorKind;
use crate::limits::Limits;
use crate::position::{Input, Position};
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

#[test]
fn a_wrong_place_is_found_by_whoever_verifies() {
    let letters = Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"b")]);
    let grammar = Arc::new(Grammar::from_regex(Regex::concat(vec![
        Regex::repeat(letters, 2, Some(900)),
        Regex::literal(b"."),
    ])));
    let compiled = with_bytes().with_verify(true).compile(&grammar).unwrap();
    let [a, b, point] = [b'a', b'b', b'.'].map(u32::from);
    let mut right = GrammarMatcher::new(compiled);
    let start = Position::At(right.generation.start());
    assert!(right.accept_token(a).unwrap());
    assert!(!right.accept_token(point).unwrap());
    let once = right.place();
    assert!(right.accept_token(b).unwrap());
    let twice = right.place();
    assert!(right.next_mask().is_ok());

    // The place of another text, and a text that may not be.
    for (taken, place) in [([a, b], once), ([a, a], start), ([a, point], twice)] {
        let mut wrong = right.fork();
        wrong.reset();
        wrong.history.push(Input::Token(taken[0]), once);
        wrong.history.push(Input::Token(taken[1]), place);
        let error = wrong.fork().accept_token(point).unwrap_err();
        assert_eq!(error.code(), "E-ENGINE-VERIFY", "{error}");
        assert_eq!(wrong.next_mask().unwrap_err().code(), "E-ENGINE-VERIFY");
    }
}

#[test]
fn what_is_known_waits_for_nobody() {
    let words = Regex::repeat(Regex::literal(b"ab"), 1, None);
    let compiled = with_bytes()
        .compile(&Arc::new(Grammar::from_regex(words)))
        .unwrap();
    let mut matcher = GrammarMatcher::new(compiled);
    let [a, b] = [b'a', b'b'].map(u32::from);
    assert!(matcher.accept_token(a).unwrap());
    assert!(matcher.accept_token(b).unwrap());
    matcher.rollback(2).unwrap();
    matcher.next_mask().unwrap();

    // Somebody finds something out, and has everything locked for that.
    let generation = Arc::clone(&matcher.generation);
    let finding = generation.write();
    assert!(matcher.known_mask().is_some());
    assert_eq!(matcher.known_accepts(b), Some(false));
    assert_eq!(matcher.known_validate(&[a, b]), Some(2));
    assert_eq!(matcher.known_accepting(), None);
    assert_eq!(matcher.accept_known(a), Some(true));
    assert!(matcher.known_mask().is_none());
    drop(finding);

    // Somebody asks about a whole text, and others find out what they like.
    let asking = generation.aside(&generation.fuel(), |_, _| {
        matcher.next_mask()?;
        matcher.shortest_close(None)
    });
    assert_eq!(asking, Ok(Some(vec![b])));
}
