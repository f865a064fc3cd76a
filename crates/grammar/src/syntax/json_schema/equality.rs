//! Subschemas that say the same, wherever they stand: found by what they hash to, and compared in full.
//!
//! What only tells people something is not looked at. Everything else is, in its order: properties are written in it.

use std::hash::{BuildHasher, Hash, Hasher};

use crate::json::Value;
use crate::maps::{IdMap, of_process};

/// What stands under a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordKind {
    /// A schema or a list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// Something for people.
    Remark,
    /// A value that is no schema.
    Value,
}

/// What stands under a keyword; keywords that are not known hold values.
pub(super) fn under(keyword: &str) -> KeywordKind {
    match keyword {
        "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "if"
        | "then"
        | "else"
        | "items"
        | "prefixItems"
        | "additionalItems"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema"
        | "extends"
        | "disallow"
        | "type" => KeywordKind::Schemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => KeywordKind::Named,
        "title" | "description" | "default" | "example" | "examples" | "$comment" | "readOnly"
        | "writeOnly" | "deprecated" => KeywordKind::Remark,
        _ => KeywordKind::Value,
    }
}

/// What each subschema of a document hashes to, by its address.
#[derive(Default)]
pub(super) struct Hashes(IdMap<*const Value, u64>);

impl Hashes {
    /// Those of a whole document.
    pub(super) fn of(document: &Value) -> Self {
        let mut hashes = Self::default();
        hashes.schema(document);
        hashes
    }

    /// What a subschema hashes to; None if it stands where no keyword expects one.
    pub(super) fn get(&self, schema: &Value) -> Option<u64> {
        self.0.get(&std::ptr::from_ref(schema)).copied()
    }

    /// Recursion is bounded by the depth of the document.
    fn schema(&mut self, schema: &Value) -> u64 {
        let mut state = of_process().build_hasher();
        let Value::Object(members) = schema else {
            value(schema, &mut state);
            return state.finish();
        };
        for (keyword, member) in members {
            let kind = under(keyword);
            if kind == KeywordKind::Remark {
                continue;
            }
            keyword.hash(&mut state);
            match (kind, member) {
                (KeywordKind::Schemas, Value::Object(_)) => state.write_u64(self.schema(member)),
                (KeywordKind::Schemas, Value::Array(items)) => {
                    for item in items {
                        state.write_u64(self.schema(item));
                    }
                }
                (KeywordKind::Named, Value::Object(named)) => {
                    for (name, member) in named {
                        name.hash(&mut state);
                        state.write_u64(self.schema(member));
                    }
                }
                _ => value(member, &mut state),
            }
        }
        let hash = state.finish();
        self.0.insert(std::ptr::from_ref(schema), hash);
        hash
    }
}

fn value(any: &Value, state: &mut impl Hasher) {
    match any {
        Value::Null => state.write_u8(0),
        Value::Bool(value) => value.hash(state),
        Value::Number(number) => number.hash(state),
        Value::String(text) => text.hash(state),
        Value::Array(items) => {
            state.write_usize(items.len());
            for item in items {
                value(item, state);
            }
        }
        Value::Object(members) => {
            state.write_usize(members.len());
            for (name, member) in members {
                name.hash(state);
                value(member, state);
            }
        }
    }
}

/// Whether two subschemas say the same. Recursion is bounded by the depth of the document.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    let (Value::Object(left), Value::Object(right)) = (left, right) else {
        return same_value(left, right);
    };
    let says = |(keyword, _): &(&String, &Value)| under(keyword) != KeywordKind::Remark;
    let mut left = left.iter().filter(says);
    let mut right = right.iter().filter(says);
    loop {
        let ((keyword, left), (other, right)) = match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) => (left, right),
            _ => return false,
        };
        let equal = keyword == other
            && match (under(keyword), left, right) {
                (KeywordKind::Schemas, Value::Array(left), Value::Array(right)) => {
                    left.len() == right.len()
                        && left
                            .iter()
                            .zip(right)
                            .all(|(left, right)| same(left, right))
                }
                (KeywordKind::Schemas, left, right) => same(left, right),
                (KeywordKind::Named, Value::Object(left), Value::Object(right)) => {
                    left.len() == right.len()
                        && left
                            .iter()
                            .zip(right)
                            .all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
                }
                (_, left, right) => same_value(left, right),
            };
        if !equal {
            return false;
        }
    }
}

/// Whether two values are written alike.
fn same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_value(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| left.0 == right.0 && same_value(left.1, right.1))
        }
        _ => left == right,
    }
}
