//! The programs in `c/`, which test the library as C sees it.
#![cfg(target_os = "linux")]

mod program;

use std::fs;
use std::path::Path;
use std::process::Output;

use program::{Program, folder, succeeds};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const CALLS: Program<'_> = Program {
    folder: CRATE,
    source: "c/calls.c",
    library: "syntagma",
    is_static: false,
    watched: true,
};
const RUNNER: Program<'_> = Program {
    source: "c/conformance.c",
    ..CALLS
};

/// Has the runner read cases; the tokenizer is the one that ships with the package.
fn conformance(runner: Program<'_>, cases: &Path) -> Option<Output> {
    let tokenizer = format!("{CRATE}/../../python/syntagma/embedded/data/tokenizer.json");
    let mut run = runner.compiled()?;
    Some(run.arg(cases).arg(tokenizer).output().unwrap())
}

fn cases() -> String {
    format!("{CRATE}/../../conformance/hosts/cases.jsonl")
}

#[test]
fn calls_keep_what_the_header_promises() {
    if let Some(mut run) = CALLS.compiled() {
        succeeds(&run.output().unwrap());
    }
}

#[test]
fn the_shared_cases_hold() {
    let plain = Program {
        is_static: true,
        watched: false,
        ..RUNNER
    };
    for runner in [RUNNER, plain] {
        if let Some(done) = conformance(runner, cases().as_ref()) {
            succeeds(&done);
        }
    }
}

#[test]
fn the_runner_sees_what_differs() {
    let cases = fs::read_to_string(cases()).unwrap();
    let runner = Program {
        watched: false,
        ..RUNNER
    };
    for (found, other) in [
        ("\"masks\":[\"", "\"masks\":[\"1"),
        ("\"ends\":\"0", "\"ends\":\"1"),
        ("\"status\":\"exact\"", "\"status\":\"widened\""),
        ("E-GRAMMAR-SYNTAX", "E-GRAMMAR-START"),
    ] {
        assert!(cases.contains(found));
        let path = folder().join("cases.jsonl");
        fs::write(&path, cases.replacen(found, other, 1)).unwrap();
        if let Some(done) = conformance(runner, &path) {
            assert_eq!(done.status.code(), Some(1), "{other}");
            let said = String::from_utf8_lossy(&done.stdout).into_owned();
            // A mask is asked for in up to three ways.
            let counts = [" 1 failures\n", " 2 failures\n", " 3 failures\n"];
            assert!(counts.iter().any(|count| said.ends_with(count)), "{said}");
        }
    }
}

#[test]
fn the_example_of_the_documentation_writes_what_it_says() {
    let page = fs::read_to_string(format!("{CRATE}/../../docs/c.md")).unwrap();
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let source = folder().join("example.c");
    fs::write(&source, block("c")).unwrap();
    let example = Program {
        source: source.to_str().unwrap(),
        ..CALLS
    };
    if let Some(mut run) = example.compiled() {
        let done = run.output().unwrap();
        succeeds(&done);
        assert_eq!(String::from_utf8_lossy(&done.stdout), block("text"));
    }
}

#[test]
fn the_example_over_llama_cpp_follows_its_schema() {
    let source = format!("{CRATE}/../../examples/c/llama_schema.c");
    let example = Program {
        source: &source,
        ..CALLS
    };
    if let Some(mut run) = example.compiled() {
        let schema = r#"{"type": "object", "properties": {"a": {"type": "string", "maxLength": 3},
            "n": {"type": "integer", "maximum": 20}}, "required": ["a", "n"], "additionalProperties": false}"#;
        let done = run.args(["model.gguf", schema, "Say: "]).output().unwrap();
        succeeds(&done);
        assert_eq!(
            String::from_utf8_lossy(&done.stdout),
            "{\"a\":\"\u{7f}\u{7f}\u{7f}\",\"n\":9}\n"
        );
    }
}
