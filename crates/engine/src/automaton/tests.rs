//! Residuals against the plainest meaning there is: sets of words up to a length.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use syntagma_grammar::ir::{ByteSet, Regex};

use super::classes::{Classes, ClassesId};
use super::{Built, ExprId, Residuals};
use crate::layers::Layers;
use crate::limits::{Fuel, Limits};

/// The last letter stands for every byte that no expression names.
const ALPHABET: [u8; 3] = *b"abz";
const LONGEST: usize = 6;

type Words = BTreeSet<Vec<u8>>;

fn words(longest: usize) -> Words {
    let mut all = Words::from([Vec::new()]);
    for _ in 0..longest {
        let longer: Vec<Vec<u8>> = all
            .iter()
            .flat_map(|word| {
                ALPHABET
                    .iter()
                    .map(|&byte| [word.as_slice(), &[byte]].concat())
            })
            .collect();
        all.extend(longer);
    }
    all
}

fn joined(left: &Words, right: &Words) -> Words {
    let fits = |a: &&Vec<u8>, b: &&Vec<u8>| a.len() + b.len() <= LONGEST;
    left.iter()
        .flat_map(|a| {
            right
                .iter()
                .filter(move |b| fits(&a, b))
                .map(move |b| [a.as_slice(), b].concat())
        })
        .collect()
}

/// All words of the language up to [`LONGEST`].
fn meaning(regex: &Regex, all: &Words) -> Words {
    match regex {
        Regex::Nothing => Words::new(),
        Regex::Class(set) => ALPHABET
            .iter()
            .filter(|&&byte| set.contains(byte))
            .map(|&byte| vec![byte])
            .collect(),
        Regex::Literal(bytes) => Words::from([bytes.to_vec()]),
        Regex::Concat(parts) => parts
            .iter()
            .fold(Words::from([Vec::new()]), |so_far, part| {
                joined(&so_far, &meaning(part, all))
            }),
        Regex::Alt(parts) => parts.iter().flat_map(|part| meaning(part, all)).collect(),
        Regex::And(parts) => parts.iter().fold(all.clone(), |so_far, part| {
            so_far.intersection(&meaning(part, all)).cloned().collect()
        }),
        Regex::Not(inner) => all.difference(&meaning(inner, all)).cloned().collect(),
        Regex::Repeat { inner, min, max } => {
            let inner = meaning(inner, all);
            let (mut power, mut result) = (Words::from([Vec::new()]), Words::new());
            // Beyond `min + LONGEST` rounds nothing short is new.
            for round in 0..=max.unwrap_or(min + LONGEST as u32) {
                if round >= *min {
                    result.extend(power.iter().cloned());
                }
                power = joined(&power, &inner);
            }
            result
        }
    }
}

fn class(mask: u8) -> ByteSet {
    let named = [b'a', b'b'].map(ByteSet::byte);
    let other = named[0].union(&named[1]).complement();
    [named[0], named[1], other]
        .iter()
        .enumerate()
        .filter(|&(index, _)| mask >> index & 1 == 1)
        .fold(ByteSet::EMPTY, |set, (_, more)| set.union(more))
}

