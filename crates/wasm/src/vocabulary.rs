//! Vocabularies and compilers.

use std::sync::Arc;

use syntagma_engine::{GrammarCompiler, Vocabulary};
use syntagma_host::{
    CompilerOptions, Error, ErrorKind, Grammar, Spelling, TokenizerJson, vocabulary_parts,
};

use crate::arguments::Arguments;
use crate::matcher::Compiled;
use crate::things::answer;

/// A vocabulary of tokens. Input: the width of the logits; the ends of the turn, the special tokens, the added ones; how texts
/// spell bytes; and the tokens.
#[unsafe(no_mangle)]
pub extern "C" fn vocabulary() -> i32 {
    answer(|page| {
        let mut given = Arguments::new(&page.input);
        let size = given.number()? as usize;
        let eos_ids = given.numbers()?;
        let tokens = TokenizerJson {
            special_ids: given.numbers()?,
            added_ids: given.numbers()?,
            tokens: {
                let spelling = spelling(given.text()?)?;
                given.tokens(|text| spelled(spelling, text))?
            },
        };
        let parts = vocabulary_parts(tokens, &eos_ids, Some(size));
        Ok(page.things.add(Arc::new(Vocabulary::new(&parts)?)))
    })
}

/// What web-xgrammar calls a type of vocabulary; None: texts mean themselves.
fn spelling(name: &str) -> Result<Option<Spelling>, Error> {
    match name {
        "raw" => Ok(None),
        "byte_fallback" => Ok(Some(Spelling::ByteFallback)),
        "byte_level" => Ok(Some(Spelling::ByteLevel)),
        _ => {
            let message = format!("vocabType {name} is not known");
            let found = Error::new(ErrorKind::Argument, "E-ARGUMENT-VALUE", message);
            Err((found.at_pointer("/vocabType")).with_hint("known: raw, byte_fallback, byte_level"))
        }
    }
}

/// The bytes of a token. What is outside of the alphabet is an added token, which is written as it is.
fn spelled(spelling: Option<Spelling>, text: &str) -> Vec<u8> {
    let bytes = spelling.and_then(|spelling| spelling.bytes(text));
    bytes.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// A vocabulary of a `tokenizer.json`. Input: the width of the logits, 0 for the number of tokens; the ends of the turn; tokens
/// that are special beside those of the file; and its text.
#[unsafe(no_mangle)]
pub extern "C" fn vocabulary_of_tokenizer_json() -> i32 {
    answer(|page| {
        let mut given = Arguments::new(&page.input);
        let size = Some(given.number()? as usize).filter(|&size| size > 0);
        let eos_ids = given.numbers()?;
        let special_ids = given.numbers()?;
        let mut tokens = TokenizerJson::read(given.bytes()?)?;
        tokens.special_ids.extend(special_ids);
        let parts = vocabulary_parts(tokens, &eos_ids, size);
        Ok(page.things.add(Arc::new(Vocabulary::new(&parts)?)))
    })
}

/// The width of the logits, in tokens.
#[unsafe(no_mangle)]
pub extern "C" fn vocabulary_size(vocabulary: u32) -> i32 {
    answer(|page| {
        let vocabulary: &Arc<Vocabulary> = page.things.get(vocabulary)?;
        Ok((vocabulary.size() as u32).cast_signed())
    })
}

/// Output: the bytes of a token; none where there is no such token.
#[unsafe(no_mangle)]
pub extern "C" fn vocabulary_token(vocabulary: u32, id: u32) -> i32 {
    answer(|page| {
        let vocabulary: &Arc<Vocabulary> = page.things.get(vocabulary)?;
        page.output.clear();
        if (id as usize) < vocabulary.size() {
            page.output.extend_from_slice(vocabulary.token(id));
        }
        Ok(0)
    })
}

/// A compiler. Input: its options as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn compiler(vocabulary: u32) -> i32 {
    answer(|page| {
        let options = Arguments::new(&page.input).text()?;
        let options = CompilerOptions::from_json(options)?;
        let vocabulary: &Arc<Vocabulary> = page.things.get(vocabulary)?;
        let compiler = GrammarCompiler::lazy(Arc::clone(vocabulary), options.limits)
            .with_cache(options.cache)
            .with_verify(options.verify);
        Ok(page.things.add(compiler))
    })
}

/// A compiled grammar.
#[unsafe(no_mangle)]
pub extern "C" fn compile(compiler: u32, grammar: u32) -> i32 {
    answer(|page| {
        let by: &GrammarCompiler = page.things.get(compiler)?;
        let grammar: &Grammar = page.things.get(grammar)?;
        let made = Compiled {
            compiled: by.compile(&grammar.grammar)?,
            bounds: grammar.bounds.clone(),
        };
        Ok(page.things.add(made))
    })
}
