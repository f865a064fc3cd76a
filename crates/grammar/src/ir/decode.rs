//! Grammars from the bytes of [`Grammar::to_bytes`].

use std::sync::Arc;

use super::byte_set::ByteSet;
use super::encode::{MAGIC, VERSION, checksum, tag};
use super::grammar::{Expr, ExprId, Grammar, Report, Rule, RuleId, TokenSet};
use super::regex::Regex;
use crate::error::{Diagnostic, Error, SourceLocation, WARNINGS};
use crate::tuning::MAX_SAVED_NESTING;

impl Grammar {
    /// The grammar that [`to_bytes`](Self::to_bytes) has written, equal to what it was.
    ///
    /// Errors: `E-STATE-FORMAT` (damaged, nested deeper than any source may be, or something else), `E-STATE-VERSION` (of
    /// another version).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        match rest.first() {
            Some(&VERSION) => {}
            Some(version) => {
                let message = format!("version {version} of a saved grammar cannot be read here");
                return Err(Error::grammar("E-STATE-VERSION", message));
            }
            None => return Err(damaged()),
        }
        let (saved, check) = bytes
            .split_last_chunk::<{ size_of::<u64>() }>()
            .ok_or_else(damaged)?;
        if u64::from_le_bytes(*check) != checksum(saved) {
            return Err(damaged());
        }
        let mut reader = Reader {
            rest: saved.get(MAGIC.len() + 1..).ok_or_else(damaged)?,
            grammars: Vec::new(),
            regexes: Vec::new(),
        };
        let grammar = reader.grammars().ok_or_else(damaged)?;
        Ok(Self::clone(&grammar))
    }
}

fn damaged() -> Error {
    Error::grammar(
        "E-STATE-FORMAT",
        "this is no saved grammar, or it is damaged",
    )
}

/// Reads what `Writer` writes; None where it cannot be meant.
struct Reader<'b> {
    rest: &'b [u8],
    grammars: Vec<Arc<Grammar>>,
    /// Compound regular languages by number, once they are complete.
    regexes: Vec<Option<Nested>>,
}

/// A regular language, and how deep it is nested.
type Nested = (Regex, usize);

/// A compound regular language of which parts are still to come.
struct Open {
    tag: u8,
    number: usize,
    bounds: (u32, Option<u32>),
    missing: usize,
    parts: Vec<Regex>,
    nesting: usize,
}

impl Open {
    fn close(self) -> Option<Nested> {
        let Self {
            tag,
            bounds,
            parts,
            nesting,
            ..
        } = self;
        let inner = parts.first().cloned();
        let whole = match tag {
            tag::CONCAT => Regex::Concat(parts.into()),
            tag::ANY => Regex::Alt(parts.into()),
            tag::AND => Regex::And(parts.into()),
            tag::NOT => Regex::Not(Arc::new(inner?)),
            _ => Regex::Repeat {
                inner: Arc::new(inner?),
                min: bounds.0,
                max: bounds.1,
            },
        };
        Some((whole, nesting))
    }
}

impl<'b> Reader<'b> {
    fn grammars(&mut self) -> Option<Arc<Grammar>> {
        for _ in 0..self.count()? {
            let grammar = self.grammar()?;
            self.grammars.push(Arc::new(grammar));
        }
        let last = self.grammars.pop();
        last.filter(|_| self.rest.is_empty())
    }

    fn grammar(&mut self) -> Option<Grammar> {
        let rules = self.list(|reader| {
            Some(Rule {
                name: reader.text()?.into(),
                body: ExprId(reader.small()?),
            })
        })?;
        let start = RuleId(self.small()?);
        let exprs = self.list(Self::expr)?;
        let pointers = self.list(|reader| Some((reader.text()?.into(), reader.text()?.into())))?;
        let warnings = self.list(Self::diagnostic)?;
        let grammar = Grammar::from_parts(rules, exprs, start, Report { pointers })?;
        (grammar.nesting()? <= MAX_SAVED_NESTING).then(|| grammar.with_warnings(warnings))
    }

