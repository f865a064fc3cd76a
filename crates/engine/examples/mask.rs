//! Compiles a JSON Schema for a small vocabulary and prints which tokens may come, after each token.
//!
//! `cargo run --example mask`

use std::error::Error;
use std::sync::Arc;

use syntagma_engine::{
    GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts, bitmask_words,
};
use syntagma_grammar::syntax::json_schema;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Lima"]}, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
    "required": ["city"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let texts = [
        "{\"", "city", "days", "\":", " \"", "Os", "lo", "Li", "ma", "\"", ", ", "1", "9", "}",
    ];
    let mut tokens: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).into();
    let end = u32::try_from(tokens.len())?;
    tokens.push(b"<end>".to_vec());
    let vocabulary = Arc::new(Vocabulary::new(&VocabularyParts {
        tokens,
        eos_ids: vec![end],
        ..VocabularyParts::default()
    })?);

    let mut options = json_schema::Options::default();
    options.allow_widened = false; // what cannot be enforced is an error
    let grammar = json_schema::parse(SCHEMA, &options, &syntagma_grammar::Limits::default())?;
    let compiler = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
    let mut matcher = GrammarMatcher::new(compiler.compile(&Arc::new(grammar))?);

    let mut row = vec![0; bitmask_words(vocabulary.size())];
    for id in [0, 1, 3, 4, 5, 6, 9, 10, 9, 2, 3, 11, 11, 13, end] {
        matcher.fill_next_token_bitmask(&mut row)?;
        let allowed: Vec<&str> = (0..=end)
            .filter(|id| row[*id as usize / 32] >> (id % 32) & 1 == 1)
            .map(|id| texts.get(id as usize).copied().unwrap_or("<end>"))
            .collect();
        let taken = texts.get(id as usize).copied().unwrap_or("<end>");
        println!("{taken:6} of {allowed:?}");
        assert!(matcher.accept_token(id)?, "{taken} was in no mask");
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
