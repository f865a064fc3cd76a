//! A grammar of one's own, built rule by rule: a list of moves, each a piece and a square, nested in variations.
//!
//! `cargo run --example own_grammar`

use std::error::Error;
use std::sync::Arc;

use syntagma_engine::{GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts};
use syntagma_grammar::ir::{GrammarBuilder, Report};
use syntagma_grammar::print;
use syntagma_grammar::syntax::regex::{self, Dialect};

fn main() -> Result<(), Box<dyn Error>> {
    let limits = syntagma_grammar::Limits::default();
    let mut builder = GrammarBuilder::new();
    let (game, step) = (builder.rule("game"), builder.rule("step"));

    // game ::= step+ % " "
    let (one, space) = (builder.reference(step), builder.literal(b" "));
    let steps = builder.repeat(one, 1, None, Some(space));
    builder.define(game, steps);

    // step ::= move | "(" game ")"
    let square = regex::parse("[KQRBN]?[a-h][1-8]", Dialect::Rust, &limits)?;
    let square = builder.regex(square);
    let (open, inner, close) = (
        builder.literal(b"("),
        builder.reference(game),
        builder.literal(b")"),
    );
    let variation = builder.seq([open, inner, close]);
    let either = builder.alt([square, variation]);
    builder.define(step, either);

    let grammar = Arc::new(builder.finish(game, Report::default()));
    println!("{}", print::to_ebnf(&grammar));

    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.push(b"<end>".to_vec());
    let vocabulary = Arc::new(Vocabulary::new(&VocabularyParts {
        tokens,
        eos_ids: vec![256],
        ..VocabularyParts::default()
    })?);
    let compiled = GrammarCompiler::new(vocabulary, Limits::default()).compile(&grammar)?;
    for text in ["e4 (d4 (c4) d5) Nf3", "e4 (d4", "e9"] {
        let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
        let read = matcher.accept_bytes(text.as_bytes())?;
        let verdict = match (read, read && matcher.is_accepting()?) {
            (true, true) => "a game",
            (true, false) => "the beginning of a game",
            (false, _) => "no game",
        };
        println!("{text}: {verdict}");
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
