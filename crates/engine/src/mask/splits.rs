//! Tokens that leave a terminal where it could also have gone on.
//!
//! Behind `x`, the token `yor(` may be the end of a name, the word `or` and a bracket, though `yor` could be the end of the
//! name as well. Where what follows may begin with a byte on which the terminal goes on, each place of such a byte is one
//! at which a token may leave. Tokens that stay inside to their end are allowed anyway; of the others, what is behind these
//! places makes a trie of its own, one for each byte.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::inside::Scan;
use super::lane::{Reads, Rest};
use super::place::{Front, Place};
use super::shared::Shared;
use crate::automaton::{RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{Trie, Vocabulary};

/// Places for one byte; past these, the terminal is walked.
const PLACES: usize = 32_768;

/// What tokens have behind the places at which they may leave at a byte, that byte included; None if that is too much.
#[derive(Debug, Clone)]
pub(super) struct Split(pub(super) Option<Arc<Trie>>);

impl Split {
    pub(super) fn memory_bytes(&self) -> usize {
        let trie = self.0.as_ref().map_or(0, |trie| trie.memory_bytes());
        trie + size_of::<Self>() + 64
    }
}

impl Scan {
    /// Finds the places of some bytes, in the vocabulary as far as it is at `place`.
    pub(super) fn splits(
        &mut self,
        (owner, residual): (u32, RegexId),
        place: Place,
        bytes: &ByteSet,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        shared: &Shared,
        fuel: &mut Fuel,
    ) -> Result<Vec<(u8, Split)>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self { lane, path, .. } = self;
        residuals.set_owner(owner);
        lane.clear();
        path.clear();
        path.resize(trie.longest() + 1, Rest::DEAD);
        let front = Front::new(place, residual, residuals, trie, shared);
        let start = lane.add(front.rest, false);
        let mut rests: Vec<Vec<(u32, &[u8])>> = vec![Vec::new(); 256];
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
                while places.last().is_some_and(|&place| place >= depth) {
                    places.pop();
                }
                let rest = lane.step(before, node.byte, residuals, fuel)?;
                let next = node.next as usize;
                if rest == Rest::DEAD {
                    if !places.is_empty() {
                        let leaving = trie.before(at) as usize..trie.before(next) as usize;
                        fuel.spend(leaving.len() * places.len())?;
                        for &id in &trie.order()[leaving] {
                            let token = vocabulary.token(id);
                            for &place in &places {
                                let rest = &token[place - 1..];
                                let rests = &mut rests[usize::from(rest[0])];
                                if rests.len() <= PLACES {
                                    rests.push((id, rest));
                                }
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
                    let skipped = match lane.reads(rest, below, residuals, fuel)? {
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
        let split = |byte: u8| {
            let rests = std::mem::take(&mut rests[usize::from(byte)]);
            let few = rests.len() <= PLACES;
            Split(few.then(|| Arc::new(Trie::new(rests.into_iter()))))
        };
        let found: Vec<u8> = bytes.iter().collect();
        let splits: Vec<Split> = found.iter().copied().map(split).collect();
        Ok(found.into_iter().zip(splits).collect())
    }
}
