//! Lowers `regex-syntax`'s high-level intermediate representation to a regular language. Iterative.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look};

use super::alphabet::Alphabet;
use super::branch::{Condition, Side, Text, Unsupported};
use super::branches::Branches;
use super::look_around::{Kind, Mark};
use super::patterns::Patterns;
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Limits;

/// Why a pattern is refused.
pub(super) enum Failure {
    Limit(Error),
    Unsupported(Unsupported),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Limit(error)
    }
}

impl From<Unsupported> for Failure {
    fn from(unsupported: Unsupported) -> Self {
        Self::Unsupported(unsupported)
    }
}

/// Lowers patterns over one spelling of characters.
pub(super) struct Lowering<'a> {
    limits: &'a Limits,
    alphabet: &'a mut dyn Alphabet,
    patterns: &'a mut Patterns,
    /// All texts.
    anything: Regex,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        limits: &'a Limits,
        alphabet: &'a mut dyn Alphabet,
        patterns: &'a mut Patterns,
    ) -> Result<Self, Error> {
        let character = patterns.class(&[('\0', char::MAX)], alphabet)?;
        Ok(Self {
            limits,
            alphabet,
            patterns,
            anything: Regex::repeat(character, 0, None),
        })
    }

    /// Lowers one pattern; `mark` says what the name of a group means.
    pub(super) fn lower(
        &mut self,
        hir: &Hir,
        mark: &dyn Fn(&str) -> Option<Mark>,
    ) -> Result<Branches, Failure> {
        let mut work = vec![(hir, false)];
        let mut values: Vec<Branches> = Vec::new();
        while let Some((node, visited)) = work.pop() {
            let children: &[Hir] = match node.kind() {
                HirKind::Concat(parts) | HirKind::Alternation(parts) => parts,
                HirKind::Capture(capture) => std::slice::from_ref(&*capture.sub),
                HirKind::Repetition(repetition) => std::slice::from_ref(&*repetition.sub),
                leaf => {
                    values.push(self.leaf(leaf)?);
                    continue;
                }
            };
            if !visited {
                work.push((node, true));
                work.extend(children.iter().rev().map(|child| (child, false)));
                continue;
            }
            let mut parts = values.split_off(values.len() - children.len());
            let lowered = match node.kind() {
                HirKind::Concat(_) => Branches::concat(parts)?,
                HirKind::Alternation(_) => Branches::alternation(parts)?,
                HirKind::Repetition(repetition) => {
                    let (min, max) = (repetition.min, repetition.max);
                    parts.remove(0).repeated(min, max, &self.anything)?
                }
                HirKind::Capture(capture) => {
                    let inner = parts.remove(0);
                    match capture.name.as_deref().and_then(mark) {
                        Some(mark) => self.marked(inner, mark)?,
                        None => inner,
                    }
                }
                _ => Branches::default(),
            };
            self.patterns.fuel.spend(lowered.size())?;
            values.push(lowered);
        }
        Ok(values.pop().unwrap_or_default())
    }

    /// The language of the texts with a match, within `around` on both sides.
    pub(super) fn finish(&mut self, branches: Branches, around: &Regex) -> Result<Regex, Failure> {
        let regex = branches.within(around, &self.anything)?;
        // Parts stand in it once, however often they are named; written out they would not.
        let allowed = self.limits.compile_fuel;
        if u64::from(regex.weight()) > allowed {
            let given = u64::from(regex.weight());
            return Err(Error::limit("E-LIMIT-FUEL", "compile_fuel", given, allowed).into());
        }
        Ok(regex)
    }

    fn marked(&self, mut inner: Branches, mark: Mark) -> Result<Branches, Failure> {
        Ok(match mark.kind {
            Kind::Look(side, negated) => inner.look(side, negated, &self.anything, mark.offset)?,
            Kind::Edge => {
                inner.set_origin(mark.offset);
                inner
            }
            Kind::Group(_) | Kind::Reference(_) => inner,
        })
    }

    fn leaf(&mut self, kind: &HirKind) -> Result<Branches, Failure> {
        let (regex, least, most) = match kind {
            HirKind::Literal(literal) => {
                let characters = String::from_utf8_lossy(&literal.0).chars().count();
                let characters = u32::try_from(characters).unwrap_or(u32::MAX);
                let regex = self.alphabet.literal(&literal.0);
                (regex, characters, Some(characters))
            }
            HirKind::Class(Class::Unicode(class)) => (self.class(class)?, 1, Some(1)),
            HirKind::Class(Class::Bytes(class)) => {
                let ranges: Vec<(u8, u8)> = class
                    .iter()
                    .map(|range| (range.start(), range.end()))
                    .collect();
                let regex = if ranges.is_empty() {
                    Regex::Nothing
                } else {
                    self.alphabet.bytes(&ranges)
                };
                (regex, 1, Some(1))
            }
            HirKind::Look(look) => return self.edge(*look),
            _ => (Regex::empty(), 0, Some(0)),
        };
        Ok(Branches::text(Text::new(regex, least, most)))
    }

    fn class(&mut self, class: &ClassUnicode) -> Result<Regex, Failure> {
        let ranges: Vec<(char, char)> = class
            .iter()
            .map(|range| (range.start(), range.end()))
            .collect();
        Ok(self.patterns.class(&ranges, self.alphabet)?)
    }

    /// An anchor or a word boundary: what stands right behind and ahead of it.
    fn edge(&mut self, look: Look) -> Result<Branches, Failure> {
        use Side::{Ahead, Behind};
        let edge = |side| vec![vec![Condition::edge(side)]];
        let is_unicode = matches!(
            look,
            Look::WordUnicode
                | Look::WordUnicodeNegate
                | Look::WordStartUnicode
                | Look::WordEndUnicode
                | Look::WordStartHalfUnicode
                | Look::WordEndHalfUnicode
        );
        let mut word = |side| self.neighbour(side, word_class(is_unicode));
        let alternatives = match look {
            Look::Start => edge(Behind),
            Look::End => edge(Ahead),
            Look::StartLF | Look::EndLF => {
                let side = if look == Look::StartLF { Behind } else { Ahead };
                let line = self.neighbour(side, &one_of("\n"))?;
                vec![vec![Condition::edge(side)], vec![line]]
            }
            Look::StartCRLF => {
                // Behind `\r\n`, `\r` and `\n`, but not between the two.
                let (feed, carriage) = (one_of("\n"), one_of("\r"));
                let not_feed = self.neighbour(Ahead, &feed)?.negated();
                vec![
                    vec![Condition::edge(Behind)],
                    vec![self.neighbour(Behind, &feed)?],
                    vec![self.neighbour(Behind, &carriage)?, not_feed],
                ]
            }
            Look::EndCRLF => {
                let (feed, carriage) = (one_of("\n"), one_of("\r"));
                let not_carriage = self.neighbour(Behind, &carriage)?.negated();
                vec![
                    vec![Condition::edge(Ahead)],
                    vec![self.neighbour(Ahead, &carriage)?],
                    vec![not_carriage, self.neighbour(Ahead, &feed)?],
                ]
            }
            Look::WordAscii | Look::WordUnicode => vec![
                vec![word(Behind)?, word(Ahead)?.negated()],
                vec![word(Behind)?.negated(), word(Ahead)?],
            ],
            Look::WordAsciiNegate | Look::WordUnicodeNegate => vec![
                vec![word(Behind)?, word(Ahead)?],
                vec![word(Behind)?.negated(), word(Ahead)?.negated()],
            ],
            Look::WordStartAscii | Look::WordStartUnicode => {
                vec![vec![word(Behind)?.negated(), word(Ahead)?]]
            }
            Look::WordEndAscii | Look::WordEndUnicode => {
                vec![vec![word(Behind)?, word(Ahead)?.negated()]]
            }
            Look::WordStartHalfAscii | Look::WordStartHalfUnicode => {
                vec![vec![word(Behind)?.negated()]]
            }
            Look::WordEndHalfAscii | Look::WordEndHalfUnicode => {
                vec![vec![word(Ahead)?.negated()]]
            }
        };
        Ok(Branches::conditions(alternatives))
    }

    /// That the next character on a side is one of a class.
    fn neighbour(&mut self, side: Side, class: &ClassUnicode) -> Result<Condition, Failure> {
        let character = self.class(class)?;
        let parts = match side {
            Side::Ahead => vec![character, self.anything.clone()],
            Side::Behind => vec![self.anything.clone(), character],
        };
        Ok(Condition::new(side, Regex::concat(parts), Some(1)))
    }
}

fn one_of(characters: &str) -> ClassUnicode {
    use regex_syntax::hir::ClassUnicodeRange;
    ClassUnicode::new(characters.chars().map(|c| ClassUnicodeRange::new(c, c)))
}

/// What `\w` stands for.
fn word_class(is_unicode: bool) -> &'static ClassUnicode {
    static UNICODE: LazyLock<ClassUnicode> = LazyLock::new(|| class_of(r"\w"));
    static ASCII: LazyLock<ClassUnicode> = LazyLock::new(|| class_of("[0-9A-Za-z_]"));
    if is_unicode { &UNICODE } else { &ASCII }
}

fn class_of(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}
