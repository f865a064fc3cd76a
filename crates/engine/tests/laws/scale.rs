//! Grammars and texts that are long, deep or ambiguous: nothing may grow that need not, and nothing may recurse.
// Symbols of small grammars are called what they are in the grammar.
#![allow(clippy::many_single_char_names)]

use crate::vocabularies;

use std::sync::Arc;

use crate::reference::{ALPHABET, Builder, Tree, regexes, strings};
use proptest::prelude::*;
use syntagma_engine::{CompiledGrammar, GrammarMatcher, Limits};
use syntagma_grammar::ir::{ByteSet, Lnf, Regex, Report};

fn matcher(lnf: &Lnf) -> GrammarMatcher {
    matcher_within(lnf, &Limits::default())
}

fn matcher_within(lnf: &Lnf, limits: &Limits) -> GrammarMatcher {
    let vocabulary = vocabularies::of_tokens(vec![b"a".to_vec()]);
    let compiled =
        CompiledGrammar::from_lnf(lnf, Report::default(), vocabulary, limits, false).unwrap();
    GrammarMatcher::new(Arc::new(compiled))
}

fn recursion(rhs: impl Fn(&mut Builder) -> Vec<syntagma_grammar::ir::Symbol>) -> Lnf {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let a = b.text("a");
    let rhs = rhs(&mut b);
    b.rule(s, &rhs);
    b.rule(s, &[a]);
    b.finish()
}

#[test]
fn left_and_right_recursion_stay_flat() {
    use syntagma_grammar::ir::{NonterminalId, Symbol};
    let s = Symbol::Nonterminal(NonterminalId(0));
    for right in [false, true] {
        let lnf = recursion(|b| {
            let a = b.text("a");
            if right { vec![a, s] } else { vec![s, a] }
        });
        let mut m = matcher(&lnf);
        assert!(m.accept_bytes(&b"a".repeat(2_000)).unwrap());
        assert!(m.is_accepting().unwrap());
        let stats = m.compiled().stats();
        assert!(stats.sets <= 4 && stats.states <= 4, "{stats:?}");
    }
}

#[test]
fn nested_tail_calls_stay_flat() {
    // s ::= "a" t, t ::= u, u ::= "b" s | "c": a chain of last symbols through three rules.
    let mut b = Builder::default();
    let (s, t, u) = (b.nonterminal("s"), b.nonterminal("t"), b.nonterminal("u"));
    let (a, z, c) = (b.text("a"), b.text("b"), b.text("c"));
    b.rule(s, &[a, t]);
    b.rule(t, &[u]);
    b.rule(u, &[z, s]);
    b.rule(u, &[c]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(&b"ab".repeat(1_000)).unwrap());
    assert!(m.accept_bytes(b"ac").unwrap() && m.is_accepting().unwrap());
    assert!(m.compiled().stats().sets <= 6, "{:?}", m.compiled().stats());
}

#[test]
fn middle_recursion_needs_one_set_a_level() {
    use syntagma_grammar::ir::{NonterminalId, Symbol};
    let s = Symbol::Nonterminal(NonterminalId(0));
    let lnf = recursion(|b| {
        let (open, close) = (b.text("("), b.text(")"));
        vec![open, s, close]
    });
    let mut m = matcher(&lnf);
    for _ in 0..2 {
        m.reset();
        assert!(m.accept_bytes(&b"(".repeat(2_000)).unwrap());
        assert!(m.accept_bytes(b"a").unwrap());
        assert!(m.accept_bytes(&b")".repeat(2_000)).unwrap());
        assert!(m.is_accepting().unwrap() && !m.accept_bytes(b")").unwrap());
    }
    assert!(
        m.compiled().stats().sets <= 4_010,
        "{:?}",
        m.compiled().stats()
    );
}

