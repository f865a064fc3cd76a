//! Giving up what was found out changes no answer, and keeps memory within bounds.
#![allow(clippy::many_single_char_names)]

use crate::vocabularies;

use std::sync::Arc;

use crate::reference::{Builder, grammars, strings};
use proptest::prelude::*;
use syntagma_engine::{CompiledGrammar, GrammarMatcher, Limits, Vocabulary, bitmask_words};
use syntagma_grammar::ir::{Lnf, Regex, Report, SymbolTable};

/// Strings of up to two of three letters, longer ones, and an end of the turn.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens = strings(2);
    tokens.extend(["abab", "aab", "zz", "bbb"].map(|text| text.as_bytes().to_vec()));
    vocabularies::with_end(tokens, b"")
}

/// Nothing is kept that can be given up.
fn tiny() -> Limits {
    let mut limits = Limits::default();
    limits.grammar_cache_bytes = 1;
    limits
}

fn matcher(lnf: &Lnf, vocabulary: &Arc<Vocabulary>, limits: &Limits) -> GrammarMatcher {
    let compiled =
        CompiledGrammar::from_lnf(lnf, Report::default(), Arc::clone(vocabulary), limits, true);
    GrammarMatcher::new(Arc::new(compiled.unwrap()))
}

fn row(matcher: &GrammarMatcher) -> Vec<i32> {
    let mut row = vec![-1; bitmask_words(matcher.compiled().vocabulary().size())];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    row
}

fn allowed(row: &[i32]) -> Vec<u32> {
    let bits = 0..row.len() as u32 * 32;
    bits.filter(|&id| row[id as usize / 32] >> (id % 32) & 1 == 1)
        .collect()
}

/// `(a^n b^n | words of two letters with a count)*`: sets, residuals and counts without end.
fn endless() -> Lnf {
    let mut b = Builder::default();
    let (s, one) = (b.nonterminal("s"), b.nonterminal("one"));
    let (open, close, comma) = (b.text("a"), b.text("b"), b.text("z"));
    let letters = Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"b")]);
    let counted = b.regex(Regex::concat(vec![
        Regex::literal(b"zz"),
        Regex::repeat(letters.clone(), 3, Some(400)),
        Regex::literal(b"z"),
    ]));
    // The letter that stands eight places before the end: an automaton of 2⁸ states.
    let before = b.regex(Regex::concat(vec![
        Regex::literal(b"az"),
        Regex::repeat(letters.clone(), 0, None),
        Regex::literal(b"a"),
        Regex::repeat(letters, 7, Some(7)),
        Regex::literal(b"z"),
    ]));
    b.rule(s, &[one]);
    b.rule(s, &[s, comma, one]);
    b.rule(one, &[open, one, close]);
    b.rule(one, &[close]);
    b.rule(one, &[counted]);
    b.rule(one, &[before]);
    b.finish()
}

