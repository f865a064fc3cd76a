//! Every pass keeps the language, by itself: random grammars, brought into all kinds of states by other passes first, against a
//! recogniser that knows none of them.

use proptest::prelude::*;

use super::draft::Draft;
use super::{Lnf, flatten, fuse, inline, merge, nullable, prune, regular, units};
use crate::error::Error;
use crate::limits::Limits;

#[path = "../../../tests/reference/mod.rs"]
mod reference;
#[path = "../../../tests/shapes/mod.rs"]
mod shapes;

type Pass = fn(&mut Draft) -> Result<(), Error>;

/// All passes that may come in any order. Names are only replaced where everything can be reached.
const PASSES: [Pass; 8] = [
    units::run,
    regular::run,
    reached_inline,
    fuse::run,
    merge::duplicates,
    merge::equals,
    prune::unproductive,
    prune::unreachable,
];

fn reached_inline(draft: &mut Draft) -> Result<(), Error> {
    prune::unreachable(draft)?;
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
            #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

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
    circles_of_units: units::run;
    joining_what_is_regular: regular::run;
    replacing_names: reached_inline;
    fusing_terminals: fuse::run;
    dropping_repeated_productions: merge::duplicates;
    merging_equal_nonterminals: merge::equals;
    dropping_what_is_unproductive: prune::unproductive;
    dropping_what_is_unreachable: prune::unreachable;
}

/// What never ends stays: every beginning of its text can go on. What never begins goes.
#[test]
fn only_what_can_never_write_is_unproductive() {
    let left = |text: &str| {
        let grammar = crate::syntax::gbnf::parse(text, "root", &Limits::default()).unwrap();
        let mut draft = flatten::run(&grammar, Draft::new(&Limits::default())).unwrap();
        prune::unproductive(&mut draft).unwrap();
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
