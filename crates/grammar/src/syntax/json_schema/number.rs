//! Numbers between bounds, as regular languages over their digits.
//!
//! An integer is written plainly (`-?` and digits). A number without bounds is written in any way that JSON has; with
//! bounds it is written without an exponent. `-0` is written only where there are no bounds.

use std::sync::LazyLock;

use super::decimal::Decimal;
use crate::ir::{ByteSet, Regex};

/// A bound and whether it is itself outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) value: Decimal,
    pub(super) exclusive: bool,
}

fn digit(first: u8, last: u8) -> Regex {
    Regex::Class(ByteSet::range(first, last))
}

fn digits(min: usize, max: Option<usize>) -> Regex {
    Regex::repeat(digit(b'0', b'9'), min as u32, max.map(|max| max as u32))
}

/// Non-negative integers without a leading zero.
fn natural() -> Regex {
    Regex::alt(vec![
        Regex::literal(b"0"),
        Regex::concat(vec![digit(b'1', b'9'), digits(0, None)]),
    ])
}

fn minus() -> Regex {
    Regex::literal(b"-")
}

/// Any integer.
pub(super) fn any_integer() -> Regex {
    static INTEGER: LazyLock<Regex> =
        LazyLock::new(|| Regex::concat(vec![Regex::repeat(minus(), 0, Some(1)), natural()]));
    INTEGER.clone()
}

/// Any JSON number.
pub(super) fn any_number() -> Regex {
    static NUMBER: LazyLock<Regex> = LazyLock::new(number);
    NUMBER.clone()
}

fn number() -> Regex {
    let sign = Regex::repeat(
        Regex::Class(ByteSet::byte(b'+').union(&ByteSet::byte(b'-'))),
        0,
        Some(1),
    );
    let exponent = Regex::concat(vec![
        Regex::Class(ByteSet::byte(b'e').union(&ByteSet::byte(b'E'))),
        sign,
        digits(1, None),
    ]);
    Regex::concat(vec![plain_number(), Regex::repeat(exponent, 0, Some(1))])
}

/// Any number without an exponent.
fn plain_number() -> Regex {
    let fraction = Regex::concat(vec![Regex::literal(b"."), digits(1, None)]);
    Regex::concat(vec![any_integer(), Regex::repeat(fraction, 0, Some(1))])
}

/// Any number without an exponent that is no integer.
pub(super) fn any_fraction() -> Regex {
    Regex::concat(vec![
        any_integer(),
        Regex::literal(b"."),
        digits(0, None),
        digit(b'1', b'9'),
        digits(0, None),
    ])
}

/// The plain spellings of one number: zeros after the point change nothing.
pub(super) fn spellings(value: &Decimal) -> Regex {
    let mut text = if value.negative {
        b"-".to_vec()
    } else {
        Vec::new()
    };
    text.extend(if value.int.is_empty() {
        b"0"
    } else {
        &value.int[..]
    });
    let zeros = Regex::repeat(Regex::literal(b"0"), 0, None);
    if value.frac.is_empty() {
        let fraction = Regex::concat(vec![Regex::literal(b".0"), zeros]);
        let mut parts = vec![Regex::literal(&text), Regex::repeat(fraction, 0, Some(1))];
        if value.is_zero() {
            parts.insert(0, Regex::repeat(minus(), 0, Some(1)));
        }
        Regex::concat(parts)
    } else {
        text.push(b'.');
        text.extend(&value.frac);
        Regex::concat(vec![Regex::literal(&text), zeros])
    }
}

