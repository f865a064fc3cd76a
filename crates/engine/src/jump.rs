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

/// Tokens that must come next whatever follows them. The place where the matcher is counts as a border of tokens. The matcher
/// does not move. `bytes` are those that must come next ([`GrammarMatcher::find_jump_forward_bytes`]), and `tokenize` is the
/// model's own tokenizer, without anything added.
///
/// Errors: those of `tokenize`, and the matcher's own.
pub fn jump_forward_tokens<E: From<Error>>(
    matcher: &GrammarMatcher,
    bytes: &[u8],
    mut tokenize: impl FnMut(&str) -> Result<Vec<u32>, E>,
) -> Result<Vec<u32>, E> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let vocabulary = &**matcher.compiled().vocabulary();
    if valid.is_empty() {
        return Ok(Vec::new());
    }
    let mut behind = matcher.fork();
    behind.accept_bytes(valid.as_bytes())?;
    let (text, next, open) = with_plain_end(valid, behind.next_bytes()?, vocabulary.trie());
    let settled = settled(text, &next, open);
    if settled == 0 {
        return Ok(Vec::new());
    }
    let mut common: Option<Vec<u32>> = None;
    for cut in open..=text.len() {
        if cut < text.len() && !goes_on(vocabulary.trie(), &text.as_bytes()[cut..], &next) {
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
