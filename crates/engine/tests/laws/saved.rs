//! Matchers as bytes: what comes back, and what is refused.

use std::sync::Arc;

use proptest::prelude::*;
use syntagma_engine::{
    CompiledGrammar, GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts,
    bitmask_words,
};
use syntagma_grammar::ir::{ByteSet, Grammar, Regex};

const EOS: u32 = 256;

fn vocabulary(words: &[&str]) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    tokens.push(b"<eos>".to_vec());
    tokens.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    let parts = VocabularyParts {
        tokens,
        eos_ids: vec![EOS],
        ..VocabularyParts::default()
    };
    Arc::new(Vocabulary::new(&parts).unwrap())
}

/// Words of small letters with one blank between them.
fn words(longest: u32) -> Grammar {
    let letter = || Regex::Class(ByteSet::range(b'a', b'z'));
    let word = Regex::Repeat {
        inner: Arc::new(letter()),
        min: 1,
        max: Some(longest),
    };
    let more = Regex::Concat(vec![Regex::literal(b" "), word.clone()].into());
    let rest = Regex::Repeat {
        inner: Arc::new(more),
        min: 0,
        max: None,
    };
    Grammar::from_regex(Regex::Concat(vec![word, rest].into()))
}

fn compile(vocabulary: Arc<Vocabulary>, grammar: Grammar) -> Arc<CompiledGrammar> {
    let compiler = GrammarCompiler::new(vocabulary, Limits::default());
    compiler.compile(&Arc::new(grammar)).unwrap()
}

fn row(matcher: &GrammarMatcher) -> Vec<i32> {
    let mut row = vec![0; bitmask_words(matcher.compiled().vocabulary().size())];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    row
}

#[test]
fn a_matcher_comes_back_with_its_past() {
    let mut matcher = GrammarMatcher::new(compile(vocabulary(&["he", "llo"]), words(5)));
    for _ in 0..40 {
        assert!(matcher.accept_token(257).unwrap() && matcher.accept_token(258).unwrap());
        assert!(matcher.accept_bytes(b" w").unwrap() && matcher.accept_bytes(b"").unwrap());
        assert!(matcher.accept_token(u32::from(b' ')).unwrap());
    }
    let bytes = matcher.state_bytes().unwrap();
    // Another compilation, as in another process: other tables, with other numbers in them.
    let compiled = compile(vocabulary(&["he", "llo"]), words(5));
    let mut elsewhere = GrammarMatcher::new(Arc::clone(&compiled));
    elsewhere.accept_bytes(b"xyz xyz").unwrap();
    let mut back = GrammarMatcher::from_state_bytes(compiled, &bytes).unwrap();
    assert_eq!((back.steps(), row(&back)), (matcher.steps(), row(&matcher)));
    assert_eq!(back.state_bytes().unwrap(), bytes);
    for steps in [1, 3, 70, 126] {
        back.rollback(steps).unwrap();
        matcher.rollback(steps).unwrap();
        assert_eq!(row(&back), row(&matcher));
    }
    assert_eq!(back.steps(), 0);
}

#[test]
fn the_end_of_the_text_comes_back() {
    let mut matcher = GrammarMatcher::new(compile(vocabulary(&[]), words(5)));
    assert!(matcher.accept_bytes(b"a").unwrap() && matcher.accept_token(EOS).unwrap());
    let bytes = matcher.state_bytes().unwrap();
    let back = GrammarMatcher::from_state_bytes(Arc::clone(matcher.compiled()), &bytes).unwrap();
    assert!(back.is_terminated().unwrap());
}

#[test]
fn another_grammar_vocabulary_or_version_is_refused() {
    let mut matcher = GrammarMatcher::new(compile(vocabulary(&["he"]), words(5)));
    assert!(matcher.accept_token(257).unwrap());
    let mut bytes = matcher.state_bytes().unwrap();
    let code = |compiled, bytes: &[u8]| {
        GrammarMatcher::from_state_bytes(compiled, bytes)
            .unwrap_err()
            .code()
    };
    assert_eq!(
        code(compile(vocabulary(&["he"]), words(6)), &bytes),
        "E-STATE-GRAMMAR"
    );
    assert_eq!(
        code(compile(vocabulary(&["hi"]), words(5)), &bytes),
        "E-STATE-VOCABULARY"
    );
    bytes[4] = 77;
    assert_eq!(
        code(Arc::clone(matcher.compiled()), &bytes),
        "E-STATE-VERSION"
    );
}

#[test]
fn every_cut_and_every_changed_byte_is_refused() {
    let mut matcher = GrammarMatcher::new(compile(vocabulary(&["he"]), words(5)));
    assert!(matcher.accept_token(257).unwrap() && matcher.accept_bytes(b"y you").unwrap());
    let bytes = matcher.state_bytes().unwrap();
    let refused = |bytes: &[u8]| {
        let error =
            GrammarMatcher::from_state_bytes(Arc::clone(matcher.compiled()), bytes).unwrap_err();
        assert!(error.code().starts_with("E-STATE-"), "{error}");
    };
    for cut in 0..bytes.len() {
        refused(&bytes[..cut]);
    }
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            refused(&changed);
        }
    }
    refused(&[bytes.as_slice(), &[0]].concat());
}

proptest! {
    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let compiled = compile(vocabulary(&[]), words(5));
        for start in [&b""[..], b"SGMS", b"SGMS\x01"] {
            let bytes = [start, &bytes].concat();
            prop_assert!(GrammarMatcher::from_state_bytes(Arc::clone(&compiled), &bytes).is_err());
        }
    }
}
