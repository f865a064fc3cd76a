//! Properties whose names are not listed, by the set of patterns that match them, and by what `propertyNames` and members
//! that are demanded by description say of names.

use std::rc::Rc;

use super::demands::{Conjunction, Demands};
use super::keywords::LocationId;
use super::keywords::{RequiredMember, Source};
use super::lower::Lowering;
use super::object::Others;
use super::pointers::below;
use crate::error::Error;
use crate::ir::Regex;
use crate::tuning::{MAX_NAME_PATTERNS, MAX_NAME_SETS};

const TOO_MANY: &str = "too many patterns of names in one object";

/// The patterns that tell names apart.
struct Patterns {
    /// Patterns and what they match.
    read: Vec<(Rc<str>, Regex)>,
    /// Those that are not enforced; they may match any name.
    unread: Vec<Rc<str>>,
}

impl Patterns {
    fn known(&self, pattern: &Rc<str>) -> bool {
        self.unread.contains(pattern) || self.read.iter().any(|(known, _)| known == pattern)
    }

    fn is_unread(&self, pattern: &Rc<str>) -> bool {
        self.unread.contains(pattern)
    }

    /// Whether a pattern is one of a set.
    fn matches(&self, set: u32, pattern: &Rc<str>) -> bool {
        let known = self.read.iter().position(|(known, _)| known == pattern);
        known.is_some_and(|known| set >> known & 1 == 1)
    }
}

impl Lowering<'_> {
    /// The properties that are not listed. `listed` are the names that are; `name_schemas` hold for every name; `asked` are
    /// members of which one must be there.
    pub(super) fn others(
        &mut self,
        demands: &Demands,
        listed: &[Rc<str>],
        name_schemas: &[(LocationId, Rc<str>)],
        asked: &[Rc<RequiredMember>],
    ) -> Result<Vec<Others>, Error> {
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
        // Complements hold what is no JSON at all; something must say what a name is.
        if demanded.is_empty() {
            demanded.push(Regex::repeat(
                self.spelling.notation.canonical_character(),
                0,
                None,
            ));
        }
        // Once some other property may be there.
        let mut unlisted: Option<Regex> = None;
        let mut patterns = self.patterns(demands, asked)?;
        let sources: Vec<&str> = patterns
            .read
            .iter()
            .map(|(pattern, _)| &**pattern)
            .collect();
        let sets = possible_sets(&sources).unwrap_or_else(|| {
            for (_, pointer) in self.described(demands, asked) {
                self.schemas.widen(&pointer, TOO_MANY);
            }
            let read = patterns.read.drain(..).map(|(pattern, _)| pattern);
            patterns.unread.extend(read);
            vec![0]
        });
        let mut others = Vec::new();
        for set in sets {
            self.spend(1)?;
            let value = self.value_of_set(demands, &patterns, set)?;
            if self.schemas.impossible(&value)? {
                continue;
            }
            let mut has = 0;
            let mut named: Vec<(u32, LocationId)> = Vec::new();
            for (bit, one) in asked.iter().enumerate() {
                let fits = one.patterns.iter().all(|(pattern, found)| {
                    patterns.is_unread(pattern) || patterns.matches(set, pattern) == *found
                });
                if fits {
                    has |= 1u32 << bit;
                    named.extend(one.name.map(|name| (1u32 << bit, name)));
                }
            }
            let mut parts = demanded.clone();
            if !listed.is_empty() {
                let notation = &self.spelling.notation;
                let unlisted = unlisted.get_or_insert_with(|| {
                    let listed = listed.iter().map(|name| notation.body(name)).collect();
                    Regex::Not(Regex::alt(listed).into())
                });
                parts.push(unlisted.clone());
            }
            for (at, (_, matching)) in patterns.read.iter().enumerate() {
                let holds = set >> at & 1 == 1;
                parts.push(if holds {
                    matching.clone()
                } else {
                    Regex::Not(matching.clone().into())
                });
            }
            // A pattern that holds says what a name is.
            if set != 0 && name_schemas.is_empty() {
                parts.remove(0);
            }
            self.named((parts, has), &value, &named, asked, &mut others)?;
        }
        Ok(others)
    }

    /// The patterns of names, each with where it stands.
    fn described(&self, demands: &Demands, asked: &[Rc<RequiredMember>]) -> Vec<(Rc<str>, String)> {
        let mut all: Vec<(Rc<str>, String)> = Vec::new();
        for (member, &id) in demands.members.iter().zip(&demands.ids) {
            if member.pattern_properties.is_empty() {
                continue;
            }
            let place = self.schemas.locations.place(id, "patternProperties");
            let place = place.unwrap_or_default();
            for (pattern, _) in &member.pattern_properties {
                all.push((Rc::clone(pattern), below(&place, pattern)));
            }
        }
        for has in asked {
            for (pattern, _) in &has.patterns {
                all.push((Rc::clone(pattern), has.pointer.to_string()));
            }
        }
        all
    }

    fn patterns(
        &mut self,
        demands: &Demands,
        asked: &[Rc<RequiredMember>],
    ) -> Result<Patterns, Error> {
        let mut patterns = Patterns {
            read: Vec::new(),
            unread: Vec::new(),
        };
        for (pattern, pointer) in self.described(demands, asked) {
            if patterns.known(&pattern) {
                continue;
            }
            let source = Source::Pattern(Rc::clone(&pattern));
            match self.schemas.readings(&source, &pointer)? {
                Ok(readings) if patterns.read.len() < MAX_NAME_PATTERNS => {
                    patterns.read.push((pattern, readings.escaped));
                }
                Ok(_) => {
                    self.schemas.widen(&pointer, TOO_MANY);
                    patterns.unread.push(pattern);
                }
                Err(reason) => {
                    self.schemas.widen(&pointer, &reason);
                    patterns.unread.push(pattern);
                }
            }
        }
        Ok(patterns)
    }

    /// What the value must satisfy where a name matches just the patterns of a set.
    fn value_of_set(
        &mut self,
        demands: &Demands,
        patterns: &Patterns,
        set: u32,
    ) -> Result<Conjunction, Error> {
        let mut parts: Vec<LocationId> = Vec::new();
        for member in &demands.members {
            let own = &member.pattern_properties;
            let before = parts.len();
            let matching = own
                .iter()
                .filter(|(pattern, _)| patterns.matches(set, pattern));
            parts.extend(matching.map(|&(_, schema)| schema));
            // A pattern that cannot be read may match: then nothing is known to be additional.
            let hidden = own.iter().any(|(pattern, _)| patterns.is_unread(pattern));
            if parts.len() == before && !hidden {
                parts.extend(member.additional);
            }
        }
        for unevaluated in &demands.unevaluated {
            let evaluated = unevaluated.scope.iter().any(|&at| {
                let member = &demands.members[at];
                let mut own = member.pattern_properties.iter();
                unevaluated.covers(at, member)
                    || own.any(|(pattern, _)| {
                        patterns.matches(set, pattern) || patterns.is_unread(pattern)
                    })
            });
            if !evaluated {
                parts.push(unevaluated.schema);
            }
        }
        self.schemas.conjunction(parts)
    }

    /// Adds other properties, apart by whether their names are what members asked for must be called.
    fn named(
        &mut self,
        (demands, has): (Vec<Regex>, u32),
        value: &Conjunction,
        named: &[(u32, LocationId)],
        asked: &[Rc<RequiredMember>],
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
                name: self.spelling.notation.keys(body),
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
        if sets.len() > MAX_NAME_SETS {
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
