//! JSON values as they are written: numbers keep their text, objects the order of their members.
//!
//! A schema needs both: `1e400` and `0.1` mean exactly what they say, and properties are written in the schema's order.

mod reader;

use std::fmt;

pub use reader::{Problem, Unreadable, read};

use crate::maps::SeededIndexMap;

/// A JSON value. Its depth is what [`read`] was given at most; dropping and comparing it recurse so deep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its text.
    Number(Number),
    /// A text, its escapes replaced.
    String(String),
    /// Items.
    Array(Vec<Value>),
    /// Members by name.
    Object(Map),
}

/// A number as it is written: equal if its text is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

/// The members of an object in the order in which their names came first; of those with the same name the last one.
/// Equal whatever the order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Map(SeededIndexMap<String, Value>);

impl Number {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Map {
    /// The member with a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Adds a member, or replaces the value of the one with that name.
    pub(crate) fn insert(&mut self, name: String, value: Value) {
        self.0.insert(name, value);
    }

    /// Whether there is a member with a name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values.
    #[must_use]
    pub fn iter(&self) -> Members<'_> {
        Members(self.0.iter())
    }

    /// Names.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

/// The members of a [`Map`].
#[derive(Debug, Clone)]
pub struct Members<'m>(indexmap::map::Iter<'m, String, Value>);

impl<'m> Iterator for Members<'m> {
    type Item = (&'m String, &'m Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Members<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for Members<'_> {}

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m String, &'m Value);
    type IntoIter = Members<'m>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(members: T) -> Self {
        Self(members.into_iter().collect())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(Number(number.to_string().into()))
    }
}

impl Value {
    /// The member of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The value that a JSON pointer (RFC 6901) leads to.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        let mut steps = pointer.split('/');
        let mut value = steps
            .next()
            .filter(|first| first.is_empty())
            .map(|_| self)?;
        for step in steps {
            value = match value {
                Self::Object(members) if step.contains('~') => {
                    members.get(&step.replace("~1", "/").replace("~0", "~"))?
                }
                Self::Object(members) => members.get(step)?,
                Self::Array(items) => {
                    let plain = step == "0" || !step.starts_with(['0', '+']);
                    let at: usize = step.parse().ok().filter(|_| plain)?;
                    items.get(at)?
                }
                _ => return None,
            };
        }
        Some(value)
    }

    /// The members of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is a number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether it is a text.
    #[must_use]
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is `true` or `false`.
    #[must_use]
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Compact JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => number.fmt(f),
            Self::String(text) => Quoted(text).fmt(f),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at > 0 { "," } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, member)) in members.iter().enumerate() {
                    f.write_str(if at > 0 { "," } else { "" })?;
                    write!(f, "{}:{member}", Quoted(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A text as a JSON string that escapes only what must be.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut rest = self.0;
        while let Some(at) = rest.find(|c: char| c < ' ' || c == '"' || c == '\\') {
            f.write_str(&rest[..at])?;
            match rest.as_bytes()[at] {
                b'\n' => f.write_str("\\n")?,
                b'\r' => f.write_str("\\r")?,
                b'\t' => f.write_str("\\t")?,
                0x08 => f.write_str("\\b")?,
                0x0C => f.write_str("\\f")?,
                sign @ (b'"' | b'\\') => write!(f, "\\{}", char::from(sign))?,
                control => write!(f, "\\u{control:04x}")?,
            }
            rest = &rest[at + 1..];
        }
        write!(f, "{rest}\"")
    }
}