fn regexes() -> impl Strategy<Value = Regex> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(prop::sample::select(&b"ab"[..]), 0..4).prop_map(|bytes| Regex::literal(&bytes)),
        3 => (0_u8..8).prop_map(|mask| Regex::Class(class(mask))),
        1 => Just(Regex::Nothing),
    ];
    leaf.prop_recursive(4, 14, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            3 => parts.clone().prop_map(Regex::concat),
            3 => parts.clone().prop_map(Regex::alt),
            1 => prop::collection::vec(prop::collection::vec(prop::sample::select(&b"ab"[..]), 0..5), 8..14)
                .prop_map(|words| Regex::alt(words.iter().map(|word| Regex::literal(word)).collect())),
            1 => prop::collection::vec((prop::collection::vec(prop::sample::select(&b"ab"[..]), 1..4), inner.clone()), 8..12)
                .prop_map(|parts| {
                    let sequence = |(word, rest): (Vec<u8>, Regex)| Regex::concat(vec![Regex::literal(&word), rest]);
                    Regex::alt(parts.into_iter().map(sequence).collect())
                }),
            2 => parts.prop_map(|parts| Regex::And(parts.into())),
            1 => inner.clone().prop_map(|inner| Regex::Not(Arc::new(inner))),
            3 => (inner, 0_u32..7, prop::option::of(0_u32..8))
                .prop_map(|(inner, min, max)| Regex::repeat(inner, min, max)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn residuals_mean_what_the_expression_means(regex in regexes()) {
        let all = words(LONGEST);
        let expected = meaning(&regex, &all);
        let mut fuel = Fuel::step(&Limits::default());
        let mut residuals = Residuals::new(0, Layers::default());
        let whole = residuals.build(&regex, &mut Built::default(), &mut fuel).unwrap();
        let whole = residuals.trim(whole, &mut fuel).unwrap();
        for word in &all {
            let mut rest = whole;
            for &byte in word {
                rest = residuals.step(rest, byte, &mut fuel).unwrap();
            }
            prop_assert_eq!(residuals.is_nullable(rest), expected.contains(word), "{:?}", word);
            // Exactly as far from a word as it says; nowhere if it is nothing.
            let mut longer = expected.range(word.clone()..).take_while(|other| other.starts_with(word));
            let known = longer.clone().map(|other| other.len() - word.len()).filter(|&length| length > 0).min();
            let distance = residuals.shortest_with_byte(rest, &mut fuel).unwrap();
            match known {
                Some(known) => prop_assert_eq!(distance as usize, known, "{:?}", word),
                None => prop_assert!(distance as usize > LONGEST - word.len(), "{:?}", word),
            }
            if rest == ExprId::NOTHING || rest == ExprId::EMPTY {
                prop_assert!(longer.all(|other| other == word));
                prop_assert_eq!(distance, u32::MAX);
            } else {
                prop_assert!(distance != u32::MAX, "a residual without a word is not recognised: {:?}", word);
            }
        }
    }
}

#[test]
fn prefix_free_text_up_to_a_marker_ends_at_the_marker() {
    // (any* m) & ~(any* m any+): after the marker nothing is left, though the form still says otherwise.
    let any = || Regex::repeat(Regex::Class(ByteSet::FULL), 0, None);
    let marker = || Regex::literal(b"aab");
    let more = Regex::repeat(Regex::Class(ByteSet::FULL), 1, None);
    let until = Regex::And(
        [
            Regex::concat(vec![any(), marker()]),
            Regex::Not(Arc::new(Regex::concat(vec![any(), marker(), more]))),
        ]
        .into(),
    );
    let mut fuel = Fuel::step(&Limits::default());
    let mut residuals = Residuals::new(0, Layers::default());
    let mut rest = residuals
        .build(&until, &mut Built::default(), &mut fuel)
        .unwrap();
    for &byte in b"zaaab" {
        assert!(rest != ExprId::EMPTY && rest != ExprId::NOTHING);
        rest = residuals.step(rest, byte, &mut fuel).unwrap();
    }
    assert_eq!(rest, ExprId::EMPTY);
}

#[test]
fn tables_of_words_tell_every_byte_apart() {
    let words: Vec<Regex> = (0..=u8::MAX)
        .map(|byte| Regex::literal(&[b'x', byte, byte]))
        .collect();
    let mut fuel = Fuel::step(&Limits::default());
    let mut residuals = Residuals::new(0, Layers::default());
    let whole = residuals
        .build(&Regex::alt(words), &mut Built::default(), &mut fuel)
        .unwrap();
    for first in 0..=u8::MAX {
        let rest = residuals.step(whole, b'x', &mut fuel).unwrap();
        let rest = residuals.step(rest, first, &mut fuel).unwrap();
        assert!(rest != ExprId::NOTHING && rest != ExprId::EMPTY);
        assert_eq!(
            residuals.step(rest, first, &mut fuel).unwrap(),
            ExprId::EMPTY
        );
        assert_eq!(
            residuals.step(rest, !first, &mut fuel).unwrap(),
            ExprId::NOTHING
        );
    }
}

#[test]
fn equal_languages_of_usual_forms_are_one_residual() {
    const WORDS: [&[u8]; 8] = [
        b"on", b"one", b"ones", b"an", b"any", b"anyone", b"no", b"none",
    ];
    let mut fuel = Fuel::step(&Limits::default());
    let mut residuals = Residuals::new(0, Layers::default());
    let words = || Regex::alt(WORDS.map(Regex::literal).to_vec());
    let a = || Regex::literal(b"a");
    let star = || Regex::repeat(a(), 0, None);
    let pairs = [
        (
            Regex::alt(vec![a(), Regex::literal(b"b"), a()]),
            Regex::Class(ByteSet::range(b'a', b'b')),
        ),
        (Regex::concat(vec![star(), star()]), star()),
        (
            Regex::concat(vec![words(), Regex::literal(b"!")]),
            Regex::alt(
                WORDS
                    .map(|word| Regex::literal(&[word, b"!"].concat()))
                    .to_vec(),
            ),
        ),
        (Regex::repeat(star(), 3, None), star()),
        (
            Regex::alt(vec![
                Regex::repeat(a(), 0, Some(3)),
                Regex::repeat(a(), 2, Some(7)),
            ]),
            Regex::repeat(a(), 0, Some(7)),
        ),
        (Regex::Not(Arc::new(Regex::Not(Arc::new(star())))), star()),
        (
            Regex::concat(vec![a(), a(), Regex::empty()]),
            Regex::literal(b"aa"),
        ),
    ];
    for (left, right) in pairs {
        assert_eq!(
            residuals
                .build(&left, &mut Built::default(), &mut fuel)
                .unwrap(),
            residuals
                .build(&right, &mut Built::default(), &mut fuel)
                .unwrap(),
            "{left:?}"
        );
    }
}

#[test]
fn alternatives_that_begin_with_literals_are_told_apart_by_a_search() {
    // Ten thousand sequences: a byte leads to few residuals, not to one for each of them.
    let blanks = || Regex::repeat(Regex::Class(ByteSet::byte(b' ')), 0, None);
    let sequence = |at: u32| {
        let (number, name) = (at.to_string(), format!("n{at}"));
        let [number, name] = [number, name].map(|text| Regex::literal(text.as_bytes()));
        Regex::concat(vec![Regex::literal(b"["), blanks(), number, blanks(), name])
    };
    let all = Regex::alt((0..10_000).map(sequence).collect());
    let mut fuel = Fuel::step(&Limits::default());
    let mut residuals = Residuals::new(0, Layers::default());
    let mut rest = residuals
        .build(&all, &mut Built::default(), &mut fuel)
        .unwrap();
    let before = residuals.len();
    for &byte in b"[  4321 n432" {
        rest = residuals.step(rest, byte, &mut fuel).unwrap();
        assert!(rest != ExprId::NOTHING);
    }
    assert_eq!(
        residuals.step(rest, b'2', &mut fuel).unwrap(),
        ExprId::NOTHING
    );
    assert_eq!(
        residuals.step(rest, b'1', &mut fuel).unwrap(),
        ExprId::EMPTY
    );
    assert!(residuals.len() - before < 100);
}

#[test]
fn partitions_tell_apart_what_some_set_does() {
    let sets = [
        ByteSet::EMPTY,
        ByteSet::FULL,
        ByteSet::byte(0),
        ByteSet::byte(b'a'),
        ByteSet::byte(b'z'),
        ByteSet::range(b'a', b'z'),
        ByteSet::range(b'0', b'9'),
        ByteSet::range(0x80, 0xff),
        ByteSet::byte(b'a').complement(),
    ];
    for some in 0..1_usize << sets.len() {
        let some: Vec<&ByteSet> = (0..sets.len())
            .filter(|index| some >> index & 1 == 1)
            .map(|index| &sets[index])
            .collect();
        let mut classes = Classes::new();
        let all: Vec<ClassesId> = some.iter().map(|set| classes.of_set(set)).collect();
        let met = classes.meet_all(all);
        let signature =
            |byte: u8| -> Vec<bool> { some.iter().map(|set| set.contains(byte)).collect() };
        let mut listed = 0;
        for class in 0..classes.count(met) {
            let members = classes.members(met, class);
            listed += members.len();
            for &byte in members {
                assert_eq!(classes.class(met, byte), class);
                assert_eq!(signature(byte), signature(members[0]));
            }
        }
        assert_eq!(listed, 256);
        let different: BTreeSet<Vec<bool>> = (0..=u8::MAX).map(signature).collect();
        assert_eq!(classes.count(met), different.len());
        let sizes: Vec<usize> = classes
            .representatives(met)
            .iter()
            .map(|&byte| classes.members(met, classes.class(met, byte)).len())
            .collect();
        assert!(sizes.is_sorted_by(|larger, smaller| larger >= smaller));
    }
}

/// What a residual reads up to a length: whether anything may follow, and whether it may end.
fn reading(
    residuals: &mut Residuals,
    whole: ExprId,
    longest: usize,
    fuel: &mut Fuel,
) -> Vec<(Vec<u8>, bool, bool)> {
    let mut read = |word: Vec<u8>| {
        let step = |rest, byte: &u8| residuals.step(rest, *byte, fuel).unwrap();
        let rest = word.iter().fold(whole, step);
        (word, rest == ExprId::NOTHING, residuals.is_nullable(rest))
    };
    words(longest).into_iter().map(&mut read).collect()
}

/// The same without upper bounds of repetitions.
fn unbounded(regex: &Regex) -> Regex {
    let all = |parts: &[Regex]| parts.iter().map(unbounded).collect();
    match regex {
        Regex::Concat(parts) => Regex::concat(all(parts)),
        Regex::Alt(parts) => Regex::alt(all(parts)),
        Regex::Repeat { inner, min, .. } => Regex::repeat(unbounded(inner), *min, None),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_that_cannot_run_out_make_no_difference(
        regex in regexes(),
        most in prop::option::of(0_u32..6),
        bytes in 1_u32..6,
    ) {
        let any = Regex::Class(ByteSet::FULL);
        let regex = match most {
            Some(most) => Regex::And([unbounded(&regex), Regex::repeat(any, 0, Some(most))].into()),
            None => regex,
        };
        let regex = Regex::concat(vec![regex, Regex::literal(b"b")]);
        let mut fuel = Fuel::step(&Limits::default());
        let fuel = &mut fuel;
        let mut residuals = Residuals::new(0, Layers::default());
        let whole = residuals.build(&regex, &mut Built::default(), fuel).unwrap();
        let whole = residuals.trim(whole, fuel).unwrap();
        let plain = residuals.uncounted(whole, bytes, fuel).unwrap();
        let plain = residuals.trim(plain, fuel).unwrap();
        let expected = reading(&mut residuals, whole, bytes as usize, fuel);
        prop_assert_eq!(reading(&mut residuals, plain, bytes as usize, fuel), expected);
        let agreement = residuals.agreement(whole, plain, fuel).unwrap().min(LONGEST as u32);
        let expected = reading(&mut residuals, whole, agreement as usize, fuel);
        prop_assert_eq!(reading(&mut residuals, plain, agreement as usize, fuel), expected);
    }

    #[test]
    fn forms_have_the_same_numbers_in_all_stores(regexes in prop::collection::vec(regexes(), 2..6)) {
        let mut fuel = Fuel::step(&Limits::default());
        let mut numbers = |regexes: &mut dyn Iterator<Item = &Regex>| -> Vec<(ExprId, Option<u128>)> {
            let mut residuals = Residuals::new(0, Layers::default());
            let mut built = Built::default();
            let mut number = |regex: &Regex| {
                let id = residuals.build(regex, &mut built, &mut fuel).unwrap();
                (id, residuals.fingerprint(id))
            };
            regexes.map(&mut number).collect()
        };
        let there = numbers(&mut regexes.iter());
        let mut back = numbers(&mut regexes.iter().rev());
        back.reverse();
        for (index, ((id, number), (_, other))) in there.iter().zip(&back).enumerate() {
            prop_assert_eq!(number, other);
            for (another, another_number) in &there[..index] {
                prop_assert_eq!(id == another, number == another_number);
            }
        }
    }
}
