//! A grammar as one string of bytes: equal strings, equal grammars.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use syntagma_grammar::Grammar;
use syntagma_grammar::ir::{Expr, ExprId, Regex, TokenSet};

/// The canonical form of a grammar and its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// Of the bytes, which may be many.
    hash: u64,
    bytes: Arc<[u8]>,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Key {
    pub(super) fn new(grammar: &Grammar) -> Self {
        let mut writer = Writer {
            grammars: vec![grammar],
            ..Writer::default()
        };
        writer.number_of.insert(std::ptr::from_ref(grammar), 0);
        writer.list(&grammar.report().pointers, |writer, (pointer, reason)| {
            writer.bytes(pointer.as_bytes());
            writer.bytes(reason.as_bytes());
        });
        // Embedded grammars join the list where they are met first.
        let mut at = 0;
        while let Some(&grammar) = writer.grammars.get(at) {
            writer.grammar(grammar);
            at += 1;
        }
        let mut hasher = FxHasher::default();
        hasher.write(&writer.bytes);
        Self {
            hash: hasher.finish(),
            bytes: writer.bytes.into(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() + 64
    }
}

#[derive(Default)]
struct Writer<'a> {
    bytes: Vec<u8>,
    grammars: Vec<&'a Grammar>,
    number_of: FxHashMap<*const Grammar, u32>,
    /// Compound regular languages that were written, so that each is written once.
    regexes: FxHashMap<&'a Regex, u32>,
}

impl<'a> Writer<'a> {
    fn grammar(&mut self, grammar: &'a Grammar) {
        self.number(grammar.start().0);
        self.list(grammar.rules(), |writer, rule| {
            writer.bytes(rule.name.as_bytes());
            writer.number(rule.body.0);
        });
        self.length(grammar.expr_count());
        for index in 0..grammar.expr_count() {
            self.expr(grammar.expr(ExprId(index as u32)));
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Empty => self.tag(0),
            Expr::Regex(regex) => {
                self.tag(1);
                self.regex(regex);
            }
            Expr::Rule(rule) => {
                self.tag(2);
                self.number(rule.0);
            }
            Expr::Marker(text) => {
                self.tag(3);
                self.bytes(text.as_bytes());
            }
            Expr::Token(TokenSet::Text(text)) => {
                self.tag(4);
                self.bytes(text.as_bytes());
            }
            Expr::Token(TokenSet::Ids(ranges)) => {
                self.tag(5);
                self.list(ranges, |writer, &(first, last)| {
                    writer.number(first);
                    writer.number(last);
                });
            }
            Expr::Seq(parts) => {
                self.tag(6);
                self.list(parts, |writer, part| writer.number(part.0));
            }
            Expr::Alt(parts) => {
                self.tag(7);
                self.list(parts, |writer, part| writer.number(part.0));
            }
            Expr::Repeat {
                inner,
                min,
                max,
                separator,
            } => {
                self.tag(8);
                self.number(inner.0);
                self.number(*min);
                self.optional(*max);
                self.optional(separator.map(|separator| separator.0));
            }
            Expr::Capture { label, inner } => {
                self.tag(9);
                self.bytes(label.as_bytes());
                self.number(inner.0);
            }
            Expr::Embed(grammar) => {
                self.tag(10);
                let next = self.grammars.len() as u32;
                let number = *self.number_of.entry(Arc::as_ptr(grammar)).or_insert(next);
                if number == next {
                    self.grammars.push(grammar);
                }
                self.number(number);
            }
        }
    }

    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn number(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<u32>) {
        self.tag(u8::from(number.is_some()));
        self.number(number.unwrap_or(0));
    }

    fn length(&mut self, length: usize) {
        self.bytes.extend_from_slice(&(length as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(items.len());
        for item in items {
            write(self, item);
        }
    }

    /// A regular language in prefix order; a compound part that occurred before is named by its number.
    fn regex(&mut self, root: &'a Regex) {
        let mut work: Vec<&'a Regex> = vec![root];
        while let Some(node) = work.pop() {
            match node {
                Regex::Nothing => {
                    self.tag(0);
                    continue;
                }
                Regex::Class(set) => {
                    self.tag(1);
                    for word in set.words() {
                        self.bytes.extend_from_slice(&word.to_le_bytes());
                    }
                    continue;
                }
                Regex::Literal(bytes) => {
                    self.tag(2);
                    self.bytes(bytes);
                    continue;
                }
                _ => {}
            }
            let next = self.regexes.len() as u32;
            if let Some(&number) = self.regexes.get(node) {
                self.tag(8);
                self.number(number);
                continue;
            }
            self.regexes.insert(node, next);
            match node {
                Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => {}
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                    self.tag(match node {
                        Regex::Concat(_) => 3,
                        Regex::Alt(_) => 4,
                        _ => 5,
                    });
                    self.length(parts.len());
                    work.extend(parts.iter().rev());
                }
                Regex::Not(inner) => {
                    self.tag(6);
                    work.push(inner);
                }
                Regex::Repeat { inner, min, max } => {
                    self.tag(7);
                    self.number(*min);
                    self.optional(*max);
                    work.push(inner);
                }
            }
        }
    }
}
