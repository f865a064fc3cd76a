//! Grammar text printed from the IR.

mod ebnf;
mod gbnf;
mod names;
mod regex;

pub use ebnf::to_ebnf;
pub use gbnf::{Gbnf, to_gbnf};
pub use regex::regex;
pub(crate) use regex::{marker, token};