    fn expr(&mut self) -> Option<Expr> {
        Some(match self.tag()? {
            tag::EMPTY => Expr::Empty,
            tag::REGEX => Expr::Regex(self.regex()?),
            tag::RULE => Expr::Rule(RuleId(self.small()?)),
            tag::MARKER => Expr::Marker(self.text()?.into()),
            tag::TOKEN_TEXT => Expr::Token(TokenSet::Text(self.text()?.into())),
            tag::TOKEN_IDS => Expr::Token(TokenSet::Ids(self.list(Self::range)?.into())),
            tag::TOKEN_EXCEPT => {
                let ids = self.list(Self::range)?;
                let texts = self.list(|reader| Some(reader.text()?.into()))?;
                Expr::Token(TokenSet::except(ids, texts))
            }
            tag::SEQ => Expr::Seq(self.exprs()?.into_iter().collect()),
            tag::ALT => Expr::Alt(self.exprs()?.into_iter().collect()),
            tag::REPEAT => Expr::Repeat {
                inner: ExprId(self.small()?),
                min: self.small()?,
                max: self.optional()?,
                separator: self.optional()?.map(ExprId),
            },
            tag::CAPTURE => Expr::Capture {
                label: self.text()?.into(),
                inner: ExprId(self.small()?),
            },
            tag::EMBED => {
                let place = self.count()?;
                Expr::Embed(Arc::clone(self.grammars.get(place)?))
            }
            _ => return None,
        })
    }

    fn range(&mut self) -> Option<(u32, u32)> {
        let (first, last) = (self.small()?, self.small()?);
        (first <= last).then_some((first, last))
    }

    fn exprs(&mut self) -> Option<Vec<ExprId>> {
        self.list(|reader| reader.small().map(ExprId))
    }

    /// Nothing recurses.
    fn regex(&mut self) -> Option<Regex> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let mut complete = self.node(&mut open)?;
            // What is complete is a part of what is open, which may be complete with it.
            loop {
                if let Some((part, nesting)) = complete.take() {
                    let Some(around) = open.last_mut() else {
                        return Some(part);
                    };
                    around.parts.push(part);
                    around.missing -= 1;
                    around.nesting = around.nesting.max(nesting + 1);
                    // Dropping recurses, and much else.
                    if around.nesting > MAX_SAVED_NESTING {
                        return None;
                    }
                }
                if open.last().is_none_or(|around| around.missing > 0) {
                    break;
                }
                if let Some(around) = open.pop() {
                    let number = around.number;
                    let whole = around.close()?;
                    self.regexes[number] = Some(whole.clone());
                    complete = Some(whole);
                }
            }
        }
    }

    /// A node: one that is complete, or None for one that is open now.
    #[allow(clippy::option_option)] // the outer one: whether it can be read
    fn node(&mut self, open: &mut Vec<Open>) -> Option<Option<Nested>> {
        let leaf = |regex| Some(Some((regex, 1)));
        let tag = self.tag()?;
        let (missing, bounds) = match tag {
            tag::NOTHING => return leaf(Regex::Nothing),
            tag::CLASS => {
                let mut words = [0; 4];
                for word in &mut words {
                    *word = u64::from_le_bytes(self.take(size_of::<u64>())?.try_into().ok()?);
                }
                return leaf(Regex::Class(ByteSet::of_words(words)));
            }
            tag::LITERAL => return leaf(Regex::literal(self.sized()?)),
            tag::KNOWN => {
                let number = self.count()?;
                return Some(Some(self.regexes.get(number)?.clone()?));
            }
            tag::CONCAT | tag::ANY | tag::AND => (self.count()?, (0, None)),
            tag::NOT => (1, (0, None)),
            tag::COUNTED => (1, (self.small()?, self.optional()?)),
            _ => return None,
        };
        open.push(Open {
            tag,
            number: self.regexes.len(),
            bounds,
            missing,
            parts: Vec::new(),
            nesting: 1,
        });
        self.regexes.push(None);
        Some(None)
    }

    fn diagnostic(&mut self) -> Option<Diagnostic> {
        let code = self.text()?;
        let code = WARNINGS.iter().find(|known| **known == code)?;
        let mut said = Diagnostic::new(code, self.text()?);
        if self.tag()? != 0 {
            said = said.with_hint(self.text()?);
        }
        Some(match self.tag()? {
            0 => said,
            1 => said.at(SourceLocation::Text {
                offset: self.count()?,
                line: self.count()?,
                column: self.count()?,
                excerpt: self.text()?.into(),
            }),
            _ => said.at(SourceLocation::Pointer(self.text()?.into())),
        })
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        // Nothing is set aside for what is not there.
        (0..self.count()?).map(|_| read(self)).collect()
    }

    fn tag(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.tag()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn count(&mut self) -> Option<usize> {
        self.number()?.try_into().ok()
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    #[allow(clippy::option_option)] // the outer one: whether it can be read
    fn optional(&mut self) -> Option<Option<u32>> {
        match self.number()? {
            0 => Some(None),
            more => (more - 1).try_into().ok().map(Some),
        }
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn sized(&mut self) -> Option<&'b [u8]> {
        let length = self.count()?;
        self.take(length)
    }

    fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.sized()?).ok()
    }
}