/// Integers between two bounds.
pub(super) fn integers(min: Option<&Bound>, max: Option<&Bound>) -> Regex {
    let low = min.map(lowest);
    let high = max.map(highest);
    if let (Some(low), Some(high)) = (&low, &high)
        && low > high
    {
        return Regex::Nothing;
    }
    if low.is_none() && high.is_none() {
        return any_integer();
    }
    let zero = Decimal::default();
    let mut parts = Vec::new();
    // The part below zero, by size.
    if low.as_ref().is_none_or(|low| *low < zero) {
        let nearest = match &high {
            Some(high) if *high < zero => high.negated(),
            _ => Decimal::from_small(1),
        };
        let farthest = low.as_ref().map(Decimal::negated);
        let sizes = naturals(&nearest, farthest.as_ref());
        parts.push(Regex::concat(vec![minus(), sizes]));
    }
    if high.as_ref().is_none_or(|high| *high >= zero) {
        let nearest = low.filter(|low| *low > zero).unwrap_or(zero);
        parts.push(naturals(&nearest, high.as_ref()));
    }
    Regex::alt(parts)
}

/// The lowest integer that a lower bound allows.
pub(super) fn lowest(bound: &Bound) -> Decimal {
    let ceil = bound.value.ceil();
    if bound.exclusive && bound.value.is_integer() {
        ceil.successor()
    } else {
        ceil
    }
}

/// The highest integer that an upper bound allows.
pub(super) fn highest(bound: &Bound) -> Decimal {
    let floor = bound.value.floor();
    if bound.exclusive && bound.value.is_integer() {
        floor.predecessor()
    } else {
        floor
    }
}

/// Non-negative integers from `low` to `high`, both inclusive and `low <= high`.
fn naturals(low: &Decimal, high: Option<&Decimal>) -> Regex {
    let written = |value: &Decimal| {
        if value.int.is_empty() {
            b"0".to_vec()
        } else {
            value.int.clone()
        }
    };
    let low = written(low);
    let mut parts = Vec::new();
    let Some(high) = high.map(written) else {
        parts.push(at_least(&low));
        if low == b"0" {
            parts = vec![Regex::literal(b"0"), at_least(b"1")];
        }
        parts.push(Regex::concat(vec![
            digit(b'1', b'9'),
            digits(low.len(), None),
        ]));
        return Regex::alt(parts);
    };
    if low.len() == high.len() {
        return between(&low, &high);
    }
    if low == b"0" {
        // Zero is the only number that begins with a zero.
        parts.push(Regex::literal(b"0"));
        parts.push(at_least(b"1"));
    } else {
        parts.push(at_least(&low));
    }
    if high.len() > low.len() + 1 {
        parts.push(Regex::concat(vec![
            digit(b'1', b'9'),
            digits(low.len(), Some(high.len() - 2)),
        ]));
    }
    let mut smallest = vec![b'0'; high.len()];
    smallest[0] = b'1';
    parts.push(between(&smallest, &high));
    Regex::alt(parts)
}

/// Digit strings as long as `low` and not below it.
fn at_least(low: &[u8]) -> Regex {
    between(low, &vec![b'9'; low.len()])
}

/// Digit strings of one length between two of that length.
fn between(low: &[u8], high: &[u8]) -> Regex {
    let common = low
        .iter()
        .zip(high)
        .take_while(|(low, high)| low == high)
        .count();
    let prefix = Regex::literal(&low[..common]);
    if common == low.len() {
        return prefix;
    }
    let rest = low.len() - common - 1;
    let (first, last) = (low[common], high[common]);
    let mut parts = Vec::new();
    let step = |at: usize, first: u8, last: u8, known: &[u8]| {
        (first <= last).then(|| {
            Regex::concat(vec![
                Regex::literal(&known[common..at]),
                digit(first, last),
                digits(known.len() - at - 1, Some(known.len() - at - 1)),
            ])
        })
    };
    // Along the lower bound, then in between, then along the upper bound.
    let low_is_round = low[common + 1..].iter().all(|&digit| digit == b'0');
    let high_is_round = high[common + 1..].iter().all(|&digit| digit == b'9');
    if !low_is_round {
        parts.push(Regex::literal(&low[common..]));
        for at in (common + 1..low.len()).rev() {
            parts.extend(step(at, low[at] + 1, b'9', low));
        }
    }
    let middle_first = if low_is_round { first } else { first + 1 };
    let middle_last = if high_is_round { last } else { last - 1 };
    if middle_first <= middle_last {
        parts.push(Regex::concat(vec![
            digit(middle_first, middle_last),
            digits(rest, Some(rest)),
        ]));
    }
    if !high_is_round {
        for at in common + 1..high.len() {
            if high[at] > b'0' {
                parts.extend(step(at, b'0', high[at] - 1, high));
            }
        }
        parts.push(Regex::literal(&high[common..]));
    }
    Regex::concat(vec![prefix, Regex::alt(parts)])
}

