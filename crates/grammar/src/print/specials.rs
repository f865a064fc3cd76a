//! Markers as the special tokens of a vocabulary.

use std::collections::BTreeMap;

use crate::markers::{Piece, pieces};

/// The numbers of special tokens by their texts.
#[derive(Clone, Copy)]
pub(super) struct Specials<'f> {
    ids: &'f BTreeMap<String, u32>,
    longest: usize,
}

/// A part of a marker.
pub(super) enum Part<'a> {
    /// A token by number.
    Token(u32),
    /// Text.
    Text(&'a str),
}

impl<'f> Specials<'f> {
    pub(super) fn new(ids: &'f BTreeMap<String, u32>) -> Self {
        let longest = ids.keys().map(String::len).max().unwrap_or(0);
        Self { ids, longest }
    }

    /// The number of the special token of a text.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// A marker as this vocabulary writes it, at least one part.
    pub(super) fn parts<'a>(&self, text: &'a str) -> Vec<Part<'a>> {
        let parts = pieces(text, self.longest, |part| self.ids.contains_key(part));
        let mut parts: Vec<Part<'a>> = parts
            .into_iter()
            .map(|piece| match piece {
                Piece::Token(part) => self.get(part).map_or(Part::Text(part), Part::Token),
                Piece::Text(part) => Part::Text(part),
            })
            .collect();
        if parts.is_empty() {
            parts.push(Part::Text(""));
        }
        parts
    }
}
