//! The grammar as it was meant ([`Grammar`]), what is regular in it ([`Regex`]), and its normal form ([`Lnf`]).

mod emptiness;
mod facts;
mod grammar;
pub mod lnf;
mod parts;
mod regex;
pub mod text;

pub(crate) use emptiness::Matching;
pub use grammar::{Expr, ExprId, Grammar, GrammarBuilder, Report, Rule, RuleId, Status, TokenSet};
pub use lnf::{Lnf, NonterminalId, Production, Symbol, SymbolTable};
pub use parts::Parts;
pub use regex::{ByteSet, Regex};
