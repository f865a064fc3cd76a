//! Decimal numbers of any size, as digits: schemas are compared exactly, never through floating point.

use crate::tuning::MAX_EXPONENT;
use std::cmp::Ordering;

/// A decimal number: `±int.frac`, without zeros that say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    /// Digits before the point, `b'0'..=b'9'`; none for zero.
    pub(super) int: Vec<u8>,
    /// Digits after the point.
    pub(super) frac: Vec<u8>,
}

impl Decimal {
    /// Reads a JSON number. None if its exponent is out of reach.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = text
            .strip_prefix('-')
            .map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let exponent: i64 = exponent
            .parse()
            .ok()
            .filter(|exponent: &i64| exponent.abs() <= MAX_EXPONENT)?;
        let (int, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = int.bytes().chain(frac.bytes()).collect();
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut point = i64::try_from(int.len()).ok()? + exponent;
        if point < 0 {
            digits.splice(
                0..0,
                std::iter::repeat_n(b'0', point.unsigned_abs() as usize),
            );
            point = 0;
        }
        let point = usize::try_from(point).ok()?;
        if digits.len() < point {
            digits.resize(point, b'0');
        }
        let frac = digits.split_off(point);
        let mut number = Self {
            negative,
            int: digits,
            frac,
        };
        number.trim();
        Some(number)
    }

    fn trim(&mut self) {
        let zeros = self.int.iter().take_while(|&&digit| digit == b'0').count();
        self.int.drain(..zeros);
        while self.frac.last() == Some(&b'0') {
            self.frac.pop();
        }
        if self.is_zero() {
            self.negative = false;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.int.is_empty() && self.frac.is_empty()
    }

    pub(super) fn is_integer(&self) -> bool {
        self.frac.is_empty()
    }

    /// Whether this is a whole multiple of `factor`; None where the factor has too many digits to tell.
    pub(super) fn is_multiple_of(&self, factor: &Self) -> Option<bool> {
        let places = self.frac.len().max(factor.frac.len());
        let modulus = factor.scaled(places)?;
        let remainder = self.digits(places).try_fold(0u128, |rest, digit| {
            Some((rest * 10 + u128::from(digit - b'0')) % u128::from(modulus))
        })?;
        Some(remainder == 0)
    }

    /// The digits of the number times `10^places`; `places` are at least those it has.
    fn digits(&self, places: usize) -> impl Iterator<Item = u8> {
        let zeros = places - self.frac.len();
        let given = self.int.iter().chain(&self.frac).copied();
        given.chain(std::iter::repeat_n(b'0', zeros))
    }

    /// The size of the number times `10^places` as an integer, if that fits.
    pub(super) fn scaled(&self, places: usize) -> Option<u64> {
        self.digits(places).try_fold(0u64, |size, digit| {
            size.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
    }

    /// The value as a count, if it is one that fits.
    pub(super) fn count(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        std::str::from_utf8(&self.int)
            .ok()
            .map(|text| if text.is_empty() { "0" } else { text })?
            .parse()
            .ok()
    }

    /// The value as a small integer.
    pub(super) fn small(&self) -> Option<i64> {
        let size = i64::try_from(
            Self {
                negative: false,
                ..self.clone()
            }
            .count()?,
        )
        .ok()?;
        Some(if self.negative { -size } else { size })
    }

    pub(super) fn from_small(value: i64) -> Self {
        let mut number = Self {
            negative: value < 0,
            int: value.unsigned_abs().to_string().into_bytes(),
            frac: Vec::new(),
        };
        number.trim();
        number
    }

    fn size(&self, other: &Self) -> Ordering {
        self.int
            .len()
            .cmp(&other.int.len())
            .then_with(|| self.int.cmp(&other.int))
            .then_with(|| self.frac.cmp(&other.frac))
    }

    /// The next integer above (or the number itself).
    pub(super) fn ceil(&self) -> Self {
        let whole = Self {
            frac: Vec::new(),
            ..self.clone()
        };
        if self.is_integer() {
            whole
        } else if self.negative {
            let mut whole = whole;
            whole.trim();
            whole
        } else {
            whole.away_from_zero()
        }
    }

    /// The next integer below (or the number itself).
    pub(super) fn floor(&self) -> Self {
        self.negated().ceil().negated()
    }

    pub(super) fn negated(&self) -> Self {
        Self {
            negative: !self.negative && !self.is_zero(),
            ..self.clone()
        }
    }

    /// The next integer of larger size; expects an integer.
    fn away_from_zero(mut self) -> Self {
        for digit in self.int.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                return self;
            }
        }
        self.int.insert(0, b'1');
        self
    }

    /// The next integer of smaller size; expects an integer other than zero.
    fn towards_zero(mut self) -> Self {
        for digit in self.int.iter_mut().rev() {
            if *digit == b'0' {
                *digit = b'9';
            } else {
                *digit -= 1;
                break;
            }
        }
        self.trim();
        self
    }

    /// The integer plus one.
    pub(super) fn successor(&self) -> Self {
        if self.negative {
            self.clone().towards_zero()
        } else {
            self.clone().away_from_zero()
        }
    }

    /// The integer minus one.
    pub(super) fn predecessor(&self) -> Self {
        self.negated().successor().negated()
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.size(other),
            (true, true) => other.size(self),
        }
    }
}
