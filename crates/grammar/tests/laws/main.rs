//! The laws of this crate, in one binary: it is linked once. What needs a process or an allocator of its own is beside it.
#![allow(missing_docs)]

mod costly;
mod deep;
mod ebnf;
mod ebnf_refused;
mod encoded;
mod gbnf;
mod json;
mod json_schema;
mod json_schema_combined;
mod json_schema_refused;
mod lark;
mod lnf_language;
mod look_around;
mod reference;
mod refusals;
mod regex;
mod shapes;
mod xgrammar;
