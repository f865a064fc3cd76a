//! The keywords of one subschema of the document, as its version of JSON Schema reads them.

use std::cell::RefCell;
use std::rc::Rc;

use crate::json::{Map, Value};

use super::decimal::Decimal;
use super::foreign;
use super::formats::{self, Known};
use super::keywords::LocationId;
use super::keywords::{
    Choice, Contains, Holds, Keywords, Multiple, Pattern, Properties, Source, Types, equal, tighter,
};
use super::locations::{Locations, Scope};
use super::number::Bound;
use super::options::Draft;
use super::pointers::{below, pay_for_pointers};
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning::{LINEAR_KEYWORDS, USUAL_KEYWORDS};

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
    scope: Scope,
    members: &'d Map,
    out: Keywords,
    fuel: &'r mut Fuel,
    /// The pointers of keywords that are null.
    nulls: RefCell<Vec<String>>,
}

/// The keywords of a subschema of the document.
pub(super) fn read<'d>(
    locations: &mut Locations<'d>,
    draft: Draft,
    (id, value): (LocationId, &'d Value),
    fuel: &mut Fuel,
) -> Result<Keywords, Error> {
    let location = locations.get(id);
    let (pointer, scope) = (Rc::clone(&location.pointer), location.scope);
    let members = match value {
        Value::Bool(true) => return Ok(Keywords::default()),
        Value::Bool(false) => return Ok(Keywords::never()),
        Value::Object(members) => members,
        _ => return Err(invalid(&pointer, "a schema is an object or a boolean")),
    };
    // Most keywords write one pointer.
    pay_for_pointers(
        pointer
            .len()
            .saturating_mul(members.len().min(USUAL_KEYWORDS)),
        fuel,
    )?;
    for (keyword, value) in members {
        if let Some(instead) = foreign::instead(keyword, value) {
            let first = || (below(&pointer, keyword), instead);
            locations.foreign.entry(keyword).or_insert_with(first);
        }
    }
    let mut reader = Reader {
        locations: &mut *locations,
        pointer,
        scope,
        members,
        out: Keywords::default(),
        fuel,
        nulls: RefCell::default(),
    };
    let keywords = reader.all(draft);
    let nulls = reader.nulls.take();
    locations.nulls.extend(nulls);
    keywords
}

