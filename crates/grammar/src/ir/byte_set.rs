//! Sets of bytes, as 256 bits.

use std::fmt;

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
