//! Objects. Listed properties come in their order, then those only required, then any others. What has been written so far
//! (how many members, and so whether a comma is due) is part of the rule, which keeps the number of rules linear.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::keywords::Source;
use super::locations::LocationId;
use super::lower::Lowering;
use super::merge::{Conjunction, Demands};
use super::text;
use crate::error::Error;
use crate::ir::{ExprId, Regex, RuleId};

/// Patterns of names are told apart by which of them match; more are not.
const PATTERNS: usize = 5;
/// Rules that one object may take for counting its members.
const STATES: u64 = 20_000;

/// A property with a known name.
struct Listed {
    name: String,
    value: Conjunction,
    required: bool,
}

/// Properties whose names are only described.
struct Others {
    /// The spelling of the name, with its quotes.
    name: Regex,
    value: Conjunction,
}

/// What one object may hold.
struct Shape {
    listed: Vec<Listed>,
    others: Vec<Others>,
    min: u64,
    max: Option<u64>,
    /// Counts from here on are alike.
    cap: u64,
}

impl Lowering<'_> {
    /// An object.
    pub(super) fn object(&mut self, demands: &Demands, first: bool) -> Result<ExprId, Error> {
        let Some(shape) = self.shape(demands)? else {
            return Ok(self.nothing());
        };
        let open = self.word(Regex::literal(b"{"), first);
        let members = self.members(&shape)?;
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
                });
            }
        }
        let others = self.others(demands, &names, &name_schemas)?;
        let required = listed.iter().filter(|property| property.required).count() as u64;
        let possible = if others.is_empty() {
            Some(listed.len() as u64)
        } else {
            None
        };
        let mut min = if demands.min_properties <= required {
            0
        } else {
            demands.min_properties
        };
        let mut max = demands
            .max_properties
            .filter(|&max| possible.is_none_or(|possible| max < possible));
        if max.is_some_and(|max| max < min.max(required))
            || possible.is_some_and(|possible| possible < min)
        {
            return Ok(None);
        }
        let cap = min.max(max.unwrap_or(0)).max(1);
        let states = cap.saturating_mul(listed.len() as u64 + 1);
        if states > STATES && cap > 1 {
            self.schemas
                .widen("", "the number of properties is too large to be counted");
            (min, max) = (min.min(1), None);
        }
        let cap = min.max(max.unwrap_or(0)).max(1);
        Ok(Some(Shape {
            listed,
            others,
            min,
            max,
            cap,
        }))
    }

    /// Names that are not listed, by the patterns that match them.
    fn others(
        &mut self,
        demands: &Demands,
        listed: &[String],
        name_schemas: &[(LocationId, Rc<str>)],
    ) -> Result<Vec<Others>, Error> {
        let mut patterns: Vec<(Rc<str>, Regex)> = Vec::new();
        let mut unread: Vec<Rc<str>> = Vec::new();
        for member in &demands.members {
            for (pattern, schema) in &member.pattern_properties {
                if patterns.iter().any(|(known, _)| known == pattern) || unread.contains(pattern) {
                    continue;
                }
                let pointer = self.schemas.pointer(*schema);
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
        for mask in 0u32..1 << patterns.len() {
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
            let value = self.schemas.conjunction(parts)?;
            if self.schemas.impossible(&value)? {
                continue;
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
            let body = if demands.len() == 1 {
                demands.remove(0)
            } else {
                Regex::And(demands.into())
            };
            others.push(Others {
                name: text::quoted(body),
                value,
            });
        }
        Ok(others)
    }

    /// What follows the opening brace.
    fn members(&mut self, shape: &Shape) -> Result<ExprId, Error> {
        let mut states: FxHashMap<(usize, u64), RuleId> = FxHashMap::default();
        let mut work: Vec<(usize, u64, RuleId)> = Vec::new();
        let start = self.state(&mut states, &mut work, (0, 0));
        while let Some((at, count, rule)) = work.pop() {
            self.spend(1)?;
            let full = shape.max.is_some_and(|max| count >= max);
            let next = (count + 1).min(shape.cap);
            let mut parts = Vec::new();
            if let Some(property) = shape.listed.get(at) {
                if !full {
                    let name = Regex::literal(text::canonical(&property.name).as_bytes());
                    parts.push(self.member(name, count, &property.value, |lowering| {
                        lowering.state(&mut states, &mut work, (at + 1, next))
                    }));
                }
                if !property.required {
                    let rule = self.state(&mut states, &mut work, (at + 1, count));
                    parts.push(self.builder.reference(rule));
                }
            } else {
                if count >= shape.min {
                    let end = self.spelling.sign("}");
                    parts.push(self.builder.regex(end));
                }
                if !full {
                    for other in &shape.others {
                        parts.push(self.member(
                            other.name.clone(),
                            count,
                            &other.value,
                            |lowering| lowering.state(&mut states, &mut work, (at, next)),
                        ));
                    }
                }
            }
            let body = if parts.is_empty() {
                self.nothing()
            } else {
                self.builder.alt(parts)
            };
            self.builder.define(rule, body);
        }
        Ok(self.builder.reference(start))
    }

    /// The rule for what may follow once `at` listed properties are passed and `count` members are written.
    fn state(
        &mut self,
        states: &mut FxHashMap<(usize, u64), RuleId>,
        work: &mut Vec<(usize, u64, RuleId)>,
        state: (usize, u64),
    ) -> RuleId {
        if let Some(&rule) = states.get(&state) {
            return rule;
        }
        let rule = self.fresh("members");
        states.insert(state, rule);
        work.push((state.0, state.1, rule));
        rule
    }

    /// One member and what follows it.
    fn member(
        &mut self,
        name: Regex,
        count: u64,
        value: &Conjunction,
        then: impl FnOnce(&mut Self) -> RuleId,
    ) -> ExprId {
        let key = self.spelling.key(name, count > 0);
        let key = self.builder.regex(key);
        let value = self.value(value);
        let then = then(self);
        let then = self.builder.reference(then);
        self.builder.seq(vec![key, value, then])
    }
}
