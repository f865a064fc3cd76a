//! GBNF: what it means, what it refuses and where, its limits, and what is written in it.

use crate::reference;
use crate::refusals;

use proptest::prelude::*;
use syntagma_grammar::ir::Grammar;
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema};
use syntagma_grammar::{Error, Limits, print};

fn parse(text: &str) -> Result<Grammar, Error> {
    gbnf::parse(text, "root", &Limits::default())
}

fn parsed(text: &str) -> Grammar {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn written(grammar: &Grammar) -> String {
    print::to_gbnf(grammar, None)
        .unwrap_or_else(|error| panic!("{error}"))
        .text
}

fn matches(grammar: &Grammar, text: &str) -> bool {
    reference::grammar_matches(grammar, text.as_bytes())
}

/// (grammar, what it matches, what it does not)
const MEANING: &[reference::Meaning] = &[
    ("root ::= \"a\" \"b\"", &["ab"], &["", "a", "abb"]),
    (
        "# first\nroot ::= x | # why\n  y\nx ::= \"a\"\n\ny ::= \"b\" # last",
        &["a", "b"],
        &["ab"],
    ),
    (
        "root ::= (\n  \"a\"\n  | \"b\" # inside\n)\n",
        &["a", "b"],
        &[""],
    ),
    (
        "root ::= \"ab\"* \"c\"+ \"d\"?",
        &["c", "ababccd"],
        &["abbc", "abdd"],
    ),
    (
        "root ::= \"ab\"{2} [c]{1,2} (\"d\"){1,} \"e\"{0,}",
        &["ababcd", "ababccddee"],
        &["ababcccd", "abcd"],
    ),
    ("root ::= \"a\"{ 1 , 2 }", &["a", "aa"], &["", "aaa"]),
    ("root ::= [^a-c\\]]", &["d", "é", "\n"], &["a", "]", "dd"]),
    ("root ::= [a\\-z-]", &["a", "-", "z"], &["b"]),
    ("root ::= [-a]", &["-", "a"], &["b"]),
    ("root ::= [ぁ-ゟ]+ .", &["ぁゟx", "あい😀"], &["x", "あ"]),
    (
        "root ::= \"\\x41\\u00E9\\U0001F600\\\\\\\"\\n\\r\\t\\[\\]\"",
        &["Aé😀\\\"\n\r\t[]"],
        &[""],
    ),
    (
        "root ::= | \" \" | \"\\n\" [ \\t]{0,2}",
        &["", " ", "\n\t "],
        &["\n   "],
    ),
    ("root ::= root \"a\" | \"b\"", &["b", "baa"], &["ab"]),
    ("root ::= a-b_C1\na-b_C1 ::= \"\" \"x\"", &["x"], &[""]),
    ("root ::= <call> \"x\"", &["<call>x"], &["x"]),
];

#[test]
fn grammars_mean_what_they_say() {
    for (text, inside, outside) in MEANING {
        let grammar = parsed(text);
        let again = parsed(&written(&grammar));
        for input in *inside {
            assert!(matches(&grammar, input), "{text:?} refuses {input:?}");
            assert!(
                matches(&again, input),
                "{} refuses {input:?}",
                written(&grammar)
            );
        }
        for input in *outside {
            assert!(!matches(&grammar, input), "{text:?} takes {input:?}");
            assert!(
                !matches(&again, input),
                "{} takes {input:?}",
                written(&grammar)
            );
        }
    }
}

const REFUSED: &[refusals::Refused] = &[
    ("E-GRAMMAR-START", &[("", 1, 1), ("start ::= \"a\"", 1, 1)]),
    (
        "E-GRAMMAR-DUPLICATE",
        &[("root ::= \"a\"\nroot ::= \"b\"", 2, 1)],
    ),
    ("E-GRAMMAR-UNDEFINED", &[("root ::= x", 1, 10)]),
    (
        "E-GRAMMAR-SYNTAX",
        &[
            ("root = \"a\"", 1, 6),
            ("root ::= \"a\"\n  | \"b\"", 2, 3),
            ("root ::= (\"a\"", 1, 10),
            ("root ::= \"a\")", 1, 13),
            ("root ::= * \"a\"", 1, 10),
            ("root ::= \"a\"{2,1}", 1, 13),
            ("root ::= \"a\"{99999999999}", 1, 14),
            ("root ::= \"a\"{1", 1, 15),
            ("root ::= \"a", 1, 10),
            ("root ::= \"\\q\"", 1, 11),
            ("root ::= \"\\xZ1\"", 1, 11),
            ("root ::= \"\\uD800\"", 1, 11),
            ("root ::= \"\\", 1, 11),
            ("root ::= [a", 1, 10),
            ("root ::= []", 1, 10),
            ("root ::= [z-a]", 1, 11),
            ("root ::= [a-", 1, 10),
            ("root ::= (\"a\"\nx ::= \"b\")", 2, 1),
            ("root ::= é", 1, 10),
            ("root ::= <[x]>", 1, 12),
            ("root ::= <call", 1, 10),
            ("root ::= !x", 1, 10),
        ],
    ),
    (
        "E-GRAMMAR-UNSUPPORTED",
        &[("root ::= \"a\" !<call>", 1, 14)],
    ),
];

#[test]
fn refusals_have_a_code_and_a_place() {
    refusals::check(parse, REFUSED);
}

#[test]
fn limits_hold_at_the_edge() {
    refusals::check_edges(
        |text, limits| gbnf::parse(text, "root", limits),
        &refusals::narrow(),
        &refusals::edges("root ::= ", ""),
    );
}

#[test]
fn what_gbnf_lacks_is_written_out_as_rules() {
    for (text, inside, outside) in [
        (
            "start ::= \"[\" except!(\"--\") \"]\" ;",
            vec!["[]", "[-é-]", "[😀]"],
            vec!["[--]", "[a--]"],
        ),
        (
            "start ::= #\"[a-c]+\" & ~(\"b\" | #\"c.*\") ;",
            vec!["a", "bb"],
            vec!["b", "cc"],
        ),
        (
            "start ::= item{0,3} % \",\" ; item ::= \"x\" | \"(\" item \")\" ;",
            vec!["", "x", "(x),x,x"],
            vec![",", "x,x,x,x"],
        ),
        (
            "start ::= (item{0,2} % \",\"){2} ; item ::= \"x\" | \"(\" item \")\" ;",
            vec!["", "x,xx"],
            vec!["x,x,x,x,x"],
        ),
        (
            r#"start ::= #"[^\"\\\\\x00-\x1F]*" ;"#,
            vec!["", "é x"],
            vec!["\"", "\n"],
        ),
        (
            "start ::= \"a\" | dead | dead* \"b\" ; dead ::= \"x\" dead | nothing! ;",
            vec!["a", "b"],
            vec!["xb", ""],
        ),
        ("start ::= #\"\\p{Greek}+\" ;", vec!["αβγ"], vec!["abc"]),
    ] {
        let grammar = ebnf::parse(text, "start", &Limits::default()).unwrap();
        let text = written(&grammar);
        let again = parsed(&text);
        for input in inside {
            assert!(matches(&again, input), "{text} refuses {input:?}");
        }
        for input in outside {
            assert!(!matches(&again, input), "{text} takes {input:?}");
        }
    }
}

#[test]
fn schemas_can_be_written() {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string", "minLength": 2}, "size": {"type": "integer", "minimum": -3, "maximum": 40}, "kind": {"enum": ["a", "é"]}}, "required": ["name"], "additionalProperties": false}"#;
    let mut options = json_schema::Options::default();
    options.whitespace = Some(json_schema::Whitespace::Compact);
    let grammar = json_schema::parse(schema, &options, &Limits::default()).unwrap();
    let again = parsed(&written(&grammar));
    for (input, inside) in [
        (r#"{"name":"ab"}"#, true),
        (r#"{"name":"aé","size":40,"kind":"é"}"#, true),
        (r#"{"name":"a"}"#, false),
        (r#"{"name":"ab","size":41}"#, false),
        (r#"{"size":4}"#, false),
    ] {
        assert_eq!(matches(&again, input), inside, "{input}");
    }
}

#[test]
fn markers_are_text_that_must_be_preserved() {
    let source = "start ::= @marker(\"<end>\") \"x\" @marker(\"<a>\") @marker(\"<end>\") <|t|> <[3..5]> @label(\"l\") ;";
    let grammar = ebnf::parse(source, "start", &Limits::default()).unwrap();
    let gbnf = print::to_gbnf(&grammar, None).unwrap();
    assert_eq!(gbnf.preserved_tokens, ["<end>", "<a>"]);
    assert_eq!(
        gbnf.text,
        "root ::= \"<end>\" \"x\" \"<a>\" \"<end>\" <|t|> (<[3]> | <[4]> | <[5]>) \"l\"\n"
    );
}

#[test]
fn markers_are_tokens_where_their_numbers_are_known() {
    let source = "start ::= @marker(\"<a>\") @marker(\"\\n<b><a>c\")? @marker(\"<d>\")* <|t|> ;";
    let grammar = ebnf::parse(source, "start", &Limits::default()).unwrap();
    let ids = [("<a>", 7), ("<b>", 8), ("<|t|>", 9)];
    let ids = ids.map(|(text, id)| (text.to_owned(), id)).into();
    let gbnf = print::to_gbnf(&grammar, Some(&ids)).unwrap();
    assert_eq!(gbnf.preserved_tokens, ["<d>"]);
    assert_eq!(
        gbnf.text,
        "root ::= <[7]> (\"\\n\" <[8]> <[7]> \"c\")? \"<d>\"* <[9]>\n"
    );
    assert!(gbnf.names_tokens);
}

#[test]
fn what_cannot_be_said_is_named() {
    for (text, named) in [
        ("start ::= byte! ;", "bytes that are no text"),
        ("start ::= complement!(\"a\") ;", "bytes that are no text"),
        ("start ::= \"\\xFF\" ;", "bytes that are no text"),
        ("start ::= \"a\" nothing! ;", "a language without any text"),
        (
            "start ::= @token(\"plain\") ;",
            "which is not of the form <text>",
        ),
        ("start ::= <[0..1000]> ;", "1001 tokens at once"),
        ("start ::= #\"a{3100}\" & ~\"b\" ;", "too many rules"),
    ] {
        let grammar = ebnf::parse(text, "start", &Limits::default()).unwrap();
        let error = print::to_gbnf(&grammar, None).expect_err(text);
        assert_eq!(error.code(), "E-GRAMMAR-UNPRINTABLE", "{text}");
        assert!(error.message().contains(named), "{error}");
        assert!(error.message().contains("\"root\""), "{error}");
    }
}

#[test]
fn what_cannot_be_written_is_found_in_every_group() {
    // Each group around it is tried as a whole, too.
    let depth = 30;
    let text = format!(
        "start ::= {}(#\"[ab]*a[ab]{{2}}\" & ~\"b\") \"\\xFF\"{} ;",
        "(\"x\"? ".repeat(depth),
        ")".repeat(depth)
    );
    let grammar = ebnf::parse(&text, "start", &Limits::default()).unwrap();
    let error = print::to_gbnf(&grammar, None).expect_err("no text");
    assert_eq!(error.code(), "E-GRAMMAR-UNPRINTABLE");
}

/// Bodies of rules over a small alphabet, as GBNF text.
fn body() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[ab]{0,2}".prop_map(|text| format!("\"{text}\"")),
        2 => prop_oneof![Just("[a]"), Just("[^a]"), Just("[aé]"), Just("."), Just("[^é-ü]")].prop_map(str::to_owned),
        3 => (0..3usize).prop_map(|rule| format!("r{rule}")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.join(" ")),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("({})", parts.join(" | "))),
            (
                inner,
                prop_oneof![
                    Just("?"),
                    Just("*"),
                    Just("+"),
                    Just("{2}"),
                    Just("{1,2}"),
                    Just("{0,}")
                ]
            )
                .prop_map(|(part, sign)| format!("({part}){sign}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn written_grammars_read_back_to_the_same_language(bodies in prop::collection::vec(body(), 3)) {
        let text = format!("root ::= {}\nr0 ::= {}\nr1 ::= {}\nr2 ::= \"c\" | r1 \"c\"\n", bodies[0], bodies[1], bodies[2]);
        let grammar = parsed(&text);
        if let Err(error) = print::to_gbnf(&grammar, None) {
            // The one thing that these grammars can be and GBNF cannot say: a language without any text.
            prop_assert_eq!(error.code(), "E-GRAMMAR-UNPRINTABLE");
            prop_assert!(error.message().contains("without any text"), "{}", error);
            prop_assert!(!reference::strings(b"abc", 3).iter().any(|input| reference::grammar_matches(&grammar, input)));
            return Ok(());
        }
        let again = written(&grammar);
        let back = parsed(&again);
        for input in reference::strings(b"abc", 3).iter().map(Vec::as_slice).chain(["é", "aé", "éb", "ß"].map(str::as_bytes)) {
            let wanted = reference::grammar_matches(&grammar, input);
            prop_assert_eq!(reference::grammar_matches(&back, input), wanted, "{}\n{}\n{:?}", text, again, input);
        }
    }
}
