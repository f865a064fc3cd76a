//! The normal form keeps the language: random grammars against a recogniser that works on the expressions themselves.

use crate::reference;

use crate::shapes::{RULES, Shape, grammar, shape};
use proptest::prelude::*;
use syntagma_grammar::ir::{Grammar, Lnf, Regex, Symbol};
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
        let again = match syntax::ebnf::parse(&text, "start", &Limits::default()) {
            // The text is refused for what it says; a rule that can write nothing is not in its language either way.
            Err(error) if error.code() == "E-GRAMMAR-UNPRODUCTIVE" => return Ok(()),
            again => again.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?,
        };
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
        if let Ok(written) = print::to_gbnf(&grammar, None) {
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

#[test]
fn alternatives_that_match_nothing_are_not_written_as_the_empty_text() {
    let letter = |byte| Regex::literal(&[byte]);
    let nothing = || {
        let both = Regex::And(vec![letter(b'a'), letter(b'b')].into());
        Shape::Regex(Regex::Alt(vec![both, Regex::Nothing].into()))
    };
    let alone = grammar(&[Shape::Seq(vec![nothing()])]);
    assert!(print::to_gbnf(&alone, None).is_err());
    let beside = grammar(&[Shape::Alt(vec![nothing(), Shape::Regex(letter(b'a'))])]);
    assert_eq!(
        print::to_gbnf(&beside, None).unwrap().text,
        "root ::= \"a\"\n"
    );
}

/// Where the form differs from the textbook's, it is smaller and the language is the same: (grammar, letters, length of the
/// texts that are compared, most productions, most terminals).
const DEVIATIONS: &[(&str, &[u8], usize, usize, usize)] = &[
    // Nullable nonterminals stay. Eliminating them would make two productions of each subset: 4,096.
    (
        r#"start ::= b? b? b? b? b? b? b? b? b? b? b? b? ; b ::= "x" | "(" b ")" ;"#,
        b"x()",
        5,
        6,
        3,
    ),
    // What follows each other is one terminal, whitespace and words alike; so are alternatives.
    (
        r#"start ::= ws "a" ws ":" ws value | ws "b" start ; value ::= "a" | "b" ws ; ws ::= " "* ;"#,
        b"ab: ",
        5,
        2,
        2,
    ),
    // A loop over many bytes ends its terminal, so that its masks do not depend on what follows.
    (
        r#"start ::= "a" #"[a-z]*" ":" start | ":" ;"#,
        b"ab:",
        5,
        3,
        3,
    ),
    // A set of words is one terminal.
    (
        r#"start ::= word start | "." ; word ::= "a" | "ab" | "ba" | "bb" | "abab" | "aab" | "b" "a" "b" ;"#,
        b"ab.",
        6,
        2,
        2,
    ),
];

#[test]
fn deviations_from_the_textbook_keep_the_language() {
    for &(text, letters, length, productions, terminals) in DEVIATIONS {
        let grammar = syntax::ebnf::parse(text, "start", &Limits::default()).unwrap();
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        for input in reference::strings(letters, length) {
            assert_eq!(
                reference::lnf_matches(&lnf, &input),
                reference::grammar_matches(&grammar, &input),
                "{text} on {:?}\n{}",
                input.escape_ascii().to_string(),
                lnf.dump()
            );
        }
        let found = (lnf.productions.len(), lnf.symbols.regexes.len());
        assert!(
            found.0 <= productions && found.1 <= terminals,
            "{found:?}\n{}",
            lnf.dump()
        );
    }
}
