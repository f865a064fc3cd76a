//! The special tokens that a grammar names, its labels and the texts that its rules exclude, for reports and explanations.

use std::sync::Arc;

use super::grammar::{Expr, ExprId, Grammar, TokenSet};
use super::regex::Regex;
use crate::maps::{IdSet, SeededIndexSet};

/// A terminal `x & ~y` of a rule.
#[derive(Debug, Clone)]
pub struct Exclusion {
    /// The rule that it stands in.
    pub rule: Arc<str>,
    /// What the terminal would match, `x`.
    pub shape: Regex,
    /// What it must not be, `y`.
    pub excluded: Regex,
}

impl Grammar {
    /// This grammar and all grammars in it, each once.
    fn all(&self) -> Vec<&Self> {
        let mut seen = IdSet::default();
        let mut found: Vec<&Self> = vec![self];
        let mut at = 0;
        while at < found.len() {
            for expr in found[at].exprs() {
                if let Expr::Embed(inner) = expr
                    && seen.insert(Arc::as_ptr(inner))
                {
                    found.push(inner);
                }
            }
            at += 1;
        }
        found
    }

    /// The texts of markers and of tokens that are named by their text, each once.
    #[must_use]
    pub fn symbol_texts(&self) -> Vec<&str> {
        let mut texts: SeededIndexSet<&str> = SeededIndexSet::default();
        for grammar in self.all() {
            for expr in grammar.exprs() {
                match expr {
                    Expr::Marker(text) | Expr::Token(TokenSet::Text(text)) => {
                        texts.insert(text);
                    }
                    Expr::Token(TokenSet::Except {
                        texts: excluded, ..
                    }) => {
                        texts.extend(excluded.iter().map(|text| &**text));
                    }
                    _ => {}
                }
            }
        }
        texts.into_iter().collect()
    }

    /// The labels of its parts, each once.
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        let mut labels: SeededIndexSet<&str> = SeededIndexSet::default();
        for expr in self.all().into_iter().flat_map(Self::exprs) {
            if let Expr::Capture { label, .. } = expr {
                labels.insert(label);
            }
        }
        labels.into_iter().collect()
    }

    /// The terminals of rules that exclude something, as they stand in the source.
    #[must_use]
    pub fn exclusions(&self) -> Vec<Exclusion> {
        let mut found = Vec::new();
        for grammar in self.all() {
            for rule in grammar.rules() {
                for regex in terminals(grammar, rule.body) {
                    if let Some((shape, excluded)) = difference(regex) {
                        let rule = Arc::clone(&rule.name);
                        found.push(Exclusion {
                            rule,
                            shape,
                            excluded,
                        });
                    }
                }
            }
        }
        found
    }
}

/// The regular parts of a rule's body.
fn terminals(grammar: &Grammar, body: ExprId) -> Vec<&Regex> {
    let mut found = Vec::new();
    let mut seen = IdSet::default();
    let mut work = vec![body];
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        match grammar.expr(id) {
            Expr::Regex(regex) => found.push(regex),
            Expr::Seq(parts) | Expr::Alt(parts) => work.extend(parts.iter().copied()),
            Expr::Repeat {
                inner, separator, ..
            } => work.extend([*inner].into_iter().chain(*separator)),
            Expr::Capture { inner, .. } => work.push(*inner),
            _ => {}
        }
    }
    found
}

/// An intersection with complements, as what is there and what is taken away; None for anything else.
fn difference(regex: &Regex) -> Option<(Regex, Regex)> {
    let (mut shapes, mut excluded) = (Vec::new(), Vec::new());
    let mut work = vec![regex];
    while let Some(part) = work.pop() {
        match part {
            Regex::And(parts) => work.extend(parts.iter()),
            Regex::Not(inner) => excluded.push((**inner).clone()),
            other => shapes.push(other.clone()),
        }
    }
    let some = !shapes.is_empty() && !excluded.is_empty();
    some.then(|| (Regex::And(shapes.into()), Regex::alt(excluded)))
}
