//! Token masks, remembered per state.
//!
//! * `walk` finds the tokens by one walk over the vocabulary, terminal by terminal where others have better ways; it has
//!   the layout that people hand to a sampler, too;
//! * `lazy_dfa` runs one terminal alone, and finds bytes that never lead to its dead state;
//! * `scan` reads the vocabulary by one terminal, from the place where it begins, behind whitespace or not;
//! * `classification` is what comes of that: the tokens, and where tokens leave the terminal;
//! * `shared` keeps it for all grammars of the vocabulary, and makes masks small;
//! * `terminals` is what one grammar knows of its terminals by way of these: also of those that are others but for some
//!   words, and of tokens that leave a terminal where it could have gone on;
//! * `compose` puts masks together from that;
//! * `known` stores them by state, so that other readers need not compute them again, and finds states whose masks are
//!   the same.

mod classification;
mod compose;
mod known;
mod lazy_dfa;
mod scan;
mod shared;
mod terminals;
mod walk;

pub(crate) use compose::Composer;
pub(crate) use known::{Known, StackSuffixes};
pub(crate) use shared::Shared;
pub use walk::MaskRow;
pub(crate) use walk::{Mask, Step, allow, is_allowed, walked_row};
