//! Tells the sources for which interpreter they are compiled (`Py_GIL_DISABLED`), and what the stubs say of each member: the
//! macro `stub!("Class.member")`, for `help()`.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

const STUBS: &str = "../../python/syntagma/_engine.pyi";

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rerun-if-changed={STUBS}");
    println!("cargo:rerun-if-changed=build.rs");
    let stubs = fs::read_to_string(STUBS).expect("the stubs of the extension are there");
    let mut text = String::from("macro_rules! stub {\n");
    for (name, doc) in docstrings(&stubs) {
        writeln!(text, "    ({name:?}) => {{ {doc:?} }};").expect("a string takes text");
    }
    text.push_str("}\n");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    fs::write(folder.join("stubs.rs"), text).expect("cargo's folder takes files");
}

/// The members with a docstring: `Class.member`, and the text without its indentation.
fn docstrings(stubs: &str) -> Vec<(String, String)> {
    let name_of = |line: &str| -> String {
        (line.chars())
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let (mut class, mut member) = (String::new(), String::new());
    let mut found = Vec::new();
    let mut lines = stubs.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("class ") {
            (class, member) = (name_of(rest), String::new());
        } else if let Some(rest) = line.strip_prefix("    def ") {
            member = name_of(rest);
        } else if let Some(mut rest) = line
            .strip_prefix("        \"\"\"")
            .filter(|_| !member.is_empty())
        {
            let mut doc = String::new();
            while !rest.ends_with("\"\"\"") {
                doc.push_str(rest);
                doc.push('\n');
                let next = lines.next().expect("a docstring ends");
                rest = next.strip_prefix("        ").unwrap_or(next);
            }
            doc.push_str(rest.trim_end_matches("\"\"\""));
            found.push((format!("{class}.{member}"), doc.trim_end().to_owned()));
        }
    }
    found
}
