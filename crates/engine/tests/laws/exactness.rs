//! Random grammars from the front end's tree to the matcher, against two recognisers that know nothing of normal forms, automata
//! or interned sets.
//!
//! The grammars are nullable, ambiguous and cyclic, with regular terminals, intersections, complements, excluded text and
//! counters. Acceptance is compared with fix points over the expressions themselves; what may follow is compared with plain
//! Earley sets over the productions; masks are compared with what the matcher then accepts.

#[path = "../../../grammar/tests/laws/reference/mod.rs"]
mod expressions;
#[path = "../../../grammar/tests/laws/shapes/mod.rs"]
mod shapes;
use crate::vocabularies;

use std::sync::Arc;

use crate::reference;
use crate::reference::{BYTES, Reference, Tree};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use syntagma_engine::{GrammarCompiler, GrammarMatcher, Limits, Vocabulary, bitmask_words};
use syntagma_grammar::Grammar;
use syntagma_grammar::ir::{Lnf, Symbol};

/// Tokens that cross every boundary of such small languages.
fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens = reference::strings(2);
    tokens.extend([&b"aaa"[..], b"abab", b"bba", b"zab", b"aabb"].map(<[u8]>::to_vec));
    vocabularies::with_end(tokens, b"</s>")
}

/// Productions without what matches nothing; None if some nonterminal that is left has no finite text, for then the plain
/// Earley sets do not know what is viable.
fn reduced(lnf: &Lnf) -> Option<Lnf> {
    let mut lnf = lnf.clone();
    let alive: Vec<bool> = lnf
        .symbols
        .regexes
        .iter()
        .map(|regex| Tree::new(regex).extends(&BYTES))
        .collect();
    lnf.productions.retain(|production| {
        let mut rhs = production.rhs.iter();
        rhs.all(|symbol| !matches!(*symbol, Symbol::Regex(index) if !alive[index as usize]))
    });
    let mut finite = vec![false; lnf.symbols.nonterminals.len()];
    loop {
        let before = finite.clone();
        for production in &lnf.productions {
            let done = production.rhs.iter().all(
                |symbol| !matches!(*symbol, Symbol::Nonterminal(id) if !before[id.0 as usize]),
            );
            finite[production.lhs.0 as usize] |= done;
        }
        if finite == before {
            break;
        }
    }
    let mut used = vec![lnf.start];
    let mut at = 0;
    while let Some(&id) = used.get(at) {
        at += 1;
        for symbol in lnf
            .productions_of(id)
            .iter()
            .flat_map(|production| &production.rhs)
        {
            if let Symbol::Nonterminal(next) = symbol
                && !used.contains(next)
            {
                used.push(*next);
            }
        }
    }
    used.iter().all(|id| finite[id.0 as usize]).then_some(lnf)
}

/// What was compared.
#[derive(Debug, Default)]
struct Count {
    grammars: usize,
    empty: usize,
    with_viability: usize,
    strings: usize,
    masks: usize,
}

impl Count {
    /// Grammars that match something; the others are only seen to be refused.
    fn with_text(&self) -> usize {
        self.grammars - self.empty
    }
}

fn check(grammar: &Grammar, vocabulary: &Arc<Vocabulary>, count: &mut Count) {
    count.grammars += 1;
    let strings: Vec<Vec<u8>> = reference::strings(4)
        .into_iter()
        .chain(
            expressions::strings(b"ab", 6)
                .into_iter()
                .filter(|text| text.len() > 4),
        )
        .collect();
    let accepted: Vec<bool> = strings
        .iter()
        .map(|text| expressions::grammar_matches(grammar, text))
        .collect();
    let limits = syntagma_grammar::Limits::default();
    let lnf = Lnf::new(grammar, &limits);
    let shown = || syntagma_grammar::print::to_ebnf(grammar);
    let grammars =
        GrammarCompiler::new(Arc::clone(vocabulary), Limits::default()).with_cache(false);
    let start = match grammars.compile(&Arc::new(grammar.clone())) {
        Ok(compiled) => GrammarMatcher::new(compiled),
        Err(error) => {
            assert_eq!(error.code(), "E-GRAMMAR-EMPTY", "{error}\n{}", shown());
            assert!(!accepted.contains(&true), "refused as empty\n{}", shown());
            count.empty += 1;
            return;
        }
    };
    let mut viable = lnf
        .ok()
        .as_ref()
        .and_then(reduced)
        .map(|lnf| Reference::new(&lnf, &[]));
    count.with_viability += usize::from(viable.is_some());
    for (text, wanted) in strings.iter().zip(accepted) {
        count.strings += 1;
        let place = || format!("{:?}\n{}", String::from_utf8_lossy(text), shown());
        let mut matcher = start.fork();
        let read = matcher.accept_bytes(text).unwrap();
        let found = read && matcher.is_accepting().unwrap();
        assert_eq!(found, wanted, "accepted {}", place());
        if let Some(reference) = &mut viable {
            let (also, wanted) = reference.judge_bytes(text);
            assert_eq!(found, also, "the references differ on {}", place());
            assert_eq!(read, wanted, "viable {}", place());
        }
        if !read || text.len() > 2 {
            continue;
        }
        count.masks += 1;
        let mut row = vec![0; bitmask_words(vocabulary.size())];
        matcher.fill_next_token_bitmask(&mut row).unwrap();
        for id in 0..vocabulary.size() as u32 {
            let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
            assert_eq!(
                bit,
                matcher.fork().accept_token(id).unwrap(),
                "token {id} behind {}",
                place()
            );
        }
    }
}

/// Compares so many grammars that match something.
fn run(grammars: usize, seed: u64) -> Count {
    let vocabulary = vocabulary();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let strategy = prop::collection::vec(shapes::shape(), 1..=shapes::RULES);
    let mut count = Count::default();
    let mut told = 0;
    while count.with_text() < grammars {
        let shapes = strategy.new_tree(&mut runner).unwrap().current();
        check(&shapes::grammar(&shapes), &vocabulary, &mut count);
        if count.with_text() / 1_000 > told {
            told += 1;
            println!("{count:?}");
        }
    }
    count
}

#[test]
fn random_grammars_mean_what_they_say() {
    let count = run(75, 1);
    assert!(count.with_viability > 30 && count.masks > 300, "{count:?}");
}

/// `make exactness`; the seed is in `EXACTNESS_SEED`.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_grammars() {
    let seed = std::env::var("EXACTNESS_SEED").map_or(2, |seed| seed.parse().unwrap());
    let count = run(10_000, seed);
    println!("seed {seed}: 0 mismatches in {count:?}");
}