/// Follows both, the second one with side steps; they are never told apart.
fn follow(plain: &mut GrammarMatcher, other: &mut GrammarMatcher, choices: &[u16]) {
    let mut forks: Vec<(GrammarMatcher, GrammarMatcher)> = Vec::new();
    for &choice in choices {
        let expected = row(plain);
        assert_eq!(row(other), expected);
        assert_eq!(other.is_accepting().unwrap(), plain.is_accepting().unwrap());
        let ids = allowed(&expected);
        match choice % 16 {
            // Far back: to places of generations that are given up.
            0 if plain.steps() > 0 => {
                let steps = usize::from(choice / 16) % (plain.steps() + 1);
                plain.rollback(steps).unwrap();
                other.rollback(steps).unwrap();
            }
            1 => forks.push((plain.fork(), other.fork())),
            2 if !forks.is_empty() => {
                let at = usize::from(choice / 16) % forks.len();
                let (one, two) = forks.swap_remove(at);
                (*plain, *other) = (one, two);
            }
            _ if plain.is_terminated().unwrap() || ids.is_empty() => {
                plain.reset();
                other.reset();
            }
            _ => {
                let id = ids[usize::from(choice / 16) % ids.len()];
                assert!(plain.accept_token(id).unwrap());
                assert!(other.accept_token(id).unwrap());
            }
        }
    }
    for (mut one, mut two) in forks {
        assert_eq!(row(&one), row(&two));
        assert_eq!(one.state_bytes().unwrap(), two.state_bytes().unwrap());
        one.rollback(one.steps() / 2).unwrap();
        two.rollback(two.steps() / 2).unwrap();
        assert_eq!(row(&one), row(&two));
        assert_eq!(one.shortest_close(None), two.shortest_close(None));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bit_changes_when_everything_is_given_up(
        lnf in grammars(Vec::new(), SymbolTable::default()),
        choices in prop::collection::vec(any::<u16>(), 60),
    ) {
        if let Some(lnf) = lnf {
            let vocabulary = vocabulary();
            let mut plain = matcher(&lnf, &vocabulary, &Limits::default());
            let mut other = matcher(&lnf, &vocabulary, &tiny());
            follow(&mut plain, &mut other, &choices);
        }
    }

    #[test]
    fn nor_where_there_is_no_end_of_new_sets(
        choices in prop::collection::vec(any::<u16>(), 600),
    ) {
        let (lnf, vocabulary) = (endless(), vocabulary());
        let mut plain = matcher(&lnf, &vocabulary, &Limits::default());
        let mut other = matcher(&lnf, &vocabulary, &tiny());
        follow(&mut plain, &mut other, &choices);
        prop_assert!(other.compiled().stats().generation > 0);
        prop_assert_eq!(plain.compiled().stats().generation, 0);
    }
}

#[test]
fn a_grammar_of_ever_new_residuals_goes_on_for_ever() {
    // Which letter stands 18 places before: 2¹⁸ residuals, each of which a long text meets.
    let letters = || Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"b")]);
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let before = b.regex(Regex::concat(vec![
        Regex::repeat(letters(), 0, None),
        Regex::literal(b"a"),
        Regex::repeat(letters(), 17, Some(17)),
        Regex::literal(b"z"),
    ]));
    b.rule(s, &[before]);
    let (lnf, vocabulary) = (b.finish(), vocabulary());
    let mut limits = Limits::default();
    limits.grammar_cache_bytes = 2 << 20;
    let compiled =
        CompiledGrammar::from_lnf(&lnf, Report::default(), vocabulary, &limits, false).unwrap();
    let compiled = Arc::new(compiled);
    let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
    let mut noise = 1_u64;
    for _ in 0..60 {
        let mut text = Vec::new();
        for _ in 0..1_000 {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            text.push(if noise >> 40 & 1 == 0 { b'a' } else { b'b' });
        }
        assert!(matcher.accept_bytes(&text).unwrap());
        assert!(compiled.stats().bytes < 8 << 20);
    }
    assert!(compiled.stats().generation > 2);
    assert!(matcher.accept_bytes(b"aabababababababababz").unwrap());
    assert!(matcher.is_accepting().unwrap());
    matcher.rollback(30).unwrap();
    assert_eq!(matcher.steps(), 31);
    assert!(matcher.accept_bytes(b"aabababababababababz").unwrap());
}

#[test]
fn what_is_deep_is_kept_and_the_rest_is_not() {
    let mut b = Builder::default();
    let (s, one) = (b.nonterminal("s"), b.nonterminal("one"));
    let (open, close) = (b.text("a"), b.text("b"));
    b.rule(s, &[one]);
    b.rule(s, &[s, one]);
    b.rule(one, &[open, one, close]);
    b.rule(one, &[open, close]);
    let (lnf, vocabulary) = (b.finish(), vocabulary());
    let compiled =
        CompiledGrammar::from_lnf(&lnf, Report::default(), vocabulary, &tiny(), false).unwrap();
    let compiled = Arc::new(compiled);
    let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
    let sizes = [3_000, 10, 2_000, 40, 1, 5_000, 7];
    let mut most = 0;
    for size in sizes.into_iter().cycle().take(70) {
        for byte in [b'a', b'b'] {
            for _ in 0..size {
                assert!(matcher.accept_bytes(&[byte]).unwrap());
            }
        }
        assert!(matcher.is_accepting().unwrap());
        assert!(!matcher.accept_bytes(b"b").unwrap());
        most = most.max(compiled.stats().sets);
    }
    assert!(compiled.stats().generation > 20);
    // Five thousand deep, twice as many sets up and down, and twice as many again before they are given up.
    assert!(most < 30_000, "{most} sets");
}

#[test]
fn threads_may_be_in_different_generations() {
    let (lnf, vocabulary) = (endless(), vocabulary());
    let compiled =
        CompiledGrammar::from_lnf(&lnf, Report::default(), vocabulary, &tiny(), true).unwrap();
    let compiled = Arc::new(compiled);
    let one = |seed: u64| -> Vec<Vec<i32>> {
        let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
        let mut noise = seed;
        let mut rows = Vec::new();
        for step in 0..200 {
            rows.push(row(&matcher));
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            let ids = allowed(&rows[step]);
            if ids.is_empty() || matcher.is_terminated().unwrap() {
                matcher.reset();
                continue;
            }
            let id = ids[(noise >> 40) as usize % ids.len()];
            assert!(matcher.accept_token(id).unwrap());
        }
        rows
    };
    let alone: Vec<_> = (0..4).map(one).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|seed| scope.spawn(move || one(seed))).collect();
        let rows = threads.into_iter().map(|thread| thread.join().unwrap());
        rows.collect()
    });
    assert_eq!(alone, together);
    assert!(compiled.stats().generation > 0);
}
