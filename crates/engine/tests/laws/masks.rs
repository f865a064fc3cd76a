//! Masks, bit by bit, over small vocabularies that are as awkward as possible.
// Symbols of small grammars are called what they are in the grammar.
#![allow(clippy::many_single_char_names)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::reference::{Builder, Letter, Reference, grammars, strings};
use proptest::prelude::*;
use syntagma_engine::{
    CompiledGrammar, GrammarMatcher, Layer, Layers, Limits, Vocabulary, VocabularyParts,
    bitmask_words, fill_next_token_bitmask_batch,
};
use syntagma_grammar::ir::{Lnf, Regex, Report, Symbol, SymbolTable, TokenSet};

/// Texts of the special, added and end-of-turn tokens of [`vocabulary`], with their ids.
struct Ids {
    eos: [u32; 2],
    special: u32,
    added: u32,
    count: u32,
}

/// Every string of up to two letters, long ones, duplicates, parts of characters, an empty one, a special token that
/// looks like text, an added one that is text too, and padding.
fn vocabulary() -> (Arc<Vocabulary>, Ids) {
    let mut tokens = strings(2);
    tokens.extend(
        [
            "aaaa", "abab", "abba", "bbbb", "aab", "zzzza", "ab", "a", "a",
        ]
        .map(|text| text.as_bytes().to_vec()),
    );
    tokens.extend([b"\xc3".to_vec(), b"\xa9".to_vec(), b"a\xc3".to_vec()]);
    let special = tokens.len() as u32;
    tokens.push(b"ab".to_vec());
    let added = tokens.len() as u32;
    tokens.push(b"ba".to_vec());
    let eos = [added + 1, added + 2];
    tokens.extend([b"b".to_vec(), Vec::new()]);
    let count = tokens.len() as u32;
    let parts = VocabularyParts {
        tokens,
        special_ids: vec![special],
        marker_ids: vec![added],
        eos_ids: eos.to_vec(),
        vocab_size: Some(count as usize + 40),
    };
    (
        Arc::new(Vocabulary::new(&parts).unwrap()),
        Ids {
            eos,
            special,
            added,
            count,
        },
    )
}

fn row(matcher: &GrammarMatcher) -> Vec<i32> {
    let mut row = vec![-1; bitmask_words(matcher.compiled().vocabulary().size())];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    row
}

fn bit(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}

fn compile(lnf: &Lnf, vocabulary: &Arc<Vocabulary>, limits: &Limits) -> Arc<CompiledGrammar> {
    Arc::new(
        CompiledGrammar::from_lnf(lnf, Report::default(), Arc::clone(vocabulary), limits, true)
            .unwrap(),
    )
}

/// Symbols for random grammars: a marker that is a token, one that is text, tokens by text and by range.
fn extra() -> (Vec<Symbol>, SymbolTable) {
    let (_, ids) = vocabulary();
    let symbols = SymbolTable {
        markers: vec!["ab".into(), "bb".into(), "ba".into()],
        tokens: vec![
            TokenSet::Text("ba".into()),
            TokenSet::Ids([(1, 2), (ids.special, ids.special), (ids.eos[0], ids.eos[0])].into()),
        ],
        ..SymbolTable::default()
    };
    let markers = (0..3).map(Symbol::Marker);
    (markers.chain((0..2).map(Symbol::Token)).collect(), symbols)
}