/// Numbers without an exponent between two bounds.
pub(super) fn numbers(min: Option<&Bound>, max: Option<&Bound>) -> Regex {
    let mut negative = vec![plain_size()];
    let mut positive = vec![plain_size()];
    let (mut has_negative, mut has_positive) = (true, true);
    if let Some(min) = min {
        if min.value.negative {
            negative.push(size_at_most(min));
        } else {
            has_negative = false;
            positive.push(size_at_least(min));
        }
    }
    if let Some(max) = max {
        if max.value.negative {
            has_positive = false;
            negative.push(size_at_least(max));
        } else if max.value.is_zero() {
            // Zero itself is written without a sign.
            has_positive = !max.exclusive;
            positive.push(size_at_most(max));
        } else {
            positive.push(size_at_most(max));
        }
    }
    // What is below zero is not zero.
    let zero = Bound {
        value: Decimal::default(),
        exclusive: true,
    };
    negative.push(size_at_least(&zero));
    let all = |mut parts: Vec<Regex>| {
        // A bound says all that the general form says.
        if parts.len() > 1 {
            parts.remove(0);
        }
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            Regex::And(parts.into())
        }
    };
    let mut parts = Vec::new();
    if has_negative {
        parts.push(Regex::concat(vec![minus(), all(negative)]));
    }
    if has_positive {
        parts.push(all(positive));
    }
    Regex::alt(parts)
}

/// Numbers between two bounds; small and large ones also with an exponent, where the bounds leave no doubt about them.
pub(super) fn numbers_with_exponents(min: Option<&Bound>, max: Option<&Bound>) -> Regex {
    let one = Decimal::from_small(1);
    let mantissa = || {
        let fraction = Regex::concat(vec![Regex::literal(b"."), digits(1, None)]);
        Regex::concat(vec![digit(b'1', b'9'), Regex::repeat(fraction, 0, Some(1))])
    };
    let exponent = |sign: Regex| {
        Regex::concat(vec![
            Regex::Class(ByteSet::byte(b'e').union(&ByteSet::byte(b'E'))),
            sign,
            digits(0, None),
            digit(b'1', b'9'),
            digits(0, None),
        ])
    };
    let small = || Regex::concat(vec![mantissa(), exponent(minus())]);
    let large = || {
        let plus = Regex::repeat(Regex::literal(b"+"), 0, Some(1));
        Regex::concat(vec![mantissa(), exponent(plus)])
    };
    // Sizes between zero and one, and above one, on each side of zero.
    let zero = Decimal::default();
    let minus_one = one.negated();
    let above = |value: &Decimal| min.is_none_or(|bound| bound.value <= *value);
    let below = |value: &Decimal| max.is_none_or(|bound| bound.value >= *value);
    let mut parts = vec![numbers(min, max)];
    if above(&zero) && below(&one) {
        parts.push(small());
    }
    if above(&one) && max.is_none() {
        parts.push(large());
    }
    if below(&zero) && above(&minus_one) {
        parts.push(Regex::concat(vec![minus(), small()]));
    }
    if below(&minus_one) && min.is_none() {
        parts.push(Regex::concat(vec![minus(), large()]));
    }
    Regex::alt(parts)
}

fn plain_size() -> Regex {
    with_fraction(natural(), Some(digits(1, None)), true)
}

