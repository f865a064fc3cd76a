//! One subschema as typed keywords, with those that only combine others rewritten into [`Choice`]s.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::Draft;
use super::decimal::Decimal;
use super::formats::{self, Known};
use super::locations::{LocationId, Locations, step};
use super::number::Bound;
use crate::error::Error;

/// A set of JSON types. Numbers are two: integers and all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

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

    fn named(name: &str) -> Option<Self> {
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
            Value::Number(number) => match Decimal::parse(&number.to_string()) {
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

/// One of these must hold; `exclusive`: exactly one.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) branches: Vec<LocationId>,
    pub(super) exclusive: bool,
    pub(super) pointer: Rc<str>,
}

/// What one subschema says. The default says nothing.
#[derive(Debug, Clone)]
pub(super) struct Keywords {
    pub(super) types: Types,
    pub(super) values: Option<Vec<Value>>,
    pub(super) excluded: Vec<Value>,
    pub(super) min_length: u64,
    pub(super) max_length: Option<u64>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) minimum: Option<Bound>,
    pub(super) maximum: Option<Bound>,
    pub(super) multiples: Vec<(Decimal, Rc<str>)>,
    pub(super) prefix: Vec<LocationId>,
    pub(super) rest: Option<LocationId>,
    pub(super) min_items: u64,
    pub(super) max_items: Option<u64>,
    pub(super) contains: Option<(LocationId, Rc<str>)>,
    pub(super) unique: Option<Rc<str>>,
    pub(super) properties: Vec<(String, LocationId)>,
    pub(super) pattern_properties: Vec<(Rc<str>, LocationId)>,
    pub(super) additional: Option<LocationId>,
    pub(super) names: Option<(LocationId, Rc<str>)>,
    pub(super) required: Vec<String>,
    pub(super) min_properties: u64,
    pub(super) max_properties: Option<u64>,
    pub(super) includes: Vec<LocationId>,
    /// Whether there is nothing but a reference.
    pub(super) only_reference: bool,
    pub(super) choices: Vec<Choice>,
    /// (pointer, reason) of what is not enforced.
    pub(super) widened: Vec<(String, String)>,
}

impl Default for Keywords {
    fn default() -> Self {
        Self {
            types: Types::ALL,
            values: None,
            excluded: Vec::new(),
            min_length: 0,
            max_length: None,
            patterns: Vec::new(),
            minimum: None,
            maximum: None,
            multiples: Vec::new(),
            prefix: Vec::new(),
            rest: None,
            min_items: 0,
            max_items: None,
            contains: None,
            unique: None,
            properties: Vec::new(),
            pattern_properties: Vec::new(),
            additional: None,
            names: None,
            required: Vec::new(),
            min_properties: 0,
            max_properties: None,
            includes: Vec::new(),
            only_reference: false,
            choices: Vec::new(),
            widened: Vec::new(),
        }
    }
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
            && self.contains.is_none()
            && self.unique.is_none()
            && self.properties.is_empty()
            && self.pattern_properties.is_empty()
            && self.additional.is_none()
            && self.names.is_none()
            && self.required.is_empty()
            && self.min_properties == 0
            && self.max_properties.is_none()
            && self.choices.is_empty()
            && self.widened.is_empty()
    }
}

fn invalid(pointer: &str, message: &str) -> Error {
    Error::schema(
        "E-SCHEMA-INVALID",
        message,
        vec![(pointer.to_owned(), message.to_owned())],
    )
    .with_hint("see the JSON Schema specification for what the keyword takes")
}

/// Reads the subschema at `pointer`.
struct Reader<'r, 'd> {
    locations: &'r mut Locations<'d>,
    pointer: Rc<str>,
    members: &'d Map<String, Value>,
    out: Keywords,
}

