//! Regular expressions as the engine runs them: against an independent engine, and text that is no pattern at all.

use crate::vocabularies;

use std::sync::Arc;

use crate::reference::Builder;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use regex_automata::meta;
use syntagma_engine::{
    CompiledGrammar, Error, ErrorKind, GrammarMatcher, Limits, Vocabulary, bitmask_words,
};
use syntagma_grammar::ir::{Regex, Report};
use syntagma_grammar::syntax::regex::{Dialect, ecma_search, parse};

fn vocabulary() -> Arc<Vocabulary> {
    let words = [
        "a", "b", "ab", "ba", "aaaa", "é", "-", "a-", "\n", "b\n", "1", "A",
    ];
    vocabularies::of_tokens(words.map(|word| word.as_bytes().to_vec()).to_vec())
}

/// The engine's matcher of a regular language; None if that is empty.
fn matcher(regex: &Regex, limits: &Limits) -> Result<Option<GrammarMatcher>, Error> {
    let mut b = Builder::default();
    let s = b.nonterminal("s");
    let symbol = b.regex(regex.clone());
    b.rule(s, &[symbol]);
    if regex.is_nullable() {
        b.rule(s, &[]);
    }
    let compiled =
        CompiledGrammar::from_lnf(&b.finish(), Report::default(), vocabulary(), limits, false);
    match compiled {
        Ok(compiled) => Ok(Some(GrammarMatcher::new(Arc::new(compiled)))),
        Err(error) if error.code() == "E-GRAMMAR-EMPTY" => Ok(None),
        Err(error) => Err(error),
    }
}

/// A pattern that both engines know, with parts over `letters`.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => "[ab1-]".prop_map(|text| text),
        1 => prop::sample::select(vec![".", "é", "[^a]", "[a-bé]", r"\w", r"\d", "(?i:A)", r"\n", r"\s", r"\W"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["", "^", "$", r"\b", r"\B", "(?m:^)", "(?m:$)", r"\b{start}", r"\b{end}"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..5).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            2 => (inner.clone(), "[?*+]\\??").prop_map(|(part, sign)| format!("(?:{part}){sign}")),
            1 => (inner, 0_u32..4, prop::option::of(0_u32..30)).prop_map(|(part, min, more)| {
                let max = more.map_or_else(String::new, |more| (min + more).to_string());
                format!("({part}){{{min},{max}}}")
            }),
        ]
    })
}

