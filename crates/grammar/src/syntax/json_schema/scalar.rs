//! Strings and numbers to regular languages.

use crate::json::Value;

use super::decimal::Decimal;
use super::demands::{Conjunction, Demands};
use super::keywords::{Multiple, Types};
use super::lower::Lowering;
use super::notation::Notation;
use super::number::{self, highest, lowest};
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ByteSet, ExprId, Regex};
use crate::tuning::MAX_LISTED_INTEGERS;

fn all_of(mut parts: Vec<Regex>) -> Regex {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        Regex::And(parts.into())
    }
}

fn none_of(words: Vec<Regex>) -> Regex {
    Regex::Not(Regex::alt(words).into())
}

impl Lowering<'_> {
    /// A string.
    pub(super) fn string(&mut self, demands: &Demands) -> Result<Regex, Error> {
        let plain = demands.patterns.is_empty() && !demands.excluded.iter().any(Value::is_string);
        if plain {
            let (min, max) = self.lengths(demands)?;
            if max.is_some_and(|max| max < min) {
                return Ok(Regex::Nothing);
            }
            let notation = &self.spelling.notation;
            if min == 0 && max.is_none() {
                return Ok(notation.any_string());
            }
            return Ok(notation.quoted(Regex::repeat(notation.any_character(), min, max)));
        }
        let body = self.string_body(demands)?;
        Ok(self.spelling.notation.quoted(body))
    }

    /// What stands inside the quotes of a string, written in the canonical way.
    pub(super) fn string_body(&mut self, demands: &Demands) -> Result<Regex, Error> {
        let (mut min, mut max) = self.lengths(demands)?;
        let mut parts = Vec::new();
        let mut positive = false;
        let mut nullable = true;
        for pattern in &demands.patterns {
            if let Some(body) = self.schemas.pattern_body(pattern)? {
                positive |= !pattern.negated;
                nullable &= pattern.negated || body.is_nullable();
                parts.push(body);
            }
        }
        // One kind of character, repeated, takes the length as its own bounds.
        if let [
            Regex::Repeat {
                inner,
                min: own_min,
                max: own_max,
            },
        ] = &parts[..]
            && is_character(inner, &self.spelling.notation)
        {
            min = min.max(*own_min);
            max = match (max, own_max) {
                (Some(max), Some(own)) => Some(max.min(*own)),
                (max, own) => max.or(*own),
            };
            parts = vec![Regex::repeat(inner.as_ref().clone(), min, max)];
        } else if !positive || min > u32::from(!nullable) || max.is_some() {
            let character = self.spelling.notation.canonical_character();
            parts.push(Regex::repeat(character, min, max));
        }
        if max.is_some_and(|max| max < min) {
            return Ok(Regex::Nothing);
        }
        let excluded: Vec<Regex> = demands
            .excluded
            .iter()
            .filter_map(Value::as_str)
            .map(|text| self.spelling.notation.body(text))
            .collect();
        if !excluded.is_empty() {
            parts.push(none_of(excluded));
        }
        Ok(all_of(parts))
    }

    /// The spellings of names that satisfy a conjunction, inside their quotes; None if that is not regular.
    pub(super) fn name_body(&mut self, conjunction: &Conjunction) -> Result<Option<Regex>, Error> {
        let demands = self.schemas.demands(conjunction)?;
        if !demands.types.has(Types::STRING) {
            return Ok(Some(Regex::Nothing));
        }
        if !demands.choices.is_empty()
            || demands
                .members
                .iter()
                .any(|member| !member.widened.is_empty())
        {
            return Ok(None);
        }
        if let Some(values) = &demands.values {
            let mut words = Vec::new();
            for value in values {
                match (self.schemas.allows(conjunction, value)?, value.as_str()) {
                    (Some(true), Some(name)) => words.push(self.spelling.notation.body(name)),
                    (None, Some(_)) => return Ok(None),
                    _ => {}
                }
            }
            return Ok(Some(Regex::alt(words)));
        }
        self.string_body(&demands).map(Some)
    }

    /// A number.
    pub(super) fn number(&mut self, demands: &Demands, place: Position) -> Result<ExprId, Error> {
        let (min, max) = (demands.minimum.as_ref(), demands.maximum.as_ref());
        let integer = !demands.types.has(Types::FRACTION);
        let excluded: Vec<Regex> = demands
            .excluded
            .iter()
            .filter(|value| value.is_number())
            .filter_map(|value| Decimal::parse(&value.to_string()))
            .map(|value| number::spellings(&value))
            .collect();
        if integer && let Some(listed) = listed(demands) {
            return Ok(self.word(all_but(listed, excluded), place));
        }
        let bounded = min.is_some() || max.is_some();
        let mut parts = vec![match (integer, bounded || !excluded.is_empty()) {
            (true, _) => number::integers(min, max),
            (false, true) if excluded.is_empty() && demands.multiples.is_empty() => {
                number::numbers_with_exponents(min, max)
            }
            (false, true) => number::numbers(min, max),
            (false, false) => number::any_number(),
        }];
        if !integer && !demands.types.has(Types::INTEGER) {
            parts.push(number::any_fraction());
        }
        let regular: Option<Vec<Multiples>> = demands
            .multiples
            .iter()
            .map(|multiple| multiples(multiple, integer))
            .collect();
        if let Some(regular) = regular {
            for multiples in regular {
                if let Multiples::Regular(regex) = multiples {
                    parts.push(regex);
                }
            }
        } else {
            if let Some(counted) = self.multiples(demands)? {
                let whitespace = self.word(Regex::empty(), place);
                return Ok(self.builder.seq(vec![whitespace, counted]));
            }
            for multiple in &demands.multiples {
                self.schemas.widen(
                    &multiple.pointer,
                    "multiples of this number take too many states",
                );
            }
        }
        // A number under further conditions is written without an exponent.
        Ok(self.word(all_but(all_of(parts), excluded), place))
    }
}

