//! A grammar of texts → the grammar of the same texts as they stand between the quotes of a JSON string.
//!
//! A quote, a backslash and a control character become one escape each, every other byte stays as it is. Different texts
//! have different spellings, so unions, intersections and complements are spelled part by part. Nothing recurses.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::grammar::{Expr, ExprId, Grammar};
use super::regex::{ByteSet, Regex};
use crate::error::Error;

impl Grammar {
    /// The texts of this grammar, spelled inside a JSON string. A marker there is its text.
    ///
    /// # Errors
    /// `E-GRAMMAR-UNSUPPORTED` where a token is demanded: none can stand inside a string.
    pub fn inside_json_string(whole: &Arc<Self>) -> Result<Arc<Self>, Error> {
        let mut speller = Speller::default();
        let mut done: FxHashMap<*const Self, Arc<Self>> = FxHashMap::default();
        let mut work = vec![whole];
        while let Some(&grammar) = work.last() {
            let before = work.len();
            for at in 0..grammar.expr_count() {
                match grammar.expr(ExprId(at as u32)) {
                    Expr::Embed(inner) if !done.contains_key(&Arc::as_ptr(inner)) => {
                        work.push(inner);
                    }
                    Expr::Token(_) => {
                        let message = "a token cannot stand inside a JSON string";
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
#[derive(Default)]
struct Speller {
    known: FxHashMap<(*const Regex, u8), Regex>,
}

enum Step<'r> {
    Look(&'r Regex),
    Join(&'r Regex),
}

impl Speller {
    fn grammar(
        &mut self,
        grammar: &Grammar,
        done: &FxHashMap<*const Grammar, Arc<Grammar>>,
    ) -> Grammar {
        let mut spelled = grammar.clone();
        for at in 0..grammar.expr_count() {
            let id = ExprId(at as u32);
            let other = match grammar.expr(id) {
                Expr::Regex(regex) => Expr::Regex(self.regex(regex)),
                Expr::Marker(text) => Expr::Regex(literal(text.as_bytes())),
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
                        Regex::Class(set) => values.push(class(set)),
                        Regex::Literal(bytes) => values.push(literal(bytes)),
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
                    let spelled = join(regex, &mut values);
                    if let Some(key) = address(regex) {
                        self.known.insert(key, spelled.clone());
                    }
                    values.push(spelled);
                }
            }
        }
        values.pop().unwrap_or(Regex::Nothing)
    }
}

/// Puts the spelled parts, which are the last of `values`, together as they were.
fn join(regex: &Regex, values: &mut Vec<Regex>) -> Regex {
    let mut last = |count: usize| values.split_off(values.len() - count);
    match regex {
        Regex::Concat(parts) => Regex::Concat(last(parts.len()).into()),
        Regex::Alt(parts) => Regex::Alt(last(parts.len()).into()),
        Regex::And(parts) => Regex::And(last(parts.len()).into()),
        Regex::Not(_) => {
            let other = Regex::Not(Regex::concat(last(1)).into());
            let spellings = Regex::repeat(class(&ByteSet::FULL), 0, None);
            Regex::And([other, spellings].into())
        }
        Regex::Repeat { min, max, .. } => Regex::repeat(Regex::concat(last(1)), *min, *max),
        simple => simple.clone(),
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

fn class(set: &ByteSet) -> Regex {
    let escaped: Vec<u8> = set.iter().filter(|&byte| is_escaped(byte)).collect();
    if escaped.is_empty() {
        return Regex::Class(*set);
    }
    let signs = escaped
        .iter()
        .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte)));
    let plain = set.intersection(&signs.complement());
    let mut parts = Vec::new();
    if !plain.is_empty() {
        parts.push(Regex::Class(plain));
    }
    parts.extend(escaped.iter().map(|&byte| literal(&[byte])));
    Regex::alt(parts)
}

fn literal(bytes: &[u8]) -> Regex {
    let mut spelled = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => spelled.extend([b'\\', byte]),
            b'\n' => spelled.extend(b"\\n"),
            b'\r' => spelled.extend(b"\\r"),
            b'\t' => spelled.extend(b"\\t"),
            0x08 => spelled.extend(b"\\b"),
            0x0C => spelled.extend(b"\\f"),
            _ if is_escaped(byte) => spelled.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => spelled.push(byte),
        }
    }
    Regex::literal(&spelled)
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}
