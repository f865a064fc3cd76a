//! The committed header is the one that the sources make, and the documentation lists its functions. With
//! `SYNTAGMA_WRITE_HEADER` set, the header is written.

use std::collections::BTreeSet;
use std::{env, fs};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The header, from the sources.
fn header() -> String {
    let config = cbindgen::Config::from_file(format!("{CRATE}/cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_src(format!("{CRATE}/src/lib.rs"))
        .with_config(config)
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    String::from_utf8(made).unwrap()
}

#[test]
fn the_header_is_up_to_date() {
    let made = header();
    let path = format!("{CRATE}/include/syntagma.h");
    if env::var_os("SYNTAGMA_WRITE_HEADER").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "the header is not up to date: run `make capi`"
    );
}

/// The names of functions in a text; behind each stands this sign.
fn functions(text: &str, sign: char) -> Vec<&str> {
    let found = text.match_indices("syntagma_").map(|(at, _)| {
        let name = text[at..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        (at, name.into_iter().next().unwrap_or_default())
    });
    found
        .filter(|(at, name)| text[at + name.len()..].starts_with(sign))
        .map(|(_, name)| name)
        .collect()
}

#[test]
fn the_page_lists_every_function_once() {
    let header = header();
    let declared = header
        .lines()
        .filter(|line| !line.starts_with(' ') && line.contains("syntagma_"));
    let declared: Vec<&str> = declared.flat_map(|line| functions(line, '(')).collect();
    let page = fs::read_to_string(format!("{CRATE}/../../docs/c.md")).unwrap();
    let (_, table) = page.split_once("## Functions").unwrap();
    let listed = functions(table, '`');
    assert!(declared.len() > 40);
    assert_eq!(listed.len(), declared.len());
    let sets = [listed, declared].map(BTreeSet::from_iter);
    assert_eq!(sets[0], sets[1]);
}
