//! Mistakes in rules as they are written: rules that can never write their first byte, and rules that derive themselves.
//! Both are cycles, so they are found as strongly connected components.

use super::grammar::{Expr, ExprId, Grammar, RuleId};
use super::nodes::{Needs, Nodes};
use super::regex::Regex;
use super::scc::{Lists, components, cyclic};

/// What is found in the rules of one grammar.
pub(crate) struct Findings {
    /// Rules of which every alternative leads back to them before anything is written. `B ::= 'a' B` is none: it never
    /// ends, but every beginning of its text can go on. Without such a rule, those that can write nothing else either.
    pub(crate) stuck: Vec<RuleId>,
    /// Whether no text of the start rule has an end.
    pub(crate) is_endless: bool,
    /// The first rule of each cycle of rules that stand for each other without a byte of text.
    pub(crate) cycles: Vec<RuleId>,
}

/// Expressions from which text can be written, to an end or for ever. An expression that is empty by itself counts as
/// productive, since it was written on purpose.
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
        Productive(self.productive_edges().1)
    }

    /// Looks for what is wrong with the rules.
    pub(crate) fn findings(&self) -> Findings {
        let (finite, productive, edges) = self.productive_edges();
        let bodies: Vec<usize> = self
            .rules()
            .iter()
            .map(|rule| Nodes::number(rule.body))
            .collect();
        let in_cycle = cyclic(&edges);
        let stuck = |cycle: bool| -> Vec<RuleId> {
            let rules = bodies.iter().enumerate();
            rules
                .filter(|&(_, &body)| !productive[body] && (!cycle || in_cycle[body].is_some()))
                .map(|(rule, _)| RuleId(rule as u32))
                .collect()
        };
        let mut all_stuck = stuck(true);
        if all_stuck.is_empty() {
            all_stuck = stuck(false);
        }
        let start = bodies[self.start().0 as usize];
        let alone = cyclic(&self.empty_edges());
        let mut met = crate::maps::IdSet::default();
        let cycles = bodies
            .iter()
            .enumerate()
            .filter(|&(_, &body)| alone[body].is_some_and(|cycle| met.insert(cycle)))
            .map(|(rule, _)| RuleId(rule as u32))
            .collect();
        Findings {
            stuck: all_stuck,
            is_endless: productive[start] && !finite[start],
            cycles,
        }
    }

    fn nodes(&self) -> Nodes<'_> {
        Nodes::new(self, self.rules().iter().map(|rule| rule.body))
    }

    /// What has an end; what is productive; and from what has no end, where its first part without an end lies.
    fn productive_edges(&self) -> (Vec<bool>, Vec<bool>, Lists) {
        let nodes = self.nodes();
        let finite = nodes.least(|expr| match expr {
            Expr::Alt(parts) if !parts.is_empty() => Needs::Any,
            Expr::Repeat { min: 1, .. } => Needs::First,
            Expr::Alt(_) | Expr::Repeat { min: 0, .. } => Needs::Nothing,
            Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => Needs::Nothing,
            _ => Needs::All,
        });
        let writes = nodes.least(|expr| match expr {
            Expr::Regex(Regex::Literal(bytes)) => Needs::if_so(!bytes.is_empty()),
            Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => Needs::Nothing,
            _ => Needs::Any,
        });
        // (from, to, whether something may be written before)
        let mut edges: Vec<(u32, u32, bool)> = Vec::new();
        for node in (0..nodes.len()).filter(|&node| nodes.is_reached(node) && !finite[node]) {
            let below = nodes.below(node);
            if let Expr::Alt(_) = nodes.expr(node) {
                edges.extend(below.iter().map(|&to| (node as u32, to as u32, false)));
                continue;
            }
            let mut before = false;
            for &to in below {
                if !finite[to] {
                    edges.push((node as u32, to as u32, before));
                    break;
                }
                before |= writes[to];
            }
        }
        let list = |backwards: bool| {
            Lists::new(nodes.len(), |tell| {
                for &(from, to, _) in &edges {
                    if backwards {
                        tell(to, from);
                    } else {
                        tell(from, to);
                    }
                }
            })
        };
        let (targets, sources) = (list(false), list(true));
        let components = components(&targets);
        let mut productive = finite.clone();
        let on_cycle = |from: u32, to: u32| components[from as usize] == components[to as usize];
        let mut work: Vec<u32> = edges
            .iter()
            .filter(|&&(from, to, written)| written && on_cycle(from, to))
            .map(|&(from, ..)| from)
            .collect();
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut productive[node as usize], true) {
                work.extend(sources.of(node));
            }
        }
        (finite, productive, targets)
    }

    /// From each expression to the parts that it may stand for alone, all others being empty.
    fn empty_edges(&self) -> Lists {
        let nodes = self.nodes();
        let nullable = nodes.least(|expr| match expr {
            Expr::Regex(regex) => Needs::if_so(regex.is_nullable()),
            Expr::Marker(_) | Expr::Token(_) => Needs::Impossible,
            Expr::Alt(_) => Needs::Any,
            Expr::Repeat { min: 0, .. } => Needs::Nothing,
            Expr::Repeat { min: 1, .. } => Needs::First,
            _ => Needs::All,
        });
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for node in (0..nodes.len()).filter(|&node| nodes.is_reached(node)) {
            let below = nodes.below(node);
            // Two that are not empty are never alone.
            let mut full = below.iter().filter(|&&to| !nullable[to]);
            let (full, more) = (full.next(), full.next().is_some());
            for (at, &to) in below.iter().enumerate() {
                let alone = match nodes.expr(node) {
                    Expr::Alt(_) => true,
                    Expr::Repeat { min, .. } if at == 0 => *min <= 1 || full.is_none(),
                    Expr::Repeat { .. } => nullable[below[0]],
                    _ => !more && full.is_none_or(|&full| full == to),
                };
                if alone {
                    edges.push((node as u32, to as u32));
                }
            }
        }
        Lists::new(nodes.len(), |tell| {
            for &(from, to) in &edges {
                tell(from, to);
            }
        })
    }
}
