//! Schema text to JSON value, within the limits.

use super::equality::{KeywordKind, under};
use crate::error::{Error, SourceLocation};
use crate::json::{self, Problem, Value};
use crate::limits::Limits;
use crate::tuning::MAX_JSON_NESTING;

/// Reads a schema.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Value, Error> {
    let depth = limits.schema_depth.min(MAX_JSON_NESTING);
    let value = json::read(text, depth).map_err(|unreadable| {
        let wrong = |message: &str| Error::schema("E-SCHEMA-JSON", message, Vec::new());
        let error = match unreadable.problem {
            Problem::Empty => return wrong("the schema is empty"),
            Problem::Follows => wrong("something follows the schema"),
            Problem::Syntax(_) => wrong(&format!("the schema is no JSON: {unreadable}")),
            Problem::Deep => {
                let (given, allowed) = (depth as u64 + 1, depth as u64);
                Error::limit("E-LIMIT-SCHEMA-DEPTH", "schema_depth", given, allowed)
            }
        };
        error.at(SourceLocation::in_text(text, unreadable.offset))
    })?;
    Ok(value)
}

/// Checks what schemas cost: their bytes as compact JSON, without what only tells people something.
pub(super) fn check_cost<'v>(
    texts: usize,
    schemas: impl Iterator<Item = &'v Value>,
    limits: &Limits,
) -> Result<(), Error> {
    let limit = ("E-LIMIT-SCHEMA-BYTES", "schema_bytes");
    // A short text costs less than it is long.
    if texts <= limits.schema_bytes {
        return Ok(());
    }
    Error::check_limit(limit, schemas.map(cost).sum(), limits.schema_bytes)
}

/// Recursion is bounded by the depth of the schema.
fn cost(schema: &Value) -> usize {
    let Value::Object(members) = schema else {
        return schema.to_string().len();
    };
    let list =
        |costs: &mut dyn Iterator<Item = usize>| 2 + costs.map(|cost| cost + 1).sum::<usize>();
    let named = |name: &str, cost: usize| name.len() + 3 + cost;
    let says = members
        .iter()
        .filter(|(keyword, _)| under(keyword) != KeywordKind::Remark);
    list(&mut says.map(|(keyword, member)| {
        let inner = match (under(keyword), member) {
            (KeywordKind::Schemas, Value::Array(items)) => list(&mut items.iter().map(cost)),
            (KeywordKind::Named, Value::Object(schemas)) => list(
                &mut schemas
                    .iter()
                    .map(|(name, schema)| named(name, cost(schema))),
            ),
            _ => cost(member),
        };
        named(keyword, inner)
    }))
}
