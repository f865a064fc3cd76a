//! Many matchers in one call, on many threads: what each of them says alone.

use crate::vocabularies;

use std::sync::Arc;

use crate::reference::strings;
use syntagma_engine::{
    GrammarCompiler, GrammarMatcher, Limits, Vocabulary, accept_token_batch, bitmask_words,
    fill_next_token_bitmask_batch,
};
use syntagma_grammar::ir::{Grammar, Regex};

fn vocabulary() -> Arc<Vocabulary> {
    vocabularies::with_end(strings(3), b"")
}

/// Grammar number `at`: words of two letters that end in a run of its own length.
fn grammar(at: u32) -> Arc<Grammar> {
    let letters = Regex::alt(vec![Regex::literal(b"a"), Regex::literal(b"b")]);
    Arc::new(Grammar::from_regex(Regex::concat(vec![
        Regex::repeat(letters, at % 5, None),
        Regex::repeat(Regex::literal(b"z"), at + 1, Some(at + 1)),
    ])))
}

fn matchers(compiler: &GrammarCompiler) -> Vec<GrammarMatcher> {
    (0..40)
        .map(|at| GrammarMatcher::new(compiler.compile(&grammar(at % 13)).unwrap()))
        .collect()
}

/// Rows at each of some steps, and what became of each token.
fn read(threads: Option<usize>) -> (Vec<Vec<i32>>, Vec<Vec<String>>) {
    let vocabulary = vocabulary();
    let width = bitmask_words(vocabulary.size());
    let size = vocabulary.size() as u32;
    let mut limits = Limits::default();
    limits.step_fuel = 4_000;
    let compiler = GrammarCompiler::new(vocabulary, limits);
    let mut matchers = matchers(&compiler);
    let (mut rows, mut answers) = (Vec::new(), Vec::new());
    let mut noise = 1_u64;
    for _ in 0..12 {
        let mut bitmask = vec![0; matchers.len() * width];
        let references: Vec<&GrammarMatcher> = matchers.iter().collect();
        fill_next_token_bitmask_batch(&references, &mut bitmask, width, None, threads).unwrap();
        // Some tokens are refused, one is of no vocabulary.
        let ids: Vec<u32> = (0..matchers.len() as u32)
            .map(|_| {
                noise = noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(99);
                (noise >> 40) as u32 % (size + 1)
            })
            .collect();
        let mut taking: Vec<&mut GrammarMatcher> = matchers.iter_mut().collect();
        let taken = accept_token_batch(&mut taking, &ids, threads).unwrap();
        rows.push(bitmask);
        answers.push(
            taken
                .into_iter()
                .map(|answer| format!("{:?}", answer.map_err(|error| error.code())))
                .collect(),
        );
    }
    (rows, answers)
}

#[test]
fn threads_change_nothing() {
    let expected = read(None);
    let said: String = expected.1.concat().concat();
    for answer in ["Ok(true)", "Ok(false)", "E-TOKEN-ID"] {
        assert!(said.contains(answer), "{answer} is among what is compared");
    }
    for threads in [1, 2, 3, 100] {
        assert_eq!(read(Some(threads)), expected, "{threads} threads");
    }
}

#[test]
fn many_batches_at_once_do_not_wait_for_each_other() {
    let expected = read(None);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| read(Some(3)))).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}
