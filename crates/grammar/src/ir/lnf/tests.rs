//! Every pass keeps the language, by itself: random grammars, brought into all kinds of states by other passes first, against a
//! recogniser that knows none of them.

use proptest::prelude::*;

use super::draft::Draft;
use super::{
    Lnf, Symbol, duplicates, equals, flatten, fuse, inline, nullable, operators, regular, units,
    unproductive, unreachable,
};
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Limits;
use crate::{reference, shapes};

type Pass = fn(&mut Draft) -> Result<(), Error>;

/// All passes that may come in any order. Names are only replaced where everything can be reached.
const PASSES: [Pass; 9] = [
    units::run,
    regular::run,
    reached_inline,
    operators::run,
    fuse::run,
    duplicates::run,
    equals::run,
    unproductive::run,
    unreachable::run,
];

fn reached_inline(draft: &mut Draft) -> Result<(), Error> {
    unreachable::run(draft)?;
    inline::run(draft)
}

/// The strings of up to five letters that a draft matches.
fn language(draft: &Draft, empty_terminals: bool) -> Vec<Vec<u8>> {
    let lnf = Lnf::numbered(draft);
    let mut strings = reference::strings(b"ab", 5);
    strings.retain(|input| reference::productions_match(&lnf, input, empty_terminals));
    strings
}

/// Runs `before`, then `pass`, which must change nothing that can be seen from outside.
fn keeps_the_language(shapes: &[shapes::Shape], before: &[usize], pass: Pass) {
    let grammar = shapes::grammar(shapes);
    let mut draft = flatten::run(&grammar, Draft::new(&Limits::default())).unwrap();
    for &earlier in before {
        PASSES[earlier](&mut draft).unwrap();
    }
    let wanted = language(&draft, true);
    let dump = Lnf::numbered(&draft).dump();
    pass(&mut draft).unwrap();
    let after = Lnf::numbered(&draft).dump();
    assert_eq!(language(&draft, true), wanted, "{dump}\nbecame\n{after}");
}

/// A test for each pass.
macro_rules! passes {
    ($($name:ident: $pass:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

            $(
                #[test]
                fn $name(
                    shapes in prop::collection::vec(shapes::shape(), 1..=shapes::RULES),
                    before in prop::collection::vec(0..PASSES.len(), 0..6),
                ) {
                    keeps_the_language(&shapes, &before, $pass);
                }
            )*

            #[test]
            fn flattening_and_repetitions(shapes in prop::collection::vec(shapes::shape(), 1..=shapes::RULES)) {
                let grammar = shapes::grammar(&shapes);
                let draft = flatten::run(&grammar, Draft::new(&Limits::default())).unwrap();
                let mut wanted = reference::strings(b"ab", 5);
                wanted.retain(|input| reference::grammar_matches(&grammar, input));
                assert_eq!(language(&draft, true), wanted, "{}", Lnf::numbered(&draft).dump());
            }

            #[test]
            fn nullable_terminals(
                shapes in prop::collection::vec(shapes::shape(), 1..=shapes::RULES),
                before in prop::collection::vec(0..PASSES.len(), 0..6),
            ) {
                keeps_the_language(&shapes, &before, |draft| {
                    let wanted = language(draft, true);
                    nullable::run(draft)?;
                    // From here on a terminal is one byte or more.
                    assert_eq!(language(draft, false), wanted, "{}", Lnf::numbered(draft).dump());
                    Ok(())
                });
            }
        }
    };
}

passes! {
    cycles_of_units: units::run;
    joining_what_is_regular: regular::run;
    replacing_names: reached_inline;
    operators_as_iteration: operators::run;
    fusing_terminals: fuse::run;
    dropping_repeated_productions: duplicates::run;
    merging_equal_nonterminals: equals::run;
    dropping_what_is_unproductive: unproductive::run;
    dropping_what_is_unreachable: unreachable::run;
}

/// Rules most of whose productions begin or end with the rule itself.
fn operator_rule(itself: usize) -> impl Strategy<Value = shapes::Shape> {
    let symbol = prop_oneof![
        4 => Just(shapes::Shape::Rule(itself)),
        1 => Just(shapes::Shape::Rule(1 - itself)),
        2 => Just(shapes::Shape::Regex(Regex::literal(b"a"))),
        2 => Just(shapes::Shape::Regex(Regex::literal(b"b"))),
    ];
    let production = prop::collection::vec(symbol, 0..4).prop_map(shapes::Shape::Seq);
    prop::collection::vec(production, 1..6).prop_map(shapes::Shape::Alt)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operators_of_many_kinds(
        rules in (operator_rule(0), operator_rule(1)),
        before in prop::collection::vec(0..PASSES.len(), 0..3),
    ) {
        keeps_the_language(&[rules.0, rules.1], &before, operators::run);
    }
}

/// No production is left between whose ends a string may be cut in several ways.
#[test]
fn operators_are_read_as_one_tree() {
    for text in [
        r#"root ::= root [+*] root | "-" root | root "!" | "a" | "(" root ")""#,
        r#"root ::= root root | [ab] | "(" root ")""#,
        r#"root ::= root "?" root ":" root | "not " root | "a""#,
        r#"root ::= "-" root | root "!" | "x" root "y""#,
        "root ::= sum | [0-9] | \"(\" root \")\"\nsum ::= root ws [+-] ws root\nws ::= \" \"*",
    ] {
        let grammar = crate::syntax::gbnf::parse(text, "root", &Limits::default()).unwrap();
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        for production in &lnf.productions {
            let this = Some(&Symbol::Nonterminal(production.lhs));
            let (first, last) = (production.rhs.first(), production.rhs.last());
            assert!(first != this || last != this, "{text}\n{}", lnf.dump());
        }
    }
}

/// Where a labelled part begins and ends depends on the tree.
#[test]
fn operators_that_are_labelled_stay() {
    let text = r#"start ::= sum ; sum ::= @sum(sum "+" sum) | @item("a" | "(" start ")") ;"#;
    let grammar = crate::syntax::ebnf::parse(text, "start", &Limits::default()).unwrap();
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    let labels = &lnf.symbols.labels;
    let labelled = |wanted: &str| labels.iter().find(|(_, label)| **label == *wanted);
    let [production] = labelled("sum").map_or(&[][..], |(sum, _)| lnf.productions_of(*sum)) else {
        panic!("{}", lnf.dump());
    };
    assert_eq!(production.rhs.len(), 3, "{}", lnf.dump());
    assert_eq!(
        production.rhs.first(),
        production.rhs.last(),
        "{}",
        lnf.dump()
    );
    assert!(labelled("item").is_some(), "{}", lnf.dump());
}

/// What never ends stays: every beginning of its text can go on. What never begins goes.
#[test]
fn only_what_can_never_write_is_unproductive() {
    let left = |text: &str| {
        let grammar = crate::syntax::gbnf::parse(text, "root", &Limits::default()).unwrap();
        let mut draft = flatten::run(&grammar, Draft::new(&Limits::default())).unwrap();
        unproductive::run(&mut draft).unwrap();
        !draft.rules_of(draft.start).is_empty()
    };
    for (text, stays) in [
        ("root ::= \"a\" root", true),
        ("root ::= x \nx ::= y \"a\"\ny ::= \"b\" x", true),
        ("root ::= [a]* root", true),
        ("root ::= root \"a\"", false),
        ("root ::= \"\" root", false),
        ("root ::= \"a\" x\nx ::= x", false),
        ("root ::= x root\nx ::= \"\"", false),
    ] {
        assert_eq!(left(text), stays, "{text}");
    }
}
