//! Token masks: one walk over the trie, remembered per state.
//!
//! * `row` is the layout that people hand to a sampler;
//! * `walk` computes a mask;
//! * `memo` keeps masks, small where few tokens are allowed.

mod memo;
mod row;
mod walk;

pub(crate) use memo::{Mask, Memo, Step};
pub(crate) use walk::compute;
