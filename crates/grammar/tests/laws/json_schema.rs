//! JSON Schema: documents that a schema allows and those that it does not, and what is reported.

use crate::reference;
use crate::reference::schemas::{compact, exact, parse};
use proptest::prelude::*;
use syntagma_grammar::ir::Lnf;
use syntagma_grammar::syntax::json_schema::{self, Options};
use syntagma_grammar::{Limits, SourceLocation};

#[test]
fn types() {
    exact(
        "true",
        &["1", "null", "[]", "{\"a\":[true,{}]}", "\"x\"", "-1.5e+3"],
        &["", "01", "{a:1}", "[1,]", "tru"],
    );
    exact(r#"{"type":"null"}"#, &["null"], &["0", "\"null\""]);
    exact(r#"{"type":"boolean"}"#, &["true", "false"], &["0", "null"]);
    exact(
        r#"{"type":"integer"}"#,
        &["0", "-12", "907"],
        &["1.5", "01", "1e3", "\"1\"", "-"],
    );
    exact(
        r#"{"type":"number"}"#,
        &["0", "-1.25", "1E-9", "3e+2"],
        &["1.", ".5", "+1", "NaN"],
    );
    exact(r#"{"type":["string","null"]}"#, &["null", "\"\""], &["1"]);
    exact(
        r#"{"type":"array"}"#,
        &["[]", "[1,\"x\",[]]"],
        &["{}", "[,]"],
    );
    exact(
        r#"{"type":"object"}"#,
        &["{}", "{\"a\":1,\"b\":null}"],
        &["[]", "{,}", "{\"a\"}"],
    );
}

#[test]
fn strings() {
    exact(
        r#"{"type":"string"}"#,
        &[
            r#""""#,
            r#""é😀""#,
            r#""\u00e9\n\"\\\/""#,
            r#""\ud83d\ude00""#,
        ],
        &[r#""\x""#, "\"\n\"", r#""\ud83d""#, r#""\ude00""#, r#"""""#],
    );
    exact(
        r#"{"type":"string","minLength":2,"maxLength":3}"#,
        &[
            r#""ab""#,
            r#""é\n😀""#,
            r#""\ud83d\ude00x""#,
            r#""\u0041\u0042""#,
        ],
        &[r#""a""#, r#""abcd""#, r#""\ud83d\ude00""#],
    );
    exact(
        r#"{"type":"string","pattern":"^a.c$"}"#,
        &[
            r#""abc""#,
            r#""a\"c""#,
            r#""a\\c""#,
            r#""aéc""#,
            r#""a\u0001c""#,
        ],
        &[r#""ac""#, r#""xabc""#, r#""a\nc""#],
    );
    exact(
        r#"{"type":"string","pattern":"b+"}"#,
        &[r#""b""#, r#""xbby""#, r#""b\n""#],
        &[r#""""#, r#""x""#],
    );
    exact(
        r#"{"type":"string","pattern":"^a|b$"}"#,
        &[r#""ax""#, r#""xb""#],
        &[r#""xa""#, r#""bx""#],
    );
    exact(
        r#"{"type":"string","pattern":"^[a-z]+$","maxLength":3}"#,
        &[r#""a""#, r#""abc""#],
        &[r#""""#, r#""abcd""#, r#""A""#],
    );
    exact(
        r#"{"type":"string","pattern":"^(?:ab)+$","minLength":3}"#,
        &[r#""abab""#],
        &[r#""ab""#, r#""aba""#],
    );
    exact(
        r#"{"type":"string","pattern":"^(?:ab)+$","minLength":1}"#,
        &[r#""ab""#, r#""abab""#],
        &[r#""""#, r#""a""#],
    );
    exact(
        r#"{"type":"string","pattern":"^(?:ab)*$","minLength":1}"#,
        &[r#""ab""#],
        &[r#""""#],
    );
    exact(
        r#"{"type":"string","not":{"pattern":"^a+$"},"minLength":1}"#,
        &[r#""ab""#],
        &[r#""""#, r#""a""#],
    );
    exact(
        r#"{"allOf":[{"pattern":"a"},{"pattern":"b"}],"type":"string"}"#,
        &[r#""ab""#, r#""b-a""#],
        &[r#""a""#],
    );
}

#[test]
fn formats() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            "date",
            &["2024-02-29", "2000-02-29", "2023-12-31"],
            &["2023-02-29", "1900-02-29", "2024-04-31", "2024-1-1"],
        ),
        (
            "time",
            &["23:59:60Z", "00:00:00.5+23:59", "12:30:00z"],
            &["24:00:00Z", "12:30:00", "12:00:60Z"],
        ),
        (
            "date-time",
            &["2024-01-31T10:20:30Z", "2024-01-31t10:20:30.123-01:00"],
            &["2024-01-31 10:20:30Z", "2024-01-31"],
        ),
        (
            "duration",
            &["P1Y2M3DT4H5M6S", "PT5M", "P3W", "P1Y"],
            &["P", "PT", "P1Y2W", "P1YT", "P1Y3D"],
        ),
        (
            "uuid",
            &["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
            &["2eb8aa08aa9811eab4aa73b441d16380"],
        ),
        (
            "ipv4",
            &["0.0.0.0", "255.255.255.255"],
            &["256.0.0.1", "1.2.3", "01.2.3.4"],
        ),
        (
            "ipv6",
            &[
                "::",
                "::1",
                "1:2:3:4:5:6:7:8",
                "fe80::1:2",
                "::ffff:1.2.3.4",
                "1::8",
            ],
            &[
                "1:2:3:4:5:6:7",
                ":::",
                "1::2::3",
                "12345::",
                "1:2:3:4:5:6:7::8:9",
            ],
        ),
        ("hostname", &["a", "a-b.example"], &["-a", "a-", "a..b", ""]),
        (
            "email",
            &["a.b+c@example.org", "\\\"x y\\\"@host"],
            &["a@", "@b", "a b@c", "a.@b"],
        ),
        (
            "uri",
            &["http://a.b/c?d#e", "urn:x:y", "a:"],
            &["/a", "a b:", "http://a b", "//x"],
        ),
        (
            "uri-reference",
            &["/a", "#x", "", "../a?b", "http://x"],
            &["a b", "%zz"],
        ),
        ("json-pointer", &["", "/a~0b/~1"], &["a", "/~2"]),
    ];
    for (format, valid, invalid) in cases {
        let quoted = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| format!("\"{text}\""))
                .collect::<Vec<_>>()
        };
        let (valid, invalid) = (quoted(valid), quoted(invalid));
        exact(
            &format!(r#"{{"type":"string","format":"{format}"}}"#),
            &valid.iter().map(String::as_str).collect::<Vec<_>>(),
            &invalid.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    exact(
        r#"{"type":"string","format":"colour"}"#,
        &[r#""anything""#],
        &["1"],
    );
    assert_eq!(
        parse(r#"{"format":"regex"}"#).unwrap().report().pointers[0].0,
        "/format"
    );
}

#[test]
fn numbers() {
    exact(
        r#"{"type":"integer","minimum":-3,"exclusiveMaximum":12}"#,
        &["-3", "0", "11"],
        &["-4", "12", "100", "-0"],
    );
    exact(
        r#"{"type":"integer","minimum":3,"exclusiveMinimum":true}"#,
        &["4", "10"],
        &["3", "2", "-7"],
    );
    exact(
        r#"{"type":"number","minimum":0.5,"maximum":2}"#,
        &["0.5", "0.75", "1", "2.000", "1.99"],
        &["0.49", "2.01", "0", "-1", "3"],
    );
    exact(
        r#"{"type":"number","exclusiveMinimum":-1.5,"maximum":0}"#,
        &["-1.49", "-1", "0", "-0.1"],
        &["-1.5", "0.1", "-2", "-1.50"],
    );
    exact(
        r#"{"type":"integer","multipleOf":5}"#,
        &["0", "-15", "20"],
        &["3", "51"],
    );
    exact(
        r#"{"type":"integer","multipleOf":4}"#,
        &["0", "4", "-8", "112"],
        &["2", "114", "01"],
    );
    exact(
        r#"{"type":"integer","multipleOf":7,"minimum":-10,"maximum":30}"#,
        &["-7", "0", "28"],
        &["-14", "8", "35"],
    );
    exact(
        r#"{"type":"number","multipleOf":0.01}"#,
        &["1.25", "3", "1.250"],
        &["1.255"],
    );
    exact(
        r#"{"type":"number","multipleOf":0.3}"#,
        &["0", "0.3", "-0.60", "1.2", "3", "30.0"],
        &["0.1", "0.33", "1", "-0", "1e1"],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold(low in -1200i64..1200, width in 0i64..1500, places in 0u32..3, near in prop::collection::vec(-40i64..40, 12)) {
        // Hundredths, so that everything can be compared in whole numbers.
        let scale = 10i64.pow(places);
        let written = |value: i64| {
            let sign = if value < 0 { "-" } else { "" };
            let (whole, rest) = (value.abs() / scale, value.abs() % scale);
            if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0width$}", width = places as usize) }
        };
        let high = low + width;
        for kind in ["integer", "number"] {
            if kind == "integer" && places > 0 {
                continue;
            }
            let schema = format!(r#"{{"type":"{kind}","minimum":{},"maximum":{}}}"#, written(low), written(high));
            let lnf = Lnf::new(&parse(&schema).unwrap(), &Limits::default()).unwrap();
            for offset in &near {
                for value in [low + offset, high + offset, low * offset, i64::midpoint(low, high) + offset] {
                    if value == 0 && low < 0 && written(0) != "0" {
                        continue;
                    }
                    let text = written(value);
                    prop_assert_eq!(
                        reference::lnf_matches(&lnf, text.as_bytes()), (low..=high).contains(&value), "{} by {}", text, schema
                    );
                }
            }
        }
    }
}

#[test]
fn values() {
    exact(
        r#"{"enum":["a\"b",1,null,[1,{"x":2}],1.0]}"#,
        &[r#""a\"b""#, "1", "null", r#"[1,{"x":2}]"#, "1.0"],
        &["2", r#""a""#, "[1]"],
    );
    exact(r#"{"const":"é"}"#, &["\"é\""], &["\"e\""]);
    exact(
        r#"{"enum":[1e-07,1.5e22,-0.00012,12e20,0.50]}"#,
        &[
            "1e-07",
            "1e-7",
            "1.5e22",
            "1.5e+22",
            "15000000000000000000000",
            "-0.00012",
            "-0.00012",
            "1.2e+21",
            "0.5",
            "0.50",
        ],
        &["1e-8", "1.5e+21", "0.00012", "-1.2e-5", "1.2e+20", "0.500"],
    );
    exact(
        r#"{"enum":["a","bb","ccc",4],"type":"string","minLength":2}"#,
        &["\"bb\"", "\"ccc\""],
        &["\"a\"", "4"],
    );
    exact(
        r#"{"enum":[{"a":1},{"a":2}],"properties":{"a":{"minimum":2}}}"#,
        &[r#"{"a":2}"#],
        &[r#"{"a":1}"#],
    );
}

#[test]
fn objects() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"}},"required":["b","c"]}"#;
    exact(
        schema,
        &[
            r#"{"a":1,"b":null,"c":[]}"#,
            r#"{"b":null,"c":1,"d":2,"e":3}"#,
        ],
        &[
            r#"{"a":1,"b":null}"#,
            r#"{"b":null,"c":1,"a":2}"#,
            r#"{"b":1,"c":1}"#,
            r#"{"b":null,"c":1,}"#,
            r#"{"b":null,"c":1,"\u0061":"x"}"#,
        ],
    );
    exact(
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"x":false},"additionalProperties":{"type":"null"}}"#,
        &[
            "{}",
            r#"{"a":1}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":2,"c":null}"#,
            r#"{"ab":null,"":null}"#,
        ],
        &[r#"{"a":null}"#, r#"{"c":1}"#, r#"{"x":null}"#, r#"{"x":1}"#],
    );
    exact(
        r#"{"type":"object","properties":{"ab":true},"patternProperties":{"^a":{"type":"integer"},"b$":{"minimum":5}},"additionalProperties":false}"#,
        &[
            r#"{"ab":7}"#,
            r#"{"ax":1}"#,
            r#"{"xb":"s"}"#,
            r#"{"ayb":5}"#,
        ],
        &[
            r#"{"ab":1}"#,
            r#"{"ax":"s"}"#,
            r#"{"c":1}"#,
            r#"{"ayb":4}"#,
            r#"{"xb":2}"#,
        ],
    );
    exact(
        r#"{"type":"object","propertyNames":{"pattern":"^[ab]+$"},"properties":{"c":true}}"#,
        &["{}", r#"{"ab":1}"#],
        &[r#"{"c":1}"#, r#"{"ac":1}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":true,"b":true,"c":true},"additionalProperties":false,"minProperties":1,"maxProperties":2}"#,
        &[r#"{"a":1}"#, r#"{"a":1,"c":1}"#],
        &["{}", r#"{"a":1,"b":1,"c":1}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":true,"b":true},"dependentRequired":{"a":["b"]}}"#,
        &["{}", r#"{"b":1}"#, r#"{"a":1,"b":1}"#],
        &[r#"{"a":1}"#],
    );
}

#[test]
fn arrays() {
    exact(
        r#"{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}"#,
        &["[1,2]", "[1,2,3]"],
        &["[1]", "[1,2,3,4]", "[1,null]"],
    );
    exact(
        r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"null"}],"items":false}"#,
        &["[]", "[1]", "[1,null]"],
        &["[null]", "[1,null,1]"],
    );
    exact(
        r#"{"type":"array","items":[{"type":"integer"}],"additionalItems":{"type":"null"},"minItems":2}"#,
        &["[1,null]", "[1,null,null]"],
        &["[1]", "[1,1]"],
    );
    exact(
        r#"{"type":"array","contains":{"const":1},"items":{"type":"integer"}}"#,
        &["[1]", "[2,1,3]"],
        &["[]", "[2]", "[1,null]"],
    );
    exact(
        r#"{"type":"array","maxItems":1,"uniqueItems":true}"#,
        &["[]", "[1]"],
        &["[1,2]"],
    );
    exact(
        r#"{"type":"array","items":{"enum":["a",1,1.0,null,"b"]},"uniqueItems":true,"minItems":1,"maxItems":3}"#,
        &[r#"["a"]"#, r#"["b","a"]"#, r#"[1,null,"b"]"#],
        &["[]", r#"["a","a"]"#, "[1,null,1]", r#"["a","b",1,null]"#],
    );
    exact(
        r#"{"type":"array","items":{"type":"boolean","enum":[true,false,3]},"uniqueItems":true}"#,
        &["[]", "[true]", "[false,true]"],
        &["[true,true]", "[3]", "[true,false,true]"],
    );
    exact(
        r#"{"type":"array","uniqueItems":true,"items":{"enum":[1,2,3,4,5,6,7,8,9]}}"#,
        &["[]", "[9,1,8,2,7,3,6,4,5]"],
        &["[1,2,3,4,5,6,7,8,9,1]", "[10]"],
    );
    // More values than a word of the machine has bits.
    for (count, max) in [(100, 1), (70, 2), (128, 1)] {
        let values: Vec<String> = (0..count).map(|value: u32| value.to_string()).collect();
        exact(
            &format!(
                r#"{{"type":"array","uniqueItems":true,"items":{{"enum":[{}]}},"maxItems":{max}}}"#,
                values.join(",")
            ),
            &["[]", "[66]", &format!("[{}]", ["2", "66"][..max].join(","))],
            &["[66,66]", "[2,66,3]", "[128]"],
        );
    }
    // What asks for nothing, however often.
    for count in [1, 5, 63, 64, 65, 200] {
        let nothing = r#"{"contains":{"const":1},"minContains":0}"#;
        exact(
            &format!(
                r#"{{"type":"array","items":{{"type":"integer"}},"allOf":[{}]}}"#,
                vec![nothing; count].join(",")
            ),
            &["[]", "[1]", "[2,1,3]"],
            &["[null]"],
        );
    }
    let many: Vec<String> = (0..200).map(|value| value.to_string()).collect();
    let many = format!(
        r#"{{"type":"array","uniqueItems":true,"items":{{"enum":[{}]}}}}"#,
        many.join(",")
    );
    assert_eq!(parse(&many).unwrap().report().pointers[0].0, "/uniqueItems");
    assert_eq!(
        parse(r#"{"type":"array","uniqueItems":true}"#)
            .unwrap()
            .report()
            .pointers[0]
            .0,
        "/uniqueItems"
    );
}

#[test]
fn combinations() {
    exact(
        r#"{"anyOf":[{"type":"integer"},{"type":"string","maxLength":1}]}"#,
        &["1", "\"a\""],
        &["null", "\"ab\""],
    );
    exact(
        r#"{"allOf":[{"minimum":3},{"maximum":5}],"type":"integer"}"#,
        &["3", "5"],
        &["2", "6"],
    );
    exact(
        r#"{"type":"integer","oneOf":[{"minimum":3},{"maximum":5}]}"#,
        &["2", "6"],
        &["3", "5"],
    );
    exact(
        r#"{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":true,"b":true}}"#,
        &[r#"{"a":1}"#, r#"{"b":1}"#],
        &["{}", r#"{"a":1,"b":1}"#],
    );
    exact(
        r#"{"not":{"type":["string","object","array"]}}"#,
        &["1", "null", "true"],
        &["\"a\"", "[]", "{}"],
    );
    exact(
        r#"{"type":"string","not":{"enum":["a","b"]}}"#,
        &["\"c\"", "\"ab\""],
        &["\"a\"", "\"b\""],
    );
    exact(
        r#"{"type":"object","properties":{"k":{"enum":["x","y"]},"v":true},"required":["k"],
            "if":{"properties":{"k":{"const":"x"}}},"then":{"required":["v"]}}"#,
        &[r#"{"k":"x","v":1}"#, r#"{"k":"y"}"#],
        &[r#"{"k":"x"}"#],
    );
    let widened =
        r#"{"oneOf":[{"type":"array","uniqueItems":true},{"type":"array","minItems":1}]}"#;
    assert!(
        parse(widened)
            .unwrap()
            .report()
            .pointers
            .iter()
            .any(|(pointer, _)| pointer == "/oneOf")
    );
}

#[test]
fn references() {
    exact(
        r##"{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"k":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"additionalProperties":false}}}"##,
        &["{}", r#"{"k":[{},{"k":[]}]}"#],
        &[r#"{"k":[1]}"#],
    );
    exact(
        r##"{"$defs":{"a/b~c%":{"type":"null"}},"$ref":"#/$defs/a~1b~0c%25"}"##,
        &["null"],
        &["1"],
    );
    exact(
        r##"{"$id":"http://x.example/root","$defs":{"a":{"$id":"item","type":"null"},"b":{"$anchor":"here","type":"integer"}},"anyOf":[{"$ref":"item"},{"$ref":"#here"}]}"##,
        &["null", "1"],
        &["\"\""],
    );
    exact(
        r##"{"$dynamicRef":"#n","$defs":{"a":{"$dynamicAnchor":"n","type":"null"}}}"##,
        &["null"],
        &["1"],
    );
    // Beside a reference keywords count since 2019-09, and do not before.
    exact(
        r##"{"$ref":"#/$defs/i","maximum":3,"$defs":{"i":{"type":"integer"}}}"##,
        &["3"],
        &["4"],
    );
    exact(
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/i","maximum":3,"definitions":{"i":{"type":"integer"}}}"##,
        &["3", "4"],
        &["null"],
    );
}

#[test]
fn whitespace_stands_before_tokens_only() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"null"}}},"required":["a"],"additionalProperties":false}"#;
    let mut limits = Limits::default();
    limits.json_whitespace = 3;
    let lnf = Lnf::new(
        &json_schema::parse(schema, &Options::default(), &limits).unwrap(),
        &limits,
    )
    .unwrap();
    for (document, wanted) in [
        (r#"{"a": [null, null]}"#, true),
        (r#"{"a":[]}"#, true),
        ("{ \"a\"\n: [ ]\t}", true),
        (r#"{   "a":[]}"#, true),
        (r#"{    "a":[]}"#, false),
        (r#" {"a":[]}"#, false),
        (r#"{"a":[]} "#, false),
    ] {
        assert_eq!(
            reference::lnf_matches(&lnf, document.as_bytes()),
            wanted,
            "{document:?}"
        );
    }
}

#[test]
fn any_json_is_any_value() {
    let grammar = json_schema::any_json(&compact(), &Limits::default()).unwrap();
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    assert!(reference::lnf_matches(&lnf, b"[[],1]"));
    assert!(reference::lnf_matches(&lnf, br#"{"a":[1,{"b":null}]}"#));
    assert!(!reference::lnf_matches(&lnf, b"[[],1"));
}

/// Every keyword that says something; any value may be the constant.
const SAYING: &str = "type enum allOf anyOf oneOf not if then else $ref $dynamicRef $recursiveRef minLength maxLength pattern \
    format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf items additionalItems prefixItems minItems maxItems \
    uniqueItems contains minContains maxContains properties patternProperties additionalProperties propertyNames required \
    minProperties maxProperties dependencies dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties";

#[test]
fn keywords_that_are_null_say_nothing() {
    let read = |text: &str, options: &json_schema::Options| {
        json_schema::parse(text, options, &Limits::default())
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    for draft in [
        "draft-04/schema#",
        "draft-07/schema#",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    ] {
        for keyword in SAYING.split_whitespace() {
            let schema = |inner: &str| {
                format!(
                    r#"{{"$schema":"http://json-schema.org/{draft}","properties":{{"a":{inner}}}}}"#
                )
            };
            let options = json_schema::Options::default();
            let with = read(&schema(&format!(r#"{{"{keyword}":null}}"#)), &options);
            let without = read(&schema("{}"), &options);
            assert_eq!(
                syntagma_grammar::print::to_ebnf(&with),
                syntagma_grammar::print::to_ebnf(&without),
                "{keyword} in {draft}"
            );
            assert!(with.report().pointers.is_empty(), "{keyword} in {draft}");
            for warning in with.warnings() {
                assert_eq!(warning.code(), "W-SCHEMA-NULL");
                let place = SourceLocation::Pointer(format!("/properties/a/{keyword}"));
                assert_eq!(warning.location(), Some(&place));
            }
            // Some are only asked for beside others, or in other versions.
            let beside =
                "then else minContains maxContains additionalItems dependencies $recursiveRef";
            if draft.contains("2020") && !beside.split(' ').any(|other| other == keyword) {
                assert_eq!(with.warnings().len(), 1, "{keyword}");
            }
        }
    }
    for (text, json) in [
        (r#"{"const":null}"#, "null"),
        (r#"{"enum":[null]}"#, "null"),
        (
            r#"{"type":"null","default":null,"examples":null,"title":null}"#,
            "null",
        ),
    ] {
        let grammar = read(text, &json_schema::Options::default());
        assert!(grammar.warnings().is_empty(), "{text}");
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        assert!(reference::lnf_matches(&lnf, json.as_bytes()));
    }
}

/// (pattern that only Python reads, texts that it is found in, texts that it is not)
const PYTHON: &[reference::Meaning] = &[
    (r"^(?P<id>[a-z]+)$", &["a", "ab"], &["", "A"]),
    (r"(?P<a>x)(?:y|(?P<b>z))", &["xy", "axz"], &["x"]),
    (r"(?i)^ab[c-d]é$", &["ABcÉ", "aBDé"], &["abe", "ab"]),
    (r"(?i)[^a]", &["b"], &["a", "A", "aA"]),
    (r"\Aa|b\Z", &["ab", "cb", "ac"], &["ba", "c"]),
];

#[test]
fn patterns_of_python_are_read_with_a_warning() {
    for (pattern, inside, outside) in PYTHON {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\"));
        let text = format!(
            r#"{{"properties":{{"a":{{"pattern":{0}}},"b":{{"type":"string","pattern":{0}}}}},"patternProperties":{{{0}:true}}}}"#,
            quoted(pattern)
        );
        let grammar = json_schema::parse(&text, &Options::default(), &Limits::default())
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(
            grammar
                .warnings()
                .iter()
                .all(|warning| warning.code() == "W-SCHEMA-PATTERN")
        );
        for name in ["a", "b"] {
            let place = SourceLocation::Pointer(format!("/properties/{name}/pattern"));
            assert!(
                grammar
                    .warnings()
                    .iter()
                    .any(|warning| warning.location() == Some(&place)),
                "{pattern}"
            );
        }
        let single = format!(r#"{{"type":"string","pattern":{}}}"#, quoted(pattern));
        let grammar = json_schema::parse(&single, &Options::default(), &Limits::default()).unwrap();
        let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
        for (texts, wanted) in [(inside, true), (outside, false)] {
            for text in *texts {
                let found = reference::lnf_matches(&lnf, quoted(text).as_bytes());
                assert_eq!(found, wanted, "{pattern} on {text:?}");
            }
        }
    }
    // What neither reads, or is not at the beginning, is as wrong as before.
    for pattern in ["a(?i)b", "(?P=a)", "(?P<1>a)", "(?x)a", "[\\\\A]"] {
        let text = format!(r#"{{"type":"string","pattern":"{pattern}"}}"#);
        let error = json_schema::parse(&text, &Options::default(), &Limits::default());
        assert_eq!(
            error.expect_err(pattern).code(),
            "E-SCHEMA-INVALID",
            "{pattern}"
        );
    }
}
