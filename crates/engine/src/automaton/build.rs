//! From the grammar's regular languages to residuals: expressions in normal form, in which alternatives with one
//! beginning are put together, and many literals are a table.

use std::sync::Arc;

use syntagma_grammar::ir::Regex;

use super::expression::{ExprId, Node};
use super::residual::{Built, Residuals};
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::SeededIndexMap;
use crate::tuning;

/// Whether no two of some words are the same.
fn words_differ(words: &[(u32, ExprId)]) -> bool {
    let mut all: Vec<u32> = words.iter().map(|&(literal, _)| literal).collect();
    all.sort_unstable();
    all.windows(2).all(|two| two[0] != two[1])
}

/// What an alternative begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Head {
    Repeat(ExprId),
    /// The number of a literal.
    Literal(u32),
}

/// A literal, perhaps without a number.
enum Beginning {
    Literal(u32),
    Byte(u8),
}

impl Beginning {
    fn number(self, residuals: &mut Residuals) -> u32 {
        match self {
            Self::Literal(number) => number,
            Self::Byte(byte) => residuals.arena.intern_literal(&[byte].into()),
        }
    }
}

/// Alternatives that are being put together.
#[derive(Debug, Default)]
struct Alternatives {
    /// Those that have no head.
    others: Vec<ExprId>,
    /// Heads, and what follows them, which is still to be put together.
    groups: Vec<(Head, Vec<ExprId>)>,
    /// Heads with what follows them.
    done: Vec<(Head, ExprId)>,
}

impl Residuals {
    /// Exactly these bytes.
    pub(crate) fn literal(&mut self, bytes: &Arc<[u8]>, fuel: &mut Fuel) -> Result<ExprId, Error> {
        self.arena.literal(bytes, fuel)
    }

