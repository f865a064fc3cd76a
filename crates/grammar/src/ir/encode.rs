//! A grammar as bytes, and back: for other processes, and as a key.
//!
//! Layout; numbers are LEB128, texts and bytes have their length in front, lists their count:
//!
//! ```text
//! grammars = grammar*                     those that others hold come before these; the last one is meant
//! grammar = (name body)*  start  expr*  [report  warnings]
//! expr = tag  what it holds               other expressions and rules by number, grammars by their place
//! regex = tag  what it holds              in prefix order; a compound one that occurred before by its number
//! ```
//!
//! Equal bytes, equal grammars. [`Grammar::to_bytes`] adds what is said about each grammar, a version and a checksum;
//! [`Grammar::structure`] is without these.

use std::sync::Arc;

use super::grammar::{Expr, Grammar, TokenSet};
use super::identity::Identity;
use super::regex::Regex;
use crate::error::{Diagnostic, SourceLocation};
use crate::maps::{IdMap, IdSet, SeededMap};
use crate::tuning::MAX_SAVED_NESTING;

/// What encoded grammars begin with; the byte after it is the version.
pub(super) const MAGIC: &[u8; 4] = b"SGGR";
/// The version that is written, and the only one that is read.
pub(super) const VERSION: u8 = 1;

/// Tags of expressions and of regular languages.
pub(super) mod tag {
    pub(in super::super) const EMPTY: u8 = 0;
    pub(in super::super) const REGEX: u8 = 1;
    pub(in super::super) const RULE: u8 = 2;
    pub(in super::super) const MARKER: u8 = 3;
    pub(in super::super) const TOKEN_TEXT: u8 = 4;
    pub(in super::super) const TOKEN_IDS: u8 = 5;
    pub(in super::super) const SEQ: u8 = 6;
    pub(in super::super) const ALT: u8 = 7;
    pub(in super::super) const REPEAT: u8 = 8;
    pub(in super::super) const CAPTURE: u8 = 9;
    pub(in super::super) const EMBED: u8 = 10;
    pub(in super::super) const TOKEN_EXCEPT: u8 = 11;

    pub(in super::super) const NOTHING: u8 = 0;
    pub(in super::super) const CLASS: u8 = 1;
    pub(in super::super) const LITERAL: u8 = 2;
    pub(in super::super) const CONCAT: u8 = 3;
    pub(in super::super) const ANY: u8 = 4;
    pub(in super::super) const AND: u8 = 5;
    pub(in super::super) const NOT: u8 = 6;
    pub(in super::super) const COUNTED: u8 = 7;
    pub(in super::super) const KNOWN: u8 = 8;
}

impl Grammar {
    /// The most [`nesting`](Self::nesting) of a grammar that is read back.
    pub const MAX_SAVED_NESTING: usize = MAX_SAVED_NESTING;

    /// The grammar and what is said about it, as bytes that [`from_bytes`](Self::from_bytes) reads in any process.
    ///
    /// Where counted repetitions of repetitions make its [`nesting`](Self::nesting) more than
    /// [`MAX_SAVED_NESTING`](Self::MAX_SAVED_NESTING), they are not read back.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer {
            said: true,
            ..Writer::default()
        };
        writer.bytes.extend_from_slice(MAGIC);
        writer.bytes.push(VERSION);
        writer.grammars(&in_order(self));
        let check = checksum(&writer.bytes);
        writer.bytes.extend(check.to_le_bytes());
        writer.bytes
    }

    /// What equal grammars that report the same have in common. It is found out once.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        self.identified().get(|| {
            let mut writer = Writer {
                briefly: true,
                ..Writer::default()
            };
            writer.grammars(&in_order(self));
            let mut bytes = writer.bytes;
            // Nothing that is said could be more of the structure, which says how much it is.
            for (pointer, reason) in &self.report().pointers {
                for text in [pointer, reason] {
                    bytes.extend((text.len() as u64).to_le_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
            bytes
        })
    }

    /// What the grammar writes, as bytes: where they are equal, the grammars are, but for what is said about them.
    #[must_use]
    pub fn structure(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.grammars(&in_order(self));
        writer.bytes
    }
}

