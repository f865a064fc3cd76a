//! Whether a grammar matches any finite string at all.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::grammar::{Expr, ExprId, Grammar, TokenSet};
use super::nodes::Nodes;
use super::regex::Regex;

/// Whether a regular language is empty by its form. Intersections and complements are not solved here.
pub(crate) fn is_visibly_nothing(regex: &Regex) -> bool {
    Facts::of(regex).nothing
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
        !self.soon_matches() && !self.matching().any(self, self.rule(self.start()).body)
    }

    /// Whether a few sweeps over the expressions show that something matches: enough for most grammars, whose expressions
    /// stand behind their parts and before the rules that they name.
    fn soon_matches(&self) -> bool {
        const SWEEPS: usize = 6;
        let mut full = vec![false; self.expr_count()];
        let start = self.rule(self.start()).body.0 as usize;
        for sweep in 0..SWEEPS {
            for step in 0..full.len() {
                let at = if sweep % 2 == 0 {
                    step
                } else {
                    full.len() - 1 - step
                };
                if full[at] {
                    continue;
                }
                let has = |id: &ExprId| full[id.0 as usize];
                full[at] = match self.expr(ExprId(at as u32)) {
                    Expr::Empty | Expr::Marker(_) | Expr::Token(TokenSet::Text(_)) => true,
                    Expr::Regex(regex) => !is_visibly_nothing(regex),
                    Expr::Token(TokenSet::Ids(ranges)) => !ranges.is_empty(),
                    Expr::Rule(rule) => has(&self.rule(*rule).body),
                    Expr::Seq(parts) => parts.iter().all(has),
                    Expr::Alt(parts) => parts.iter().any(has),
                    Expr::Repeat {
                        inner,
                        min,
                        max,
                        separator,
                    } => {
                        max.is_none_or(|max| max >= *min)
                            && (*min == 0 || has(inner) && (*min == 1 || separator.iter().all(has)))
                    }
                    Expr::Capture { inner, .. } => has(inner),
                    Expr::Embed(_) => false,
                };
            }
            if full[start] {
                return true;
            }
        }
        false
    }

    /// The grammar without alternatives that never come to an end; None if nothing is left.
    pub(crate) fn ending(mut self) -> Option<Self> {
        let matching = self.matching();
        if !matching.any(&self, self.rule(self.start()).body) {
            return None;
        }
        let mut kept: Vec<(ExprId, Vec<ExprId>)> = Vec::new();
        for id in (0..self.expr_count() as u32).map(ExprId) {
            if let Expr::Alt(parts) = self.expr(id)
                && matching.any(&self, id)
                && !parts.iter().all(|&part| matching.any(&self, part))
            {
                let ends = parts.iter().filter(|&&part| matching.any(&self, part));
                kept.push((id, ends.copied().collect()));
            }
        }
        for (id, parts) in kept {
            self.replace(id, Expr::Alt(parts.into()));
        }
        Some(self)
    }

    /// What in the grammar visibly matches a finite string. Iterative: a least fix point over expressions.
    pub(crate) fn matching(&self) -> Matching {
        let nodes = Nodes::new(self, [self.rule(self.start()).body]);
        let full = nodes.least(|expr, has, below| match expr {
            Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => false,
            Expr::Empty
            | Expr::Marker(_)
            | Expr::Token(TokenSet::Text(_))
            | Expr::Repeat { min: 0, .. } => true,
            Expr::Regex(regex) => !is_visibly_nothing(regex),
            Expr::Token(TokenSet::Ids(ranges)) => !ranges.is_empty(),
            Expr::Alt(_) => below.iter().any(|&node| has(node)),
            Expr::Repeat { min: 1, .. } => has(below[0]),
            _ => below.iter().all(|&node| has(node)),
        });
        Matching {
            bases: nodes.into_bases(),
            full,
        }
    }
}
