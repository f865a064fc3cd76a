//! Grammars that could be read: printed, read back, compiled, and followed for a while.

use std::hash::Hasher as _;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHasher;
use syntagma_engine::{
    CompiledGrammar, Error, ErrorKind, GrammarCompiler, GrammarMatcher, Limits, Vocabulary,
    VocabularyParts, bitmask_words,
};
use syntagma_grammar::ir::Lnf;
use syntagma_grammar::syntax::{ebnf, gbnf};
use syntagma_grammar::{ErrorKind as SourceErrorKind, Grammar, print};

/// Every byte, some longer tokens, special ones and two ends of the turn.
pub(super) static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let texts = [
        "aa", "ab", "aaaa", "abab", "ba", "bb", "é", "\": ", "\", \"", "{\"", "  ", "    ", "\n",
        "12", "007", "true", "null", "\"}", "]}", "xyz", "-1", "a b",
    ];
    tokens.extend(texts.map(|text| text.as_bytes().to_vec()));
    tokens.push("é".as_bytes()[..1].to_vec());
    let special = tokens.len() as u32;
    tokens.extend(["<|t|>", "<t>", "m", "</s>", "<end>"].map(|text| text.as_bytes().to_vec()));
    let parts = VocabularyParts {
        tokens,
        special_ids: vec![special, special + 1],
        marker_ids: vec![special + 2],
        eos_ids: vec![special + 3, special + 4],
        vocab_size: None,
    };
    Arc::new(Vocabulary::new(&parts).expect("the vocabulary is right"))
});

pub(super) fn number(of: impl std::hash::Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Compiles with every mask and step checked by the second recogniser.
pub(super) fn compile(grammar: &Arc<Grammar>) -> Result<Arc<CompiledGrammar>, Error> {
    GrammarCompiler::new(Arc::clone(&VOCABULARY), Limits::default())
        .with_cache(false)
        .with_verify(true)
        .compile(grammar)
}

/// An error that a user may meet; the engine disagreeing with itself is none.
pub(super) fn allowed(error: &Error) -> u64 {
    assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
    number(error.code())
}

/// Which tokens may come next; none once the text has ended. Each bit is what the matcher then does.
pub(super) fn mask(matcher: &GrammarMatcher) -> Result<Vec<u32>, Error> {
    let size = VOCABULARY.size();
    let mut row = vec![0; bitmask_words(size)];
    matcher.fill_next_token_bitmask(&mut row)?;
    if matcher.is_terminated()? {
        assert!(row.iter().take(size / 32).all(|&word| word == -1));
        return Ok(Vec::new());
    }
    let mut tokens = Vec::new();
    for id in 0..size as u32 {
        let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
        assert_eq!(bit, matcher.accepts(id)?, "token {id}");
        tokens.extend(bit.then_some(id));
    }
    Ok(tokens)
}

/// A saved grammar in which some bytes are others, sealed like a right one.
fn forged(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - size_of::<u64>());
    let mut seed = number(&bytes);
    for _ in 0..=seed % 3 {
        seed = number(seed);
        let at = 5 + seed as usize % (bytes.len() - 5);
        bytes[at] = (seed >> 32) as u8;
    }
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    bytes.extend(sum.to_le_bytes());
    bytes
}

pub(super) fn explore(grammar: Grammar) -> Vec<u64> {
    let mut features = vec![number(grammar.rules().len().ilog2())];
    let bytes = grammar.to_bytes();
    let saved = Grammar::from_bytes(&bytes);
    let is_deep = grammar
        .nesting()
        .is_none_or(|levels| levels > Grammar::MAX_SAVED_NESTING);
    assert!(
        is_deep || saved.is_ok_and(|saved| saved == grammar),
        "what is saved reads back"
    );
    if let Ok(forged) = Grammar::from_bytes(&forged(bytes)) {
        // Anything may be said in it, and nothing of that may break anybody.
        let _ = Lnf::new(&forged, &syntagma_grammar::Limits::default());
        let _ = Grammar::from_bytes(&forged.to_bytes()).expect("what was read is written and read");
    }
    let text = print::to_ebnf(&grammar);
    // What is printed may be larger than what was read.
    if let Err(error) = ebnf::parse(&text, "start", &syntagma_grammar::Limits::default()) {
        assert_eq!(
            error.kind(),
            SourceErrorKind::Limit,
            "what was printed does not read: {error}\n{text}"
        );
    }
    if let Ok(written) = print::to_gbnf(&grammar, None) {
        if let Err(error) = gbnf::parse(&written.text, "root", &syntagma_grammar::Limits::default())
        {
            assert_eq!(
                error.kind(),
                SourceErrorKind::Limit,
                "what was printed does not read: {error}\n{}",
                written.text
            );
        }
        features.push(1);
    }
    match Lnf::new(&grammar, &syntagma_grammar::Limits::default()) {
        Ok(lnf) => features.push(number((
            lnf.productions.len().max(1).ilog2(),
            lnf.symbols.regexes.len().max(1).ilog2(),
        ))),
        Err(error) => features.push(number(error.code())),
    }
    let seed = number(&text);
    match compile(&Arc::new(grammar)) {
        Ok(compiled) => features.push(walk(&GrammarMatcher::new(compiled), seed)),
        Err(error) => features.push(allowed(&error)),
    }
    features
}

/// Takes some of the tokens that may come next.
fn walk(start: &GrammarMatcher, seed: u64) -> u64 {
    let mut matcher = start.fork();
    let mut steps = 0;
    let answer = loop {
        let tokens = match mask(&matcher) {
            Ok(tokens) => tokens,
            Err(error) => break allowed(&error),
        };
        if steps == 6 || matcher.is_terminated().unwrap_or(true) {
            break steps;
        }
        assert!(
            !tokens.is_empty(),
            "every byte is a token, and none may come next"
        );
        let id = tokens[(seed.rotate_left(7 * steps as u32) % tokens.len() as u64) as usize];
        match matcher.accept_token(id) {
            Ok(taken) => assert!(taken, "it was asked before"),
            Err(error) => break allowed(&error), // the step may cost more than the mask
        }
        steps += 1;
    };
    number((answer, start.compiled().stats().states.max(1).ilog2()))
}