/// FNV-1a, against mistakes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The grammars in a grammar, each once and after those in it; the grammar itself comes last.
fn in_order(root: &Grammar) -> Vec<&Grammar> {
    let mut order = Vec::new();
    let mut seen: IdSet<*const Grammar> = IdSet::default();
    seen.insert(std::ptr::from_ref(root));
    let mut work = vec![(root, 0)];
    while let Some((grammar, at)) = work.last_mut() {
        let rest = grammar.exprs()[*at..].iter();
        let next = rest.enumerate().find_map(|(index, expr)| match expr {
            Expr::Embed(inner) if seen.insert(Arc::as_ptr(inner)) => Some((index, inner)),
            _ => None,
        });
        if let Some((index, inner)) = next {
            *at += index + 1;
            work.push((inner, 0));
        } else {
            order.push(*grammar);
            work.pop();
        }
    }
    order
}

#[derive(Default)]
struct Writer<'a> {
    bytes: Vec<u8>,
    /// Whether reports and warnings are written, too.
    said: bool,
    /// Whether grammars in it that hold no others are written as their identities.
    briefly: bool,
    /// Locator of the grammars that were written.
    places: IdMap<*const Grammar, usize>,
    /// Compound regular languages that were written, so that each is written once.
    regexes: SeededMap<&'a Regex, usize>,
}

