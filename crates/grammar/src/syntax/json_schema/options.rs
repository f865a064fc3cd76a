//! How a schema is read.

use super::notation::Notation;
use super::whitespace::Whitespace;
use crate::json::Value;

/// In which order the properties of an object come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// As the schema lists them, then those only required, then all others.
    #[default]
    Declared,
    /// Any. A listed property may be repeated where there are too many to remember which were written.
    Any,
}

/// A version of JSON Schema, as far as versions differ here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 7 and before: keywords beside `$ref` are ignored.
    Draft7,
    /// 2019-09: what `contains` finds is not evaluated.
    Draft2019,
    /// 2020-12.
    Draft2020,
}

impl Draft {
    /// The version that a schema says it is of; the latest if it does not say.
    pub(super) fn of(schema: &Value) -> Self {
        match schema.get("$schema").and_then(Value::as_str) {
            Some(uri)
                if ["draft-03", "draft-04", "draft-06", "draft-07"]
                    .iter()
                    .any(|old| uri.contains(old)) =>
            {
                Self::Draft7
            }
            Some(uri) if uri.contains("2019-09") => Self::Draft2019,
            _ => Self::Draft2020,
        }
    }

    pub(super) fn ref_alone(self) -> bool {
        self == Self::Draft7
    }
}

/// How a schema is read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whitespace between tokens; None: as the schema's `x-guidance` says, else [`Whitespace::Flexible`].
    pub whitespace: Option<Whitespace>,
    /// The order of properties.
    pub order: Order,
    /// Whether a grammar that enforces less than the schema is given, with a report; else such a schema is refused.
    pub allow_widened: bool,
    /// The version of the schema; by default what its `$schema` says.
    pub draft: Option<Draft>,
    /// How values are spelled.
    pub notation: Notation,
    /// Schemas that references may lead to: each URI, and the schema as JSON text.
    pub resources: Vec<(String, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            whitespace: None,
            order: Order::default(),
            allow_widened: true,
            draft: None,
            notation: Notation::default(),
            resources: Vec::new(),
        }
    }
}
