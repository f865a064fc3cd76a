//! Whether a grammar matches any finite string at all.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::grammar::{Expr, ExprId, Grammar, TokenSet};

/// Expressions of all grammars that are reached, numbered on: those of one grammar are neighbours.
struct Nodes<'g> {
    /// (grammar, number of its first expression), ascending.
    grammars: Vec<(&'g Grammar, usize)>,
    bases: FxHashMap<*const Grammar, usize>,
    count: usize,
}

impl<'g> Nodes<'g> {
    /// The number of the grammar's first expression.
    fn base(&mut self, grammar: &'g Grammar) -> usize {
        let next = self.count;
        let base = *self
            .bases
            .entry(std::ptr::from_ref(grammar))
            .or_insert(next);
        if base == next {
            self.grammars.push((grammar, base));
            self.count += grammar.expr_count();
        }
        base
    }

    fn at(&self, node: usize) -> (&'g Grammar, usize, &'g Expr) {
        let owner = self.grammars.partition_point(|&(_, base)| base <= node) - 1;
        let (grammar, base) = self.grammars[owner];
        (grammar, base, grammar.expr(ExprId((node - base) as u32)))
    }

    /// The expressions right below one.
    fn below(&mut self, node: usize) -> Vec<usize> {
        let (grammar, base, expr) = self.at(node);
        let own = |id: ExprId| base + id.0 as usize;
        match expr {
            Expr::Empty | Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => Vec::new(),
            Expr::Rule(rule) => vec![own(grammar.rule(*rule).body)],
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().map(|&part| own(part)).collect(),
            Expr::Repeat {
                inner, separator, ..
            } => std::iter::once(*inner).chain(*separator).map(own).collect(),
            Expr::Capture { inner, .. } => vec![own(*inner)],
            Expr::Embed(inner) => {
                vec![self.base(inner) + inner.rule(inner.start()).body.0 as usize]
            }
        }
    }
}

/// Which expressions of a grammar and of all grammars in it match a finite string.
pub(crate) struct Matching {
    bases: FxHashMap<*const Grammar, usize>,
    full: Vec<bool>,
}

impl Matching {
    /// Whether an expression that the start rule leads to matches something.
    pub(crate) fn any(&self, grammar: &Grammar, expr: ExprId) -> bool {
        let base = self.bases.get(&std::ptr::from_ref(grammar));
        base.and_then(|base| self.full.get(base + expr.0 as usize))
            .copied()
            .unwrap_or(false)
    }
}

impl Grammar {
    /// Whether the grammar visibly matches no finite string. Intersections and complements of regular languages are taken
    /// to match something.
    #[must_use]
    pub fn is_empty_language(&self) -> bool {
        !self.matching().any(self, self.rule(self.start()).body)
    }

    /// What in the grammar visibly matches a finite string. Iterative: a least fix point over expressions.
    pub(crate) fn matching(&self) -> Matching {
        let mut nodes = Nodes {
            grammars: Vec::new(),
            bases: FxHashMap::default(),
            count: 0,
        };
        let start = nodes.base(self) + self.rule(self.start()).body.0 as usize;
        let mut below: Vec<Option<Vec<usize>>> = Vec::new();
        let mut users: Vec<Vec<usize>> = Vec::new();
        let mut order = vec![start];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            below.resize(nodes.count, None);
            if below[node].is_some() {
                continue;
            }
            let children = nodes.below(node);
            users.resize(nodes.count, Vec::new());
            for &child in &children {
                users[child].push(node);
                order.push(child);
            }
            below[node] = Some(children);
        }
        let mut full = vec![false; nodes.count];
        let mut work = order;
        while let Some(node) = work.pop() {
            if full[node] {
                continue;
            }
            let has = |node: &usize| full[*node];
            let children = below[node].as_deref().unwrap_or_default();
            let matches = match nodes.at(node).2 {
                Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => false,
                Expr::Empty
                | Expr::Marker(_)
                | Expr::Token(TokenSet::Text(_))
                | Expr::Repeat { min: 0, .. } => true,
                Expr::Regex(regex) => !Facts::of(regex).nothing,
                Expr::Token(TokenSet::Ids(ranges)) => !ranges.is_empty(),
                Expr::Alt(_) => children.iter().any(has),
                Expr::Repeat { min: 1, .. } => has(&children[0]),
                _ => children.iter().all(has),
            };
            if matches {
                full[node] = true;
                work.extend(&users[node]);
            }
        }
        Matching {
            bases: nodes.bases,
            full,
        }
    }
}
