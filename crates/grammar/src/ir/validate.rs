//! What is wrong with rules as they are written: those that can never write their first byte, and those that stand for
//! themselves.

use super::circles::{circles, components};
use super::grammar::{Expr, ExprId, Grammar, RuleId};
use super::nodes::Nodes;
use super::regex::Regex;

/// What is found in the rules of one grammar.
pub(crate) struct Findings {
    /// A rule of which every alternative leads back to it before anything is written. `B ::= 'a' B` is none: it never ends,
    /// but every beginning of its text can go on.
    pub(crate) stuck: Option<RuleId>,
    /// The first rule of each circle of rules that stand for each other without a byte of text.
    pub(crate) circles: Vec<RuleId>,
}

/// Expressions from which text can be written, to an end or for ever. What matches nothing at all by itself counts as one
/// from which it can: that is what somebody said on purpose.
pub(crate) struct Productive(Vec<bool>);

impl Productive {
    /// Whether it can, for an expression that some rule of the grammar leads to.
    pub(crate) fn any(&self, expr: ExprId) -> bool {
        self.0[Nodes::number(expr)]
    }
}

impl Grammar {
    /// Which expressions of the grammar are productive.
    pub(crate) fn productive(&self) -> Productive {
        Productive(self.productive_edges().0)
    }

    /// Looks for what is wrong with the rules.
    pub(crate) fn findings(&self) -> Findings {
        let (productive, edges) = self.productive_edges();
        let bodies: Vec<usize> = self
            .rules()
            .iter()
            .map(|rule| Nodes::number(rule.body))
            .collect();
        let in_circle = circles(&edges);
        let stuck = |circle: bool| {
            bodies
                .iter()
                .position(|&body| !productive[body] && (!circle || in_circle[body].is_some()))
        };
        let stuck = stuck(true).or_else(|| stuck(false));
        let alone = circles(&self.empty_edges());
        let mut met = rustc_hash::FxHashSet::default();
        let circles = bodies
            .iter()
            .enumerate()
            .filter(|&(_, &body)| alone[body].is_some_and(|circle| met.insert(circle)))
            .map(|(rule, _)| RuleId(rule as u32))
            .collect();
        Findings {
            stuck: stuck.map(|rule| RuleId(rule as u32)),
            circles,
        }
    }

    fn nodes(&self) -> Nodes<'_> {
        Nodes::new(self, self.rules().iter().map(|rule| rule.body))
    }

    /// What is productive; and from what has no end, where its first part without an end lies.
    fn productive_edges(&self) -> (Vec<bool>, Vec<Vec<u32>>) {
        let nodes = self.nodes();
        let finite = nodes.least(|expr, has, below| match expr {
            Expr::Alt(parts) => parts.is_empty() || below.iter().any(|&node| has(node)),
            Expr::Repeat { min: 0, .. } => true,
            Expr::Repeat { min: 1, .. } => has(below[0]),
            Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => true,
            _ => below.iter().all(|&node| has(node)),
        });
        let writes = nodes.least(|expr, has, below| match expr {
            Expr::Regex(Regex::Literal(bytes)) => !bytes.is_empty(),
            Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => true,
            _ => below.iter().any(|&node| has(node)),
        });
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        // Edges before which something may be written.
        let mut written: Vec<(usize, usize)> = Vec::new();
        for node in (0..nodes.len()).filter(|&node| nodes.is_reached(node) && !finite[node]) {
            let below = nodes.below(node);
            if let Expr::Alt(_) = nodes.expr(node) {
                edges[node].extend(below.iter().map(|&to| to as u32));
                continue;
            }
            let mut before = false;
            for &to in below {
                if !finite[to] {
                    edges[node].push(to as u32);
                    if before {
                        written.push((node, to));
                    }
                    break;
                }
                before |= writes[to];
            }
        }
        let components = components(&edges);
        let mut productive = finite;
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (from, targets) in edges.iter().enumerate() {
            for &to in targets {
                sources[to as usize].push(from);
            }
        }
        let mut work: Vec<usize> = written
            .into_iter()
            .filter(|&(from, to)| components[from] == components[to])
            .map(|(from, _)| from)
            .collect();
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut productive[node], true) {
                work.extend(&sources[node]);
            }
        }
        (productive, edges)
    }

    /// From each expression to the parts that it may stand for alone, all others being empty.
    fn empty_edges(&self) -> Vec<Vec<u32>> {
        let nodes = self.nodes();
        let nullable = nodes.least(|expr, has, below| match expr {
            Expr::Regex(regex) => regex.is_nullable(),
            Expr::Marker(_) | Expr::Token(_) => false,
            Expr::Alt(_) => below.iter().any(|&node| has(node)),
            Expr::Repeat { min: 0, .. } => true,
            Expr::Repeat { min: 1, .. } => has(below[0]),
            _ => below.iter().all(|&node| has(node)),
        });
        let mut edges: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
        for node in (0..nodes.len()).filter(|&node| nodes.is_reached(node)) {
            let below = nodes.below(node);
            let others_empty = |at: usize| {
                let mut others = below.iter().enumerate();
                others.all(|(other, &to)| other == at || nullable[to])
            };
            for (at, &to) in below.iter().enumerate() {
                let alone = match nodes.expr(node) {
                    Expr::Alt(_) => true,
                    Expr::Repeat { min, .. } if at == 0 => {
                        *min <= 1 || below.iter().all(|&to| nullable[to])
                    }
                    Expr::Repeat { .. } => nullable[below[0]],
                    _ => others_empty(at),
                };
                if alone {
                    edges[node].push(to as u32);
                }
            }
        }
        edges
    }
}
