//! Expressions of a grammar and of all grammars in it, as one graph, and fix points over it. None recurses.

use rustc_hash::FxHashMap;

use super::grammar::{Expr, ExprId, Grammar};

/// Expressions of all grammars that are reached, numbered on: those of one grammar are neighbours.
pub(super) struct Nodes<'g> {
    /// (grammar, number of its first expression), ascending.
    grammars: Vec<(&'g Grammar, usize)>,
    bases: FxHashMap<*const Grammar, usize>,
    count: usize,
    /// By node: the expressions right below, once it is reached.
    below: Vec<Option<Vec<usize>>>,
    users: Vec<Vec<usize>>,
    /// Reached nodes, those right below behind those right above; one may come more than once.
    order: Vec<usize>,
}

impl<'g> Nodes<'g> {
    /// All expressions that those of `grammar` lead to.
    pub(super) fn new(grammar: &'g Grammar, roots: impl IntoIterator<Item = ExprId>) -> Self {
        let mut nodes = Self {
            grammars: Vec::new(),
            bases: FxHashMap::default(),
            count: 0,
            below: Vec::new(),
            users: Vec::new(),
            order: Vec::new(),
        };
        let base = nodes.base(grammar);
        nodes.order = roots
            .into_iter()
            .map(|root| base + root.0 as usize)
            .collect();
        let mut next = 0;
        while let Some(&node) = nodes.order.get(next) {
            next += 1;
            nodes.below.resize(nodes.count, None);
            if nodes.below[node].is_some() {
                continue;
            }
            let children = nodes.children(node);
            nodes.users.resize(nodes.count, Vec::new());
            for &child in &children {
                nodes.users[child].push(node);
                nodes.order.push(child);
            }
            nodes.below[node] = Some(children);
        }
        nodes.below.resize(nodes.count, None);
        nodes.users.resize(nodes.count, Vec::new());
        nodes
    }

    /// How many numbers are taken.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number of an expression of the grammar that all began with.
    pub(super) fn number(expr: ExprId) -> usize {
        expr.0 as usize
    }

    /// The number of each grammar's first expression.
    pub(super) fn into_bases(self) -> FxHashMap<*const Grammar, usize> {
        self.bases
    }

    /// The expressions right below one.
    pub(super) fn below(&self, node: usize) -> &[usize] {
        self.below[node].as_deref().unwrap_or_default()
    }

    pub(super) fn is_reached(&self, node: usize) -> bool {
        self.below[node].is_some()
    }

    /// The smallest set of nodes that holds those for which `rule` says so, given what is right below and in the set.
    pub(super) fn least(
        &self,
        rule: impl Fn(&Expr, &dyn Fn(usize) -> bool, &[usize]) -> bool,
    ) -> Vec<bool> {
        let mut holds = vec![false; self.count];
        let mut work = self.order.clone();
        while let Some(node) = work.pop() {
            if holds[node] {
                continue;
            }
            let below = self.below(node);
            if rule(self.expr(node), &|node| holds[node], below) {
                holds[node] = true;
                work.extend(&self.users[node]);
            }
        }
        holds
    }

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

    /// The expression of a number.
    pub(super) fn expr(&self, node: usize) -> &'g Expr {
        self.at(node).2
    }

    fn children(&mut self, node: usize) -> Vec<usize> {
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
