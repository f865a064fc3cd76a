//! The grammar as it was meant ([`Grammar`]), what is regular in it ([`Regex`]), and its normal form ([`Lnf`]).

pub(crate) mod automaton;
mod byte_set;
mod circles;
mod contents;
mod decode;
mod emptiness;
mod encode;
mod grammar;
pub mod lnf;
mod nodes;
mod regex;
mod spelled;
pub mod text;
mod validate;

pub use byte_set::ByteSet;
pub use contents::Exclusion;
pub(crate) use emptiness::{Matching, is_doubtful, is_visibly_nothing};
pub use grammar::{
    Expr, ExprId, ExprIds, Grammar, GrammarBuilder, Report, Rule, RuleId, Status, TokenSet,
    other_ids,
};
pub use lnf::{Lnf, NonterminalId, Production, Symbol, SymbolTable};
pub use regex::{Parts, Regex};
pub use spelled::Escapes;
pub(crate) use validate::Productive;
