//! Token masks, remembered per state.
//!
//! * `row` is the layout that people hand to a sampler;
//! * `walk` computes a mask from nothing but the grammar: slow, and the judge of everything else;
//! * `lane` runs one terminal alone, `safe` says what it reads without dying, `inside` says what it does to the whole vocabulary, `runs` deals with blanks
//!   before it, `shared` keeps all that for all grammars of the vocabulary;
//! * `compose` puts masks together from that;
//! * `memo` keeps masks, small where few tokens are allowed or most of them are a terminal's.

mod compose;
mod inside;
mod lane;
mod memo;
mod row;
mod runs;
mod safe;
mod shared;
mod walk;

pub(crate) use compose::Composer;
pub(crate) use memo::{Mask, Memo, Step};
pub(crate) use row::allow;
pub(crate) use shared::Shared;
pub(crate) use walk::plain_row;
