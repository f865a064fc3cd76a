//! A grammar of texts → the grammar of the same texts with escapes in the place of some characters.
//!
//! Different texts have different spellings, so unions, intersections and complements are spelled part by part. Nothing
//! recurses.

use std::sync::Arc;

use super::byte_set::ByteSet;
use super::grammar::{Expr, ExprId, Grammar};
use super::regex::Regex;
use crate::error::Error;
use crate::maps::IdMap;

/// Escapes of single ASCII characters.
#[derive(Debug, Clone)]
pub struct Escapes {
    /// By character.
    table: [Option<Box<[u8]>>; 128],
}

impl Escapes {
    /// What stands for which character.
    ///
    /// # Errors
    /// `E-GRAMMAR-ESCAPES` where a spelling could be read in two ways: every escape begins with a character that is itself
    /// escaped, and none is the beginning of another.
    pub fn new<'t>(pairs: impl IntoIterator<Item = (char, &'t str)>) -> Result<Self, Error> {
        let refused = |message: String| Err(Error::grammar("E-GRAMMAR-ESCAPES", message));
        let mut table: [Option<Box<[u8]>>; 128] = std::array::from_fn(|_| None);
        for (character, escape) in pairs {
            let Some(slot) = table.get_mut(character as usize) else {
                return refused(format!("{character:?} is not ASCII"));
            };
            *slot = Some(escape.as_bytes().into());
        }
        let all: Vec<&[u8]> = table.iter().flatten().map(|escape| &**escape).collect();
        for (at, escape) in all.iter().enumerate() {
            let known = |byte: &u8| matches!(table.get(usize::from(*byte)), Some(Some(_)));
            let ambiguous = |other: &[u8]| other.starts_with(escape);
            if !escape.first().is_some_and(known)
                || all
                    .iter()
                    .enumerate()
                    .any(|(n, other)| n != at && ambiguous(other))
            {
                let escape = String::from_utf8_lossy(escape);
                return refused(format!("{escape:?} could be read in two ways"));
            }
        }
        Ok(Self { table })
    }

    /// Those of a JSON string: of quotes, backslashes and controls.
    #[must_use]
    pub fn json_string() -> Self {
        let escape = |byte: u8| -> Option<Box<[u8]>> {
            let spelled = match byte {
                b'"' => "\\\"".to_owned(),
                b'\\' => "\\\\".to_owned(),
                b'\n' => "\\n".to_owned(),
                b'\r' => "\\r".to_owned(),
                b'\t' => "\\t".to_owned(),
                0x08 => "\\b".to_owned(),
                0x0C => "\\f".to_owned(),
                0..0x20 => format!("\\u{byte:04x}"),
                _ => return None,
            };
            Some(spelled.into_bytes().into())
        };
        Self {
            table: std::array::from_fn(|byte| escape(byte as u8)),
        }
    }

    fn of(&self, byte: u8) -> Option<&[u8]> {
        self.table.get(usize::from(byte))?.as_deref()
    }

    fn class(&self, set: &ByteSet) -> Regex {
        let escapes: Vec<&[u8]> = set.iter().filter_map(|byte| self.of(byte)).collect();
        if escapes.is_empty() {
            return Regex::Class(*set);
        }
        let plain = set.iter().filter(|&byte| self.of(byte).is_none());
        let plain = plain.fold(ByteSet::EMPTY, |set, byte| set.union(&ByteSet::byte(byte)));
        let mut parts = Vec::new();
        if !plain.is_empty() {
            parts.push(Regex::Class(plain));
        }
        parts.extend(escapes.into_iter().map(Regex::literal));
        Regex::alt(parts)
    }

    fn literal(&self, bytes: &[u8]) -> Regex {
        let mut spelled = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match self.of(byte) {
                Some(escape) => spelled.extend_from_slice(escape),
                None => spelled.push(byte),
            }
        }
        Regex::literal(&spelled)
    }
}

