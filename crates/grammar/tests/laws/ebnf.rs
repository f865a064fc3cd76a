//! The grammar language: what it means, what is printed, and its normal forms.

use crate::reference;
use crate::refusals;

use std::sync::Arc;

use syntagma_grammar::ir::{Expr, Grammar, Lnf, TokenSet};
use syntagma_grammar::syntax::{ebnf, json_schema};
use syntagma_grammar::{Diagnostic, Error, Limits, print};

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
    // Whitespace joins the word after it; a name used once is replaced.
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
        ("list", Arc::new(widened.with_pointer_prefix("/list"))),
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
