//! Tree to grammar. What is regular stays one regular language for as long as an operator may need it whole.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::ast::{Ast, Constant, Function, Node, NodeId};
use crate::error::{Error, Place};
use crate::ir::text::any_text;
use crate::ir::{ByteSet, Expr, ExprId, Grammar, GrammarBuilder, Regex, Report, RuleId};
use crate::limits::Limits;
use crate::syntax::regex::{self, Dialect, utf8_class};

enum Lowered {
    /// A regular language and the product of its nested counted repetitions.
    Regular(Regex, u64),
    Expr(ExprId),
}

struct Lowering<'a> {
    text: &'a str,
    ast: &'a Ast,
    limits: &'a Limits,
    builder: GrammarBuilder,
    report: Report,
    rules: IndexMap<&'a str, RuleId, FxBuildHasher>,
    values: Vec<Lowered>,
}

/// Builds the grammar.
pub(in crate::syntax) fn lower(
    text: &str,
    ast: &Ast,
    start: &str,
    limits: &Limits,
) -> Result<Grammar, Error> {
    let mut builder = GrammarBuilder::new();
    let rules: IndexMap<&str, RuleId, FxBuildHasher> = ast
        .rules
        .iter()
        .map(|rule| (rule.name.as_str(), builder.rule(&rule.name)))
        .collect();
    let Some(&start_rule) = rules.get(start) else {
        let error = Error::grammar(
            "E-GRAMMAR-START",
            format!("there is no rule {start:?} to start from"),
        )
        .at(Place::in_text(text, 0));
        return Err(error.with_hint(near_names(start, rules.keys().copied())));
    };
    let mut lowering = Lowering {
        text,
        ast,
        limits,
        builder,
        report: Report::default(),
        rules,
        values: Vec::with_capacity(ast.nodes.len()),
    };
    for (node, offset) in &ast.nodes {
        let value = lowering.node(node, *offset)?;
        lowering.values.push(value);
    }
    for rule in &ast.rules {
        let body = lowering.expr(rule.body);
        let id = lowering.rules[rule.name.as_str()];
        lowering.builder.define(id, body);
    }
    Ok(lowering.builder.finish(start_rule, lowering.report))
}

/// Advice with the names that are most like `name`.
fn near_names<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut near: Vec<(usize, &str)> = names
        // Rules of a front end's own have names that no source can write.
        .filter(|other| !other.contains(' '))
        .map(|other| (distance(name, other), other))
        .collect();
    near.sort_unstable();
    let close: Vec<&str> = near
        .iter()
        .take(3)
        .filter(|(distance, other)| *distance <= 1 + name.len().max(other.len()) / 2)
        .map(|&(_, other)| other)
        .collect();
    match (close.is_empty(), near.is_empty()) {
        (false, _) => format!("is one of these meant: {}?", close.join(", ")),
        (true, false) => {
            let some: Vec<&str> = near.iter().take(5).map(|&(_, other)| other).collect();
            format!(
                "rules are: {}{}",
                some.join(", "),
                if near.len() > 5 { ", …" } else { "" }
            )
        }
        (true, true) => "the grammar has no rules".to_owned(),
    }
}

/// Edits between two names, looking at their first 32 characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(32).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, l) in left.chars().take(32).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, &r) in right.iter().enumerate() {
            let change = diagonal + usize::from(l != r);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

