//! One subschema as typed keywords.

use std::cell::{Cell, OnceCell};
use std::ops::Deref;
use std::rc::Rc;

use crate::json::Value;

use super::decimal::Decimal;
use super::number::Bound;
use crate::maps::{SeededSet, hash_of};
use crate::tuning::{LINEAR_PROPERTIES, POINTER_BYTES_PER_UNIT};

/// A subschema: one of the document, or one that a rewriting made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LocationId(pub(super) u32);

/// A set of JSON types. Numbers are two: integers and all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Default for Types {
    fn default() -> Self {
        Self::ALL
    }
}

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const OBJECT: Self = Self(4);
    pub(super) const ARRAY: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const INTEGER: Self = Self(32);
    pub(super) const FRACTION: Self = Self(64);
    pub(super) const NUMBER: Self = Self(96);
    pub(super) const ALL: Self = Self(127);
    pub(super) const NONE: Self = Self(0);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "string" => Self::STRING,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "any" => Self::ALL,
            _ => return None,
        })
    }

    /// The type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Object(_) => Self::OBJECT,
            Value::Array(_) => Self::ARRAY,
            Value::String(_) => Self::STRING,
            Value::Number(number) => match Decimal::parse(number.as_str()) {
                Some(number) if number.is_integer() => Self::INTEGER,
                _ => Self::FRACTION,
            },
        }
    }
}

/// A pattern or format, or all strings but those that match it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) source: Source,
    pub(super) negated: bool,
    pub(super) pointer: Rc<str>,
}

/// Where a pattern comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// ECMA-262, searched for.
    Pattern(Rc<str>),
    Format(&'static str),
}

/// How many of the branches of a [`Choice`] hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// At least one.
    Any,
    /// Exactly one.
    One,
    /// Exactly one, and no value satisfies two of them.
    Disjoint,
}

/// Some of these must hold.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) branches: Rc<[LocationId]>,
    pub(super) holds: Holds,
    pub(super) pointer: Rc<str>,
}

/// Numbers that are a multiple of this one, or all but those.
#[derive(Debug, Clone)]
pub(super) struct Multiple {
    pub(super) factor: Decimal,
    pub(super) negated: bool,
    pub(super) pointer: Rc<str>,
}

/// Among the items from an index on, between `min` and `max` satisfy a schema.
#[derive(Debug, Clone)]
pub(super) struct Contains {
    pub(super) schema: LocationId,
    pub(super) from: usize,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) pointer: Rc<str>,
}

/// At least one member has a name like this and a value that satisfies a schema.
#[derive(Debug, Clone)]
pub(super) struct RequiredMember {
    /// Patterns of the name: each is found in it, or is not.
    pub(super) patterns: Vec<(Rc<str>, bool)>,
    /// Names that it is not.
    pub(super) others_than: Vec<Rc<str>>,
    /// What the name satisfies besides.
    pub(super) name: Option<LocationId>,
    pub(super) value: LocationId,
    pub(super) pointer: Rc<str>,
}

/// One of 64 bits for a name.
fn mark(name: &str) -> u64 {
    1 << (hash_of(name) >> 58)
}

/// The listed properties of a subschema, in its order.
#[derive(Debug, Clone, Default)]
pub(super) struct Properties {
    all: Vec<(Rc<str>, LocationId)>,
    /// A bit for each name, by its hash: it answers for most names that are not there.
    marks: u64,
    /// Where the one that is likely asked for next stands, if each name is there once: they are asked for in their order.
    next: Option<Cell<usize>>,
    /// Their positions by name, once one was asked for out of order.
    sorted: OnceCell<Box<[u32]>>,
}

impl Properties {
    /// Those of a JSON object: each name is there once.
    pub(super) fn distinct(all: Vec<(Rc<str>, LocationId)>) -> Self {
        Self {
            next: Some(Cell::new(0)),
            ..all.into()
        }
    }

