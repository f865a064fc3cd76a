//! `x-guidance`, llguidance's options at the root of a schema (its docs/json_schema.md): whitespace and separators. It also
//! has `coerce_one_of` and `lenient`, which make up for what it cannot hold; here they say nothing.

use super::options::Options;
use super::whitespace::Whitespace;
use crate::error::{Error, SourceLocation};
use crate::json::{Map, Value};

const KEY: &str = "x-guidance";

/// The whitespace that a schema asks for; an option that was given wins.
pub(super) fn whitespace(options: &Options, document: &Value) -> Result<Whitespace, Error> {
    if let Some(given) = &options.whitespace {
        return Ok(given.clone());
    }
    match document.get(KEY) {
        None | Some(Value::Null) => Ok(Whitespace::default()),
        Some(Value::Object(guidance)) => asked(guidance),
        Some(_) => Err(wrong("", "it is an object")),
    }
}

fn asked(guidance: &Map) -> Result<Whitespace, Error> {
    let mut flexible = true;
    let mut pattern = None;
    let (mut comma, mut colon) = (",", ":");
    for (name, value) in guidance {
        match (name.as_str(), value) {
            ("whitespace_flexible", Value::Bool(value)) => flexible = *value,
            ("whitespace_pattern", Value::String(value)) => pattern = Some(value),
            ("item_separator", Value::String(value)) => comma = value,
            ("key_separator", Value::String(value)) => colon = value,
            ("coerce_one_of" | "lenient", Value::Bool(_)) | ("whitespace_pattern", Value::Null) => {
            }
            (
                "whitespace_flexible"
                | "whitespace_pattern"
                | "item_separator"
                | "key_separator"
                | "coerce_one_of"
                | "lenient",
                _,
            ) => return Err(wrong(name, "it is of another type")),
            _ => {
                return Err(wrong(
                    name,
                    "llguidance has no such option; it has item_separator, key_separator, whitespace_flexible, \
                     whitespace_pattern, coerce_one_of and lenient",
                ));
            }
        }
    }
    if (comma, colon) != (",", ":") {
        let name = if comma == "," {
            "key_separator"
        } else {
            "item_separator"
        };
        let found = Whitespace::separators(comma, colon);
        return found.map_err(|error| wrong(name, error.message()));
    }
    Ok(match pattern {
        Some(pattern) => Whitespace::Regex(pattern.clone()),
        None if flexible => Whitespace::Flexible,
        None => Whitespace::Compact,
    })
}

fn wrong(name: &str, why: &str) -> Error {
    let slash = if name.is_empty() { "" } else { "/" };
    Error::grammar("E-SCHEMA-OPTION", why)
        .at(SourceLocation::Pointer(format!("/{KEY}{slash}{name}")))
        .with_hint("options of the call win over x-guidance")
}