#[test]
fn ambiguous_sums_finish() {
    let mut b = Builder::default();
    let e = b.nonterminal("e");
    let (plus, n) = (b.text("+"), b.text("n"));
    b.rule(e, &[e, plus, e]);
    b.rule(e, &[n]);
    let mut m = matcher(&b.finish());
    for _ in 0..200 {
        assert!(m.accept_bytes(b"n+").unwrap());
    }
    assert!(m.accept_bytes(b"n").unwrap() && m.is_accepting().unwrap());
}

#[test]
fn runs_of_blanks_before_and_behind_anything_stay_flat() {
    let ws = || Regex::repeat(Regex::Class(ByteSet::byte(b' ')), 0, None);
    let mut b = Builder::default();
    let (s, w, x) = (b.nonterminal("s"), b.nonterminal("w"), b.nonterminal("x"));
    let (blank, any) = (
        b.regex(ws()),
        b.regex(Regex::repeat(Regex::Class(ByteSet::FULL), 0, None)),
    );
    let end = b.text(";");
    b.rule(s, &[w, x, w, end]);
    for (nonterminal, symbol) in [(w, blank), (x, any)] {
        b.rule(nonterminal, &[symbol]);
        b.rule(nonterminal, &[]);
    }
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(&b"  x ".repeat(2_000)).unwrap());
    assert!(m.accept_bytes(b";").unwrap() && m.is_accepting().unwrap());
    assert!(
        m.compiled().stats().sets <= 16,
        "{:?}",
        m.compiled().stats()
    );
}

#[test]
fn long_literals_and_long_concatenations_work() {
    let mut limits = Limits::default();
    limits.step_fuel = 100_000_000;
    let literal = b"0123456789abcdef".repeat(1 << 16);
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(Regex::literal(&literal));
    b.rule(s, &[symbol]);
    let mut m = matcher_within(&b.finish(), &limits);
    assert!(m.accept_bytes(&literal[..50_000]).unwrap() && !m.accept_bytes(b"x").unwrap());
    assert_eq!(m.find_jump_forward_bytes().unwrap()[..16], literal[..16]);

    let parts: Vec<Regex> = (0..100_000_u32)
        .map(|index| match index % 3 {
            0 => Regex::Class(ByteSet::range(b'a', b'c')),
            1 => Regex::repeat(Regex::Class(ByteSet::byte(b'd')), 1, None),
            _ => Regex::literal(b"e"),
        })
        .collect();
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(Regex::concat(parts));
    b.rule(s, &[symbol]);
    let mut m = matcher_within(&b.finish(), &limits);
    assert!(m.accept_bytes(&b"adde".repeat(3_333)).unwrap());
    assert!(m.accept_bytes(b"b").unwrap() && !m.accept_bytes(b"e").unwrap());
}

#[test]
fn deep_nesting_does_not_recurse() {
    // The front ends bound depth; the automaton must not care. Leaves are made so that nothing simplifies away.
    let mut regex = Regex::literal(b"a");
    for depth in 0..20_000 {
        regex = match depth % 3 {
            0 => Regex::concat(vec![regex, Regex::repeat(Regex::literal(b"b"), 0, Some(1))]),
            1 => Regex::alt(vec![regex, Regex::literal(b"c")]),
            _ => Regex::Not(Arc::new(Regex::Not(Arc::new(regex)))),
        };
    }
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(regex);
    b.rule(s, &[symbol]);
    let lnf = b.finish();
    let mut limits = Limits::default();
    limits.step_fuel = 100_000_000;
    limits.compile_fuel = 100_000_000;
    let mut m = matcher_within(&lnf, &limits);
    assert!(m.accept_bytes(b"a").unwrap() && m.is_accepting().unwrap());
    // The tree itself is dropped by the grammar crate, whose front ends bound its depth.
    std::mem::forget(lnf);
}

