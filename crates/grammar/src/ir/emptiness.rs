//! Whether a grammar matches any finite string at all.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::grammar::{Expr, ExprId, Grammar, TokenSet};

type Node = (*const Grammar, ExprId);

impl Grammar {
    /// Whether the grammar visibly matches no finite string. Intersections and complements of regular languages are taken
    /// to match something. Iterative: a least fix point over expressions.
    #[must_use]
    pub fn is_empty_language(&self) -> bool {
        let start = (std::ptr::from_ref(self), self.rule(self.start()).body);
        let mut grammars: FxHashMap<*const Self, &Self> = FxHashMap::default();
        grammars.insert(start.0, self);
        let mut users: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        let mut children: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        let mut order = vec![start];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            if children.contains_key(&node) {
                continue;
            }
            let below = grammars[&node.0].below(node, &mut grammars);
            for &child in &below {
                users.entry(child).or_default().push(node);
                order.push(child);
            }
            children.insert(node, below);
        }
        let mut full: FxHashMap<Node, bool> = FxHashMap::default();
        let mut work: Vec<Node> = order;
        work.reverse();
        while let Some(node) = work.pop() {
            if full.contains_key(&node) {
                continue;
            }
            let has = |node: &Node| full.contains_key(node);
            let below = &children[&node];
            let matches = match grammars[&node.0].expr(node.1) {
                Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => false,
                Expr::Empty
                | Expr::Marker(_)
                | Expr::Token(TokenSet::Text(_))
                | Expr::Repeat { min: 0, .. } => true,
                Expr::Regex(regex) => !Facts::of(regex).nothing,
                Expr::Token(TokenSet::Ids(ranges)) => !ranges.is_empty(),
                Expr::Alt(_) => below.iter().any(has),
                Expr::Repeat { min: 1, .. } => has(&below[0]),
                _ => below.iter().all(has),
            };
            if matches {
                full.insert(node, true);
                work.extend(users.get(&node).into_iter().flatten());
            }
        }
        !full.contains_key(&start)
    }

    /// The expressions right below one, in this grammar or an embedded one.
    fn below<'g>(
        &'g self,
        node: Node,
        grammars: &mut FxHashMap<*const Self, &'g Self>,
    ) -> Vec<Node> {
        let own = |id: ExprId| (node.0, id);
        match self.expr(node.1) {
            Expr::Empty | Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => Vec::new(),
            Expr::Rule(rule) => vec![own(self.rule(*rule).body)],
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().map(|&part| own(part)).collect(),
            Expr::Repeat {
                inner, separator, ..
            } => std::iter::once(*inner).chain(*separator).map(own).collect(),
            Expr::Capture { inner, .. } => vec![own(*inner)],
            Expr::Embed(inner) => {
                let key = std::ptr::from_ref::<Self>(inner);
                grammars.insert(key, inner);
                vec![(key, inner.rule(inner.start()).body)]
            }
        }
    }
}
