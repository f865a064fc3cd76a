//! Values as JSON, and bounds.

use std::sync::Arc;

use syntagma_engine::{Bound, Captures, Unit};
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