impl Grammar {
    /// The texts of this grammar with escapes. A marker becomes its text.
    ///
    /// # Errors
    /// `E-GRAMMAR-UNSUPPORTED` where a token is demanded: it has no spelling.
    pub fn spelled(whole: &Arc<Self>, escapes: &Escapes) -> Result<Arc<Self>, Error> {
        let mut speller = Speller {
            escapes,
            known: IdMap::default(),
        };
        let mut done: IdMap<*const Self, Arc<Self>> = IdMap::default();
        let mut work = vec![whole];
        while let Some(&grammar) = work.last() {
            let before = work.len();
            for at in 0..grammar.expr_count() {
                match grammar.expr(ExprId(at as u32)) {
                    Expr::Embed(inner) if !done.contains_key(&Arc::as_ptr(inner)) => {
                        work.push(inner);
                    }
                    Expr::Token(_) => {
                        let message = "a token has no spelling with escapes";
                        return Err(Error::grammar("E-GRAMMAR-UNSUPPORTED", message));
                    }
                    _ => {}
                }
            }
            if work.len() > before {
                continue;
            }
            work.pop();
            if !done.contains_key(&Arc::as_ptr(grammar)) {
                let inner = Arc::new(speller.grammar(grammar, &done));
                done.insert(Arc::as_ptr(grammar), inner);
            }
        }
        Ok(Arc::clone(&done[&Arc::as_ptr(whole)]))
    }
}

/// What was spelled so far; a shared part is spelled once.
struct Speller<'e> {
    escapes: &'e Escapes,
    known: IdMap<(*const Regex, u8), Regex>,
}

enum Step<'r> {
    Look(&'r Regex),
    Join(&'r Regex),
}

impl Speller<'_> {
    fn grammar(
        &mut self,
        grammar: &Grammar,
        done: &IdMap<*const Grammar, Arc<Grammar>>,
    ) -> Grammar {
        let mut spelled = grammar.clone();
        for at in 0..grammar.expr_count() {
            let id = ExprId(at as u32);
            let other = match grammar.expr(id) {
                Expr::Regex(regex) => Expr::Regex(self.regex(regex)),
                Expr::Marker(text) => Expr::Regex(self.escapes.literal(text.as_bytes())),
                Expr::Embed(inner) => Expr::Embed(Arc::clone(&done[&Arc::as_ptr(inner)])),
                _ => continue,
            };
            spelled.replace(id, other);
        }
        spelled
    }

    fn regex(&mut self, whole: &Regex) -> Regex {
        let mut values: Vec<Regex> = Vec::new();
        let mut work = vec![Step::Look(whole)];
        while let Some(step) = work.pop() {
            match step {
                Step::Look(regex) => {
                    let key = address(regex);
                    if let Some(known) = key.and_then(|key| self.known.get(&key)) {
                        values.push(known.clone());
                        continue;
                    }
                    match regex {
                        Regex::Nothing => values.push(Regex::Nothing),
                        Regex::Class(set) => values.push(self.escapes.class(set)),
                        Regex::Literal(bytes) => values.push(self.escapes.literal(bytes)),
                        Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                            work.push(Step::Join(regex));
                            work.extend(parts.iter().rev().map(Step::Look));
                        }
                        Regex::Not(inner) | Regex::Repeat { inner, .. } => {
                            work.extend([Step::Join(regex), Step::Look(inner)]);
                        }
                    }
                }
                Step::Join(regex) => {
                    let spelled = self.join(regex, &mut values);
                    if let Some(key) = address(regex) {
                        self.known.insert(key, spelled.clone());
                    }
                    values.push(spelled);
                }
            }
        }
        values.pop().unwrap_or(Regex::Nothing)
    }

    /// Puts the spelled parts, which are the last of `values`, together as they were.
    fn join(&self, regex: &Regex, values: &mut Vec<Regex>) -> Regex {
        let mut last = |count: usize| values.split_off(values.len() - count);
        match regex {
            Regex::Concat(parts) => Regex::Concat(last(parts.len()).into()),
            Regex::Alt(parts) => Regex::Alt(last(parts.len()).into()),
            Regex::And(parts) => Regex::And(last(parts.len()).into()),
            Regex::Not(_) => {
                let other = Regex::Not(Regex::concat(last(1)).into());
                let spellings = Regex::repeat(self.escapes.class(&ByteSet::FULL), 0, None);
                Regex::And([other, spellings].into())
            }
            Regex::Repeat { min, max, .. } => Regex::repeat(Regex::concat(last(1)), *min, *max),
            simple => simple.clone(),
        }
    }
}

/// Where the parts of a compound expression are; one that is shared has the same address wherever it stands.
fn address(regex: &Regex) -> Option<(*const Regex, u8)> {
    match regex {
        Regex::Concat(parts) => Some((parts.as_ptr(), 0)),
        Regex::Alt(parts) => Some((parts.as_ptr(), 1)),
        Regex::And(parts) => Some((parts.as_ptr(), 2)),
        // Of complements and repetitions the inner expression is known by itself.
        _ => None,
    }
}
