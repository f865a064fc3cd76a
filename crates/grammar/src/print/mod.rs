//! Grammar text printed from the IR.

mod ebnf;
mod regex;

pub use ebnf::to_ebnf;
pub use regex::regex;
pub(crate) use regex::{marker, token};
