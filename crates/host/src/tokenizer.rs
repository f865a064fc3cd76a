//! Vocabularies from Hugging Face's `tokenizer.json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syntagma_engine::VocabularyParts;
use syntagma_grammar::json::{Map, Value, read};

use crate::error::{Error, ErrorKind};
use crate::spelling::Spelling;

/// Far above any vocabulary; larger ids would only cost memory.
const MAX_TOKENS: u32 = 1 << 24;
const MAX_MERGES_CHECKED: usize = 2_000;
const DEPTH: usize = 1_000;

/// The tokens of a `tokenizer.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenizerJson {
    /// Bytes by token id; empty bytes are never allowed.
    pub tokens: Vec<Vec<u8>>,
    /// Tokens that text never matches, ascending.
    pub special_ids: Vec<u32>,
    /// Tokens added to the trained vocabulary, special or not, ascending.
    pub added_ids: Vec<u32>,
}

impl TokenizerJson {
    /// Reads the text of the file.
    ///
    /// Errors: `E-VOCAB-FILE`, it is no JSON object; `E-VOCAB-MODEL`, its model is not supported; `E-VOCAB-TOKEN`, a token has
    /// a character outside of the spelling; `E-VOCAB-ROUNDTRIP`, merges contradict the spelling.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        let data = document(text)?;
        let model = data.get("model").and_then(Value::as_object);
        let vocabulary = model.and_then(|model| model.get("vocab"));
        let (Some(model), Some(vocabulary @ (Value::Object(_) | Value::Array(_)))) =
            (model, vocabulary)
        else {
            let found = error("E-VOCAB-MODEL", "there is no model with a vocabulary");
            return Err(found.at_pointer("/model/vocab"));
        };
        let spelling = spelling(&data, model)?;
        let texts = texts(vocabulary)?;
        let added = added(&data)?;
        check_spaces(spelling, &texts)?;
        let last = texts
            .iter()
            .map(|(_, id)| *id)
            .chain(added.keys().copied())
            .max();
        let mut tokens = vec![Vec::new(); last.map_or(0, |last| last as usize + 1)];
        for &(text, id) in &texts {
            if added.contains_key(&id) {
                continue;
            }
            tokens[id as usize] = spelling.bytes(text).ok_or_else(|| {
                let message =
                    format!("token {id} ({text:?}) has a character outside of the byte alphabet");
                error("E-VOCAB-TOKEN", message).with_hint(
                    "the tokenizer's decoder contradicts its pre-tokenizer; give the tokens with from_tokens",
                )
            })?;
        }
        for (&id, &(content, _)) in &added {
            tokens[id as usize] = content.as_bytes().to_vec();
        }
        check_merges(model, &texts, &tokens)?;
        let special = added.iter().filter(|(_, (_, special))| *special);
        Ok(Self {
            tokens,
            special_ids: special.map(|(&id, _)| id).collect(),
            added_ids: added.keys().copied().collect(),
        })
    }
}

/// What a vocabulary is made from, given what is known of its tokens: as Python's `TokenizerInfo` makes it. Ends of the turn
/// are special, and special tokens are among those that a marker may mean.
#[must_use]
pub fn vocabulary_parts(
    tokens: TokenizerJson,
    eos_ids: &[u32],
    vocab_size: Option<usize>,
) -> VocabularyParts {
    VocabularyParts {
        tokens: tokens.tokens,
        special_ids: tokens.special_ids,
        marker_ids: tokens.added_ids,
        eos_ids: eos_ids.to_vec(),
        vocab_size,
    }
}

fn error(code: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Vocabulary, code, message)
}

fn document(text: &[u8]) -> Result<Map, Error> {
    let not_json = |reason: &dyn std::fmt::Display| {
        error("E-VOCAB-FILE", format!("the file is not JSON: {reason}"))
    };
    let text = std::str::from_utf8(text).map_err(|reason| not_json(&reason))?;
    let value = read(text, DEPTH)
        .map_err(|reason| not_json(&format_args!("{reason} (byte {})", reason.offset)))?;
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(error("E-VOCAB-FILE", "the file is not a JSON object")),
    }
}

fn token_id(value: &Value) -> Result<u32, Error> {
    let id = match value {
        Value::Number(number) => number.as_str().parse().ok(),
        _ => None,
    };
    id.filter(|&id| id < MAX_TOKENS)
        .ok_or_else(|| error("E-VOCAB-MODEL", format!("{value} is not a token id")))
}

fn lacking(what: &str) -> Error {
    error(
        "E-VOCAB-MODEL",
        format!("a token lacks its text or its id ({what})"),
    )
}

/// The texts of the model's tokens with their ids: BPE and `WordPiece` map text to id, Unigram lists `[text, score]` in the
/// order of ids.
fn texts(vocabulary: &Value) -> Result<Vec<(&str, u32)>, Error> {
    match vocabulary {
        Value::Object(members) => (members.iter())
            .map(|(text, id)| Ok((text.as_str(), token_id(id)?)))
            .collect(),
        Value::Array(rows) => (rows.iter().zip(0..MAX_TOKENS))
            .map(|(row, id)| {
                let text = match row {
                    Value::Array(row) => row.first().and_then(Value::as_str),
                    _ => None,
                };
                text.map(|text| (text, id))
                    .ok_or_else(|| lacking(&row.to_string()))
            })
            .collect(),
        _ => Ok(Vec::new()),
    }
}

