//! The normal form: flat productions over numbered symbols, as the engine wants them.
//!
//! What holds of an [`Lnf`]:
//! * every nonterminal has at least one production, can be reached from the start and is productive in the
//!   greatest-fix-point sense (`B ::= 'a' B` stays);
//! * no group, option or repetition is left: they became nonterminals; unbounded repetitions are left-recursive;
//! * a terminal regex that matches the empty string has an empty production beside it, so the engine may take every
//!   terminal as matching one byte or more;
//! * nonterminals may be nullable; the engine advances over them when it predicts.

use std::sync::Arc;

use super::grammar::TokenSet;
use super::regex::Regex;

/// A nonterminal of an [`Lnf`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NonterminalId(pub u32);

/// A symbol on the right-hand side; the numbers index the tables of [`SymbolTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// A nonterminal.
    Nonterminal(NonterminalId),
    /// A regular language over bytes: `SymbolTable::regexes[i]`.
    Regex(u32),
    /// A marker: `SymbolTable::markers[i]`.
    Marker(u32),
    /// A token: `SymbolTable::tokens[i]`.
    Token(u32),
}

/// What the numbers of [`Symbol`] stand for; equal values have equal numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolTable {
    /// Names of the nonterminals, for people and dumps.
    pub nonterminals: Vec<Arc<str>>,
    /// Regular languages.
    pub regexes: Vec<Regex>,
    /// Markers.
    pub markers: Vec<Arc<str>>,
    /// Tokens.
    pub tokens: Vec<TokenSet>,
}

/// `lhs ::= rhs`; an empty right-hand side is the empty string.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Production {
    /// The left-hand side.
    pub lhs: NonterminalId,
    /// The right-hand side.
    pub rhs: Vec<Symbol>,
}

/// A grammar in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lnf {
    /// What the symbols stand for.
    pub symbols: SymbolTable,
    /// All productions, sorted by left-hand side.
    pub productions: Vec<Production>,
    /// Where to start.
    pub start: NonterminalId,
}
