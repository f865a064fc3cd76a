//! What else a program is linked with works as if we were not there: features of shared dependencies hold for all of it.

use std::sync::Arc;

use serde_json::Value;
use syntagma_engine::{Limits, Vocabulary, VocabularyParts};

#[test]
fn serde_json_reads_as_it_does_alone() {
    // Both crates are linked in.
    let vocabulary = Vocabulary::new(&VocabularyParts {
        tokens: vec![b"a".to_vec()],
        ..VocabularyParts::default()
    });
    let grammar =
        syntagma_grammar::ir::Grammar::from_regex(syntagma_grammar::ir::Regex::literal(b"a"));
    let compiler =
        syntagma_engine::GrammarCompiler::new(Arc::new(vocabulary.unwrap()), Limits::default());
    compiler.compile(&Arc::new(grammar)).unwrap();

    let read = |text: &str| serde_json::from_str::<Value>(text);
    // preserve_order
    let keys = read(r#"{"b": 1, "a": 2}"#).unwrap();
    assert_eq!(keys.to_string(), r#"{"a":2,"b":1}"#);
    // arbitrary_precision
    assert_eq!(read("1.50").unwrap().to_string(), "1.5");
    assert!(read("1e400").is_err());
}
