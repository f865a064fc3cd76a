//! Keywords of JSON Schema that look at what others say: negations, conditions, counted items, evaluation, dynamic
//! references; and the orders and whitespace that may be asked for.

use crate::reference::schemas::{compact, exact, parse, read_as};
use syntagma_grammar::Limits;
use syntagma_grammar::ir::Status;
use syntagma_grammar::syntax::json_schema::{self, Options, Order, Whitespace};

#[test]
fn negations() {
    exact(
        r#"{"not":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}"#,
        &["1", r#"{"a":"x"}"#, r#"{"b":1}"#, r#"{"a":1,"b":1}"#],
        &["{}", r#"{"a":1}"#],
    );
    exact(
        r#"{"type":"object","not":{"patternProperties":{"^x":{"type":"null"}}}}"#,
        &[r#"{"x":1}"#, r#"{"a":1,"xy":2}"#],
        &["{}", r#"{"x":null}"#, r#"{"a":1}"#],
    );
    exact(
        r#"{"type":"object","not":{"propertyNames":{"maxLength":1}}}"#,
        &[r#"{"ab":1}"#, r#"{"a":1,"bc":1}"#],
        &["{}", r#"{"a":1}"#],
    );
    exact(
        r#"{"type":"array","not":{"prefixItems":[{"const":1},{"const":2}],"items":{"type":"integer"}}}"#,
        &["[2]", "[1,1]", r#"[1,2,"x"]"#],
        &["[]", "[1]", "[1,2]", "[1,2,3]"],
    );
    exact(
        r#"{"type":"array","not":{"contains":{"const":1},"minContains":2,"maxContains":3}}"#,
        &["[]", "[1,2]", "[1,1,1,1]"],
        &["[1,1]", "[2,1,1,2,1]"],
    );
    exact(
        r#"{"type":"integer","not":{"multipleOf":3}}"#,
        &["1", "-2", "100"],
        &["0", "3", "-99"],
    );
    exact(
        r#"{"not":{"enum":[[1],{"a":[]},null]}}"#,
        &[
            "[]",
            "[2]",
            "[1,1]",
            "{}",
            r#"{"a":[0]}"#,
            r#"{"a":[],"b":1}"#,
        ],
        &["[1]", r#"{"a":[]}"#, "null"],
    );
    exact(
        r#"{"type":"integer","not":{"oneOf":[{"minimum":5},{"maximum":10}]}}"#,
        &["5", "7", "10"],
        &["4", "11"],
    );
    // A negation within itself, through a property.
    exact(
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"k":{"not":{"$ref":"#/$defs/n"}}}}}}"##,
        &["{}", r#"{"k":1}"#, r#"{"k":{"k":{}}}"#],
        &["1", r#"{"k":{}}"#, r#"{"k":{"k":1}}"#],
    );
    let unique = parse(r#"{"not":{"uniqueItems":true}}"#).unwrap();
    assert_eq!(unique.report().pointers[0].0, "/not");
}

#[test]
fn exactly_one() {
    exact(
        r#"{"oneOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"integer"}},"required":["b"]}]}"#,
        &[r#"{"a":1}"#, r#"{"b":1}"#, r#"{"a":1,"b":"x"}"#],
        &["{}", r#"{"a":1,"b":1}"#],
    );
    exact(
        r#"{"oneOf":[{"type":"array","items":{"multipleOf":2}},{"type":"array","items":{"multipleOf":3}}]}"#,
        &["[2]", "[3,9]", "[6,2]"],
        &["[]", "[6]", "[2,3]"],
    );
}

#[test]
fn conditions_and_dependencies() {
    exact(
        r#"{"type":"object","properties":{"k":{"enum":["a","b"]},"v":true},"if":{"properties":{"k":{"const":"a"}}},"then":{"properties":{"v":{"type":"integer"}}},"else":{"required":["v"]}}"#,
        &[
            "{}",
            r#"{"k":"a"}"#,
            r#"{"k":"a","v":1}"#,
            r#"{"k":"b","v":[]}"#,
        ],
        &[r#"{"k":"a","v":"x"}"#, r#"{"k":"b"}"#],
    );
    exact(
        r#"{"type":"object","properties":{"a":true,"b":true},"dependentSchemas":{"a":{"properties":{"b":{"type":"null"}}}}}"#,
        &["{}", r#"{"b":1}"#, r#"{"a":1}"#, r#"{"a":1,"b":null}"#],
        &[r#"{"a":1,"b":1}"#],
    );
}

#[test]
fn counted_items() {
    exact(
        r#"{"type":"array","items":{"type":"integer"},"contains":{"minimum":5},"minContains":2,"maxContains":3,"maxItems":4}"#,
        &["[5,6]", "[1,5,2,9]", "[5,5,5]"],
        &["[5]", "[1,5,2]", "[5,5,5,5]", "[5,5,1,1,1]"],
    );
    exact(
        r#"{"type":"array","allOf":[{"contains":{"const":1}},{"contains":{"const":2}}]}"#,
        &["[1,2]", "[2,0,1]"],
        &["[]", "[1]", "[2,2]"],
    );
    exact(
        r#"{"type":"array","prefixItems":[{"type":"null"}],"contains":{"type":"integer"},"minContains":0,"maxContains":1}"#,
        &["[]", "[null]", "[null,1]", r#"[null,1,"x"]"#],
        &["[1]", "[null,1,1]"],
    );
}

#[test]
fn multiples() {
    exact(
        r#"{"type":"integer","multipleOf":13,"minimum":-30}"#,
        &["-26", "0", "13", "1300"],
        &["-39", "1", "14", "013"],
    );
    exact(
        r#"{"type":"number","multipleOf":1.5,"exclusiveMinimum":1.5,"maximum":100}"#,
        &["3", "4.5", "4.50", "99"],
        &["1.5", "0", "100.5", "2", "4.05"],
    );
    exact(
        r#"{"allOf":[{"multipleOf":4},{"multipleOf":6}],"type":"integer"}"#,
        &["0", "12", "-24"],
        &["4", "6", "8"],
    );
}

#[test]
fn evaluation() {
    exact(
        r#"{"type":"object","properties":{"a":true},"anyOf":[{"properties":{"b":true},"required":["b"]},{"properties":{"c":true},"required":["c"]}],"unevaluatedProperties":false}"#,
        &[r#"{"b":1}"#, r#"{"a":1,"c":1}"#, r#"{"a":1,"b":1,"c":1}"#],
        &["{}", r#"{"a":1}"#, r#"{"b":1,"d":1}"#],
    );
    exact(
        r#"{"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},"unevaluatedProperties":{"type":"null"}}"#,
        &[r#"{"a":1,"b":2}"#, r#"{"c":2}"#, r#"{"c":2,"a":null}"#],
        &[r#"{"a":1,"c":2}"#, r#"{"b":2}"#, r#"{"c":2,"a":2}"#],
    );
    exact(
        r#"{"type":"array","prefixItems":[true],"allOf":[{"prefixItems":[true,{"type":"null"}]}],"unevaluatedItems":false}"#,
        &["[]", "[1]", "[1,null]"],
        &["[1,1]", "[1,null,1]"],
    );
    exact(
        r#"{"type":"array","contains":{"type":"null"},"unevaluatedItems":{"type":"integer"}}"#,
        &["[null]", "[1,null]", "[null,2,null]"],
        &["[]", "[1]", r#"[null,"x"]"#],
    );
}

/// What one branch evaluates may let another one hold that cannot hold alone.
#[test]
fn exactly_one_beside_what_is_evaluated() {
    exact(
        r#"{"type":"object","properties":{"kind":{"type":"string"}},"required":["kind"],
            "oneOf":[{"properties":{"path":{"type":"string"}}},{"required":["path"]}],"unevaluatedProperties":false}"#,
        &[r#"{"kind":"x"}"#],
        &[
            r#"{"kind":"x","path":"y"}"#,
            r#"{"kind":"x","path":1}"#,
            "{}",
        ],
    );
    exact(
        r#"{"type":"array","oneOf":[{"prefixItems":[{"type":"integer"}]},{"minItems":2}],"unevaluatedItems":{"type":"null"}}"#,
        &["[]", "[1]", "[null,null]"],
        &["[1,null]", "[null]", "[1,1]"],
    );
    exact(
        r#"{"type":"object","oneOf":[{"properties":{"a":true},"required":["a"]},{"properties":{"a":true},"required":["a"]},{}],
            "unevaluatedProperties":{"type":"null"}}"#,
        &["{}", r#"{"b":null}"#],
        &[r#"{"a":1}"#, r#"{"a":null}"#],
    );
}

/// Where something is not enforced, the report names a keyword that is there.
#[test]
fn reports_name_keywords_of_the_schema() {
    let pattern = r#"{"type":"object","patternProperties":{"^(a)\\1$":{"type":"null"}},"properties":{"x":{"type":"null"}}}"#;
    for (schema, places) in [
        (r#"{"not":{"maxProperties":2}}"#, &["/not"][..]),
        (
            r#"{"properties":{"x":{"maxProperties":2}},"not":{"maxProperties":2}}"#,
            &["/not"],
        ),
        (pattern, &["/patternProperties/^(a)\\1$"]),
        (r#"{"const":"x","pattern":"^(x)\\1$"}"#, &["/const"]),
    ] {
        let grammar = parse(schema).unwrap();
        let told = grammar.report().pointers.iter();
        let told: Vec<&str> = told.map(|(place, _)| place.as_str()).collect();
        assert_eq!(told, places, "{schema}");
    }
}

#[test]
fn dynamic_references() {
    let tree = r##"{"$id":"http://x.example/tree","$dynamicAnchor":"node","type":"object","properties":{"data":true,"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}"##;
    let strict = format!(
        r#"{{"$id":"http://x.example/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{{"tree":{tree}}}}}"#
    );
    exact(
        &strict,
        &["{}", r#"{"data":1}"#, r#"{"children":[{"data":1}]}"#],
        &[r#"{"daat":1}"#, r#"{"children":[{"daat":1}]}"#],
    );
    exact(
        &tree.replace("http://x.example/tree", "http://x.example/loose"),
        &["{}", r#"{"daat":1}"#, r#"{"children":[{"daat":1}]}"#],
        &[r#"{"children":[1]}"#],
    );
}

fn any_order() -> Options {
    let mut options = compact();
    options.order = Order::Any;
    options
}

#[test]
fn properties_in_any_order() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"},"c":true},"required":["b"]}"#;
    read_as(
        &any_order(),
        schema,
        &[
            r#"{"b":null}"#,
            r#"{"b":null,"a":1}"#,
            r#"{"c":1,"x":2,"b":null,"a":1}"#,
            r#"{"$schema":"s","b":null}"#,
        ],
        &[
            "{}",
            r#"{"a":1}"#,
            r#"{"b":1}"#,
            r#"{"b":null,"b":null}"#,
            r#"{"b":null,"a":"x"}"#,
        ],
    );
    // Forty optional properties are not kept in mind, two required ones are.
    let listed: Vec<String> = (0..40)
        .map(|at| format!(r#""p{at}":{{"type":"integer"}}"#))
        .collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}},"required":["p7","p3"],"additionalProperties":false}}"#,
        listed.join(",")
    );
    read_as(
        &any_order(),
        &schema,
        &[r#"{"p3":1,"p39":2,"p7":1}"#, r#"{"p7":1,"p3":1}"#],
        &[
            "{}",
            r#"{"p7":1}"#,
            r#"{"p3":1,"p7":"x"}"#,
            r#"{"p3":1,"p7":1,"q":1}"#,
        ],
    );
    let grammar = json_schema::parse(&schema, &any_order(), &Limits::default()).unwrap();
    assert!(grammar.report().pointers.is_empty());
    // Forty required ones are too many: that is said, and nothing is refused that the schema allows.
    let names: Vec<String> = (0..40).map(|at| format!(r#""p{at}""#)).collect();
    let schema = schema.replace(r#""p7","p3""#, &names.join(","));
    let grammar = json_schema::parse(&schema, &any_order(), &Limits::default()).unwrap();
    assert_eq!(grammar.report().pointers[0].0, "/required");
}

#[test]
fn whitespace_as_asked_for() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,{"k":[]}]}},"b":{"type":"object"}},"additionalProperties":false}"#;
    let options = |whitespace: Whitespace| {
        let mut options = Options::default();
        options.whitespace = Some(whitespace);
        options
    };
    read_as(
        &options(Whitespace::Indent(2)),
        schema,
        &[
            "{}",
            "{\n  \"a\": [],\n  \"b\": {}\n}",
            "{\n  \"a\": [\n    1,\n    {\n      \"k\": []\n    }\n  ]\n}",
        ],
        &["{\"a\": []}", "{\n  \"a\":[]\n}", "{\n \"a\": []\n}", "{ }"],
    );
    read_as(
        &options(Whitespace::separators(", ", ": ").unwrap()),
        schema,
        &["{}", r#"{"a": [1, {"k": []}], "b": {"x": null}}"#],
        &[r#"{"a":[]}"#, r#"{"a": [1,1]}"#, "{ }"],
    );
    read_as(
        &options(Whitespace::Regex(" ?".to_owned())),
        schema,
        &[r#"{"a":[ 1, 1 ] }"#, "{ }"],
        &[r#"{"a":[  1]}"#, "{\n}"],
    );
    assert!(Whitespace::separators(";", ":").is_err());
    let wrong = options(Whitespace::Regex("x*".to_owned()));
    let error = json_schema::parse(schema, &wrong, &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "E-SCHEMA-OPTION");
}

#[test]
fn negations_that_cost_too_much_are_named() {
    // Forty objects that may all hold at once.
    let branches: Vec<String> = (0..40)
        .map(|at| format!(r#"{{"type":"object","properties":{{"p{at}":{{"type":"integer"}},"q":{{"minimum":{at}}}}}}}"#))
        .collect();
    let grammar = parse(&format!(r#"{{"oneOf":[{}]}}"#, branches.join(","))).unwrap();
    assert_eq!(grammar.report().pointers[0].0, "/oneOf");
}

/// Subschemas that say the same are read once, and reported wherever they stand.
#[test]
fn equal_subschemas_are_reported_at_all_their_places() {
    let list = r#"{"type": "array", "uniqueItems": true}"#;
    let object = format!(
        r#"{{"description": "D", "properties": {{"l": {list}, "m": {{"title": "T", "uniqueItems": true}}}}}}"#
    );
    let other = object.replace(r#""description": "D", "#, "");
    let schema = format!(
        r##"{{"properties": {{"x": {object}, "y": {other}, "l": {list}, "z": {{"$ref": "#/$defs/unused"}}}},
            "$defs": {{"unused": {object}, "never": {list}}}}}"##
    );
    let grammar = json_schema::parse(&schema, &Options::default(), &Limits::default()).unwrap();
    let mut places: Vec<&str> = grammar
        .report()
        .pointers
        .iter()
        .map(|(place, _)| place.as_str())
        .collect();
    places.sort_unstable();
    assert_eq!(
        places,
        [
            "/$defs/unused/properties/l/uniqueItems",
            "/$defs/unused/properties/m/uniqueItems",
            "/properties/l/uniqueItems",
            "/properties/x/properties/l/uniqueItems",
            "/properties/x/properties/m/uniqueItems",
            "/properties/y/properties/l/uniqueItems",
            "/properties/y/properties/m/uniqueItems",
        ]
    );
}

/// The order of properties is the order in which they are written, whatever else is equal.
#[test]
fn the_order_of_properties_tells_subschemas_apart() {
    let schema = r#"{"required": ["x", "y"], "additionalProperties": false, "properties": {
        "x": {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"], "additionalProperties": false},
        "y": {"properties": {"b": {"const": 2}, "a": {"const": 1}}, "required": ["a", "b"], "additionalProperties": false}
    }, "type": "object"}"#;
    exact(
        schema,
        &[r#"{"x":{"a":1,"b":2},"y":{"b":2,"a":1}}"#],
        &[r#"{"x":{"a":1,"b":2},"y":{"a":1,"b":2}}"#],
    );
}

/// Of a name that is written twice the last value counts.
#[test]
fn a_repeated_name_does_not_stand_in_for_the_one_that_is_asked_for() {
    let schema = r#"{"type":"object","not":{"additionalProperties":{"type":"string"}}}"#;
    exact(
        schema,
        &[r#"{"x":1}"#, r#"{"y":"s","x":1}"#, r#"{"x":"s","x":1}"#],
        &["{}", r#"{"x":"s"}"#, r#"{"x":1,"x":"s"}"#],
    );
    let grammar = json_schema::parse(schema, &any_order(), &Limits::default()).unwrap();
    assert_eq!(grammar.report().pointers[0].0, "/not");
    // A name stays the same whenever it comes.
    let names = r#"{"type":"object","not":{"propertyNames":{"pattern":"^a"}}}"#;
    let grammar = json_schema::parse(names, &any_order(), &Limits::default()).unwrap();
    assert_eq!(grammar.report().status(), Status::Exact);
    read_as(
        &any_order(),
        names,
        &[r#"{"b":1,"a":2}"#, r#"{"b":1,"b":2}"#],
        &["{}", r#"{"a":1,"a":2}"#],
    );
    let two = r#"{"type":"object","not":{"anyOf":[{"additionalProperties":{"type":"string"}},{"additionalProperties":{"type":"null"}}]}}"#;
    assert_eq!(parse(two).unwrap().report().pointers[0].0, "/not");
}
