//! Sources: whatever is written, there is an answer or an error with a place.

use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark, regex, xgrammar};
use syntagma_grammar::{Error, ErrorKind, Grammar, Limits, SourceLocation};

use super::grammar::{explore, number};

/// What an error says, without what is particular to the input; checks what every error promises.
pub(super) fn error_features(source: &str, error: &Error, languages_of_rules: bool) -> Vec<u64> {
    assert!(
        error.code().starts_with("E-") && !error.message().is_empty(),
        "{error:?}"
    );
    let limit = error.kind() == ErrorKind::Limit;
    assert_eq!(limit, error.code().starts_with("E-LIMIT-"), "{error:?}");
    assert_eq!(limit, error.limit_detail().is_some(), "{error:?}");
    match error.location() {
        Some(SourceLocation::Text {
            offset,
            line,
            column,
            excerpt,
        }) => {
            assert!(
                *offset <= source.len() && source.is_char_boundary(*offset),
                "{error:?}"
            );
            assert!(
                *line >= 1 && *column >= 1 && excerpt.ends_with('^'),
                "{error:?}"
            );
        }
        Some(_) => {}
        None => assert!(limit || !languages_of_rules, "no place: {error:?}"),
    }
    assert!(
        !languages_of_rules || error.hint().is_some(),
        "no hint: {error:?}"
    );
    let kind: String = error
        .message()
        .chars()
        .take(24)
        .filter(char::is_ascii_alphabetic)
        .collect();
    vec![number((error.code(), kind))]
}

fn read(
    input: &[u8],
    rules: bool,
    parse: impl Fn(&str, &Limits) -> Result<Grammar, Error>,
) -> Vec<u64> {
    let source = String::from_utf8_lossy(input);
    match parse(&source, &Limits::default()) {
        Ok(grammar) => {
            for warning in grammar.warnings() {
                assert!(
                    warning.location().is_some() && warning.hint().is_some(),
                    "{warning:?}"
                );
            }
            explore(grammar)
        }
        Err(error) => error_features(&source, &error, rules),
    }
}

pub(super) fn ebnf(input: &[u8]) -> Vec<u64> {
    read(input, true, |text, limits| {
        ebnf::parse(text, "start", limits)
    })
}

pub(super) fn gbnf(input: &[u8]) -> Vec<u64> {
    let mut features = read(input, true, |text, limits| {
        gbnf::parse(text, "root", limits)
    });
    features.extend(read(input, true, |text, limits| {
        xgrammar::parse(text, "root", limits)
    }));
    features
}

pub(super) fn lark(input: &[u8]) -> Vec<u64> {
    // Schemas inside have places of their own.
    let rules = !String::from_utf8_lossy(input).contains("%json");
    read(input, rules, |text, limits| {
        lark::parse(text, "start", limits)
    })
}

pub(super) fn schema(input: &[u8]) -> Vec<u64> {
    let options = json_schema::Options::default();
    read(input, false, |text, limits| {
        json_schema::parse(text, &options, limits)
    })
}

pub(super) fn regex(input: &[u8]) -> Vec<u64> {
    let mut features = Vec::new();
    for dialect in [regex::Dialect::Rust, regex::Dialect::Ecma] {
        features.extend(read(input, false, |text, limits| {
            regex::parse(text, dialect, limits).map(Grammar::from_regex)
        }));
    }
    features.extend(read(input, false, |text, limits| {
        regex::ecma_search(text, limits).map(Grammar::from_regex)
    }));
    features
}
