//! Jumping ahead by tokens: text that must come next, as tokens that later text cannot regroup.
//!
//! Let `T` be the text that must come next and `X` whatever the grammar lets follow it. Wanted are tokens that begin the tokenisation of
//! `T X` for every `X`. A tokenizer cuts text into pieces and the pieces into tokens, and two things hold of those in use:
//!
//! * **Prefixes.** Where the tokens of a piece `w` have a border at `c`, the tokens of `w[..c]` are those before it.
//!   (Merges by rank: no merge ever crosses a border that is left at the end, so what happens on its left does not depend
//!   on what is on its right. Best paths: their beginnings are best paths. Longest matches: plain.)
//! * **Pieces.** Where a piece ends depends on the run of like characters in which it ends and, for blanks and digits, on
//!   one character more, or three where an apostrophe follows. Cutting text behind these leaves the pieces before the cut
//!   as they are, and the beginning of the piece that is cut as the last one.
//!
//! A token that reaches over the end of `T` begins with an end of `T`, at `open` or later. So the tokens of `T X` have
//! their last border within `T` at some `c` from `open` on, at the end of `T` or where a token begins with `T[c..]`; and
//! up to `settled`, which lies before `open` by what the second property asks for, they are the tokens of `T[..c]`. What
//! all these `T[..c]` have in common up to `settled` is therefore certain.

use syntagma_grammar::ir::ByteSet;

use crate::error::Error;
use crate::matcher::GrammarMatcher;
use crate::vocabulary::{Trie, Vocabulary};

/// Text that must come next, with the beginnings of it that may end a token. A tokenizer is asked between
/// [`new`](Self::new) and [`tokens`](Self::tokens), so that whoever calls it may hold what these two must not wait for.
#[derive(Debug)]
pub struct Jump {
    text: String,
    /// Up to here its tokens are certain.
    settled: usize,
    cuts: Vec<usize>,
}

impl Jump {
    /// What must come next for a matcher, which does not move. The place where it is counts as a border of tokens.
    ///
    /// Errors: those of [`GrammarMatcher::find_jump_forward_bytes`].
    pub fn new(matcher: &GrammarMatcher) -> Result<Self, Error> {
        let mut bytes = matcher.find_jump_forward_bytes()?;
        if let Err(error) = std::str::from_utf8(&bytes) {
            bytes.truncate(error.valid_up_to());
        }
        let mut text = String::from_utf8(bytes).unwrap_or_default();
        let mut jump = Self {
            text: String::new(),
            settled: 0,
            cuts: Vec::new(),
        };
        if text.is_empty() {
            return Ok(jump);
        }
        let mut behind = matcher.fork();
        behind.accept_bytes(text.as_bytes())?;
        let trie = matcher.compiled().vocabulary().trie();
        let (plain, next, open) = with_plain_end(&text, behind.next_bytes()?, trie);
        let length = plain.len();
        jump.settled = settled(plain, &next, open);
        if jump.settled > 0 {
            let ends =
                |&cut: &usize| cut == length || goes_on(trie, &plain.as_bytes()[cut..], &next);
            jump.cuts = (open..=length).filter(ends).collect();
            text.truncate(length);
            jump.text = text;
        }
        Ok(jump)
    }

    /// The texts whose tokens are asked for: as the model's own tokenizer has them, without anything added.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.cuts.iter().map(|&cut| &self.text[..cut])
    }

    /// Tokens that must come next whatever follows them, given those of each of the [`texts`](Self::texts).
    ///
    /// Errors: those of [`GrammarMatcher::validate_tokens`].
    pub fn tokens(
        &self,
        matcher: &GrammarMatcher,
        of_texts: &[Vec<u32>],
    ) -> Result<Vec<u32>, Error> {
        let Some((first, others)) = of_texts.split_first() else {
            return Ok(Vec::new());
        };
        let common = others.iter().fold(first.len(), |most, ids| {
            let pairs = first[..most].iter().zip(ids);
            pairs.take_while(|(a, b)| a == b).count()
        });
        let vocabulary = matcher.compiled().vocabulary();
        let mut ids = first[..common].to_vec();
        ids.truncate(spelling(
            vocabulary,
            &ids,
            &self.text.as_bytes()[..self.settled],
        ));
        ids.truncate(matcher.validate_tokens(&ids)?);
        Ok(ids)
    }
}

