//! Grammar text printed from the IR.

mod ebnf;
mod gbnf;
mod names;
mod regex;

pub use ebnf::to_ebnf;
pub use gbnf::{Gbnf, to_gbnf};
pub(crate) use regex::marker;
pub use regex::{regex, token};
