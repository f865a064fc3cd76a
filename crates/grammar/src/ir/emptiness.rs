//! Whether a grammar matches any finite string at all.

use super::facts::Facts;
use super::grammar::{Expr, ExprId, ExprIds, Grammar, TokenSet};
use super::nodes::{Needs, Nodes};
use super::regex::Regex;
use crate::maps::IdMap;

/// Whether a regular language is empty by its form. Intersections and complements are not solved here.
pub(crate) fn is_visibly_nothing(regex: &Regex) -> bool {
    Facts::of(regex).nothing
}

/// Which expressions of a grammar and of all grammars in it match a finite string.
pub(crate) struct Matching {
    bases: IdMap<*const Grammar, usize>,
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

/// What a walk over the expressions of one grammar shows.
struct Swept {
    /// By expression: whether it is known to match something.
    full: Vec<bool>,
    /// Whether all others that the start rule leads to match nothing.
    done: bool,
}

impl Grammar {
    /// Walks over all that the start rule leads to, what an expression is made of before it; then looks again at what has
    /// matched nothing so far, until nothing changes or it takes too long: only recursion leaves anything to look at.
    /// Grammars in the grammar are not looked into.
    fn swept(&self) -> Swept {
        const SWEEPS: usize = 6;
        let mut full = vec![false; self.expr_count()];
        let Some(mut empty) = self.walked(&mut full) else {
            return Swept { full, done: false };
        };
        for _ in 0..SWEEPS {
            let before = empty.len();
            empty.retain(|&id| {
                let at = id.0 as usize;
                full[at] = self.matches_by(id, |part| full[part.0 as usize]);
                !full[at]
            });
            if empty.len() == before {
                return Swept { full, done: true };
            }
        }
        Swept { full, done: false }
    }

    /// Notes what matches something by what stands below it; what does not, or not yet, with its parts before it. None
    /// where there is a grammar in the grammar.
    fn walked(&self, full: &mut [bool]) -> Option<Vec<ExprId>> {
        let mut empty = Vec::new();
        let mut seen = vec![false; full.len()];
        // Each with whether its parts are done.
        let mut work = vec![(self.rule(self.start()).body, false)];
        while let Some((id, done)) = work.pop() {
            let at = id.0 as usize;
            let parts = match self.expr(id) {
                Expr::Embed(_) => return None,
                Expr::Rule(rule) => std::slice::from_ref(&self.rule(*rule).body),
                Expr::Seq(parts) | Expr::Alt(parts) => parts,
                Expr::Repeat { inner, .. } | Expr::Capture { inner, .. } => {
                    std::slice::from_ref(inner)
                }
                _ => &[],
            };
            if !done && std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if !done && !parts.is_empty() {
                work.push((id, true));
                let separator = match self.expr(id) {
                    Expr::Repeat { separator, .. } => separator.as_ref(),
                    _ => None,
                };
                let others = parts.iter().chain(separator);
                let new = others.filter(|part| !seen[part.0 as usize]);
                work.extend(new.map(|&part| (part, false)));
                continue;
            }
            full[at] = self.matches_by(id, |part| full[part.0 as usize]);
            if !full[at] {
                empty.push(id);
            }
        }
        Some(empty)
    }

    /// Whether an expression matches something if just those of its parts do for which `has` says so.
    fn matches_by(&self, id: ExprId, has: impl Fn(&ExprId) -> bool) -> bool {
        match self.expr(id) {
            Expr::Empty
            | Expr::Marker(_)
            | Expr::Token(TokenSet::Text(_) | TokenSet::Except { .. }) => true,
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
        }
    }

    /// The grammar without alternatives that never come to an end; None if nothing is left.
    pub(crate) fn ending(mut self) -> Option<Self> {
        let swept = self.swept();
        let matching = (!swept.done).then(|| self.matching());
        let ends = |grammar: &Self, id: ExprId| match &matching {
            None => swept.full[id.0 as usize],
            Some(matching) => matching.any(grammar, id),
        };
        if !ends(&self, self.rule(self.start()).body) {
            return None;
        }
        let mut kept: Vec<(ExprId, ExprIds)> = Vec::new();
        for id in (0..self.expr_count() as u32).map(ExprId) {
            if let Expr::Alt(parts) = self.expr(id)
                && ends(&self, id)
                && !parts.iter().all(|&part| ends(&self, part))
            {
                let left = parts.iter().filter(|&&part| ends(&self, part));
                kept.push((id, left.copied().collect()));
            }
        }
        for (id, parts) in kept {
            self.replace(id, Expr::Alt(parts));
        }
        Some(self)
    }

    /// What in the grammar visibly matches a finite string. Iterative: a least fix point over expressions.
    pub(crate) fn matching(&self) -> Matching {
        let nodes = Nodes::new(self, [self.rule(self.start()).body]);
        let full = nodes.least(|expr| match expr {
            Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => Needs::Impossible,
            Expr::Empty
            | Expr::Marker(_)
            | Expr::Token(TokenSet::Text(_) | TokenSet::Except { .. })
            | Expr::Repeat { min: 0, .. } => Needs::Nothing,
            Expr::Regex(regex) => Needs::if_so(!is_visibly_nothing(regex)),
            Expr::Token(TokenSet::Ids(ranges)) => Needs::if_so(!ranges.is_empty()),
            Expr::Alt(_) => Needs::Any,
            Expr::Repeat { min: 1, .. } => Needs::First,
            _ => Needs::All,
        });
        Matching {
            bases: nodes.into_bases(),
            full,
        }
    }
}
