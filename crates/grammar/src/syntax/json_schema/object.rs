//! Objects: what members they may have. `members` writes the rules.

use std::rc::Rc;

use serde_json::Value;

use super::keywords::{Has, Source};
use super::locations::LocationId;
use super::lower::Lowering;
use super::merge::{Conjunction, Demands};
use super::spelling::Place;
use super::text;
use crate::error::Error;
use crate::ir::{ExprId, Regex};

/// Patterns of names are told apart by which of them match; more are not.
const PATTERNS: usize = 24;
/// Members that are asked for by description, in one object.
const HAS: usize = 6;
/// Sets of patterns that some name may match.
const SETS: usize = 200;

/// A property with a known name.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) value: Conjunction,
    pub(super) required: bool,
    /// Which of the members that are asked for it may be.
    pub(super) has: u32,
}

/// Properties whose names are only described.
pub(super) struct Others {
    /// The spelling of the name, with its quotes.
    pub(super) name: Regex,
    pub(super) value: Conjunction,
    /// Which of the members that are asked for they may be.
    pub(super) has: u32,
}

/// What one object may hold.
pub(super) struct Shape {
    pub(super) listed: Vec<Listed>,
    pub(super) others: Vec<Others>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    /// The values of the members that are asked for.
    pub(super) has: Vec<Conjunction>,
}