    /// The subschemas under a name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = LocationId> {
        let named =
            move |(own, schema): &(Rc<str>, LocationId)| (**own == *name).then_some(*schema);
        let all: &[_] = if self.marks & mark(name) == 0 {
            &[]
        } else {
            &self.all
        };
        let guess = self.next.as_ref().and_then(|next| {
            let at = next.get();
            let hit = all.get(at).is_some_and(|(own, _)| **own == *name);
            next.set(if hit { at + 1 } else { 0 });
            hit.then_some(at)
        });
        let (few, many) = if let Some(at) = guess {
            (&all[at..=at], &[][..])
        } else if all.len() <= LINEAR_PROPERTIES {
            (all, &[][..])
        } else {
            let of = |at: &u32| &*all[*at as usize].0;
            let sorted = self.sorted.get_or_init(|| {
                let mut sorted: Vec<u32> = (0..all.len() as u32).collect();
                sorted.sort_by(|left, right| of(left).cmp(of(right)));
                sorted.into()
            });
            let from = sorted.partition_point(|at| of(at) < name);
            let to = from + sorted[from..].partition_point(|at| of(at) == name);
            (&[][..], &sorted[from..to])
        };
        let many = many.iter().map(|&at| self.all[at as usize].1);
        few.iter().filter_map(named).chain(many)
    }
}

impl FromIterator<(Rc<str>, LocationId)> for Properties {
    fn from_iter<T: IntoIterator<Item = (Rc<str>, LocationId)>>(all: T) -> Self {
        Vec::from_iter(all).into()
    }
}

impl From<Vec<(Rc<str>, LocationId)>> for Properties {
    fn from(all: Vec<(Rc<str>, LocationId)>) -> Self {
        Self {
            marks: all.iter().fold(0, |marks, (name, _)| marks | mark(name)),
            all,
            next: None,
            sorted: OnceCell::new(),
        }
    }
}

impl Deref for Properties {
    type Target = [(Rc<str>, LocationId)];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl<'p> IntoIterator for &'p Properties {
    type Item = &'p (Rc<str>, LocationId);
    type IntoIter = std::slice::Iter<'p, (Rc<str>, LocationId)>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

/// What one subschema says. The default says nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Keywords {
    pub(super) types: Types,
    pub(super) values: Option<Vec<Value>>,
    pub(super) excluded: Vec<Value>,
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiples: Vec<Multiple>,
    pub(super) prefix: Vec<LocationId>,
    pub(super) rest: Option<LocationId>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) contains: Vec<Contains>,
    pub(super) unevaluated_items: Option<(LocationId, Rc<str>)>,
    pub(super) unique: Option<Rc<str>>,
    pub(super) properties: Properties,
    pub(super) pattern_properties: Vec<(Rc<str>, LocationId)>,
    pub(super) additional: Option<LocationId>,
    pub(super) names: Option<(LocationId, Rc<str>)>,
    pub(super) required: Vec<Rc<str>>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
    pub(super) has: Vec<Rc<RequiredMember>>,
    pub(super) unevaluated: Option<(LocationId, Rc<str>)>,
    pub(super) includes: Vec<LocationId>,
    /// Whether there is nothing but a reference.
    pub(super) only_reference: bool,
    pub(super) choices: Vec<Choice>,
    /// (pointer, reason) of what is not enforced.
    pub(super) widened: Vec<(String, String)>,
}

impl Keywords {
    /// The schema that nothing satisfies.
    pub(super) fn never() -> Self {
        Self {
            types: Types::NONE,
            ..Self::default()
        }
    }

    pub(super) fn of_type(types: Types) -> Self {
        Self {
            types,
            ..Self::default()
        }
    }

