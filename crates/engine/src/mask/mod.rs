//! Token masks, remembered per state.
//!
//! * `row` is the layout that people hand to a sampler;
//! * `walk` finds the tokens by one walk over the vocabulary, terminal by terminal where others have better ways;
//! * `anchor` is where in the vocabulary a terminal begins to read, `front` how;
//! * `lazy_dfa` runs one terminal alone, `closed` holds the bytes that never lead to its dead state and `closed_search` finds them;
//! * `scan` reads the vocabulary by one terminal, `runs` deals with whitespace before it;
//! * `classification` is what comes of that, `exits` where tokens leave, `shared` keeps it for all grammars of the vocabulary;
//! * `excluded` derives that from what is known of another terminal, which some words are left out of;
//! * `mid_accepts` is about tokens that leave a terminal where it could also have gone on;
//! * `terminals` is what one grammar knows of its terminals by way of these;
//! * `compose` puts masks together from that;
//! * `stack_suffixes` finds states whose masks are the same;
//! * `pool` makes masks small: where few tokens are allowed, where most of them are a terminal's, and where they are those
//!   of another mask;
//! * `answers` holds the results for one state; `known` stores them, so that other readers need not compute them again.

mod anchor;
mod answers;
mod classification;
mod closed;
mod closed_search;
mod compose;
mod excluded;
mod exits;
mod front;
mod known;
mod lazy_dfa;
mod mid_accepts;
mod pool;
mod row;
mod runs;
mod scan;
mod shared;
mod stack_suffixes;
mod terminals;
mod walk;

pub(crate) use answers::{Mask, Step};
pub(crate) use compose::Composer;
pub(crate) use known::Known;
pub use row::MaskRow;
pub(crate) use row::{allow, is_allowed};
pub(crate) use shared::Shared;
pub(crate) use stack_suffixes::StackSuffixes;
pub(crate) use walk::walked_row;
