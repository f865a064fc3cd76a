//! Small vocabularies.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::sync::Arc;

use syntagma_engine::{Vocabulary, VocabularyParts};

/// These tokens.
pub fn of_tokens(tokens: Vec<Vec<u8>>) -> Arc<Vocabulary> {
    let parts = VocabularyParts {
        tokens,
        ..VocabularyParts::default()
    };
    Arc::new(Vocabulary::new(&parts).unwrap())
}

/// These tokens, and behind them one that ends the turn.
pub fn with_end(mut tokens: Vec<Vec<u8>>, end: &[u8]) -> Arc<Vocabulary> {
    let eos = tokens.len() as u32;
    tokens.push(end.to_vec());
    let parts = VocabularyParts {
        tokens,
        eos_ids: vec![eos],
        ..VocabularyParts::default()
    };
    Arc::new(Vocabulary::new(&parts).unwrap())
}

/// Every byte.
pub fn bytes() -> Vec<Vec<u8>> {
    (0..=u8::MAX).map(|byte| vec![byte]).collect()
}
