//! `not`, as alternatives of what may fail. A negation that cannot be expressed so is none, and is reported.

use std::rc::Rc;

use super::keywords::{Choice, Keywords, Pattern, Types};
use super::locations::LocationId;
use super::number::Bound;
use super::schemas::Schemas;
use crate::error::Error;

/// Negations within negations, and through references, end here.
const DEEPEST: u32 = 12;
/// A negation with more alternatives is not worth its grammar.
const MOST: usize = 64;

impl Schemas<'_> {
    /// A subschema that holds exactly where `id` does not.
    pub(super) fn negation(&mut self, id: LocationId) -> Result<Option<LocationId>, Error> {
        if self.negations >= DEEPEST {
            return Ok(None);
        }
        self.negations += 1;
        let alternatives = self.failures(id);
        self.negations -= 1;
        let Some(mut branches) = alternatives? else {
            return Ok(None);
        };
        if branches.len() > MOST {
            return Ok(None);
        }
        let pointer = Rc::clone(&self.locations.get(id).pointer);
        Ok(Some(match branches.len() {
            0 => self.locations.made(&pointer, Keywords::never()),
            1 => branches.remove(0),
            _ => {
                let choice = Choice {
                    branches,
                    exclusive: false,
                    pointer: Rc::clone(&pointer),
                };
                self.locations.made(
                    &pointer,
                    Keywords {
                        choices: vec![choice],
                        ..Keywords::default()
                    },
                )
            }
        }))
    }

    /// The ways in which `id` may fail.
    fn failures(&mut self, id: LocationId) -> Result<Option<Vec<LocationId>>, Error> {
        let keywords = self.keywords(id)?;
        let pointer = Rc::clone(&self.locations.get(id).pointer);
        let unsupported = !keywords.widened.is_empty()
            || !keywords.multiples.is_empty()
            || !keywords.prefix.is_empty()
            || keywords.unique.is_some()
            || keywords.names.is_some()
            || !keywords.pattern_properties.is_empty()
            || keywords.additional.is_some()
            || keywords.choices.iter().any(|choice| choice.exclusive);
        if unsupported {
            return Ok(None);
        }
        let mut ways: Vec<Keywords> = Vec::new();
        if keywords.types != Types::ALL {
            ways.push(Keywords::of_type(Types::ALL.without(keywords.types)));
        }
        if let Some(values) = &keywords.values {
            ways.push(Keywords {
                excluded: values.clone(),
                ..Keywords::default()
            });
        }
        if !keywords.excluded.is_empty() {
            ways.push(Keywords {
                values: Some(keywords.excluded.clone()),
                ..Keywords::default()
            });
        }
        strings(&keywords, &mut ways);
        numbers(&keywords, &mut ways);
        if !self.arrays(&keywords, &pointer, &mut ways)?
            || !self.objects(&keywords, &pointer, &mut ways)?
        {
            return Ok(None);
        }
        let mut branches: Vec<LocationId> = ways
            .into_iter()
            .map(|way| self.locations.made(&pointer, way))
            .collect();
        for &include in &keywords.includes {
            let Some(negation) = self.negation(include)? else {
                return Ok(None);
            };
            branches.push(negation);
        }
        for choice in &keywords.choices {
            // None of the branches holds.
            let mut includes = Vec::with_capacity(choice.branches.len());
            for &branch in &choice.branches {
                let Some(negation) = self.negation(branch)? else {
                    return Ok(None);
                };
                includes.push(negation);
            }
            branches.push(self.locations.made(
                &pointer,
                Keywords {
                    includes,
                    ..Keywords::default()
                },
            ));
        }
        Ok(Some(branches))
    }

    /// Adds how an array may fail; false if that cannot be expressed.
    fn arrays(
        &mut self,
        keywords: &Keywords,
        pointer: &Rc<str>,
        ways: &mut Vec<Keywords>,
    ) -> Result<bool, Error> {
        if keywords.min_items > 0 {
            ways.push(Keywords {
                max_items: Some(keywords.min_items - 1),
                ..Keywords::of_type(Types::ARRAY)
            });
        }
        if let Some(max) = keywords.max_items {
            ways.push(Keywords {
                min_items: max.saturating_add(1),
                ..Keywords::of_type(Types::ARRAY)
            });
        }
        if let Some(rest) = keywords.rest {
            let Some(negation) = self.negation(rest)? else {
                return Ok(false);
            };
            ways.push(Keywords {
                contains: Some((negation, Rc::clone(pointer))),
                ..Keywords::of_type(Types::ARRAY)
            });
        }
        if let Some((contains, _)) = keywords.contains {
            let Some(negation) = self.negation(contains)? else {
                return Ok(false);
            };
            ways.push(Keywords {
                rest: Some(negation),
                ..Keywords::of_type(Types::ARRAY)
            });
        }
        Ok(true)
    }

    /// Adds how an object may fail; false if that cannot be expressed.
    fn objects(
        &mut self,
        keywords: &Keywords,
        pointer: &Rc<str>,
        ways: &mut Vec<Keywords>,
    ) -> Result<bool, Error> {
        for name in &keywords.required {
            let never = self.locations.made(pointer, Keywords::never());
            ways.push(Keywords {
                properties: vec![(name.clone(), never)],
                ..Keywords::of_type(Types::OBJECT)
            });
        }
        for (name, schema) in &keywords.properties {
            let Some(negation) = self.negation(*schema)? else {
                return Ok(false);
            };
            ways.push(Keywords {
                required: vec![name.clone()],
                properties: vec![(name.clone(), negation)],
                ..Keywords::of_type(Types::OBJECT)
            });
        }
        if keywords.min_properties > 0 {
            ways.push(Keywords {
                max_properties: Some(keywords.min_properties - 1),
                ..Keywords::of_type(Types::OBJECT)
            });
        }
        if let Some(max) = keywords.max_properties {
            ways.push(Keywords {
                min_properties: max.saturating_add(1),
                ..Keywords::of_type(Types::OBJECT)
            });
        }
        Ok(true)
    }
}

fn strings(keywords: &Keywords, ways: &mut Vec<Keywords>) {
    let string = || Keywords::of_type(Types::STRING);
    if keywords.min_length > 0 {
        ways.push(Keywords {
            max_length: Some(keywords.min_length - 1),
            ..string()
        });
    }
    if let Some(max) = keywords.max_length {
        ways.push(Keywords {
            min_length: max.saturating_add(1),
            ..string()
        });
    }
    for pattern in &keywords.patterns {
        let pattern = Pattern {
            negated: !pattern.negated,
            ..pattern.clone()
        };
        ways.push(Keywords {
            patterns: vec![pattern],
            ..string()
        });
    }
}

fn numbers(keywords: &Keywords, ways: &mut Vec<Keywords>) {
    let flipped = |bound: &Bound| {
        Some(Bound {
            value: bound.value.clone(),
            exclusive: !bound.exclusive,
        })
    };
    if let Some(bound) = &keywords.minimum {
        ways.push(Keywords {
            maximum: flipped(bound),
            ..Keywords::of_type(Types::NUMBER)
        });
    }
    if let Some(bound) = &keywords.maximum {
        ways.push(Keywords {
            minimum: flipped(bound),
            ..Keywords::of_type(Types::NUMBER)
        });
    }
}
