//! Sources that are small and ask for much work: what they ask for is paid for, so that each ends in an answer or in a limit
//! error with a place.

use syntagma_grammar::ir::Grammar;
use syntagma_grammar::syntax::regex::Dialect;
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, regex};
use syntagma_grammar::{Diagnostic, Error, Limits, SourceLocation, print};

fn rust(pattern: &str) -> Result<Grammar, Error> {
    regex::parse(pattern, Dialect::Rust, &Limits::default()).map(Grammar::from_regex)
}

fn rules(text: &str) -> Result<Grammar, Error> {
    ebnf::parse(text, "start", &Limits::default())
}

fn schema(text: &str) -> Result<Grammar, Error> {
    json_schema::parse(text, &json_schema::Options::default(), &Limits::default())
}

fn list(count: usize, between: &str, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(between)
}

/// The code of an error, which must have a place.
fn code(result: Result<Grammar, Error>) -> &'static str {
    let Err(error) = result else {
        panic!("expected an error");
    };
    assert!(error.location().is_some(), "no place: {error}");
    error.code()
}

#[test]
fn case_ignored_in_wide_classes() {
    let wide = r"[\x00-\u{10FFFF}]".repeat(400);
    assert_eq!(code(rust(&format!("(?i){wide}"))), "E-LIMIT-FUEL");
    assert!(rust(&wide).is_ok());
    assert!(rust(&format!("(?i){}", r"[\s\S]".repeat(1_300))).is_ok());
    assert!(rust(&format!("(?i:{}){wide}", r"\p{L}".repeat(10))).is_ok());
}

#[test]
fn classes_of_everything_keep_their_language() {
    for pattern in [
        r"(?i)[\s\S]",
        r"(?i)[\d\D]",
        r"(?i)[a\W\w]",
        r"(?i)[\w\W&&\p{Any}]",
    ] {
        let printed = print::to_gbnf(&rust(pattern).unwrap(), None).unwrap().text;
        assert_eq!(printed, "root ::= .\n", "{pattern}");
    }
    let printed = print::to_gbnf(&rust(r"(?i)[^\s\Sa]|[\d\Wb]").unwrap(), None).unwrap();
    let other = print::to_gbnf(&rust(r"[\d\WbB]").unwrap(), None).unwrap();
    assert_eq!(printed.text, other.text);
}

#[test]
fn wide_classes_in_many_patterns() {
    let text = list(30_000, " ", |at| format!("#\"[\\p{{L}}{at}]\""));
    assert_eq!(code(rules(&format!("start ::= {text} ;"))), "E-LIMIT-FUEL");
    let text = list(2_000, " ", |at| format!("#\"\\p{{L}}{at}\""));
    assert!(rules(&format!("start ::= {text} ;")).is_ok());
}

#[test]
fn names_that_stand_for_much() {
    let pattern = r"\p{L}a".repeat(1_000);
    let uses = list(3_000, "\n", |at| format!("y{at} ::= ~x ;"));
    let text = format!("start ::= x ; x ::= #\"{pattern}\" ;\n{uses}");
    assert_eq!(code(rules(&text)), "E-LIMIT-FUEL");
}

#[test]
fn conditions_in_repetitions_in_repetitions() {
    let text = format!("{}{}", "(?:(?!b)a(?=c)".repeat(60), ")+".repeat(60));
    assert_eq!(
        rust(&text).map_err(|error| error.code()),
        Err("E-LIMIT-FUEL")
    );
}