/// The keywords of a subschema of the document, and conditions (`if`) that wait for their negation.
pub(super) fn read<'d>(
    locations: &mut Locations<'d>,
    draft: Draft,
    pointer: &Rc<str>,
    value: &'d Value,
) -> Result<(Keywords, Pending), Error> {
    let members = match value {
        Value::Bool(true) => return Ok((Keywords::default(), Pending::default())),
        Value::Bool(false) => return Ok((Keywords::never(), Pending::default())),
        Value::Object(members) => members,
        _ => return Err(invalid(pointer, "a schema is an object or a boolean")),
    };
    let mut reader = Reader {
        locations,
        pointer: Rc::clone(pointer),
        members,
        out: Keywords::default(),
    };
    let mut pending = Pending::default();
    let reference = ["$ref", "$dynamicRef", "$recursiveRef"]
        .into_iter()
        .find(|key| members.contains_key(*key));
    if let Some(key) = reference {
        let Some(Value::String(target)) = members.get(key) else {
            return Err(invalid(&reader.sub(key), "a reference is a string"));
        };
        let target = reader.locations.resolve(target, pointer)?;
        if key != "$ref" {
            reader.widen(
                key,
                "a dynamic reference is followed where it stands, whatever led to it",
            );
        }
        reader.out.includes.push(target);
        reader.out.only_reference = true;
        if draft.ref_alone() {
            return Ok((reader.out, pending));
        }
    }
    reader.general(&mut pending)?;
    reader.strings()?;
    reader.numbers()?;
    reader.arrays()?;
    reader.objects()?;
    reader.unsupported();
    reader.out.only_reference =
        reference.is_some() && reader.out.is_silent() && reader.out.includes.len() == 1;
    Ok((reader.out, pending))
}

/// What needs the negation of other subschemas, which the caller makes.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) not: Option<LocationId>,
    /// `if`, `then`, `else`
    pub(super) condition: Option<(LocationId, Option<LocationId>, Option<LocationId>)>,
}

