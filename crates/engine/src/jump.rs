//! Jumping ahead by tokens: text that must come next, as tokens that later text cannot regroup.
//!
//! Let `T` be the text that must come next and `X` whatever follows it. Wanted are tokens that begin the tokenisation of
//! `T X` for every `X`. A tokenizer cuts text into pieces and the pieces into tokens, and two things hold of those in use:
//!
//! * **Prefixes.** Where the tokens of a piece `w` have a border at `c`, the tokens of `w[..c]` are those before it.
//!   (Merges by rank: no merge ever crosses a border that is left at the end, so what happens on its left does not depend
//!   on what is on its right. Best paths: their beginnings are best paths. Longest matches: plain.)
//! * **Pieces.** Where a piece ends depends on the run of like characters in which it ends and on one character more, or
//!   three where an apostrophe follows. Cutting text behind these leaves the pieces before the cut as they are, and the
//!   beginning of the piece that is cut as the last one.
//!
//! A token that reaches over the end of `T` begins with an end of `T`, at `open` or later. So the tokens of `T X` have
//! their last border within `T` at some `c` from `open` on, at the end of `T` or where a token begins with `T[c..]`; and
//! up to `settled`, which lies before `open` by what the second property asks for, they are the tokens of `T[..c]`. What
//! all these `T[..c]` have in common up to `settled` is therefore certain.

use crate::error::Error;
use crate::matcher::GrammarMatcher;
use crate::vocabulary::{Trie, Vocabulary};

/// Tokens that must come next whatever follows them; `tokenize` is the model's own tokenizer, without anything added. The
/// place where the matcher is counts as a border of tokens. The matcher does not move.
///
/// Errors: those of `tokenize`, and the matcher's own.
pub fn jump_forward_tokens<E: From<Error>>(
    matcher: &GrammarMatcher,
    mut tokenize: impl FnMut(&str) -> Result<Vec<u32>, E>,
) -> Result<Vec<u32>, E> {
    let bytes = matcher.find_jump_forward_bytes()?;
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let vocabulary = &**matcher.compiled().vocabulary();
    let (text, open) = with_plain_end(valid, vocabulary.trie());
    let settled = settled(text, open);
    if settled == 0 {
        return Ok(Vec::new());
    }
    let mut common: Option<Vec<u32>> = None;
    for cut in open..=text.len() {
        if cut < text.len() && !goes_on(vocabulary.trie(), &text.as_bytes()[cut..]) {
            continue;
        }
        let ids = tokenize(&text[..cut])?;
        let common = common.get_or_insert_with(|| ids.clone());
        let same = common.iter().zip(&ids).take_while(|(a, b)| a == b).count();
        common.truncate(same);
    }
    let mut ids = common.unwrap_or_default();
    ids.truncate(spelling(vocabulary, &ids, &text.as_bytes()[..settled]));
    ids.truncate(matcher.validate_tokens(&ids)?);
    Ok(ids)
}

/// The text without its end as long as tokens that reach over the end may begin inside of a character of several bytes,
/// where no text can be cut; and the first place where such a token may begin.
fn with_plain_end<'a>(mut text: &'a str, trie: &Trie) -> (&'a str, usize) {
    loop {
        let bytes = text.as_bytes();
        let open = (bytes.len().saturating_sub(trie.longest())..bytes.len())
            .find(|&from| goes_on(trie, &bytes[from..]))
            .unwrap_or(bytes.len());
        let Some(wide) = bytes[open..].iter().position(|byte| !byte.is_ascii()) else {
            return (text, open);
        };
        let mut end = open + wide;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text = &text[..end];
    }
}

/// Whether some token begins with these bytes and goes on.
fn goes_on(trie: &Trie, bytes: &[u8]) -> bool {
    let mut node = None;
    for &byte in bytes {
        node = trie.child(node, byte);
        if node.is_none() {
            return false;
        }
    }
    node.is_some_and(|node| trie.nodes()[node].next as usize > node + 1)
}

/// The last place up to which nothing at or behind `open` decides how the text is cut into pieces.
fn settled(text: &str, open: usize) -> usize {
    let bytes = text.as_bytes();
    (1..open)
        .rev()
        .find(|&at| {
            let seen = if bytes[at] == b'\'' { 3 } else { 1 };
            kind(bytes[at - 1])
                .zip(kind(bytes[at]))
                .is_some_and(|(a, b)| a != b)
                && at + seen <= open
        })
        .unwrap_or(0)
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
