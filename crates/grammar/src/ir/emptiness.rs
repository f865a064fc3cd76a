//! Whether a grammar matches any finite string at all.

use rustc_hash::FxHashMap;

use super::grammar::{Expr, ExprId, Grammar, TokenSet};
use super::regex::Regex;

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
                Expr::Empty | Expr::Marker(_) | Expr::Token(TokenSet::Text(_)) => true,
                Expr::Regex(regex) => !is_nothing(regex),
                Expr::Token(TokenSet::Ids(ranges)) => !ranges.is_empty(),
                Expr::Alt(_) => below.iter().any(has),
                Expr::Repeat { min, max: Some(max), .. } if max < min => false,
                Expr::Repeat { min: 0, .. } => true,
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
    fn below<'g>(&'g self, node: Node, grammars: &mut FxHashMap<*const Self, &'g Self>) -> Vec<Node> {
        let own = |id: ExprId| (node.0, id);
        match self.expr(node.1) {
            Expr::Empty | Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => Vec::new(),
            Expr::Rule(rule) => vec![own(self.rule(*rule).body)],
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().map(|&part| own(part)).collect(),
            Expr::Repeat { inner, separator, .. } => {
                std::iter::once(*inner).chain(*separator).map(own).collect()
            }
            Expr::Capture { inner, .. } => vec![own(*inner)],
            Expr::Embed(inner) => {
                let key = std::ptr::from_ref::<Self>(inner);
                grammars.insert(key, inner);
                vec![(key, inner.rule(inner.start()).body)]
            }
        }
    }
}

/// Whether a regular language visibly matches nothing. Iterative.
fn is_nothing(regex: &Regex) -> bool {
    let mut work = vec![(regex, false)];
    let mut values: Vec<bool> = Vec::new();
    while let Some((node, visited)) = work.pop() {
        let children: &[Regex] = match node {
            Regex::Nothing => {
                values.push(true);
                continue;
            }
            Regex::Class(set) => {
                values.push(set.is_empty());
                continue;
            }
            Regex::Literal(_) | Regex::Not(_) => {
                values.push(false);
                continue;
            }
            Regex::Repeat { min: 0, max, .. } if *max != Some(0) => {
                values.push(false);
                continue;
            }
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
            Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
        };
        if !visited {
            work.push((node, true));
            work.extend(children.iter().map(|child| (child, false)));
            continue;
        }
        let inner = values.split_off(values.len() - children.len());
        values.push(match node {
            Regex::Alt(_) => inner.iter().all(|&nothing| nothing),
            Regex::Repeat { min, max, .. } if max.is_none_or(|max| max >= *min) => *min > 0 && inner[0],
            Regex::Repeat { .. } => true,
            _ => inner.contains(&true),
        });
    }
    values.pop().unwrap_or(false)
}