impl<'d> Reader<'_, 'd> {
    fn sub(&self, keyword: &str) -> String {
        format!("{}{}", self.pointer, step(keyword))
    }

    fn get(&self, keyword: &str) -> Option<&'d Value> {
        self.members.get(keyword)
    }

    /// The subschema under a keyword.
    fn schema(&mut self, keyword: &str) -> Result<Option<LocationId>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        let pointer = self.sub(keyword);
        self.schema_at(&pointer, value).map(Some)
    }

    fn schema_at(&mut self, pointer: &str, value: &'d Value) -> Result<LocationId, Error> {
        if !value.is_object() && !value.is_boolean() {
            return Err(invalid(pointer, "a schema is an object or a boolean"));
        }
        Ok(self.locations.at(pointer, value))
    }

    fn schemas(&mut self, keyword: &str) -> Result<Option<Vec<LocationId>>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        let pointer = self.sub(keyword);
        let Value::Array(items) = value else {
            return Err(invalid(&pointer, "a list of schemas is wanted"));
        };
        let items = items.iter().enumerate();
        items
            .map(|(at, item)| self.schema_at(&format!("{pointer}/{at}"), item))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn named_schemas(&mut self, keyword: &str) -> Result<Vec<(String, LocationId)>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let pointer = self.sub(keyword);
        let Value::Object(members) = value else {
            return Err(invalid(&pointer, "an object of schemas is wanted"));
        };
        members
            .iter()
            .map(|(name, item)| {
                Ok((
                    name.clone(),
                    self.schema_at(&format!("{pointer}{}", step(name)), item)?,
                ))
            })
            .collect()
    }

    fn number(&self, keyword: &str) -> Result<Option<Decimal>, Error> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => match Decimal::parse(&number.to_string()) {
                Some(number) => Ok(Some(number)),
                None => Err(invalid(
                    &self.sub(keyword),
                    "the number's exponent is out of reach",
                )),
            },
            Some(_) => Err(invalid(&self.sub(keyword), "a number is wanted")),
        }
    }

    fn count(&self, keyword: &str) -> Result<Option<u64>, Error> {
        let wanted = "a whole number, zero or more, is wanted";
        match self.number(keyword) {
            Ok(None) => Ok(None),
            Ok(Some(number)) => number
                .count()
                .map(Some)
                .ok_or_else(|| invalid(&self.sub(keyword), wanted)),
            Err(_) => Err(invalid(&self.sub(keyword), wanted)),
        }
    }

    fn strings_of(pointer: &str, value: &Value) -> Result<Vec<String>, Error> {
        let wanted = || invalid(pointer, "a list of strings is wanted");
        let Value::Array(items) = value else {
            return Err(wanted());
        };
        items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(wanted))
            .collect()
    }

    fn widen(&mut self, keyword: &str, reason: &str) {
        let pointer = self.sub(keyword);
        self.out.widened.push((pointer, reason.to_owned()));
    }

    fn general(&mut self, pending: &mut Pending) -> Result<(), Error> {
        match self.get("type") {
            None => {}
            Some(Value::String(name)) => self.out.types = self.type_named(name)?,
            Some(Value::Array(names)) => {
                let mut types = Types::NONE;
                for name in names {
                    let Value::String(name) = name else {
                        // Draft 3 put schemas here.
                        return Err(invalid(&self.sub("type"), "a list of type names is wanted"));
                    };
                    types = types.or(self.type_named(name)?);
                }
                self.out.types = types;
            }
            Some(_) => {
                return Err(invalid(
                    &self.sub("type"),
                    "a type name or a list of them is wanted",
                ));
            }
        }
        if let Some(value) = self.get("enum") {
            let Value::Array(values) = value else {
                return Err(invalid(&self.sub("enum"), "a list of values is wanted"));
            };
            self.out.values = Some(values.clone());
        }
        if let Some(value) = self.get("const") {
            self.out.values = Some(match self.out.values.take() {
                None => vec![value.clone()],
                Some(values) => values
                    .into_iter()
                    .filter(|other| equal(other, value))
                    .collect(),
            });
        }
        if let Some(branches) = self.schemas("allOf")? {
            self.out.includes.extend(branches);
        }
        for (keyword, exclusive) in [("anyOf", false), ("oneOf", true)] {
            if let Some(branches) = self.schemas(keyword)? {
                let pointer = self.sub(keyword).into();
                self.out.choices.push(Choice {
                    branches,
                    exclusive,
                    pointer,
                });
            }
        }
        pending.not = self.schema("not")?;
        if let Some(condition) = self.schema("if")? {
            let then = self.schema("then")?;
            let otherwise = self.schema("else")?;
            if then.is_some() || otherwise.is_some() {
                pending.condition = Some((condition, then, otherwise));
            }
        }
        Ok(())
    }

    fn type_named(&self, name: &str) -> Result<Types, Error> {
        Types::named(name).ok_or_else(|| {
            invalid(&self.sub("type"), &format!("unknown type {name:?}"))
                .with_hint("types are: null, boolean, object, array, string, number, integer")
        })
    }

    fn strings(&mut self) -> Result<(), Error> {
        self.out.min_length = self.count("minLength")?.unwrap_or(0);
        self.out.max_length = self.count("maxLength")?;
        match self.get("pattern") {
            None => {}
            Some(Value::String(pattern)) => {
                let pointer = self.sub("pattern").into();
                let source = Source::Pattern(pattern.as_str().into());
                self.out.patterns.push(Pattern {
                    source,
                    negated: false,
                    pointer,
                });
            }
            Some(_) => {
                return Err(invalid(
                    &self.sub("pattern"),
                    "a regular expression is wanted",
                ));
            }
        }
        match self.get("format") {
            None => {}
            Some(Value::String(name)) => match formats::known(name) {
                Known::Exact(name) => {
                    let pointer = self.sub("format").into();
                    self.out.patterns.push(Pattern {
                        source: Source::Format(name),
                        negated: false,
                        pointer,
                    });
                }
                Known::NotYet => self.widen("format", "this format is not enforced"),
                Known::Annotation => {}
            },
            Some(_) => {
                return Err(invalid(
                    &self.sub("format"),
                    "the name of a format is wanted",
                ));
            }
        }
        Ok(())
    }

    fn numbers(&mut self) -> Result<(), Error> {
        for (inclusive, exclusive, upper) in [
            ("minimum", "exclusiveMinimum", false),
            ("maximum", "exclusiveMaximum", true),
        ] {
            let plain = self.number(inclusive)?;
            // Draft 4 had a flag here.
            let (flag, strict) = match self.get(exclusive) {
                Some(Value::Bool(flag)) => (*flag, None),
                _ => (false, self.number(exclusive)?),
            };
            let plain = plain.map(|value| Bound {
                value,
                exclusive: flag,
            });
            let strict = strict.map(|value| Bound {
                value,
                exclusive: true,
            });
            let bound = tighter(plain, strict, upper);
            if upper {
                self.out.maximum = bound;
            } else {
                self.out.minimum = bound;
            }
        }
        for keyword in ["multipleOf", "divisibleBy"] {
            if let Some(factor) = self.number(keyword)? {
                if factor.negative || factor.is_zero() {
                    return Err(invalid(&self.sub(keyword), "a number above zero is wanted"));
                }
                let pointer = self.sub(keyword).into();
                self.out.multiples.push((factor, pointer));
            }
        }
        Ok(())
    }

    fn arrays(&mut self) -> Result<(), Error> {
        let listed = matches!(self.get("items"), Some(Value::Array(_)));
        if let Some(prefix) = self.schemas("prefixItems")? {
            self.out.prefix = prefix;
            if !listed {
                self.out.rest = self.schema("items")?;
            }
        } else if listed {
            self.out.prefix = self.schemas("items")?.unwrap_or_default();
            self.out.rest = self.schema("additionalItems")?;
        } else {
            self.out.rest = self.schema("items")?;
        }
        self.out.min_items = self.count("minItems")?.unwrap_or(0);
        self.out.max_items = self.count("maxItems")?;
        match self.get("uniqueItems") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => self.out.unique = Some(self.sub("uniqueItems").into()),
            Some(_) => return Err(invalid(&self.sub("uniqueItems"), "true or false is wanted")),
        }
        if let Some(contains) = self.schema("contains")? {
            let min = self.count("minContains")?.unwrap_or(1);
            let max = self.count("maxContains")?;
            if max.is_some() {
                self.widen("maxContains", "how many items match is not counted");
            }
            if min > 1 {
                self.widen("minContains", "how many items match is not counted");
            }
            if min > 0 {
                self.out.contains = Some((contains, self.sub("contains").into()));
            }
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), Error> {
        self.out.properties = self.named_schemas("properties")?;
        let patterns = self.named_schemas("patternProperties")?;
        self.out.pattern_properties = patterns
            .into_iter()
            .map(|(pattern, schema)| (pattern.as_str().into(), schema))
            .collect();
        self.out.additional = self.schema("additionalProperties")?;
        self.out.min_properties = self.count("minProperties")?.unwrap_or(0);
        self.out.max_properties = self.count("maxProperties")?;
        if let Some(names) = self.schema("propertyNames")? {
            self.out.names = Some((names, self.sub("propertyNames").into()));
        }
        match self.get("required") {
            // Drafts up to 3 put a flag at the property itself.
            None | Some(Value::Bool(_)) => {}
            Some(value) => {
                let mut names = Self::strings_of(&self.sub("required"), value)?;
                let mut seen = rustc_hash::FxHashSet::default();
                names.retain(|name| seen.insert(name.clone()));
                self.out.required = names;
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let Some(value) = self.get(keyword) else {
                continue;
            };
            let pointer = self.sub(keyword);
            let Value::Object(members) = value else {
                return Err(invalid(&pointer, "an object by property name is wanted"));
            };
            for (name, demand) in members {
                let pointer = format!("{pointer}{}", step(name));
                self.dependency(name, demand, &pointer, keyword)?;
            }
        }
        Ok(())
    }

    /// `name` present demands something: either it is absent, or both hold.
    fn dependency(
        &mut self,
        name: &str,
        demand: &'d Value,
        pointer: &str,
        keyword: &str,
    ) -> Result<(), Error> {
        let mut required = vec![name.to_owned()];
        let mut includes = Vec::new();
        match demand {
            Value::Array(_) if keyword != "dependentSchemas" => {
                required.extend(Self::strings_of(pointer, demand)?);
                required.dedup();
            }
            Value::String(other) if keyword == "dependencies" => required.push(other.clone()),
            Value::Object(_) | Value::Bool(_) if keyword != "dependentRequired" => {
                includes.push(self.schema_at(pointer, demand)?);
            }
            _ => {
                return Err(invalid(
                    pointer,
                    "a list of property names or a schema is wanted",
                ));
            }
        }
        let pointer: Rc<str> = pointer.into();
        let never = self.locations.made(&pointer, Keywords::never());
        let absent = Keywords {
            properties: vec![(name.to_owned(), never)],
            ..Keywords::default()
        };
        let absent = self.locations.made(&pointer, absent);
        // Spelled out for objects, so that the branches differ; for all else the first holds.
        let present = Keywords {
            types: Types::OBJECT,
            required,
            includes,
            ..Keywords::default()
        };
        let present = self.locations.made(&pointer, present);
        self.out.choices.push(Choice {
            branches: vec![absent, present],
            exclusive: false,
            pointer,
        });
        Ok(())
    }

    /// What is known and not enforced.
    fn unsupported(&mut self) {
        let trivial = |value: &Value| {
            matches!(value, Value::Bool(true)) || value.as_object().is_some_and(Map::is_empty)
        };
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            if self.get(keyword).is_some_and(|value| !trivial(value)) {
                self.widen(keyword, "what other keywords have evaluated is not tracked");
            }
        }
        for keyword in ["disallow", "extends"] {
            if self.members.contains_key(keyword) {
                self.widen(keyword, "this keyword of draft 3 is not enforced");
            }
        }
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

/// Whether two JSON values are equal: numbers by value, objects whatever their order. Recursion is bounded by the depth of
/// the document.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.to_string(), right.to_string());
            left == right
                || matches!((Decimal::parse(&left), Decimal::parse(&right)), (Some(left), Some(right)) if left == right)
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