/// A text that is near what patterns mean.
fn texts() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["a", "b", "ab", "aaa", "é", "1", "-", "\n", "A", "bb"]);
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// How many random patterns are tried; a long run takes more.
fn cases() -> u32 {
    let given = std::env::var("REGEX_CASES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(250)
}

#[test]
fn automata_agree_with_another_engine() {
    let mut runner = TestRunner::deterministic();
    let (mut pairs, mut refused) = (0_u32, 0_u32);
    for _ in 0..cases() {
        let pattern = patterns().new_tree(&mut runner).unwrap().current();
        let Ok(theirs) = meta::Regex::new(&format!("^(?:{pattern})$")) else {
            continue;
        };
        let regex = match parse(
            &pattern,
            Dialect::Rust,
            &syntagma_grammar::Limits::default(),
        ) {
            Ok(regex) => regex,
            Err(error) => {
                assert_eq!(error.code(), "E-REGEX-UNSUPPORTED", "{pattern}: {error}");
                refused += 1;
                continue;
            }
        };
        let mut ours = matcher(&regex, &Limits::default()).unwrap();
        for _ in 0..40 {
            let text = texts().new_tree(&mut runner).unwrap().current();
            let found = ours.as_mut().is_some_and(|matcher| {
                matcher.reset();
                matcher.accept_bytes(text.as_bytes()).unwrap() && matcher.is_accepting().unwrap()
            });
            assert_eq!(found, theirs.is_match(&text), "{pattern} on {text:?}");
            pairs += 1;
        }
    }
    println!("{pairs} pairs, {refused} of {} refused", cases());
    assert!(refused * 10 < cases(), "{refused} of {} refused", cases());
}

/// Text made of what patterns are made of, in no order.
fn scraps() -> impl Strategy<Value = String> {
    let scraps = vec![
        "a",
        "b",
        "é",
        "\u{0}",
        "😀",
        "(",
        ")",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        "(?<n>",
        "(?P<n>",
        "(?i)",
        "(?x) #",
        "(?m:",
        "[",
        "]",
        "[^",
        "[^]",
        "-",
        "a-z",
        "&&",
        "[:alpha:]",
        "{",
        "}",
        "{2}",
        "{0,1000000}",
        "{3,}",
        "{1,50}",
        "*",
        "+",
        "?",
        "|",
        "^",
        "$",
        ".",
        "\\",
        "\\b",
        "\\B",
        "\\d",
        "\\W",
        "\\p{L}",
        "\\u",
        "\\u{1F600}",
        "\\ud83d",
        "\\x4",
        "\\cJ",
        "\\1",
        "\\k<n>",
        "look_",
        ",",
        " ",
    ];
    prop::collection::vec(prop::sample::select(scraps), 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text: an automaton that can be used, or an error with a place.
    #[test]
    fn any_text_is_a_pattern_or_an_error(text in scraps()) {
        let front = syntagma_grammar::Limits::default();
        let mut limits = Limits::default();
        limits.compile_fuel = 300_000;
        limits.step_fuel = 100_000;
        limits.terminal_residuals = 2_000;
        let read = [
            parse(&text, Dialect::Rust, &front),
            parse(&text, Dialect::Ecma, &front),
            ecma_search(&text, &front),
        ];
        for regex in read {
            let regex = match regex {
                Ok(regex) => regex,
                Err(error) => {
                    prop_assert!(error.code().starts_with("E-REGEX-") || error.code().starts_with("E-LIMIT-REGEX-"));
                    prop_assert!(error.location().is_some() || error.code().starts_with("E-LIMIT"), "{}", error);
                    continue;
                }
            };
            let over_limit = |error: &Error| error.kind() == ErrorKind::Limit;
            let mut matcher = match matcher(&regex, &limits) {
                Ok(Some(matcher)) => matcher,
                Ok(None) => continue,
                Err(error) => {
                    prop_assert!(over_limit(&error), "{}", error.code());
                    continue;
                }
            };
            let mut row = vec![0; bitmask_words(matcher.compiled().vocabulary().size())];
            for id in [0, 2, 4, 1] {
                if let Err(error) = matcher.fill_next_token_bitmask(&mut row).and_then(|()| matcher.accept_token(id)) {
                    prop_assert!(over_limit(&error), "{}", error.code());
                }
            }
        }
    }
}

/// What is searched for cannot be found, so text that only a search goes on with is refused.
#[test]
fn an_alternative_without_words_keeps_nothing_alive() {
    for pattern in [r"^ab$|w\b1", r"^ba$|1\b1|é\B1", r"^aaa$|b\n\b\n"] {
        let regex = ecma_search(pattern, &syntagma_grammar::Limits::default()).unwrap();
        let matcher = matcher(&regex, &Limits::default()).unwrap().unwrap();
        let size = matcher.compiled().vocabulary().size();
        let mut row = vec![0; bitmask_words(size)];
        matcher.fill_next_token_bitmask(&mut row).unwrap();
        let mut some = false;
        for id in 0..size as u32 {
            let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
            assert_eq!(
                bit,
                matcher.fork().accept_token(id).unwrap(),
                "{pattern} {id}"
            );
            some |= bit;
        }
        assert!(some, "{pattern}");
    }
}

/// Shapes that blow up other engines: an answer, or a limit that is named.
#[test]
fn shapes_that_multiply_end_in_an_answer_or_a_limit() {
    let shapes = [
        ("(a+)+$", true),
        ("(a|a)*", true),
        ("(a|aa)+", true),
        ("(.*a){12}", true),
        ("([a-z]+)*[0-9]", true),
        ("a{0,1000000}", true),
        ("(a{0,100}){0,100}", true),
        ("(?:a?){90}a{90}", true),
        (".*a.{12}", true),
        ("^(?=.*a)(?=.*b)(?=.*1)(?=.*-).{4,1000000}$", true),
        ("^((?!ab).){0,1000000}$", true),
        (
            "^(?=.*a.*b)(?=.*b.*1)(?=.*-.*a)(?=.*1.*1)(?=.*b.*b)(?=.*a.*a).{0,1000000}$",
            true,
        ),
        ("(((a{0,1000}){0,1000}){0,1000})", false),
        ("(a{0,1000000}){0,1000000}", false),
    ];
    for (pattern, wanted) in shapes {
        let regex = match parse(pattern, Dialect::Ecma, &syntagma_grammar::Limits::default()) {
            Ok(regex) => regex,
            Err(error) => {
                assert!(
                    !wanted && error.code().starts_with("E-LIMIT-"),
                    "{pattern}: {error}"
                );
                continue;
            }
        };
        assert!(wanted, "{pattern}");
        let mut matcher = matcher(&regex, &Limits::default()).unwrap().unwrap();
        let mut row = vec![0; bitmask_words(matcher.compiled().vocabulary().size())];
        for step in 0..40 {
            matcher.fill_next_token_bitmask(&mut row).unwrap();
            let id = [0, 4, 1, 2][step % 4];
            if row[0] >> id & 1 == 1 {
                assert!(matcher.accept_token(id).unwrap());
            }
        }
    }
}
