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

    /// Tells the expressions right below one.
    fn below(
        &mut self,
        (grammar, base, expr): (&'g Grammar, usize, &'g Expr),
        tell: &mut dyn FnMut(usize),
    ) {
        let own = |id: ExprId| base + id.0 as usize;
        match expr {
            Expr::Empty | Expr::Regex(_) | Expr::Marker(_) | Expr::Token(_) => {}
            Expr::Rule(rule) => tell(own(grammar.rule(*rule).body)),
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().for_each(|&part| tell(own(part))),
            Expr::Repeat {
                inner, separator, ..
            } => {
                tell(own(*inner));
                separator.map(own).into_iter().for_each(tell);
            }
            Expr::Capture { inner, .. } => tell(own(*inner)),
            Expr::Embed(inner) => {
                tell(self.base(inner) + inner.rule(inner.start()).body.0 as usize);
            }
        }
    }
}

/// Of how many expressions below one it must be known that they match something before it matches something itself.
fn wanted(expr: &Expr) -> u32 {
    /// More than there are below any.
    const NEVER: u32 = u32::MAX;
    let if_any = |any: bool| if any { 0 } else { NEVER };
    match expr {
        Expr::Repeat { min, max, .. } if max.is_some_and(|max| max < *min) => NEVER,
        Expr::Empty
        | Expr::Marker(_)
        | Expr::Token(TokenSet::Text(_))
        | Expr::Repeat { min: 0, .. } => 0,
        Expr::Regex(regex) => if_any(!Facts::of(regex).nothing),
        Expr::Token(TokenSet::Ids(ranges)) => if_any(!ranges.is_empty()),
        Expr::Alt(_) | Expr::Rule(_) | Expr::Capture { .. } | Expr::Embed(_) => 1,
        Expr::Seq(parts) => parts.len() as u32,
        Expr::Repeat { min, separator, .. } => 1 + u32::from(*min > 1 && separator.is_some()),
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
        // What is below an expression, linked from there up: (whose part it is, the next link).
        let mut first: Vec<u32> = vec![NONE; nodes.count];
        let mut links: Vec<(u32, u32)> = Vec::with_capacity(nodes.count);
        let mut missing: Vec<u32> = vec![UNSEEN; nodes.count];
        let mut full = vec![false; nodes.count];
        let mut found: Vec<usize> = Vec::new();
        let mut work = vec![start];
        while let Some(node) = work.pop() {
            if missing[node] != UNSEEN {
                continue;
            }
            let place = nodes.at(node);
            let wanted = wanted(place.2);
            missing[node] = wanted.min(UNSEEN - 1);
            if wanted == 0 {
                found.push(node);
            }
            // Once a list is not empty, it does not matter what separates its items.
            let mut below = match place.2 {
                Expr::Repeat { min: 1, .. } => 1,
                _ => usize::MAX,
            };
            let waits = wanted > 0;
            let from = work.len();
            nodes.below(place, &mut |child| work.push(child));
            first.resize(nodes.count, NONE);
            missing.resize(nodes.count, UNSEEN);
            full.resize(nodes.count, false);
            for &child in &work[from..] {
                if waits && below > 0 {
                    links.push((node as u32, first[child]));
                    first[child] = links.len() as u32 - 1;
                }
                below = below.saturating_sub(1);
            }
        }
        while let Some(node) = found.pop() {
            if std::mem::replace(&mut full[node], true) {
                continue;
            }
            let mut at = first[node];
            while let Some(&(user, next)) = links.get(at as usize) {
                let missing = &mut missing[user as usize];
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    found.push(user as usize);
                }
                at = next;
            }
        }
        Matching {
            bases: nodes.bases,
            full,
        }
    }
}

/// No link.
const NONE: u32 = u32::MAX;
/// Not yet reached from the start.
const UNSEEN: u32 = u32::MAX;
