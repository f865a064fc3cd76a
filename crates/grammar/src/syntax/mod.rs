//! Source languages; each folder lowers to [`crate::ir::Grammar`] and none imports another, save that [`regex`] reads the
//! patterns inside the others and [`lark`] embeds JSON Schemas. `rules` is what the languages of rules share.

pub mod ebnf;
pub mod gbnf;
pub mod json_schema;
pub mod lark;
pub mod regex;
mod rules;
pub mod xgrammar;
