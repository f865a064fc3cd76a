//! Look-around against the plainest meaning there is: a pattern as a tree, tried at every place of a text.

use crate::reference;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use syntagma_grammar::Limits;
use syntagma_grammar::syntax::regex::{Dialect, ecma_search, parse};

#[derive(Debug, Clone)]
enum Pattern {
    Char(char),
    Any,
    Except(char),
    Start,
    End,
    /// A word boundary, or none.
    Boundary(bool),
    Seq(Vec<Pattern>),
    Alt(Vec<Pattern>),
    Repeat(Box<Pattern>, u32, Option<u32>),
    /// Ahead or behind, negated or not.
    Look(bool, bool, Box<Pattern>),
}

impl Pattern {
    fn text(&self) -> String {
        match self {
            Self::Char(c) => c.to_string(),
            Self::Any => ".".to_owned(),
            Self::Except(c) => format!("[^{c}]"),
            Self::Start => "^".to_owned(),
            Self::End => "$".to_owned(),
            Self::Boundary(true) => r"\b".to_owned(),
            Self::Boundary(false) => r"\B".to_owned(),
            Self::Seq(parts) => parts.iter().map(Self::text).collect(),
            Self::Alt(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::text).collect();
                format!("(?:{})", parts.join("|"))
            }
            Self::Repeat(inner, min, max) => {
                let max = max.map_or_else(String::new, |max| max.to_string());
                format!("(?:{}){{{min},{max}}}", inner.text())
            }
            Self::Look(ahead, negated, inner) => {
                let sign = match (ahead, negated) {
                    (true, false) => "=",
                    (true, true) => "!",
                    (false, false) => "<=",
                    (false, true) => "<!",
                };
                format!("(?{sign}{})", inner.text())
            }
        }
    }

    /// Where a match that begins at `start` may end, ascending.
    fn ends(&self, text: &[char], start: usize) -> Vec<usize> {
        let one = |fits: bool| if fits { vec![start + 1] } else { Vec::new() };
        let here = |fits: bool| if fits { vec![start] } else { Vec::new() };
        let is_word = |at: Option<usize>| {
            at.and_then(|at| text.get(at))
                .is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_')
        };
        match self {
            Self::Char(c) => one(text.get(start) == Some(c)),
            Self::Any => one(text.get(start).is_some_and(|c| *c != '\n')),
            Self::Except(c) => one(text.get(start).is_some_and(|other| other != c)),
            Self::Start => here(start == 0),
            Self::End => here(start == text.len()),
            Self::Boundary(wanted) => {
                here((is_word(start.checked_sub(1)) != is_word(Some(start))) == *wanted)
            }
            Self::Seq(parts) => parts.iter().fold(vec![start], |now, part| {
                unique(now.iter().flat_map(|&at| part.ends(text, at)).collect())
            }),
            Self::Alt(parts) => unique(
                parts
                    .iter()
                    .flat_map(|part| part.ends(text, start))
                    .collect(),
            ),
            Self::Repeat(inner, min, max) => {
                let (mut now, mut all) = (vec![start], Vec::new());
                // More rounds than places bring nothing new.
                for round in 0..=max.unwrap_or(min + text.len() as u32 + 1) {
                    if round >= *min {
                        all.extend(&now);
                    }
                    now = unique(now.iter().flat_map(|&at| inner.ends(text, at)).collect());
                }
                unique(all)
            }
            Self::Look(true, negated, inner) => {
                here(inner.ends(text, start).is_empty() == *negated)
            }
            Self::Look(false, negated, inner) => {
                let found = (0..=start).any(|from| inner.ends(text, from).contains(&start));
                here(found != *negated)
            }
        }
    }
}

fn unique(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}

fn patterns() -> impl Strategy<Value = Pattern> {
    let letter = || prop::sample::select(vec!['a', 'b', '-']);
    let leaf = prop_oneof![
        6 => letter().prop_map(Pattern::Char),
        2 => Just(Pattern::Any),
        1 => letter().prop_map(Pattern::Except),
        1 => Just(Pattern::Start),
        1 => Just(Pattern::End),
        1 => any::<bool>().prop_map(Pattern::Boundary),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..5).prop_map(Pattern::Seq),
            1 => prop::collection::vec(inner.clone(), 2..4).prop_map(Pattern::Alt),
            2 => (inner.clone(), 0_u32..3, prop::option::of(0_u32..3)).prop_map(|(inner, min, more)| {
                Pattern::Repeat(Box::new(inner), min, more.map(|more| min + more))
            }),
            3 => (any::<bool>(), any::<bool>(), inner)
                .prop_map(|(ahead, negated, inner)| Pattern::Look(ahead, negated, Box::new(inner))),
        ]
    })
}

