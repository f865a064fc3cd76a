//! Regular expressions: against `regex-automata` on random patterns, and ECMA-262 where it differs.

use crate::reference;

use proptest::prelude::*;
use regex_automata::meta;
use syntagma_grammar::syntax::regex::{Dialect, ecma_search, parse};
use syntagma_grammar::{Error, Limits, SourceLocation};

/// A pattern; `everywhere`: one that Rust and ECMA-262 read alike.
fn pattern(everywhere: bool) -> impl Strategy<Value = String> {
    let dialect = if everywhere {
        "[ab]"
    } else {
        "\\\\w|\\(\\?i:A\\)"
    };
    let leaf = prop_oneof![
        4 => "[ab]".prop_map(|text| text),
        1 => Just("é".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[a-bé]".to_owned()),
        2 => dialect.prop_map(|text| text),
        1 => Just(String::new()),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            2 => (inner.clone(), "[?*+]\\??").prop_map(|(part, sign)| format!("(?:{part}){sign}")),
            1 => (inner, 0u32..3, 0u32..3)
                .prop_map(|(part, min, more)| format!("({part}){{{min},{}}}", min + more)),
        ]
    })
}

fn texts() -> Vec<String> {
    let letters = ['a', 'b', 'é'];
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..3 {
        let until = all.len();
        for at in from..until {
            for letter in letters {
                all.push(format!("{}{letter}", all[at]));
            }
        }
        from = until;
    }
    all
}

