//! Mid-terminal accepts: tokens that leave a terminal where it could also have gone on.
//!
//! Behind `x`, the token `yor(` may be the end of a name, the word `or` and a bracket, though `yor` could be the end of the
//! name as well. Where what follows may begin with a byte on which the terminal goes on, each place of such a byte is one
//! at which a token may leave. Tokens that stay inside to their end are allowed anyway; of the others, what is behind these
//! places makes a trie of its own, one for each byte; what cannot follow because of its second byte is left out.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::anchor::Anchor;
use super::classification::Classification;
use super::exits::{MidAccept, RestTrie};
use super::front::Front;
use super::lazy_dfa::{DfaState, Reads};
use super::scan::Scan;
use crate::automaton::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning;
use crate::vocabulary::{Trie, Vocabulary};

/// The bytes of some.
fn bytes_of(accepts: &[MidAccept]) -> ByteSet {
    accepts.iter().fold(ByteSet::EMPTY, |mut bytes, accept| {
        bytes.insert(accept.byte);
        bytes
    })
}

/// The rests of tokens from one kind of mid-terminal accept on.
type RestsBehind<'a> = (MidAccept, Vec<(u32, &'a [u8])>);

/// Rests of tokens, by their first bytes.
struct Rests<'a> {
    /// By first byte: an index into the lists.
    list: [u8; 256],
    lists: Vec<RestsBehind<'a>>,
}

impl<'a> Rests<'a> {
    fn new(accepts: &[MidAccept]) -> Self {
        let mut rests = Self {
            list: [0; 256],
            lists: Vec::with_capacity(accepts.len()),
        };
        for &accept in accepts {
            rests.list[usize::from(accept.byte)] = rests.lists.len() as u8;
            rests.lists.push((accept, Vec::new()));
        }
        rests
    }

    /// Whether a text is one of these, as far as its first bytes tell. The first is a byte at which tokens may leave.
    fn may_have(&self, text: &[u8]) -> bool {
        let (accept, _) = &self.lists[usize::from(self.list[usize::from(text[0])])];
        text.get(1).is_none_or(|&byte| accept.then.contains(byte))
    }

    /// Adds the rest of a token from a place on, if it may be one.
    fn add(&mut self, id: u32, rest: &'a [u8]) {
        if self.may_have(rest) {
            let (_, rests) = &mut self.lists[usize::from(self.list[usize::from(rest[0])])];
            if rests.len() <= tuning::RESTS {
                rests.push((id, rest));
            }
        }
    }

    fn rest_tries(self) -> Vec<(MidAccept, RestTrie)> {
        let rest_trie = |(accept, rests): RestsBehind<'_>| {
            let few = rests.len() <= tuning::RESTS;
            let trie = few.then(|| Arc::new(Trie::new(rests.into_iter())));
            (accept, RestTrie(trie))
        };
        self.lists.into_iter().map(rest_trie).collect()
    }
}

/// The places of some bytes where the terminal might have ended behind every byte: all that is needed are the exits. None
/// where that is not so.
pub(super) fn from_exits(
    classification: &Classification,
    (anchor, accepts): (Anchor, &[MidAccept]),
    vocabulary: &Vocabulary,
    fuel: &mut Fuel,
) -> Result<Option<Vec<(MidAccept, RestTrie)>>, Error> {
    if !classification.ends_anywhere {
        return Ok(None);
    }
    let trie = vocabulary.trie();
    let nodes = trie.nodes();
    let bytes = bytes_of(accepts);
    let mut rests = Rests::new(accepts);
    let mut places: Vec<usize> = Vec::new();
    for exit in classification.exits.all() {
        let leaving = trie.before(exit) as usize..trie.before(nodes[exit].next as usize) as usize;
        let leaving = &trie.order()[leaving];
        let read = vocabulary.token(leaving[0]);
        let read = &read[..usize::from(nodes[exit].depth) - 1];
        let start = match anchor {
            Anchor::Root => 0,
            Anchor::Behind(node) => usize::from(nodes[node as usize].depth),
            Anchor::Runs(set) | Anchor::Lead(set, _) => {
                read.iter().take_while(|&&byte| set.contains(byte)).count()
            }
        };
        places.clear();
        let may_leave = |&at: &usize| bytes.contains(read[at]) && rests.may_have(&read[at..]);
        places.extend((start + 1..read.len()).filter(may_leave));
        fuel.spend(1 + leaving.len() * places.len())?;
        for &id in leaving {
            for &place in &places {
                rests.add(id, &vocabulary.token(id)[place..]);
            }
        }
    }
    Ok(Some(rests.rest_tries()))
}

impl Scan {
    /// Finds the places of some bytes, in the vocabulary as far as `front` reads it.
    pub(super) fn rest_tries(
        &mut self,
        owner: u32,
        (front, accepts): (Front, &[MidAccept]),
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Vec<(MidAccept, RestTrie)>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self { dfa, path, .. } = self;
        residuals.set_owner(owner);
        dfa.clear();
        path.clear();
        path.resize(trie.longest() + 1, DfaState::DEAD);
        let start = dfa.start(front.rest, residuals);
        let bytes = bytes_of(accepts);
        let mut rests = Rests::new(accepts);
        // The places on the way, by how many bytes are before and including them.
        let mut places: Vec<usize> = Vec::new();
        let mut visited = 0;
        for part in front.parts {
            path[usize::from(nodes[part.start].depth) - 1] = start;
            let mut at = part.start;
            while at < part.end {
                let node = nodes[at];
                let depth = usize::from(node.depth);
                let before = path[depth - 1];
                visited += 1;
                dfa.looking = true;
                while places.last().is_some_and(|&place| place >= depth) {
                    places.pop();
                }
                let rest = dfa.step(before, node.byte, residuals, fuel)?;
                let next = node.next as usize;
                if rest == DfaState::DEAD {
                    if !places.is_empty() {
                        let leaving = trie.before(at) as usize..trie.before(next) as usize;
                        fuel.spend(leaving.len() * places.len())?;
                        for &id in &trie.order()[leaving] {
                            let token = vocabulary.token(id);
                            for &place in &places {
                                rests.add(id, &token[place - 1..]);
                            }
                        }
                    }
                    at = next;
                    continue;
                }
                if before.ends() && bytes.contains(node.byte) {
                    places.push(depth);
                }
                if let Some(below) = trie.below(at) {
                    let skipped = match dfa.reads(rest, below, residuals, fuel)? {
                        Reads::All { .. } => true,
                        // It does not end within, so only what was met before counts.
                        Reads::UpTo(_) | Reads::Without(_) => places.is_empty(),
                        Reads::Unknown => false,
                    };
                    if skipped {
                        at = next;
                        continue;
                    }
                }
                path[depth] = rest;
                at += 1;
            }
            places.clear();
        }
        fuel.spend(visited)?;
        Ok(rests.rest_tries())
    }
}
