//! What a store still needs, in a new one.
//!
//! A store only grows. When it has grown too large, a new one takes over the few expressions that are still in use, as they
//! are: what they are made of keeps its form, only the numbers are others.

use super::expression::{ExprId, Node};
use super::lexer_state::{LexerStateId, LexerStates};
use super::residual::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdMap;

/// Expressions of an old store and what they are in the new one.
pub(crate) type Carried = IdMap<ExprId, ExprId>;

impl Residuals {
    /// An expression of another store. Nothing recurses.
    pub(crate) fn carry(
        &mut self,
        from: &Self,
        root: ExprId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let mut work = vec![(root, false)];
        while let Some((id, visited)) = work.pop() {
            if carried.contains_key(&id) {
                continue;
            }
            let node = from.arena.node(id);
            if visited {
                let node = self.renumbered(from, node, carried);
                let here = self.arena.intern(node, fuel)?;
                carried.insert(id, here);
                continue;
            }
            work.push((id, true));
            let parts: &[ExprId] = match node {
                Node::Nothing | Node::Empty | Node::Class(_) => &[],
                Node::Words { table, .. } => from.arena.tables[*table as usize].tails(),
                Node::Concat(head, tail) => &[*head, *tail],
                Node::Alt(parts) | Node::And(parts) => parts,
                Node::Literal { tail: part, .. }
                | Node::Not(part)
                | Node::Repeat { inner: part, .. }
                | Node::Counter { inner: part, .. } => std::slice::from_ref(part),
            };
            work.extend(parts.iter().map(|&part| (part, false)));
        }
        Ok(carried[&root])
    }

    /// An expression of another store whose parts are in this one already.
    fn renumbered(&mut self, from: &Self, node: &Node, carried: &Carried) -> Node {
        let sorted = |parts: &[ExprId]| {
            let mut parts: Vec<ExprId> = parts.iter().map(|part| carried[part]).collect();
            parts.sort_unstable();
            parts.into()
        };
        match *node {
            Node::Nothing => Node::Nothing,
            Node::Empty => Node::Empty,
            Node::Class(set) => Node::Class(self.arena.byte_set(*from.arena.bytes(set))),
            Node::Literal { bytes, at, tail } => Node::Literal {
                bytes: self.carry_literal(from, bytes),
                at,
                tail: carried[&tail],
            },
            Node::Words {
                table,
                first,
                end,
                at,
            } => {
                let words = from.arena.tables[table as usize].iter();
                let words = words.map(|(literal, tail)| {
                    let tail = carried.get(&tail).copied();
                    (
                        self.carry_literal(from, literal),
                        tail.unwrap_or(ExprId::EMPTY),
                    )
                });
                let words = words.collect();
                Node::Words {
                    table: self.arena.intern_words(words),
                    first,
                    end,
                    at,
                }
            }
            Node::Concat(head, tail) => Node::Concat(carried[&head], carried[&tail]),
            Node::Alt(ref parts) => Node::Alt(sorted(parts)),
            Node::And(ref parts) => Node::And(sorted(parts)),
            Node::Not(inner) => Node::Not(carried[&inner]),
            Node::Repeat { inner, min, max } => Node::Repeat {
                inner: carried[&inner],
                min,
                max,
            },
            Node::Counter {
                inner,
                lower,
                upper,
                consumed,
            } => Node::Counter {
                inner: carried[&inner],
                lower,
                upper,
                consumed,
            },
        }
    }

    fn carry_literal(&mut self, from: &Self, index: u32) -> u32 {
        let bytes = &from.arena.literals[index as usize];
        self.arena.intern_literal(bytes)
    }
}

impl LexerStates {
    /// A residual of another store.
    pub(crate) fn carry_residual(
        &mut self,
        from: &Self,
        residual: ExprId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let residuals = &mut self.residuals;
        residuals.carry(&from.residuals, residual, carried, fuel)
    }

    /// A lexer state of another store.
    pub(crate) fn carry(
        &mut self,
        from: &Self,
        lexer_state: LexerStateId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        let mut parts = from.parts(lexer_state).to_vec();
        for (_, part) in &mut parts {
            *part = self.carry_residual(from, *part, carried, fuel)?;
        }
        let here = self.intern(parts);
        self.raise_margin(here, from.margin(lexer_state));
        Ok(here.with_bounds_of(lexer_state))
    }
}
