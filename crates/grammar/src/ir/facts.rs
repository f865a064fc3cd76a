//! What the passes ask of a regular language: size, depth, emptiness, and whether it may safely stand before another.

use crate::ir::regex::Regex;

/// A loop over more bytes than this is wide: it is worth its own terminal, whose masks other grammars share.
const NARROW_BYTES: u32 = 4;
/// A repetition up to so often is no loop.
const SHORT_LOOP: u32 = 16;

/// What is known of one [`Regex`] from its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ir) struct Facts {
    /// Nodes and literal bytes, saturating.
    pub(in crate::ir) weight: u32,
    /// Nesting.
    pub(in crate::ir) depth: u32,
    /// Whether it matches the empty string.
    pub(in crate::ir) nullable: bool,
    /// Whether it visibly matches nothing at all. Intersections and complements are not solved here.
    pub(in crate::ir) nothing: bool,
    /// Whether it holds a loop over many bytes, an intersection or a complement: what follows stays a terminal of its own.
    pub(in crate::ir) open: bool,
    /// The widest class inside.
    width: u32,
}

impl Facts {
    const LEAF: Self = Self {
        weight: 1,
        depth: 1,
        nullable: false,
        nothing: false,
        open: false,
        width: 0,
    };

    /// Computes the facts without recursion.
    pub(in crate::ir) fn of(regex: &Regex) -> Self {
        let mut work = vec![(regex, false)];
        let mut values: Vec<Self> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            let children: &[Regex] = match node {
                Regex::Nothing => {
                    values.push(Self {
                        nothing: true,
                        ..Self::LEAF
                    });
                    continue;
                }
                Regex::Class(set) => {
                    values.push(Self {
                        nothing: set.is_empty(),
                        width: set.len(),
                        ..Self::LEAF
                    });
                    continue;
                }
                Regex::Literal(bytes) => {
                    let weight = 1 + bytes.len().min(u32::MAX as usize - 1) as u32;
                    values.push(Self {
                        weight,
                        nullable: bytes.is_empty(),
                        width: 1,
                        ..Self::LEAF
                    });
                    continue;
                }
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
                Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(&**inner),
            };
            if !visited {
                work.push((node, true));
                work.extend(children.iter().map(|child| (child, false)));
                continue;
            }
            let inner = values.split_off(values.len() - children.len());
            values.push(Self::join(node, &inner));
        }
        values.pop().unwrap_or(Self::LEAF)
    }

    fn join(node: &Regex, inner: &[Self]) -> Self {
        let mut joined = Self::LEAF;
        for facts in inner {
            joined.weight = joined.weight.saturating_add(facts.weight);
            joined.depth = joined.depth.max(facts.depth + 1);
            joined.open |= facts.open;
            joined.width = joined.width.max(facts.width);
        }
        let all_nullable = inner.iter().all(|facts| facts.nullable);
        let any_nothing = inner.iter().any(|facts| facts.nothing);
        match node {
            Regex::Alt(_) => {
                joined.nullable = inner.iter().any(|facts| facts.nullable);
                joined.nothing = inner.iter().all(|facts| facts.nothing);
            }
            Regex::Not(_) => {
                joined.nullable = !all_nullable;
                joined.open = true;
            }
            Regex::And(_) => {
                joined.nullable = all_nullable;
                joined.nothing = any_nothing;
                joined.open = true;
            }
            Regex::Repeat { min, max, .. } => {
                joined.nullable = *min == 0 || all_nullable;
                joined.nothing = (*min > 0 && any_nothing) || max.is_some_and(|max| max < *min);
                joined.open |=
                    joined.width > NARROW_BYTES && max.is_none_or(|max| max > SHORT_LOOP);
            }
            _ => {
                joined.nullable = all_nullable;
                joined.nothing = any_nothing;
            }
        }
        joined
    }
}
