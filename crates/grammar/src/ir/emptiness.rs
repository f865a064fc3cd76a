//! Whether a grammar matches any finite string: the emptiness problem of context-free grammars, a least fixed point over
//! expressions. What `empty_regex` finds out about its regular parts is used where an answer depends on it.

use std::cell::RefCell;

use super::empty_regex::EmptinessChecks;
use super::grammar::{Expr, ExprId, Grammar, TokenSet};
use super::nodes::{Needs, Nodes};
use super::regex::{Facts, Regex};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededMap};
use crate::tuning::{MAX_EMPTINESS_DEPTH, MAX_SWEEPS, SOLVE_ALL, SOLVE_ONE, SOLVED_PER_FUEL};

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

/// Whether the form of a regular language leaves open whether it is empty.
pub(crate) fn is_doubtful(regex: &Regex) -> bool {
    let facts = Facts::of(regex);
    facts.logical && !facts.nothing
}

/// Tells which regular languages are empty, as far as the checks last.
struct Solver<'g> {
    /// Intersections and complements that were checked.
    known: SeededMap<&'g Regex, bool>,
    checks: EmptinessChecks,
}

impl<'g> Solver<'g> {
    /// Whether it is certain that a language is empty. Recursion ends at intersections and complements, and where those
    /// are too deep to be looked into.
    fn is_nothing(&mut self, regex: &'g Regex) -> bool {
        let facts = Facts::of(regex);
        if !facts.logical || facts.nothing || facts.depth > MAX_EMPTINESS_DEPTH {
            return facts.nothing;
        }
        match regex {
            Regex::Concat(parts) => parts.iter().any(|part| self.is_nothing(part)),
            Regex::Alt(parts) => parts.iter().all(|part| self.is_nothing(part)),
            Regex::Repeat { inner, min, .. } => *min > 0 && self.is_nothing(inner),
            _ => {
                if let Some(&known) = self.known.get(regex) {
                    return known;
                }
                let is_nothing = self.checks.is_nothing(regex);
                self.known.insert(regex, is_nothing);
                is_nothing
            }
        }
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
    /// Grammars in the grammar are taken to match something.
    fn swept(&self) -> Swept {
        let mut full = vec![false; self.expr_count()];
        let visible = |regex: &Regex| !is_visibly_nothing(regex);
        let mut empty = self.walked(&mut full, visible);
        let done = self.settled(&mut full, &mut empty, visible);
        Swept { full, done }
    }

    /// Looks again at what has matched nothing so far. Whether that was long enough.
    fn settled(
        &self,
        full: &mut [bool],
        empty: &mut Vec<ExprId>,
        regular: impl Fn(&Regex) -> bool,
    ) -> bool {
        for _ in 0..MAX_SWEEPS {
            let before = empty.len();
            empty.retain(|&id| {
                let at = id.0 as usize;
                full[at] = self.matches_by(id, |part| full[part.0 as usize], &regular);
                !full[at]
            });
            if empty.len() == before {
                return true;
            }
        }
        false
    }

    /// Solves intersections and complements that a rule needs to come to an end, and replaces those that are empty.
    fn solve(&mut self, fuel: &mut Fuel) -> Result<(), Error> {
        let mut ends = vec![false; self.expr_count()];
        let certain = |regex: &Regex| !is_visibly_nothing(regex) && !is_doubtful(regex);
        let mut empty = self.walked(&mut ends, certain);
        let doubtful =
            |id: ExprId| matches!(self.expr(id), Expr::Regex(regex) if is_doubtful(regex));
        if !empty.iter().any(|&id| doubtful(id)) {
            return Ok(());
        }
        self.settled(&mut ends, &mut empty, certain);
        let start = self.rule(self.start()).body;
        let mut work: Vec<ExprId> = empty
            .iter()
            .filter_map(|&id| match self.expr(id) {
                Expr::Rule(rule) => Some(self.rule(*rule).body),
                _ => None,
            })
            .chain((!ends[start.0 as usize]).then_some(start))
            .collect();
        let mut seen = vec![false; ends.len()];
        let mut solver = Solver {
            known: SeededMap::default(),
            checks: EmptinessChecks::new(SOLVE_ONE, SOLVE_ALL),
        };
        let mut nothing = Vec::new();
        while let Some(id) = work.pop() {
            let at = id.0 as usize;
            if ends[at] || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.expr(id) {
                Expr::Regex(regex) if solver.is_nothing(regex) => nothing.push(id),
                Expr::Seq(parts) | Expr::Alt(parts) => work.extend(parts.iter().copied()),
                Expr::Repeat {
                    inner, separator, ..
                } => work.extend(separator.iter().chain([inner])),
                Expr::Capture { inner, .. } => work.push(*inner),
                _ => {}
            }
        }
        let used = solver.checks.used();
        for id in nothing {
            self.replace(id, Expr::Regex(Regex::Nothing));
        }
        fuel.spend((used / SOLVED_PER_FUEL) as usize)
    }

    /// Notes what matches something by what stands below it; gives what does not, or not yet, with its parts before it.
    fn walked(&self, full: &mut [bool], regular: impl Fn(&Regex) -> bool) -> Vec<ExprId> {
        let mut empty = Vec::new();
        let mut seen = vec![false; full.len()];
        // Each with whether its parts are done.
        let mut work = vec![(self.rule(self.start()).body, false)];
        while let Some((id, done)) = work.pop() {
            let at = id.0 as usize;
            let parts = match self.expr(id) {
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
            full[at] = self.matches_by(id, |part| full[part.0 as usize], &regular);
            if !full[at] {
                empty.push(id);
            }
        }
        empty
    }

    /// Whether an expression matches something if just those of its parts do for which `has` says so, and of regular
    /// languages those for which `regular` does.
    fn matches_by(
        &self,
        id: ExprId,
        has: impl Fn(&ExprId) -> bool,
        regular: impl Fn(&Regex) -> bool,
    ) -> bool {
        match self.expr(id) {
            Expr::Empty
            | Expr::Marker(_)
            | Expr::Token(TokenSet::Text(_) | TokenSet::Except { .. })
            | Expr::Embed(_) => true,
            Expr::Regex(regex) => regular(regex),
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
        }
    }

    /// The grammar without alternatives and repetitions that never come to an end; None if nothing is left. Grammars in it
    /// must come to an end.
    ///
    /// # Errors
    /// `E-LIMIT-FUEL`.
    pub(crate) fn ending(mut self, fuel: &mut Fuel) -> Result<Option<Self>, Error> {
        self.solve(fuel)?;
        let swept = self.swept();
        let matching = (!swept.done).then(|| self.matching());
        let ends = |grammar: &Self, id: ExprId| match &matching {
            None => swept.full[id.0 as usize],
            Some(matching) => matching.any(grammar, id),
        };
        if !ends(&self, self.rule(self.start()).body) {
            return Ok(None);
        }
        let mut kept: Vec<(ExprId, Expr)> = Vec::new();
        for id in (0..self.expr_count() as u32).map(ExprId) {
            if !ends(&self, id) {
                continue;
            }
            match self.expr(id) {
                Expr::Alt(parts) if !parts.iter().all(|&part| ends(&self, part)) => {
                    let left = parts.iter().filter(|&&part| ends(&self, part));
                    kept.push((id, Expr::Alt(left.copied().collect())));
                }
                // Repeated never: what comes to an end has no other choice.
                Expr::Repeat { inner, .. } if !ends(&self, *inner) => kept.push((id, Expr::Empty)),
                _ => {}
            }
        }
        for (id, expr) in kept {
            self.replace(id, expr);
        }
        Ok(Some(self))
    }

    /// What in the grammar visibly matches a finite string. Iterative: a least fix point over expressions.
    pub(crate) fn matching(&self) -> Matching {
        self.matching_if(|_| true)
    }

    /// The same, where of the regular languages whose form leaves it open those match for which `doubtful` says so.
    pub(crate) fn matching_if(&self, doubtful: impl FnMut(&Regex) -> bool) -> Matching {
        let doubtful = RefCell::new(doubtful);
        let regular = |regex: &Regex| {
            !is_visibly_nothing(regex) && (!is_doubtful(regex) || doubtful.borrow_mut()(regex))
        };
        let nodes = Nodes::new(self, [self.rule(self.start()).body]);
        let full = nodes.least(|expr| match expr {
            Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => Needs::Impossible,
            Expr::Empty
            | Expr::Marker(_)
            | Expr::Token(TokenSet::Text(_) | TokenSet::Except { .. })
            | Expr::Repeat { min: 0, .. } => Needs::Nothing,
            Expr::Regex(regex) => Needs::if_so(regular(regex)),
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
