//! Tokens told in advance are those of every text that may follow.

use crate::vocabularies;

use std::sync::Arc;

use proptest::prelude::*;
use syntagma_engine::{GrammarCompiler, GrammarMatcher, Jump, Limits, Vocabulary};
use syntagma_grammar::ir::{ByteSet, Grammar, Regex};

/// Merges by rank over bytes, on pieces of like characters or on the whole text.
struct Merges {
    ranks: Vec<(Vec<u8>, Vec<u8>)>,
    pieces: bool,
}

fn kind(byte: u8) -> u8 {
    match byte {
        b' ' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    }
}

impl Merges {
    fn new(ranks: &[(&str, &str)], pieces: bool) -> Self {
        let ranks = ranks
            .iter()
            .map(|(a, b)| (a.as_bytes().to_vec(), b.as_bytes().to_vec()));
        Self {
            ranks: ranks.collect(),
            pieces,
        }
    }

    fn vocabulary(&self) -> Arc<Vocabulary> {
        let mut tokens = vocabularies::bytes();
        tokens.extend(self.ranks.iter().map(|(a, b)| [a.as_slice(), b].concat()));
        vocabularies::of_tokens(tokens)
    }

    fn encode(&self, text: &str) -> Vec<u32> {
        let bytes = text.as_bytes();
        let pieces: Vec<&[u8]> = if self.pieces {
            bytes.chunk_by(|&a, &b| kind(a) == kind(b)).collect()
        } else {
            vec![bytes]
        };
        let mut ids = Vec::new();
        for piece in pieces {
            let mut parts: Vec<Vec<u8>> = piece.iter().map(|&byte| vec![byte]).collect();
            while let Some((_, at)) = parts
                .windows(2)
                .enumerate()
                .filter_map(|(at, pair)| {
                    let rank = self
                        .ranks
                        .iter()
                        .position(|(a, b)| *a == pair[0] && *b == pair[1]);
                    rank.map(|rank| (rank, at))
                })
                .min()
            {
                let right = parts.remove(at + 1);
                parts[at].extend(right);
            }
            ids.extend(parts.iter().map(|part| {
                match part.as_slice() {
                    [byte] => u32::from(*byte),
                    _ => {
                        256 + self
                            .ranks
                            .iter()
                            .position(|(a, b)| [a.as_slice(), b].concat() == *part)
                            .unwrap() as u32
                    }
                }
            }));
        }
        ids
    }

    /// The tokens told in advance where `text` must come next and anything may follow.
    fn jump(&self, text: &str) -> Vec<u32> {
        let rest = Regex::Repeat {
            inner: Arc::new(Regex::Class(ByteSet::range(b' ', b'~'))),
            min: 1,
            max: None,
        };
        let grammar = Grammar::from_regex(Regex::Concat(
            vec![Regex::literal(text.as_bytes()), rest].into(),
        ));
        let compiler = GrammarCompiler::new(self.vocabulary(), Limits::default());
        let matcher = GrammarMatcher::new(compiler.compile(&Arc::new(grammar)).unwrap());
        jumped(&matcher, |text| self.encode(text))
    }
}

fn jumped(matcher: &GrammarMatcher, tokenize: impl Fn(&str) -> Vec<u32>) -> Vec<u32> {
    let jump = Jump::new(matcher).unwrap();
    let of_texts: Vec<Vec<u32>> = jump.texts().map(tokenize).collect();
    jump.tokens(matcher, &of_texts).unwrap()
}

#[test]
fn one_more_character_may_shift_all_tokens() {
    let merges = Merges::new(&[("d", "e"), ("c", "d"), ("b", "c"), ("a", "b")], false);
    assert_eq!(merges.encode("abcd"), [259, 257]);
    assert_eq!(merges.encode("abcde"), [u32::from(b'a'), 258, 256]);
    // So nothing of `abcd` is certain, although only its last character can begin a longer token.
    assert!(merges.jump("abcd").is_empty());
    assert_eq!(merges.jump("  abcd"), [u32::from(b' '), u32::from(b' ')]);
}

#[test]
fn what_is_certain_is_told() {
    let merges = Merges::new(
        &[
            ("{", "\""),
            ("n", "a"),
            ("m", "e"),
            ("na", "me"),
            ("\"", ":"),
            (":", " "),
        ],
        true,
    );
    let ids = merges.jump("{\"name\": ");
    assert_eq!(ids, [256, 259, 260]);
    assert!(merges.jump("x").is_empty());
    assert!(merges.jump("").is_empty());
}

#[test]
fn a_tokenizer_that_changes_text_tells_nothing() {
    let merges = Merges::new(&[], true);
    let grammar = Arc::new(Grammar::from_regex(Regex::literal(b"ab cd ef")));
    let compiler = GrammarCompiler::new(merges.vocabulary(), Limits::default());
    let matcher = GrammarMatcher::new(compiler.compile(&grammar).unwrap());
    let prefixed = |text: &str| merges.encode(&format!(" {text}"));
    assert!(jumped(&matcher, prefixed).is_empty());
    assert_eq!(matcher.steps(), 0);
}

fn pieces_of(
    texts: &'static [&'static str],
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(texts), count).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn tokens_begin_the_tokens_of_every_continuation(
        pairs in prop::collection::vec((0_usize..40, 0_usize..40), 0..14),
        pieces in any::<bool>(),
        text in pieces_of(&["a", "b", "c", "ab", " ", "  ", "\"", "{"], 0..10),
        rests in prop::collection::vec(pieces_of(&["a", "b", "c", "ca", " ", "\"", "{"], 1..5), 1..12),
    ) {
        // Later pairs may be made of earlier ones, as merges are.
        let mut known: Vec<String> = ["a", "b", "c", " ", "\"", "{"].map(str::to_owned).into();
        let mut ranks: Vec<(String, String)> = Vec::new();
        for (a, b) in pairs {
            let pair = (known[a % known.len()].clone(), known[b % known.len()].clone());
            let joined = format!("{}{}", pair.0, pair.1);
            let whole = joined.bytes().all(|byte| kind(byte) == kind(joined.as_bytes()[0]));
            if known.contains(&joined) || (pieces && !whole) {
                continue;
            }
            known.push(joined);
            ranks.push(pair);
        }
        let ranks: Vec<(&str, &str)> = ranks.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let merges = Merges::new(&ranks, pieces);
        let ids = merges.jump(&text);
        for rest in rests {
            let all = merges.encode(&format!("{text}{rest}"));
            prop_assert!(all.starts_with(&ids), "{text:?} {rest:?}: {ids:?} {all:?}");
        }
    }
}
