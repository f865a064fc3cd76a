//! The JSON reader: what it keeps, and what it refuses where.

use syntagma_grammar::json::{Problem, Value, read};

#[test]
fn values_are_kept_as_they_are_written() {
    for text in [
        "null",
        "[true,false]",
        "1e400",
        "-0",
        "1.50",
        "1E+5",
        "123456789012345678901234567890",
        r#"{"b":1,"a":{"d":[],"c":{}}}"#,
        r#""\u0001\n\r\t\b\f\"\\ü€😀""#,
    ] {
        assert_eq!(read(text, 9).unwrap().to_string(), text);
    }
    for (text, compact) in [
        (" { \"a\" :\t[ 1 , 2 ]\r\n} ", r#"{"a":[1,2]}"#),
        (r#""\u00e9\ud83d\ude00\/""#, "\"é😀/\""),
        // Of the same name the last one, where the first one stood.
        (r#"{"a":1,"b":2,"\u0061":3}"#, r#"{"a":3,"b":2}"#),
    ] {
        assert_eq!(read(text, 9).unwrap().to_string(), compact);
    }
}

#[test]
fn what_is_no_json_is_refused_at_its_byte() {
    for (text, offset) in [
        ("nul", 0),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("{\"a\":1,}", 7),
        ("{\"a\" 1}", 5),
        ("{a:1}", 1),
        ("[", 1),
        ("01", 1),
        ("-", 1),
        ("1.", 2),
        ("1e", 2),
        ("+1", 0),
        ("\"a", 2),
        ("\"\n\"", 1),
        ("\"\\x\"", 2),
        ("\"\\u12\"", 5),
        ("\"\\ud800\"", 7),
        ("\"\\udc00\"", 7),
        ("\u{feff}1", 0),
        ("\u{a0}1", 0),
        ("NaN", 0),
    ] {
        let unreadable = read(text, 9).unwrap_err();
        assert!(matches!(unreadable.problem, Problem::Syntax(_)), "{text}");
        assert_eq!(unreadable.offset, offset, "{text}: {unreadable}");
    }
    for (text, problem, offset) in [
        (" ", Problem::Empty, 1),
        ("1 2", Problem::Follows, 2),
        ("[[[", Problem::Deep, 2),
    ] {
        let unreadable = read(text, 2).unwrap_err();
        assert_eq!((unreadable.problem, unreadable.offset), (problem, offset));
    }
    assert!(read(&"[".repeat(1 << 20), 1000).is_err());
}

#[test]
fn pointers_lead_to_values() {
    let value = read(r#"{"a":[{"~/":1},2],"":3}"#, 9).unwrap();
    let at = |pointer: &str| value.pointer(pointer).map(Value::to_string);
    assert_eq!(at("").unwrap(), value.to_string());
    assert_eq!(at("/a/0/~0~1").as_deref(), Some("1"));
    assert_eq!(at("/a/1").as_deref(), Some("2"));
    assert_eq!(at("/").as_deref(), Some("3"));
    for nowhere in ["a", "/b", "/a/2", "/a/01", "/a/+1", "/a/-", "/a/1/0"] {
        assert_eq!(at(nowhere), None, "{nowhere}");
    }
}