/// Follows random tokens and checks every bit at every place.
fn check(lnf: &Lnf, choices: &[u8]) {
    let (vocabulary, ids) = vocabulary();
    let compiled = compile(lnf, &vocabulary, &Limits::default());
    let markers = [("ab", ids.special), ("ba", ids.added), ("b", ids.eos[0])];
    let mut reference = Reference::new(lnf, &markers);
    let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
    // Every way in which the tokens so far may be read.
    let mut readings: Vec<Vec<Letter>> = vec![Vec::new()];
    for &choice in choices {
        let row = row(&matcher);
        let accepting = matcher.is_accepting().unwrap();
        assert_eq!(
            accepting,
            readings.iter().any(|reading| reference.judge(reading).0)
        );
        let mut allowed = Vec::new();
        for id in 0..vocabulary.size() as u32 {
            let mut next = Vec::new();
            for reading in &readings {
                next.push([reading.clone(), vec![Letter::Token(id)]].concat());
                let text = vocabulary.token(id);
                if !text.is_empty() && !vocabulary.is_special(id) {
                    let text = text.iter().map(|&byte| Letter::Byte(byte));
                    next.push(reading.iter().copied().chain(text).collect());
                }
            }
            next.retain(|reading| reference.judge(reading).1);
            let ends = accepting && ids.eos.contains(&id);
            let expected = ends || !next.is_empty();
            let shown = || format!("token {id} behind {readings:?}\n{}", lnf.dump());
            assert_eq!(bit(&row, id), expected, "mask: {}", shown());
            let mut fork = matcher.fork();
            assert_eq!(
                fork.accept_token(id).unwrap(),
                expected,
                "accept: {}",
                shown()
            );
            assert_eq!(
                matcher.accepts(id).unwrap(),
                expected,
                "accepts: {}",
                shown()
            );
            assert_eq!(
                matcher.validate_tokens(&[id]).unwrap(),
                usize::from(expected)
            );
            if ends {
                assert!(fork.is_terminated().unwrap());
            } else if expected {
                allowed.push((id, next));
            }
        }
        assert_eq!(
            matcher.accepts(ids.count).ok(),
            Some(false),
            "padding is never allowed"
        );
        let mut close = matcher.fork();
        if let Some(tokens) = matcher.shortest_close(None).unwrap() {
            for token in tokens {
                assert!(
                    close.accept_token(token).unwrap(),
                    "closing: {token} {}",
                    lnf.dump()
                );
            }
            assert!(close.is_accepting().unwrap());
        } else {
            panic!("no way to an end\n{}", lnf.dump());
        }
        if allowed.is_empty() {
            assert!(accepting, "a dead end\n{}", lnf.dump());
            break;
        }
        let (id, next) = allowed.swap_remove(usize::from(choice) % allowed.len());
        assert!(matcher.accept_token(id).unwrap());
        if matcher.is_terminated().unwrap() {
            break;
        }
        readings = next;
    }
    rewind(&matcher);
}

/// Going back and forth leads to the same masks as going straight.
fn rewind(matcher: &GrammarMatcher) {
    let straight = |steps: usize| {
        let mut copy = matcher.fork();
        copy.rollback(matcher.steps() - steps).unwrap();
        row(&copy)
    };
    let masks: Vec<_> = (0..=matcher.steps()).map(straight).collect();
    let mut back = matcher.fork();
    for steps in (0..=matcher.steps()).rev() {
        assert_eq!(row(&back), masks[steps]);
        if steps > 0 {
            back.rollback(1).unwrap();
        }
    }
    let mut reset = matcher.fork();
    reset.reset();
    assert_eq!(row(&reset), masks[0]);
    assert_eq!(reset.rollback(1).unwrap_err().code(), "E-MATCHER-ROLLBACK");
}

/// All layers first; then none, each alone, and all but one or two.
fn combinations() -> Vec<Layers> {
    let mut all = vec![Layers::default(), Layers::NONE];
    for (at, &one) in Layer::ALL.iter().enumerate() {
        all.push(Layers::NONE.with(one));
        let without = Layers::default().without(one);
        all.extend(Layer::ALL[at..].iter().map(|&other| without.without(other)));
    }
    all
}

