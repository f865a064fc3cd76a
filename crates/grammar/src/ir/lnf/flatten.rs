//! Pass 1: expressions become productions. Embedded grammars, groups and alternatives become nonterminals; each
//! grammar, rule and expression does so once, however often it is used. A labelled part becomes a nonterminal of its own.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::draft::{Draft, Name, Rhs};
use super::form::{NonterminalId, Symbol};
use super::repeat::{self, Counted};
use crate::error::Error;
use crate::ir::grammar::{Expr, ExprId, Grammar, RuleId};
use crate::ir::regex::Regex;
use crate::maps::IdMap;
use crate::tuning::REPEATED_WEIGHT;

/// What became of the rules and expressions of one grammar, by their numbers.
struct Owner<'g> {
    grammar: &'g Grammar,
    rules: Vec<Option<NonterminalId>>,
    exprs: Vec<Option<NonterminalId>>,
    /// Expressions that stand in more than one place.
    shared: Vec<bool>,
}

impl<'g> Owner<'g> {
    fn new(grammar: &'g Grammar) -> Self {
        let count = grammar.expr_count();
        let mut seen = vec![false; count];
        let mut shared = vec![false; count];
        let mut see = |id: &ExprId| {
            let at = id.0 as usize;
            shared[at] |= std::mem::replace(&mut seen[at], true);
        };
        for index in 0..count {
            match grammar.expr(ExprId(index as u32)) {
                Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().for_each(&mut see),
                Expr::Repeat {
                    inner, separator, ..
                } => std::iter::once(inner).chain(separator).for_each(&mut see),
                Expr::Capture { inner, .. } => see(inner),
                _ => {}
            }
        }
        for rule in grammar.rules() {
            see(&rule.body);
        }
        Self {
            grammar,
            rules: vec![None; grammar.rules().len()],
            exprs: vec![None; count],
            shared,
        }
    }
}

struct Flattener<'g> {
    draft: Draft,
    owners: Vec<Owner<'g>>,
    owner_ids: IdMap<*const Grammar, usize>,
    work: Vec<(NonterminalId, usize, ExprId)>,
    /// Work space of `symbols`.
    parts: Vec<ExprId>,
}

/// Flattens `grammar` into an empty `draft`.
pub(super) fn run(grammar: &Grammar, draft: Draft) -> Result<Draft, Error> {
    let mut flattener = Flattener {
        draft,
        owners: Vec::new(),
        owner_ids: IdMap::default(),
        work: Vec::new(),
        parts: Vec::new(),
    };
    let root = flattener.grammar(grammar);
    flattener.draft.start = flattener.rule(root, grammar.start())?;
    while let Some((lhs, owner, expr)) = flattener.work.pop() {
        flattener.define(lhs, owner, expr)?;
    }
    Ok(flattener.draft)
}

impl<'g> Flattener<'g> {
    fn grammar(&mut self, grammar: &'g Grammar) -> usize {
        let next = self.owners.len();
        let id = *self
            .owner_ids
            .entry(std::ptr::from_ref(grammar))
            .or_insert(next);
        if id == next {
            self.owners.push(Owner::new(grammar));
        }
        id
    }

    fn rule(&mut self, owner: usize, rule: RuleId) -> Result<NonterminalId, Error> {
        let Owner { grammar, rules, .. } = &mut self.owners[owner];
        let known = &mut rules[rule.0 as usize];
        if let Some(id) = *known {
            return Ok(id);
        }
        let rule = grammar.rule(rule);
        let id = self.draft.nonterminal(Name::of(&rule.name))?;
        *known = Some(id);
        self.work.push((id, owner, rule.body));
        Ok(id)
    }

    /// A nonterminal for an expression inside the rule that is called `within`.
    fn group(
        &mut self,
        owner: usize,
        expr: ExprId,
        within: NonterminalId,
    ) -> Result<Symbol, Error> {
        let known = &mut self.owners[owner].exprs[expr.0 as usize];
        let id = if let Some(id) = *known {
            id
        } else {
            let name = self.draft.names[within.0 as usize].part();
            let id = self.draft.nonterminal(name)?;
            *known = Some(id);
            self.work.push((id, owner, expr));
            id
        };
        Ok(Symbol::Nonterminal(id))
    }

