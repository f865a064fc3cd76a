//! From `regex-syntax`'s high-level form to our regular languages. Iterative.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::alphabet::Alphabet;
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Limits;

/// Why a pattern is refused.
pub(super) enum Failure {
    Limit(Error),
    Unsupported(&'static str),
}

/// A pattern as up to four languages: held to the start of the text or not, to its end or not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchored {
    /// By `start | end << 1`.
    variants: [Option<Regex>; 4],
    /// The product of nested counted repetitions.
    expansion: u64,
}

const START: usize = 1;
const END: usize = 2;

impl Anchored {
    fn plain(regex: Regex) -> Self {
        Self::held(0, regex)
    }

    fn held(edges: usize, regex: Regex) -> Self {
        let mut variants = [const { None }; 4];
        variants[edges] = Some(regex);
        Self {
            variants,
            expansion: 1,
        }
    }

    fn is_plain(&self) -> bool {
        self.variants[1..].iter().all(Option::is_none)
    }

    fn each(self) -> impl Iterator<Item = (usize, Regex)> {
        self.variants
            .into_iter()
            .enumerate()
            .filter_map(|(edges, regex)| Some((edges, regex?)))
    }

    /// The language of whole matches: whatever edge is asked for is there.
    pub(crate) fn whole(self) -> Regex {
        Regex::alt(self.each().map(|(_, regex)| regex).collect())
    }

    /// The language of texts with a match inside; `anything` is every text.
    pub(crate) fn search(self, anything: &Regex) -> Regex {
        let one = |(edges, regex): (usize, Regex)| {
            let mut parts = Vec::with_capacity(3);
            if edges & START == 0 {
                parts.push(anything.clone());
            }
            parts.push(regex);
            if edges & END == 0 {
                parts.push(anything.clone());
            }
            Regex::concat(parts)
        };
        Regex::alt(self.each().map(one).collect())
    }
}

fn is_empty(regex: &Regex) -> bool {
    matches!(regex, Regex::Literal(bytes) if bytes.is_empty())
}

/// Lowers one pattern.
pub(super) fn lower(
    hir: &Hir,
    limits: &Limits,
    alphabet: &mut dyn Alphabet,
) -> Result<Anchored, Failure> {
    let mut work = vec![(hir, false)];
    let mut values: Vec<Anchored> = Vec::new();
    while let Some((node, visited)) = work.pop() {
        let children: &[Hir] = match node.kind() {
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts,
            HirKind::Capture(capture) => std::slice::from_ref(&*capture.sub),
            HirKind::Repetition(repetition) => std::slice::from_ref(&*repetition.sub),
            leaf => {
                values.push(self::leaf(leaf, alphabet)?);
                continue;
            }
        };
        if !visited {
            work.push((node, true));
            work.extend(children.iter().rev().map(|child| (child, false)));
            continue;
        }
        let inner = values.split_off(values.len() - children.len());
        let expansion = inner.iter().map(|value| value.expansion).max().unwrap_or(1);
        let mut value = match node.kind() {
            HirKind::Concat(_) => concat(inner)?,
            HirKind::Alternation(_) => alternation(inner),
            HirKind::Repetition(repetition) => {
                let inner = inner.into_iter().next().unwrap_or_default();
                let value = repeat(inner, repetition.min, repetition.max)?;
                let expansion = counted(expansion, repetition.min, repetition.max, limits)?;
                values.push(Anchored { expansion, ..value });
                continue;
            }
            _ => inner.into_iter().next().unwrap_or_default(),
        };
        value.expansion = expansion;
        values.push(value);
    }
    Ok(values.pop().unwrap_or_default())
}

fn leaf(kind: &HirKind, alphabet: &mut dyn Alphabet) -> Result<Anchored, Failure> {
    let regex = match kind {
        HirKind::Literal(literal) => alphabet.literal(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges: Vec<(char, char)> = class
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect();
            if ranges.is_empty() {
                Regex::Nothing
            } else {
                alphabet.class(&ranges)
            }
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges: Vec<(u8, u8)> = class
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect();
            if ranges.is_empty() {
                Regex::Nothing
            } else {
                alphabet.bytes(&ranges)
            }
        }
        HirKind::Look(Look::Start) => return Ok(Anchored::held(START, Regex::empty())),
        HirKind::Look(Look::End) => return Ok(Anchored::held(END, Regex::empty())),
        HirKind::Look(Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF) => {
            return Err(Failure::Unsupported("anchors of lines are not supported"));
        }
        HirKind::Look(_) => return Err(Failure::Unsupported("word boundaries are not supported")),
        _ => Regex::empty(),
    };
    Ok(Anchored::plain(regex))
}