/// A pattern whose alternatives are held to the edges at random.
fn anchored() -> impl Strategy<Value = String> {
    let one = (any::<bool>(), pattern(true), any::<bool>()).prop_map(|(start, inner, end)| {
        format!(
            "{}{inner}{}",
            if start { "^" } else { "" },
            if end { "$" } else { "" }
        )
    });
    prop::collection::vec(one, 1..4).prop_map(|parts| format!("(?:{})", parts.join("|")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_matches_agree(pattern in pattern(false)) {
        let ours = parse(&pattern, Dialect::Rust, &Limits::default()).unwrap();
        let theirs = meta::Regex::new(&format!("^(?:{pattern})$")).unwrap();
        for text in texts() {
            prop_assert_eq!(
                reference::regex_matches(&ours, text.as_bytes()), theirs.is_match(&text), "{} on {:?}", pattern, text
            );
        }
    }

    #[test]
    fn searches_agree(pattern in anchored()) {
        let ours = ecma_search(&pattern, &Limits::default()).unwrap();
        let theirs = meta::Regex::new(&pattern).unwrap();
        for text in texts() {
            prop_assert_eq!(
                reference::regex_matches(&ours, text.as_bytes()), theirs.is_match(&text), "{} on {:?}", pattern, text
            );
        }
    }
}

/// (pattern, texts that match as a whole, texts that do not)
const ECMA: &[reference::Meaning] = &[
    (r"\d+", &["12"], &["٣", ""]),
    (r"\w", &["a", "_", "9"], &["é", "-"]),
    (
        r"\s",
        &[" ", "\u{FEFF}", "\u{2028}", "\t"],
        &["x", "\u{85}"],
    ),
    (r"[\s\d]", &[" ", "1"], &["x"]),
    (r"[^\d]", &["x", "é"], &["1"]),
    (r"[\D]", &["x"], &["1"]),
    (r"a\/b", &["a/b"], &["ab"]),
    (r"\cJ", &["\n"], &["J"]),
    (r"[^]", &["x", "\n"], &[""]),
    (r"a|[]", &["a"], &["", "b"]),
    (r"(?<year>\d)(?:x)", &["1x"], &["x"]),
    (r"\u0041\u{42}\x43", &["ABC"], &["abc"]),
    (r"\ud83d\ude00", &["😀"], &["x"]),
    (r"\p{Lu}", &["É"], &["é"]),
    (r"\p{Script=Greek}", &["α"], &["a"]),
    (r"(?<a>b)|(?<a>c)", &["b", "c"], &["bc"]),
    (r"x??|y{1}?", &["x", "y", ""], &["yy"]),
    (r"a{,2}", &["a{,2}"], &["aa"]),
    (r"a{2", &["a{2"], &["aa"]),
    (r"x}]", &["x}]"], &["x"]),
    (r".", &["a", "\u{85}"], &["\n", "\u{2028}"]),
    (r"[a&&b]", &["a", "&", "b"], &["ab"]),
    (r"[[a]", &["[", "a"], &["]"]),
    (r"[a\-z]", &["a", "-", "z"], &["b"]),
    (r"[a-]", &["a", "-"], &["b"]),
    (r"[-a]", &["a", "-"], &["b"]),
    (r"[\w-.]", &["a", "-", "."], &["!"]),
    (r"[\b]", &["\u{8}"], &["b"]),
    (r"^ab$", &["ab"], &["a"]),
    (r"a+?b*?", &["aab"], &["b"]),
    (r"\-\_\@\ ", &["-_@ "], &["-"]),
    (r"# a", &["# a"], &["a"]),
];

#[test]
fn ecma_patterns_mean_what_ecma_says() {
    let limits = Limits::default();
    reference::check_regexes(|pattern| parse(pattern, Dialect::Ecma, &limits), ECMA);
}

#[test]
fn escaped_punctuation_stands_for_itself() {
    let limits = Limits::default();
    let marks = (b' '..0x7F)
        .map(char::from)
        .filter(char::is_ascii_punctuation);
    for mark in marks {
        for dialect in [Dialect::Rust, Dialect::Ecma] {
            for pattern in [format!("\\{mark}a"), format!("[\\{mark}]a")] {
                let regex = parse(&pattern, dialect, &limits)
                    .unwrap_or_else(|error| panic!("{pattern}: {error}"));
                for (text, wanted) in [(format!("{mark}a"), true), ("a".to_owned(), false)] {
                    let found = reference::regex_matches(&regex, text.as_bytes());
                    assert_eq!(found, wanted, "{pattern} ({dialect:?}) on {text:?}");
                }
            }
        }
    }
}

/// (pattern in Rust's syntax, texts that match as a whole, texts that do not)
const ANGLES: &[reference::Meaning] = &[
    (r"\<(yes|no)\>", &["<yes>", "<no>"], &["yes", "no"]),
    (r"(?x) \< a \>", &["<a>"], &["a"]),
    (r"[\<-\>]", &["<", "=", ">"], &["a"]),
    (r"\\<", &["\\<"], &["<"]),
    (r"\b{start}a\b{end}", &["a"], &["<a>"]),
];

#[test]
fn escaped_angles_are_characters() {
    let limits = Limits::default();
    reference::check_regexes(|pattern| parse(pattern, Dialect::Rust, &limits), ANGLES);
}

fn refused(pattern: &str, dialect: Dialect) -> Error {
    let read = parse(pattern, dialect, &Limits::default()).map(|_| ());
    read.expect_err(pattern)
}

#[test]
fn refusals_have_a_code_and_a_column() {
    let cases = [
        (r"(ab(?=cde))*x", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 4),
        (r"(é(?<!bcé))+", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 3),
        (r"((?!ab).)*[a-z]", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 2),
        (
            r".(?=a.*b).*(?<=c.*d).*x",
            Dialect::Ecma,
            "E-REGEX-UNSUPPORTED",
            2,
        ),
        (r"(a)\1", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 4),
        (r"\ud800", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 1),
        (r"b(?i:a)", Dialect::Ecma, "E-REGEX-UNSUPPORTED", 2),
        (r"(a)\1{3,2}", Dialect::Ecma, "E-REGEX-SYNTAX", 6),
        (r"(?>a)", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"a++", Dialect::Ecma, "E-REGEX-SYNTAX", 3),
        (r"a{2}{3}", Dialect::Ecma, "E-REGEX-SYNTAX", 5),
        (r"a|{1}", Dialect::Ecma, "E-REGEX-SYNTAX", 3),
        (r"^*", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"\b+", Dialect::Ecma, "E-REGEX-SYNTAX", 3),
        (r"(?<=a)*", Dialect::Ecma, "E-REGEX-SYNTAX", 7),
        (r"(?i)a", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(?x:a)", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(?-:a)", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(?P<a>b)", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(?<1>a)", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(?<a>b)(?<a>c)", Dialect::Ecma, "E-REGEX-SYNTAX", 8),
        (r"\u{110000}", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"a\p{Greek}", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"a(b", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"a[b", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"[z-a]", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"a\q", Dialect::Ecma, "E-REGEX-SYNTAX", 2),
        (r"\", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"*a", Dialect::Ecma, "E-REGEX-SYNTAX", 1),
        (r"(ab(?=cde))*x", Dialect::Rust, "E-REGEX-UNSUPPORTED", 4),
        (r"(a)\1", Dialect::Rust, "E-REGEX-UNSUPPORTED", 4),
        (r"a)", Dialect::Rust, "E-REGEX-SYNTAX", 2),
        (r"\<\>a)", Dialect::Rust, "E-REGEX-SYNTAX", 6),
        (r"(?\<a>b)", Dialect::Rust, "E-REGEX-SYNTAX", 3),
    ];
    for (pattern, dialect, code, column) in cases {
        let error = refused(pattern, dialect);
        assert_eq!(error.code(), code, "{pattern}: {error}");
        let Some(SourceLocation::Text { column: found, .. }) = error.location() else {
            panic!("no place: {error}")
        };
        assert_eq!(*found, column, "{pattern}: {error}");
    }
}

#[test]
fn limits_hold_at_the_edge() {
    let mut limits = Limits::default();
    limits.regex_bytes = 12;
    limits.regex_repetition = 30;
    limits.regex_expansion = 60;
    limits.grammar_nesting = 4;
    for (at, past, code) in [
        ("aaaaaaaaaaaa", "aaaaaaaaaaaaa", "E-LIMIT-REGEX-BYTES"),
        ("a{30}", "a{31}", "E-LIMIT-REGEX-REPETITION"),
        ("a{30,}", "a{31,}", "E-LIMIT-REGEX-REPETITION"),
        ("(a{6}){10}", "(a{6}){11}", "E-LIMIT-REGEX-EXPANSION"),
        ("((((a))))", "(((((a)))))", "E-LIMIT-REGEX-NESTING"),
    ] {
        for dialect in [Dialect::Rust, Dialect::Ecma] {
            assert!(parse(at, dialect, &limits).is_ok(), "{at}");
            assert_eq!(parse(past, dialect, &limits).expect_err(past).code(), code);
        }
    }
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    for dialect in [Dialect::Rust, Dialect::Ecma] {
        let read = |depth| parse(&nested(depth), dialect, &Limits::default());
        assert!(read(200).is_ok());
        let error = read(201).expect_err("too deep");
        assert_eq!(error.code(), "E-LIMIT-REGEX-NESTING");
        let detail = error.limit_detail().expect("a limit");
        assert_eq!(detail, ("grammar_nesting", 201, 200));
        assert!(error.hint().is_some() && error.location().is_some());
    }
    // A large count alone is no product, and nothing is expanded.
    assert!(parse("a{1000000}", Dialect::Ecma, &Limits::default()).is_ok());
}
