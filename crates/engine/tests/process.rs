//! The bound on all compiled grammars of a process; alone in its process, since it concerns whatever else runs there.
#![allow(missing_docs)]

#[path = "laws/vocabularies/mod.rs"]
mod vocabularies;

use std::sync::Arc;

use syntagma_engine::{CompiledGrammar, GrammarCompiler, GrammarMatcher, Limits, bitmask_words};
use syntagma_grammar::ir::{Grammar, Regex};

/// Words of 18 letters behind an `a`, of which a text meets ever new residuals.
fn endless(first: u8) -> Arc<Grammar> {
    let letters = || Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"b")]);
    Arc::new(Grammar::from_regex(Regex::concat(vec![
        Regex::literal(&[first]),
        Regex::repeat(letters(), 0, None),
        Regex::literal(b"a"),
        Regex::repeat(letters(), 17, Some(17)),
    ])))
}

fn read(compiled: &Arc<CompiledGrammar>, first: u8, tokens: usize) -> GrammarMatcher {
    let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
    let mut row = vec![0; bitmask_words(compiled.vocabulary().size())];
    assert!(matcher.accept_token(u32::from(first)).unwrap());
    let mut noise = u64::from(first);
    for _ in 0..tokens {
        matcher.fill_next_token_bitmask(&mut row).unwrap();
        let allowed = (1 << (b'a' % 32)) | (1 << (b'b' % 32));
        assert_eq!(row[usize::from(b'a') / 32], allowed);
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        let byte = if noise >> 40 & 1 == 0 { b'a' } else { b'b' };
        assert!(matcher.accept_token(u32::from(byte)).unwrap());
    }
    matcher
}

#[test]
fn what_was_used_longest_ago_is_given_up_first() {
    const MOST: usize = 4 << 20;
    let mut limits = Limits::default();
    limits.process_cache_bytes = MOST;
    let vocabulary = vocabularies::of_tokens(vocabularies::bytes());
    // Two compilers: the bound is not one of a cache.
    let compilers = [(); 2].map(|()| GrammarCompiler::new(Arc::clone(&vocabulary), limits.clone()));
    let firsts = b"0123456789";
    let compiled: Vec<_> = (0..firsts.len())
        .map(|at| compilers[at % 2].compile(&endless(firsts[at])).unwrap())
        .collect();
    let all = |compiled: &[Arc<CompiledGrammar>]| -> usize {
        compiled.iter().map(|one| one.stats().bytes).sum()
    };
    let mut waiting = Vec::new();
    for (at, (one, &first)) in compiled.iter().zip(firsts).enumerate() {
        let matcher = read(one, first, 1_500);
        // What a matcher stands in lives as long as it does.
        if at < 2 {
            waiting.push(matcher);
        }
        assert!(all(&compiled) < 2 * MOST);
    }
    let (oldest, newest) = (compiled[0].stats(), compiled[9].stats());
    assert_eq!(oldest.masks, 0);
    assert!(newest.masks > 0);
    // A matcher goes on wherever its grammar has been given up.
    for (matcher, &first) in waiting.iter_mut().zip(firsts) {
        let mut judge = matcher.fork();
        assert!(judge.accept_bytes(b"abbbbbbbbbbbbbbbbb").unwrap());
        assert!(matcher.accept_bytes(b"abbbbbbbbbbbbbbbbb").unwrap());
        assert!(judge.is_accepting().unwrap() && matcher.is_accepting().unwrap());
        matcher.rollback(1_502).unwrap();
        assert!(matcher.accept_token(u32::from(first)).unwrap());
    }
    assert!(compiled[0].stats().generation > 0);
    assert_eq!(compilers[0].stats().entries, 5);
}