fn texts() -> Vec<String> {
    reference::strings(b"ab-", 3)
        .into_iter()
        .map(|text| String::from_utf8(text).unwrap())
        .collect()
}

/// How many random patterns are tried; a long run takes more.
fn cases() -> u32 {
    let given = std::env::var("REGEX_CASES").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(80)
}

#[test]
fn random_look_around_is_exact_or_refused() {
    let mut runner = prop::test_runner::TestRunner::deterministic();
    let (mut refused, mut pairs) = (0, 0);
    for _ in 0..cases() {
        let tree = patterns().new_tree(&mut runner).unwrap().current();
        let pattern = tree.text();
        let limits = Limits::default();
        for (dialect, search) in [
            (Dialect::Ecma, true),
            (Dialect::Ecma, false),
            (Dialect::Rust, false),
        ] {
            let read = if search {
                ecma_search(&pattern, &limits)
            } else {
                parse(&pattern, dialect, &limits)
            };
            let regex = match read {
                Ok(regex) => regex,
                Err(error) => {
                    assert_eq!(error.code(), "E-REGEX-UNSUPPORTED", "{pattern}: {error}");
                    assert!(error.location().is_some() && error.hint().is_some());
                    refused += 1;
                    continue;
                }
            };
            for text in texts() {
                let chars: Vec<char> = text.chars().collect();
                let starts = if search { 0..=chars.len() } else { 0..=0 };
                let wanted = starts.into_iter().any(|start| {
                    let ends = tree.ends(&chars, start);
                    !ends.is_empty() && (search || ends.contains(&chars.len()))
                });
                pairs += 1;
                assert_eq!(
                    reference::regex_matches(&regex, text.as_bytes()),
                    wanted,
                    "{pattern} ({}) on {text:?}",
                    if search { "search" } else { "whole" }
                );
            }
        }
    }
    println!("{pairs} pairs, {refused} of {} refused", 3 * cases());
    assert!(refused < cases(), "{refused} of {} refused", 3 * cases());
}

/// (pattern, texts that it is found in, texts that it is not)
const USUAL: &[reference::Meaning] = &[
    // Demands on a password.
    (
        r"^(?=.*[A-Z])(?=.*\d).{4,}$",
        &["aB3d", "B3dd5"],
        &["ab3d", "aBcd", "B3d"],
    ),
    (r"^(?!.*\.\.)[a-z.]+$", &["a.b", "a"], &["a..b", ""]),
    (
        r"^(?!-)[a-z-]{1,5}(?<!-)$",
        &["a", "a-b"],
        &["-a", "a-", "-", "aaaaaa"],
    ),
    (
        r"^((?!-)[a-z-]{1,5}(?<!-)\.)+[a-z]+$",
        &["a.b", "a-b.c.d"],
        &["a-.b", "-a.b", "a.-b.c"],
    ),
    (
        r"^(?=.{1,6}$)[a-z]+(\.[a-z]+)*$",
        &["ab.cd", "abcdef"],
        &["ab.cdef", "", ".a"],
    ),
    (r"^((?!(c|C)(d|D)).)*$", &["c-d", "", "dc"], &["xcDx", "cd"]),
    (
        r"^(?:(?!--)[a-z-])*;x$",
        &["a-b;x", ";x"],
        &["a--b;x", "a-b"],
    ),
    (
        r"\bfoo\b",
        &["foo", "a foo.", "foo-"],
        &["food", "a_foo", "fo"],
    ),
    (r"\Bar", &["bar", "car"], &["ar", "-ar"]),
    (
        r"foo(?!bar)",
        &["foo", "foobaz", "foobarfoo"],
        &["foobar", "fo"],
    ),
    (r"(?<=\$)\d+", &["$1", "a$12"], &["1", "$a"]),
    (r"(?<!\$)\b\d+", &["1", "a 12"], &["$1", "$12"]),
    (r"(?<!ab)c", &["c", "bc", "abcc"], &["abc"]),
    (r"a^b|x$y", &[], &["ab", "xy"]),
    (r"(^|,)a($|,)", &["a", "b,a", "a,b"], &["ba", "ab"]),
    (r"^(?=a)(?!ab)a", &["ac", "a"], &["ab", "b"]),
    (r"^(?=(?!b)\w)", &["a"], &["b", ""]),
    (r"^(?:a(?=b)|b)+$", &["ab", "bab", "b"], &["a", "aab"]),
];

#[test]
fn usual_look_around_means_what_ecma_says() {
    let limits = Limits::default();
    reference::check_regexes(|pattern| ecma_search(pattern, &limits), USUAL);
}
