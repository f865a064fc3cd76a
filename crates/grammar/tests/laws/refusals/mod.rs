//! Sources that are refused, each with a code and a place.
#![allow(dead_code, unreachable_pub)]

use syntagma_grammar::{Error, Grammar, Limits, SourceLocation};

/// (code, (source, line, column) of what is refused with it)
pub type Refused = (&'static str, &'static [(&'static str, usize, usize)]);

/// Every source is refused at its place, and the line is shown with a caret under it.
pub fn check(parse: impl Fn(&str) -> Result<Grammar, Error>, table: &[Refused]) {
    let rows = table
        .iter()
        .flat_map(|&(code, sources)| sources.iter().map(move |&source| (code, source)));
    for (code, (text, line, column)) in rows {
        let error = parse(text).expect_err(text);
        assert_eq!(error.code(), code, "{text}: {error}");
        let Some(SourceLocation::Text {
            line: found_line,
            column: found_column,
            excerpt,
            ..
        }) = error.location()
        else {
            panic!("{text}: no place: {error}");
        };
        assert_eq!(
            (*found_line, *found_column),
            (line, column),
            "{text}: {error}"
        );
        let (shown, caret) = excerpt.split_once('\n').expect("a line and a caret");
        let wanted = text.split('\n').nth(line - 1).unwrap_or("");
        assert_eq!(shown.trim(), wanted.trim(), "{text}: {error}");
        assert_eq!(caret.chars().count(), 2 + column, "{text}: {error}");
        assert!(caret.ends_with('^'), "{text}: {error}");
        let hint = error.hint().unwrap_or_default();
        assert!(!hint.is_empty(), "{text}: no hint: {error}");
    }
}

/// (a source at the limit, one past it, the code)
pub type Edge = (String, String, &'static str);

/// Limits that short sources reach.
pub fn narrow() -> Limits {
    let mut limits = Limits::default();
    limits.grammar_bytes = 100;
    limits.grammar_nesting = 4;
    limits.grammar_alternatives = 10;
    limits.regex_repetition = 20;
    limits.regex_expansion = 50;
    limits
}

/// Sources at the edges of [`narrow`], for a rule that begins and ends like this.
pub fn edges(begin: &str, end: &str) -> Vec<Edge> {
    let rule = |body: String| format!("{begin}{body}{end}");
    let long = |count: usize| {
        let around = begin.len() + end.len() + 2;
        rule(format!("\"{}\"", "a".repeat(count - around)))
    };
    let nested = |depth: usize| rule(format!("{}\"a\"{}", "(".repeat(depth), ")".repeat(depth)));
    let alternatives = |count: usize| rule(vec!["\"a\""; count].join("|"));
    let counted = |bound: u32| rule(format!("\"a\"{{1,{bound}}}"));
    let product = |inner: u32| rule(format!("(\"a\"{{{inner}}} \"b\"){{5}}"));
    vec![
        (long(100), long(101), "E-LIMIT-GRAMMAR-BYTES"),
        (nested(4), nested(5), "E-LIMIT-GRAMMAR-NESTING"),
        (
            alternatives(10),
            alternatives(11),
            "E-LIMIT-GRAMMAR-ALTERNATIVES",
        ),
        (counted(20), counted(21), "E-LIMIT-REGEX-REPETITION"),
        (product(10), product(11), "E-LIMIT-REGEX-EXPANSION"),
    ]
}

/// What is at the limit is read, what is past it is refused as too large.
pub fn check_edges(
    parse: impl Fn(&str, &Limits) -> Result<Grammar, Error>,
    limits: &Limits,
    edges: &[Edge],
) {
    for (at, past, code) in edges {
        assert!(parse(at, limits).is_ok(), "{at}");
        let error = parse(past, limits).expect_err(past);
        assert_eq!(error.code(), *code, "{past}");
        assert!(error.limit_detail().is_some());
    }
}
