//! Pass: what is visibly regular becomes one terminal. All productions `A ::= r` of one nonterminal join into one, and a
//! nonterminal that only loops on itself (`A ::= r | A s`, `A ::= r | s A`) becomes `r s*`, `s* r`.

use smallvec::smallvec;

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use crate::error::Error;
use crate::ir::regex::Regex;
use crate::maps::SeededIndexSet;
use crate::tuning::MAX_FUSED_DEPTH;

/// Joins regular productions.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.rules.len())?;
    for lhs in draft.nonterminals() {
        join(draft, lhs);
    }
    Ok(())
}

#[derive(Default)]
struct Shapes {
    /// `A ::= r`
    plain: Vec<u32>,
    /// `A ::= ""`
    empty: bool,
    /// `A ::= A s`
    left: Vec<u32>,
    /// `A ::= s A`
    right: Vec<u32>,
    other: usize,
}

fn join(draft: &mut Draft, lhs: NonterminalId) {
    let this = Symbol::Nonterminal(lhs);
    // Most have nothing to join.
    let single = |rhs: &Rhs| matches!(rhs[..], [] | [Symbol::Regex(_)]);
    let looping = |rhs: &Rhs| rhs.len() == 2 && rhs.contains(&this);
    let rules = draft.rules_of(lhs);
    if rules.len() < 2 || !rules.iter().any(|rhs| single(rhs) || looping(rhs)) {
        return;
    }
    let mut shapes = Shapes::default();
    for rhs in draft.rules_of(lhs) {
        match rhs[..] {
            [] => shapes.empty = true,
            [Symbol::Regex(index)] => shapes.plain.push(index),
            [first, Symbol::Regex(index)] if first == this => shapes.left.push(index),
            [Symbol::Regex(index), last] if last == this => shapes.right.push(index),
            _ => shapes.other += 1,
        }
    }
    let depth = |indices: &[u32]| {
        indices
            .iter()
            .map(|&index| draft.facts_of(index).depth)
            .max()
            .unwrap_or(0)
    };
    let all_depth = depth(&shapes.plain)
        .max(depth(&shapes.left))
        .max(depth(&shapes.right));
    if all_depth + 3 > MAX_FUSED_DEPTH {
        return;
    }
    let looping = shapes.left.len() + shapes.right.len();
    let whole = shapes.other == 0 && (shapes.left.is_empty() || shapes.right.is_empty());
    let based = shapes.empty || !shapes.plain.is_empty();
    if whole && based && (looping > 0 || shapes.empty) {
        let mut base: Vec<Regex> = Vec::new();
        if shapes.empty {
            if looping == 0 && shapes.plain.is_empty() {
                return;
            }
            base.push(Regex::empty());
        }
        base.extend(alternatives(draft, &shapes.plain));
        let base = alternation(base);
        let regex = if looping == 0 {
            base
        } else {
            let (again, before) = if shapes.left.is_empty() {
                (&shapes.right, true)
            } else {
                (&shapes.left, false)
            };
            let again = Regex::repeat(alternation(alternatives(draft, again)), 0, None);
            if base == Regex::empty() {
                again
            } else if before {
                concatenation(&[&again, &base])
            } else {
                concatenation(&[&base, &again])
            }
        };
        let symbol = draft.regex(regex);
        draft.changes += 1;
        draft.rules[lhs.0 as usize] = smallvec![smallvec![symbol]];
    } else if shapes.plain.len() > 1 {
        let joined = alternation(alternatives(draft, &shapes.plain));
        let symbol = draft.regex(joined);
        draft.changes += 1;
        let rules = &mut draft.rules[lhs.0 as usize];
        rules.retain(|rhs| !matches!(rhs[..], [Symbol::Regex(_)]));
        rules.push(smallvec![symbol]);
    }
}

/// The languages themselves, nested alternatives opened.
fn alternatives(draft: &Draft, indices: &[u32]) -> Vec<Regex> {
    let mut parts = Vec::new();
    for &index in indices {
        match draft.regex_of(index) {
            Regex::Alt(inner) => parts.extend(inner.iter().cloned()),
            other => parts.push(other.clone()),
        }
    }
    parts
}

/// Alternatives without repetitions, in their order.
fn alternation(parts: Vec<Regex>) -> Regex {
    let unique: SeededIndexSet<Regex> = parts.into_iter().collect();
    Regex::alt(unique.into_iter().collect())
}

/// One after another: nested concatenations opened, neighbouring literals joined.
pub(super) fn concatenation(parts: &[&Regex]) -> Regex {
    let pieces = |part: &&Regex| match part {
        Regex::Concat(inner) => inner.len(),
        _ => 1,
    };
    let mut out: Vec<Regex> = Vec::with_capacity(parts.iter().map(pieces).sum());
    // Literals that stand next to each other, until something else comes.
    let mut letters: Vec<u8> = Vec::new();
    for part in parts {
        let inner = if let Regex::Concat(inner) = part {
            &**inner
        } else {
            std::slice::from_ref(*part)
        };
        for piece in inner {
            if let Regex::Literal(bytes) = piece {
                letters.extend_from_slice(bytes);
                continue;
            }
            if !letters.is_empty() {
                out.push(Regex::literal(&std::mem::take(&mut letters)));
            }
            out.push(piece.clone());
        }
    }
    if !letters.is_empty() {
        out.push(Regex::literal(&letters));
    }
    if out.is_empty() {
        Regex::empty()
    } else {
        Regex::concat(out)
    }
}
