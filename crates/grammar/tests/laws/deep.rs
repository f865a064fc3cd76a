//! Sources and grammars that are made of parts of parts of parts: what they take grows with what was written.

use crate::reference;

use std::sync::Arc;

use syntagma_grammar::ir::{Grammar, Lnf, Regex};
use syntagma_grammar::syntax::{ebnf, gbnf};
use syntagma_grammar::{Limits, print};

/// `item+ % "b"+ % …`: each separator stands between all that comes before it.
fn separated(item: &str, levels: usize) -> String {
    let separators = (b'b'..=b'z').cycle().take(levels).map(char::from);
    let repeated: Vec<String> = separators.map(|sign| format!("+ % \"{sign}\"")).collect();
    format!("start ::= {item}{} ;", repeated.concat())
}

fn read(text: &str) -> Grammar {
    ebnf::parse(text, "start", &Limits::default()).unwrap()
}

#[test]
fn separated_repetitions_of_each_other_are_written_once() {
    let size = |item: &str, levels: usize| {
        let grammar = read(&separated(item, levels));
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        let sizes = [
            print::to_ebnf(&grammar).len(),
            print::to_gbnf(&grammar, None).unwrap().text.len(),
            lnf.dump().len(),
        ];
        for text in [sizes[0], sizes[1]] {
            assert!(text < 40_000, "{levels} levels are {text} bytes");
        }
        sizes
    };
    for item in ["\"a\"", "@marker(\"a\")", "<[1]>"] {
        for (long, longer) in size(item, 60).into_iter().zip(size(item, 120)) {
            assert!(longer < 3 * long, "{item}: {long} bytes became {longer}");
        }
    }
}

#[test]
fn separated_repetitions_keep_their_language() {
    let text = separated("\"a\"", 12);
    let grammar = read(&text);
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    let again = read(&print::to_ebnf(&grammar));
    let gbnf = print::to_gbnf(&grammar, None).unwrap().text;
    let gbnf = gbnf::parse(&gbnf, "root", &Limits::default()).unwrap();
    for (input, inside) in [
        ("a", true),
        ("abaca", true),
        ("amabalaka", true),
        ("amabaca", true),
        ("", false),
        ("ab", false),
        ("aa", false),
        ("aza", false),
    ] {
        let input = input.as_bytes();
        assert_eq!(
            reference::lnf_matches(&lnf, input),
            inside,
            "{}",
            lnf.dump()
        );
        for grammar in [&again, &gbnf] {
            assert_eq!(reference::grammar_matches(grammar, input), inside);
        }
    }
}

#[test]
fn counts_of_counts_are_written_once() {
    for item in ["\"a\"", "x"] {
        let body = format!("{}{item}{}", "(".repeat(12), "){2}".repeat(12));
        let grammar = read(&format!("start ::= {body} ; x ::= \"(\" x \")\" | \"a\" ;"));
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        assert!(lnf.dump().len() < 4_000, "{}", lnf.dump());
        assert!(print::to_ebnf(&grammar).len() < 1_000);
        assert!(print::to_gbnf(&grammar, None).unwrap().text.len() < 1_000);
    }
}

/// Grammars in grammars, deeper than any stack.
#[test]
fn grammars_nest_without_end() {
    let deep = |inner: &[u8]| {
        let mut grammar = Arc::new(Grammar::from_regex(Regex::literal(inner)));
        for _ in 0..200_000 {
            grammar = Arc::new(Grammar::union(&[grammar]));
        }
        grammar
    };
    let (left, right, other) = (deep(b"a"), deep(b"a"), deep(b"b"));
    assert!(left == right);
    assert!(left != other);
    // A grammar that stands in itself a hundred times over, twice each time.
    let doubled = || {
        let mut grammar = Arc::new(Grammar::from_regex(Regex::literal(b"a")));
        for _ in 0..100 {
            grammar = Arc::new(Grammar::concat(&[Arc::clone(&grammar), grammar]));
        }
        grammar
    };
    assert!(doubled() == doubled());
}