/// The text without its end as long as tokens that reach over the end may begin inside of a character of several bytes,
/// where no text can be cut; the bytes that may follow it; and the first place where such a token may begin.
fn with_plain_end<'a>(
    mut text: &'a str,
    mut next: ByteSet,
    trie: &Trie,
) -> (&'a str, ByteSet, usize) {
    loop {
        let bytes = text.as_bytes();
        let open = (bytes.len().saturating_sub(trie.longest())..bytes.len())
            .find(|&from| goes_on(trie, &bytes[from..], &next))
            .unwrap_or(bytes.len());
        let Some(wide) = bytes[open..].iter().position(|byte| !byte.is_ascii()) else {
            return (text, next, open);
        };
        let mut end = open + wide;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        next = ByteSet::byte(bytes[end]);
        text = &text[..end];
    }
}

/// Whether some token begins with these bytes and goes on with one of the next.
fn goes_on(trie: &Trie, bytes: &[u8], next: &ByteSet) -> bool {
    let mut node = None;
    for &byte in bytes {
        node = trie.child(node, byte);
        if node.is_none() {
            return false;
        }
    }
    node.is_some_and(|node| {
        trie.nodes()[node].next as usize > node + 1
            && (0..=255).any(|byte| next.contains(byte) && trie.child(Some(node), byte).is_some())
    })
}

/// The last place up to which nothing at or behind `open` decides how the text is cut into pieces.
fn settled(text: &str, next: &ByteSet, open: usize) -> usize {
    let bytes = text.as_bytes();
    let Some(&last) = bytes.last() else {
        return 0;
    };
    // The end of the text is such a place if unlike characters follow, or none; some special tokens take blanks along.
    let ends = open == bytes.len()
        && kind(last) != Some(0)
        && (0..=255)
            .filter(|&byte| next.contains(byte))
            .all(|byte| unlike(last, byte) && seen(bytes, byte) == 0);
    if ends {
        return open;
    }
    (1..=open.min(bytes.len() - 1))
        .rev()
        .find(|&at| unlike(bytes[at - 1], bytes[at]) && at + seen(&bytes[..at], bytes[at]) <= open)
        .unwrap_or(0)
}

/// Whether two bytes are of known and different kinds.
fn unlike(a: u8, b: u8) -> bool {
    kind(a).zip(kind(b)).is_some_and(|(a, b)| a != b)
}

/// How many characters behind a text, the first of them given, may decide where its last piece ends.
fn seen(text: &[u8], first: u8) -> usize {
    let contraction = text[text.len().saturating_sub(3)..].contains(&b'\'');
    match (first, text.last().and_then(|&last| kind(last))) {
        (b'\'', _) => 3,
        (_, Some(1 | 3)) if !contraction => 0,
        _ => 1,
    }
}

/// Like characters: blanks, letters, digits, others. Characters beyond ASCII go with whatever is beside them.
fn kind(byte: u8) -> Option<u8> {
    match byte {
        b'\t'..=b'\r' | b' ' => Some(0),
        b'a'..=b'z' | b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => byte.is_ascii().then_some(3),
    }
}

/// How many of the tokens spell the beginning of the text.
fn spelling(vocabulary: &Vocabulary, ids: &[u32], mut text: &[u8]) -> usize {
    ids.iter()
        .take_while(|&&id| {
            let rest = vocabulary
                .text(id)
                .and_then(|token| text.strip_prefix(token));
            text = rest.unwrap_or(text);
            rest.is_some()
        })
        .count()
}
