//! Tokens as bytes, and what each of them may be used for.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use syntagma_grammar::markers;

use super::bitmask_words;
use super::plain::Plain;
use super::trie::{MAX_TOKEN_BYTES, Trie};
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::maps::SeededMap;

/// What a [`Vocabulary`] is made from.
#[derive(Debug, Clone, Default)]
pub struct VocabularyParts {
    /// The bytes of each token by id; an empty token is never allowed as text.
    pub tokens: Vec<Vec<u8>>,
    /// Ids that never match text: only token symbols, markers or the end of the turn.
    pub special_ids: Vec<u32>,
    /// Ids of added or user-defined tokens that a marker of exactly their text means. Unless they are special too,
    /// text matches them as well. Special and end-of-turn ids need not be repeated here.
    pub marker_ids: Vec<u32>,
    /// Ids that end the turn. They never match text.
    pub eos_ids: Vec<u32>,
    /// Width of the model's logits if it is padded; ids past the tokens are never allowed.
    pub vocab_size: Option<usize>,
}

/// The tokens of a model. Immutable; share it behind an [`Arc`](std::sync::Arc).
#[derive(Debug)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// Token `i` is `bytes[ends[i-1]..ends[i]]`.
    ends: Vec<usize>,
    special: Vec<bool>,
    eos: Vec<u32>,
    markers: SeededMap<Box<[u8]>, Vec<u32>>,
    /// How long the longest of their texts is, in bytes.
    longest_marker: usize,
    named: Vec<bool>,
    size: usize,
    trie: Trie,
    /// The bitmask row of all tokens that text may match.
    text_row: Box<[i32]>,
    /// Plain tokens and the others, once somebody asked.
    plain: OnceLock<Plain>,
    fingerprint: OnceLock<u128>,
    /// What somebody keeps beside it, once there is somebody.
    beside: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// A part of a marker, see [`Vocabulary::marker_pieces`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MarkerPiece<'a> {
    /// One of these tokens.
    Tokens(&'a [u32]),
    /// Bytes of text.
    Text(&'a [u8]),
}

impl Vocabulary {
    /// Builds the vocabulary and its trie.
    ///
    /// Errors: `E-VOCAB-ID` for an id without a token, `E-VOCAB-SIZE` for a `vocab_size` below the number of tokens,
    /// `E-VOCAB-LENGTH` for a token of more than 65,535 bytes.
    pub fn new(parts: &VocabularyParts) -> Result<Self, Error> {
        let count = parts.tokens.len();
        let size = parts.vocab_size.unwrap_or(count);
        if size < count {
            return Err(Error::vocabulary(
                "E-VOCAB-SIZE",
                format!("vocab_size is {size}, yet there are {count} tokens"),
            ));
        }
        if i32::try_from(size).is_err() {
            return Err(Error::vocabulary(
                "E-VOCAB-SIZE",
                format!("{size} tokens are too many"),
            ));
        }
        if let Some(id) = parts
            .tokens
            .iter()
            .position(|token| token.len() > MAX_TOKEN_BYTES)
        {
            return Err(Error::vocabulary(
                "E-VOCAB-LENGTH",
                format!("token {id} has more than {MAX_TOKEN_BYTES} bytes"),
            ));
        }
        let lists = [
            ("special_ids", &parts.special_ids),
            ("marker_ids", &parts.marker_ids),
            ("eos_ids", &parts.eos_ids),
        ];
        for (name, ids) in lists {
            if let Some(id) = ids.iter().find(|&&id| id as usize >= count) {
                return Err(Error::vocabulary(
                    "E-VOCAB-ID",
                    format!("{name} holds {id}, yet there are only {count} tokens"),
                ));
            }
        }
        let mut special = vec![false; count];
        for &id in parts.special_ids.iter().chain(&parts.eos_ids) {
            special[id as usize] = true;
        }
        let mut named = special.clone();
        for &id in &parts.marker_ids {
            named[id as usize] = true;
        }
        let mut markers: SeededMap<Box<[u8]>, Vec<u32>> = SeededMap::default();
        let mut bytes = Vec::with_capacity(parts.tokens.iter().map(Vec::len).sum());
        let mut ends = Vec::with_capacity(count);
        for (id, token) in parts.tokens.iter().enumerate() {
            bytes.extend_from_slice(token);
            ends.push(bytes.len());
            if named[id] && !token.is_empty() {
                markers
                    .entry(token.as_slice().into())
                    .or_default()
                    .push(id as u32);
            }
        }
        let text = parts
            .tokens
            .iter()
            .enumerate()
            .filter(|&(id, _)| !special[id]);
        let trie = Trie::new(text.map(|(id, token)| (id as u32, token.as_slice()))).with_belows();
        let mut text_row = vec![0; bitmask_words(size)];
        for &id in trie.order() {
            text_row[id as usize / 32] |= 1 << (id % 32);
        }
        let mut eos = parts.eos_ids.clone();
        eos.sort_unstable();
        eos.dedup();
        Ok(Self {
            bytes,
            ends,
            special,
            eos,
            longest_marker: markers.keys().map(|text| text.len()).max().unwrap_or(0),
            markers,
            named,
            size,
            trie,
            text_row: text_row.into(),
            plain: OnceLock::new(),
            fingerprint: OnceLock::new(),
            beside: OnceLock::new(),
        })
    }

    /// The width of the logits: tokens and padding.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many tokens there are, without padding.
    #[must_use]
    pub fn token_count(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a token; empty for padding and unknown ids.
    #[must_use]
    pub fn token(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else {
            return &[];
        };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start..end]
    }

    /// Whether the token never matches text.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.special.get(id as usize).copied().unwrap_or(false)
    }

    /// The ids that end the turn, ascending.
    #[must_use]
    pub fn eos_ids(&self) -> &[u32] {
        &self.eos
    }

    /// Whether the token ends the turn.
    #[must_use]
    pub fn is_eos(&self, id: u32) -> bool {
        self.eos.binary_search(&id).is_ok()
    }

    /// The special, added or user-defined tokens of exactly this text; empty where there is none.
    #[must_use]
    pub fn marker_tokens(&self, text: &[u8]) -> &[u32] {
        self.markers.get(text).map_or(&[], Vec::as_slice)
    }

    /// A marker as the vocabulary writes it, see [`markers::pieces`].
    pub(crate) fn marker_pieces<'a>(&'a self, text: &'a str) -> Vec<MarkerPiece<'a>> {
        let is_token = |part: &str| self.markers.contains_key(part.as_bytes());
        let pieces = markers::pieces(text, self.longest_marker, is_token).into_iter();
        pieces
            .map(|piece| match piece {
                markers::Piece::Token(part) => {
                    MarkerPiece::Tokens(self.marker_tokens(part.as_bytes()))
                }
                markers::Piece::Text(part) => MarkerPiece::Text(part.as_bytes()),
            })
            .collect()
    }

    /// The same for the same vocabulary in every process.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        *self.fingerprint.get_or_init(|| {
            let mut fingerprint = Fingerprint::new();
            fingerprint.word(self.size as u64);
            fingerprint.bytes(&self.bytes);
            let kinds = self.special.iter().zip(&self.named);
            for (&end, (&special, &named)) in self.ends.iter().zip(kinds) {
                fingerprint.word((end as u64) << 2 | u64::from(special) << 1 | u64::from(named));
            }
            for &eos in &self.eos {
                fingerprint.word(u64::from(eos));
            }
            fingerprint.finish()
        })
    }

    /// Approximate bytes of memory.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * (size_of::<usize>() + 2) + self.trie.memory_bytes()
    }

    /// Whether a token symbol may name the token: it has bytes, or it is special or added.
    pub(crate) fn is_usable(&self, id: u32) -> bool {
        self.named.get(id as usize).copied().unwrap_or(false) || !self.token(id).is_empty()
    }

    pub(crate) fn trie(&self) -> &Trie {
        &self.trie
    }

    /// The bitmask row of all tokens that text may match.
    pub(crate) fn text_row(&self) -> &[i32] {
        &self.text_row
    }

    /// The bytes of the token where text may match it.
    pub(crate) fn text(&self, id: u32) -> Option<&[u8]> {
        let token = self.token(id);
        (!token.is_empty() && !self.is_special(id)).then_some(token)
    }

    /// Plain tokens and the others.
    pub(crate) fn plain(&self) -> &Plain {
        let words = bitmask_words(self.size);
        let make = || Plain::new(&self.trie, |id| self.token(id), words);
        self.plain.get_or_init(make)
    }

    /// What is kept beside the vocabulary, for as long as that lives, and whether it is new. All who ask, ask for the same
    /// type.
    pub(crate) fn beside<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> (Arc<T>, bool) {
        let mut new = false;
        let kept = self.beside.get_or_init(|| {
            new = true;
            Arc::new(make())
        });
        match Arc::clone(kept).downcast() {
            Ok(kept) => (kept, new),
            Err(_) => (Arc::new(make()), true),
        }
    }

    pub(crate) fn check_id(&self, id: u32) -> Result<(), Error> {
        if (id as usize) < self.size {
            return Ok(());
        }
        Err(Error::argument(
            "E-TOKEN-ID",
            format!("there is no token {id}: there are {}, from 0 on", self.size),
        ))
    }
}
