//! Repetitions with large bounds: exact at the bounds, and of a size that does not depend on them.

use crate::vocabularies;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::reference::{Builder, strings};
use proptest::prelude::*;
use syntagma_engine::{CompiledGrammar, GrammarMatcher, Limits, Vocabulary, bitmask_words};
use syntagma_grammar::ir::{ByteSet, Lnf, Regex, Report, Symbol};

/// One of `units`, between `min` and `max` times, then `tail`.
#[derive(Debug, Clone)]
struct Counted {
    units: Vec<&'static str>,
    min: u32,
    max: Option<u32>,
    tail: &'static str,
}

impl Counted {
    fn regex(&self) -> Regex {
        let units = self
            .units
            .iter()
            .map(|unit| Regex::literal(unit.as_bytes()));
        let repeated = Regex::repeat(Regex::alt(units.collect()), self.min, self.max);
        Regex::concat(vec![repeated, Regex::literal(self.tail.as_bytes())])
    }

    /// Where a reading may be: units read before, the bytes of the unit that is under way (with its index), or how much of
    /// the tail was read.
    fn begin(&self) -> Places {
        self.between(0)
    }

    /// Between two units.
    fn between(&self, count: u32) -> Places {
        let mut places = Places::new();
        if self.max.is_none_or(|max| count < max) {
            places.extend((0..self.units.len()).map(|unit| (count, Some(unit), 0)));
        }
        if count >= self.min {
            places.insert((count, None, 0));
        }
        places
    }

    fn step(&self, places: &Places, byte: u8) -> Places {
        let mut next = Places::new();
        for &(count, unit, at) in places {
            let text = unit.map_or(self.tail, |unit| self.units[unit]).as_bytes();
            if text.get(at) != Some(&byte) {
                continue;
            }
            if unit.is_some() && at + 1 == text.len() {
                // Behind the minimum counts matter up to the maximum only.
                let count = if self.max.is_none() {
                    (count + 1).min(self.min)
                } else {
                    count + 1
                };
                next.extend(self.between(count));
            } else {
                next.insert((count, unit, at + 1));
            }
        }
        next
    }

    fn accepts(&self, places: &Places) -> bool {
        let done =
            |&(_, unit, at): &(u32, Option<usize>, usize)| unit.is_none() && at == self.tail.len();
        places.iter().any(done)
    }

    /// Whether something may follow; a reading that has just ended is still there.
    fn reads(&self, places: &Places, text: &[u8]) -> Places {
        text.iter()
            .fold(places.clone(), |places, &byte| self.step(&places, byte))
    }
}

/// So many `a`, so many `b`, and whether that is a word.
type Example = (usize, usize, bool);

type Places = BTreeSet<(u32, Option<usize>, usize)>;

fn counted() -> impl Strategy<Value = Counted> {
    let units = prop::sample::select(vec![
        vec!["a"],
        vec!["a", "b"],
        vec!["ab"],
        vec!["ab", "abb"],
        vec!["a", "aa"],
        vec!["a", "ba"],
        vec!["ab", "a", "bbb"],
    ]);
    // Counts are far from 17 on: the longest token has 12 bytes, and 16 is the least.
    let tail = prop::sample::select(vec!["", "!", "a", "ab!"]);
    (
        units,
        0_u32..45,
        prop::option::weighted(0.8, 0_u32..45),
        tail,
    )
        .prop_map(|(units, min, more, tail)| {
            let min = if min < 12 { 0 } else { min };
            Counted {
                units,
                min,
                max: more.map(|more| (min + more).max(1)),
                tail,
            }
        })
}

fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens = strings(3);
    tokens.retain(|token| !token.is_empty());
    let long = [
        "abababababab",
        "aaaaaaaaaaaa",
        "aaaaaaaa",
        "abbabb",
        "aaaaa!",
        "ababa!",
        "!",
        "b!",
        "ab!",
        "aab!",
    ];
    tokens.extend(long.map(|text| text.as_bytes().to_vec()));
    vocabularies::with_end(tokens, b"<end>")
}