impl<'d> Reader<'_, 'd> {
    fn all(&mut self, draft: Draft) -> Result<Keywords, Error> {
        let mut references = 0;
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(value) = self.get(key) else {
                continue;
            };
            let Value::String(target) = value else {
                return Err(invalid(&self.sub(key), "a reference is a string"));
            };
            self.locations
                .pay_for_reference(target, &self.pointer, self.fuel)?;
            let target = self
                .locations
                .resolve(target, &self.pointer, self.scope, key)?;
            self.out.includes.push(target);
            references += 1;
        }
        if references > 0 && draft.ref_alone() {
            self.out.only_reference = references == 1;
            return Ok(std::mem::take(&mut self.out));
        }
        self.general()?;
        self.strings()?;
        self.numbers()?;
        self.arrays()?;
        self.objects()?;
        self.unevaluated()?;
        self.old();
        self.out.only_reference =
            references == 1 && self.out.is_silent() && self.out.includes.len() == 1;
        Ok(std::mem::take(&mut self.out))
    }

    fn sub(&self, keyword: &str) -> String {
        below(&self.pointer, keyword)
    }

    /// The value of a keyword; null says nothing, save where any value may stand.
    fn get(&self, keyword: &str) -> Option<&'d Value> {
        let found = if self.members.len() > LINEAR_KEYWORDS {
            self.members.get(keyword)
        } else {
            let mut members = self.members.iter();
            let found = members.find(|(name, _)| *name == keyword);
            found.map(|(_, value)| value)
        };
        if found == Some(&Value::Null) && keyword != "const" {
            self.nulls.borrow_mut().push(self.sub(keyword));
            return None;
        }
        found
    }

    /// The subschema under a keyword.
    fn schema(&mut self, keyword: &str) -> Result<Option<LocationId>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        let pointer = Rc::clone(&self.pointer);
        self.schema_at(|| below(&pointer, keyword), value).map(Some)
    }

    fn schema_at(
        &mut self,
        pointer: impl Fn() -> String,
        value: &'d Value,
    ) -> Result<LocationId, Error> {
        if !value.is_object() && !value.is_boolean() {
            return Err(invalid(&pointer(), "a schema is an object or a boolean"));
        }
        pay_for_pointers(self.pointer.len(), self.fuel)?;
        self.locations.pay_for_scope(self.fuel)?;
        Ok(self.locations.at(|| pointer().into(), value, self.scope))
    }

    fn schemas(&mut self, keyword: &str) -> Result<Option<Vec<LocationId>>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(None);
        };
        let pointer = self.sub(keyword);
        let Value::Array(items) = value else {
            return Err(invalid(&pointer, "expected a list of schemas"));
        };
        let items = items.iter().enumerate();
        items
            .map(|(at, item)| self.schema_at(|| format!("{pointer}/{at}"), item))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn named_schemas(&mut self, keyword: &str) -> Result<Vec<(Rc<str>, LocationId)>, Error> {
        let Some(value) = self.get(keyword) else {
            return Ok(Vec::new());
        };
        let pointer = self.sub(keyword);
        let Value::Object(members) = value else {
            return Err(invalid(&pointer, "expected an object of schemas"));
        };
        let mut schemas = Vec::with_capacity(members.len());
        for (name, item) in members {
            let schema = self.schema_at(|| below(&pointer, name), item)?;
            schemas.push((name.as_str().into(), schema));
        }
        Ok(schemas)
    }

    fn number(&self, keyword: &str) -> Result<Option<Decimal>, Error> {
        match self.get(keyword) {
            None => Ok(None),
            Some(Value::Number(number)) => match Decimal::parse(number.as_str()) {
                Some(number) => Ok(Some(number)),
                None => Err(invalid(
                    &self.sub(keyword),
                    "the number's exponent is out of reach",
                )),
            },
            Some(_) => Err(invalid(&self.sub(keyword), "expected a number")),
        }
    }

    fn count(&self, keyword: &str) -> Result<Option<u64>, Error> {
        let wanted = "expected a whole number, zero or more";
        match self.number(keyword) {
            Ok(None) => Ok(None),
            Ok(Some(number)) => number
                .count()
                .map(Some)
                .ok_or_else(|| invalid(&self.sub(keyword), wanted)),
            Err(_) => Err(invalid(&self.sub(keyword), wanted)),
        }
    }

    fn strings_of(pointer: &str, value: &Value) -> Result<Vec<Rc<str>>, Error> {
        let wanted = || invalid(pointer, "expected a list of strings");
        let Value::Array(items) = value else {
            return Err(wanted());
        };
        items
            .iter()
            .map(|item| item.as_str().map(Rc::from).ok_or_else(wanted))
            .collect()
    }

    fn widen(&mut self, keyword: &str, reason: &str) {
        let pointer = self.sub(keyword);
        self.out.widened.push((pointer, reason.to_owned()));
    }

    fn general(&mut self) -> Result<(), Error> {
        match self.get("type") {
            None => {}
            Some(Value::String(name)) => self.out.types = self.type_named(name)?,
            Some(Value::Array(names)) => {
                let mut types = Types::NONE;
                for name in names {
                    let Value::String(name) = name else {
                        // Draft 3 put schemas here.
                        return Err(invalid(&self.sub("type"), "expected a list of type names"));
                    };
                    types = types.or(self.type_named(name)?);
                }
                self.out.types = types;
            }
            Some(_) => {
                return Err(invalid(
                    &self.sub("type"),
                    "expected a type name or a list of them",
                ));
            }
        }
        if let Some(value) = self.get("enum") {
            let Value::Array(values) = value else {
                return Err(invalid(&self.sub("enum"), "expected a list of values"));
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
        for (keyword, holds) in [("anyOf", Holds::Any), ("oneOf", Holds::One)] {
            if let Some(branches) = self.schemas(keyword)? {
                let pointer = self.sub(keyword).into();
                self.out.choices.push(Choice {
                    branches: branches.into(),
                    holds,
                    pointer,
                });
            }
        }
        if let Some(not) = self.schema("not")? {
            let pointer: Rc<str> = self.sub("not").into();
            let negation = self.locations.negation(not, &pointer);
            self.out.includes.push(negation);
        }
        self.condition()
    }

    /// `if`, `then`, `else`: one of the two sides, each with its condition.
    fn condition(&mut self) -> Result<(), Error> {
        let Some(condition) = self.schema("if")? else {
            return Ok(());
        };
        let then = self.schema("then")?;
        let otherwise = self.schema("else")?;
        if then.is_none() && otherwise.is_none() && !self.locations.tracks_evaluation {
            return Ok(());
        }
        let pointer: Rc<str> = self.sub("if").into();
        let negation = self.locations.negation(condition, &pointer);
        let sides = [(condition, then), (negation, otherwise)];
        let branches = sides
            .map(|(first, second)| {
                let keywords = Keywords {
                    includes: std::iter::once(first).chain(second).collect(),
                    ..Keywords::default()
                };
                self.locations.made(&pointer, keywords)
            })
            .to_vec();
        self.out.choices.push(Choice {
            branches: branches.into(),
            holds: Holds::Disjoint,
            pointer,
        });
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
                    "expected a regular expression",
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
                    "expected the name of a format",
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
                    return Err(invalid(&self.sub(keyword), "expected a number above zero"));
                }
                let pointer = self.sub(keyword).into();
                self.out.multiples.push(Multiple {
                    factor,
                    negated: false,
                    pointer,
                });
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
            Some(_) => return Err(invalid(&self.sub("uniqueItems"), "expected true or false")),
        }
        if let Some(schema) = self.schema("contains")? {
            let min = self.count("minContains")?.unwrap_or(1);
            let max = self.count("maxContains")?;
            self.out.contains.push(Contains {
                schema,
                from: 0,
                min,
                max,
                pointer: self.sub("contains").into(),
            });
        }
        Ok(())
    }

    fn objects(&mut self) -> Result<(), Error> {
        self.out.properties = Properties::distinct(self.named_schemas("properties")?);
        self.out.pattern_properties = self.named_schemas("patternProperties")?;
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
                let mut seen = crate::maps::SeededSet::default();
                names.retain(|name| seen.insert(Rc::clone(name)));
                self.out.required = names;
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let Some(value) = self.get(keyword) else {
                continue;
            };
            let pointer = self.sub(keyword);
            let Value::Object(members) = value else {
                return Err(invalid(&pointer, "expected an object by property name"));
            };
            for (name, demand) in members {
                let pointer = below(&pointer, name);
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
        pay_for_pointers(2 * pointer.len(), self.fuel)?;
        let name: Rc<str> = name.into();
        let mut required = vec![Rc::clone(&name)];
        let mut includes = Vec::new();
        match demand {
            Value::Array(_) if keyword != "dependentSchemas" => {
                required.extend(Self::strings_of(pointer, demand)?);
                required.dedup();
            }
            Value::String(other) if keyword == "dependencies" => {
                required.push(other.as_str().into());
            }
            Value::Object(_) | Value::Bool(_) if keyword != "dependentRequired" => {
                includes.push(self.schema_at(|| pointer.to_owned(), demand)?);
            }
            _ => {
                return Err(invalid(
                    pointer,
                    "expected a list of property names or a schema",
                ));
            }
        }
        let pointer: Rc<str> = pointer.into();
        let never = self.locations.made(&pointer, Keywords::never());
        let absent = Keywords {
            properties: vec![(name, never)].into(),
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
            branches: [absent, present].into(),
            holds: Holds::Disjoint,
            pointer,
        });
        Ok(())
    }

    fn unevaluated(&mut self) -> Result<(), Error> {
        if let Some(schema) = self.schema("unevaluatedProperties")? {
            let pointer = self.sub("unevaluatedProperties").into();
            self.out.unevaluated = Some((schema, pointer));
        }
        if let Some(schema) = self.schema("unevaluatedItems")? {
            let pointer = self.sub("unevaluatedItems").into();
            self.out.unevaluated_items = Some((schema, pointer));
        }
        Ok(())
    }

    /// What is known and not enforced.
    fn old(&mut self) {
        for keyword in ["disallow", "extends"] {
            if self.get(keyword).is_some() {
                self.widen(keyword, "this keyword of draft 3 is not enforced");
            }
        }
    }
}
