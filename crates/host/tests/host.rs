//! What hosts read and are told.

use syntagma_engine::{Bound, Unit};
use syntagma_host::{CompilerOptions, ErrorKind, Grammar, Limits, NOTATIONS, TokenizerJson};

const SOURCES: [(&str, &str, &str); 7] = [
    ("ebnf", "start ::= \"a\"+;", r#"{"start": "start"}"#),
    ("gbnf", "root ::= \"a\"+", ""),
    (
        "json_schema",
        r#"{"type": "integer"}"#,
        r#"{"whitespace": "compact"}"#,
    ),
    (
        "lark",
        "start: \"a\"+",
        r#"{"limits": {"grammar_bytes": 100}}"#,
    ),
    ("regex", "a+", r#"{"dialect": "ecma"}"#),
    (
        "structural_tag",
        r#"{"type": "const_string", "value": "a"}"#,
        "",
    ),
    ("xgrammar", "root ::= \"a\"+", "{}"),
];

#[test]
fn every_notation_is_read_and_comes_back_from_bytes() {
    assert_eq!(SOURCES.map(|(notation, _, _)| notation), NOTATIONS);
    for (notation, source, options) in SOURCES {
        let mut grammar = Grammar::read(notation, source, options).unwrap();
        assert_eq!(grammar.schema.is_some(), notation == "json_schema");
        for (unit, most) in [(Unit::Tokens, 3), (Unit::Bytes, u32::MAX)] {
            let label = "a part".into();
            grammar.bounds.push(Bound { label, unit, most });
        }
        let bytes = grammar.to_bytes();
        let read = Grammar::from_bytes(&bytes).unwrap();
        assert_eq!(read.schema, grammar.schema);
        assert_eq!(read.bounds, grammar.bounds);
        assert_eq!(read.grammar.to_bytes(), grammar.grammar.to_bytes());
        assert_eq!(read.to_bytes(), bytes);
    }
}

#[test]
fn damaged_bytes_are_refused_wherever_they_are_damaged() {
    let grammar = Grammar::read("json_schema", r#"{"enum": ["a", 1]}"#, "").unwrap();
    let bytes = grammar.to_bytes();
    for at in 0..bytes.len() {
        let code = if at == 4 {
            "E-STATE-VERSION"
        } else {
            "E-STATE-FORMAT"
        };
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert_eq!(
            Grammar::from_bytes(&damaged).unwrap_err().code(),
            code,
            "byte {at}"
        );
        assert_eq!(
            Grammar::from_bytes(&bytes[..at]).unwrap_err().code(),
            "E-STATE-FORMAT"
        );
    }
    let longer = [bytes.as_slice(), b"\0"].concat();
    assert_eq!(
        Grammar::from_bytes(&longer).unwrap_err().code(),
        "E-STATE-FORMAT"
    );
}

#[test]
fn options_that_mean_nothing_are_refused_with_their_place() {
    let cases = [
        (
            "gbnf",
            r#"{"begin": "root"}"#,
            "E-ARGUMENT-VALUE",
            Some("/begin"),
        ),
        ("gbnf", r#"{"start": 1}"#, "E-ARGUMENT-TYPE", Some("/start")),
        ("gbnf", "[1]", "E-ARGUMENT-TYPE", None),
        ("gbnf", "{", "E-ARGUMENT-VALUE", None),
        (
            "json_schema",
            r#"{"order": "none"}"#,
            "E-SCHEMA-OPTION",
            Some("/order"),
        ),
        (
            "json_schema",
            r#"{"indent": 17}"#,
            "E-SCHEMA-OPTION",
            Some("/indent"),
        ),
        (
            "json_schema",
            r#"{"indent": -1}"#,
            "E-ARGUMENT-VALUE",
            Some("/indent"),
        ),
        (
            "json_schema",
            r#"{"indent": 2, "whitespace": "compact"}"#,
            "E-SCHEMA-OPTION",
            None,
        ),
        (
            "json_schema",
            r#"{"separators": [","]}"#,
            "E-SCHEMA-OPTION",
            Some("/separators"),
        ),
        (
            "json_schema",
            r#"{"notation": {"quotes": "'"}}"#,
            "E-ARGUMENT-VALUE",
            Some("/notation/quotes"),
        ),
        (
            "json_schema",
            r#"{"limits": {"a/b": 1}}"#,
            "E-ARGUMENT-VALUE",
            Some("/limits/a~1b"),
        ),
        (
            "lark",
            r#"{"imports": {"a": 1}}"#,
            "E-ARGUMENT-TYPE",
            Some("/imports"),
        ),
        (
            "regex",
            r#"{"dialect": "python"}"#,
            "E-REGEX-DIALECT",
            Some("/dialect"),
        ),
        ("grammar_list", "", "E-GRAMMAR-DIALECT", None),
    ];
    for (notation, options, code, place) in cases {
        let error = Grammar::read(notation, "{}", options).unwrap_err();
        assert_eq!(error.code(), code, "{options}");
        let told = error.to_json();
        match place {
            Some(place) => assert!(told.contains(&format!(r#""pointer":"{place}""#)), "{told}"),
            None => assert!(!told.contains("pointer"), "{told}"),
        }
    }
}

#[test]
fn an_option_that_is_null_is_absent() {
    let options = r#"{"whitespace": null, "indent": null, "limits": null, "notation": null}"#;
    let schema = r#"{"type": "array"}"#;
    let read = Grammar::read("json_schema", schema, options).unwrap();
    let plain = Grammar::read("json_schema", schema, "").unwrap();
    assert_eq!(read.grammar.to_bytes(), plain.grammar.to_bytes());
}

#[test]
fn limits_are_read_by_the_names_of_python() {
    let json = r#"{"schema_depth": 7, "compile_fuel": 8, "compiler_cache_entries": 9}"#;
    let limits = Limits::from_json(json).unwrap();
    assert_eq!(
        (limits.grammar.schema_depth, limits.grammar.compile_fuel),
        (7, 8)
    );
    assert_eq!(
        (limits.engine.compile_fuel, limits.engine.cache_entries),
        (8, 9)
    );
    assert_eq!(Limits::from_json("").unwrap(), Limits::default());
    let compiler =
        CompilerOptions::from_json(r#"{"cache": false, "limits": {"step_fuel": 1}}"#).unwrap();
    assert!(!compiler.cache && !compiler.verify && compiler.limits.step_fuel == 1);
}

#[test]
fn errors_say_what_pythons_exceptions_do() {
    let error = Grammar::read("gbnf", "root ::= \"a\" other", "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Grammar);
    let told = error.to_json();
    for member in [
        r#""kind":"GrammarError""#,
        r#""line":1"#,
        r#""column":14"#,
        r#""excerpt":""#,
    ] {
        assert!(told.contains(member), "{told}");
    }
    let error = Grammar::read("json_schema", r##"{"$ref": "#/nowhere"}"##, "").unwrap_err();
    assert!(error.to_json().contains(r#""kind":"UnsupportedSchema""#));
    assert!(
        error.to_json().contains(r#""pointers":{"/$ref""#),
        "{}",
        error.to_json()
    );
    let limits = r#"{"limits": {"regex_bytes": 2}}"#;
    let error = Grammar::read("regex", "aaa", limits).unwrap_err();
    assert!(
        error
            .to_json()
            .ends_with(r#""limit":"regex_bytes","given":3,"allowed":2}"#)
    );
}

#[test]
fn a_report_names_what_is_not_enforced_and_warnings() {
    let schema =
        r#"{"type": "array", "uniqueItems": true, "items": {"type": "string"}, "readonly": null}"#;
    let told = Grammar::read("json_schema", schema, "")
        .unwrap()
        .report_json();
    assert!(
        told.starts_with(r#"{"status":"widened","pointers":{"/uniqueItems":""#),
        "{told}"
    );
    let told = Grammar::read("gbnf", "root ::= \"a\"\nb ::= \"b\"", "")
        .unwrap()
        .report_json();
    assert!(told.starts_with(r#"{"status":"exact","pointers":{},"schema":null,"warnings":[{"code":"W-GRAMMAR-UNUSED""#), "{told}");
}

#[test]
fn every_byte_has_a_character_in_the_byte_level_alphabet() {
    // The alphabet, by its rule: printable Latin-1 as it is, the others from U+0100 on.
    let printable = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut rest = 0x100..;
    for byte in 0..=255_u32 {
        let code = if printable(&byte) {
            byte
        } else {
            rest.next().unwrap()
        };
        let character = char::from_u32(code).unwrap();
        let json = format!(
            r#"{{"model": {{"vocab": {{{:?}: 0}}}}, "decoder": {{"type": "ByteLevel"}}}}"#,
            character.to_string()
        );
        let json = json.replace(r"\u{ad}", "\u{ad}");
        let read = TokenizerJson::read(json.as_bytes()).unwrap();
        assert_eq!(read.tokens, [[byte as u8]]);
    }
}

#[test]
fn a_damaged_tokenizer_is_read_or_refused() {
    let whole = r#"{"added_tokens": [{"id": 4, "content": "</s>", "special": true}], "decoder": {"type": "Sequence",
        "decoders": [{"type": "ByteLevel"}]}, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3},
        "merges": ["a b", ["a", "b"]], "byte_fallback": false}}"#;
    let read = TokenizerJson::read(whole.as_bytes()).unwrap();
    assert_eq!(read.tokens, [&b"a"[..], b"b", b"ab", b" ", b"</s>"]);
    assert_eq!(
        (&read.special_ids[..], &read.added_ids[..]),
        (&[4][..], &[4][..])
    );
    let pieces = [
        "",
        "null",
        "[]",
        "{}",
        "9",
        "-1",
        "16777216",
        "\"\\ud800\"",
        "\"x\"",
        "Metaspace",
        "]",
        "\u{e9}",
    ];
    let mut codes = std::collections::BTreeSet::new();
    for from in 0..whole.len() {
        for length in [0, 1, 2, 4, 9] {
            for piece in pieces {
                let to = (from + length).min(whole.len());
                let damaged = [
                    &whole.as_bytes()[..from],
                    piece.as_bytes(),
                    &whole.as_bytes()[to..],
                ]
                .concat();
                if let Err(error) = TokenizerJson::read(&damaged) {
                    codes.insert(error.code());
                }
            }
        }
    }
    let known = [
        "E-VOCAB-FILE",
        "E-VOCAB-MODEL",
        "E-VOCAB-ROUNDTRIP",
        "E-VOCAB-TOKEN",
    ];
    assert_eq!(codes, known.into_iter().collect());
}
