//! Schemas in strict mode: objects have only the properties that they declare, and tuples no further items.
//!
//! Where a schema joins others (`allOf` and similar), the whole is closed by `unevaluatedProperties`, and its parts are not.
//! Definitions are closed where they are referred to, so that they can be such parts. Before draft 2019-09, which allows
//! nothing next to `$ref`, the definitions themselves are closed.

use syntagma_grammar::Limits;
use syntagma_grammar::json::{Map, Value, read};

const OBJECT: [&str; 2] = ["properties", "patternProperties"];
const SAME: [&str; 8] = [
    "allOf",
    "anyOf",
    "oneOf",
    "$ref",
    "if",
    "then",
    "else",
    "dependentSchemas",
];

/// The text of a schema, closed. What is no schema stays as it is: its reader says so.
#[must_use]
pub fn strict_schema(source: &str, limits: &Limits) -> String {
    let Ok(schema) = read(source, limits.schema_depth) else {
        return source.to_owned();
    };
    let draft = schema.get("$schema").and_then(Value::as_str);
    let lone = draft.is_some_and(|draft| draft.contains("draft-0"));
    closed(schema, true, lone).to_string()
}

/// A schema with what is in it closed, and itself if `close`.
fn closed(schema: Value, close: bool, lone: bool) -> Value {
    let Value::Object(members) = schema else {
        return schema;
    };
    let declares = OBJECT.iter().any(|name| members.contains_key(name));
    let mut found: Vec<(String, Value)> = (members.iter())
        .map(|(name, value)| {
            let value = value.clone();
            let value = match name.as_str() {
                "items" | "prefixItems" if value.is_array() => of_each(value, true, lone),
                "items" | "additionalProperties" | "additionalItems" | "contains" => {
                    closed(value, true, lone)
                }
                "properties" | "patternProperties" => of_names(value, true, lone),
                "$defs" | "definitions" => of_names(value, lone, lone),
                "allOf" | "anyOf" | "oneOf" => {
                    let alone = !declares && (name != "allOf" || count(&value) == 1);
                    of_each(value, close && alone, lone)
                }
                _ => value,
            };
            (name.clone(), value)
        })
        .collect();
    if close && !(lone && members.contains_key("$ref")) {
        let added = closing(&members, declares).into_iter();
        found.extend(added.map(|name| (name.to_owned(), Value::Bool(false))));
    }
    Value::Object(found.into_iter().collect())
}

/// The keywords that close a schema.
fn closing(members: &Map, declares: bool) -> Vec<&'static str> {
    let has = |names: &[&str]| names.iter().any(|name| members.contains_key(name));
    let mut added = Vec::new();
    if declares && !has(&["additionalProperties", "unevaluatedProperties"]) {
        added.push(if has(&SAME) {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        });
    } else if (has(&["$ref"]) || members.get("allOf").is_some_and(|all| count(all) > 1))
        && !has(&["unevaluatedProperties"])
    {
        added.push("unevaluatedProperties");
    }
    if has(&["prefixItems"]) && !has(&["items", "unevaluatedItems"]) {
        added.push("items");
    }
    if members.get("items").is_some_and(Value::is_array)
        && !has(&["additionalItems", "unevaluatedItems"])
    {
        added.push("additionalItems");
    }
    added
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

fn of_each(value: Value, close: bool, lone: bool) -> Value {
    match value {
        Value::Array(items) => {
            let items = items.into_iter();
            Value::Array(items.map(|item| closed(item, close, lone)).collect())
        }
        other => other,
    }
}

fn of_names(value: Value, close: bool, lone: bool) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, schema)| (name.clone(), closed(schema.clone(), close, lone)))
                    .collect(),
            )
        }
        other => other,
    }
}