/// The added tokens: their text, and whether they are special.
fn added(data: &Map) -> Result<BTreeMap<u32, (&str, bool)>, Error> {
    let rows = match data.get("added_tokens") {
        Some(Value::Array(rows)) => rows.as_slice(),
        None | Some(Value::Null) => &[],
        Some(_) => return Err(lacking("added_tokens is no array")),
    };
    let read = |token: &'_ Value| -> Result<(u32, bool), Error> {
        let id = token.get("id").ok_or_else(|| lacking("no id"))?;
        Ok((
            token_id(id)?,
            token.get("special") == Some(&Value::Bool(true)),
        ))
    };
    rows.iter()
        .map(|token| {
            let (id, special) = read(token)?;
            let content = token.get("content").and_then(Value::as_str);
            let content = content.ok_or_else(|| lacking("no content"))?;
            Ok((id, (content, special)))
        })
        .collect()
}

/// The types of a decoder or pre-tokenizer and, if it is a sequence, of its members.
fn types<'v>(node: Option<&'v Value>, key: &str) -> BTreeSet<&'v str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Value> = node.into_iter().collect();
    while let Some(node) = open.pop() {
        found.extend(node.get("type").and_then(Value::as_str));
        if let Some(Value::Array(members)) = node.get(key) {
            open.extend(members);
        }
    }
    found
}

fn spelling(data: &Map, model: &Map) -> Result<Spelling, Error> {
    let decoders = types(data.get("decoder"), "decoders");
    let before = types(data.get("pre_tokenizer"), "pretokenizers");
    if decoders.contains("ByteLevel") || (decoders.is_empty() && before.contains("ByteLevel")) {
        return Ok(Spelling::ByteLevel);
    }
    let falls_back = model.get("byte_fallback") == Some(&Value::Bool(true));
    if decoders.contains("ByteFallback") || falls_back {
        return Ok(Spelling::ByteFallback);
    }
    if decoders.contains("Metaspace") || before.contains("Metaspace") {
        return Ok(Spelling::Metaspace);
    }
    let names: Vec<&str> = decoders.into_iter().collect();
    let names = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    Err(
        error("E-VOCAB-MODEL", format!("the decoder {names} is not supported"))
            .at_pointer("/decoder")
            .with_hint(
                "supported: byte-level, byte-fallback and metaspace vocabularies; for others use from_tokens",
            ),
    )
}

/// Checks that the spelling of spaces matches the decoder. Most words of a vocabulary begin with a space.
fn check_spaces(spelling: Spelling, texts: &[(&str, u32)]) -> Result<(), Error> {
    if spelling == Spelling::ByteLevel
        || texts.iter().any(|(text, _)| text.contains('▁'))
        || !texts.iter().any(|(text, _)| text.starts_with('Ġ'))
    {
        return Ok(());
    }
    let message = "the tokens use the byte-level alphabet, but the decoder does not, so no token would be a space";
    Err(error("E-VOCAB-ROUNDTRIP", message)
        .at_pointer("/decoder")
        .with_hint("fix the decoder, or give the tokens with from_tokens"))
}

/// Checks the bytes of tokens against merges: the result of a merge must be its two parts concatenated.
fn check_merges(model: &Map, texts: &[(&str, u32)], tokens: &[Vec<u8>]) -> Result<(), Error> {
    let Some(Value::Array(merges)) = model.get("merges") else {
        return Ok(());
    };
    let ids: HashMap<&str, u32> = texts.iter().copied().collect();
    let step = (merges.len() / MAX_MERGES_CHECKED).max(1);
    for merge in merges.iter().step_by(step) {
        let parts = match merge {
            Value::String(text) => text.split_once(' '),
            Value::Array(pair) => match pair.as_slice() {
                [Value::String(first), Value::String(second)] => {
                    Some((first.as_str(), second.as_str()))
                }
                _ => None,
            },
            _ => None,
        };
        let Some((first, second)) = parts else {
            let message = format!("the merge {merge} is no pair of texts");
            return Err(error("E-VOCAB-MODEL", message).at_pointer("/model/merges"));
        };
        let bytes = |text: &str| ids.get(text).map(|&id| tokens[id as usize].as_slice());
        let whole = format!("{first}{second}");
        let (Some(left), Some(right), Some(both)) = (bytes(first), bytes(second), bytes(&whole))
        else {
            continue;
        };
        let joined = [left, right].concat();
        if joined != both {
            let message = format!(
                "{first:?} and {second:?} merge to bytes \"{}\", not \"{}\"",
                both.escape_ascii(),
                joined.escape_ascii()
            );
            return Err(error("E-VOCAB-ROUNDTRIP", message));
        }
    }
    Ok(())
}
