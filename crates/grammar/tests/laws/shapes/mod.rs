//! Random grammars over the letters `a` and `b`: nullable, ambiguous, cyclic, with counts, separators, intersections and
//! complements.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::sync::Arc;

use proptest::prelude::*;
use syntagma_grammar::ir::{
    ByteSet, Expr, ExprId, ExprIds, Grammar, GrammarBuilder, Regex, Report, text,
};

/// A grammar as a plain value, so that a failing case can be shrunk and read.
#[derive(Debug, Clone)]
pub enum Shape {
    Empty,
    Nothing,
    Regex(Regex),
    Rule(usize),
    Seq(Vec<Shape>),
    Alt(Vec<Shape>),
    Repeat(Box<Shape>, u32, Option<u32>, Option<Box<Shape>>),
    Capture(Box<Shape>),
    Embed(Box<Shape>),
}

pub const RULES: usize = 4;

/// A random regular language.
pub fn regex() -> impl Strategy<Value = Regex> {
    let leaf = prop_oneof![
        4 => "[ab]{1,2}".prop_map(|text| Regex::literal(text.as_bytes())),
        1 => Just(Regex::empty()),
        2 => Just(Regex::Class(ByteSet::range(b'a', b'b'))),
        1 => Just(Regex::Nothing),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            6 => prop::collection::vec(inner.clone(), 1..3).prop_map(Regex::concat),
            6 => prop::collection::vec(inner.clone(), 1..3).prop_map(Regex::alt),
            6 => prop::collection::vec(inner.clone(), 2..3).prop_map(|parts| Regex::And(parts.into())),
            6 => inner.clone().prop_map(|part| Regex::Not(Arc::new(part))),
            1 => inner.clone().prop_map(|part| {
                let text = Regex::repeat(text::utf8_character(), 0, None);
                Regex::And([text, Regex::Not(Arc::new(part))].into())
            }),
            1 => (inner.clone(), prop::option::of(0u32..5)).prop_map(|(part, most)| except(part, most)),
            6 => (inner, 0u32..3, prop::option::of(0u32..3)).prop_map(
                |(part, min, more)| Regex::repeat(part, min, more.map(|more| min + more))
            ),
        ]
    })
}

/// Text in which `part` does not occur, of at most so many bytes.
fn except(part: Regex, most: Option<u32>) -> Regex {
    let bytes = || Regex::repeat(Regex::Class(ByteSet::FULL), 0, None);
    let holding = Regex::concat(vec![bytes(), part, bytes()]);
    let text = Regex::repeat(text::utf8_character(), 0, None);
    let mut parts = vec![text, Regex::Not(Arc::new(holding))];
    parts.extend(most.map(|most| Regex::repeat(Regex::Class(ByteSet::FULL), 0, Some(most))));
    Regex::And(parts.into())
}

/// A random expression.
pub fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => regex().prop_map(Shape::Regex),
        5 => (0..RULES).prop_map(Shape::Rule),
        1 => Just(Shape::Empty),
        1 => Just(Shape::Nothing),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Seq),
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(Shape::Alt),
            2 => (inner.clone(), 0u32..6, prop::option::of(0u32..6), prop::option::of(inner.clone())).prop_map(
                |(part, min, more, separator)| Shape::Repeat(
                    Box::new(part),
                    min,
                    more.map(|more| min + more),
                    separator.map(Box::new)
                )
            ),
            1 => inner.clone().prop_map(|part| Shape::Capture(Box::new(part))),
            1 => inner.prop_map(|part| Shape::Embed(Box::new(part))),
        ]
    })
}

fn add(
    builder: &mut GrammarBuilder,
    rules: &[syntagma_grammar::ir::RuleId],
    shape: &Shape,
) -> ExprId {
    match shape {
        Shape::Empty => builder.add(Expr::Empty),
        Shape::Nothing => builder.add(Expr::Alt(ExprIds::default())),
        Shape::Regex(regex) => builder.regex(regex.clone()),
        Shape::Rule(rule) => builder.reference(rules[*rule]),
        Shape::Seq(parts) => {
            let parts: ExprIds = parts.iter().map(|part| add(builder, rules, part)).collect();
            builder.seq(parts)
        }
        Shape::Alt(parts) => {
            let parts: ExprIds = parts.iter().map(|part| add(builder, rules, part)).collect();
            builder.alt(parts)
        }
        Shape::Repeat(inner, min, max, separator) => {
            let inner = add(builder, rules, inner);
            let separator = separator.as_ref().map(|part| add(builder, rules, part));
            builder.add(Expr::Repeat {
                inner,
                min: *min,
                max: *max,
                separator,
            })
        }
        Shape::Capture(inner) => {
            let inner = add(builder, rules, inner);
            builder.add(Expr::Capture {
                label: "part".into(),
                inner,
            })
        }
        // An embedded grammar has rules of its own: the same shape, alone.
        Shape::Embed(inner) => {
            let embedded = grammar(std::slice::from_ref(inner));
            builder.add(Expr::Embed(Arc::new(embedded)))
        }
    }
}

/// The grammar of rules that are given by their shapes, the first being the start.
pub fn grammar(shapes: &[Shape]) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let rules: Vec<_> = (0..RULES)
        .map(|at| builder.rule(&format!("r{at}")))
        .collect();
    for (at, rule) in rules.iter().enumerate() {
        if let Some(shape) = shapes.get(at) {
            let body = add(&mut builder, &rules, shape);
            builder.define(*rule, body);
        }
    }
    builder.finish(rules[0], Report::default())
}
