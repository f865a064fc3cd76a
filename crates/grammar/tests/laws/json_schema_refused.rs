//! JSON Schema: what is refused, with which code and pointer, and limits.

use crate::reference::schemas::parse;
use syntagma_grammar::syntax::json_schema::{self, Options};
use syntagma_grammar::{Limits, SourceLocation};

#[test]
fn refusals_have_a_code_and_a_pointer() {
    let cases = [
        (r#"{"type":5}"#, "E-SCHEMA-INVALID", "/type"),
        (r#"{"type":"strin"}"#, "E-SCHEMA-INVALID", "/type"),
        (
            r#"{"properties":{"a":7}}"#,
            "E-SCHEMA-INVALID",
            "/properties/a",
        ),
        (r#"{"required":"a"}"#, "E-SCHEMA-INVALID", "/required"),
        (r#"{"minLength":-1}"#, "E-SCHEMA-INVALID", "/minLength"),
        (r#"{"enum":3}"#, "E-SCHEMA-INVALID", "/enum"),
        (
            r#"{"items":{"type":"string","pattern":"("}}"#,
            "E-SCHEMA-INVALID",
            "/items/pattern",
        ),
        (r#"{"multipleOf":0}"#, "E-SCHEMA-INVALID", "/multipleOf"),
        ("7", "E-SCHEMA-INVALID", ""),
        (r##"{"$ref":"#/nowhere"}"##, "E-SCHEMA-REF", "/$ref"),
        (
            r#"{"$ref":"http://example.org/other"}"#,
            "E-SCHEMA-REF",
            "/$ref",
        ),
        (r##"{"$ref":"#"}"##, "E-SCHEMA-REF", ""),
        ("false", "E-SCHEMA-UNSATISFIABLE", ""),
        (
            r#"{"type":"integer","minimum":3,"maximum":2}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"type":"object","required":["a"],"properties":{"a":false}}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r##"{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}"##,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"type":"object","required":["a"],"additionalProperties":false}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"enum":[1,2],"type":"string"}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"type":"string","pattern":"^a","allOf":[{"pattern":"^b"}]}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"type":"object","minProperties":1,"additionalProperties":false,
                "patternProperties":{"a":true},"propertyNames":{"pattern":"^b*$"}}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
        (
            r#"{"type":"array","items":{"type":"string","pattern":"^a"},"contains":{"pattern":"^b"}}"#,
            "E-SCHEMA-UNSATISFIABLE",
            "",
        ),
    ];
    for (schema, code, pointer) in cases {
        let error = parse(schema).expect_err(schema);
        assert_eq!(error.code(), code, "{schema}: {error}");
        assert_eq!(
            error.location(),
            Some(&SourceLocation::Pointer(pointer.to_owned())),
            "{schema}: {error}"
        );
    }
    let error = parse("{\n \"type\": }").unwrap_err();
    assert_eq!(error.code(), "E-SCHEMA-JSON");
    assert!(
        matches!(error.location(), Some(SourceLocation::Text { line: 2, .. })),
        "{error}"
    );
    assert_eq!(parse("{} {}").unwrap_err().code(), "E-SCHEMA-JSON");
    let error = parse(r#"{"type":"string","pattern":"\\d("}"#).unwrap_err();
    let message = r#""\d(": the pattern cannot be read: unclosed group"#;
    assert_eq!(error.message(), message);
}

#[test]
fn schemas_that_apply_themselves_to_the_same_value_are_refused() {
    let cycles = [
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"type":"object","anyOf":[{"type":"null"},{"$ref":"#"}]}"##,
        r##"{"oneOf":[{"type":"null"},{"not":{"$ref":"#"}}]}"##,
        r##"{"if":{"$ref":"#"},"then":{"type":"null"}}"##,
        r##"{"if":{"type":"null"},"else":{"$ref":"#"}}"##,
        r##"{"dependentSchemas":{"a":{"$ref":"#"}}}"##,
        r##"{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}"##,
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"not":{"$ref":"#/$defs/A"}},"B":{"unevaluatedItems":false}}}"##,
        r##"{"items":{"$ref":"#/$defs/A"},"$defs":{"A":{"allOf":[{"$ref":"#/$defs/B"}]},"B":{"not":{"$ref":"#/$defs/A"}}}}"##,
    ];
    for schema in cycles {
        let error = parse(schema).expect_err(schema);
        assert_eq!(error.code(), "E-SCHEMA-REF", "{schema}: {error}");
        assert!(
            matches!(error.location(), Some(SourceLocation::Pointer(_))),
            "{schema}"
        );
        assert!(error.hint().is_some(), "{schema}");
    }
    let ends = [
        r##"{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#"}}]}"##,
        r##"{"not":{"properties":{"a":{"$ref":"#"}}}}"##,
        r##"{"not":{"properties":{"a":{"$ref":"#"}}},"unevaluatedItems":false}"##,
        r##"{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}],"$defs":{"A":{"items":{"$ref":"#"}}}}"##,
        // Nobody asks for the cycle.
        r##"{"type":"null","$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"}]}}}"##,
    ];
    for schema in ends {
        assert!(parse(schema).is_ok(), "{schema}: {:?}", parse(schema).err());
    }
}

#[test]
fn widened_schemas_can_be_refused() {
    let mut options = Options::default();
    options.allow_widened = false;
    let schema = r#"{"items":{"uniqueItems":true}}"#;
    let error = json_schema::parse(schema, &options, &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "E-SCHEMA-WIDENED");
    let pointers: Vec<&str> = error
        .pointers()
        .iter()
        .map(|(pointer, _)| pointer.as_str())
        .collect();
    assert_eq!(pointers, ["/items/uniqueItems"]);
    assert!(json_schema::parse(r#"{"type":"integer"}"#, &options, &Limits::default()).is_ok());
}

#[test]
fn limits_hold_at_the_edge() {
    let deep = |depth: usize| format!("{}true{}", "{\"items\":".repeat(depth), "}".repeat(depth));
    let hops = |count: usize| {
        let steps: Vec<String> = (0..count)
            .map(|at| {
                if at + 1 == count {
                    format!("\"d{at}\":{{\"type\":\"null\"}}")
                } else {
                    format!("\"d{at}\":{{\"$ref\":\"#/$defs/d{}\"}}", at + 1)
                }
            })
            .collect();
        format!(
            "{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{}}}}}",
            steps.join(",")
        )
    };
    let values = |count: usize| {
        format!(
            "{{\"enum\":[{}]}}",
            (0..count)
                .map(|at| at.to_string())
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let bytes = |count: usize| format!("{{\"const\":\"{}\"}}", "a".repeat(count - 12));
    let pattern = |pattern: String| format!("{{\"type\":\"string\",\"pattern\":\"{pattern}\"}}");
    let nested = |depth: usize| pattern(format!("{}a{}", "(".repeat(depth), ")".repeat(depth)));
    let mut limits = Limits::default();
    limits.regex_bytes = 40;
    limits.regex_repetition = 50;
    limits.regex_expansion = 60;
    limits.grammar_nesting = 8;
    limits.schema_bytes = 400;
    limits.schema_depth = 6;
    limits.schema_ref_hops = 5;
    limits.schema_enum_values = 7;
    for (at, past, code) in [
        (deep(6), deep(7), "E-LIMIT-SCHEMA-DEPTH"),
        (hops(5), hops(6), "E-LIMIT-SCHEMA-REFS"),
        (values(7), values(8), "E-LIMIT-SCHEMA-ENUM"),
        (bytes(400), bytes(401), "E-LIMIT-SCHEMA-BYTES"),
        (
            pattern("a".repeat(40)),
            pattern("a".repeat(41)),
            "E-LIMIT-REGEX-BYTES",
        ),
        (nested(8), nested(9), "E-LIMIT-REGEX-NESTING"),
    ] {
        let parsed = json_schema::parse(&at, &Options::default(), &limits);
        assert!(parsed.is_ok(), "{at}: {parsed:?}");
        let error = json_schema::parse(&past, &Options::default(), &limits).expect_err(&past);
        assert_eq!(error.code(), code);
        assert!(error.limit_detail().is_some() && error.hint().is_some());
        // What is too long is too long as a whole.
        assert!(
            error.location().is_some() || code == "E-LIMIT-SCHEMA-BYTES",
            "{past}"
        );
    }
    // Counts alone do not end it: a schema has a report.
    for (at, past) in [("a{50}", "a{51}"), ("(a{6}){10}", "(a{6}){11}")] {
        let read = |text: &str| {
            let text = pattern(text.to_owned());
            json_schema::parse(&text, &Options::default(), &limits).unwrap()
        };
        assert!(read(at).report().pointers.is_empty(), "{at}");
        let told = format!("{:?}", read(past).report().pointers);
        assert!(told.contains("has no count"), "{past}: {told}");
    }
    // Fuel is for what is made of the schema.
    let schema = "{\"properties\":{\"a\":{\"type\":\"integer\"}}}";
    let with = |compile_fuel: u64| {
        let mut limits = Limits::default();
        limits.compile_fuel = compile_fuel;
        json_schema::parse(schema, &Options::default(), &limits)
    };
    let needed = (1..10_000).find(|&fuel| with(fuel).is_ok());
    let needed = needed.expect("some fuel is enough");
    assert_eq!(with(needed - 1).unwrap_err().code(), "E-LIMIT-FUEL");
    // The default depth is read without trouble.
    assert!(parse(&deep(256)).is_ok());
    assert_eq!(
        parse(&deep(257)).unwrap_err().code(),
        "E-LIMIT-SCHEMA-DEPTH"
    );
}