/// An integer part with a fraction: its digits, and whether there may be none.
fn with_fraction(int: Regex, fraction: Option<Regex>, none: bool) -> Regex {
    match fraction {
        None => {
            if none {
                int
            } else {
                Regex::Nothing
            }
        }
        Some(fraction) => {
            let fraction = Regex::concat(vec![Regex::literal(b"."), fraction]);
            let fraction = if none {
                Regex::repeat(fraction, 0, Some(1))
            } else {
                fraction
            };
            Regex::concat(vec![int, fraction])
        }
    }
}

fn int_digits(value: &Decimal) -> Regex {
    Regex::literal(if value.int.is_empty() {
        b"0"
    } else {
        &value.int
    })
}

/// Numbers without sign that are at least as large as the bound.
fn size_at_least(bound: &Bound) -> Regex {
    let Bound { value, exclusive } = bound;
    let whole = Decimal {
        negative: false,
        int: value.int.clone(),
        frac: Vec::new(),
    };
    let above = with_fraction(
        naturals(&whole.successor(), None),
        Some(digits(1, None)),
        true,
    );
    // The same integer part and a fraction that is large enough.
    let frac = &value.frac;
    let mut fractions = Vec::new();
    for at in 0..frac.len() {
        if frac[at] < b'9' {
            fractions.push(Regex::concat(vec![
                Regex::literal(&frac[..at]),
                digit(frac[at] + 1, b'9'),
                digits(0, None),
            ]));
        }
    }
    if *exclusive {
        fractions.push(Regex::concat(vec![
            Regex::literal(frac),
            digits(0, None),
            digit(b'1', b'9'),
            digits(0, None),
        ]));
    } else {
        fractions.push(Regex::concat(vec![
            Regex::literal(frac),
            digits(usize::from(frac.is_empty()), None),
        ]));
    }
    let none = frac.is_empty() && !exclusive;
    let same = with_fraction(int_digits(value), Some(Regex::alt(fractions)), none);
    Regex::alt(vec![same, above])
}

/// Numbers without sign that are at most as large as the bound.
fn size_at_most(bound: &Bound) -> Regex {
    let Bound { value, exclusive } = bound;
    let mut parts = Vec::new();
    if !value.int.is_empty() {
        let whole = Decimal {
            negative: false,
            int: value.int.clone(),
            frac: Vec::new(),
        };
        let below = naturals(&Decimal::default(), Some(&whole.predecessor()));
        parts.push(with_fraction(below, Some(digits(1, None)), true));
    }
    let frac = &value.frac;
    let zeros = |min: u32| Regex::repeat(Regex::literal(b"0"), min, None);
    let mut fractions = Vec::new();
    for at in 0..frac.len() {
        if frac[at] > b'0' {
            fractions.push(Regex::concat(vec![
                Regex::literal(&frac[..at]),
                digit(b'0', frac[at] - 1),
                digits(0, None),
            ]));
        }
        // A fraction that stops before the bound's does is smaller.
        if at > 0 {
            fractions.push(Regex::literal(&frac[..at]));
        }
    }
    if !exclusive {
        fractions.push(Regex::concat(vec![
            Regex::literal(frac),
            zeros(u32::from(frac.is_empty())),
        ]));
    }
    let none = !frac.is_empty() || !exclusive;
    let fractions = if fractions.is_empty() {
        None
    } else {
        Some(Regex::alt(fractions))
    };
    parts.push(with_fraction(int_digits(value), fractions, none));
    Regex::alt(parts)
}

/// Numbers that are a multiple of `10^-places`, without an exponent.
pub(super) fn with_places(places: usize) -> Regex {
    let zeros = Regex::repeat(Regex::literal(b"0"), 0, None);
    let fraction = if places == 0 {
        Regex::concat(vec![Regex::literal(b".0"), zeros])
    } else {
        Regex::concat(vec![Regex::literal(b"."), digits(1, Some(places)), zeros])
    };
    Regex::concat(vec![any_integer(), Regex::repeat(fraction, 0, Some(1))])
}
