//! xgrammar's grammar language: what it means, what it refuses and where, its limits, and that lines do not matter.

use crate::reference;
use crate::refusals;

use proptest::prelude::*;
use syntagma_grammar::ir::Grammar;
use syntagma_grammar::syntax::{gbnf, xgrammar};
use syntagma_grammar::{Diagnostic, Error, Limits};

fn parse(text: &str) -> Result<Grammar, Error> {
    xgrammar::parse(text, "root", &Limits::default())
}

fn parsed(text: &str) -> Grammar {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn matches(grammar: &Grammar, text: &str) -> bool {
    reference::grammar_matches(grammar, text.as_bytes())
}

/// (grammar, what it matches, what it does not); all of it is so in xgrammar 0.2.8
const MEANING: &[reference::Meaning] = &[
    (
        "root ::= \"a\" # c\n  \"b\"\n| x.y-1\r\n\nx.y-1\n::= \"c\"",
        &["ab", "c"],
        &["a", "abc"],
    ),
    ("root ::= .a\n.a ::= - \"y\"\n-::=\"x\"", &["xy"], &["x"]),
    ("root ::= x[x]\nx ::= \"a\"", &["ax"], &["a"]),
    ("root ::= x[^a]*\nx ::= \"a\"{2, -1}", &["aab"], &["ab"]),
    (
        "root ::= \"a\"{ 2 ,\n3 } ( )",
        &["aa", "aaa"],
        &["a", "aaaa"],
    ),
    ("root ::= (\"a\"+)+ | ()", &["", "aaa"], &["b"]),
    ("root ::= [] | [^]", &["\n", "é"], &["", "ab"]),
    ("root ::= \"a\" []*", &["a"], &["aa"]),
    ("root ::= [^^]\"\\?\\/\\'\"", &["a?/'"], &["^?/'"]),
    (
        "root ::= \"\\a\\b\\e\\f\\n\\r\\t\\v\\0\"",
        &["\u{7}\u{8}\u{1B}\u{C}\n\r\t\u{B}\0"],
        &[""],
    ),
    (
        "root ::= \"\\x41b\\x41g\\u00e9f\"",
        &["\u{41b}Agéf"],
        &["Abéf"],
    ),
    ("root ::= [--a\\^\\]\\-]", &["-", ".", "^", "]"], &["b"]),
    ("root ::= [a-][\\x41-\\x43]", &["-B", "aA"], &["bB"]),
    (
        "root ::= x \"c\"\nx ::= \"a\" \"b\"? (= \"c\")",
        &["ac", "abc"],
        &["a"],
    ),
    (
        "root ::= Regex(\"a.\") | Regex(\"b.\", flags=\"\") | Regex(\"c.\", flags=\"is\")",
        &["a\n", "b\r", "C\n"],
        &["b\n", "A\n"],
    ),
    (
        "root ::= Regex(\"[.]\\\\.\\\\d\", json_string=true) | Regex(\"x.*\", json_string=true)",
        &["..1", "xé"],
        &["x\"", "x\n", "x\\", "a.1"],
    ),
    (
        "root ::= Substring(\"ab\", \"c\", \"\", \"a\\0\")",
        &["", "ab", "abc", "ca\0"],
        &["a", "aba\0"],
    ),
    ("root ::= Substring() \"x\"", &["x"], &["", "xx"]),
    (
        "root ::= TagDispatch((\"<a>\", a), excludes=(\"end\",))\na ::= \"x\"",
        &["", "q<a>xq", "<<a>x", "<a>x<a>xen", "<a"],
        &["<a>", "end", "<a>xend", "<a>q"],
    ),
    (
        "root ::= TagDispatch(\n  (\"<a>\", a),\n  loop_after_dispatch=false,\n  excludes=()\n) \"!\"\na ::= \"x\"",
        &["<a>x!", "!", "q!!"],
        &["<a>xq!", "<a>x"],
    ),
    (
        "root ::= TagDispatch((\"a\", a), (\"ab\", b), (\"cab\", c))\na ::= \"x\"\nb ::= \"y\"\nc ::= \"z\"",
        &["ax", "aby", "cabz", "cax"],
        &["aax", "caby", "abx"],
    ),
    ("root ::= TagDispatch()", &["", "abc"], &[]),
    (
        "root ::= TagDispatch((\"ab\", a), excludes=(\"b\",))\na ::= \"1\"",
        &["a"],
        &["ab1"],
    ),
    (
        "root ::= a \"!\"\na[max_chars=2] ::= \"x\"{3,5} | \"é\"*",
        &["!", "éé!", "xxx!"],
        &["ééé!", "xxxx!"],
    ),
    (
        "root ::= a*\na[max_chars=2, capture=\"a b\"] ::= b \",\"\nb ::= [a-z]+",
        &["", "ab,", "abcd,", "a,b,"],
        &["a"],
    ),
    (
        "root ::= ((a \"b\"))\na[lazy] ::= ((c | d))\nc ::= ((\"x\" c) | (\"y\"))\nd ::= (\"\" | (\"z\" d))",
        &["b"],
        &["xyb", "zb"],
    ),
    (
        "root ::= a | b\na[max_chars=1] ::= c \"!\"\nc ::= (\"x\" c) | (\"y\" c) | \"\" | \"z\"\nb ::= b \",\" b | \"q\" b | \"q\"",
        &["!", "xyz!", "q,qq"],
        &["zx!", "q,"],
    ),
    (
        "root ::= a \"b\"\na[lazy] ::= \"a\" | \"ab\"",
        &["ab"],
        &["abb"],
    ),
];

#[test]
fn grammars_mean_what_they_say() {
    for (text, inside, outside) in MEANING {
        let grammar = parsed(text);
        for input in *inside {
            assert!(matches(&grammar, input), "{text:?} refuses {input:?}");
        }
        for input in *outside {
            assert!(!matches(&grammar, input), "{text:?} takes {input:?}");
        }
    }
}

#[test]
fn what_changes_no_text_is_left_out_and_told() {
    let text = "root[temperature=0.5] ::= a (= \"x\")\na[stop_capture=\"m\", capture_hidden_stop_bytes=1] ::= \"a\"";
    let found = parsed(text);
    let codes: Vec<&str> = found.warnings().iter().map(Diagnostic::code).collect();
    assert_eq!(codes, ["W-GRAMMAR-LEFT-OUT"; 4]);
    assert!(matches(&found, "a"));
}

const REFUSED: &[refusals::Refused] = &[
    ("E-GRAMMAR-START", &[("", 1, 1), ("start ::= \"a\"", 1, 1)]),
    (
        "E-GRAMMAR-DUPLICATE",
        &[("root ::= \"a\"\nroot ::= \"b\"", 2, 1)],
    ),
    (
        "E-GRAMMAR-UNDEFINED",
        &[
            ("root ::= x", 1, 10),
            ("root ::= \"a\"\n  Foo(\"a\")", 2, 3),
            ("root ::= TagDispatch((\"a\", x))", 1, 23),
            ("root ::= TokenTagDispatch((1, x))", 1, 28),
        ],
    ),
    (
        "E-GRAMMAR-SYNTAX",
        &[
            ("root = \"a\"", 1, 1),
            ("root ::= \"a\" x ::= \"b\"", 1, 14),
            ("root ::= (\"a\"\nx ::= \"b\"", 1, 10),
            ("root ::= \"a\")", 1, 13),
            ("root ::= \"a\" | \n", 2, 1),
            ("root ::= | \"a\"", 1, 10),
            ("root ::= \"a\"++", 1, 14),
            ("root ::= \"a\"{2}{3}", 1, 16),
            ("root ::= \"a\"{,3}", 1, 14),
            ("root ::= \"a\"{3,2}", 1, 13),
            ("root ::= \"a\"{-1}", 1, 14),
            ("root ::= \"a", 1, 10),
            ("root ::= \"a\nb\"", 1, 10),
            ("root ::= [a\nb]", 1, 10),
            ("root ::= \"\\q\"", 1, 11),
            ("root ::= \"\\-\"", 1, 11),
            ("root ::= \"\\x\"", 1, 11),
            ("root ::= \"\\uD83D\\uDE00\"", 1, 11),
            ("root ::= \"\\x110000\"", 1, 11),
            ("root ::= [\\d]", 1, 11),
            ("root ::= [z-a]", 1, 11),
            ("root ::= [a--]", 1, 11),
            ("root ::= .", 1, 10),
            ("root ::= true", 1, 10),
            ("true ::= \"a\"", 1, 1),
            ("root ::= \"a\" ;", 1, 14),
            ("root ::= <[1]>", 1, 10),
            ("root ::= 'a'", 1, 10),
            ("root ::= \"a\" 1b", 1, 14),
            ("root ::= (\"a\" (= \"b\"))", 1, 15),
            ("root ::= \"a\" (= \"b\") \"c\"", 1, 22),
            ("root ::= \"a\" (=)", 1, 16),
            ("root ::= \"a\" | (= \"b\")", 1, 16),
            ("root[foo] ::= \"a\"", 1, 6),
            ("root[] ::= \"a\"", 1, 6),
            ("root[lazy, lazy] ::= \"a\"", 1, 12),
            ("root[lazy=1] ::= \"a\"", 1, 6),
            ("root[capture=\"\"] ::= \"a\"", 1, 14),
            ("root[temperature=-1] ::= \"a\"", 1, 6),
            ("root[max_chars=x] ::= \"a\"", 1, 16),
            ("root [capture] ::= \"a\"", 1, 1),
            ("root ::= Regex", 1, 15),
            ("root ::= Regex(a)", 1, 10),
            ("root ::= Regex(\"a\", \"b\")", 1, 10),
            ("root ::= Regex(\"a\",)", 1, 20),
            ("root ::= Regex(\"a\", flags=\"x\")", 1, 27),
            ("root ::= Regex(\"a\", flag=\"i\")", 1, 26),
            ("root ::= Regex(\"a\", json_string=1)", 1, 33),
            ("root ::= Substring(1)", 1, 20),
            ("root ::= Token()", 1, 10),
            ("root ::= Token(\"a\")", 1, 16),
            ("root ::= ExcludeToken(-1)", 1, 23),
            ("root ::= TagDispatch(\"a\")", 1, 22),
            ("root ::= TagDispatch((\"a\",))", 1, 22),
            ("root ::= TagDispatch((\"\", root))", 1, 23),
            ("root ::= TagDispatch((1, root))", 1, 23),
            (
                "root ::= TagDispatch((\"ab\", root), excludes=(\"a\",))",
                1,
                46,
            ),
            ("root ::= TagDispatch(excludes=\"a\")", 1, 31),
            ("root ::= TagDispatch(loop_after_dispatch=1)", 1, 42),
            (
                "root ::= TokenTagDispatch((1, root), excludes=(2, 1))",
                1,
                51,
            ),
            ("root ::= TagDispatch(((\"a\",), root))", 1, 23),
        ],
    ),
    (
        "E-GRAMMAR-UNSUPPORTED",
        &[("root[max_tokens=3] ::= \"a\"", 1, 6)],
    ),
    (
        "E-GRAMMAR-IRREGULAR",
        &[("root[lazy] ::= \"a\" root \"a\" | \"b\"", 1, 20)],
    ),
];

#[test]
fn refusals_have_a_code_and_a_place() {
    refusals::check(parse, REFUSED);
}

#[test]
fn limits_hold_at_the_edge() {
    refusals::check_edges(
        |text, limits| xgrammar::parse(text, "root", limits),
        &refusals::narrow(),
        &refusals::edges("root ::= ", ""),
    );
}

#[test]
fn patterns_say_where_they_stand() {
    let error = parse("root ::= \"a\"\n  Regex(\"(a)\\\\1\")").expect_err("a back-reference");
    assert_eq!(error.code(), "E-REGEX-UNSUPPORTED");
    assert!(error.to_string().contains("2:9"), "{error}");
}

/// Whether free text and triggers make up the text, found by trying all places; each trigger is followed by `!`.
fn dispatched(text: &str, triggers: &[String], excludes: &[String]) -> bool {
    let all = || triggers.iter().chain(excludes);
    if all().all(|pattern| !text.contains(pattern.as_str())) {
        return true;
    }
    (0..text.len()).any(|at| {
        triggers.iter().any(|trigger| {
            let end = at + trigger.len();
            let first = text[at..].starts_with(trigger.as_str())
                && all().all(|pattern| {
                    let ends = pattern.len()..=end;
                    ends.into_iter()
                        .filter(|&end| text[..end].ends_with(pattern.as_str()))
                        .all(|found| found - pattern.len() >= at && triggers.contains(pattern))
                });
            first
                && text[end..].starts_with('!')
                && dispatched(&text[end + 1..], triggers, excludes)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_dispatch_begins_with_the_first_trigger(
        triggers in prop::collection::vec("[ab]{1,3}", 1..4),
        excludes in prop::collection::vec("[ab]{1,3}", 0..2),
        texts in prop::collection::vec("[ab!]{0,8}", 20),
    ) {
        prop_assume!(!excludes.iter().any(|excluded| triggers.iter().any(|trigger| trigger.starts_with(excluded))));
        let pairs: Vec<String> = triggers.iter().map(|trigger| format!("(\"{trigger}\", x)")).collect();
        let excluded: Vec<String> = excludes.iter().map(|text| format!("\"{text}\"")).collect();
        let source = format!("root ::= TagDispatch({}, excludes=({}))\nx ::= \"!\"", pairs.join(", "), excluded.join(", "));
        let grammar = parsed(&source);
        for text in &texts {
            prop_assert_eq!(matches(&grammar, text), dispatched(text, &triggers, &excludes), "{} {}", source, text);
        }
    }

    #[test]
    fn lines_do_not_matter(parts in prop::collection::vec(prop_oneof![
        Just("\"a\""), Just("[ab]"), Just("(\"b\" | \"\")"), Just("x"), Just("(x \"b\")*"), Just("\"a\"{0,2}"),
    ], 1..6), bars in prop::collection::vec(any::<bool>(), 6)) {
        let mut body = String::new();
        for (part, bar) in parts.iter().zip(&bars) {
            body += if body.is_empty() { "" } else if *bar { " | " } else { " " };
            body += part;
        }
        let text = format!("root ::= {body}\nx ::= \"c\" | \"a\" x");
        let plain = gbnf::parse(&text, "root", &Limits::default()).unwrap();
        let lined = parsed(&text.replace(' ', "\n ").replace("\n ::=", " ::="));
        for input in reference::strings(b"abc", 4) {
            prop_assert_eq!(reference::grammar_matches(&plain, &input), reference::grammar_matches(&lined, &input), "{}", text);
        }
    }
}