impl<'a> Writer<'a> {
    fn grammars(&mut self, grammars: &[&'a Grammar]) {
        self.number(grammars.len());
        let (root, embedded) = (grammars.len() - 1, |expr: &Expr| {
            matches!(expr, Expr::Embed(_))
        });
        for (at, &grammar) in grammars.iter().enumerate() {
            let brief = self.briefly && at != root && !grammar.exprs().iter().any(embedded);
            if self.briefly {
                self.number(usize::from(brief));
            }
            if brief {
                let identity = grammar.identity().bytes();
                self.number(identity.len());
                self.bytes.extend_from_slice(identity);
            } else {
                self.grammar(grammar);
            }
            let place = self.places.len();
            self.places.insert(std::ptr::from_ref(grammar), place);
        }
    }

    fn grammar(&mut self, grammar: &'a Grammar) {
        self.list(grammar.rules(), |writer, rule| {
            writer.text(&rule.name);
            writer.number(rule.body.0 as usize);
        });
        self.number(grammar.start().0 as usize);
        self.list(grammar.exprs(), Self::expr);
        if self.said {
            self.list(&grammar.report().pointers, |writer, (pointer, reason)| {
                writer.text(pointer);
                writer.text(reason);
            });
            self.list(grammar.warnings(), Self::diagnostic);
        }
    }

    fn ranges(&mut self, ranges: &'a [(u32, u32)]) {
        self.list(ranges, |writer, &(first, last)| {
            writer.number(first as usize);
            writer.number(last as usize);
        });
    }

    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Empty => self.tag(tag::EMPTY),
            Expr::Regex(regex) => {
                self.tag(tag::REGEX);
                self.regex(regex);
            }
            Expr::Rule(rule) => {
                self.tag(tag::RULE);
                self.number(rule.0 as usize);
            }
            Expr::Marker(text) => {
                self.tag(tag::MARKER);
                self.text(text);
            }
            Expr::Token(TokenSet::Text(text)) => {
                self.tag(tag::TOKEN_TEXT);
                self.text(text);
            }
            Expr::Token(TokenSet::Ids(ranges)) => {
                self.tag(tag::TOKEN_IDS);
                self.ranges(ranges);
            }
            Expr::Token(TokenSet::Except { ids, texts }) => {
                self.tag(tag::TOKEN_EXCEPT);
                self.ranges(ids);
                self.list(texts, |writer, text| writer.text(text));
            }
            Expr::Seq(parts) => {
                self.tag(tag::SEQ);
                self.list(parts, |writer, part| writer.number(part.0 as usize));
            }
            Expr::Alt(parts) => {
                self.tag(tag::ALT);
                self.list(parts, |writer, part| writer.number(part.0 as usize));
            }
            Expr::Repeat {
                inner,
                min,
                max,
                separator,
            } => {
                self.tag(tag::REPEAT);
                self.number(inner.0 as usize);
                self.number(*min as usize);
                self.optional(*max);
                self.optional(separator.map(|separator| separator.0));
            }
            Expr::Capture { label, inner } => {
                self.tag(tag::CAPTURE);
                self.text(label);
                self.number(inner.0 as usize);
            }
            Expr::Embed(grammar) => {
                self.tag(tag::EMBED);
                let place = self.places[&Arc::as_ptr(grammar)];
                self.number(place);
            }
        }
    }

    fn regex(&mut self, root: &'a Regex) {
        let mut work: Vec<&'a Regex> = vec![root];
        while let Some(node) = work.pop() {
            match node {
                Regex::Nothing => self.tag(tag::NOTHING),
                Regex::Class(set) => {
                    self.tag(tag::CLASS);
                    for word in set.words() {
                        self.bytes.extend_from_slice(&word.to_le_bytes());
                    }
                }
                Regex::Literal(bytes) => {
                    self.tag(tag::LITERAL);
                    self.sized(bytes);
                }
                _ if self.is_known(node) => {}
                Regex::Concat(parts) => self.parts(tag::CONCAT, parts, &mut work),
                Regex::Alt(parts) => self.parts(tag::ANY, parts, &mut work),
                Regex::And(parts) => self.parts(tag::AND, parts, &mut work),
                Regex::Not(inner) => {
                    self.tag(tag::NOT);
                    work.push(inner);
                }
                Regex::Repeat { inner, min, max } => {
                    self.tag(tag::COUNTED);
                    self.number(*min as usize);
                    self.optional(*max);
                    work.push(inner);
                }
            }
        }
    }

    /// Whether a compound regular language was written before; if so, its number is written.
    fn is_known(&mut self, node: &'a Regex) -> bool {
        let next = self.regexes.len();
        let number = *self.regexes.entry(node).or_insert(next);
        if number == next {
            return false;
        }
        self.tag(tag::KNOWN);
        self.number(number);
        true
    }

    fn parts(&mut self, tag: u8, parts: &'a [Regex], work: &mut Vec<&'a Regex>) {
        self.tag(tag);
        self.number(parts.len());
        work.extend(parts.iter().rev());
    }

    fn diagnostic(&mut self, said: &'a Diagnostic) {
        self.text(said.code());
        self.text(said.message());
        match said.hint() {
            Some(hint) => {
                self.tag(1);
                self.text(hint);
            }
            None => self.tag(0),
        }
        match said.location() {
            None => self.tag(0),
            Some(SourceLocation::Text {
                offset,
                line,
                column,
                excerpt,
            }) => {
                self.tag(1);
                for number in [offset, line, column] {
                    self.number(*number);
                }
                self.text(excerpt);
            }
            Some(SourceLocation::Pointer(pointer)) => {
                self.tag(2);
                self.text(pointer);
            }
        }
    }

    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: usize) {
        let mut rest = number as u64;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// One more than the number, or zero.
    fn optional(&mut self, number: Option<u32>) {
        self.number(number.map_or(0, |number| number as usize + 1));
    }

    fn sized(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.sized(text.as_bytes());
    }

    fn list<T>(&mut self, items: &'a [T], mut write: impl FnMut(&mut Self, &'a T)) {
        self.number(items.len());
        for item in items {
            write(self, item);
        }
    }
}