    /// The residual of a whole regular language. Shared parts are built once; nothing recurses.
    pub(crate) fn build(
        &mut self,
        regex: &Regex,
        built: &mut Built,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut work = vec![(regex, false)];
        let mut values: Vec<ExprId> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            let children: &[Regex] = match node {
                Regex::Nothing => {
                    values.push(ExprId::NOTHING);
                    continue;
                }
                Regex::Class(set) => {
                    values.push(self.arena.class(*set, fuel)?);
                    continue;
                }
                Regex::Literal(bytes) => {
                    values.push(self.arena.literal(bytes, fuel)?);
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
                if !whole && let Some(value) = built.get(node) {
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
                Regex::And(_) => self.arena.and(values[first..].to_vec(), fuel)?,
                Regex::Not(_) => self.arena.not(values[first], fuel)?,
                Regex::Repeat { min, max, .. } => {
                    self.arena.repeat(values[first], *min, *max, fuel)?
                }
                _ => ExprId::NOTHING,
            };
            if !whole {
                built.insert(node, value);
            }
            values.truncate(first);
            values.push(value);
        }
        Ok(values.pop().unwrap_or(ExprId::NOTHING))
    }

    /// Alternatives; those that begin alike, with whitespace mostly or with literals, do so once.
    fn build_alt(&mut self, parts: &[ExprId], fuel: &mut Fuel) -> Result<ExprId, Error> {
        let mut work = vec![self.by_head(parts.to_vec(), fuel)?];
        let mut last = None;
        while let Some(open) = work.last_mut() {
            if let Some(tails) = last.take()
                && let Some((head, _)) = open.groups.pop()
            {
                open.done.push((head, tails));
            }
            let tails = open
                .groups
                .last_mut()
                .map(|(_, tails)| std::mem::take(tails));
            match tails {
                Some(tails) if tails.len() == 1 => last = Some(tails[0]),
                Some(tails) => work.push(self.by_head(tails, fuel)?),
                None => {
                    let Alternatives { others, done, .. } = std::mem::take(open);
                    work.pop();
                    last = Some(self.alternatives_of(others, done, fuel)?);
                }
            }
        }
        Ok(last.unwrap_or(ExprId::NOTHING))
    }

    /// Sorts alternatives by what they begin with.
    fn by_head(&mut self, parts: Vec<ExprId>, fuel: &mut Fuel) -> Result<Alternatives, Error> {
        fuel.spend(parts.len())?;
        let mut sorted = Alternatives::default();
        let literals = parts
            .iter()
            .filter(|&&part| self.literal_head(part).is_some());
        let many = self.has(Layer::Tables) && literals.count() >= tuning::WORDS_OF_A_TABLE;
        let mut groups: SeededIndexMap<Head, Vec<ExprId>> = SeededIndexMap::default();
        for part in parts {
            let (head, tail) = self.split(part);
            let (head, tail) = match (self.literal_head(part), tail) {
                (Some((literal, tail)), _) if many => (Head::Literal(literal.number(self)), tail),
                (_, Some(tail)) if matches!(self.arena.node(head), Node::Repeat { .. }) => {
                    (Head::Repeat(head), tail)
                }
                _ => {
                    sorted.others.push(part);
                    continue;
                }
            };
            groups.entry(head).or_default().push(tail);
        }
        sorted.groups = groups.into_iter().collect();
        Ok(sorted)
    }

    /// The literal that an expression begins with, and what follows it.
    fn literal_head(&self, part: ExprId) -> Option<(Beginning, ExprId)> {
        match *self.arena.node(part) {
            Node::Literal { bytes, at: 0, tail } => Some((Beginning::Literal(bytes), tail)),
            Node::Concat(head, tail) => match self.arena.node(head) {
                &Node::Class(set) if self.arena.bytes(set).len() == 1 => {
                    let mut bytes = self.arena.bytes(set).iter();
                    bytes.next().map(|byte| (Beginning::Byte(byte), tail))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Alternatives of which some begin with a head each. Many literals become one table, so that a byte costs a search
    /// and not a look at each of them.
    fn alternatives_of(
        &mut self,
        mut all: Vec<ExprId>,
        heads: Vec<(Head, ExprId)>,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        fuel.spend(heads.len())?;
        let mut words = Vec::new();
        for (head, tail) in heads {
            match head {
                Head::Repeat(head) => all.push(self.arena.concat(head, tail, fuel)?),
                Head::Literal(literal) if self.arena.may_follow_words(tail) => {
                    words.push((literal, tail));
                }
                Head::Literal(literal) => {
                    all.push(self.arena.literal_from(literal, 0, tail, fuel)?);
                }
            }
        }
        if words.len() >= tuning::WORDS_OF_A_TABLE {
            let end = words.len() as u32;
            let table = self.arena.intern_words(words);
            all.push(self.arena.words_from(table, 0, end, 0, fuel)?);
        } else {
            for (literal, tail) in words {
                all.push(self.arena.literal_from(literal, 0, tail, fuel)?);
            }
        }
        self.arena.alt(all, fuel)
    }

    /// A whole table of words before `tail`, as a table: reading on in it costs nothing but the search.
    fn words_then(
        &mut self,
        words: ExprId,
        tail: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<ExprId>, Error> {
        let &Node::Words {
            table,
            first: 0,
            end,
            at: 0,
        } = self.arena.node(words)
        else {
            return Ok(None);
        };
        let table = &self.arena.tables[table as usize];
        if table.len() != end || tail == ExprId::EMPTY || !self.arena.may_follow_words(tail) {
            return Ok(None);
        }
        let mut all: Vec<(u32, ExprId)> = table.iter().collect();
        fuel.spend(all.len())?;
        // A literal makes all words longer: what is a part of another one may then be none.
        let (literal, rest) = match (self.literal_head(tail), self.arena.node(tail)) {
            (Some((literal, rest)), _) => (Some(literal.number(self)), rest),
            (None, &Node::Class(set)) if self.arena.bytes(set).len() == 1 => {
                let bytes: Vec<u8> = self.arena.bytes(set).iter().collect();
                (
                    Some(self.arena.intern_literal(&bytes.into())),
                    ExprId::EMPTY,
                )
            }
            _ => (None, tail),
        };
        for (word, behind) in &mut all {
            if *behind == ExprId::EMPTY
                && let Some(literal) = literal
            {
                let parts = [*word, literal].map(|part| &*self.arena.literals[part as usize]);
                *word = self.arena.intern_literal(&parts.concat().into());
                *behind = rest;
            } else {
                *behind = self.arena.concat(*behind, tail, fuel)?;
            }
            if !self.arena.may_follow_words(*behind) {
                return Ok(None);
            }
        }
        // Words with different ends could have become the same.
        if literal.is_some() && !words_differ(&all) {
            return Ok(None);
        }
        let table = self.arena.intern_words(all);
        self.arena.words_from(table, 0, end, 0, fuel).map(Some)
    }

    /// Parts from right to left; literals side by side become one. `parts` are those that are no literals.
    fn build_concat(
        &mut self,
        children: &[Regex],
        parts: &[ExprId],
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut result = ExprId::EMPTY;
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
                    match self.words_then(part, result, fuel)? {
                        Some(words) => words,
                        None => self.arena.concat(part, result, fuel)?,
                    }
                }
                [Regex::Literal(bytes)] => {
                    end = start;
                    let index = self.arena.intern_literal(bytes);
                    self.arena.literal_from(index, 0, result, fuel)?
                }
                literals => {
                    end = start;
                    let mut bytes = Vec::new();
                    for child in literals {
                        if let Regex::Literal(more) = child {
                            bytes.extend_from_slice(more);
                        }
                    }
                    let index = self.arena.intern_literal(&bytes.into());
                    self.arena.literal_from(index, 0, result, fuel)?
                }
            };
        }
        Ok(result)
    }
}
