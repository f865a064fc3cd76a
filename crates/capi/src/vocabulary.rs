//! Vocabularies.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use syntagma_engine::{Vocabulary, VocabularyParts};
use syntagma_host::{TokenizerJson, vocabulary_parts};

use crate::call::{SyntagmaStatus, call, quietly};
use crate::given::{given, put_made};
use crate::memory::items;

/// The tokens of a model. Immutable.
#[derive(Debug)]
pub struct SyntagmaVocabulary(pub(crate) Arc<Vocabulary>);

/// What a vocabulary is made from; it is read during the call only. A list that is NULL is empty.
#[repr(C)]
#[derive(Debug)]
pub struct SyntagmaVocabularyParts {
    /// The bytes of all tokens, one behind the other in the order of their ids. A token without bytes is never allowed.
    pub bytes: *const u8,
    /// The length of each token, in bytes.
    pub lengths: *const usize,
    /// How many tokens there are.
    pub count: usize,
    /// The tokens that end a turn. Text never matches them.
    pub eos_ids: *const u32,
    /// How many they are.
    pub eos_count: usize,
    /// Further tokens that text never matches.
    pub special_ids: *const u32,
    /// How many they are.
    pub special_count: usize,
    /// Tokens that replace a marker with exactly their text, beside the special ones.
    pub added_ids: *const u32,
    /// How many they are.
    pub added_count: usize,
    /// The width of the logits, where it is more than the tokens; else 0.
    pub vocab_size: usize,
}

fn vocabulary(parts: &VocabularyParts) -> Result<SyntagmaVocabulary, syntagma_host::Error> {
    Ok(SyntagmaVocabulary(Arc::new(Vocabulary::new(parts)?)))
}

/// Makes a vocabulary from the bytes of its tokens.
///
/// Fails with E-VOCAB-ID, an id is outside of the tokens; E-VOCAB-SIZE, `vocab_size` is too small; E-VOCAB-LENGTH, a token of
/// more than 65,535 bytes. `*out` is freed by syntagma_vocabulary_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_vocabulary_new(
    parts: Option<&SyntagmaVocabularyParts>,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaVocabulary>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            let parts = given(parts, "parts")?;
            // SAFETY: the lists are as long as they say.
            let lists = unsafe {
                [
                    items(parts.eos_ids, parts.eos_count),
                    items(parts.special_ids, parts.special_count),
                    items(parts.added_ids, parts.added_count),
                ]
            };
            let [eos_ids, special_ids, marker_ids] = lists.map(<[u32]>::to_vec);
            // SAFETY: there is a length for each token, and bytes for all lengths.
            let lengths = unsafe { items(parts.lengths, parts.count) };
            let total = lengths.iter().sum();
            // SAFETY: as above.
            let mut rest = unsafe { items(parts.bytes, total) };
            let mut tokens = Vec::with_capacity(lengths.len());
            for &length in lengths {
                let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                tokens.push(token.to_vec());
                rest = behind;
            }
            vocabulary(&VocabularyParts {
                tokens,
                special_ids,
                marker_ids,
                eos_ids,
                vocab_size: (parts.vocab_size > 0).then_some(parts.vocab_size),
            })
        })
    })
}

/// Makes a vocabulary from the text of Hugging Face's `tokenizer.json`: byte-level, byte-fallback or metaspace.
///
/// `eos_ids` are the tokens that end a turn, which the file does not say; `vocab_size` is the width of the logits, where it is
/// more than the tokens, else 0. Fails with E-VOCAB-FILE, the text is no JSON object; E-VOCAB-MODEL, its model is not
/// supported; E-VOCAB-TOKEN or E-VOCAB-ROUNDTRIP, it contradicts itself; and as syntagma_vocabulary_new(). `*out` is freed by
/// syntagma_vocabulary_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_vocabulary_from_tokenizer_json(
    text: *const c_char,
    length: usize,
    eos_ids: *const u32,
    eos_count: usize,
    vocab_size: usize,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaVocabulary>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            // SAFETY: text and ids are as long as they say.
            let (text, eos_ids) =
                unsafe { (items(text.cast(), length), items(eos_ids, eos_count)) };
            let read = TokenizerJson::read(text)?;
            let size = (vocab_size > 0).then_some(vocab_size);
            vocabulary(&vocabulary_parts(read, eos_ids, size))
        })
    })
}

/// The width of the logits, in tokens; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_vocabulary_size(vocabulary: Option<&SyntagmaVocabulary>) -> usize {
    vocabulary.map_or(0, |vocabulary| vocabulary.0.size())
}

/// The bytes of a token, which belong to the vocabulary; how many they are is written to `length`. NULL for an id that is
/// never allowed as text.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_vocabulary_token(
    vocabulary: Option<&SyntagmaVocabulary>,
    id: u32,
    length: Option<&mut MaybeUninit<usize>>,
) -> *const u8 {
    let token = vocabulary.map_or(&[] as &[u8], |vocabulary| vocabulary.0.token(id));
    if let Some(length) = length {
        length.write(token.len());
    }
    if token.is_empty() {
        ptr::null()
    } else {
        token.as_ptr()
    }
}

/// Frees a vocabulary.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_vocabulary_free(vocabulary: Option<Box<SyntagmaVocabulary>>) {
    quietly(|| drop(vocabulary));
}
