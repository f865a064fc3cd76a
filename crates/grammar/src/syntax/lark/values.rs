//! The values of rules that take one, 64 bits wide: what becomes of a value, and conditions on it (llguidance,
//! docs/parametric.md).

use super::lexer::{Kind, Token};
use super::statements::wrong;
use crate::error::Error;
use crate::limits::Limits;
use crate::syntax::rules::check_nesting;

pub(super) type Value = u64;

const HINT: &str = "values are numbers, _, and set_bit(k), clear_bit(k), bit_and(v), bit_or(v), incr([m:n]), decr([m:n])";
const CONDITIONS: &str = "conditions are true, bit_set(k), bit_clear(k), is_ones([m:n]), is_zeros([m:n]), eq ne lt le gt ge bit_count_eq … ([m:n], v), and(c, c), or(c, c), not(c)";

/// Some bits of a value.
#[derive(Clone, Copy)]
struct Bits {
    from: u32,
    count: u32,
}

impl Bits {
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.count)
    }

    fn of(self, value: Value) -> u64 {
        (value >> self.from) & self.mask()
    }
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    hint: &'static str,
}

impl Reader<'_> {
    fn offset(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.offset)
    }

    fn fails(&self, what: &str) -> Error {
        wrong(self.text, self.offset(), &format!("expected {what}")).with_hint(self.hint)
    }

    fn next(&mut self) -> Option<&Kind> {
        self.at += 1;
        self.tokens.get(self.at - 1).map(|token| &token.kind)
    }

    fn sign(&mut self, sign: char) -> Result<(), Error> {
        if self.tokens.get(self.at).map(|token| &token.kind) == Some(&Kind::Sign(sign)) {
            self.at += 1;
            return Ok(());
        }
        Err(self.fails(&sign.to_string()))
    }

    fn name(&mut self) -> Result<String, Error> {
        match self.tokens.get(self.at).map(|token| &token.kind) {
            Some(Kind::Name(name)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(self.fails("a name")),
        }
    }

    fn number(&mut self, most: u64) -> Result<u64, Error> {
        let place = self.at;
        match self.next() {
            Some(&Kind::Number(number)) if number <= most => Ok(number),
            _ => {
                self.at = place;
                Err(self.fails(&format!("a number up to {most}")))
            }
        }
    }

    /// `_` or `[m:n]`
    fn bits(&mut self) -> Result<Bits, Error> {
        if let Some(Kind::Name(name)) = self.tokens.get(self.at).map(|token| &token.kind)
            && name == "_"
        {
            self.at += 1;
            return Ok(Bits { from: 0, count: 64 });
        }
        self.sign('[')?;
        let from = self.number(63)? as u32;
        self.sign(':')?;
        let end = self.number(64)? as u32;
        if end <= from {
            self.at -= 1;
            return Err(self.fails("a later bit, as in [0:3]"));
        }
        self.sign(']')?;
        Ok(Bits {
            from,
            count: end - from,
        })
    }
}

/// Reads what stands after `::`; `value` is that of the rule around it.
pub(super) fn value(
    text: &str,
    tokens: &[Token],
    at: &mut usize,
    value: Option<Value>,
) -> Result<Value, Error> {
    let mut reader = Reader {
        text,
        tokens,
        at: *at,
        hint: HINT,
    };
    let begin = reader.at;
    if let Some(&Kind::Number(number)) = tokens.get(*at).map(|token| &token.kind) {
        *at += 1;
        return Ok(number);
    }
    let name = reader.name()?;
    let Some(value) = value else {
        reader.at = begin;
        return Err(reader.fails("a number, as no value is known here"));
    };
    let changed = if name == "_" {
        value
    } else {
        reader.sign('(')?;
        let changed = match name.as_str() {
            "set_bit" => value | 1 << reader.number(63)?,
            "clear_bit" => value & !(1 << reader.number(63)?),
            "bit_and" => value & reader.number(u64::MAX)?,
            "bit_or" => value | reader.number(u64::MAX)?,
            "incr" => {
                let bits = reader.bits()?;
                if bits.of(value) == bits.mask() {
                    value
                } else {
                    value + (1 << bits.from)
                }
            }
            "decr" => {
                let bits = reader.bits()?;
                if bits.of(value) == 0 {
                    value
                } else {
                    value - (1 << bits.from)
                }
            }
            _ => {
                reader.at = begin;
                return Err(reader.fails("a value"));
            }
        };
        reader.sign(')')?;
        changed
    };
    *at = reader.at;
    Ok(changed)
}

/// Reads a condition, and says whether it holds; `depth` others are around it.
pub(super) fn condition(
    text: &str,
    limits: &Limits,
    tokens: &[Token],
    at: &mut usize,
    value: Option<Value>,
    depth: usize,
) -> Result<bool, Error> {
    let mut reader = Reader {
        text,
        tokens,
        at: *at,
        hint: CONDITIONS,
    };
    check_nesting(text, limits, depth, reader.offset())?;
    let begin = reader.at;
    let name = reader.name()?;
    let value = value.unwrap_or(0);
    if name == "true" {
        if reader.sign('(').is_ok() {
            reader.sign(')')?;
        }
        *at = reader.at;
        return Ok(true);
    }
    reader.sign('(')?;
    let inner = |reader: &mut Reader<'_>| {
        condition(text, limits, tokens, &mut reader.at, Some(value), depth + 1)
    };
    let holds = match name.as_str() {
        "and" | "or" => {
            let left = inner(&mut reader)?;
            reader.sign(',')?;
            let right = inner(&mut reader)?;
            if name == "and" {
                left && right
            } else {
                left || right
            }
        }
        "not" => !inner(&mut reader)?,
        "bit_clear" => value >> reader.number(63)? & 1 == 0,
        "bit_set" => value >> reader.number(63)? & 1 == 1,
        "is_ones" => {
            let bits = reader.bits()?;
            bits.of(value) == bits.mask()
        }
        "is_zeros" => reader.bits()?.of(value) == 0,
        _ => {
            let (given, compared) = match name.strip_prefix("bit_count_") {
                Some(compared) => (None, compared),
                None => (Some(()), name.as_str()),
            };
            if !matches!(compared, "eq" | "ne" | "lt" | "le" | "gt" | "ge") {
                reader.at = begin;
                return Err(reader.fails("a condition"));
            }
            let bits = reader.bits()?.of(value);
            let left = given.map_or(u64::from(bits.count_ones()), |()| bits);
            reader.sign(',')?;
            let right = reader.number(u64::MAX)?;
            match compared {
                "eq" => left == right,
                "ne" => left != right,
                "lt" => left < right,
                "le" => left <= right,
                "gt" => left > right,
                _ => left >= right,
            }
        }
    };
    reader.sign(')')?;
    *at = reader.at;
    Ok(holds)
}