    /// How much is copied where it is joined with others.
    pub(super) fn copied(&self) -> usize {
        self.values.as_ref().map_or(0, Vec::len)
            + self.excluded.len()
            + self.required.len()
            + self.patterns.len()
            + self.multiples.len()
            + self.contains.len()
            + self.has.len()
            + self.choices.len()
            + self
                .widened
                .iter()
                .map(|(pointer, _)| 1 + pointer.len() / POINTER_BYTES_PER_UNIT)
                .sum::<usize>()
    }

    /// Whether it asks what other keywords evaluate.
    pub(super) fn evaluates(&self) -> bool {
        self.unevaluated.is_some() || self.unevaluated_items.is_some()
    }

    /// Whether nothing is asked apart from what is included.
    pub(super) fn is_silent(&self) -> bool {
        self.types == Types::ALL
            && self.values.is_none()
            && self.excluded.is_empty()
            && self.min_length == 0
            && self.max_length.is_none()
            && self.patterns.is_empty()
            && self.minimum.is_none()
            && self.maximum.is_none()
            && self.multiples.is_empty()
            && self.prefix.is_empty()
            && self.rest.is_none()
            && self.min_items == 0
            && self.max_items.is_none()
            && self.contains.is_empty()
            && self.unevaluated_items.is_none()
            && self.unique.is_none()
            && self.properties.is_empty()
            && self.pattern_properties.is_empty()
            && self.additional.is_none()
            && self.names.is_none()
            && self.required.is_empty()
            && self.min_properties == 0
            && self.max_properties.is_none()
            && self.has.is_empty()
            && self.unevaluated.is_none()
            && self.choices.is_empty()
            && self.widened.is_empty()
    }
}

/// The tighter of two bounds.
pub(super) fn tighter(left: Option<Bound>, right: Option<Bound>, upper: bool) -> Option<Bound> {
    match (left, right) {
        (Some(left), Some(right)) => {
            let order = left.value.cmp(&right.value);
            let order = if upper { order.reverse() } else { order };
            Some(match order {
                std::cmp::Ordering::Greater => left,
                std::cmp::Ordering::Less => right,
                std::cmp::Ordering::Equal => Bound {
                    exclusive: left.exclusive || right.exclusive,
                    ..left
                },
            })
        }
        (left, right) => left.or(right),
    }
}

/// Listed values, to be asked for one.
pub(super) struct Listed<'v> {
    texts: SeededSet<&'v str>,
    numbers: SeededSet<Decimal>,
    others: Vec<&'v Value>,
}

impl<'v> Listed<'v> {
    pub(super) fn of(values: &'v [Value]) -> Self {
        let mut listed = Self {
            texts: SeededSet::default(),
            numbers: SeededSet::default(),
            others: Vec::new(),
        };
        for value in values {
            match (value, number(value)) {
                (Value::String(text), _) => _ = listed.texts.insert(text),
                (_, Some(number)) => _ = listed.numbers.insert(number),
                _ => listed.others.push(value),
            }
        }
        listed
    }

    /// How many values one is compared with.
    pub(super) fn compared(&self, value: &Value) -> usize {
        if value.is_string() {
            0
        } else {
            self.others.len()
        }
    }

    pub(super) fn has(&self, value: &Value) -> bool {
        match (value, number(value)) {
            (Value::String(text), _) => self.texts.contains(text.as_str()),
            (_, Some(number)) => self.numbers.contains(&number),
            _ => self.others.iter().any(|other| equal(value, other)),
        }
    }
}

/// The number that a value is, if its exponent is within reach.
fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::parse(number.as_str()),
        _ => None,
    }
}

/// Whether two JSON values are equal: numbers by value, objects whatever their order. Recursion is bounded by the depth of
/// the document.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_str(), right.as_str());
            // Whole numbers other than zero have one spelling without a point and an exponent.
            let one_spelling = |text: &str| text != "-0" && !text.contains(['.', 'e', 'E']);
            left == right
                || !(one_spelling(left) && one_spelling(right))
                    && matches!((Decimal::parse(left), Decimal::parse(right)), (Some(left), Some(right)) if left == right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        _ => left == right,
    }
}
