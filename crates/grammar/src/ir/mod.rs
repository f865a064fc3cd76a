//! The grammar as it was written ([`Grammar`]), what is regular in it ([`Regex`]), and its normal form ([`Lnf`]).
//!
//! | module | what it computes |
//! |---|---|
//! | `byte_set`, `regex`, `text` | regular languages over bytes |
//! | `derive` → `automaton` → `empty_regex` | derivatives, deterministic automata, emptiness of regular languages |
//! | `grammar`, `encode`, `decode`, `contents`, `escapes` | grammars, as bytes, what stands in them, with escapes |
//! | `scc`, `nodes` → `validate`, `emptiness` | graphs over expressions; mistakes; emptiness of grammars |
//! | `lnf` | the normal form |

pub(crate) mod automaton;
mod byte_set;
mod contents;
mod decode;
mod derive;
mod emptiness;
mod empty_regex;
mod encode;
mod escapes;
mod grammar;
mod identity;
pub mod lnf;
mod nodes;
mod regex;
mod scc;
pub mod text;
mod validate;

#[cfg(test)]
mod tests;

pub use byte_set::ByteSet;
pub use contents::Exclusion;
pub(crate) use derive::Matcher;
pub(crate) use emptiness::{Matching, is_doubtful, is_visibly_nothing};
pub(crate) use empty_regex::EmptinessChecks;
pub use escapes::Escapes;
pub use grammar::{
    Expr, ExprId, ExprIds, Grammar, GrammarBuilder, Report, Rule, RuleId, Status, TokenSet,
    other_ids,
};
pub use identity::Identity;
pub use lnf::{Lnf, NonterminalId, Production, Symbol, SymbolTable};
pub use regex::{Parts, Regex};
pub(crate) use validate::Productive;
