//! The recogniser against the reference: every short string, over random grammars.
// Symbols of small grammars are called what they are in the grammar.
#![allow(clippy::many_single_char_names)]

use std::sync::Arc;

use crate::reference::{ALPHABET, Builder, Reference, grammars, strings};
use proptest::prelude::*;
use syntagma_engine::{CompiledGrammar, GrammarMatcher, Limits, Vocabulary, VocabularyParts};
use syntagma_grammar::ir::{ByteSet, Lnf, Regex, Report, SymbolTable};

fn compile(lnf: &Lnf) -> Arc<CompiledGrammar> {
    let parts = VocabularyParts {
        tokens: vec![b"</s>".to_vec()],
        eos_ids: vec![0],
        ..VocabularyParts::default()
    };
    let vocabulary = Arc::new(Vocabulary::new(&parts).unwrap());
    Arc::new(
        CompiledGrammar::from_lnf(
            lnf,
            Report::default(),
            vocabulary,
            &Limits::default(),
            false,
        )
        .unwrap(),
    )
}

/// Every string up to a length: accepted or not, viable or not, and what may come next.
fn compare(lnf: &Lnf, longest: usize) {
    let compiled = compile(lnf);
    let mut reference = Reference::new(lnf, &[]);
    let start = GrammarMatcher::new(compiled);
    for text in strings(longest) {
        let (accepted, viable) = reference.judge_bytes(&text);
        let mut matcher = start.fork();
        let shown = String::from_utf8_lossy(&text);
        assert_eq!(
            matcher.accept_bytes(&text).unwrap(),
            viable,
            "viable {shown:?}\n{}",
            lnf.dump()
        );
        if !viable {
            assert_eq!(matcher.steps(), 0);
            continue;
        }
        assert_eq!(
            matcher.is_accepting().unwrap(),
            accepted,
            "accepted {shown:?}\n{}",
            lnf.dump()
        );
        let next = matcher.next_bytes().unwrap();
        for byte in ALPHABET {
            let mut longer = text.clone();
            longer.push(byte);
            let (_, expected) = reference.judge_bytes(&longer);
            assert_eq!(
                next.contains(byte),
                expected,
                "{byte} behind {shown:?}\n{}",
                lnf.dump()
            );
        }
        assert!(
            accepted || !next.is_empty(),
            "a dead end at {shown:?}\n{}",
            lnf.dump()
        );
        let mut byte_by_byte = start.fork();
        for &byte in &text {
            assert!(byte_by_byte.accept_bytes(&[byte]).unwrap());
        }
        assert_eq!(byte_by_byte.next_bytes().unwrap(), next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_grammars_agree_with_the_reference(lnf in grammars(Vec::new(), SymbolTable::default())) {
        if let Some(lnf) = lnf {
            compare(&lnf, 4);
        }
    }
}

#[test]
fn left_right_and_middle_recursion() {
    for middle in [false, true] {
        for order in 0..2 {
            let mut b = Builder::default();
            let list = b.nonterminal("list");
            let (a, z) = (b.text("a"), b.text("b"));
            match (middle, order) {
                (true, _) => b.rule(list, &[a, list, z]),
                (false, 0) => b.rule(list, &[list, a]),
                (false, _) => b.rule(list, &[a, list]),
            }
            b.rule(list, &[a]);
            compare(&b.finish(), 5);
        }
    }
}

#[test]
fn hidden_left_recursion_and_cycles() {
    let mut b = Builder::default();
    let (s, n) = (b.nonterminal("s"), b.nonterminal("n"));
    let (a, z) = (b.text("a"), b.text("b"));
    b.rule(s, &[n, s, a]);
    b.rule(s, &[s]);
    b.rule(s, &[s, s]);
    b.rule(s, &[z]);
    b.rule(n, &[]);
    b.rule(n, &[s, n]);
    compare(&b.finish(), 5);
}

#[test]
fn a_nullable_front_is_not_a_tail_call() {
    let mut b = Builder::default();
    let (s, n, t) = (b.nonterminal("s"), b.nonterminal("n"), b.nonterminal("t"));
    let (a, z) = (b.text("a"), b.text("b"));
    b.rule(s, &[n, t, n]);
    b.rule(n, &[]);
    b.rule(n, &[a]);
    b.rule(t, &[z, t]);
    b.rule(t, &[n]);
    compare(&b.finish(), 5);
}

#[test]
fn an_endless_rule_stays_viable_and_never_accepts() {
    let mut b = Builder::default();
    let (s, endless, stuck) = (
        b.nonterminal("s"),
        b.nonterminal("endless"),
        b.nonterminal("stuck"),
    );
    let (a, z) = (b.text("a"), b.text("b"));
    b.rule(s, &[z]);
    b.rule(s, &[endless]);
    b.rule(s, &[a, stuck]);
    b.rule(endless, &[a, endless]);
    b.rule(stuck, &[stuck, z]);
    let mut matcher = GrammarMatcher::new(compile(&b.finish()));
    assert!(matcher.accept_bytes(b"aaaaaaaa").unwrap());
    assert!(!matcher.is_accepting().unwrap());
    // The rule that is stuck offers nothing, so `b` does not follow here.
    assert_eq!(matcher.next_bytes().unwrap(), ByteSet::byte(b'a'));
    assert_eq!(matcher.shortest_close(None).unwrap(), None);
}

#[test]
fn a_grammar_of_dead_ends_is_refused() {
    let nothing = [
        Regex::Nothing,
        Regex::empty(),
        Regex::And(
            [
                Regex::literal(b"a"),
                Regex::Not(Arc::new(Regex::literal(b"a"))),
            ]
            .into(),
        ),
    ];
    for regex in nothing {
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let terminal = b.regex(regex);
        b.rule(s, &[terminal]);
        let vocabulary = Arc::new(Vocabulary::new(&VocabularyParts::default()).unwrap());
        let error = CompiledGrammar::from_lnf(
            &b.finish(),
            Report::default(),
            vocabulary,
            &Limits::default(),
            false,
        )
        .unwrap_err();
        assert_eq!(error.code(), "E-GRAMMAR-EMPTY");
    }
}

#[test]
fn only_exact_emptiness_keeps_dead_prefixes_out() {
    // Strings of `a` whose length is a multiple of two and of three, but not of six, and `b`.
    let times = |count| Regex::repeat(Regex::literal(&b"aaaaaa"[..count]), 1, None);
    let impossible = Regex::And([times(2), times(3), Regex::Not(Arc::new(times(6)))].into());
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let terminal = b.regex(Regex::alt(vec![impossible, Regex::literal(b"b")]));
    b.rule(s, &[terminal]);
    let matcher = GrammarMatcher::new(compile(&b.finish()));
    assert_eq!(matcher.next_bytes().unwrap(), ByteSet::byte(b'b'));
}
