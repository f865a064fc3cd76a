//! The compiler and its cache.

use crate::vocabularies;

use std::sync::Arc;

use syntagma_engine::{CompilerStats, GrammarCompiler, GrammarMatcher, Limits};
use syntagma_grammar::Grammar;
use syntagma_grammar::ir::{ByteSet, Expr, GrammarBuilder, Regex, Report};

fn compiler(limits: Limits) -> GrammarCompiler {
    GrammarCompiler::new(vocabularies::of_tokens(vocabularies::bytes()), limits)
}

fn literal(text: &str) -> Arc<Grammar> {
    Arc::new(Grammar::from_regex(Regex::literal(text.as_bytes())))
}

#[test]
fn equal_grammars_are_compiled_once() {
    let compiler = compiler(Limits::default());
    let first = compiler.compile(&literal("abc")).unwrap();
    assert!(Arc::ptr_eq(
        &first,
        &compiler.compile(&literal("abc")).unwrap()
    ));
    assert!(!Arc::ptr_eq(
        &first,
        &compiler.compile(&literal("abd")).unwrap()
    ));
    let stats = compiler.stats();
    assert_eq!((stats.hits, stats.misses, stats.entries), (1, 2, 2));
    assert!(stats.bytes > 0);
    compiler.clear();
    assert_eq!(compiler.stats().entries, 0);
    assert!(!Arc::ptr_eq(
        &first,
        &compiler.compile(&literal("abc")).unwrap()
    ));
}

#[test]
fn reports_are_kept_apart_and_handed_on() {
    let compiler = compiler(Limits::default());
    let widened = |reason: &str| {
        let mut b = GrammarBuilder::new();
        let start = b.rule("start");
        let body = b.literal(b"x");
        b.define(start, body);
        Arc::new(b.finish(
            start,
            Report {
                pointers: vec![("/a".into(), reason.into())],
            },
        ))
    };
    let one = compiler.compile(&widened("one")).unwrap();
    let two = compiler.compile(&widened("two")).unwrap();
    assert_eq!(one.report().pointers[0].1, "one");
    assert_eq!(two.report().pointers[0].1, "two");
}

#[test]
fn embedding_one_grammar_many_times_over_costs_one() {
    // Each level holds the one below twice: 2^40 copies if anything unfolds them.
    let mut grammar = literal("x");
    for _ in 0..40 {
        grammar = Arc::new(Grammar::union(&[Arc::clone(&grammar), grammar]));
    }
    let compiled = compiler(Limits::default()).compile(&grammar).unwrap();
    let mut matcher = GrammarMatcher::new(compiled);
    assert!(matcher.accept_bytes(b"x").unwrap() && matcher.is_accepting().unwrap());
}

#[test]
fn the_cache_keeps_to_its_bounds_and_drops_the_unused_first() {
    let mut limits = Limits::default();
    limits.cache_entries = 2;
    let compiler = compiler(limits);
    let grammars: Vec<_> = ["a", "b", "c"].map(literal).into();
    for grammar in &grammars[..2] {
        compiler.compile(grammar).unwrap();
    }
    compiler.compile(&grammars[0]).unwrap();
    compiler.compile(&grammars[2]).unwrap();
    assert_eq!(compiler.stats().entries, 2);
    let before = compiler.stats().hits;
    compiler.compile(&grammars[0]).unwrap();
    assert_eq!(compiler.stats().hits, before + 1);
    compiler.compile(&grammars[1]).unwrap();
    assert_eq!(compiler.stats().hits, before + 1);

    let mut limits = Limits::default();
    limits.cache_bytes = 1;
    let small = self::compiler(limits);
    for grammar in &grammars {
        small.compile(grammar).unwrap();
    }
    assert_eq!(small.stats().entries, 1);
}

#[test]
fn without_a_cache_every_compilation_is_new() {
    let compiler = compiler(Limits::default()).with_cache(false);
    let grammar = literal("abc");
    assert!(!Arc::ptr_eq(
        &compiler.compile(&grammar).unwrap(),
        &compiler.compile(&grammar).unwrap()
    ));
    assert_eq!(compiler.stats(), CompilerStats::default());
}

#[test]
fn threads_that_ask_at_once_share_one_compilation() {
    let compiler = compiler(Limits::default());
    let grammar = Arc::new(Grammar::from_regex(Regex::alt(
        (0..2_000)
            .map(|index| Regex::literal(format!("word {index}").as_bytes()))
            .collect(),
    )));
    let all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| compiler.compile(&grammar).unwrap()))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    assert!(all.iter().all(|compiled| Arc::ptr_eq(compiled, &all[0])));
    assert_eq!((compiler.stats().misses, compiler.stats().hits), (1, 7));
}

#[test]
fn errors_are_not_remembered_and_keep_their_source() {
    let compiler = compiler(Limits::default());
    let nothing = Arc::new(Grammar::from_regex(Regex::Nothing));
    for _ in 0..2 {
        assert_eq!(
            compiler.compile(&nothing).unwrap_err().code(),
            "E-GRAMMAR-EMPTY"
        );
    }
    assert_eq!((compiler.stats().misses, compiler.stats().entries), (2, 0));
}

#[test]
fn a_list_with_separators_and_a_marker() {
    let mut b = GrammarBuilder::new();
    let (start, item) = (b.rule("start"), b.rule("item"));
    let digits = b.regex(Regex::repeat(
        Regex::Class(ByteSet::range(b'0', b'9')),
        1,
        None,
    ));
    b.define(item, digits);
    let inner = b.reference(item);
    let separator = Some(b.literal(b", "));
    let list = b.add(Expr::Repeat {
        inner,
        min: 2,
        max: Some(3),
        separator,
    });
    let end = b.add(Expr::Marker("<end>".into()));
    let body = b.seq(vec![list, end]);
    b.define(start, body);
    let compiled = compiler(Limits::default())
        .with_verify(true)
        .compile(&Arc::new(b.finish(start, Report::default())));
    let matcher = GrammarMatcher::new(compiled.unwrap());
    for (text, accepted) in [
        ("1<end>", None),
        ("1, 2<end>", Some(true)),
        ("12, 34, 5<end>", Some(true)),
        ("1, 2, 3, ", None),
        ("1, 2<e", Some(false)),
    ] {
        let mut matcher = matcher.fork();
        assert_eq!(
            matcher.accept_bytes(text.as_bytes()).unwrap(),
            accepted.is_some(),
            "{text}"
        );
        if let Some(accepted) = accepted {
            assert_eq!(matcher.is_accepting().unwrap(), accepted, "{text}");
        }
    }
}