    /// Adds the productions of `lhs ::= expr`.
    fn define(&mut self, lhs: NonterminalId, owner: usize, expr: ExprId) -> Result<(), Error> {
        let grammar = self.owners[owner].grammar;
        match grammar.expr(expr) {
            Expr::Alt(parts) => {
                // Alternatives among alternatives are alternatives.
                let mut work: SmallVec<[ExprId; 8]> = parts.iter().rev().copied().collect();
                while let Some(part) = work.pop() {
                    if let Expr::Alt(inner) = grammar.expr(part)
                        && !self.owners[owner].shared[part.0 as usize]
                    {
                        self.draft.spend(1)?;
                        work.extend(inner.iter().rev().copied());
                        continue;
                    }
                    let mut rhs = Rhs::new();
                    self.symbols(owner, &[part], lhs, &mut rhs)?;
                    self.draft.add(lhs, rhs)?;
                }
            }
            &Expr::Repeat {
                inner,
                min,
                max,
                separator,
            } => {
                let mut item = Rhs::new();
                if separator.is_some()
                    && matches!(grammar.expr(inner), Expr::Regex(regex) if regex.weight() > REPEATED_WEIGHT)
                {
                    // Terminals would be copied.
                    item.push(self.group(owner, inner, lhs)?);
                } else {
                    self.symbol(owner, inner, lhs, &mut item)?;
                }
                let mut between = Rhs::new();
                if let Some(separator) = separator {
                    self.symbol(owner, separator, lhs, &mut between)?;
                }
                if let Some(regex) = self.regular_repeat(&item, &between, min, max) {
                    let rhs = smallvec![self.draft.regex(regex)];
                    self.draft.add(lhs, rhs)?;
                } else {
                    repeat::expand(
                        &mut self.draft,
                        lhs,
                        &Counted {
                            item,
                            between,
                            min,
                            max,
                        },
                    )?;
                }
            }
            Expr::Seq(parts) => {
                let mut rhs = Rhs::new();
                self.symbols(owner, parts, lhs, &mut rhs)?;
                self.draft.add(lhs, rhs)?;
            }
            Expr::Capture { label, inner } => {
                self.draft.labels.insert(lhs, Arc::clone(label));
                let mut rhs = Rhs::new();
                self.symbols(owner, &[*inner], lhs, &mut rhs)?;
                self.draft.add(lhs, rhs)?;
            }
            _ => {
                let mut rhs = Rhs::new();
                self.symbol(owner, expr, lhs, &mut rhs)?;
                self.draft.add(lhs, rhs)?;
            }
        }
        Ok(())
    }

    /// Appends what stands for the expressions on a right-hand side; sequences that stand nowhere else part by part.
    fn symbols(
        &mut self,
        owner: usize,
        parts: &[ExprId],
        lhs: NonterminalId,
        out: &mut Rhs,
    ) -> Result<(), Error> {
        let grammar = self.owners[owner].grammar;
        let mut work = std::mem::take(&mut self.parts);
        work.clear();
        work.extend(parts.iter().rev());
        while let Some(expr) = work.pop() {
            match grammar.expr(expr) {
                Expr::Seq(parts) if !self.owners[owner].shared[expr.0 as usize] => {
                    self.draft.spend(1)?;
                    work.extend(parts.iter().rev());
                }
                _ => self.symbol(owner, expr, lhs, out)?,
            }
        }
        self.parts = work;
        Ok(())
    }

    /// Appends what stands for `expr` on a right-hand side: nothing for the empty string, else one symbol.
    fn symbol(
        &mut self,
        owner: usize,
        expr: ExprId,
        lhs: NonterminalId,
        out: &mut Rhs,
    ) -> Result<(), Error> {
        let grammar = self.owners[owner].grammar;
        let symbol = match grammar.expr(expr) {
            Expr::Empty => return Ok(()),
            Expr::Regex(Regex::Literal(bytes)) if bytes.is_empty() => return Ok(()),
            Expr::Regex(regex) => self.draft.regex(regex.clone()),
            Expr::Rule(rule) => Symbol::Nonterminal(self.rule(owner, *rule)?),
            Expr::Marker(text) => self.draft.marker(text),
            Expr::Token(token) => self.draft.token(token),
            Expr::Seq(_) | Expr::Alt(_) | Expr::Repeat { .. } | Expr::Capture { .. } => {
                self.group(owner, expr, lhs)?
            }
            Expr::Embed(inner) => {
                let inner_owner = self.grammar(inner);
                Symbol::Nonterminal(self.rule(inner_owner, inner.start())?)
            }
        };
        out.push(symbol);
        Ok(())
    }

    /// A repetition of one regular language stays one terminal.
    fn regular_repeat(
        &self,
        item: &[Symbol],
        between: &[Symbol],
        min: u32,
        max: Option<u32>,
    ) -> Option<Regex> {
        let [Symbol::Regex(item)] = *item else {
            return None;
        };
        let item = self.draft.regex_of(item).clone();
        let separator = match *between {
            [] => return Some(Regex::repeat(item, min, max)),
            [Symbol::Regex(separator)] => self.draft.regex_of(separator).clone(),
            _ => return None,
        };
        if max == Some(0) {
            return Some(if min == 0 {
                Regex::empty()
            } else {
                Regex::Nothing
            });
        }
        let more = Regex::concat(vec![separator, item.clone()]);
        let rest = Regex::repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
        let some = Regex::concat(vec![item, rest]);
        Some(if min == 0 {
            Regex::alt(vec![Regex::empty(), some])
        } else {
            some
        })
    }
}
