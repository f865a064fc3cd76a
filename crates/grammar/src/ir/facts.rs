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

/// What is known of several regexes together, whatever puts them together.
#[derive(Debug, Clone, Copy)]
pub(in crate::ir) struct Joined {
    weight: u32,
    depth: u32,
    width: u32,
    open: bool,
    all_nullable: bool,
    any_nullable: bool,
    all_nothing: bool,
    any_nothing: bool,
}

impl Default for Joined {
    fn default() -> Self {
        Self {
            weight: 1,
            depth: 1,
            width: 0,
            open: false,
            all_nullable: true,
            any_nullable: false,
            all_nothing: true,
            any_nothing: false,
        }
    }
}

impl Joined {
    /// One more.
    pub(in crate::ir) fn add(&mut self, facts: &Facts) {
        self.weight = self.weight.saturating_add(facts.weight);
        self.depth = self.depth.max(facts.depth.saturating_add(1));
        self.width = self.width.max(facts.width);
        self.open |= facts.open;
        self.all_nullable &= facts.nullable;
        self.any_nullable |= facts.nullable;
        self.all_nothing &= facts.nothing;
        self.any_nothing |= facts.nothing;
    }
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

    /// The facts. Compound regexes know those of their parts; only chains of complements and repetitions are followed.
    pub(in crate::ir) fn of(regex: &Regex) -> Self {
        if !matches!(regex, Regex::Not(_) | Regex::Repeat { .. }) {
            return Self::of_base(regex);
        }
        let mut chain = Vec::new();
        let mut base = regex;
        while let Regex::Not(inner) | Regex::Repeat { inner, .. } = base {
            chain.push(base);
            base = inner;
        }
        let mut facts = Self::of_base(base);
        for outer in chain.into_iter().rev() {
            let mut joined = Joined::default();
            joined.add(&facts);
            facts = Self::compound(outer, &joined);
        }
        facts
    }

    /// The facts of what is neither a complement nor a repetition.
    fn of_base(regex: &Regex) -> Self {
        match regex {
            Regex::Class(set) => Self {
                nothing: set.is_empty(),
                width: set.len(),
                ..Self::LEAF
            },
            Regex::Literal(bytes) => Self {
                weight: 1 + bytes.len().min(u32::MAX as usize - 1) as u32,
                nullable: bytes.is_empty(),
                width: 1,
                ..Self::LEAF
            },
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                Self::compound(regex, parts.joined())
            }
            Regex::Nothing | Regex::Not(_) | Regex::Repeat { .. } => Self {
                nothing: true,
                ..Self::LEAF
            },
        }
    }

    fn compound(node: &Regex, inner: &Joined) -> Self {
        let mut facts = Self {
            weight: inner.weight,
            depth: inner.depth,
            nullable: inner.all_nullable,
            nothing: inner.any_nothing,
            open: inner.open,
            width: inner.width,
        };
        match node {
            Regex::Alt(_) => {
                facts.nullable = inner.any_nullable;
                facts.nothing = inner.all_nothing;
            }
            Regex::Not(_) => {
                facts.nullable = !inner.all_nullable;
                facts.nothing = false;
                facts.open = true;
            }
            Regex::And(_) => facts.open = true,
            Regex::Repeat { min, max, .. } => {
                facts.nullable = *min == 0 || inner.all_nullable;
                facts.nothing =
                    (*min > 0 && inner.any_nothing) || max.is_some_and(|max| max < *min);
                facts.open |= inner.width > NARROW_BYTES && max.is_none_or(|max| max > SHORT_LOOP);
            }
            _ => {}
        }
        facts
    }
}
