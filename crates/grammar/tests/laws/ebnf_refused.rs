//! The grammar language: what is refused or warned of, where, and its limits.

use crate::refusals;

use syntagma_grammar::ir::{Grammar, Lnf};
use syntagma_grammar::syntax::ebnf;
use syntagma_grammar::{Error, Limits, SourceLocation};

fn parse(text: &str) -> Result<Grammar, Error> {
    ebnf::parse(text, "start", &Limits::default())
}

fn parsed(text: &str) -> Grammar {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const REFUSED: &[refusals::Refused] = &[
    (
        "E-GRAMMAR-UNDEFINED",
        &[
            ("start ::= other ;", 1, 11),
            ("start ::= except!(part) ;", 1, 19),
        ],
    ),
    (
        "E-GRAMMAR-START",
        &[("begin ::= \"a\" ;", 1, 1), ("", 1, 1)],
    ),
    (
        "E-GRAMMAR-SYNTAX",
        &[
            ("start ::= \"a ;\n", 1, 11),
            ("start ::= #\"a", 1, 11),
            ("start ::= (* a", 1, 11),
            ("start ::= ( \"a\" ;", 1, 11),
            ("start ::= \"a\" ) ;", 1, 15),
            ("start ::= ( \"a\" ] ;", 1, 17),
            ("start ::= ;", 1, 11),
            ("start ::= \"a\" | ;", 1, 17),
            ("start ::= ~ ;", 1, 13),
            ("start ::= \"a\"{2,1} ;", 1, 14),
            ("start ::= \"a\"{99999999999} ;", 1, 15),
            ("start ::= \"\\q\" ;", 1, 12),
            ("start ::= \"\\u{D800}\" ;", 1, 12),
            ("start : \"a\" ;", 1, 7),
            ("start -> \"a\" ;", 1, 7),
            // A quote that is not closed, before what it swallows.
            ("start ::= \"a ;\nb ::= \"c\" ;", 1, 11),
            ("start ::= b \"a ;\nb ::= 'c' ;\nc ::= \"d\" ;", 1, 13),
            ("start ::= \"\\400\" ;", 1, 12),
            ("start ::= \"a\"{,3} ;", 1, 14),
            ("start ::= \"a\" || \"b\" ;", 1, 16),
            ("start ::= \"a\" % \",\" ;", 1, 15),
            ("start ::= \"a\"+ % b? \",\" ; b ::= \" \" ;", 1, 19),
            ("start ::= lazy!(\"a\", \"b\") ;", 1, 20),
            ("start ::= . ;", 1, 11),
            ("start ::= [0-9] ;", 1, 13),
            ("start ::= what! ;", 1, 11),
            ("start ::= @marker(\"\") ;", 1, 19),
            ("start ::= <|a ;", 1, 11),
            ("start ::= <[3..1]> ;", 1, 11),
            ("start ::= #e\"a ;", 1, 11),
            ("start ::= #q\"a\" ;", 1, 11),
            ("start ::= #substrs ;", 1, 11),
            ("start ::= except!(\"a\", 5 \"b\") ;", 1, 26),
            ("start ::= except!(\"a\", 5, 6) ;", 1, 25),
            ("start ::= until!(\"a\", 5) ;", 1, 23),
        ],
    ),
    (
        "E-REGEX-SYNTAX",
        &[
            ("start ::= #e\"a(b\" ;", 1, 15),
            ("start ::= \"é\" #\"a(b\" ;", 1, 18),
            // Where two backslashes are one, places are still those of the source.
            (r#"start ::= #"\\d(b" ;"#, 1, 16),
            (r#"start ::= #"a\\" ;"#, 1, 14),
        ],
    ),
    (
        "E-GRAMMAR-IRREGULAR",
        &[
            (
                "start ::= \"a\" & (\"b\" part) ; part ::= @marker(\"c\") ;",
                1,
                18,
            ),
            ("start ::= ~part ; part ::= \"c\" | \"d\" part ;", 1, 38),
        ],
    ),
    (
        "E-GRAMMAR-UNPRODUCTIVE",
        &[
            ("start ::= start ;", 1, 1),
            ("start ::= start \"a\" ;", 1, 1),
            ("start ::= \"a\" b ; b ::= b b ;", 1, 19),
            (
                "start ::= \"a\" b ;\nb ::= c{2} ;\nc ::= (\"\" b \"x\")+ ;",
                2,
                1,
            ),
        ],
    ),
    (
        "E-GRAMMAR-NOTHING",
        &[
            ("start ::= \"a\" & \"b\" ;", 1, 11),
            ("start ::= \"b\" | ~any! ;", 1, 17),
            ("start ::= #\"[a&&b]\" ;", 1, 11),
        ],
    ),
    (
        "E-GRAMMAR-EXCEPT",
        &[
            ("start ::= except!(\"\") ;", 1, 19),
            ("start ::= except!(x) ; x ::= \"a\"* ;", 1, 19),
            ("start ::= until!(#\"a?\") ;", 1, 18),
            ("start ::= #ex\"a?\" ;", 1, 11),
        ],
    ),
    (
        "E-REGEX-UNSUPPORTED",
        &[
            ("start ::= #\"a(b)\\1\" ;", 1, 17),
            // What stands around the pattern would have to be seen.
            ("start ::= except!(\"x\" #\"\\by\") ;", 1, 23),
            ("start ::= until!(w*) ; w ::= #\"a$\" \"b\" ;", 1, 30),
            ("start ::= except!(~#\"^a\" & \"b\") ;", 1, 20),
        ],
    ),
];

#[test]
fn refusals_have_a_code_and_a_place() {
    refusals::check(parse, REFUSED);
}

#[test]
fn a_pattern_with_backslashes_says_how_they_are_written() {
    let error = parse(r#"start ::= #"[^\\]" ;"#).unwrap_err();
    assert!(error.hint().unwrap().contains(r"write \\\\"), "{error}");
}

#[test]
fn hints_name_what_is_near() {
    let error = parse("start ::= numbr ; number ::= \"1\" ; word ::= \"x\" ;").unwrap_err();
    assert_eq!(error.hint(), Some("is one of these meant: number?"));
}

#[test]
fn an_empty_language_is_refused() {
    for text in [
        "start ::= nothing! ;",
        "start ::= \"a\" nothing! ;",
        "start ::= \"a\" b ; b ::= b b | nothing! ;",
    ] {
        let error = Lnf::new(&parsed(text), &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "E-GRAMMAR-EMPTY", "{text}");
    }
    // It never ends, and every beginning of its text can be continued.
    assert!(Lnf::new(&parsed("start ::= \"a\" start ;"), &Limits::default()).is_ok());
}

#[test]
fn warnings_have_a_place() {
    // (grammar, code and line of each warning)
    type Said = &'static [(&'static str, usize)];
    let cases: &[(&str, Said)] = &[
        (
            "start ::= \"a\" start | x ;\nx ::= \"b\" x ;",
            &[("W-GRAMMAR-ENDLESS", 1)],
        ),
        ("start ::= \"a\" x? ;\nx ::= \"b\" x ;", &[]),
        (
            "start ::= \"a\" ;\nb ::= c{2} ;\nc ::= (\"\" b \"x\")+ ;",
            &[
                ("W-GRAMMAR-UNPRODUCTIVE", 2),
                ("W-GRAMMAR-UNUSED", 2),
                ("W-GRAMMAR-UNPRODUCTIVE", 3),
                ("W-GRAMMAR-UNUSED", 3),
            ],
        ),
        ("start ::=\n#\"(?i:select)\" ;", &[("W-REGEX-CASE", 2)]),
        ("start ::= #\"(?i)[a-z]\" ;", &[("W-REGEX-CASE", 1)]),
        ("start ::= #\"(?i-u:select)(?i:not|[b-d])\" ;", &[]),
        ("start ::= #\"(?:(?i)a)s(?i)é\" ;", &[]),
        (
            "start ::= \"a\" ;\nx ::= y ;\ny ::= \"b\" ;",
            &[("W-GRAMMAR-UNUSED", 2), ("W-GRAMMAR-UNUSED", 3)],
        ),
        ("start ::= ~x ;\nx ::= y \"b\" ; y ::= \"c\" ;", &[]),
        ("start ::= start | \"a\" ;", &[("W-GRAMMAR-CYCLE", 1)]),
        (
            "start ::= \"(\" a \")\" ;\na ::= b c | \"x\" ;\nb ::= [a] ;\nc ::= \"y\"* ;",
            &[("W-GRAMMAR-CYCLE", 2)],
        ),
        ("start ::= a+ ; a ::= \"x\" | start \"y\" ;", &[]),
        (
            "start ::= a{2,} ; a ::= \"\" | start ;",
            &[("W-GRAMMAR-CYCLE", 1)],
        ),
    ];
    for (text, wanted) in cases {
        let grammar = parsed(text);
        let found: Vec<(&str, usize)> = grammar
            .warnings()
            .iter()
            .map(|warning| {
                let Some(SourceLocation::Text { line, excerpt, .. }) = warning.location() else {
                    panic!("no place: {warning}");
                };
                assert!(excerpt.ends_with('^') && warning.hint().is_some());
                (warning.code(), *line)
            })
            .collect();
        assert_eq!(found, *wanted, "{text}");
    }
}

fn nested(depth: usize) -> String {
    format!(
        "start ::= {}\"a\"{} ;",
        "(".repeat(depth),
        ")".repeat(depth)
    )
}

#[test]
fn limits_hold_at_the_edge() {
    let pattern_product = |inner: u32| format!("start ::= #\"(?:a{{{inner}}}b){{5}}\" ;");
    let outer_product = |inner: u32| format!("start ::= #\"a{{{inner}}}\"{{5}} ;");
    let mut limits = refusals::narrow();
    limits.regex_bytes = 20;
    let pattern = |count: usize| format!("start ::= #\"{}\" ;", "a".repeat(count));
    let mut cases = refusals::edges("start ::= ", " ;");
    cases.extend([
        (
            pattern_product(10),
            pattern_product(11),
            "E-LIMIT-REGEX-EXPANSION",
        ),
        (
            outer_product(10),
            outer_product(11),
            "E-LIMIT-REGEX-EXPANSION",
        ),
        (pattern(20), pattern(21), "E-LIMIT-REGEX-BYTES"),
    ]);
    refusals::check_edges(
        |text, limits| ebnf::parse(text, "start", limits),
        &limits,
        &cases,
    );
}

#[test]
fn fuel_bounds_the_normal_form() {
    let grammar = parsed("start ::= a a a ; a ::= \"x\" a | \"y\" ;");
    let with = |compile_fuel: u64| {
        let mut limits = Limits::default();
        limits.compile_fuel = compile_fuel;
        Lnf::new(&grammar, &limits)
    };
    let needed = (1..10_000).find(|&fuel| with(fuel).is_ok());
    let needed = needed.expect("some fuel is enough");
    let error = with(needed - 1).unwrap_err();
    assert_eq!(error.code(), "E-LIMIT-FUEL");
}

#[test]
fn the_deepest_nesting_is_read_and_dropped() {
    let mut limits = Limits::default();
    limits.grammar_nesting = 100_000;
    let error = ebnf::parse(&nested(100_000), "start", &limits).unwrap_err();
    assert_eq!(error.code(), "E-LIMIT-GRAMMAR-NESTING");
    let sequences = format!(
        "start ::= {}\"a\"{} ;",
        "(\"a\" ".repeat(1_000),
        ")".repeat(1_000)
    );
    assert!(Lnf::new(&ebnf::parse(&sequences, "start", &limits).unwrap(), &limits).is_ok());
    let options = format!(
        "start ::= {} rule {} ; rule ::= \"a\" ;",
        "[".repeat(900),
        "]".repeat(900)
    );
    let grammar = ebnf::parse(&options, "start", &limits).unwrap();
    assert!(Lnf::new(&grammar, &limits).is_ok());
}