fn all_but(regex: Regex, excluded: Vec<Regex>) -> Regex {
    if excluded.is_empty() {
        regex
    } else {
        Regex::And([regex, none_of(excluded)].into())
    }
}

/// Whether a regular language visibly consists of single characters.
fn is_character(regex: &Regex, notation: &Notation) -> bool {
    match regex {
        Regex::Class(set) => set.iter().all(|byte| byte.is_ascii()),
        _ => *regex == notation.canonical_character(),
    }
}

/// The multiples in a small range, one by one.
fn listed(demands: &Demands) -> Option<Regex> {
    let multiples = &demands.multiples;
    if multiples.is_empty() || multiples.iter().any(|multiple| multiple.negated) {
        return None;
    }
    let low = lowest(demands.minimum.as_ref()?).small()?;
    let high = highest(demands.maximum.as_ref()?).small()?;
    let factors: Vec<i64> = multiples
        .iter()
        .map(|multiple| multiple.factor.small())
        .collect::<Option<_>>()?;
    if high.checked_sub(low)? > MAX_LISTED_INTEGERS.saturating_mul(*factors.iter().max()?) {
        return None;
    }
    let step = *factors.iter().max()?;
    let first = low + (step - low.rem_euclid(step)) % step;
    let mut words = Vec::new();
    let mut value = first;
    while value <= high {
        if factors.iter().all(|factor| value % factor == 0) {
            words.push(Regex::literal(value.to_string().as_bytes()));
        }
        value = value.checked_add(step)?;
    }
    Some(Regex::alt(words))
}

/// Multiples that the last digits decide.
enum Multiples {
    /// Every number of the type is one.
    All,
    Regular(Regex),
}

fn multiples(multiple: &Multiple, integer: bool) -> Option<Multiples> {
    if multiple.negated {
        return None;
    }
    let factor = &multiple.factor;
    let power_of_ten = |digits: &[u8]| {
        digits.first() == Some(&b'1') && digits[1..].iter().all(|&digit| digit == b'0')
    };
    if factor.int.is_empty() {
        // 10^-k, written 0.00…1.
        let (last, zeros) = factor.frac.split_last()?;
        if *last != b'1' || zeros.iter().any(|&digit| digit != b'0') {
            return None;
        }
        return Some(if integer {
            Multiples::All
        } else {
            Multiples::Regular(number::with_places(factor.frac.len()))
        });
    }
    if !factor.is_integer() {
        return None;
    }
    if factor.int == b"1" {
        return Some(if integer {
            Multiples::All
        } else {
            Multiples::Regular(number::with_places(0))
        });
    }
    if !integer {
        return None;
    }
    let size = factor.small()?;
    if power_of_ten(&factor.int) {
        return Some(Multiples::Regular(ending(&[Regex::literal(
            &factor.int[1..],
        )])));
    }
    // Divisors of 1000 show in the last three digits.
    if 1000 % size != 0 {
        return None;
    }
    let places = [1usize, 2, 3]
        .into_iter()
        .find(|&places| 10i64.pow(places as u32) % size == 0)?;
    let endings: Vec<Regex> = (0..10i64.pow(places as u32))
        .step_by(usize::try_from(size).ok()?)
        .map(|value| Regex::literal(format!("{value:0places$}").as_bytes()))
        .collect();
    // Shorter numbers are written without leading zeros.
    let short: Vec<Regex> = (0..10i64.pow(places as u32 - 1))
        .step_by(usize::try_from(size).ok()?)
        .map(|value| Regex::literal(value.to_string().as_bytes()))
        .collect();
    let sign = Regex::repeat(Regex::literal(b"-"), 0, Some(1));
    Some(Multiples::Regular(Regex::alt(vec![
        ending(&endings),
        Regex::concat(vec![sign, Regex::alt(short)]),
    ])))
}

/// Integers whose digits end in one of these.
fn ending(endings: &[Regex]) -> Regex {
    let digits = Regex::repeat(Regex::Class(ByteSet::range(b'0', b'9')), 0, None);
    let sign = Regex::repeat(Regex::literal(b"-"), 0, Some(1));
    let long = Regex::concat(vec![sign.clone(), digits, Regex::alt(endings.to_vec())]);
    Regex::alt(vec![long, Regex::concat(vec![sign, Regex::literal(b"0")])])
}
