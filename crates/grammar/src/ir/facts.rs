//! What the passes ask of a regular language: size, depth, emptiness, and whether it may safely stand before another.

use crate::ir::regex::Regex;

/// A loop over more bytes than this is wide: it is worth its own terminal, whose masks other grammars share.
const NARROW_BYTES: u32 = 4;
/// A repetition up to so often is no loop.
const SHORT_LOOP: u32 = 16;

/// What is known of one [`Regex`] from its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Answers to questions of their own
pub(in crate::ir) struct Facts {
    /// Nodes and literal bytes, saturating.
    pub(in crate::ir) weight: u32,
    /// Nesting.
    pub(in crate::ir) depth: u32,
    /// Whether it matches the empty string.
    pub(in crate::ir) nullable: bool,
    /// Whether it visibly matches nothing at all. Intersections and complements are not solved here.
    pub(in crate::ir) nothing: bool,
    /// Whether no word of one byte or more is in it, as far as its form says.
    pub(in crate::ir) wordless: bool,
    /// Whether it holds an intersection or a complement, so that its form does not say it all.
    pub(in crate::ir) logical: bool,
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
    logical: bool,
    nullable: Held,
    nothing: Held,
    wordless: Held,
}

/// Whether something holds of all, and of any.
#[derive(Debug, Clone, Copy)]
struct Held {
    all: bool,
    any: bool,
}

impl Held {
    const NONE_ASKED: Self = Self {
        all: true,
        any: false,
    };

    fn add(&mut self, one: bool) {
        self.all &= one;
        self.any |= one;
    }
}

impl Default for Joined {
    fn default() -> Self {
        Self {
            weight: 1,
            depth: 1,
            width: 0,
            open: false,
            logical: false,
            nullable: Held::NONE_ASKED,
            nothing: Held::NONE_ASKED,
            wordless: Held::NONE_ASKED,
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
        self.logical |= facts.logical;
        self.nullable.add(facts.nullable);
        self.nothing.add(facts.nothing);
        self.wordless.add(facts.wordless);
    }
}

impl Facts {
    const LEAF: Self = Self {
        weight: 1,
        depth: 1,
        nullable: false,
        nothing: false,
        wordless: false,
        logical: false,
        open: false,
        width: 0,
    };

    /// The facts. Compound regexes know those of their parts; only chains of complements and repetitions are followed.
    pub(in crate::ir) fn of(regex: &Regex) -> Self {
        let (Regex::Not(inner) | Regex::Repeat { inner, .. }) = regex else {
            return Self::of_base(regex);
        };
        let mut chain = vec![];
        let mut base: &Regex = inner;
        while let Regex::Not(inner) | Regex::Repeat { inner, .. } = base {
            chain.push(base);
            base = inner;
        }
        let mut facts = Self::of_base(base);
        for outer in chain.into_iter().rev().chain([regex]) {
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
                wordless: set.is_empty(),
                width: set.len(),
                ..Self::LEAF
            },
            Regex::Literal(bytes) => Self {
                weight: 1 + bytes.len().min(u32::MAX as usize - 1) as u32,
                nullable: bytes.is_empty(),
                wordless: bytes.is_empty(),
                width: 1,
                ..Self::LEAF
            },
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                Self::compound(regex, parts.joined())
            }
            Regex::Nothing | Regex::Not(_) | Regex::Repeat { .. } => Self {
                nothing: true,
                wordless: true,
                ..Self::LEAF
            },
        }
    }

    fn compound(node: &Regex, inner: &Joined) -> Self {
        let mut facts = Self {
            weight: inner.weight,
            depth: inner.depth,
            nullable: inner.nullable.all,
            nothing: inner.nothing.any,
            wordless: inner.nothing.any || inner.wordless.all,
            logical: inner.logical,
            open: inner.open,
            width: inner.width,
        };
        match node {
            Regex::Alt(_) => {
                facts.nullable = inner.nullable.any;
                facts.nothing = inner.nothing.all;
                facts.wordless = inner.wordless.all;
            }
            Regex::Not(_) => {
                facts.nullable = !inner.nullable.all;
                facts.nothing = false;
                facts.wordless = false;
                facts.logical = true;
                facts.open = true;
            }
            Regex::And(_) => {
                facts.logical = true;
                facts.open = true;
            }
            Regex::Repeat { min, max, .. } => {
                facts.nullable = *min == 0 || inner.nullable.all;
                facts.nothing =
                    (*min > 0 && inner.nothing.any) || max.is_some_and(|max| max < *min);
                facts.wordless = facts.nothing || *max == Some(0) || inner.wordless.all;
                facts.open |= inner.width > NARROW_BYTES && max.is_none_or(|max| max > SHORT_LOOP);
            }
            _ => {}
        }
        facts
    }
}
