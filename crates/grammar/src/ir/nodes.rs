//! The expressions of a grammar and of all grammars in it as one graph, and least fixed points over it, in linear time by
//! counting what each node still needs (Dowling and Gallier, Linear-time algorithms for testing the satisfiability of
//! propositional Horn formulae, 1984). Nothing recurses.

use super::grammar::{Expr, ExprId, Grammar};
use crate::maps::IdMap;

/// What of the parts right below a node must be in a set for the node to be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// None: it is in the set.
    Nothing,
    /// All of them.
    All,
    /// One of them.
    Any,
    /// The first.
    First,
    /// Whatever is in the set, it is not.
    Impossible,
}

impl Needs {
    /// Nothing, or what cannot be.
    pub(super) fn if_so(holds: bool) -> Self {
        if holds {
            Self::Nothing
        } else {
            Self::Impossible
        }
    }
}

/// Expressions of all grammars that are reached, numbered on: those of one grammar are neighbours.
pub(super) struct Nodes<'g> {
    /// (grammar, number of its first expression), ascending.
    grammars: Vec<(&'g Grammar, usize)>,
    bases: IdMap<*const Grammar, usize>,
    count: usize,
    /// By node: where the expressions right below stand in `children`, once it is reached.
    below: Vec<Option<(usize, usize)>>,
    children: Vec<usize>,
    /// By node: the first of the links to those right above, if there is any; each link names one, and the next link.
    users: Vec<Option<usize>>,
    links: Vec<(usize, Option<usize>)>,
    /// Reached nodes, those right below after those right above; one may come more than once.
    order: Vec<usize>,
}

impl<'g> Nodes<'g> {
    /// All expressions that those of `grammar` lead to.
    pub(super) fn new(grammar: &'g Grammar, roots: impl IntoIterator<Item = ExprId>) -> Self {
        let mut nodes = Self {
            grammars: Vec::new(),
            bases: IdMap::default(),
            count: 0,
            below: Vec::new(),
            children: Vec::new(),
            users: Vec::new(),
            links: Vec::new(),
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
            let first = nodes.children.len();
            nodes.tell_children(node);
            nodes.users.resize(nodes.count, None);
            nodes.below[node] = Some((first, nodes.children.len()));
            for at in first..nodes.children.len() {
                let child = nodes.children[at];
                let link = nodes.links.len();
                let next = nodes.users[child].replace(link);
                nodes.links.push((node, next));
                nodes.order.push(child);
            }
        }
        nodes.below.resize(nodes.count, None);
        nodes.users.resize(nodes.count, None);
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
    pub(super) fn into_bases(self) -> IdMap<*const Grammar, usize> {
        self.bases
    }

    /// The expressions right below one.
    pub(super) fn below(&self, node: usize) -> &[usize] {
        self.below[node].map_or(&[], |(first, end)| &self.children[first..end])
    }

    pub(super) fn is_reached(&self, node: usize) -> bool {
        self.below[node].is_some()
    }

    /// The smallest set of nodes that holds those whose needs are in the set. Each part is counted once.
    pub(super) fn least(&self, needs: impl Fn(&Expr) -> Needs) -> Vec<bool> {
        let mut holds = vec![false; self.count];
        // By node: how many of its parts are not in the set; for the others, how many times it would have to be told.
        let mut missing = vec![usize::MAX; self.count];
        let mut work: Vec<usize> = Vec::new();
        for node in (0..self.count).filter(|&node| self.is_reached(node)) {
            missing[node] = match needs(self.expr(node)) {
                Needs::Nothing => 0,
                Needs::All => self.below(node).len(),
                Needs::Any | Needs::First => 1,
                Needs::Impossible => usize::MAX,
            };
            if missing[node] == 0 {
                work.push(node);
            }
        }
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut holds[node], true) {
                continue;
            }
            let mut link = self.users[node];
            while let Some((user, next)) = link.map(|link| self.links[link]) {
                link = next;
                let counts = match needs(self.expr(user)) {
                    Needs::First => self.below(user)[0] == node,
                    Needs::All | Needs::Any => true,
                    Needs::Nothing | Needs::Impossible => false,
                };
                if counts && missing[user] > 0 {
                    missing[user] -= 1;
                    if missing[user] == 0 {
                        work.push(user);
                    }
                }
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
        debug_assert!(node < self.count && self.grammars.first().is_some_and(|first| first.1 == 0));
        let owner = self.grammars.partition_point(|&(_, base)| base <= node) - 1;
        let (grammar, base) = self.grammars[owner];
        (grammar, base, grammar.expr(ExprId((node - base) as u32)))
    }

    /// The expression of a number.
    pub(super) fn expr(&self, node: usize) -> &'g Expr {
        self.at(node).2
    }

    fn tell_children(&mut self, node: usize) {
        let (grammar, base, expr) = self.at(node);
        let own = |id: &ExprId| base + id.0 as usize;
        match expr {
            Expr::Empty | Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => {}
            Expr::Rule(rule) => self.children.push(own(&grammar.rule(*rule).body)),
            Expr::Seq(parts) | Expr::Alt(parts) => self.children.extend(parts.iter().map(own)),
            Expr::Repeat {
                inner, separator, ..
            } => {
                let both = std::iter::once(inner).chain(separator);
                self.children.extend(both.map(own));
            }
            Expr::Capture { inner, .. } => self.children.push(own(inner)),
            Expr::Embed(inner) => {
                let start = inner.rule(inner.start()).body.0 as usize;
                let base = self.base(inner);
                self.children.push(base + start);
            }
        }
    }
}
