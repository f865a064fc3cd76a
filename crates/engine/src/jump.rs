//! Jumping ahead by tokens: text that must come next, as tokens that later text cannot regroup.

use crate::error::Error;
use crate::matcher::GrammarMatcher;

/// How many of the leading `ids` stay as they are whatever text follows them.
///
/// `ids` tokenise text that must come next. A token is kept if no token of the vocabulary could begin at or before its
/// end and reach beyond the text: the longest end of the text that some longer token begins with is left open, and
/// every token that touches it. Tokens that the matcher refuses end the list, too.
pub fn stable_tokens(matcher: &GrammarMatcher, ids: &[u32]) -> Result<usize, Error> {
    let vocabulary = matcher.compiled().vocabulary();
    let text: Vec<u8> = ids
        .iter()
        .flat_map(|&id| vocabulary.token(id).iter().copied())
        .collect();
    let trie = vocabulary.trie();
    // Whether some token begins with these bytes and goes on.
    let goes_on = |bytes: &[u8]| {
        let mut node = None;
        for &byte in bytes {
            node = trie.child(node, byte);
            if node.is_none() {
                return false;
            }
        }
        node.is_some_and(|node| trie.nodes()[node].next as usize > node + 1)
    };
    let reach = text.len().saturating_sub(trie.longest());
    let open = (reach..text.len())
        .find(|&from| goes_on(&text[from..]))
        .unwrap_or(text.len());
    let mut end = 0;
    let closed = ids
        .iter()
        .take_while(|&&id| {
            end += vocabulary.token(id).len();
            end <= open
        })
        .count();
    Ok(closed.min(matcher.validate_tokens(&ids[..closed])?))
}
