//! Whitespace, and values that are written out. Whitespace that may vary belongs to the token that follows it; that of a
//! fixed style to the separator beside which it stands.

use crate::json::Value;

use super::decimal::Decimal;
use super::notation::Notation;
use super::options::Options;
use super::whitespace::Whitespace;
use crate::error::Error;
use crate::ir::{ByteSet, Regex};
use crate::limits::Limits;
use crate::maps::SeededIndexSet;
use crate::tuning::MAX_INDENTED_NESTING;

/// How a document is spaced.
#[derive(Debug, Clone)]
pub(super) struct Spelling {
    pub(super) notation: Notation,
    /// What may stand before every word; none for nothing.
    whitespace: Option<Regex>,
    comma: String,
    colon: String,
    /// Spaces for each container that a line is in, where each item has a line of its own.
    indent: Option<usize>,
    /// What stands before and after the name of a member, with the usual spacing.
    around: Option<Around>,
}

/// What stands around the name of a member: before the first one, before another one, after it.
#[derive(Debug, Clone)]
struct Around {
    first: Regex,
    next: Regex,
    colon: Regex,
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// At the very beginning of the document.
    pub(super) first: bool,
    /// The number of containers around it; always 0 where that changes nothing.
    pub(super) depth: u32,
}

impl Position {
    /// That of a whole document.
    pub(super) const DOCUMENT: Self = Self {
        first: true,
        depth: 0,
    };

    /// That of what a container holds, where it does not matter which one.
    pub(super) const INSIDE: Self = Self {
        first: false,
        depth: 0,
    };
}

enum Piece<'v> {
    Word(Regex),
    Value(&'v Value, u32),
}

impl Spelling {
    pub(super) fn new(options: &Options, limits: &Limits) -> Result<Self, Error> {
        let mut spelling = Self {
            notation: options.notation.clone(),
            whitespace: None,
            comma: ",".to_owned(),
            colon: ":".to_owned(),
            indent: None,
            around: None,
        };
        match options.whitespace.as_ref().unwrap_or(&Whitespace::Flexible) {
            Whitespace::Compact => {}
            Whitespace::Flexible => {
                let set = b" \t\n\r"
                    .iter()
                    .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte)));
                spelling.whitespace = Some(Regex::repeat(
                    Regex::Class(set),
                    0,
                    Some(limits.json_whitespace),
                ));
            }
            Whitespace::Separators { comma, colon } => {
                spelling.comma.clone_from(comma);
                spelling.colon.clone_from(colon);
            }
            Whitespace::Indent(spaces) => {
                spelling.colon.push(' ');
                spelling.indent = Some(*spaces as usize);
            }
            Whitespace::Regex(pattern) => {
                spelling.whitespace = Some(super::whitespace::whitespace(pattern, limits)?);
            }
        }
        if let (Some(whitespace), None) = (&spelling.whitespace, spelling.indent) {
            let sign = |sign: &[u8]| Regex::literal(sign);
            spelling.around = Some(Around {
                first: whitespace.clone(),
                next: Regex::Concat([whitespace.clone(), sign(b","), whitespace.clone()].into()),
                colon: Regex::Concat([whitespace.clone(), sign(b":")].into()),
            });
        }
        Ok(spelling)
    }

    /// The place of what a container at this place holds; None where that is too deep.
    pub(super) fn inside(&self, place: Position) -> Option<Position> {
        let depth = match self.indent {
            None => 0,
            Some(_) if place.depth < MAX_INDENTED_NESTING => place.depth + 1,
            Some(_) => return None,
        };
        Some(Position {
            first: false,
            depth,
        })
    }

    /// A word, with whitespace before it unless it is the first of the document.
    pub(super) fn word(&self, word: Regex, first: bool) -> Regex {
        match &self.whitespace {
            Some(whitespace) if !first => match word {
                Regex::Concat(parts) => Regex::Concat(
                    std::iter::once(whitespace.clone())
                        .chain(parts.iter().cloned())
                        .collect(),
                ),
                word => Regex::concat(vec![whitespace.clone(), word]),
            },
            _ => word,
        }
    }

    /// A new line, where items have lines of their own.
    fn line(&self, depth: u32) -> String {
        self.indent.map_or(String::new(), |spaces| {
            format!("\n{}", " ".repeat(spaces * depth as usize))
        })
    }

    /// What stands before the first of the items or members of a container at this place.
    pub(super) fn lead(&self, place: Position) -> Regex {
        Regex::literal(self.line(place.depth + 1).as_bytes())
    }

    /// The comma between items or members of a container at this place.
    pub(super) fn comma(&self, place: Position) -> Regex {
        let comma = format!("{}{}", self.comma, self.line(place.depth + 1));
        self.word(Regex::literal(comma.as_bytes()), false)
    }

    /// The sign that closes a container at this place; `empty`: right after the one that opens it.
    pub(super) fn close(&self, sign: &str, place: Position, empty: bool) -> Regex {
        let line = if empty {
            String::new()
        } else {
            self.line(place.depth)
        };
        self.word(Regex::literal(format!("{line}{sign}").as_bytes()), false)
    }

    /// The name of a member, up to its colon; `comma`: another member stands before it.
    pub(super) fn key(&self, name: Regex, comma: bool, place: Position) -> Regex {
        // The usual spacing, in one piece.
        if let (Some(around), Regex::Literal(_)) = (&self.around, &name) {
            let before = if comma { &around.next } else { &around.first };
            return Regex::Concat([before.clone(), name, around.colon.clone()].into());
        }
        let before = if comma {
            self.comma(place)
        } else {
            self.lead(place)
        };
        sequence(vec![
            before,
            self.word(name, false),
            self.word(Regex::literal(self.colon.as_bytes()), false),
        ])
    }

    /// A fixed value that is neither an array nor an object, without whitespace.
    pub(super) fn scalar(&self, value: &Value) -> Regex {
        match value {
            Value::Number(number) => spellings(number.as_str()),
            Value::String(string) => self.notation.canonical(string),
            Value::Bool(value) => self.notation.boolean(*value),
            Value::Null => self.notation.null(),
            other => Regex::literal(other.to_string().as_bytes()),
        }
    }

    /// A fixed value.
    pub(super) fn value(&self, value: &Value, place: Position) -> Regex {
        let mut words: Vec<Regex> = Vec::new();
        let mut work = vec![Piece::Value(value, place.depth)];
        while let Some(piece) = work.pop() {
            let (value, depth) = match piece {
                Piece::Word(sign) => {
                    words.push(sign);
                    continue;
                }
                Piece::Value(value, depth) => (value, depth),
            };
            let own = Position {
                first: false,
                depth,
            };
            let spelled = match value {
                Value::Array(items) => {
                    work.push(Piece::Word(self.close("]", own, items.is_empty())));
                    for (at, item) in items.iter().enumerate().rev() {
                        let before = if at > 0 {
                            self.comma(own)
                        } else {
                            self.lead(own)
                        };
                        work.extend([Piece::Value(item, depth + 1), Piece::Word(before)]);
                    }
                    Regex::literal(b"[")
                }
                Value::Object(members) => {
                    work.push(Piece::Word(self.close("}", own, members.is_empty())));
                    for (at, (name, member)) in members.iter().enumerate().rev() {
                        let name = self.notation.key(name);
                        let key = self.key(name, at > 0, own);
                        work.extend([Piece::Value(member, depth + 1), Piece::Word(key)]);
                    }
                    Regex::literal(b"{")
                }
                scalar => self.scalar(scalar),
            };
            words.push(self.word(spelled, place.first && words.is_empty()));
        }
        sequence(words)
    }
}

