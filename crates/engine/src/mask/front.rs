//! How a terminal begins to read at an anchor.

use std::ops::Range;
use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::anchor::Anchor;
use super::runs::Runs;
use crate::automaton::{ExprId, Residuals};
use crate::vocabulary::Trie;

/// How a scan of a residual begins at an anchor.
pub(super) struct Front {
    /// Runs of bytes that lead, and how many.
    lead: Option<(Arc<Runs>, u32)>,
    /// What is behind them.
    pub(super) rest: ExprId,
    /// What of the trie the rest may read.
    pub(super) parts: Vec<Range<usize>>,
}

impl Front {
    /// `runs_of` has the runs of a set of bytes in the trie. At the root, bytes that lead are not part of any end, so what is behind them can be read by the rest alone.
    pub(super) fn new(
        anchor: Anchor,
        residual: ExprId,
        residuals: &Residuals,
        trie: &Trie,
        runs_of: impl Fn(&ByteSet) -> Arc<Runs>,
    ) -> Self {
        let mut front = Self {
            lead: None,
            rest: residual,
            parts: Vec::new(),
        };
        match anchor {
            Anchor::Root => {
                let (set, most, rest) = residuals.lead(residual);
                let runs = runs_of(&set);
                let first = residuals.first(rest);
                front.parts = runs.branches(most, &first);
                front.rest = rest;
                front.lead = Some((runs, most));
            }
            Anchor::Behind(node) => {
                let next = trie.nodes()[node as usize].next;
                front.parts.push(node as usize + 1..next as usize);
            }
            Anchor::Runs(set) => {
                let runs = runs_of(&set);
                let first = residuals.first(residual);
                front.parts = runs.behind(&first);
            }
            Anchor::Lead(set, most) => {
                let runs = runs_of(&set);
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