impl Lowering<'_> {
    /// An object.
    pub(super) fn object(&mut self, demands: &Demands, place: Place) -> Result<ExprId, Error> {
        let Some(shape) = self.shape(demands)? else {
            return Ok(self.nothing());
        };
        let open = self.word(Regex::literal(b"{"), place);
        let members = self.members(&shape, demands, place)?;
        Ok(self.builder.seq(vec![open, members]))
    }

    fn shape(&mut self, demands: &Demands) -> Result<Option<Shape>, Error> {
        let mut listed = Vec::new();
        let names: Vec<String> = demands.names().into_iter().map(str::to_owned).collect();
        self.spend(names.len() + 1)?;
        let name_schemas: Vec<(LocationId, Rc<str>)> = demands
            .members
            .iter()
            .filter_map(|member| member.names.clone())
            .collect();
        for name in &names {
            let required = demands.required.contains(name);
            let value = self.schemas.property(demands, name)?;
            let mut forbidden = self.schemas.impossible(&value)?;
            for (schema, pointer) in &name_schemas {
                let schema = self.schemas.conjunction([*schema])?;
                match self.schemas.allows(&schema, &Value::String(name.clone()))? {
                    Some(allowed) => forbidden |= !allowed,
                    None => self
                        .schemas
                        .widen(pointer, "whether listed names satisfy this is not decided"),
                }
            }
            if forbidden && required {
                return Ok(None);
            }
            if !forbidden {
                listed.push(Listed {
                    name: name.clone(),
                    value,
                    required,
                    has: 0,
                });
            }
        }
        let mut has = Vec::new();
        let mut asked: Vec<Has> = Vec::new();
        for one in &demands.has {
            if has.len() >= HAS {
                self.schemas.widen(
                    &one.pointer,
                    "too many members are asked for by description",
                );
                continue;
            }
            let bit = 1u32 << has.len();
            for property in &mut listed {
                match self.schemas.has_name(one, &property.name)? {
                    Some(true) => property.has |= bit,
                    Some(false) => {}
                    None => {
                        property.has |= bit;
                        self.schemas.widen(
                            &one.pointer,
                            "whether listed names satisfy this is not decided",
                        );
                    }
                }
            }
            has.push(self.schemas.conjunction([one.value])?);
            asked.push(one.clone());
        }
        let others = self.others(demands, &names, &name_schemas, &asked)?;
        let required = listed.iter().filter(|property| property.required).count() as u64;
        let possible = if others.is_empty() {
            Some(listed.len() as u64)
        } else {
            None
        };
        let min = if demands.min_properties <= required {
            0
        } else {
            demands.min_properties
        };
        let max = demands
            .max_properties
            .filter(|&max| possible.is_none_or(|possible| max < possible));
        if max.is_some_and(|max| max < min.max(required))
            || possible.is_some_and(|possible| possible < min)
        {
            return Ok(None);
        }
        Ok(Some(Shape {
            listed,
            others,
            min,
            max,
            has,
        }))
    }

    /// Names that are not listed, by the patterns that match them.
    fn others(
        &mut self,
        demands: &Demands,
        listed: &[String],
        name_schemas: &[(LocationId, Rc<str>)],
        asked: &[Has],
    ) -> Result<Vec<Others>, Error> {
        let mut patterns: Vec<(Rc<str>, Regex)> = Vec::new();
        let mut unread: Vec<Rc<str>> = Vec::new();
        let schemas = demands.members.iter().flat_map(|member| {
            let patterns = member.pattern_properties.iter();
            patterns.map(|(pattern, schema)| (pattern, Some(*schema), None))
        });
        let asked_patterns = asked.iter().flat_map(|has| {
            let patterns = has.patterns.iter();
            patterns.map(|(pattern, _)| (pattern, None, Some(Rc::clone(&has.pointer))))
        });
        for (pattern, schema, pointer) in schemas.chain(asked_patterns) {
            if patterns.iter().any(|(known, _)| known == pattern) || unread.contains(pattern) {
                continue;
            }
            let pointer = match schema {
                Some(schema) => self.schemas.pointer(schema),
                None => pointer.map_or(String::new(), |pointer| pointer.to_string()),
            };
            let readings = self
                .schemas
                .readings(&Source::Pattern(Rc::clone(pattern)), &pointer)?;
            match readings {
                Ok(readings) if patterns.len() < PATTERNS => {
                    patterns.push((Rc::clone(pattern), readings.escaped));
                }
                Ok(_) => {
                    self.schemas
                        .widen(&pointer, "too many patterns of names in one object");
                    unread.push(Rc::clone(pattern));
                }
                Err(reason) => {
                    self.schemas.widen(&pointer, &reason);
                    unread.push(Rc::clone(pattern));
                }
            }
        }
        let mut demanded: Vec<Regex> = Vec::new();
        for (schema, pointer) in name_schemas {
            let schema = self.schemas.conjunction([*schema])?;
            match self.name_body(&schema)? {
                Some(body) => demanded.push(body),
                None => self
                    .schemas
                    .widen(pointer, "what names must satisfy is not enforced"),
            }
        }
        let taken: Vec<Regex> = listed.iter().map(|name| text::body(name)).collect();
        let mut others = Vec::new();
        let sources: Vec<&str> = patterns.iter().map(|(pattern, _)| &**pattern).collect();
        let Some(masks) = possible_sets(&sources) else {
            return self.too_many_sets(demands);
        };
        for mask in masks {
            self.spend(1)?;
            let mut parts: Vec<LocationId> = Vec::new();
            for member in &demands.members {
                let before = parts.len();
                for (pattern, schema) in &member.pattern_properties {
                    let known = patterns.iter().position(|(known, _)| known == pattern);
                    if known.is_some_and(|known| mask >> known & 1 == 1) {
                        parts.push(*schema);
                    }
                }
                // A pattern that cannot be read may match: then nothing is known to be additional.
                let hidden = member
                    .pattern_properties
                    .iter()
                    .any(|(pattern, _)| unread.contains(pattern));
                if parts.len() == before && !hidden {
                    parts.extend(member.additional);
                }
            }
            let matches = |pattern: &Rc<str>| {
                let known = patterns.iter().position(|(known, _)| known == pattern);
                known.is_some_and(|known| mask >> known & 1 == 1)
            };
            for unevaluated in &demands.unevaluated {
                let evaluated = unevaluated.scope.iter().any(|&own| {
                    let member = &demands.members[own];
                    let mut own_patterns = member.pattern_properties.iter();
                    unevaluated.covers(own, member)
                        || own_patterns
                            .any(|(pattern, _)| matches(pattern) || unread.contains(pattern))
                });
                if !evaluated {
                    parts.push(unevaluated.schema);
                }
            }
            let value = self.schemas.conjunction(parts)?;
            if self.schemas.impossible(&value)? {
                continue;
            }
            let mut has = 0;
            let mut named: Vec<(u32, LocationId)> = Vec::new();
            for (bit, one) in asked.iter().enumerate() {
                let mut all = one.patterns.iter();
                if all
                    .all(|(pattern, found)| unread.contains(pattern) || matches(pattern) == *found)
                {
                    has |= 1u32 << bit;
                    named.extend(one.name.map(|name| (1u32 << bit, name)));
                }
            }
            let mut demands: Vec<Regex> = demanded.clone();
            if !taken.is_empty() {
                demands.push(Regex::Not(Regex::alt(taken.clone()).into()));
            }
            for (known, (_, matching)) in patterns.iter().enumerate() {
                let holds = mask >> known & 1 == 1;
                demands.push(if holds {
                    matching.clone()
                } else {
                    Regex::Not(matching.clone().into())
                });
            }
            // Complements hold what is no JSON at all; something must say what a name is.
            if demanded.is_empty() && mask == 0 {
                demands.insert(0, Regex::repeat(text::canonical_character(), 0, None));
            }
            self.named(demands, value, has, &named, asked, &mut others)?;
        }
        Ok(others)
    }

    fn too_many_sets(&mut self, demands: &Demands) -> Result<Vec<Others>, Error> {
        for member in &demands.members {
            for (_, schema) in &member.pattern_properties {
                let pointer = self.schemas.pointer(*schema);
                self.schemas
                    .widen(&pointer, "too many patterns of names in one object");
            }
        }
        let any = Regex::repeat(text::canonical_character(), 0, None);
        Ok(vec![Others {
            name: text::quoted(any),
            value: self.schemas.conjunction([])?,
            has: u32::MAX,
        }])
    }

    /// Adds other properties, apart by whether their names are what members asked for must be called.
    fn named(
        &mut self,
        demands: Vec<Regex>,
        value: Conjunction,
        has: u32,
        named: &[(u32, LocationId)],
        asked: &[Has],
        others: &mut Vec<Others>,
    ) -> Result<(), Error> {
        let mut variants = vec![(demands, has)];
        for &(bit, name) in named {
            let schema = self.schemas.conjunction([name])?;
            let Some(body) = self.name_body(&schema)? else {
                if let Some(one) = asked.get(bit.trailing_zeros() as usize) {
                    self.schemas
                        .widen(&one.pointer, "what a name must satisfy is not enforced");
                }
                continue;
            };
            // Every name may go without being the one that is asked for.
            let with = variants.iter().map(|(demands, has)| {
                let mut demands = demands.clone();
                demands.push(body.clone());
                (demands, *has)
            });
            let with: Vec<_> = with.collect();
            for (_, has) in &mut variants {
                *has &= !bit;
            }
            variants.extend(with);
        }
        for (mut demands, has) in variants {
            let body = if demands.len() == 1 {
                demands.remove(0)
            } else {
                Regex::And(demands.into())
            };
            others.push(Others {
                name: text::quoted(body),
                value: value.clone(),
                has,
            });
        }
        Ok(())
    }
}

