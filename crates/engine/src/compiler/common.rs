//! What nearly every grammar asks of a vocabulary, found out before anybody waits for it.

use std::sync::Arc;

use syntagma_grammar::Grammar;
use syntagma_grammar::syntax::json_schema;

use crate::compiled::CompiledGrammar;
use crate::error::Error;
use crate::matcher::GrammarMatcher;
use crate::tuning;
use crate::vocabulary::bitmask_words;

/// A JSON text in pieces; in front of each it is asked what may come next.
const PIECES: [&str; 24] = [
    "{", "\"", "ke", "y\"", ":", " ", "\"", "te", "\\", "n\"", ",", "\n  ", "\"n\": ", "-", "1",
    ".", "5", "e3", ", ", "\"l\": [", "tr", "ue", ", 2]", "}",
];

/// Reads a JSON text by a schema that allows any, with a vocabulary of so many tokens.
pub(super) fn learn(
    size: usize,
    compile: impl FnOnce(&Grammar) -> Result<Arc<CompiledGrammar>, Error>,
) {
    if size < tuning::LEARNT_VOCABULARY {
        return;
    }
    let (options, limits) = Default::default();
    let Ok(grammar) = json_schema::parse(r#"{"type": "object"}"#, &options, &limits) else {
        return;
    };
    let Ok(built) = compile(&grammar) else {
        return;
    };
    let mut matcher = GrammarMatcher::new(built);
    let mut row = vec![0; bitmask_words(size)];
    for piece in PIECES {
        // A vocabulary may lack what the text has; what was learnt up to there is as good.
        let learnt = matcher.fill_next_token_bitmask(&mut row);
        if learnt.is_err() || !matcher.accept_bytes(piece.as_bytes()).unwrap_or(false) {
            return;
        }
    }
}
