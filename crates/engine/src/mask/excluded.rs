//! The classification of a residual that is another one but for some words, from that of the other: hardly any token
//! differs.

use std::sync::Arc;

use super::classification::{Classification, changed};
use crate::automaton::{Exclusion, Residuals};
use crate::vocabulary::{Trie, Vocabulary};

/// The tokens of such a residual from those of the plain one, both behind a node (None: the root): of these, the ones go in
/// which a word is followed by the tail.
pub(super) fn excluded(
    known: &Arc<Classification>,
    exclusion: &Exclusion,
    start: Option<usize>,
    residuals: &Residuals,
    vocabulary: &Vocabulary,
) -> Arc<Classification> {
    let trie = vocabulary.trie();
    let first = residuals.first(exclusion.tail);
    let (mut removed, mut without) = (Vec::new(), Vec::new());
    for_ends(trie, start, &exclusion.words, |end| {
        for byte in first.iter() {
            let Some(node) = trie.child(end, byte) else {
                continue;
            };
            let next = trie.nodes()[node].next as usize;
            let tokens = trie.before(node) as usize..trie.before(next) as usize;
            let tokens = &trie.order()[tokens];
            removed.extend(tokens.iter().filter(|&&id| known.tokens.has(id)));
            if known.exits.any_in(node..next) {
                without.extend_from_slice(tokens);
            }
        }
    });
    if removed.is_empty() && without.is_empty() && !known.ends_anywhere {
        return Arc::clone(known);
    }
    without.sort_unstable();
    Arc::new(Classification {
        tokens: changed(&known.tokens, &removed, &[], vocabulary),
        live: known.live,
        exits: Arc::clone(&known.exits),
        without: without.into(),
        own_exits: Box::default(),
        ends_anywhere: false,
    })
}

/// Calls with the nodes at which sorted words end that tokens have behind a node (None: the root).
fn for_ends(
    trie: &Trie,
    start: Option<usize>,
    words: &[Vec<u8>],
    mut call: impl FnMut(Option<usize>),
) {
    // Where the word before has led, as far as there are tokens.
    let mut path: Vec<usize> = Vec::new();
    let mut before: &[u8] = &[];
    for word in words {
        let same = before.iter().zip(word).take_while(|(a, b)| a == b).count();
        path.truncate(same);
        before = word;
        while path.len() < word.len() {
            match trie.child(path.last().copied().or(start), word[path.len()]) {
                Some(node) => path.push(node),
                None => break,
            }
        }
        // A word may agree with the one before it further than tokens go.
        before = &before[..path.len()];
        if path.len() == word.len() {
            call(path.last().copied().or(start));
        }
    }
}
