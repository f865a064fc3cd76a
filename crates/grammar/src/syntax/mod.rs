//! Source languages; each folder lowers to [`crate::ir::Grammar`] and none imports another, save that [`regex`] reads the
//! patterns inside the others.

pub mod ebnf;
pub mod json_schema;
pub mod regex;
