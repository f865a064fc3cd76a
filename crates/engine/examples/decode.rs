//! A decode loop: a model that knows nothing of JSON writes an answer that a schema allows.
//!
//! `cargo run --example decode [seed]`
//!
//! The model is a generator of pseudo-random scores; put yours in its place. What is certain is not sampled: those bytes
//! are taken at once, as an engine would prefill them.

use std::error::Error;
use std::sync::Arc;

use syntagma_engine::{
    GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts, bitmask_words,
};
use syntagma_grammar::syntax::json_schema;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z]{2,8}$"},
        "tags": {"type": "array", "items": {"enum": ["new", "paid", "sent"]}, "minItems": 1, "maxItems": 3}
    },
    "required": ["name", "tags"],
    "additionalProperties": false,
    "x-guidance": {"whitespace_flexible": false}
}"#;
const END: u32 = 256;

/// The next score of a token: xorshift (Marsaglia 2003), scaled to [0, 1).
#[allow(clippy::cast_precision_loss)]
fn score(state: &mut u64) -> f64 {
    for shift in [13, -7, 17] {
        *state ^= if shift > 0 {
            *state << shift
        } else {
            *state >> -shift
        };
    }
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let seed: u64 = std::env::args()
        .nth(1)
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;

    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    tokens.push(b"<end>".to_vec());
    let vocabulary = Arc::new(Vocabulary::new(&VocabularyParts {
        tokens,
        eos_ids: vec![END],
        ..VocabularyParts::default()
    })?);
    let grammar = json_schema::parse(
        SCHEMA,
        &json_schema::Options::default(),
        &syntagma_grammar::Limits::default(),
    )?;
    let compiler = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
    let mut matcher = GrammarMatcher::new(compiler.compile(&Arc::new(grammar))?);

    let mut row = vec![0; bitmask_words(vocabulary.size())];
    let (mut answer, mut passes) = (Vec::new(), 0);
    while !matcher.is_terminated()? {
        let certain = matcher.find_jump_forward_bytes()?;
        assert!(matcher.accept_bytes(&certain)?);
        answer.extend(certain);

        matcher.fill_next_token_bitmask(&mut row)?;
        passes += 1;
        let next = (0..=END)
            .map(|id| (score(&mut state), id))
            .filter(|(_, id)| row[*id as usize / 32] >> (id % 32) & 1 == 1)
            .max_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, id)| id)
            .ok_or("no token is allowed")?;
        assert!(matcher.accept_token(next)?);
        answer.extend(u8::try_from(next));
    }
    println!("{}", String::from_utf8(answer)?);
    println!(
        "{} bytes, {passes} of them and the end sampled",
        matcher.steps()
    );
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
