//! The grammar language: what it means, what it refuses and where, and its limits.

mod reference;
mod refusals;

use std::sync::Arc;

use syntagma_grammar::ir::{Expr, Grammar, Lnf, TokenSet};
use syntagma_grammar::syntax::{ebnf, json_schema};
use syntagma_grammar::{Diagnostic, Error, Limits, Place, print};

fn parse(text: &str) -> Result<Grammar, Error> {
    ebnf::parse(text, "start", &Limits::default())
}

fn parsed(text: &str) -> Grammar {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// (grammar, what it matches, what it does not)
const MEANING: &[reference::Meaning] = &[
    (r#"start ::= "a" "b" ;"#, &["ab"], &["", "a", "abb"]),
    (r#"start ::= "a", 'b'"#, &["ab"], &["a,b"]),
    (r#"start ::= "a" | "b" "c" ;"#, &["a", "bc"], &["ac", "b"]),
    (r#"start ::= ("a" | "b") "c" ;"#, &["ac", "bc"], &["a"]),
    // A pattern is written as a string; what no string has as an escape is the pattern's own.
    (
        r#"start ::= #"a\\.b" ;"#,
        &["a.b"],
        &["axb", r"a\.b", r"a\xb"],
    ),
    (r"start ::= #'\\d\d' ;", &["12"], &[r"\d1", "d1"]),
    (
        r#"start ::= #"\\\\" | #'\"\'' ;"#,
        &[r"\", "\"'"],
        &["", r"\\"],
    ),
    (
        r#"start ::= #"[^\"\\\\\x00-\x1f]" ;"#,
        &["a", "/"],
        &[r"\", "\"", "\n"],
    ),
    (r#"start ::= #e"\\d*;" ;"#, &["1;"], &["1;2;", "d;"]),
    (
        r#"start ::= ["a"] "b"? "c" ;"#,
        &["abc", "c", "bc"],
        &["aac"],
    ),
    (r#"start ::= {"a"} "b"* "c"+ ;"#, &["c", "aabbcc"], &["ab"]),
    (
        r#"start ::= "a"{2} "b"{1,2} "c"{1,} ;"#,
        &["aabc", "aabbccc"],
        &["abc", "aabbb", "aab"],
    ),
    (
        r#"start ::= item{1,3} % "," ; item ::= "x" | "y" "z" ;"#,
        &["x", "x,yz", "x,x,x"],
        &["", "x,", "x,x,x,x"],
    ),
    (
        r#"start ::= item* % "," ; item ::= @part("x") ;"#,
        &["", "x", "x,x"],
        &[",", "x,"],
    ),
    (r#"start ::= "x"* % "," ;"#, &["", "x", "x,x"], &[",", "x,"]),
    (
        r#"start ::= #"[a-c]+" & ~("b" | #"c.*") ;"#,
        &["a", "bb", "abc"],
        &["b", "c", "cc", ""],
    ),
    (
        r#"start ::= complement!("a") & byte! ;"#,
        &["b"],
        &["a", "", "bb"],
    ),
    (
        r#"start ::= "[" except!("--") "]" ;"#,
        &["[]", "[-]", "[a-b]"],
        &["[--]", "[a--b]"],
    ),
    (
        r#"start ::= until!("ab") ;"#,
        &["ab", "aab", "xxab"],
        &["abab", "a", "abx"],
    ),
    // A bound counts bytes: `é` has two.
    (
        r#"start ::= except!("--", 3) ;"#,
        &["", "a-b", "é-"],
        &["a--", "abcd", "éé"],
    ),
    (
        r#"start ::= "[" except!(C, 2) C ; C ::= "!" | "?" "?" ;"#,
        &["[!", "[ab??", "[?!"],
        &["[a!!", "[abc!"],
    ),
    (
        r#"start ::= except!(stop) stop ; stop ::= mark{2} ; mark ::= "-" ;"#,
        &["--", "a--", "-a--"],
        &["-", "a----b"],
    ),
    (
        r#"start ::= ~word & #"[a-z]+" ; word ::= "if" | "in" "t"? ;"#,
        &["i", "ints"],
        &["if", "in", "int", ""],
    ),
    (
        r#"start ::= #e"[ab]*aa" ;"#,
        &["aa", "abaa", "baa"],
        &["aaa", "aab", "abab", "aabaa"],
    ),
    (r"start ::= #e'b|ab+' ;", &["b", "ab"], &["abb"]),
    (
        r#"start ::= #ex"b+|c" ;"#,
        &["", "a", "ad"],
        &["b", "abd", "c"],
    ),
    (
        r#"start ::= lazy!(#"a*" "b" #"b*") ;"#,
        &["b", "aab"],
        &["bb", "a"],
    ),
    (r#"start ::= lazy("b" | "b" "c") ;"#, &["b"], &["bc"]),
    (r#"start ::= lazy ("c") ; lazy ::= "b" ;"#, &["bc"], &["b"]),
    (
        r#"start ::= #substrs"abcé\n" ;"#,
        &["", "a", "bc", "abcé\n", "cé", "\n"],
        &["ac", "ba", "abcéa"],
    ),
    (
        r#"start ::= "<" (#substrs'aba' & ~"") ">" ;"#,
        &["<b>", "<aba>", "<ba>"],
        &["<>", "<bb>"],
    ),
    // Patterns that look around themselves, where they are what must not occur: at any place of the text.
    (
        r#"start ::= #ex"^a" ;"#,
        &["", "b", "ba", "\na"],
        &["a", "ab"],
    ),
    (r#"start ::= #ex"a$" ;"#, &["", "ab", "b"], &["a", "ba"]),
    (
        r#"start ::= #ex"(?m)^#" ;"#,
        &["a#", "a\nb"],
        &["#", "a\n#b"],
    ),
    (
        r#"start ::= "<" except!(#"\bif\b" | "-") ">" ;"#,
        &["<>", "<iff>", "<xif>", "<a elif>"],
        &["<if>", "<a if b>", "<a-b>"],
    ),
    (
        r#"start ::= except!(word) ; word ::= #"(?<=x)a" ;"#,
        &["a", "ba", "x"],
        &["xa", "bxab"],
    ),
    (
        r#"start ::= except!(#"a(?!b)") ;"#,
        &["ab", "b", "abab"],
        &["a", "aba", "ac"],
    ),
    (
        r#"start ::= until!(#"(?m)^END$") ;"#,
        &["END", "a\nEND", "aEND\nEND"],
        &["aEND", "END\n", "END\nEND"],
    ),
    // Several texts that must not occur.
    (r"start ::= except!('x', 'y') ;", &["", "ab"], &["x", "ay"]),
    (
        r"start ::= except!('x', 'y', 2) ;",
        &["", "ab"],
        &["x", "abc"],
    ),
    (r"start ::= until!('x', 'y') ;", &["ax", "y"], &["xy", "a"]),
    // ASCII's letters in either case.
    (
        r"start ::= 'Select é1'i ;",
        &["select é1", "SELECT é1", "sElEcT é1"],
        &["ſelect é1", "select É1", "selec"],
    ),
    (r"start ::= 'a' i; i ::= 'b' ;", &["ab"], &["a"]),
    (r"start ::= ''i 'b'in; in ::= 'c'", &["bc"], &["BC"]),
    // As KBNF writes.
    ("start = \"a\nb\";", &["a\nb"], &["a"]),
    (
        r#"start ::= "\b\f\/\101\0\7" ;"#,
        &["\x08\x0c/A\0\x07"],
        &["bf/A"],
    ),
    // A rule that is defined again has more alternatives.
    (
        r#"start ::= "a" | x ; x ::= "b" ; x ::= "c" start ;"#,
        &["a", "b", "cb", "cca"],
        &["", "c"],
    ),
    (
        r#"start ::= "a" ; start ::= "b" ; start ::= "c""#,
        &["a", "b", "c"],
        &["ab"],
    ),
    (r#"start ::= any! "." ;"#, &[".", "..", "é."], &["", "x"]),
    (r#"start ::= "a" | nothing! ;"#, &["a"], &[""]),
    (
        r#"start ::= "\n\t\\\"\'\x41\u00e9\u{1F600}" ;"#,
        &["\n\t\\\"'Aé😀"],
        &["n"],
    ),
    (
        "(* one *) start ::= // two\n \"a\" (* three ; *) ;",
        &["a"],
        &["b"],
    ),
    ("start ::= a b\na ::= \"x\"\nb ::= \"y\"", &["xy"], &["x"]),
    (
        r#"start ::= "(" start ")" | "" ;"#,
        &["", "()", "(())"],
        &["(", ")("],
    ),
    (
        r#"start ::= start "+" start | "1" ;"#,
        &["1", "1+1", "1+1+1"],
        &["+", "1+"],
    ),
    (
        r#"start ::= @marker("<m>") @token("<t>") <|u|> ;"#,
        &["<m><t><|u|>"],
        &["<m>"],
    ),
];

#[test]
fn means_what_it_says() {
    for (text, matching, other) in MEANING {
        let grammar = parsed(text);
        let printed = print::to_ebnf(&grammar);
        let again = parsed(&printed);
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        for (inputs, wanted) in [(matching, true), (other, false)] {
            for input in *inputs {
                let input = input.as_bytes();
                assert_eq!(
                    reference::grammar_matches(&grammar, input),
                    wanted,
                    "{text} on {input:?}"
                );
                assert_eq!(
                    reference::lnf_matches(&lnf, input),
                    wanted,
                    "{text} on {input:?}\n{}",
                    lnf.dump()
                );
                assert_eq!(
                    reference::grammar_matches(&again, input),
                    wanted,
                    "{printed} on {input:?}"
                );
            }
        }
    }
}

#[test]
fn tokens_by_number_are_ranges() {
    let grammar = parsed("start ::= <[12..20, 30]> ;");
    let body = grammar.expr(grammar.rule(grammar.start()).body);
    assert_eq!(
        *body,
        Expr::Token(TokenSet::Ids([(12, 20), (30, 30)].into()))
    );
    assert!(print::to_ebnf(&grammar).contains("<[12..20,30]>"));
}

#[test]
fn what_is_printed_starts_at_start_whatever_the_rule_was_called() {
    for (name, other) in [
        ("root", "start"),
        ("start", "root"),
        ("start-2", "start"),
        ("début", "start"),
    ] {
        let text = format!("{name} ::= \"a\" {other} ;\n{other} ::= \"b\" [{name}] ;");
        let grammar = ebnf::parse(&text, name, &Limits::default()).unwrap();
        let printed = print::to_ebnf(&grammar);
        let again = parsed(&printed);
        for input in reference::strings(b"ab", 4) {
            assert_eq!(
                reference::grammar_matches(&grammar, &input),
                reference::grammar_matches(&again, &input),
                "{text}\n{printed}"
            );
        }
        // Printing again changes nothing.
        assert_eq!(print::to_ebnf(&again), printed);
    }
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
fn what_is_odd_is_said_with_its_place() {
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
                let Some(Place::Text { line, excerpt, .. }) = warning.place() else {
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
    let limits = Limits {
        regex_bytes: 20,
        ..refusals::narrow()
    };
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
    let needed = (1..10_000).find(|&fuel| {
        Lnf::new(
            &grammar,
            &Limits {
                compile_fuel: fuel,
                ..Limits::default()
            },
        )
        .is_ok()
    });
    let needed = needed.expect("some fuel is enough");
    let error = Lnf::new(
        &grammar,
        &Limits {
            compile_fuel: needed - 1,
            ..Limits::default()
        },
    )
    .unwrap_err();
    assert_eq!(error.code(), "E-LIMIT-FUEL");
}

#[test]
fn the_deepest_nesting_is_read_and_dropped() {
    let limits = Limits {
        grammar_nesting: 100_000,
        ..Limits::default()
    };
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

#[test]
fn counts_cost_their_logarithm() {
    let grammar =
        parsed("start ::= item{1000,1000000} % \",\" ; item ::= \"(\" item \")\" | \"x\" ;");
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    assert!(lnf.productions.len() < 200, "{}", lnf.productions.len());
    for (min, max) in [
        (0, 0),
        (0, 1),
        (0, 5),
        (1, 6),
        (2, 2),
        (3, 7),
        (5, 13),
        (4, 4),
    ] {
        for separator in ["", " % \",\""] {
            let text = format!(
                "start ::= item{{{min},{max}}}{separator} ; item ::= \"x\" | \"(\" item \")\" ;"
            );
            let lnf = Lnf::new(&parsed(&text), &Limits::default());
            for count in 0..16 {
                let between = if separator.is_empty() { "" } else { "," };
                let input = vec!["x"; count].join(between);
                let matches = lnf
                    .as_ref()
                    .is_ok_and(|lnf| reference::lnf_matches(lnf, input.as_bytes()));
                assert_eq!(matches, (min..=max).contains(&count), "{text} {count}");
            }
        }
    }
}

/// (grammar, its normal form)
const GOLDEN: &[(&str, &str)] = &[
    // Blanks join the word behind them; a name used once is replaced.
    (
        "start ::= ws \"[\" list ws \"]\" ; ws ::= \" \" ws | \"\" ; list ::= \"x\" | list ws \",\" ws \"x\" ;",
        "start.0\n    = (\" \"* \"[x\" (\" \"* \",\" \" \"* \"x\")* \" \"* \"]\")\n",
    ),
    // An open loop stays a terminal of its own.
    (
        "start ::= \"\\\"\" #\"[a-z]*\" \"\\\"\" rest ; rest ::= \"(\" rest \")\" | \"\" ;",
        "start.0\n    = (\"\\\"\" #\"[a-z]\"*) \"\\\"\" rest.1\n\nrest.1\n    = \"(\" rest.1 \")\"\n    | \"\"\n",
    ),
    // Cycles of units fall together; a nullable terminal gets an empty production beside it.
    (
        "start ::= a ; a ::= b | \"(\" a \")\" ; b ::= a | #\"x?\" ;",
        "start.0\n    = \"\"\n    | \"(\" start.0 \")\"\n    | \"x\"?\n",
    ),
];

#[test]
fn normal_forms_are_as_written_here() {
    for (text, wanted) in GOLDEN {
        let lnf = Lnf::new(&parsed(text), &Limits::default()).unwrap();
        assert_eq!(lnf.dump(), *wanted, "{text}");
    }
}

#[test]
fn other_grammars_by_name() {
    let limits = Limits::default();
    let options = json_schema::Options::default();
    let schema = r#"{"type": "array", "items": {"type": "number"}, "uniqueItems": true}"#;
    let widened = json_schema::parse(schema, &options, &limits).unwrap();
    let given = [
        (
            "word",
            Arc::new(parsed(
                r#"start ::= "a" | "b" | rest ; rest ::= "c" start ; odd ::= "d" ;"#,
            )),
        ),
        ("list", Arc::new(widened.placed("/list"))),
        (
            "unused",
            Arc::new(json_schema::parse(schema, &options, &limits).unwrap()),
        ),
    ];
    let text = r#"start ::= "(" (start | word)* ")" | "l" list ;"#;
    let grammar = ebnf::parse_with(text, "start", &given, &limits).unwrap();
    for (input, inside) in [
        ("(a(ccb)())", true),
        ("(d)", false),
        ("(a", false),
        ("word", false),
    ] {
        assert_eq!(
            reference::grammar_matches(&grammar, input.as_bytes()),
            inside,
            "{input}"
        );
    }
    let places: Vec<&str> = grammar
        .report()
        .pointers
        .iter()
        .map(|(place, _)| place.as_str())
        .collect();
    assert_eq!(places, ["/list/uniqueItems"]);
    let warned: Vec<&str> = grammar.warnings().iter().map(Diagnostic::code).collect();
    assert_eq!(warned, ["W-GRAMMAR-UNUSED"]);
    let printed = parsed(&print::to_ebnf(&grammar));
    assert!(reference::grammar_matches(&printed, b"(a(ccb)())"));

    let with = |text: &str| ebnf::parse_with(text, "start", &given, &limits);
    refusals::check(
        with,
        &[
            (
                "E-GRAMMAR-DUPLICATE",
                &[("start ::= word ;\nword ::= \"a\" ;", 2, 1)],
            ),
            ("E-GRAMMAR-UNDEFINED", &[("start ::= wordd ;", 1, 11)]),
            ("E-GRAMMAR-IRREGULAR", &[("start ::= ~word ;", 1, 12)]),
        ],
    );
    let undefined = with("start ::= wordd ;").unwrap_err();
    assert!(undefined.hint().unwrap().contains("word"));
}
