//! Where a terminal begins to read tokens.

use std::ops::Range;
use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::runs::Runs;
use super::shared::Shared;
use crate::automaton::{RegexId, Residuals};
use crate::vocabulary::Trie;

/// A place in the vocabulary's trie, or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// In front of every token.
    Root,
    /// Behind a node.
    Behind(u32),
    /// Behind every run of these bytes, if none of them comes next.
    Runs(ByteSet),
    /// Behind every run of up to so many of these bytes, and in front of every token.
    Lead(ByteSet, u32),
}

/// One in so many nodes is behind the first byte of a terminal that begins with few.
const LEADING: usize = 64;

impl Place {
    /// How many nodes there are at most.
    pub(super) fn size(self, trie: &Trie) -> usize {
        match self {
            Self::Root | Self::Runs(_) => trie.nodes().len(),
            // A terminal that something leads is read at few nodes: it begins with few bytes.
            Self::Lead(..) => trie.nodes().len() / LEADING,
            Self::Behind(node) => (trie.nodes()[node as usize].next - node) as usize,
        }
    }
}

/// How a scan of a residual begins at a place.
pub(super) struct Front {
    /// Runs of bytes that lead, and how many.
    lead: Option<(Arc<Runs>, u32)>,
    /// What is behind them.
    pub(super) rest: RegexId,
    /// What of the trie the rest may read.
    pub(super) parts: Vec<Range<usize>>,
}

impl Front {
    /// At the root, bytes that lead are not part of any end, so what is behind them can be read by the rest alone.
    pub(super) fn new(
        place: Place,
        residual: RegexId,
        residuals: &Residuals,
        trie: &Trie,
        shared: &Shared,
    ) -> Self {
        let mut front = Self {
            lead: None,
            rest: residual,
            parts: Vec::new(),
        };
        match place {
            Place::Root => {
                let (set, most, rest) = residuals.lead(residual);
                let runs = shared.runs(trie, &set);
                let first = residuals.first(rest);
                front.parts = runs.branches(most, &first);
                front.rest = rest;
                front.lead = Some((runs, most));
            }
            Place::Behind(node) => {
                let next = trie.nodes()[node as usize].next;
                front.parts.push(node as usize + 1..next as usize);
            }
            Place::Runs(set) => {
                let runs = shared.runs(trie, &set);
                let first = residuals.first(residual);
                front.parts = runs.behind(&first);
            }
            Place::Lead(set, most) => {
                let runs = shared.runs(trie, &set);
                let first = residuals.first(residual);
                front.parts = runs.branches(most, &first);
            }
        }
        front
    }

    /// Tokens that are nothing but bytes that lead.
    pub(super) fn leading(&self) -> impl Iterator<Item = u32> + Clone {
        let lead = self.lead.iter();
        lead.flat_map(|(runs, most)| runs.tokens(*most))
    }
}
