//! A grammar as EBNF text that reads back to the same language.

use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use super::regex::{Binding, bounds, marker, regex_within, token};
use crate::ir::{Expr, ExprId, Grammar, Regex, RuleId};

/// The grammar as EBNF, start rule first; [`crate::syntax::ebnf::parse`] reads it back to the same language from the rule
/// that is called as the grammar's start rule is. Embedded grammars become rules, under new names where names clash.
#[must_use]
pub fn to_ebnf(grammar: &Grammar) -> String {
    let mut printer = Printer {
        grammars: vec![grammar],
        ids: FxHashMap::default(),
        names: FxHashMap::default(),
        taken: FxHashSet::default(),
        work: Vec::new(),
    };
    printer.ids.insert(std::ptr::from_ref(grammar), 0);
    printer.rule_name(0, grammar.start());
    let mut out = String::new();
    let mut next = 0;
    while let Some(&(owner, rule)) = printer.work.get(next) {
        next += 1;
        let body = printer.grammars[owner].rule(rule).body;
        let name = printer.rule_name(owner, rule);
        let _ = write!(out, "{name} ::= ");
        printer.expr(&mut out, owner, body);
        out.push_str(" ;\n");
    }
    out
}

struct Printer<'g> {
    grammars: Vec<&'g Grammar>,
    ids: FxHashMap<*const Grammar, usize>,
    names: FxHashMap<(usize, RuleId), String>,
    taken: FxHashSet<String>,
    /// Rules in the order in which they are printed.
    work: Vec<(usize, RuleId)>,
}

enum Piece {
    Text(&'static str),
    Node(ExprId, Binding),
    Bounds(u32, Option<u32>),
}

impl<'g> Printer<'g> {
    fn grammar(&mut self, grammar: &'g Grammar) -> usize {
        match self.ids.entry(std::ptr::from_ref(grammar)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.grammars.push(grammar);
                *new.insert(self.grammars.len() - 1)
            }
        }
    }

    fn rule_name(&mut self, owner: usize, rule: RuleId) -> String {
        if let Some(name) = self.names.get(&(owner, rule)) {
            return name.clone();
        }
        let base = identifier(&self.grammars[owner].rule(rule).name);
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}-{number}");
            number += 1;
        }
        self.names.insert((owner, rule), name.clone());
        self.work.push((owner, rule));
        name
    }

    fn expr(&mut self, out: &mut String, owner: usize, root: ExprId) {
        let grammar = self.grammars[owner];
        let mut work = vec![Piece::Node(root, Binding::Alternation)];
        while let Some(piece) = work.pop() {
            let (id, outer) = match piece {
                Piece::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::Bounds(min, max) => {
                    bounds(out, min, max);
                    continue;
                }
                Piece::Node(id, outer) => (id, outer),
            };
            match grammar.expr(id) {
                Expr::Empty => out.push_str("\"\""),
                Expr::Regex(regex) => out.push_str(&regex_within(regex, outer)),
                Expr::Rule(rule) => out.push_str(&self.rule_name(owner, *rule)),
                Expr::Marker(text) => out.push_str(&marker(text)),
                Expr::Token(set) => out.push_str(&token(set)),
                Expr::Capture { label, inner } => {
                    let _ = write!(out, "@{}(", identifier(label));
                    work.push(Piece::Text(")"));
                    work.push(Piece::Node(*inner, Binding::Alternation));
                }
                Expr::Embed(inner) => {
                    let inner_owner = self.grammar(inner);
                    out.push_str(&self.rule_name(inner_owner, inner.start()));
                }
                Expr::Seq(parts) if parts.is_empty() => out.push_str("\"\""),
                Expr::Alt(parts) if parts.is_empty() => out.push_str("nothing!"),
                Expr::Seq(parts) => list(out, &mut work, parts, " ", Binding::Sequence, outer),
                Expr::Alt(parts) => list(out, &mut work, parts, " | ", Binding::Alternation, outer),
                &Expr::Repeat {
                    min,
                    max: Some(max),
                    ..
                } if max < min => out.push_str("nothing!"),
                &Expr::Repeat {
                    inner,
                    min,
                    max,
                    separator,
                } => {
                    if outer == Binding::Primary {
                        out.push('(');
                        work.push(Piece::Text(")"));
                    }
                    if let Some(separator) = separator {
                        // A separator is a primary without a repetition of its own.
                        let bare = matches!(
                            grammar.expr(separator),
                            Expr::Rule(_) | Expr::Regex(Regex::Literal(_))
                        );
                        work.push(Piece::Text(if bare { "" } else { ")" }));
                        work.push(Piece::Node(
                            separator,
                            if bare {
                                Binding::Primary
                            } else {
                                Binding::Alternation
                            },
                        ));
                        work.push(Piece::Text(if bare { " % " } else { " % (" }));
                    }
                    work.push(Piece::Bounds(min, max));
                    work.push(Piece::Node(inner, Binding::Primary));
                }
            }
        }
    }
}

fn list(
    out: &mut String,
    work: &mut Vec<Piece>,
    parts: &[ExprId],
    between: &'static str,
    own: Binding,
    outer: Binding,
) {
    // A single part stands for itself.
    let nested = parts.len() > 1 && own < outer;
    if nested {
        out.push('(');
        work.push(Piece::Text(")"));
    }
    let inner = match own {
        _ if parts.len() == 1 => outer,
        Binding::Alternation => Binding::Intersection,
        _ => Binding::Primary,
    };
    for (position, &part) in parts.iter().enumerate().rev() {
        work.push(Piece::Node(part, inner));
        if position > 0 {
            work.push(Piece::Text(between));
        }
    }
}

/// A name that the grammar language can read.
fn identifier(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect();
    if !out.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    // These two are written like captures but mean something else.
    if out == "marker" || out == "token" {
        out.push('_');
    }
    out
}
