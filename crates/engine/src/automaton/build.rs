//! From the grammar's regular languages to residuals.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use syntagma_grammar::ir::Regex;

use super::residual::{Node, RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;

/// From so many literals on, alternatives are a table.
const WORDS: usize = 8;

/// Residuals of the compound expressions that were built, so that what grammars share is built once.
pub(crate) type Built = FxHashMap<Regex, RegexId>;

impl Residuals {
    /// Exactly these bytes.
    pub(crate) fn literal(&mut self, bytes: &Arc<[u8]>, fuel: &mut Fuel) -> Result<RegexId, Error> {
        let index = self.intern_literal(bytes);
        self.literal_from(index, 0, RegexId::EMPTY, fuel)
    }

    /// The number of a literal.
    pub(super) fn intern_literal(&mut self, bytes: &Arc<[u8]>) -> u32 {
        if let Some(index) = self.literals.get_index_of(bytes) {
            return index as u32;
        }
        self.heap += bytes.len() + 32;
        self.literals.insert_full(Arc::clone(bytes)).0 as u32
    }

    /// The residual of a whole regular language. Shared parts are built once; nothing recurses.
    pub(crate) fn build(
        &mut self,
        regex: &Regex,
        built: &mut Built,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        let mut work = vec![(regex, false)];
        let mut values: Vec<RegexId> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            let children: &[Regex] = match node {
                Regex::Nothing => {
                    values.push(RegexId::NOTHING);
                    continue;
                }
                Regex::Class(set) => {
                    values.push(self.class(*set, fuel)?);
                    continue;
                }
                Regex::Literal(bytes) => {
                    values.push(self.literal(bytes, fuel)?);
                    continue;
                }
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
                Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
            };
            // Literals in a concatenation wait for what follows them.
            let waits =
                |child: &&Regex| matches!((node, child), (Regex::Concat(_), Regex::Literal(_)));
            // Whoever asks does not ask twice for the same whole.
            let whole = work.is_empty() && matches!(node, Regex::Concat(_));
            if !visited {
                if !whole && let Some(&value) = built.get(node) {
                    values.push(value);
                    continue;
                }
                fuel.spend(children.len())?;
                work.push((node, true));
                let others = children.iter().rev().filter(|child| !waits(child));
                work.extend(others.map(|child| (child, false)));
                continue;
            }
            let first = values.len() - children.iter().filter(|child| !waits(child)).count();
            let value = match node {
                Regex::Concat(children) => self.build_concat(children, &values[first..], fuel)?,
                Regex::Alt(_) => self.build_alt(&values[first..], fuel)?,
                Regex::And(_) => self.and(values[first..].to_vec(), fuel)?,
                Regex::Not(_) => self.not(values[first], fuel)?,
                Regex::Repeat { min, max, .. } => self.repeat(values[first], *min, *max, fuel)?,
                _ => RegexId::NOTHING,
            };
            if !whole {
                built.insert(node.clone(), value);
            }
            values.truncate(first);
            values.push(value);
        }
        Ok(values.pop().unwrap_or(RegexId::NOTHING))
    }

    /// Alternatives; those that begin with the same repetition, blanks mostly, begin with it once.
    fn build_alt(&mut self, parts: &[RegexId], fuel: &mut Fuel) -> Result<RegexId, Error> {
        let mut tails: IndexMap<RegexId, Vec<RegexId>, FxBuildHasher> = IndexMap::default();
        let mut others = Vec::new();
        for &part in parts {
            match self.split(part) {
                (head, Some(tail)) if matches!(self.node(head), Node::Repeat { .. }) => {
                    tails.entry(head).or_default().push(tail);
                }
                _ => others.push(part),
            }
        }
        for (head, tails) in tails {
            let tails = self.with_table(tails, fuel)?;
            others.push(self.concat(head, tails, fuel)?);
        }
        self.with_table(others, fuel)
    }

    /// Many literals become one table of words, so that a byte costs a search and not a look at each of them.
    fn with_table(&mut self, mut parts: Vec<RegexId>, fuel: &mut Fuel) -> Result<RegexId, Error> {
        let literal = |residuals: &Self, part: RegexId| match *residuals.node(part) {
            Node::Literal {
                bytes,
                at: 0,
                tail: RegexId::EMPTY,
            } => Some(bytes),
            _ => None,
        };
        let mut table: Vec<u32> = parts
            .iter()
            .filter_map(|&part| literal(self, part))
            .collect();
        if table.len() >= WORDS {
            table.sort_unstable_by(|&a, &b| {
                self.literals[a as usize].cmp(&self.literals[b as usize])
            });
            table.dedup();
            fuel.spend(table.len())?;
            parts.retain(|&part| literal(self, part).is_none());
            let end = table.len() as u32;
            self.heap += table.len() * 4 + 32;
            let (table, _) = self.tables.insert_full(table.into());
            parts.push(self.words_from(table as u32, 0, end, 0, fuel)?);
        }
        self.alt(parts, fuel)
    }

    /// Parts from right to left; literals side by side become one. `parts` are those that are no literals.
    fn build_concat(
        &mut self,
        children: &[Regex],
        parts: &[RegexId],
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        let mut result = RegexId::EMPTY;
        let mut parts = parts.iter().rev();
        let mut end = children.len();
        while end > 0 {
            let is_literal = |child: &Regex| matches!(child, Regex::Literal(_));
            let start = children[..end]
                .iter()
                .rposition(|child| !is_literal(child))
                .map_or(0, |at| at + 1);
            result = match &children[start..end] {
                [] => {
                    end -= 1;
                    let Some(&part) = parts.next() else {
                        break;
                    };
                    self.concat(part, result, fuel)?
                }
                [Regex::Literal(bytes)] => {
                    end = start;
                    let index = self.intern_literal(bytes);
                    self.literal_from(index, 0, result, fuel)?
                }
                literals => {
                    end = start;
                    let mut bytes = Vec::new();
                    for child in literals {
                        if let Regex::Literal(more) = child {
                            bytes.extend_from_slice(more);
                        }
                    }
                    let index = self.intern_literal(&bytes.into());
                    self.literal_from(index, 0, result, fuel)?
                }
            };
        }
        Ok(result)
    }
}
