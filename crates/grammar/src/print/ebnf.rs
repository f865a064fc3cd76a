//! A grammar as EBNF text that reads back to the same language.

use std::fmt::Write as _;

use super::names::Names;
use super::regex::{Binding, Piece, Terminals, marker, next_node, push_list, token};
use crate::ir::{Expr, ExprId, Grammar, Productive, Regex};

/// The grammar as EBNF, start rule first; [`crate::syntax::ebnf::parse`] reads it back to the same language. The start rule
/// is called `start`, whatever the grammar calls it. Embedded grammars become rules. Where names clash, rules get new ones.
#[must_use]
pub fn to_ebnf(grammar: &Grammar) -> String {
    let mut names = Names::new(grammar, "start", identifier);
    let mut out = String::new();
    let mut productive: Vec<Productive> = Vec::new();
    let mut terminals = Terminals::default();
    while let Some((name, owner, body)) = names.next() {
        let _ = write!(out, "{name} ::= ");
        productive
            .extend((productive.len()..=owner).map(|owner| names.grammar(owner).productive()));
        // The reader refuses a rule that can never write anything, unless it says so.
        if productive[owner].any(body) {
            write_expr(&mut out, &mut names, &mut terminals, owner, body);
        } else {
            out.push_str("nothing!");
        }
        out.push_str(" ;\n");
    }
    out
}

fn write_expr(
    out: &mut String,
    names: &mut Names<'_>,
    terminals: &mut Terminals,
    owner: usize,
    root: ExprId,
) {
    let grammar = names.grammar(owner);
    let mut work = vec![Piece::Node(root, Binding::Alternation)];
    while let Some((id, outer)) = next_node(out, &mut work) {
        match grammar.expr(id) {
            Expr::Empty => out.push_str("\"\""),
            Expr::Regex(regex) => terminals.write(out, regex, outer),
            Expr::Rule(rule) => out.push_str(&names.of(owner, *rule)),
            Expr::Marker(text) => out.push_str(&marker(text)),
            Expr::Token(set) => out.push_str(&token(set)),
            Expr::Capture { label, inner } => {
                let _ = write!(out, "@{}(", identifier(label));
                work.push(Piece::Text(")"));
                work.push(Piece::Node(*inner, Binding::Alternation));
            }
            Expr::Embed(inner) => {
                out.push_str(&names.start_of(inner));
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

fn list(
    out: &mut String,
    work: &mut Vec<Piece<ExprId>>,
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
    push_list(work, parts.iter().copied(), between, inner);
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