impl Lowering<'_> {
    fn node(&mut self, node: &Node, offset: usize) -> Result<Lowered, Error> {
        let regular = |regex| Ok(Lowered::Regular(regex, 1));
        match node {
            Node::Bytes(bytes) => regular(Regex::literal(bytes)),
            Node::Pattern(pattern, inner) => {
                let regex = regex::parse(pattern, Dialect::Rust, self.limits)
                    .map_err(|error| self.moved(error, *inner))?;
                let expansion = expansion(&regex);
                Ok(Lowered::Regular(regex, expansion))
            }
            Node::Class(ranges) if ranges.is_empty() => regular(Regex::Nothing),
            Node::Class(ranges) => regular(utf8_class(ranges)),
            Node::Grammar(grammar) => {
                let pointers = &grammar.report().pointers;
                self.report.pointers.extend(pointers.iter().cloned());
                let embedded = Expr::Embed(Arc::clone(grammar));
                Ok(Lowered::Expr(self.builder.add(embedded)))
            }
            Node::Constant(Constant::Any) => regular(any_text()),
            Node::Constant(Constant::Byte) => regular(Regex::Class(ByteSet::FULL)),
            Node::Constant(Constant::Nothing) => regular(Regex::Nothing),
            Node::Name(name) => match self.rules.get(name.as_str()) {
                Some(&rule) => Ok(Lowered::Expr(self.builder.reference(rule))),
                None => Err(Error::grammar(
                    "E-GRAMMAR-UNDEFINED",
                    format!("there is no rule {name:?}"),
                )
                .at(Place::in_text(self.text, offset))
                .with_hint(near_names(name, self.rules.keys().copied()))),
            },
            Node::Marker(text) => Ok(Lowered::Expr(
                self.builder.add(Expr::Marker(text.as_str().into())),
            )),
            Node::Token(token) => Ok(Lowered::Expr(self.builder.add(Expr::Token(token.clone())))),
            Node::Capture(label, inner) => {
                let inner = self.expr(*inner);
                Ok(Lowered::Expr(self.builder.add(Expr::Capture {
                    label: label.as_str().into(),
                    inner,
                })))
            }
            Node::Function(function, inner) => {
                let (regex, expansion) = self.regular(*inner)?;
                Ok(Lowered::Regular(apply(*function, regex), expansion))
            }
            Node::And(operands) => {
                let mut parts = Vec::with_capacity(operands.len());
                let mut most = 1;
                for &operand in operands {
                    let (regex, expansion) = self.regular(operand)?;
                    parts.push(regex);
                    most = most.max(expansion);
                }
                Ok(Lowered::Regular(Regex::And(parts.into()), most))
            }
            Node::Seq(parts) => Ok(self.joined(parts, Regex::concat, GrammarBuilder::seq)),
            Node::Alt(parts) => Ok(self.joined(parts, Regex::alt, GrammarBuilder::alt)),
            Node::Repeat {
                inner,
                min,
                max,
                separator,
            } => self.repeat(*inner, *min, *max, *separator, offset),
        }
    }

    /// An error of a pattern, at its place in the grammar.
    fn moved(&self, error: Error, pattern_start: usize) -> Error {
        match error.place() {
            Some(Place::Text { offset, .. }) => {
                let place = Place::in_text(self.text, pattern_start + offset);
                error.at(place)
            }
            _ => error.at(Place::in_text(self.text, pattern_start)),
        }
    }

    fn regular(&self, id: NodeId) -> Result<(Regex, u64), Error> {
        match &self.values[id.0 as usize] {
            Lowered::Regular(regex, expansion) => Ok((regex.clone(), *expansion)),
            Lowered::Expr(_) => {
                let offset = self.ast.nodes[id.0 as usize].1;
                Err(Error::grammar("E-GRAMMAR-IRREGULAR", "this operand must be regular")
                    .at(Place::in_text(self.text, offset))
                    .with_hint("strings, regular expressions, builtins and groups of them are; rules, markers, tokens and captures are not"))
            }
        }
    }

    /// The expression of a node. A regular sequence is taken apart, so that what it is made of can be shared.
    fn expr(&mut self, id: NodeId) -> ExprId {
        let regex = match &self.values[id.0 as usize] {
            Lowered::Expr(expr) => return *expr,
            Lowered::Regular(regex, _) => regex.clone(),
        };
        match regex {
            Regex::Alt(parts) if parts.iter().any(|part| matches!(part, Regex::Concat(_))) => {
                let mut plain = Vec::new();
                let mut alternatives = Vec::new();
                for part in parts.iter() {
                    if matches!(part, Regex::Concat(_)) {
                        alternatives.push(self.sequence(part));
                    } else {
                        plain.push(part.clone());
                    }
                }
                if !plain.is_empty() {
                    alternatives.push(self.builder.regex(Regex::alt(plain)));
                }
                self.builder.alt(alternatives)
            }
            regex => self.sequence(&regex),
        }
    }

    fn sequence(&mut self, regex: &Regex) -> ExprId {
        match regex {
            Regex::Concat(parts) => {
                let parts = parts
                    .iter()
                    .map(|part| self.builder.regex(part.clone()))
                    .collect();
                self.builder.seq(parts)
            }
            other => self.builder.regex(other.clone()),
        }
    }

    fn joined(
        &mut self,
        parts: &[NodeId],
        regular: fn(Vec<Regex>) -> Regex,
        build: fn(&mut GrammarBuilder, Vec<ExprId>) -> ExprId,
    ) -> Lowered {
        let regexes: Option<Vec<(&Regex, u64)>> = parts
            .iter()
            .map(|id| match &self.values[id.0 as usize] {
                Lowered::Regular(regex, expansion) => Some((regex, *expansion)),
                Lowered::Expr(_) => None,
            })
            .collect();
        if let Some(regexes) = regexes {
            let most = regexes
                .iter()
                .map(|&(_, expansion)| expansion)
                .max()
                .unwrap_or(1);
            return Lowered::Regular(
                regular(
                    regexes
                        .into_iter()
                        .map(|(regex, _)| regex.clone())
                        .collect(),
                ),
                most,
            );
        }
        let parts = parts.iter().map(|&id| self.expr(id)).collect();
        Lowered::Expr(build(&mut self.builder, parts))
    }

    fn repeat(
        &mut self,
        inner: NodeId,
        min: u32,
        max: Option<u32>,
        separator: Option<NodeId>,
        offset: usize,
    ) -> Result<Lowered, Error> {
        let Lowered::Regular(regex, expansion) = &self.values[inner.0 as usize] else {
            return Ok(self.repeated_expr(inner, min, max, separator));
        };
        let separator_regex = match separator.map(|id| &self.values[id.0 as usize]) {
            None => None,
            Some(Lowered::Regular(separator, other)) => Some((separator, *other)),
            Some(Lowered::Expr(_)) => return Ok(self.repeated_expr(inner, min, max, separator)),
        };
        let inner_expansion =
            separator_regex.map_or(*expansion, |(_, other)| other.max(*expansion));
        let bound = u64::from(max.unwrap_or(min).max(1));
        let product = inner_expansion.saturating_mul(bound);
        let allowed = self.limits.regex_expansion;
        if inner_expansion > 1 && bound > 1 && product > allowed {
            return Err(Error::limit(
                "E-LIMIT-REGEX-EXPANSION",
                "regex_expansion",
                product,
                allowed,
            )
            .at(Place::in_text(self.text, offset)));
        }
        let repeated = match separator_regex {
            None => simple_repeat(regex, min, max),
            Some(_) if max == Some(0) => Regex::empty(),
            Some((separator, _)) => {
                let more = Regex::concat(vec![separator.clone(), regex.clone()]);
                let rest = Regex::repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
                let some = Regex::concat(vec![regex.clone(), rest]);
                if min == 0 {
                    Regex::repeat(some, 0, Some(1))
                } else {
                    some
                }
            }
        };
        Ok(Lowered::Regular(repeated, product))
    }

    fn repeated_expr(
        &mut self,
        inner: NodeId,
        min: u32,
        max: Option<u32>,
        separator: Option<NodeId>,
    ) -> Lowered {
        let inner = self.expr(inner);
        let separator = separator.map(|id| self.expr(id));
        Lowered::Expr(self.builder.add(Expr::Repeat {
            inner,
            min,
            max,
            separator,
        }))
    }
}

