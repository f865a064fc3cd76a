//! Schema text to JSON value, within the limits.

use serde_json::Value;

use crate::error::{Error, Place};
use crate::limits::Limits;

/// Values nest at most so deep, whatever the limits say: dropping and comparing them recurses.
const DEEPEST: usize = 1_000;

/// Reads a schema.
pub(super) fn read(text: &str, limits: &Limits) -> Result<Value, Error> {
    check_depth(text, limits)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let mut values = reader.into_iter::<Value>();
    let broken = |error: &serde_json::Error| {
        Error::schema(
            "E-SCHEMA-JSON",
            format!("the schema is no JSON: {error}"),
            Vec::new(),
        )
        .at(Place::in_text(
            text,
            offset(text, error.line(), error.column()),
        ))
    };
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(broken(&error)),
        None => {
            return Err(Error::schema(
                "E-SCHEMA-JSON",
                "the schema is empty",
                Vec::new(),
            ));
        }
    };
    let end = values.byte_offset();
    if !text[end..].trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Err(
            Error::schema("E-SCHEMA-JSON", "something follows the schema", Vec::new())
                .at(Place::in_text(text, end)),
        );
    }
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

fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    start + column.saturating_sub(1)
}

/// Counts brackets outside strings, before anything recurses.
fn check_depth(text: &str, limits: &Limits) -> Result<(), Error> {
    let allowed = limits.schema_depth.min(DEEPEST);
    let mut depth = 0usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let mut escaped = false;
                bytes.find(|&(_, byte)| {
                    let ends = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                });
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > allowed {
                    return Err(Error::limit(
                        "E-LIMIT-SCHEMA-DEPTH",
                        "schema_depth",
                        depth as u64,
                        allowed as u64,
                    )
                    .at(Place::in_text(text, offset)));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}