#[test]
fn texts_that_are_compared_with_patterns() {
    let long = "ab".repeat(25_000);
    // Where derivatives stay small, the comparison is linear; counts grow with the text, and look-around is an intersection.
    for (pattern, is_cheap) in [
        ("^(a|b)*c", true),
        ("^(?!.*(.*a)).*(?!c)$", false),
        ("^(?:a|ab|b){0,1000000}c$", false),
    ] {
        let text =
            format!(r#"{{"properties":{{"x":{{"pattern":"{pattern}","enum":["{long}"]}}}}}}"#);
        let Err(error) = schema(&text) else {
            assert!(is_cheap, "{pattern}: an answer");
            continue;
        };
        assert!(!is_cheap, "{pattern}: {error}");
        assert_eq!(error.code(), "E-LIMIT-FUEL", "{error}");
        let Some(SourceLocation::Pointer(pointer)) = error.location() else {
            panic!("no place: {error}");
        };
        assert_eq!(pointer, "/properties/x/pattern");
    }
    let text = format!(r#"{{"pattern":"^(a|b)*$","enum":["{}"]}}"#, "ab".repeat(50));
    assert!(schema(&text).is_ok());
}

#[test]
fn many_items_that_may_be_empty() {
    let grammar = rules(&format!(
        "start ::= {} ;",
        list(50_000, " ", |_| "\"a\"?".into())
    ));
    assert!(grammar.is_ok());
    let cycle = rules("start ::= x? x y? ; x ::= \"\" | start ; y ::= \"y\" ;").unwrap();
    let warned: Vec<&str> = cycle.warnings().iter().map(Diagnostic::code).collect();
    assert_eq!(warned, ["W-GRAMMAR-CYCLE"]);
    let chain = list(30_000, "\n", |at| format!("x{} ::= x{at} ;", at + 1));
    let all = list(30_000, " ", |at| format!("x{at}"));
    assert!(rules(&format!("start ::= {all} ;\nx0 ::= \"a\" ;\n{chain}")).is_ok());
}

#[test]
fn warnings_know_their_places() {
    let unused = list(20_000, "", |at| {
        format!("r{at} ::= \"é\" ;{}", if at % 3 == 0 { "\n" } else { " " })
    });
    let grammar = rules(&format!("start ::= \"a\" ;\n{unused}")).unwrap();
    assert_eq!(grammar.warnings().len(), 20_000);
    for (at, warning) in grammar.warnings().iter().enumerate() {
        let Some(SourceLocation::Text {
            line,
            column,
            excerpt,
            ..
        }) = warning.location()
        else {
            panic!("no place: {warning}");
        };
        assert_eq!(*line, 2 + at.div_ceil(3));
        let shown = excerpt.lines().next().unwrap_or_default();
        let after: String = shown.chars().skip(1 + column).collect();
        assert!(after.starts_with(&format!("r{at} ")), "{excerpt}");
    }
}

#[test]
fn what_is_dear_is_written_once() {
    let grammar = rust(&r":\p{L}\w?:?".repeat(400)).unwrap();
    assert!(print::to_gbnf(&grammar, None).is_ok());
    let grammar = rules(&format!(
        "start ::= {} ;",
        list(3_000, " ", |_| "except!(\"ab\")".into())
    ))
    .unwrap();
    let text = print::to_ebnf(&grammar);
    assert!(text.len() < 300_000, "{}", text.len());
    assert!(rules(&text).is_ok());
    let text = format!("root ::= {}", list(50_000, " ", |_| "[^a]".into()));
    let grammar = gbnf::parse(&text, "root", &Limits::default()).unwrap();
    assert_eq!(
        print::to_gbnf(&grammar, None).unwrap().text.trim_end(),
        text
    );
}

#[test]
fn limits_of_patterns_have_places() {
    let offset = |result: Result<Grammar, Error>| {
        let Err(error) = result else {
            panic!("expected an error");
        };
        match error.location() {
            Some(SourceLocation::Text { offset, .. }) => (error.code(), *offset),
            other => panic!("{other:?}: {error}"),
        }
    };
    assert_eq!(
        offset(rust("ab{3}c{1000001}")),
        ("E-LIMIT-REGEX-REPETITION", 6)
    );
    assert_eq!(
        offset(rust("x(?:yz{200}){100}")),
        ("E-LIMIT-REGEX-EXPANSION", 6)
    );
    assert_eq!(
        offset(rules("start ::= \"é\" #\"a{2000000}\" ;")),
        ("E-LIMIT-REGEX-REPETITION", 18)
    );
    assert_eq!(
        offset(rust(&"a".repeat(70_000))),
        ("E-LIMIT-REGEX-BYTES", 65_536)
    );
}

#[test]
fn long_patterns_are_read_or_refused() {
    let long = |unit: &str, between: &str| {
        let times = 65_000 / (unit.len() + between.len());
        vec![unit; times].join(between)
    };
    // Alternatives with the same conditions are one.
    assert!(rust(&long(r"\b", "|")).is_ok());
    let different = list(4_000, "|", |at| format!("(?={at})"));
    assert_eq!(code(rust(&different)), "E-REGEX-UNSUPPORTED");
    assert_eq!(code(rust(&long(r"(?i)\p{L}", ""))), "E-LIMIT-FUEL");
    for unit in ["a{0,9}", "(?:ab)?", "[a-z]+"] {
        assert!(rust(&long(unit, "")).is_ok(), "{unit}");
        let quoted = format!("start ::= #\"{}\";", long(unit, "|"));
        assert!(rules(&quoted).is_ok(), "{unit}");
        let pattern = format!(r#"{{"pattern":"{}"}}"#, long(unit, ""));
        assert!(schema(&pattern).is_ok(), "{unit}");
    }
}