/// Sets of patterns that a name may match at once, as bits; None where there are too many.
fn possible_sets(patterns: &[&str]) -> Option<Vec<u32>> {
    let prefixes: Vec<&str> = patterns
        .iter()
        .map(|pattern| literal_prefix(pattern))
        .collect();
    let apart = |left: usize, right: usize| {
        let (left, right) = (prefixes[left], prefixes[right]);
        !left.starts_with(right) && !right.starts_with(left)
    };
    let mut sets = vec![0u32];
    for at in 0..patterns.len() {
        let fits = |set: &&u32| (0..at).all(|other| **set >> other & 1 == 0 || !apart(at, other));
        let with: Vec<u32> = sets.iter().filter(fits).map(|set| set | 1 << at).collect();
        sets.extend(with);
        if sets.len() > SETS {
            return None;
        }
    }
    Some(sets)
}

/// What every text that a pattern matches visibly begins with.
fn literal_prefix(pattern: &str) -> &str {
    let Some(rest) = pattern.strip_prefix('^').filter(|rest| !rest.contains('|')) else {
        return "";
    };
    let end = rest
        .find(|c: char| r"\.[](){}*+?$^".contains(c))
        .unwrap_or(rest.len());
    let prefix = &rest[..end];
    // A count may let the last character go.
    if rest[end..].starts_with(['*', '?', '{']) {
        let last = prefix.char_indices().next_back();
        last.map_or("", |(at, _)| &prefix[..at])
    } else {
        prefix
    }
}
