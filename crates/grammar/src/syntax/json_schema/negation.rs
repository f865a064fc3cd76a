//! `not`, as alternatives of what may fail. What cannot be expressed so is left out and reported.

use std::rc::Rc;

use crate::json::Value;

use super::keywords::LocationId;
use super::keywords::{
    Choice, Contains, Holds, Keywords, Multiple, Pattern, RequiredMember, Types,
};
use super::number::Bound;
use super::schemas::Schemas;
use crate::error::Error;
use crate::tuning::{MAX_EXCLUSIVE_BRANCHES, MAX_NEGATION_ALTERNATIVES};

impl Schemas<'_> {
    /// What holds exactly where `id` does not; `pointer` is the keyword that asks for it.
    pub(super) fn negated(&mut self, id: LocationId, pointer: &Rc<str>) -> Result<Keywords, Error> {
        if self.left_out.contains(pointer) {
            return Ok(unknown(
                pointer,
                "what must not hold here takes too many rules",
            ));
        }
        let keywords = self.keywords(id)?;
        let mut alternatives = match self.failing_alternatives(&keywords, pointer) {
            Ok(alternatives) if alternatives.len() <= MAX_NEGATION_ALTERNATIVES => alternatives,
            Ok(_) => return Ok(unknown(pointer, "its negation has too many alternatives")),
            Err(reason) => return Ok(unknown(pointer, reason)),
        };
        Ok(match alternatives.len() {
            0 => Keywords::never(),
            1 => alternatives.remove(0),
            _ => {
                let branches = alternatives
                    .into_iter()
                    .map(|alternative| self.locations.made_by_negation(pointer, alternative))
                    .collect();
                let choice = Choice {
                    branches,
                    holds: Holds::Any,
                    pointer: Rc::clone(pointer),
                };
                Keywords {
                    choices: vec![choice],
                    ..Keywords::default()
                }
            }
        })
    }

    /// The ways in which keywords may fail, or what of them cannot be negated.
    fn failing_alternatives(
        &mut self,
        keywords: &Keywords,
        pointer: &Rc<str>,
    ) -> Result<Vec<Keywords>, &'static str> {
        if !keywords.widened.is_empty() {
            return Err("its negation holds a keyword that is not enforced");
        }
        if keywords.unique.is_some() {
            return Err("the negation of uniqueItems cannot be expressed");
        }
        if keywords.unevaluated.is_some() || keywords.unevaluated_items.is_some() {
            return Err("the negation of unevaluated items or properties cannot be expressed");
        }
        let mut alternatives: Vec<Keywords> = Vec::new();
        if keywords.types != Types::ALL {
            alternatives.push(Keywords::of_type(Types::ALL.without(keywords.types)));
        }
        if let Some(values) = &keywords.values {
            alternatives.push(self.none_of(values, pointer));
        }
        if !keywords.excluded.is_empty() {
            alternatives.push(Keywords {
                values: Some(keywords.excluded.clone()),
                ..Keywords::default()
            });
        }
        strings(keywords, &mut alternatives);
        numbers(keywords, &mut alternatives);
        self.arrays(keywords, pointer, &mut alternatives);
        self.objects(keywords, pointer, &mut alternatives)?;
        for &include in &keywords.includes {
            let negation = self.locations.negation(include, pointer);
            alternatives.push(including(vec![negation]));
        }
        for choice in &keywords.choices {
            // None of the branches holds, or too many.
            let fail = choice
                .branches
                .iter()
                .map(|&branch| self.locations.negation(branch, pointer));
            alternatives.push(including(fail.collect()));
            if choice.holds == Holds::One {
                if choice.branches.len() > MAX_EXCLUSIVE_BRANCHES {
                    return Err("the negation of a oneOf with so many branches");
                }
                for (at, &left) in choice.branches.iter().enumerate() {
                    for &right in &choice.branches[at + 1..] {
                        alternatives.push(including(vec![left, right]));
                    }
                }
            }
        }
        Ok(alternatives)
    }

    /// Everything but these values.
    fn none_of(&mut self, values: &[Value], pointer: &Rc<str>) -> Keywords {
        let mut keywords = Keywords::default();
        for value in values {
            if value.is_array() || value.is_object() {
                let same = self.equal_to(value, pointer);
                let same = self.locations.made(pointer, same);
                let negation = self.locations.negation(same, pointer);
                keywords.includes.push(negation);
            } else {
                keywords.excluded.push(value.clone());
            }
        }
        keywords
    }

    /// An array or object of exactly these items or members, as keywords.
    pub(super) fn equal_to(&mut self, value: &Value, pointer: &Rc<str>) -> Keywords {
        let only = |schemas: &mut Self, value: &Value| {
            let keywords = Keywords {
                values: Some(vec![value.clone()]),
                ..Keywords::default()
            };
            schemas.locations.made(pointer, keywords)
        };
        match value {
            Value::Array(items) => Keywords {
                prefix: items.iter().map(|item| only(self, item)).collect(),
                min_items: items.len() as u64,
                max_items: Some(items.len() as u64),
                ..Keywords::of_type(Types::ARRAY)
            },
            Value::Object(members) => Keywords {
                properties: members
                    .iter()
                    .map(|(name, member)| (name.as_str().into(), only(self, member)))
                    .collect(),
                required: members.keys().map(|name| name.as_str().into()).collect(),
                additional: Some(self.locations.made(pointer, Keywords::never())),
                ..Keywords::of_type(Types::OBJECT)
            },
            scalar => Keywords {
                values: Some(vec![scalar.clone()]),
                ..Keywords::default()
            },
        }
    }

    /// Adds how an array may fail.
    fn arrays(&mut self, keywords: &Keywords, pointer: &Rc<str>, alternatives: &mut Vec<Keywords>) {
        let array = || Keywords::of_type(Types::ARRAY);
        if keywords.min_items > 0 {
            alternatives.push(Keywords {
                max_items: Some(keywords.min_items - 1),
                ..array()
            });
        }
        if let Some(max) = keywords.max_items {
            alternatives.push(Keywords {
                min_items: max.saturating_add(1),
                ..array()
            });
        }
        let anything = |schemas: &mut Self, count: usize| {
            let free = schemas.locations.made(pointer, Keywords::default());
            vec![free; count]
        };
        for (at, &item) in keywords.prefix.iter().enumerate() {
            let mut prefix = anything(self, at);
            prefix.push(self.locations.negation(item, pointer));
            alternatives.push(Keywords {
                prefix,
                min_items: at as u64 + 1,
                ..array()
            });
        }
        if let Some(rest) = keywords.rest {
            let contains = Contains {
                schema: self.locations.negation(rest, pointer),
                from: keywords.prefix.len(),
                min: 1,
                max: None,
                pointer: Rc::clone(pointer),
            };
            alternatives.push(Keywords {
                contains: vec![contains],
                ..array()
            });
        }
        for contains in &keywords.contains {
            if contains.min == 1 {
                alternatives.push(Keywords {
                    prefix: anything(self, contains.from),
                    rest: Some(self.locations.negation(contains.schema, pointer)),
                    ..array()
                });
            }
            let counted = |min: u64, max: Option<u64>| Keywords {
                contains: vec![Contains {
                    min,
                    max,
                    ..contains.clone()
                }],
                ..array()
            };
            if contains.min > 1 {
                alternatives.push(counted(0, Some(contains.min - 1)));
            }
            if let Some(max) = contains.max {
                alternatives.push(counted(max.saturating_add(1), None));
            }
        }
    }

    /// Adds how an object may fail.
    fn objects(
        &mut self,
        keywords: &Keywords,
        pointer: &Rc<str>,
        alternatives: &mut Vec<Keywords>,
    ) -> Result<(), &'static str> {
        let object = || Keywords::of_type(Types::OBJECT);
        for name in &keywords.required {
            let never = self.locations.made(pointer, Keywords::never());
            alternatives.push(Keywords {
                properties: vec![(name.clone(), never)].into(),
                ..object()
            });
        }
        for (name, schema) in &keywords.properties {
            let negation = self.locations.negation(*schema, pointer);
            alternatives.push(Keywords {
                required: vec![name.clone()],
                properties: vec![(name.clone(), negation)].into(),
                ..object()
            });
        }
        let mut has: Vec<RequiredMember> = Vec::new();
        let one = |value: LocationId| RequiredMember {
            patterns: Vec::new(),
            others_than: Vec::new(),
            name: None,
            value,
            pointer: Rc::clone(pointer),
        };
        for (pattern, schema) in &keywords.pattern_properties {
            let negation = self.locations.negation(*schema, pointer);
            has.push(RequiredMember {
                patterns: vec![(Rc::clone(pattern), true)],
                ..one(negation)
            });
        }
        if let Some(additional) = keywords.additional {
            let negation = self.locations.negation(additional, pointer);
            let patterns = keywords.pattern_properties.iter();
            has.push(RequiredMember {
                patterns: patterns
                    .map(|(pattern, _)| (Rc::clone(pattern), false))
                    .collect(),
                others_than: keywords
                    .properties
                    .iter()
                    .map(|(name, _)| name.clone())
                    .collect(),
                ..one(negation)
            });
        }
        if let Some((names, _)) = &keywords.names {
            let free = self.locations.made(pointer, Keywords::default());
            has.push(RequiredMember {
                name: Some(self.locations.negation(*names, pointer)),
                ..one(free)
            });
        }
        alternatives.extend(has.into_iter().map(|has| Keywords {
            has: vec![Rc::new(has)],
            ..object()
        }));
        if !keywords.has.is_empty() {
            return Err("it is negated twice");
        }
        if keywords.min_properties > 0 {
            alternatives.push(Keywords {
                max_properties: Some(keywords.min_properties - 1),
                ..object()
            });
        }
        if let Some(max) = keywords.max_properties {
            alternatives.push(Keywords {
                min_properties: max.saturating_add(1),
                ..object()
            });
        }
        Ok(())
    }
}

