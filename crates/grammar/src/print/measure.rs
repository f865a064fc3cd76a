//! What an expression is before it is printed: how large, how often it is copied by a reader that expands repetitions, and
//! whether it is regular or a single character.

use crate::ir::{Expr, ExprId, Grammar, Regex};
use crate::tuning::{MAX_COUNTED_COPIES, NAMED_WEIGHT};

/// Whether an expression is better named than written twice: by its weight as it would be written, in which the item of a
/// repetition with a separator stands twice.
pub(super) fn is_long(grammar: &Grammar, root: ExprId) -> bool {
    // Each with how often it is written.
    let mut work = vec![(root, 1usize)];
    let mut weight = 0usize;
    while let Some((id, times)) = work.pop() {
        let own = match grammar.expr(id) {
            Expr::Regex(regex) => 1 + regex.weight() as usize,
            _ => 1,
        };
        weight = weight.saturating_add(own.saturating_mul(times));
        if weight > NAMED_WEIGHT {
            return true;
        }
        match grammar.expr(id) {
            Expr::Seq(parts) | Expr::Alt(parts) => {
                work.extend(parts.iter().map(|&part| (part, times)));
            }
            Expr::Repeat {
                inner,
                separator: Some(separator),
                ..
            } => work.extend([(*inner, times.saturating_mul(2)), (*separator, times)]),
            Expr::Repeat { inner, .. } | Expr::Capture { inner, .. } => work.push((*inner, times)),
            Expr::Empty
            | Expr::Regex(_)
            | Expr::Rule(_)
            | Expr::Embed(_)
            | Expr::Marker(_)
            | Expr::Token(_) => {}
        }
    }
    false
}

/// Whether a reader that expands repetitions makes `most` copies or more of something that holds `inside` copies.
pub(super) fn is_large(inside: u32, min: u32, max: Option<u32>, most: u32) -> bool {
    let count = max.unwrap_or(min).max(1);
    // A star, plus or question mark copies nothing.
    count > 1 && inside.saturating_mul(count) >= most
}

/// How many copies a reader makes that expands the repetitions of an expression, or more; saturating. What rules stand for
/// is not copied.
pub(super) fn copies_of(grammar: &Grammar, root: ExprId) -> u32 {
    let mut work = vec![root];
    let mut count = 0u32;
    while let Some(id) = work.pop() {
        count = count.saturating_add(1);
        match grammar.expr(id) {
            Expr::Regex(regex) => count = count.saturating_add(copies(regex)),
            Expr::Seq(parts) | Expr::Alt(parts) => work.extend(parts.iter()),
            Expr::Repeat {
                inner,
                separator,
                min,
                max,
            } => {
                count = count.saturating_add(max.unwrap_or(*min));
                work.extend(std::iter::once(inner).chain(separator));
            }
            Expr::Capture { inner, .. } => work.push(*inner),
            Expr::Empty | Expr::Rule(_) | Expr::Embed(_) | Expr::Marker(_) | Expr::Token(_) => {}
        }
        if count >= MAX_COUNTED_COPIES {
            return MAX_COUNTED_COPIES;
        }
    }
    count
}

/// The same for a regular language.
pub(super) fn copies(regex: &Regex) -> u32 {
    let mut work = vec![regex];
    let mut count = 0u32;
    while let Some(node) = work.pop() {
        count = count.saturating_add(1);
        match node {
            Regex::Concat(parts) | Regex::Alt(parts) => work.extend(&**parts),
            Regex::Repeat { inner, min, max } => {
                count = count.saturating_add(max.unwrap_or(*min));
                work.push(inner);
            }
            Regex::Nothing
            | Regex::Class(_)
            | Regex::Literal(_)
            | Regex::And(_)
            | Regex::Not(_) => {}
        }
        if count >= MAX_COUNTED_COPIES {
            return MAX_COUNTED_COPIES;
        }
    }
    count
}

/// A sequence or choice of regular languages as one. Recursion follows the nesting, and ends where that is deep.
pub(super) fn regular(grammar: &Grammar, id: ExprId) -> Option<Regex> {
    fn joined(grammar: &Grammar, id: ExprId, depth: u32) -> Option<Regex> {
        let all = |parts: &[ExprId]| -> Option<Vec<Regex>> {
            let below = depth.checked_sub(1)?;
            parts
                .iter()
                .map(|&part| joined(grammar, part, below))
                .collect()
        };
        match grammar.expr(id) {
            Expr::Regex(regex) => Some(regex.clone()),
            Expr::Seq(parts) => all(parts).map(Regex::concat),
            Expr::Alt(parts) => all(parts).map(Regex::alt),
            _ => None,
        }
    }
    joined(grammar, id, 8)
}

/// Whether an expression may be one character: classes and short strings, put together.
pub(super) fn one_character(regex: &Regex) -> bool {
    let mut work = vec![regex];
    let mut count = 0;
    while let Some(node) = work.pop() {
        count += 1;
        match node {
            Regex::Class(_) => {}
            Regex::Literal(bytes) if (1..=4).contains(&bytes.len()) => {}
            Regex::Concat(parts) if (1..=4).contains(&parts.len()) => work.extend(&**parts),
            Regex::Alt(parts) => work.extend(&**parts),
            _ => return false,
        }
        if count > 2_000 {
            return false;
        }
    }
    !matches!(regex, Regex::Literal(_))
}
