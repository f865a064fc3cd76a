//! The normal form keeps the language: random grammars against a recogniser that works on the expressions themselves.

mod reference;

use std::sync::Arc;

use proptest::prelude::*;
use syntagma_grammar::ir::{
    ByteSet, Expr, ExprId, Grammar, GrammarBuilder, Lnf, Regex, Report, Symbol, text,
};
use syntagma_grammar::{Limits, print, syntax};

/// A grammar as a plain value, so that a failing case can be shrunk and read.
#[derive(Debug, Clone)]
enum Shape {
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

const RULES: usize = 4;

fn regex() -> impl Strategy<Value = Regex> {
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
            6 => (inner, 0u32..3, prop::option::of(0u32..3)).prop_map(
                |(part, min, more)| Regex::repeat(part, min, more.map(|more| min + more))
            ),
        ]
    })
}

fn shape() -> impl Strategy<Value = Shape> {
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
        Shape::Nothing => builder.add(Expr::Alt(Arc::new([]))),
        Shape::Regex(regex) => builder.regex(regex.clone()),
        Shape::Rule(rule) => builder.reference(rules[*rule]),
        Shape::Seq(parts) => {
            let parts = parts.iter().map(|part| add(builder, rules, part)).collect();
            builder.seq(parts)
        }
        Shape::Alt(parts) => {
            let parts = parts.iter().map(|part| add(builder, rules, part)).collect();
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

fn grammar(shapes: &[Shape]) -> Grammar {
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

fn check(grammar: &Grammar) {
    let lnf = Lnf::new(grammar, &Limits::default());
    for input in reference::strings(b"ab", 5) {
        let wanted = reference::grammar_matches(grammar, &input);
        let found = lnf
            .as_ref()
            .is_ok_and(|lnf| reference::lnf_matches(lnf, &input));
        assert_eq!(
            found,
            wanted,
            "{:?}\n{:?}",
            input.escape_ascii().to_string(),
            lnf.as_ref().map(Lnf::dump)
        );
    }
    let Ok(lnf) = lnf else { return };
    // What the module promises of the form.
    let count = lnf.symbols.nonterminals.len() as u32;
    for id in (0..count).map(syntagma_grammar::ir::NonterminalId) {
        assert!(
            !lnf.productions_of(id).is_empty(),
            "a nonterminal without productions\n{}",
            lnf.dump()
        );
    }
    for production in &lnf.productions {
        for symbol in &production.rhs {
            if let Symbol::Regex(index) = symbol
                && lnf.symbols.regexes[*index as usize].is_nullable()
            {
                let beside = lnf
                    .productions_of(production.lhs)
                    .iter()
                    .any(|other| other.rhs.is_empty());
                assert!(
                    production.rhs.len() == 1 && beside,
                    "a nullable terminal\n{}",
                    lnf.dump()
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn normal_form_keeps_the_language(shapes in prop::collection::vec(shape(), 1..=RULES)) {
        check(&grammar(&shapes));
    }

    #[test]
    fn printed_grammars_read_back(shapes in prop::collection::vec(shape(), 1..=RULES)) {
        let grammar = grammar(&shapes);
        let text = print::to_ebnf(&grammar);
        let again = syntax::ebnf::parse(&text, "r0", &Limits::default()).map_err(|error| {
            TestCaseError::fail(format!("{error}\n{text}"))
        })?;
        for input in reference::strings(b"ab", 4) {
            prop_assert_eq!(
                reference::grammar_matches(&again, &input),
                reference::grammar_matches(&grammar, &input),
                "{:?}\n{}", input, text
            );
        }
    }

    #[test]
    fn grammars_written_as_gbnf_read_back(shapes in prop::collection::vec(shape(), 1..=RULES)) {
        let grammar = grammar(&shapes);
        // Bytes that are no text, and languages without any text, cannot be written.
        if let Ok(written) = print::to_gbnf(&grammar) {
            let again = syntax::gbnf::parse(&written.text, "root", &Limits::default()).map_err(|error| {
                TestCaseError::fail(format!("{error}\n{}", written.text))
            })?;
            for input in reference::strings(b"ab", 4).iter().map(Vec::as_slice).chain(["é".as_bytes(), "aé".as_bytes()]) {
                prop_assert_eq!(
                    reference::grammar_matches(&again, input),
                    reference::grammar_matches(&grammar, input),
                    "{:?}\n{}", input, written.text
                );
            }
        }
    }
}
