//! Keywords of others than JSON Schema that would change what is allowed. JSON Schema ignores what it does not know, and so
//! do other engines; here it is said.

use crate::json::Value;

/// What to write instead of a keyword that JSON Schema does not have.
pub(super) fn instead(keyword: &str, value: &Value) -> Option<&'static str> {
    let hint = match keyword {
        // OpenAPI 3.0 and Swagger 2; false says what JSON Schema says anyway.
        "nullable" | "x-nullable" if *value == Value::Bool(true) => {
            "write null among the types: \"type\": [\"string\", \"null\"]"
        }
        // MongoDB
        "bsonType" => "write \"type\"",
        // Google's Gemini
        "propertyOrdering" => "list the properties in their order: it counts here",
        // ajv-formats
        "formatMinimum" | "formatMaximum" | "formatExclusiveMinimum" | "formatExclusiveMaximum" => {
            "write a \"pattern\", or check the answer"
        }
        // ajv-keywords
        "range" if value.is_array() => "write \"minimum\" and \"maximum\"",
        "exclusiveRange" => "write \"exclusiveMinimum\" and \"exclusiveMaximum\"",
        "regexp" => "write \"pattern\"",
        "allRequired" => "list the names under \"required\"",
        "anyRequired"
        | "oneRequired"
        | "prohibited"
        | "patternRequired"
        | "deepRequired"
        | "deepProperties"
        | "uniqueItemProperties"
        | "instanceof"
        | "typeof" => "say it in keywords of JSON Schema, or check the answer",
        _ => return None,
    };
    Some(hint)
}