/// A negation that says nothing.
fn unknown(pointer: &Rc<str>, reason: &str) -> Keywords {
    Keywords {
        widened: vec![(pointer.to_string(), reason.to_owned())],
        ..Keywords::default()
    }
}

fn including(includes: Vec<LocationId>) -> Keywords {
    Keywords {
        includes,
        ..Keywords::default()
    }
}

fn strings(keywords: &Keywords, alternatives: &mut Vec<Keywords>) {
    let string = || Keywords::of_type(Types::STRING);
    if keywords.min_length > 0 {
        alternatives.push(Keywords {
            max_length: Some(keywords.min_length - 1),
            ..string()
        });
    }
    if let Some(max) = keywords.max_length {
        alternatives.push(Keywords {
            min_length: max.saturating_add(1),
            ..string()
        });
    }
    for pattern in &keywords.patterns {
        let pattern = Pattern {
            negated: !pattern.negated,
            ..pattern.clone()
        };
        alternatives.push(Keywords {
            patterns: vec![pattern],
            ..string()
        });
    }
}

fn numbers(keywords: &Keywords, alternatives: &mut Vec<Keywords>) {
    for multiple in &keywords.multiples {
        let multiple = Multiple {
            negated: !multiple.negated,
            ..multiple.clone()
        };
        alternatives.push(Keywords {
            multiples: vec![multiple],
            ..Keywords::of_type(Types::NUMBER)
        });
    }
    let flipped = |bound: &Bound| {
        Some(Bound {
            value: bound.value.clone(),
            exclusive: !bound.exclusive,
        })
    };
    if let Some(bound) = &keywords.minimum {
        alternatives.push(Keywords {
            maximum: flipped(bound),
            ..Keywords::of_type(Types::NUMBER)
        });
    }
    if let Some(bound) = &keywords.maximum {
        alternatives.push(Keywords {
            minimum: flipped(bound),
            ..Keywords::of_type(Types::NUMBER)
        });
    }
}