/// A repetition; repetitions of repetitions by `?`, `*` and `+` do not nest.
fn simple_repeat(regex: &Regex, min: u32, max: Option<u32>) -> Regex {
    if (min, max) == (1, Some(1)) {
        return regex.clone();
    }
    if max == Some(0) {
        return Regex::empty();
    }
    if let Regex::Repeat {
        inner,
        min: inner_min @ 0..=1,
        max: inner_max @ (None | Some(1)),
    } = regex
        && min <= 1
        && matches!(max, None | Some(1))
    {
        return Regex::Repeat {
            inner: inner.clone(),
            min: min * inner_min,
            max: if max == Some(1) { *inner_max } else { None },
        };
    }
    Regex::repeat(regex.clone(), min, max)
}

fn apply(function: Function, regex: Regex) -> Regex {
    let not = |regex: Regex| Regex::Not(regex.into());
    let and = |left, right| Regex::And([left, right].into());
    match function {
        Function::Complement => not(regex),
        Function::Not => and(any_text(), not(regex)),
        Function::Except => and(
            any_text(),
            not(Regex::concat(vec![any_text(), regex, any_text()])),
        ),
        Function::Shortest => {
            let longer = Regex::concat(vec![
                regex.clone(),
                Regex::repeat(Regex::Class(ByteSet::FULL), 1, None),
            ]);
            and(regex, not(longer))
        }
        Function::Until => {
            let character = utf8_class(&[('\0', char::MAX)]);
            let longer = Regex::concat(vec![
                any_text(),
                regex.clone(),
                Regex::repeat(character, 1, None),
            ]);
            and(Regex::concat(vec![any_text(), regex]), not(longer))
        }
    }
}

/// The product of nested counted repetitions.
fn expansion(regex: &Regex) -> u64 {
    // (node, product of the bounds around it)
    let mut work = vec![(regex, 1u64)];
    let mut most = 1;
    while let Some((node, product)) = work.pop() {
        most = most.max(product);
        match node {
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                work.extend(parts.iter().map(|part| (part, product)));
            }
            Regex::Not(inner) => work.push((inner, product)),
            Regex::Repeat { inner, min, max } => {
                work.push((
                    inner,
                    product.saturating_mul(u64::from(max.unwrap_or(*min).max(1))),
                ));
            }
            Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => {}
        }
    }
    most
}
