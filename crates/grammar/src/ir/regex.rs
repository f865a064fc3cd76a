//! Regular languages over bytes, as written: nothing expanded, nothing determinised.
//!
//! Expressions are compared, hashed and asked for their size, depth and emptiness at every step of a compilation. What
//! that takes is computed once, where parts are put together ([`Parts`]), so that each question costs the parts of one
//! expression and not a walk through all that they hold.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::byte_set::ByteSet;
use crate::maps;
use crate::tuning::{NARROW_BYTES, SHORT_LOOP};

/// A regular language over bytes. Sub-expressions are shared, so that a deep or repeated expression costs one node.
///
/// Front ends build it; the engine derives it lazily. Depth is bounded by the front ends' limits, yet walks over it must
/// not recurse: a chain of concatenations may be as long as the source.
#[derive(Debug, Clone)]
pub enum Regex {
    /// No string at all.
    Nothing,
    /// One byte out of a set.
    Class(ByteSet),
    /// Exactly these bytes; the empty string when there are none.
    Literal(Arc<[u8]>),
    /// One after another.
    Concat(Parts),
    /// Any of these.
    Alt(Parts),
    /// All of these at once (intersection).
    And(Parts),
    /// Every byte string that is not in the language (complement; over bytes, so it holds invalid UTF-8 too).
    Not(Arc<Regex>),
    /// Between `min` and `max` (None: unbounded) times, never expanded.
    Repeat {
        /// What is repeated.
        inner: Arc<Regex>,
        /// The least number of repetitions.
        min: u32,
        /// The largest number of repetitions; None if there is no bound.
        max: Option<u32>,
    },
}

impl Regex {
    /// The empty string.
    #[must_use]
    pub fn empty() -> Self {
        Self::Literal(Arc::new([]))
    }

    /// Exactly `bytes`.
    #[must_use]
    pub fn literal(bytes: &[u8]) -> Self {
        Self::Literal(bytes.into())
    }

    /// One after another; a single part is itself.
    #[must_use]
    pub fn concat(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Self::Concat(parts.into())
        }
    }

    /// Any of these; a single part is itself, none is [`Regex::Nothing`].
    #[must_use]
    pub fn alt(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::Nothing,
            1 => parts.remove(0),
            _ => Self::Alt(parts.into()),
        }
    }

    /// `inner` repeated.
    #[must_use]
    pub fn repeat(inner: Self, min: u32, max: Option<u32>) -> Self {
        Self::Repeat {
            inner: Arc::new(inner),
            min,
            max,
        }
    }

    /// Every byte that a word may begin with, and where there are intersections or complements maybe more. Iterative.
    #[must_use]
    pub fn first_bytes(&self) -> ByteSet {
        let mut first = ByteSet::EMPTY;
        let mut work = vec![self];
        while let Some(node) = work.pop() {
            match node {
                Self::Class(set) => first = first.union(set),
                Self::Literal(bytes) => bytes.iter().take(1).for_each(|&byte| first.insert(byte)),
                Self::Concat(parts) => {
                    let until = parts.iter().position(|part| !part.is_nullable());
                    work.extend(parts.iter().take(until.unwrap_or(parts.len()) + 1));
                }
                Self::Alt(parts) => work.extend(parts.iter()),
                Self::And(parts) => {
                    let plain = parts.iter().find(|part| !matches!(part, Self::Not(_)));
                    work.extend(plain.or(parts.first()));
                }
                Self::Not(_) => return ByteSet::FULL,
                Self::Repeat { inner, max, .. } if *max != Some(0) => work.push(inner),
                Self::Nothing | Self::Repeat { .. } => {}
            }
        }
        first
    }

    /// Nodes and literal bytes, counted as often as they stand in it, saturating.
    #[must_use]
    pub fn weight(&self) -> u32 {
        Facts::of(self).weight
    }

    /// Whether the empty string is in the language.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        Facts::of(self).nullable
    }

    /// Whether no word of one byte or more is in the language; None where its form does not say, as it holds an
    /// intersection or a complement.
    #[must_use]
    pub fn is_wordless(&self) -> Option<bool> {
        let facts = Facts::of(self);
        (!facts.logical).then_some(facts.wordless)
    }
}

