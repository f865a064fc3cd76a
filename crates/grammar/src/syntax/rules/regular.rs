//! Regular parts of a grammar while it is lowered: the language, what bounds its size, and whether it depends on the text around
//! it; and what the operators of the languages of rules make of them.

use super::ast::Function;
use crate::ir::text::{any_text, utf8_character};
use crate::ir::{ByteSet, Regex};

/// A regular language, with what bounds it.
#[derive(Clone)]
pub(super) struct Regular {
    pub(super) regex: Regex,
    /// The product of its nested counted repetitions.
    pub(super) expansion: u64,
    /// Nodes within nodes.
    pub(super) depth: usize,
    /// Nodes, counted as often as they stand in it.
    pub(super) weight: u64,
    pub(super) context: Context,
    /// The offset of a lazy repetition that ends a pattern in it at its shortest match.
    pub(super) stops: Option<usize>,
}

/// Whether what matches depends on the text around it.
#[derive(Clone)]
pub(super) enum Context {
    Free,
    /// Patterns that look around themselves, and other alternatives: the texts in which one of them matches somewhere, and
    /// the offset of such a pattern.
    Around(Regex, usize),
    /// A pattern at this offset looks around itself, and something stands around it.
    Inside(usize),
}

impl Regular {
    /// One that is made of others.
    pub(super) fn of<'a>(regex: Regex, parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut whole = Self {
            regex,
            expansion: 1,
            depth: 1,
            weight: 1,
            context: Context::Free,
            stops: None,
        };
        for part in parts {
            if let Context::Around(_, offset) | Context::Inside(offset) = part.context {
                whole.context = Context::Inside(offset);
            }
            whole.stops = whole.stops.or(part.stops);
            whole.expansion = whole.expansion.max(part.expansion);
            whole.depth = whole.depth.max(part.depth + 1);
            whole.weight = whole.weight.saturating_add(part.weight);
        }
        whole
    }

    /// The texts in which it matches somewhere.
    pub(super) fn somewhere(&self) -> Regex {
        match &self.context {
            Context::Around(somewhere, _) => somewhere.clone(),
            _ => Regex::concat(vec![any_text(), self.regex.clone(), any_text()]),
        }
    }

    /// What the context of a choice between others is.
    pub(super) fn choice(parts: &[&Self]) -> Option<Context> {
        let mut around = None;
        for part in parts {
            match part.context {
                Context::Free => {}
                Context::Around(_, offset) => around = Some(offset),
                Context::Inside(_) => return None,
            }
        }
        let somewhere = || Regex::alt(parts.iter().map(|part| part.somewhere()).collect());
        around.map(|offset| Context::Around(somewhere(), offset))
    }
}

/// A repetition; repetitions of repetitions by `?`, `*` and `+` do not nest.
pub(super) fn simple_repeat(regex: &Regex, min: u32, max: Option<u32>) -> Regex {
    if (min, max) == (1, Some(1)) {
        return regex.clone();
    }
    if max == Some(0) {
        return Regex::empty();
    }
    if let Regex::Repeat {
        inner,
        min: inner_min @ 0..=1,
        max: inner_max @ (None | Some(1)),
    } = regex
        && min <= 1
        && matches!(max, None | Some(1))
    {
        return Regex::Repeat {
            inner: inner.clone(),
            min: min * inner_min,
            max: if max == Some(1) { *inner_max } else { None },
        };
    }
    Regex::repeat(regex.clone(), min, max)
}

pub(super) fn apply(function: Function, operand: &Regular) -> Regex {
    let not = |regex: Regex| Regex::Not(regex.into());
    let and = |left, right| Regex::And([left, right].into());
    let regex = operand.regex.clone();
    let more = |unit: Regex| Regex::repeat(unit, 1, None);
    match function {
        Function::Part => regex,
        Function::Complement => not(regex),
        Function::Not => and(any_text(), not(regex)),
        Function::Except => and(any_text(), not(operand.somewhere())),
        Function::Shortest | Function::Within(_) => {
            let long = match function {
                Function::Within(most) => {
                    and(regex.clone(), Regex::repeat(utf8_character(), most, None))
                }
                _ => regex.clone(),
            };
            let longer = Regex::concat(vec![long, more(Regex::Class(ByteSet::FULL))]);
            and(regex, not(longer))
        }
        Function::Until => {
            let matched = match &operand.context {
                Context::Around(somewhere, _) => somewhere.clone(),
                _ => Regex::concat(vec![any_text(), regex]),
            };
            let longer = Regex::concat(vec![matched.clone(), more(utf8_character())]);
            and(matched, not(longer))
        }
    }
}

/// The product of nested counted repetitions.
pub(super) fn expansion(regex: &Regex) -> u64 {
    // (node, product of the bounds around it)
    let mut work = vec![(regex, 1u64)];
    let mut most = 1;
    while let Some((node, product)) = work.pop() {
        most = most.max(product);
        match node {
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                work.extend(parts.iter().map(|part| (part, product)));
            }
            Regex::Not(inner) => work.push((inner, product)),
            Regex::Repeat { inner, min, max } => {
                work.push((
                    inner,
                    product.saturating_mul(u64::from(max.unwrap_or(*min).max(1))),
                ));
            }
            Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => {}
        }
    }
    most
}
