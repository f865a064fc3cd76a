//! Grammars as bytes: what is read is what was written, and nothing else is read.

use std::sync::Arc;

use syntagma_grammar::ir::{Expr, Grammar, GrammarBuilder, Regex, Report, TokenSet};
use syntagma_grammar::syntax::{ebnf, json_schema};
use syntagma_grammar::{Diagnostic, Limits, print};

/// A grammar with something of every kind, in others that share it.
fn of_all_kinds() -> Grammar {
    let text = r#"
        start ::= word ("," word){1,3} | @part(marker);
        word ::= #"[a-z]+\\d*" | except!("end", 5) | '<tag>';
        marker ::= "x" word?;
        unused ::= 'u';
    "#;
    let read = Arc::new(ebnf::parse_with(text, "start", &[], &Limits::default()).unwrap());
    let schema = r#"{"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}, "b": {"not": {"type": "null"}},
        "c": {"type": "array", "uniqueItems": true}},
        "required": ["a"]}"#;
    let schema = json_schema::parse(schema, &json_schema::Options::default(), &Limits::default());
    let schema = Arc::new(schema.unwrap());
    let mut builder = GrammarBuilder::new();
    let parts = [
        builder.add(Expr::Token(TokenSet::Ids([(3, 5), (9, 9)].into()))),
        builder.add(Expr::Token(TokenSet::Text("<tool>".into()))),
        builder.add(Expr::Marker("<end>".into())),
        builder.add(Expr::Empty),
        builder.add(Expr::Embed(Arc::clone(&schema))),
    ];
    let body = builder.alt(parts);
    let start = builder.rule("start");
    builder.define(start, body);
    let tokens = Arc::new(builder.finish(start, Report::default()));
    let both = Arc::new(Grammar::concat(&[Arc::clone(&schema), Arc::clone(&read)]));
    Grammar::union(&[
        Arc::clone(&both),
        tokens,
        Arc::new(Grammar::repeat(&both, 2, None, Some(&read))),
        Arc::new(Grammar::labelled("answer", &schema)),
    ])
}

#[test]
fn what_is_read_is_what_was_written() {
    let grammar = of_all_kinds();
    let bytes = grammar.to_bytes();
    let again = Grammar::from_bytes(&bytes).unwrap();
    assert_eq!(again, grammar);
    assert_eq!(again.warnings(), grammar.warnings());
    assert!(!again.warnings().is_empty());
    assert_eq!(again.report(), grammar.report());
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.structure(), grammar.structure());
    assert_eq!(print::to_ebnf(&again), print::to_ebnf(&grammar));
}

#[test]
fn every_warning_is_read_back() {
    let mut codes = Vec::new();
    for text in [
        "start ::= start | \"a\" ;",
        "start ::= \"a\" start ;",
        "start ::= \"a\" ; x ::= x \"b\" ;",
        "start ::= #\"(?i)s\" ;",
    ] {
        let grammar = ebnf::parse(text, "start", &Limits::default()).unwrap();
        let again = Grammar::from_bytes(&grammar.to_bytes()).unwrap();
        assert_eq!(again, grammar);
        codes.extend(again.warnings().iter().map(Diagnostic::code));
    }
    codes.sort_unstable();
    codes.dedup();
    let all = [
        "W-GRAMMAR-CYCLE",
        "W-GRAMMAR-ENDLESS",
        "W-GRAMMAR-UNPRODUCTIVE",
        "W-GRAMMAR-UNUSED",
        "W-REGEX-CASE",
    ];
    assert_eq!(codes, all);
}

#[test]
fn the_structure_is_without_what_is_said() {
    let grammar = of_all_kinds();
    let placed = grammar.clone().with_pointer_prefix("/there");
    assert_ne!(placed.to_bytes(), grammar.to_bytes());
    assert_eq!(placed.structure(), grammar.structure());
    let other = Grammar::from_marker("other");
    assert_ne!(other.structure(), grammar.structure());
}

#[test]
fn what_is_nested_deep_neither_recurses_nor_grows() {
    let mut regex = Regex::literal(b"a");
    for depth in 0..1_000 {
        regex = Regex::repeat(
            Regex::concat(vec![regex, Regex::literal(b"b")]),
            depth % 3,
            None,
        );
    }
    let mut grammar = Arc::new(Grammar::from_regex(regex));
    for _ in 0..2_000 {
        // Each holds the one before twice: written out, that would be more than there is room for.
        grammar = Arc::new(Grammar::concat(&[Arc::clone(&grammar), grammar]));
    }
    let bytes = grammar.to_bytes();
    assert!(bytes.len() < 1 << 20);
    assert_eq!(Grammar::from_bytes(&bytes).unwrap().to_bytes(), bytes);
}

