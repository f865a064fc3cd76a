//! Schemas with documents that they allow and documents that they do not.

use syntagma_grammar::ir::{Grammar, Lnf, Status};
use syntagma_grammar::syntax::json_schema::{self, Options, Whitespace};
use syntagma_grammar::{Error, Limits};

pub fn parse(schema: &str) -> Result<Grammar, Error> {
    json_schema::parse(schema, &Options::default(), &Limits::default())
}

#[allow(clippy::field_reassign_with_default)] // There may be more fields outside of the crate
pub fn compact() -> Options {
    let mut options = Options::default();
    options.whitespace = Some(Whitespace::Compact);
    options
}

pub fn check(schema: &str, valid: &[&str], invalid: &[&str]) {
    // Compact, so that the slow recogniser has little to do; whitespace has tests of their own.
    read_as(&compact(), schema, valid, invalid);
}

pub fn exact(schema: &str, valid: &[&str], invalid: &[&str]) {
    check(schema, valid, invalid);
    let report = parse(schema).unwrap().report().clone();
    assert_eq!(report.status(), Status::Exact, "{schema}: {report:?}");
}

/// Whether a schema, read with options, allows documents.
pub fn read_as(options: &Options, schema: &str, valid: &[&str], invalid: &[&str]) {
    let grammar = json_schema::parse(schema, options, &Limits::default())
        .unwrap_or_else(|error| panic!("{error}\n{schema}"));
    let lnf = Lnf::new(&grammar, &Limits::default()).unwrap();
    for (documents, wanted) in [(valid, true), (invalid, false)] {
        for document in documents {
            let found = super::lnf_matches(&lnf, document.as_bytes());
            assert_eq!(found, wanted, "{document}\nby {schema}\n{}", lnf.dump());
        }
    }
}
