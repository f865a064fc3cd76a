//! Lark: what it means, what it refuses and where, and its limits.

use crate::reference;
use crate::refusals;

use std::sync::Arc;

use syntagma_grammar::ir::{Grammar, Lnf};
use syntagma_grammar::syntax::lark;
use syntagma_grammar::{Error, Limits, SourceLocation};

fn parse(text: &str) -> Result<Grammar, Error> {
    lark::parse(text, "start", &Limits::default())
}

fn parsed(text: &str) -> Grammar {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// (grammar, what it matches, what it does not)
const MEANING: &[reference::Meaning] = &[
    ("start: \"a\" 'b'", &["ab"], &["", "a"]),
    (
        "// first\nstart: x # why\n     | y\nx: \"a\"\ny: \"b\"+",
        &["a", "b", "bb"],
        &["ab", ""],
    ),
    (
        "start: (\"a\" | \"b\")~2 [\"c\"] \"d\"?",
        &["ab", "bbcd"],
        &["a", "aba"],
    ),
    (
        "start: \"a\"~1..2 \"b\"{2} \"c\"{,1} \"d\"{1,} \"e\"{0,2}",
        &["abbd", "aabbcddee"],
        &["bbd", "abb"],
    ),
    (
        "?start: start \"+\" INT -> add | INT\n!INT: /[0-9]+/",
        &["1", "1+22"],
        &["+", "1+"],
    ),
    (
        "start: KEY\nKEY: (\"a\"..\"z\" | \"é\")+ & ~(\"if\"i)",
        &["x", "iff", "é"],
        &["if", "iF", ""],
    ),
    (
        "start: A\nA: ~/a*/ & /[ab]{2}/",
        &["ab", "bb"],
        &["aa", "c"],
    ),
    (
        "start: A\nB: \"b\" C\nA: \"a\" B?\nC: \"c\"",
        &["a", "abc"],
        &["ab"],
    ),
    ("start: /A.b/is \"x\"i", &["a\nBX", "Acbx"], &["ab"]),
    ("start: /a+/ \"a\"", &["aa", "aaa"], &["a"]),
    (
        "start: w \"!\"\nw[suffix=\".\"]: /.*/s",
        &["a.!", "\n.!"],
        &["a.b.!", "a!"],
    ),
    (
        "start: w \"!\"\nw[lazy]: /[a-z]+;/",
        &["ab;!"],
        &["ab!", "a;b;!"],
    ),
    (
        "start: w\nw[capture=\"word\"]: \"x\" w2\nw2[capture]: \"y\"",
        &["xy"],
        &["x"],
    ),
    ("start: <|call|> \"x\" <end>", &["<|call|>x<end>"], &["x"]),
    (
        "%import common (INT, WS)\n%import common.CNAME -> NAME\n%ignore WS\nstart: NAME \"=\" INT \";\"",
        &["a=1;", " a = 12 ; "],
        &["a = 1 2;", "a b=1;"],
    ),
    (
        "%ignore \" \"\nstart: list\nlist: \"[\" [item (\",\" item)*] \"]\"\nitem: list | \"x\"",
        &["[x, [ x ] ]", " [ ]"],
        &["[x x]"],
    ),
    (
        "start: \"=\" %json {\"type\": \"object\", \"properties\": {\"a\": {\"enum\": [1, \"}\"]}}, \"required\": [\"a\"], \"additionalProperties\": false}",
        &["={\"a\":1}", "={\"a\":\"}\"}"],
        &["={}", "={\"a\":2}"],
    ),
    (
        "start: S\nS: %regex {\"substring_words\": \"one two.\"}",
        &["", "one", "one two", " two.", "."],
        &["on", "one ."],
    ),
    (
        "start: S \"!\"\nS: %regex {\"substring_chunks\": [\"ab\", \"c\"]}",
        &["!", "ab!", "abc!", "c!"],
        &["a!", "ca!"],
    ),
    ("start: \"a\" |", &["a", ""], &["b"]),
    // Look-around that the terminal's own text decides.
    (
        "start: A A\nA: /(?!-)[a-z-]{1,5}(?<!-);|\\(\\bif\\b\\)/",
        &["a-b;c;", "a;(if)"],
        &["-a;b;", "a-;b;"],
    ),
    (
        "start: NAME \"!\"\nNAME: /(?!if\\b)[a-z]+/",
        &["ifx!", "a!"],
        &["if!", "!"],
    ),
    (
        "start: C \"x\"\nC: /(?:(?!--)[a-z-])*;/",
        &["a-b;x", ";x"],
        &["a--b;x", "a;"],
    ),
    // A lazy repetition that decides how long the terminal is.
    (
        "start: C \"x\"\nC: /\\/\\*.*?\\*\\//s",
        &["/* a */x", "/**/x"],
        &["/* a */ b */x", "/* a */"],
    ),
    (
        "start: S+\nS: C | /'.*?(?<!\\\\)'/\nC: /(#)[a-z]??/\n%ignore W\nW: /~.+?~/",
        &["'a'", "'a\\'b'", "#'b'", "~x~'a'~~~"],
        &["'a''", "'a'b'", "#a", "~x~x~'a'"],
    ),
    ("start: /(?U)x.*y/ \"y\"", &["xyy", "xayy"], &["xyyy", "xy"]),
    // What a lazy terminal takes, nobody else takes.
    (
        "start: f* TEXT\nTEXT: /(.|\\n)*/\nhd[lazy]: TEXT \"<f\"\nf: hd \"=\" /[0-9]+/ \">\"",
        &["hi", "hi<f=12>", "<f=1><f=2>x", "", "<"],
        &["hi<f", "hi<f=zz", "<f=1>x<fx", "<f=1"],
    ),
    (
        "start: a \"x\" | c \"y\"\na[lazy]: /[ab]*b/\nc: /[ab]*/",
        &["abx", "aay", "y"],
        &["aby", "bby"],
    ),
    (
        "start: v \"!\" | w \"?\"\nv[suffix=\".\"]: /[a-z]*/\nw[suffix=\";\"]: /[a-z.]*/",
        &["a.!", "a;?"],
        &["a.b;?"],
    ),
    (
        "%ignore / +/\nstart: a \"x\" | c \"y\"\na[lazy]: /[ab]*b/\nc: /[ab]*/",
        &["ab x", "aa y", " y"],
        &["ab y", " aby"],
    ),
    // What follows a lazy rule is what follows it there.
    (
        "start: h h \"b\" | x~2 \"c\" y\nh[suffix=\"b\"]: /a*/\nx[lazy]: /d*c/\ny: h \"b\"*",
        &["bbb", "abaabb", "dcccb", "cccbb"],
        &["bb", "cccc", "dccdcb"],
    ),
    // A part that ends before a text, and one whose label does so.
    (
        "start: w \".!\"\nw[stop=\".\"]: /[a-z.]*/",
        &["a.!", ".!"],
        &["a..!", "a.b.!", "a!"],
    ),
    (
        "start: w \"abab\" | TEXT \"?\"\nw[stop=\"abab\"]: /[abc]*/\nTEXT: /[abc]*/",
        &["cabab", "abab", "aba?", "caaabab"],
        &["ababab", "abcababc", "abab?", "cababa?", "abababab"],
    ),
    (
        "start: w \"!\"\nw[capture, suffix=\"aa\", stop_capture=\"end\"]: /[ab]*/",
        &["aa!", "baa!", "abaa!"],
        &["aaa!", "aab!", "a!", "baaa!"],
    ),
    ("start: x \"b\"\nx[max_tokens=0]: /a/", &["b"], &["ab"]),
    (
        "start: x \"b\"\nx[max_tokens=5, temperature=0.7, capture=\"y\"]: /a+/",
        &["aab"],
        &["b"],
    ),
    // Alternatives that begin alike go on together.
    (
        "start: \"a\" w \"x\" | \"a\" c\nw[lazy]: /[bc]*c/\nc: /[bc]*/",
        &["abcx", "abb"],
        &["abc", "abcb"],
    ),
    // One that decides nothing.
    (
        "start: A\nA: \"[\" /\"[^\"]*?\"/ \"]\"",
        &["[\"a\"]"],
        &["[\"a\"\"]"],
    ),
    (
        "start: a B\na[lazy]: C /x+?/\nB: /y/\nC: /[a-w]{2}/",
        &["abxy"],
        &["abxxy", "ab"],
    ),
    // Anchors say nothing.
    (
        "start: A B\nA: /^a$/\nB: /(^|,)b\\z/",
        &["ab", "a,b"],
        &["a"],
    ),
    ("start: \"\\x41\\u00e9\\n\\\"\"", &["Aé\n\""], &["A"]),
    // Priorities say nothing of texts.
    (
        "start.2: A | b\nA.-1: \"a\"\nb.0[capture]: \"b\"",
        &["a", "b"],
        &["ab"],
    ),
    // Templates, and the rules of them.
    (
        "start: _list{INT, \",\"}\n_list{x, sep}: x (sep x)*\nINT: /[0-9]/",
        &["1", "1,2,3"],
        &["", "1,", "12"],
    ),
    (
        "start: pair{pair{\"a\" | \"b\", \"c\"}, two{\"d\"}}\npair{x, y}: x y\ntwo{x}.3: x~2",
        &["acdd", "bcdd"],
        &["acd", "abcdd"],
    ),
    (
        "start: t{\"a\"}\nt{x}: x t{x} | \"!\"",
        &["!", "aa!"],
        &["a"],
    ),
    // Rules with a value.
    (
        "start: perm::0x0\nperm::_: \"\" %if is_ones([0:3])\n | \"a\" perm::set_bit(0) %if bit_clear(0)\n | \"b\" perm::set_bit(1) %if bit_clear(1)\n | \"c\" perm::set_bit(2) %if bit_clear(2)",
        &["abc", "cab"],
        &["", "ab", "aab", "abca"],
    ),
    (
        "start: aa::0\naa::_: \"b\" aa::incr(_) %if lt(_, 3)\n | bb::_\nbb::_: \"a\" bb::incr([0:8]) %if and(lt(_, 3), not(eq([4:8], 1)))\n | \"\"",
        &["", "b", "ba", "bbb", "aaa"],
        &["bbba", "ab", "aaaa"],
    ),
    (
        "start: x::7\nx::_: (\"a\" %if bit_set(2) | \"b\" %if bit_set(3)) y::bit_and(12)\ny::_: \"c\" z::decr([2:4]) z::bit_or(1) %if bit_count_eq(_, 1)\nz::_: \"0\" %if is_zeros(_) | \"5\" %if ge(_, 5)",
        &["ac05"],
        &["bc05", "ac00", "ac55"],
    ),
    // Grammars in grammars, which know nothing of what is around them.
    (
        "%ignore \" \"\nstart: \"(\" %lark {\n  start: \"a\" | x %lark { start: \"}\" }\n  x: \"b\"~2\n} \")\"",
        &["( a )", "(bb})"],
        &["(b b})", "(bb)"],
    ),
    // Declared and not given.
    (
        "%declare INDENT DEDENT\nstart: \"a\" | INDENT \"b\" | \"c\" DEDENT?",
        &["a", "c"],
        &["b", "ca"],
    ),
    // Patterns over lines.
    ("start: /\n  a+   # some a\n  b\n/x", &["aab"], &["a", "b"]),
    (
        "%llguidance {\"no_forcing\": true}\n%llguidance {\"ignore_once\": true}\n%ignore /[ ]{1,2}/\nstart: \"A\" \"!\"",
        &["A!", "A  !"],
        &["A   !"],
    ),
    (
        "%import common (_STRING_ESC_INNER, _EXP)\nstart: \"'\" _STRING_ESC_INNER \"'\" _EXP?",
        &["'a'", "'a\\'b'e+1", "'\\\\'"],
        &["'a\\'", "'a'e"],
    ),
    // Rules that are changed.
    (
        "start: a b\na: \"a\"\nb: \"b\"\n%override a: \"x\"\n%extend b: \"y\"\n  | \"z\"",
        &["xb", "xy", "xz"],
        &["ab"],
    ),
];

#[test]
fn grammars_mean_what_they_say() {
    for (text, inside, outside) in MEANING {
        let grammar = parsed(text);
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        for input in *inside {
            assert!(
                reference::lnf_matches(&lnf, input.as_bytes()),
                "{text} refuses {input:?}"
            );
        }
        for input in *outside {
            assert!(
                !reference::lnf_matches(&lnf, input.as_bytes()),
                "{text} takes {input:?}"
            );
        }
    }
}

const REFUSED: &[refusals::Refused] = &[
    ("E-GRAMMAR-START", &[("", 1, 1), ("begin: \"a\"", 1, 1)]),
    (
        "E-GRAMMAR-SYNTAX",
        &[
            ("\"a\"", 1, 1),
            ("start: (\"a\"", 1, 8),
            ("start: \"a\")", 1, 11),
            ("start: * \"a\"", 1, 8),
            ("start: ~ | \"a\"", 1, 8),
            ("start: \"a\"{2,1}", 1, 11),
            ("start: \"a", 1, 8),
            ("start: \"\\q\"", 1, 9),
            ("start: /a", 1, 8),
            ("start: /a/l", 1, 11),
            ("start: \"b\"..\"a\"", 1, 8),
            ("start: <[3-1]>", 1, 8),
            ("start: @", 1, 8),
            ("start: %json [", 1, 14),
            ("start[what]: /a/", 1, 7),
            ("start: A\nA.x: \"a\"", 2, 2),
            ("start: x{\"a\", \"b\"}\nx{a}: a", 1, 8),
            ("start: x{\"a\"\nx{a}: a", 1, 9),
            ("start: x{}\nx{a}: a", 1, 10),
            ("start: x\nx{a}: a", 1, 8),
            ("start: x{\"a\"}\nx{a,a}: a", 2, 5),
            ("start: x\nx::_: \"a\"", 1, 8),
            ("start: x::_\nx::_: \"a\"", 1, 11),
            ("start: x::1\nx::_: \"a\" %if no(1)", 2, 15),
            ("start: x::1\nx::_: x::incr([3:3])", 2, 18),
            ("start: x::1\nx::a: \"a\"", 2, 2),
            ("start: %lark { start: \"a\"", 1, 14),
            ("start: %lark start", 1, 14),
            ("start: %lark { start: (\"a\" }", 1, 23),
            ("start: /a\nb/", 1, 8),
            ("start: x::0x10000000000000000\nx::_: \"a\"", 1, 11),
        ],
    ),
    (
        "E-GRAMMAR-UNDEFINED",
        &[
            ("start: x", 1, 8),
            ("%ignore \" \"\nstart: x", 2, 8),
            ("start: A\nA: B", 2, 4),
            ("start: @other", 1, 8),
            ("%import common.NOPE\nstart: NOPE", 1, 16),
            ("start: x::1", 1, 8),
            ("start: %lark { start: x }", 1, 23),
            ("start: \"a\"\n%extend x: \"a\"", 2, 1),
        ],
    ),
    (
        "E-GRAMMAR-DUPLICATE",
        &[
            ("start: \"a\"\nstart: \"b\"", 2, 1),
            ("start: x{\"a\"}\nx{a}: a\nx{b}: b", 3, 1),
        ],
    ),
    (
        "E-GRAMMAR-IRREGULAR",
        &[
            ("start: A\nA: \"x\" B\nB: A?", 3, 4),
            ("start: A\nA: start", 2, 4),
            ("start: A\nA: <|x|>", 2, 4),
            ("start: x & \"a\"\nx: \"a\"", 1, 8),
        ],
    ),
    (
        "E-REGEX-SYNTAX",
        &[("start: /a(b/", 1, 10), ("start: /a(b/i", 1, 10)],
    ),
    (
        "E-REGEX-UNSUPPORTED",
        &[
            ("start: /a(b)\\1/", 1, 13),
            ("start: A B\nA: /=(?!=)/\nB: /=?x/", 2, 6),
            ("start: A B\nA: /(?<=a)b/\nB: /x/", 2, 5),
            ("start: \"a\" /(?<!a)b/", 1, 13),
            ("start: /if\\b/ /x/", 1, 11),
            ("start: /\\Bx/", 1, 9),
            ("start: /a?\\bb/", 1, 11),
            ("start: /(?m)^a/", 1, 13),
            ("start: /a(?!$)/", 1, 10),
            ("start: /(?!ab)a/ \"b\"", 1, 9),
            ("start: /(?:(?!ab).)*/", 1, 12),
            ("start: /(?=.*x)[a-z]+/", 1, 9),
            ("start: A \"z\"\nA: /x.*?y/ \"z\"", 2, 7),
            ("start: A\nA: B \"z\"\nB: /x.*?y/", 3, 7),
            ("start: A\nA: B+\nB: C\nC: /x.*?y/", 4, 7),
            ("start: /x.*?y*?/", 1, 11),
            ("start: /[ab]+b*?/", 1, 15),
        ],
    ),
    ("E-SCHEMA-JSON", &[("start: %json {]}", 1, 15)]),
    (
        "E-GRAMMAR-UNSUPPORTED",
        &[
            ("start: %regex {\"other\": 1}", 1, 8),
            (
                "%llguidance {\"allow_invalid_utf8\": true}\nstart: \"a\"",
                1,
                1,
            ),
            ("start: \"a\" %if true", 1, 12),
            ("%import other.A\nstart: A", 1, 1),
            ("start: x*\nx[max_tokens=3]: /a/", 2, 3),
            ("start: x | \"(\" start x\nx[max_tokens=3]: /a/", 2, 3),
            ("start: y y\ny: x \"b\"\nx[max_tokens=3]: /a/", 3, 3),
            (
                "start: x y\nx[max_tokens=3]: /a/\ny[capture=\"x\"]: /b/",
                2,
                3,
            ),
            ("start: %lark { start[max_tokens=3]: /a/ }", 1, 22),
            ("start: A\nA[max_tokens=3]: /a/", 2, 1),
            ("start: A\nA[capture]: /a/", 2, 1),
            ("start[stop=\"x\"]: /a/", 1, 1),
            ("start: w \"y\"\nw[stop=\"x\"]: /a/", 2, 1),
            ("start: w \"x\"?\nw[stop=\"x\"]: /a/", 2, 1),
            ("start: w \"x\"\nw[stop=\"\"]: /a/", 2, 8),
            ("start: w \"x\"\nw[stop=/x/]: /a/", 2, 8),
            (
                "start: w \"x\"\nw[stop=\"x\", stop_capture=\"y\"]: /a/",
                2,
                30,
            ),
            ("start: w\nw[suffix=/x/, capture]: /a/", 2, 10),
            (
                "start: w | t | \"x\" t\nw[lazy]: /[ab]*b/\nt: /[ab]*/",
                3,
                4,
            ),
            ("start: w | %json {}\nw[lazy]: /[ab]*b/", 1, 12),
            ("start: w | \"a\" & /a/\nw[lazy]: /[ab]*b/", 1, 12),
        ],
    ),
];

#[test]
fn refusals_have_a_code_and_a_place() {
    refusals::check(parse, REFUSED);
}

/// A terminal of which one lazy repetition decides the length accepts a text if the first match in it is the whole text.
#[test]
fn lazy_terminals_end_where_the_first_match_does() {
    use regex_automata::{Anchored, Input, meta::Regex};
    let texts: Vec<Vec<u8>> = reference::strings(b"ab", 5);
    for head in ["", "a", "[ab]", "(?:a|b)a"] {
        for unit in ["a", ".", "[^a]", "(?:ab)", "(?:(?:a|b){2})"] {
            for sign in ["*?", "+?", "??", "{1,2}?", "{2,}?"] {
                for tail in ["", "b", "ab", "[ab]b", "b(?!a)b", "a{2}?"] {
                    let pattern = format!("{head}{unit}{sign}{tail}");
                    let grammar = parsed(&format!("start: T\nT: /{pattern}/"));
                    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
                    let regex = Regex::new(&pattern.replace("(?!a)", "")).unwrap();
                    for text in &texts {
                        let found = regex.find(Input::new(text).anchored(Anchored::Yes));
                        assert_eq!(
                            reference::lnf_matches(&lnf, text),
                            found.is_some_and(|found| found.end() == text.len()),
                            "{pattern} on {text:?}"
                        );
                    }
                }
            }
        }
    }
}

/// A template or a rule with a value that never ends its own uses is stopped.
#[test]
fn what_expands_without_end_is_stopped() {
    for text in [
        "start: t{\"a\"}\nt{x}: x t{(x x)} | \"!\"",
        "start: t::0\nt::_: \"a\" t::incr(_)",
    ] {
        assert_eq!(
            parse(text).expect_err("endless").code(),
            "E-LIMIT-FUEL",
            "{text}"
        );
    }
    let nested = |depth: usize| {
        let open = "%lark { start: ".repeat(depth);
        format!("start: {open}\"a\"{}", "}".repeat(depth))
    };
    assert!(parse(&nested(29)).is_ok());
    let error = parse(&nested(40)).expect_err("too deep");
    assert_eq!(error.code(), "E-LIMIT-GRAMMAR-NESTING");
    let conditions = format!(
        "start: x::0\nx::_: \"a\" %if {}true{}",
        "not(".repeat(5_000),
        ")".repeat(5_000)
    );
    assert_eq!(
        parse(&conditions).expect_err("too deep").code(),
        "E-LIMIT-GRAMMAR-NESTING"
    );
}

#[test]
fn what_is_left_out_is_told() {
    for (text, code, line) in [
        ("start: A\nA.2: \"a\"", "W-GRAMMAR-PRIORITY", 2),
        (
            "start: a\na[temperature=0.7]: \"a\"",
            "W-GRAMMAR-TEMPERATURE",
            2,
        ),
        ("start: \"a\" | A\n%declare A", "W-GRAMMAR-DECLARED", 2),
        ("start: w | \"ab\"\nw[lazy]: /a*b/", "W-GRAMMAR-LAZY", 1),
    ] {
        let grammar = parsed(text);
        let [warning] = grammar.warnings() else {
            panic!("{text}: {:?}", grammar.warnings());
        };
        assert_eq!(warning.code(), code);
        let Some(&SourceLocation::Text { line: found, .. }) = warning.location() else {
            panic!("{warning}");
        };
        assert_eq!(found, line, "{text}");
    }
}

#[test]
fn terminals_that_end_by_themselves_are_not_warned_of() {
    for text in [
        "start: A+ \"b\"\nA: /a+/",
        "start: S \":\" S\nS: /\"[^\"]*\"/",
        "%ignore / +/\nstart: NAME \"=\" NAME\nNAME: /[a-z]+/",
        "start: w T\nw[lazy]: /[ab]*b/\nT: /[ab]*/",
        "start: \"a\" \"ab\"",
    ] {
        assert_eq!(parsed(text).warnings(), [], "{text}");
    }
}

#[test]
fn parts_that_come_once_have_a_budget() {
    let text =
        "start: x | y \"(\" x? \")\"\nx[max_tokens=7]: /a+/\ny[max_tokens=2, capture=\"z\"]: \"b\"";
    let (_, budgets) = lark::parse_with(text, "start", &[], &[], &Limits::default()).unwrap();
    let found: Vec<(&str, u32)> = budgets
        .iter()
        .map(|budget| (budget.label.as_str(), budget.tokens))
        .collect();
    assert_eq!(found, [("x", 7), ("z", 2)]);
}

#[test]
fn declared_terminals_are_given() {
    let given = [("INDENT", Arc::new(parsed("start: \"  \"")))];
    let text = "%declare INDENT\nstart: \"a\" INDENT \"b\"";
    let grammar = lark::parse_with(text, "start", &given, &[], &Limits::default())
        .unwrap()
        .0;
    assert!(grammar.warnings().is_empty());
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    assert!(reference::lnf_matches(&lnf, b"a  b"));
    assert!(!reference::lnf_matches(&lnf, b"ab"));
}

#[test]
fn anchors_are_left_out_with_a_warning() {
    for (text, columns) in [
        ("start: /^a$/ /b/ /c$/", vec![9, 20]),
        ("start: /a\\$/ /[$^]/", vec![]),
        ("start: /(?i)\\Aa/", vec![13]),
    ] {
        let grammar = parsed(text);
        let found: Vec<(&str, usize)> = grammar
            .warnings()
            .iter()
            .map(|warning| match warning.location() {
                Some(&SourceLocation::Text { column, .. }) => (warning.code(), column),
                other => panic!("{other:?}"),
            })
            .collect();
        let wanted: Vec<(&str, usize)> = columns
            .into_iter()
            .map(|column| ("W-REGEX-ANCHOR", column))
            .collect();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn grammars_are_given_by_name() {
    let word = Arc::new(parsed("start: /[a-z]+/ \";\""));
    let given = [("word", Arc::clone(&word)), ("7", word)];
    let read = |text: &str| {
        lark::parse_with(text, "start", &given, &[], &Limits::default()).map(|read| read.0)
    };
    let grammar = read("%ignore \" \"\nstart: word (@word | @7)+\nword: \"w\"").unwrap();
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    for (text, wanted) in [
        ("wa;b;", true),
        (" w a; bc; ", true),
        ("w", false),
        ("wa ;", false),
    ] {
        assert_eq!(
            reference::lnf_matches(&lnf, text.as_bytes()),
            wanted,
            "{text}"
        );
    }
    let error = read("start: @words").expect_err("unknown");
    assert_eq!(error.code(), "E-GRAMMAR-UNDEFINED");
    assert!(error.hint().is_some_and(|hint| hint.contains("word, 7")));
    assert_eq!(
        read("start: T\nT: @word").expect_err("irregular").code(),
        "E-GRAMMAR-IRREGULAR"
    );
}

#[test]
fn files_are_imported() {
    let files = [
        (
            "words",
            "%import common.INT\n%import .more.deep (x, Y)\n%ignore \"!\"\nlist{i}: i (\",\" i)* x?\nWORD: /[a-z]/ INT?",
        ),
        ("more.deep", "%import .side.Z -> Y\nx: \"x\" | Y"),
        ("more.side", "Z: \"z\""),
    ];
    let read = |text: &str| {
        lark::parse_with(text, "start", &[], &files, &Limits::default()).map(|read| read.0)
    };
    let text =
        "%import .words (WORD, list)\n%import .words.Y -> LAST\nstart: list{WORD} LAST x\nx: \"#\"";
    let grammar = read(text).unwrap_or_else(|error| panic!("{error}"));
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    for (text, wanted) in [
        ("a,b1z#", true),
        ("axz#", true),
        ("azz#", true),
        ("a!z#", false),
        ("ax", false),
    ] {
        assert_eq!(
            reference::lnf_matches(&lnf, text.as_bytes()),
            wanted,
            "{text}"
        );
    }
    assert_eq!(
        lark::imported_files(
            "%import .a.b (X)\n%import .c.Y -> Z\n%import common.INT\n%import d.E",
            "f.g"
        )
        .unwrap(),
        ["f.a.b", "f.c"]
    );
    for (text, code, line, words) in [
        (
            "start: A\n%import .other.A",
            "E-GRAMMAR-UNSUPPORTED",
            2,
            "imports={",
        ),
        (
            "start: A\n%import python.A",
            "E-GRAMMAR-UNSUPPORTED",
            2,
            "imports={",
        ),
        (
            "%import .words.NOPE\nstart: NOPE",
            "E-GRAMMAR-UNDEFINED",
            1,
            "file \"words\"",
        ),
        (
            "%import .words.WORD\nstart: WORD\nWORD: \"a\"",
            "E-GRAMMAR-DUPLICATE",
            1,
            "WORD",
        ),
        (
            "%import .words.WORD WORD\nstart: WORD",
            "E-GRAMMAR-SYNTAX",
            1,
            "import",
        ),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.code(), code, "{error}");
        let Some(&SourceLocation::Text { line: found, .. }) = error.location() else {
            panic!("{error}");
        };
        assert_eq!(found, line, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn mistakes_in_imported_files_are_told_of_there() {
    for (file, line) in [
        ("A: \"a\"\n\nB: (", 3),
        ("A: \"a\"\nB: NOPE", 2),
        ("\n\nA: \"", 3),
    ] {
        let files = [("f", file)];
        let read = lark::parse_with(
            "%import .f.A\nstart: A",
            "start",
            &[],
            &files,
            &Limits::default(),
        );
        let error = read.expect_err(file);
        let Some(&SourceLocation::Text { line: found, .. }) = error.location() else {
            panic!("{error}");
        };
        assert_eq!(found, line, "{error}");
        assert!(error.message().contains("in the file \"f\""), "{error}");
    }
    let files = [("a", "%import .b.X"), ("b", "%import .a.X")];
    let read = lark::parse_with(
        "%import .a.X\nstart: X",
        "start",
        &[],
        &files,
        &Limits::default(),
    );
    assert_eq!(read.expect_err("a circle").code(), "E-GRAMMAR-UNDEFINED");
}

#[test]
fn tokens_by_number_can_be_negated() {
    for (written, wanted) in [
        ("<[^0,5-7,6-9]>", vec![(1, 4), (10, u32::MAX)]),
        ("<[*]>", vec![(0, u32::MAX)]),
        ("<[3,7-9]>", vec![(3, 3), (7, 9)]),
        ("<[^7-4294967295]>", vec![(0, 6)]),
    ] {
        let grammar = parsed(&format!("start: {written}"));
        let ebnf = syntagma_grammar::print::to_ebnf(&grammar);
        let ranges: Vec<String> = wanted
            .iter()
            .map(|(first, last)| {
                if first == last {
                    first.to_string()
                } else {
                    format!("{first}..{last}")
                }
            })
            .collect();
        assert_eq!(ebnf, format!("start ::= <[{}]> ;\n", ranges.join(",")));
    }
}

#[test]
fn what_a_schema_leaves_open_is_reported() {
    let grammar = parsed("start: %json {\"type\": \"array\", \"uniqueItems\": true}");
    assert_eq!(grammar.report().pointers[0].0, "%json@1:14/uniqueItems");
}

#[test]
fn limits_hold_at_the_edge() {
    let mut limits = refusals::narrow();
    limits.schema_depth = 3;
    limits.compile_fuel = 100;
    let schema = |depth: usize| {
        format!(
            "start: %json {}{}",
            "{\"not\":".repeat(depth - 1) + "{\"type\":\"null\"",
            "}".repeat(depth)
        )
    };
    let chunks = |count: usize| {
        format!(
            "start: %regex {{\"substring_chars\": \"{}\"}}",
            "a".repeat(count)
        )
    };
    // Each terminal stands twice in the next.
    let doubled = |last: usize| {
        format!(
            "start: A\nA: \"{}\"{}",
            "a".repeat(last),
            " \"a\"".repeat(20)
        )
    };
    let mut cases = refusals::edges("start: ", "");
    cases.extend([
        (schema(3), schema(4), "E-LIMIT-SCHEMA-DEPTH"),
        (chunks(4), chunks(5), "E-LIMIT-GRAMMAR-NESTING"),
    ]);
    refusals::check_edges(
        |text, limits| lark::parse(text, "start", limits),
        &limits,
        &cases,
    );
    let mut wide = limits;
    wide.grammar_bytes = 1_000;
    assert!(lark::parse(&doubled(59), "start", &wide).is_ok());
    let error = lark::parse(&doubled(60), "start", &wide).expect_err("too heavy");
    assert_eq!(error.code(), "E-LIMIT-FUEL");
}

#[test]
fn terminals_that_double_are_stopped_early() {
    let mut text = "start: T40\nT0: \"ab\"\n".to_owned();
    text.extend((1..=40).map(|at| format!("T{at}: T{0} T{0}\n", at - 1)));
    assert_eq!(parse(&text).expect_err("huge").code(), "E-LIMIT-FUEL");
}
