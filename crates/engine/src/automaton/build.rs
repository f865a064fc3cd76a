//! From the grammar's regular languages to residuals.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntagma_grammar::ir::Regex;

use super::residual::{RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;

impl Residuals {
    /// Exactly these bytes.
    pub(crate) fn literal(&mut self, bytes: &[u8], fuel: &mut Fuel) -> Result<RegexId, Error> {
        let (index, new) = self.literals.insert_full(Arc::from(bytes));
        if new {
            self.heap += bytes.len() + 32;
        }
        self.literal_from(index as u32, 0, RegexId::EMPTY, fuel)
    }

    /// The residual of a whole regular language. Shared parts are built once; nothing recurses.
    pub(crate) fn build(&mut self, regex: &Regex, fuel: &mut Fuel) -> Result<RegexId, Error> {
        let mut shared: FxHashMap<*const Regex, RegexId> = FxHashMap::default();
        let mut work = vec![(regex, false)];
        let mut values: Vec<RegexId> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            if let Some(&value) = shared.get(&std::ptr::from_ref(node)) {
                values.push(value);
                continue;
            }
            let children: &[Regex] = match node {
                Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => &[],
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
                Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
            };
            if !visited && !children.is_empty() {
                fuel.spend(children.len())?;
                work.push((node, true));
                work.extend(children.iter().rev().map(|child| (child, false)));
                continue;
            }
            let parts = values.split_off(values.len() - children.len());
            let value = match node {
                Regex::Nothing => RegexId::NOTHING,
                Regex::Class(set) => self.class(*set, fuel)?,
                Regex::Literal(bytes) => self.literal(bytes, fuel)?,
                Regex::Concat(children) => self.build_concat(children, &parts, fuel)?,
                Regex::Alt(_) => self.alt(parts, fuel)?,
                Regex::And(_) => self.and(parts, fuel)?,
                Regex::Not(_) => self.not(parts[0], fuel)?,
                Regex::Repeat { min, max, .. } => self.repeat(parts[0], *min, *max, fuel)?,
            };
            shared.insert(std::ptr::from_ref(node), value);
            values.push(value);
        }
        Ok(values.pop().unwrap_or(RegexId::NOTHING))
    }

    /// Parts from right to left; literals side by side become one.
    fn build_concat(
        &mut self,
        children: &[Regex],
        parts: &[RegexId],
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        let mut result = RegexId::EMPTY;
        let mut end = children.len();
        while end > 0 {
            let is_literal = |child: &Regex| matches!(child, Regex::Literal(_));
            let start = children[..end]
                .iter()
                .rposition(|child| !is_literal(child))
                .map_or(0, |at| at + 1);
            let part = if end - start < 2 {
                end -= 1;
                parts[end]
            } else {
                let mut bytes = Vec::new();
                for child in &children[start..end] {
                    if let Regex::Literal(more) = child {
                        bytes.extend_from_slice(more);
                    }
                }
                end = start;
                self.literal(&bytes, fuel)?
            };
            result = self.concat(part, result, fuel)?;
        }
        Ok(result)
    }
}
