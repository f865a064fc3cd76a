//! Grammar text printed from the IR.

mod ebnf;
mod gbnf;
mod lark;
mod measure;
mod names;
mod regex;
mod rules;
mod specials;

pub use ebnf::to_ebnf;
pub use gbnf::{Gbnf, to_gbnf};
pub use lark::to_lark;
pub(crate) use regex::marker;
pub use regex::{regex, token};
