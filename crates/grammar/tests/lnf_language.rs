//! The normal form keeps the language: random grammars against a recogniser that works on the expressions themselves.

mod reference;
mod shapes;

use proptest::prelude::*;
use shapes::{RULES, grammar, shape};
use syntagma_grammar::ir::{Grammar, Lnf, Symbol};
use syntagma_grammar::{Limits, print, syntax};

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