// Compound expressions compare and hash by what they know of their parts; what remains is to follow chains of complements
// and repetitions without recursion.

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self, other);
        loop {
            (left, right) = match (left, right) {
                (Self::Not(left), Self::Not(right)) if Arc::ptr_eq(left, right) => return true,
                (Self::Not(left), Self::Not(right)) => (&**left, &**right),
                (
                    Self::Repeat { inner, min, max },
                    Self::Repeat {
                        inner: other,
                        min: other_min,
                        max: other_max,
                    },
                ) => {
                    if (min, max) != (other_min, other_max) {
                        return false;
                    }
                    if Arc::ptr_eq(inner, other) {
                        return true;
                    }
                    (&**inner, &**other)
                }
                (Self::Nothing, Self::Nothing) => return true,
                (Self::Class(left), Self::Class(right)) => return left == right,
                (Self::Literal(left), Self::Literal(right)) => return left == right,
                (Self::Concat(left), Self::Concat(right))
                | (Self::Alt(left), Self::Alt(right))
                | (Self::And(left), Self::And(right)) => return left == right,
                _ => return false,
            }
        }
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut node = self;
        loop {
            std::mem::discriminant(node).hash(state);
            node = match node {
                Self::Nothing => return,
                Self::Class(set) => return set.hash(state),
                Self::Literal(bytes) => return bytes.hash(state),
                Self::Concat(parts) | Self::Alt(parts) | Self::And(parts) => {
                    return parts.hash(state);
                }
                Self::Not(inner) => inner,
                Self::Repeat { inner, min, max } => {
                    (min, max).hash(state);
                    inner
                }
            }
        }
    }
}

/// Shared parts of a [`Regex`]; a slice that hashes in constant time.
#[derive(Clone)]
pub struct Parts {
    all: Arc<[Regex]>,
    hash: u64,
    joined: Joined,
}

impl Parts {
    fn new(parts: Arc<[Regex]>) -> Self {
        let mut hasher = maps::of_process().build_hasher();
        let mut joined = Joined::default();
        for part in &*parts {
            part.hash(&mut hasher);
            joined.add(&Facts::of(part));
        }
        Self {
            hash: hasher.finish(),
            joined,
            all: parts,
        }
    }

    /// What is known of the parts together.
    pub(in crate::ir) fn joined(&self) -> &Joined {
        &self.joined
    }
}

impl Deref for Parts {
    type Target = [Regex];

    fn deref(&self) -> &[Regex] {
        &self.all
    }
}

impl From<Vec<Regex>> for Parts {
    fn from(parts: Vec<Regex>) -> Self {
        Self::new(parts.into())
    }
}

impl<const N: usize> From<[Regex; N]> for Parts {
    fn from(parts: [Regex; N]) -> Self {
        Self::new(Arc::new(parts))
    }
}

impl FromIterator<Regex> for Parts {
    fn from_iter<T: IntoIterator<Item = Regex>>(parts: T) -> Self {
        Self::new(parts.into_iter().collect())
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all) || (self.hash == other.hash && self.all == other.all)
    }
}

impl Eq for Parts {}

impl Hash for Parts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}

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
    nullable: AllAny,
    nothing: AllAny,
    wordless: AllAny,
}

/// Whether something holds of all, and of any.
#[derive(Debug, Clone, Copy)]
struct AllAny {
    all: bool,
    any: bool,
}

impl AllAny {
    const NEUTRAL: Self = Self {
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
            nullable: AllAny::NEUTRAL,
            nothing: AllAny::NEUTRAL,
            wordless: AllAny::NEUTRAL,
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
