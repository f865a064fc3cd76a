//! Objects: what members they may have. `names` tells apart those that are not listed, `members` writes the rules.

use std::rc::Rc;

use crate::json::Value;

use super::demands::{Conjunction, Demands};
use super::keywords::LocationId;
use super::keywords::RequiredMember;
use super::lower::Lowering;
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ExprId, Regex};
use crate::tuning::MAX_DESCRIBED_MEMBERS;

/// A property with a known name.
pub(super) struct Listed {
    pub(super) name: Rc<str>,
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
    pub(super) fn object(&mut self, demands: &Demands, place: Position) -> Result<ExprId, Error> {
        let Some(shape) = self.shape(demands)? else {
            return Ok(self.nothing());
        };
        let open = self.word(Regex::literal(b"{"), place);
        let members = self.members(&shape, demands, place)?;
        Ok(self.builder.seq(vec![open, members]))
    }

    fn shape(&mut self, demands: &Demands) -> Result<Option<Shape>, Error> {
        let names: Vec<Rc<str>> = demands.names().into_iter().collect();
        let mut listed = Vec::with_capacity(names.len());
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
                match self
                    .schemas
                    .allows(&schema, &Value::String(name.to_string()))?
                {
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
                    name: Rc::clone(name),
                    value,
                    required,
                    has: 0,
                });
            }
        }
        let mut has = Vec::new();
        let mut asked: Vec<Rc<RequiredMember>> = Vec::new();
        for one in &demands.has {
            if has.len() >= MAX_DESCRIBED_MEMBERS {
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
}
