//! Sources that are refused, each with a code and a place.
#![allow(dead_code, unreachable_pub)]

use syntagma_grammar::{Error, Grammar, Limits, Place};

/// (source, code, line, column)
pub type Refused = (&'static str, &'static str, usize, usize);

/// Every source is refused at its place, and the line is shown with a caret under it.
pub fn check(parse: impl Fn(&str) -> Result<Grammar, Error>, table: &[Refused]) {
    for &(text, code, line, column) in table {
        let error = parse(text).expect_err(text);
        assert_eq!(error.code(), code, "{text}: {error}");
        let Some(Place::Text {
            line: found_line,
            column: found_column,
            excerpt,
            ..
        }) = error.place()
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