/// All take the same one of the tokens that a mask allows; whether there was one, and more may come.
fn step(matchers: &mut [GrammarMatcher], row: &[i32], choice: u8) -> bool {
    let size = matchers[0].compiled().vocabulary().size() as u32;
    let allowed: Vec<u32> = (0..size).filter(|&id| bit(row, id)).collect();
    if allowed.is_empty() {
        return false;
    }
    for matcher in &mut *matchers {
        let token = allowed[usize::from(choice) % allowed.len()];
        assert!(matcher.accept_token(token).unwrap());
    }
    !matchers[0].is_terminated().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_bit_over_text(
        lnf in grammars(Vec::new(), SymbolTable::default()),
        choices in prop::collection::vec(any::<u8>(), 4),
    ) {
        if let Some(lnf) = lnf {
            check(&lnf, &choices);
        }
    }

    #[test]
    fn every_bit_with_tokens_and_markers(
        lnf in grammars(extra().0, extra().1),
        choices in prop::collection::vec(any::<u8>(), 3),
    ) {
        if let Some(lnf) = lnf {
            check(&lnf, &choices);
        }
    }

    #[test]
    fn no_layers_change_a_bit(
        lnf in grammars(extra().0, extra().1),
        choices in prop::collection::vec(any::<u8>(), 5),
    ) {
        if let Some(lnf) = lnf {
            let (vocabulary, _) = vocabulary();
            let limits = Limits::default();
            let combinations = combinations();
            let mut matchers: Vec<_> = combinations
                .iter()
                .map(|&layers| {
                    let vocabulary = Arc::clone(&vocabulary);
                    let compiled =
                        CompiledGrammar::from_lnf_with(layers, &lnf, Report::default(), vocabulary, &limits);
                    GrammarMatcher::new(Arc::new(compiled.unwrap()))
                })
                .collect();
            for choice in choices {
                let rows: Vec<_> = matchers.iter().map(row).collect();
                for (row, layers) in rows.iter().zip(&combinations) {
                    prop_assert_eq!(row, &rows[0], "{:?}\n{}", layers, lnf.dump());
                }
                if !step(&mut matchers, &rows[0], choice) {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_tiny_cache_changes_nothing(
        lnf in grammars(Vec::new(), SymbolTable::default()),
        choices in prop::collection::vec(any::<u8>(), 6),
    ) {
        if let Some(lnf) = lnf {
            let (vocabulary, _) = vocabulary();
            let mut tiny = Limits::default();
            tiny.grammar_cache_bytes = 1;
            let mut matchers =
                [Limits::default(), tiny].map(|limits| GrammarMatcher::new(compile(&lnf, &vocabulary, &limits)));
            for choice in choices {
                let rows: Vec<_> = matchers.iter().map(row).collect();
                prop_assert_eq!(&rows[0], &rows[1]);
                prop_assert_eq!(matchers[1].compiled().stats().masks, 0);
                if !step(&mut matchers, &rows[0], choice) {
                    break;
                }
            }
        }
    }
}

#[test]
fn threads_see_what_one_thread_sees() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (a, z) = (
        b.text("a"),
        b.regex(Regex::repeat(Regex::literal(b"b"), 1, Some(3))),
    );
    b.rule(s, &[a, s, z]);
    b.rule(s, &[s, s]);
    b.rule(s, &[z]);
    let lnf = b.finish();
    let (vocabulary, _) = vocabulary();
    let alone = compile(&lnf, &vocabulary, &Limits::default());
    let shared = compile(&lnf, &vocabulary, &Limits::default());
    let width = bitmask_words(vocabulary.size());
    let matchers = |compiled: &Arc<CompiledGrammar>| -> Vec<GrammarMatcher> {
        (0..24)
            .map(|index| {
                let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
                assert!(
                    matcher
                        .accept_bytes(&b"aaaaaaaaaaaabbbbbbbbbbbb"[12 - index / 2..12 + index / 3])
                        .unwrap()
                );
                matcher
            })
            .collect()
    };
    let expected: Vec<i32> = matchers(&alone).iter().flat_map(row).collect();
    let together = matchers(&shared);
    let references: Vec<&GrammarMatcher> = together.iter().collect();
    let mut bitmask = vec![0; width * 24];
    fill_next_token_bitmask_batch(&references, &mut bitmask, width, None, Some(4)).unwrap();
    assert_eq!(bitmask, expected);

    // Rows in another order; rows that nobody names keep what they hold.
    let mut bitmask = vec![7; width * 4];
    fill_next_token_bitmask_batch(
        &references[..2],
        &mut bitmask,
        width,
        Some(&[3, 1]),
        Some(2),
    )
    .unwrap();
    assert_eq!(bitmask[3 * width..], expected[..width]);
    assert_eq!(bitmask[width..2 * width], expected[width..2 * width]);
    assert!(bitmask[..width].iter().all(|&word| word == 7));
    let twice =
        fill_next_token_bitmask_batch(&references[..2], &mut bitmask, width, Some(&[1, 1]), None);
    assert_eq!(twice.unwrap_err().code(), "E-BITMASK-INDEX");
    let narrow = fill_next_token_bitmask_batch(&references[..1], &mut bitmask, 1, None, None);
    assert_eq!(narrow.unwrap_err().code(), "E-BITMASK-SIZE");
}

#[test]
fn two_threads_may_write_one_row() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (a, z) = (b.text("a"), b.text("b"));
    b.rule(s, &[a, s, z]);
    b.rule(s, &[z]);
    let lnf = b.finish();
    let (vocabulary, _) = vocabulary();
    let width = bitmask_words(vocabulary.size());
    let compiled = compile(&lnf, &vocabulary, &Limits::default());
    let (first, mut second) = (
        GrammarMatcher::new(Arc::clone(&compiled)),
        GrammarMatcher::new(compiled),
    );
    assert!(second.accept_bytes(b"ab").unwrap());
    let masks = [first, second].map(|matcher| matcher.next_mask().unwrap());
    let rows = masks.each_ref().map(|mask| {
        let mut row = vec![7; width + 1];
        mask.write(&mut row[..]).unwrap();
        assert_eq!(row[width], 0);
        row
    });
    let shared: Vec<AtomicI32> = (0..=width).map(|_| AtomicI32::new(7)).collect();
    std::thread::scope(|scope| {
        for mask in &masks {
            scope.spawn(|| (0..100).for_each(|_| mask.write(&mut &shared[..]).unwrap()));
        }
    });
    // Whoever came last, no bit is left of what was there before or that neither of them allows.
    for (at, word) in shared.iter().enumerate() {
        let (word, either) = (word.load(Ordering::Relaxed), rows[0][at] | rows[1][at]);
        assert_eq!(word & !either, 0);
    }
    masks[0].write(&mut &shared[..]).unwrap();
    let alone: Vec<i32> = shared
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect();
    assert_eq!(alone, rows[0]);
    let narrow = masks[0].write(&mut &shared[..width - 1]);
    assert_eq!(narrow.unwrap_err().code(), "E-BITMASK-SIZE");
}

#[test]
fn many_threads_on_one_grammar_agree() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let (a, z) = (b.text("a"), b.text("b"));
    b.rule(s, &[a, s, z]);
    b.rule(s, &[s, s]);
    b.rule(s, &[z]);
    let lnf = b.finish();
    let (vocabulary, _) = vocabulary();
    let run = |compiled: Arc<CompiledGrammar>, seed: usize| {
        let mut matcher = GrammarMatcher::new(compiled);
        let mut rows = Vec::new();
        for step in 0..12 {
            let row = row(&matcher);
            let allowed: Vec<u32> = (0..vocabulary.token_count() as u32)
                .filter(|&id| bit(&row, id) && !vocabulary.is_eos(id))
                .collect();
            let id = allowed[(seed * 7 + step * 5) % allowed.len()];
            assert!(matcher.accept_token(id).unwrap());
            rows.push(row);
        }
        rows
    };
    let shared = compile(&lnf, &vocabulary, &Limits::default());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|seed| {
                let (shared, run) = (Arc::clone(&shared), &run);
                scope.spawn(move || run(shared, seed))
            })
            .collect();
        for (seed, worker) in workers.into_iter().enumerate() {
            let alone = compile(&lnf, &vocabulary, &Limits::default());
            assert_eq!(worker.join().unwrap(), run(alone, seed));
        }
    });
}