#[test]
fn a_chain_of_optional_parts_runs_out_of_fuel_instead_of_time() {
    let parts: Vec<Regex> = (0..50_000_u32)
        .map(|index| Regex::repeat(Regex::literal(format!("{index} ").as_bytes()), 0, Some(1)))
        .collect();
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(Regex::concat(parts));
    b.rule(s, &[symbol]);
    let mut m = matcher(&b.finish());
    assert_eq!(
        m.accept_bytes(b"49999 ").unwrap_err().code(),
        "E-LIMIT-STEP"
    );
}

#[test]
fn large_sets_of_words_fit_the_default_fuel() {
    let words: Vec<Regex> = (0..50_000_u32)
        .map(|index| {
            Regex::literal(format!("{:x} word", index.wrapping_mul(2_654_435_761)).as_bytes())
        })
        .collect();
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (words, end) = (b.regex(Regex::alt(words)), b.text(";"));
    b.rule(s, &[words, end]);
    let mut m = matcher(&b.finish());
    assert_eq!(m.next_bytes().unwrap().len(), 16);
    assert!(
        m.accept_bytes(format!("{:x} word", 77_u32.wrapping_mul(2_654_435_761)).as_bytes())
            .unwrap()
    );
    assert!(
        !m.accept_bytes(b"x").unwrap()
            && m.accept_bytes(b";").unwrap()
            && m.is_accepting().unwrap()
    );
}

#[test]
fn counters_count_without_being_unrolled() {
    let letter = || Regex::Class(ByteSet::range(b'a', b'z'));
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (quote, body) = (
        b.text("\""),
        b.regex(Regex::repeat(letter(), 100, Some(1_000_000))),
    );
    b.rule(s, &[quote, body, quote]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(b"\"").unwrap() && m.accept_bytes(&b"x".repeat(99)).unwrap());
    assert!(!m.accept_bytes(b"\"").unwrap());
    assert!(m.accept_bytes(&b"x".repeat(901)).unwrap() && m.accept_bytes(b"\"").unwrap());
    assert!(m.is_accepting().unwrap());

    // An ambiguous counter: the counts of both readings stay one interval.
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let unit = Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"aa")]);
    let symbol = b.regex(Regex::repeat(unit, 0, Some(500)));
    b.rule(s, &[symbol]);
    let mut m = matcher(&b.finish());
    assert!(m.accept_bytes(&b"a".repeat(1_000)).unwrap() && !m.accept_bytes(b"a").unwrap());
    assert!(
        m.compiled().stats().residuals < 10_000,
        "{:?}",
        m.compiled().stats()
    );
}

/// `fillers` words that begin with a digit, and a letter before something of a language.
fn behind_fillers(fillers: u32, regex: &Regex) -> GrammarMatcher {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    for index in 0..fillers {
        let word = b.text(&format!("{index};"));
        b.rule(s, &[word]);
    }
    let (letter, symbol, end) = (b.text("l"), b.regex(regex.clone()), b.text("."));
    b.rule(s, &[letter, symbol, end]);
    if regex.is_nullable() {
        b.rule(s, &[letter, end]);
    }
    matcher(&b.finish())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn terminals_of_large_grammars_are_those_of_small_ones(regex in regexes()) {
        let (mut small, mut large) = (behind_fillers(1, &regex), behind_fillers(1_500, &regex));
        for text in strings(4) {
            small.reset();
            large.reset();
            let text = [b"l", &text[..]].concat();
            prop_assert_eq!(large.accept_bytes(&text).unwrap(), small.accept_bytes(&text).unwrap());
            if large.steps() > 0 {
                prop_assert_eq!(large.next_bytes().unwrap(), small.next_bytes().unwrap());
                prop_assert_eq!(large.shortest_close(None).unwrap(), small.shortest_close(None).unwrap());
            }
        }
        for word in ["0;", "1499;"] {
            large.reset();
            prop_assert!(large.accept_bytes(word.as_bytes()).unwrap() && large.is_accepting().unwrap());
        }
        if let Some(wordless) = regex.is_wordless() {
            prop_assert_eq!(wordless, !Tree::new(&regex).extends(&ALPHABET));
        }
    }
}