/// A number as it is given, as a plain integer if it is one, and as JavaScript and Python print it.
fn spellings(given: &str) -> Regex {
    let mut all = SeededIndexSet::<Vec<u8>>::default();
    all.insert(given.as_bytes().to_vec());
    if let Some(number) = Decimal::parse(given) {
        if number.is_integer() {
            let sign: &[u8] = if number.negative { b"-" } else { b"" };
            let digits: &[u8] = if number.int.is_empty() {
                b"0"
            } else {
                &number.int
            };
            all.insert([sign, digits].concat());
        }
        if !number.is_zero() {
            all.extend(printed(&number));
        }
    }
    let all = all.into_iter().map(|text| Regex::literal(&text));
    Regex::alt(all.collect())
}

/// A number that is not zero as JavaScript and Python print it: the smallest and largest with an exponent.
fn printed(number: &Decimal) -> Vec<Vec<u8>> {
    let all: Vec<u8> = number.int.iter().chain(&number.frac).copied().collect();
    let zeros = all.iter().take_while(|&&digit| digit == b'0').count();
    let last = all.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
    let digits = &all[zeros..=last];
    // Of the first digit.
    let places = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let exponent = places(number.int.len()) - places(zeros) - 1;
    let sign: &[u8] = if number.negative { b"-" } else { b"" };
    let point: &[u8] = if digits.len() > 1 { b"." } else { b"" };
    let with_exponent = |width: usize| {
        let way = if exponent < 0 { '-' } else { '+' };
        let exponent = format!("e{way}{:0width$}", exponent.abs());
        [sign, &digits[..1], point, &digits[1..], exponent.as_bytes()].concat()
    };
    let plain = || {
        let int: &[u8] = if number.int.is_empty() {
            b"0"
        } else {
            &number.int
        };
        let point: &[u8] = if number.frac.is_empty() { b"" } else { b"." };
        [sign, int, point, &number.frac].concat()
    };
    let mut ways = Vec::new();
    // (from, to, digits of an exponent)
    for (from, to, width) in [(-6, 21, 1), (-4, 16, 2)] {
        ways.push(if (from..to).contains(&exponent) {
            plain()
        } else {
            with_exponent(width)
        });
    }
    ways
}

/// Words after one another as one flat concatenation, neighbouring literals joined.
pub(super) fn sequence(words: Vec<Regex>) -> Regex {
    let mut out: Vec<Regex> = Vec::new();
    for word in words {
        let parts = match word {
            Regex::Concat(parts) => parts.to_vec(),
            other => vec![other],
        };
        for part in parts {
            match (out.last_mut(), part) {
                (Some(Regex::Literal(before)), Regex::Literal(bytes)) => {
                    *before = before.iter().chain(bytes.iter()).copied().collect();
                }
                (_, part) => out.push(part),
            }
        }
    }
    Regex::concat(out)
}