fn concat(inner: Vec<Anchored>) -> Result<Anchored, Failure> {
    const MISPLACED: Failure =
        Failure::Unsupported("an anchor inside the pattern is not supported");
    // By edges: the parts so far.
    let mut lines: Vec<(usize, Vec<Regex>)> = vec![(0, Vec::new())];
    for part in inner {
        let mut next: Vec<(usize, Vec<Regex>)> = Vec::with_capacity(lines.len());
        for (edges, regex) in part.each() {
            for (before, parts) in &lines {
                if edges & START != 0 && !parts.is_empty() {
                    return Err(MISPLACED);
                }
                if before & END != 0 && !is_empty(&regex) {
                    return Err(MISPLACED);
                }
                let mut parts = parts.clone();
                if !is_empty(&regex) {
                    parts.push(regex.clone());
                }
                next.push((edges | before, parts));
            }
        }
        // Alternatives with the same edges join, so that there are never more than four.
        let mut joined: [Vec<Vec<Regex>>; 4] = Default::default();
        for (edges, parts) in next {
            joined[edges].push(parts);
        }
        lines = joined
            .into_iter()
            .enumerate()
            .filter(|(_, group)| !group.is_empty())
            .map(|(edges, mut group)| match group.len() {
                1 => (edges, group.remove(0)),
                _ => (
                    edges,
                    vec![Regex::alt(group.into_iter().map(joined_parts).collect())],
                ),
            })
            .collect();
    }
    let mut result = Anchored::default();
    for (edges, parts) in lines {
        result.variants[edges] = Some(joined_parts(parts));
    }
    Ok(result)
}

fn joined_parts(parts: Vec<Regex>) -> Regex {
    if parts.is_empty() {
        Regex::empty()
    } else {
        Regex::concat(parts)
    }
}

fn alternation(inner: Vec<Anchored>) -> Anchored {
    let mut groups: [Vec<Regex>; 4] = Default::default();
    for part in inner {
        for (edges, regex) in part.each() {
            groups[edges].push(regex);
        }
    }
    let mut result = Anchored::default();
    for (edges, group) in groups
        .into_iter()
        .enumerate()
        .filter(|(_, group)| !group.is_empty())
    {
        result.variants[edges] = Some(Regex::alt(group));
    }
    result
}

fn repeat(inner: Anchored, min: u32, max: Option<u32>) -> Result<Anchored, Failure> {
    if inner.is_plain() {
        let regex = inner.whole();
        return Ok(Anchored::plain(Regex::repeat(regex, min, max)));
    }
    match (min, max) {
        (1, Some(1)) => Ok(inner),
        (0, Some(1)) => Ok(alternation(vec![Anchored::plain(Regex::empty()), inner])),
        _ => Err(Failure::Unsupported(
            "an anchor inside a repetition is not supported",
        )),
    }
}

/// The product of nested counted repetitions, checked.
fn counted(inner: u64, min: u32, max: Option<u32>, limits: &Limits) -> Result<u64, Failure> {
    let bound = max.unwrap_or(min);
    if bound > limits.regex_repetition {
        return Err(Failure::Limit(Error::limit(
            "E-LIMIT-REGEX-REPETITION",
            "regex_repetition",
            u64::from(bound),
            u64::from(limits.regex_repetition),
        )));
    }
    let product = inner.saturating_mul(u64::from(bound.max(1)));
    if inner > 1 && bound > 1 && product > limits.regex_expansion {
        return Err(Failure::Limit(Error::limit(
            "E-LIMIT-REGEX-EXPANSION",
            "regex_expansion",
            product,
            limits.regex_expansion,
        )));
    }
    Ok(product)
}
