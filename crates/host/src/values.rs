//! Values as JSON, and bounds.

use std::sync::Arc;

use syntagma_engine::{Bound, Captures, Explanation, Unit, Verdict};
use syntagma_grammar::json::Value;

pub(crate) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// A number; those beyond 63 bits, which no count reaches, are the largest one.
pub(crate) fn number(number: u64) -> Value {
    Value::from(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// Captures as a JSON object: for each label an array of `[start, end]`, in bytes of the text.
#[must_use]
pub fn captures_json(captures: &Captures) -> String {
    let span = |&(start, end): &(usize, usize)| {
        Value::Array(vec![number(start as u64), number(end as u64)])
    };
    let spans = |spans: &Vec<(usize, usize)>| Value::Array(spans.iter().map(span).collect());
    object((captures.iter()).map(|(label, found)| (&**label, spans(found)))).to_string()
}

/// At most so many tokens in parts with a label.
pub(crate) fn tokens(label: impl Into<Arc<str>>, most: u32) -> Bound {
    Bound {
        label: label.into(),
        unit: Unit::Tokens,
        most,
    }
}

/// A verdict on a token as a word, and the byte at which the token dies.
#[must_use]
pub fn verdict_word(verdict: Verdict) -> (&'static str, Option<usize>) {
    match verdict {
        Verdict::Allowed => ("allowed", None),
        Verdict::Dies { at } => ("dies", Some(at)),
        Verdict::NotExpected => ("not expected", None),
        Verdict::Unused => ("unused", None),
        Verdict::Ended => ("ended", None),
        Verdict::Spent => ("spent", None),
    }
}

/// What may come next as a JSON object: `expected`, an array of `rule`, `symbol` and `begun`; `accepting`; `terminated`; and of
/// the token that was asked for `token`, the verdict, and `dies_at`.
#[must_use]
pub fn explanation_json(explanation: &Explanation) -> String {
    let expected = explanation.expected.iter().map(|one| {
        object([
            ("rule", text(&one.rule)),
            ("symbol", text(&one.symbol)),
            ("begun", Value::Bool(one.begun)),
        ])
    });
    let mut members = vec![
        ("expected", Value::Array(expected.collect())),
        ("accepting", Value::Bool(explanation.accepting)),
        ("terminated", Value::Bool(explanation.terminated)),
    ];
    if let Some((word, at)) = explanation.token.map(verdict_word) {
        members.push(("token", text(word)));
        members.extend(at.map(|at| ("dies_at", number(at as u64))));
    }
    object(members).to_string()
}
