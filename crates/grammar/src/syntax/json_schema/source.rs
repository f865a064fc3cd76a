//! Schema text to JSON value, within the limits.

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
    // A short text is short in compact form too.
    if text.len() > limits.schema_bytes {
        let compact = value.to_string().len();
        if compact > limits.schema_bytes {
            return Err(Error::limit(
                "E-LIMIT-SCHEMA-BYTES",
                "schema_bytes",
                compact as u64,
                limits.schema_bytes as u64,
            ));
        }
    }
    Ok(value)
}
