//! What a residual does to the vocabulary that is another one behind blanks: what the other one does, in front and behind.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::exits::Exits;
use super::inside::{Inside, Tokens};
use crate::vocabulary::Vocabulary;

/// The tokens of such a residual from those of the other, which refer to nothing else: behind every run of the blanks, and
/// at the root if there may be none. Tokens that are nothing but a run go in.
pub(super) fn led(
    known: &[Arc<Inside>],
    runs: impl Iterator<Item = u32>,
    vocabulary: &Vocabulary,
) -> Inside {
    let (mut exits, mut ids): (_, Vec<u32>) = (Vec::new(), runs.collect());
    let (mut rows, mut live) = (Vec::new(), ByteSet::EMPTY);
    for inside in known {
        match &inside.tokens {
            Tokens::Row(row) => rows.push(&**row),
            Tokens::List(more) => ids.extend_from_slice(more),
        }
        exits.extend_from_slice(inside.exits.nodes());
        live = live.union(&inside.live);
    }
    Inside {
        tokens: Tokens::of_rows(&rows, ids, vocabulary),
        live,
        exits: Arc::new(Exits::new(exits)),
        without: Box::default(),
        own_exits: Box::default(),
        ends_anywhere: false,
    }
}
