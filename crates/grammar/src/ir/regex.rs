//! Regular languages over bytes, as written: nothing expanded, nothing determinised.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::facts::Facts;
use super::parts::Parts;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// No byte.
    pub const EMPTY: Self = Self([0; 4]);
    /// Every byte.
    pub const FULL: Self = Self([u64::MAX; 4]);

    /// The bytes of an inclusive range.
    #[must_use]
    #[inline]
    pub fn range(first: u8, last: u8) -> Self {
        let mut set = Self::EMPTY;
        for byte in first..=last {
            set.insert(byte);
        }
        set
    }

    /// One byte.
    #[must_use]
    #[inline]
    pub fn byte(byte: u8) -> Self {
        Self::range(byte, byte)
    }

    /// Adds a byte.
    #[inline]
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Whether the byte is a member.
    #[must_use]
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// Whether no byte is a member.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many bytes are members.
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Members of either.
    #[must_use]
    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Members of both.
    #[must_use]
    #[inline]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// All other bytes.
    #[must_use]
    #[inline]
    pub fn complement(&self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// The bytes whose bits are set: byte `b` is bit `b % 64` of word `b / 64`.
    #[must_use]
    #[inline]
    pub const fn of_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The members as bits, as [`Self::of_words`] takes them.
    #[must_use]
    #[inline]
    pub fn words(&self) -> [u64; 4] {
        self.0
    }

    /// The set of such bits.
    pub(super) fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// The members below 128, as bits.
    #[must_use]
    #[inline]
    pub const fn ascii(&self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// Whether all members are below 128.
    #[must_use]
    #[inline]
    pub const fn is_ascii(&self) -> bool {
        self.0[2] | self.0[3] == 0
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        Members {
            left: self.0,
            word: 0,
        }
    }
}

/// The members of a set that are left.
struct Members {
    left: [u64; 4],
    /// The words before this one are empty.
    word: usize,
}

impl Iterator for Members {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        while let Some(left) = self.left.get_mut(self.word) {
            if *left != 0 {
                let bit = left.trailing_zeros() as usize;
                *left &= *left - 1;
                return Some((self.word * 64 + bit) as u8);
            }
            self.word += 1;
        }
        None
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|byte| byte.escape_ascii().to_string()))
            .finish()
    }
}

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
        /// At least so often.
        min: u32,
        /// At most so often.
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