#[test]
fn repetitions_of_repetitions_do_not_nest() {
    let parse = |signs: &str| {
        let text = format!("start ::= r{signs} ;\nr ::= \"a\" r \"b\" | \"c\" ;");
        ebnf::parse(&text, "start", &Limits::default()).unwrap()
    };
    // Which numbers of repetitions there may be, up to six, as bits.
    let allowed = |signs: &str| {
        signs.bytes().fold(0b10_u32, |inner, sign| {
            let sums = (0..7).fold(inner, |sums, _| {
                let more = (0..7).filter(|by| inner >> by & 1 == 1);
                more.fold(sums, |all, by| all | sums << by) & 0x7F
            });
            match sign {
                b'?' => inner | 1,
                b'*' => sums | 1,
                _ => sums,
            }
        })
    };
    let signs = ["?", "*", "+"];
    for first in signs {
        for second in signs {
            for third in signs {
                let all = [first, second, third].concat();
                let same = signs.iter().find(|sign| allowed(sign) == allowed(&all));
                let printed = |signs: &str| print::to_ebnf(&parse(signs));
                assert_eq!(printed(&all), printed(same.unwrap()), "{all}");
            }
        }
    }
    let many = parse(&"+".repeat(21_000));
    assert_eq!(Grammar::from_bytes(&many.to_bytes()).unwrap(), many);
}

#[test]
fn other_bytes_are_refused() {
    let bytes = of_all_kinds().to_bytes();
    let code = |bytes: &[u8]| Grammar::from_bytes(bytes).map_err(|error| error.code());
    assert_eq!(code(b"").unwrap_err(), "E-STATE-FORMAT");
    assert_eq!(code(b"something else").unwrap_err(), "E-STATE-FORMAT");
    let mut newer = bytes.clone();
    newer[4] += 1;
    assert_eq!(code(&newer).unwrap_err(), "E-STATE-VERSION");
    for length in 0..bytes.len() {
        assert_eq!(code(&bytes[..length]).unwrap_err(), "E-STATE-FORMAT");
    }
    for at in 5..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_eq!(code(&damaged).unwrap_err(), "E-STATE-FORMAT");
    }
}

/// The checksum, by which forgeries are sealed.
fn seal(bytes: &mut Vec<u8>) {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    bytes.extend(sum.to_le_bytes());
}

#[test]
fn forgeries_are_read_or_refused() {
    let mut bytes = of_all_kinds().to_bytes();
    bytes.truncate(bytes.len() - 8);
    let mut refused = 0;
    for at in (5..bytes.len()).step_by(3) {
        for value in [0, 1, 0x7F, 0x80, 0xFF, bytes[at].wrapping_add(1)] {
            let mut forged = bytes.clone();
            forged[at] = value;
            seal(&mut forged);
            refused += usize::from(Grammar::from_bytes(&forged).is_err());
        }
    }
    // Most places are bits of sets of bytes, of which each means something.
    assert!(refused > 0);
}

/// A sealed grammar of one rule whose expressions are these bytes, so many of them.
fn of_exprs(count: u8, exprs: &[u8]) -> Vec<u8> {
    let empty = Grammar::from_regex(Regex::Nothing).to_bytes();
    let mut bytes = empty[..5].to_vec();
    // One grammar of one rule with a name of one letter and the first expression as its body; the start is that rule.
    bytes.extend([1, 1, 1, b's', 0, 0, count]);
    bytes.extend_from_slice(exprs);
    // Nothing is said.
    bytes.extend([0, 0]);
    seal(&mut bytes);
    bytes
}

#[test]
fn nesting_beyond_that_of_any_source_is_refused() {
    const REGEX: u8 = 1;
    const NOT: u8 = 6;
    let nested = |depth: usize| of_exprs(1, &[&[REGEX][..], &vec![NOT; depth], &[0]].concat());
    for (depth, read) in [(0, true), (3_000, true), (10_000, false), (300_000, false)] {
        let grammar = Grammar::from_bytes(&nested(depth));
        match &grammar {
            Ok(grammar) => assert_eq!(grammar.to_bytes(), nested(depth)),
            Err(error) => assert_eq!(error.code(), "E-STATE-FORMAT"),
        }
        assert_eq!(grammar.is_ok(), read, "{depth}");
    }
}

#[test]
fn what_lies_in_itself_is_refused() {
    const EMPTY: u8 = 0;
    const SEQ: u8 = 6;
    // A sequence of the second expression; one of itself; one of one of it.
    for (exprs, read) in [
        (vec![SEQ, 1, 1, EMPTY], true),
        (vec![SEQ, 1, 0, EMPTY], false),
        (vec![SEQ, 1, 1, SEQ, 1, 0], false),
    ] {
        assert_eq!(Grammar::from_bytes(&of_exprs(2, &exprs)).is_ok(), read);
    }
}