fn compiled(lnf: &Lnf, verify: bool) -> Arc<CompiledGrammar> {
    let (vocabulary, limits) = (vocabulary(), Limits::default());
    Arc::new(
        CompiledGrammar::from_lnf(lnf, Report::default(), vocabulary, &limits, verify).unwrap(),
    )
}

fn grammar(alternatives: &[Counted]) -> Lnf {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    for alternative in alternatives {
        let symbol = b.regex(alternative.regex());
        b.rule(s, &[symbol]);
        if alternative.min == 0 && alternative.tail.is_empty() {
            b.rule(s, &[]);
        }
    }
    b.finish()
}

fn row(matcher: &GrammarMatcher) -> Vec<i32> {
    let mut row = vec![0; bitmask_words(matcher.compiled().vocabulary().size())];
    matcher.fill_next_token_bitmask(&mut row).unwrap();
    row
}

fn bit(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every bit of every mask along random texts that run through the bounds.
    #[test]
    fn counts_are_exact_at_their_bounds(
        alternatives in prop::collection::vec(counted(), 1..3),
        choices in prop::collection::vec(any::<u16>(), 40),
    ) {
        let compiled = compiled(&grammar(&alternatives), true);
        let vocabulary = compiled.vocabulary();
        let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
        let mut places: Vec<Places> = alternatives.iter().map(Counted::begin).collect();
        for choice in choices {
            let row = row(&matcher);
            let accepting = places.iter().zip(&alternatives).any(|(places, one)| one.accepts(places));
            prop_assert_eq!(matcher.is_accepting().unwrap(), accepting);
            let mut allowed = Vec::new();
            for id in 0..vocabulary.size() as u32 - 1 {
                let text = vocabulary.token(id);
                let next: Vec<Places> = alternatives
                    .iter()
                    .zip(&places)
                    .map(|(one, places)| one.reads(places, text))
                    .collect();
                let expected = next.iter().any(|places| !places.is_empty());
                prop_assert_eq!(bit(&row, id), expected, "{:?}", String::from_utf8_lossy(text));
                if expected {
                    allowed.push((id, next));
                }
            }
            if allowed.is_empty() {
                break;
            }
            // Long tokens get to the bounds.
            allowed.sort_by_key(|&(id, _)| vocabulary.token(id).len());
            let last = allowed.len() - 1;
            let (id, next) = allowed.swap_remove(last - (usize::from(choice) % allowed.len()).min(last) / 2);
            prop_assert!(matcher.accept_token(id).unwrap());
            places = next;
        }
    }
}

/// A pattern over `a` and `b`: as an expression, and as an automaton (the state behind each letter; none is dead).
struct Pattern {
    regex: fn() -> Regex,
    states: &'static [[Option<usize>; 2]],
    accepting: &'static [usize],
}

const PATTERNS: &[Pattern] = &[
    // (aa)*: only even lengths.
    Pattern {
        regex: || Regex::repeat(Regex::literal(b"aa"), 0, None),
        states: &[[Some(1), None], [Some(0), None]],
        accepting: &[0],
    },
    // a*b*
    Pattern {
        regex: || {
            let many = |byte| Regex::repeat(Regex::Class(ByteSet::byte(byte)), 0, None);
            Regex::concat(vec![many(b'a'), many(b'b')])
        },
        states: &[[Some(0), Some(1)], [None, Some(1)]],
        accepting: &[0, 1],
    },
    // [ab]*aab[ab]*: a shortest way to an end.
    Pattern {
        regex: || Regex::concat(vec![letters(), Regex::literal(b"aab"), letters()]),
        states: &[
            [Some(1), Some(0)],
            [Some(2), Some(0)],
            [Some(2), Some(3)],
            [Some(3), Some(3)],
        ],
        accepting: &[3],
    },
    // (aaab|b)*|a: parts that only some lengths have.
    Pattern {
        regex: || {
            let unit = Regex::alt(vec![Regex::literal(b"aaab"), Regex::literal(b"b")]);
            Regex::alt(vec![Regex::repeat(unit, 0, None), Regex::literal(b"a")])
        },
        states: &[
            [Some(1), Some(4)],
            [Some(2), None],
            [Some(3), None],
            [None, Some(4)],
            [Some(5), Some(4)],
            [Some(2), None],
        ],
        accepting: &[0, 1, 4],
    },
    // a{30}: one length only.
    Pattern {
        regex: || Regex::repeat(Regex::literal(b"a"), 30, Some(30)),
        states: &{
            let mut states = [[None, None]; 31];
            let mut at = 0;
            while at < 30 {
                states[at] = [Some(at + 1), None];
                at += 1;
            }
            states
        },
        accepting: &[30],
    },
];

fn letters() -> Regex {
    Regex::repeat(Regex::Class(ByteSet::range(b'a', b'b')), 0, None)
}

impl Pattern {
    /// By state: whether there is a word of exactly so many letters, for up to `most` letters.
    fn lengths(&self, most: usize) -> Vec<Vec<bool>> {
        let mut rounds: Vec<Vec<bool>> = Vec::new();
        rounds.push(
            (0..self.states.len())
                .map(|state| self.accepting.contains(&state))
                .collect(),
        );
        for round in 0..most {
            let before = &rounds[round];
            let reaches = |next: &[Option<usize>; 2]| next.iter().flatten().any(|&to| before[to]);
            rounds.push(self.states.iter().map(reaches).collect());
        }
        rounds
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A pattern and a length at once, every bit of every mask.
    #[test]
    fn patterns_with_lengths_are_exact(
        which in 0..PATTERNS.len(),
        min in 0_usize..70,
        more in 0_usize..90,
        choices in prop::collection::vec(any::<u16>(), 40),
    ) {
        let pattern = &PATTERNS[which];
        let (min, max) = (if min < 12 { 0 } else { min }, (min + more).max(1));
        let lengths = pattern.lengths(max);
        let viable = |state: usize, count: usize| {
            count <= max && (min.saturating_sub(count)..=max - count).any(|length| lengths[length][state])
        };
        prop_assume!(viable(0, 0));
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let length = Regex::repeat(Regex::Class(ByteSet::range(b'a', b'b')), min as u32, Some(max as u32));
        let both = Regex::And([(pattern.regex)(), length].into());
        let symbol = b.regex(Regex::concat(vec![both, Regex::literal(b"!")]));
        b.rule(s, &[symbol]);
        let compiled = compiled(&b.finish(), true);
        let vocabulary = compiled.vocabulary();
        let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
        // None is behind the end.
        let mut place = Some((0, 0));
        let step = |place: Option<(usize, usize)>, byte: u8| {
            let (state, count) = place.filter(|_| matches!(byte, b'a' | b'b' | b'!'))?;
            if byte == b'!' {
                let done = pattern.accepting.contains(&state) && count >= min && count <= max;
                return done.then_some(None);
            }
            let next = pattern.states[state][usize::from(byte - b'a')]?;
            viable(next, count + 1).then_some(Some((next, count + 1)))
        };
        for choice in choices {
            let row = row(&matcher);
            let mut allowed = Vec::new();
            for id in 0..vocabulary.size() as u32 - 1 {
                let text = vocabulary.token(id);
                let next = text.iter().try_fold(place, |place, &byte| step(place, byte));
                prop_assert_eq!(bit(&row, id), next.is_some(), "{:?} at {:?}", String::from_utf8_lossy(text), place);
                allowed.extend(next.map(|next| (id, next)));
            }
            if allowed.is_empty() {
                break;
            }
            allowed.sort_by_key(|&(id, next)| (next.is_some(), vocabulary.token(id).len()));
            let last = allowed.len() - 1;
            let (id, next) = allowed[last - usize::from(choice) % allowed.len() / 2];
            prop_assert!(matcher.accept_token(id).unwrap());
            place = next;
        }
    }
}

/// A text with a bound of a million costs what one without a bound costs, but for its own positions.
#[test]
fn counting_makes_no_residuals_and_no_masks() {
    let unit = Regex::alt(vec![
        Regex::Class(ByteSet::byte(b'a')),
        Regex::literal(b"bb"),
    ]);
    for (min, max) in [
        (0, Some(1_000_000)),
        (500_000, None),
        (500_000, Some(1_000_000)),
    ] {
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let body = Regex::repeat(unit.clone(), min, max);
        let symbol = b.regex(Regex::concat(vec![body, Regex::literal(b"!")]));
        b.rule(s, &[symbol]);
        let mut matcher = GrammarMatcher::new(compiled(&b.finish(), false));
        let vocabulary = Arc::clone(matcher.compiled().vocabulary());
        let id = |text: &str| {
            (0..vocabulary.size() as u32)
                .find(|&id| vocabulary.token(id) == text.as_bytes())
                .unwrap()
        };
        for _ in 0..1_000 {
            for token in ["aaaaaaaaaaaa", "abb", "bba"] {
                row(&matcher);
                assert!(matcher.accept_token(id(token)).unwrap());
            }
        }
        let stats = matcher.compiled().stats();
        assert!(stats.residuals < 200 && stats.masks < 10, "{stats:?}");
        assert!(stats.bytes < 500 * stats.states, "{stats:?}");
    }
}

/// The last units of large bounds, one by one.
#[test]
fn large_bounds_are_exact() {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(Regex::repeat(Regex::literal(b"ab"), 49_990, Some(50_000)));
    b.rule(s, &[symbol]);
    let mut matcher = GrammarMatcher::new(compiled(&b.finish(), false));
    for _ in 0..4_998 {
        assert!(matcher.accept_bytes(&b"ab".repeat(10)).unwrap());
    }
    for units in 49_980..50_000_u32 {
        assert_eq!(matcher.is_accepting().unwrap(), units >= 49_990, "{units}");
        assert!(!matcher.accept_bytes(b"b").unwrap());
        assert!(matcher.accept_bytes(b"a").unwrap() && !matcher.is_accepting().unwrap());
        assert!(matcher.accept_bytes(b"b").unwrap());
    }
    assert!(matcher.is_accepting().unwrap() && !matcher.accept_bytes(b"a").unwrap());
}

/// Two repetitions under one another, and one behind the other: only one of them is counted beside the automaton.
#[test]
fn counts_of_two_repetitions_do_not_mix() {
    let a = |min, max| Regex::repeat(Regex::literal(b"a"), min, Some(max));
    let ab = Regex::repeat(Regex::Class(ByteSet::range(b'a', b'b')), 0, Some(30));
    let nested = Regex::repeat(
        Regex::concat(vec![
            a(0, 25),
            Regex::repeat(Regex::literal(b"!"), 0, Some(1)),
        ]),
        0,
        Some(20),
    );
    let cases: [(Regex, Vec<Example>); 2] = [
        // a{20,40} [ab]{0,30}: so many a, then so many b.
        (
            Regex::concat(vec![a(20, 40), ab]),
            vec![
                (19, 0, false),
                (20, 30, true),
                (20, 31, false),
                (40, 30, true),
                (41, 29, true),
                (41, 30, false),
                (70, 0, true),
                (71, 0, false),
            ],
        ),
        (nested, vec![(500, 0, true), (501, 0, false)]),
    ];
    for (regex, texts) in cases {
        let mut b = Builder::default();
        let s = b.nonterminal("s");
        let symbol: Symbol = b.regex(regex);
        b.rule(s, &[symbol]);
        let compiled = compiled(&b.finish(), true);
        for (many_a, many_b, wanted) in texts {
            let text = [b"a".repeat(many_a), b"b".repeat(many_b)].concat();
            let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
            let read = text.iter().all(|byte| {
                row(&matcher);
                matcher.accept_bytes(&[*byte]).unwrap()
            });
            assert_eq!(
                read && matcher.is_accepting().unwrap(),
                wanted,
                "{many_a} {many_b}"
            );
        }
    }
}
