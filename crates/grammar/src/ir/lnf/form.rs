//! What a normal form is made of.

use std::sync::Arc;

use crate::ir::grammar::TokenSet;
use crate::ir::regex::Regex;
use crate::maps::IdSet;

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
    /// Labelled parts, ascending: nonterminals that match the part and nothing else, with their labels.
    pub labels: Vec<(NonterminalId, Arc<str>)>,
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

impl Lnf {
    /// The productions of one nonterminal.
    #[must_use]
    pub fn productions_of(&self, id: NonterminalId) -> &[Production] {
        let first = self
            .productions
            .partition_point(|production| production.lhs < id);
        let after = self
            .productions
            .partition_point(|production| production.lhs <= id);
        &self.productions[first..after]
    }

    /// Whether productions are sorted, each once; every symbol stands in its table; and every nonterminal that stands
    /// somewhere has a production and a name.
    pub(super) fn is_normal(&self) -> bool {
        let lhs = |production: &Production| production.lhs;
        let used = self
            .productions
            .iter()
            .flat_map(|production| &production.rhs);
        let used = used.filter_map(|symbol| match symbol {
            Symbol::Nonterminal(id) => Some(*id),
            _ => None,
        });
        let tables = &self.symbols;
        let is_known = |symbol: &Symbol| match *symbol {
            Symbol::Nonterminal(id) => (id.0 as usize) < tables.nonterminals.len(),
            Symbol::Regex(at) => (at as usize) < tables.regexes.len(),
            Symbol::Marker(at) => (at as usize) < tables.markers.len(),
            Symbol::Token(at) => (at as usize) < tables.tokens.len(),
        };
        let mut once: IdSet<&Production> = IdSet::default();
        self.productions.is_sorted_by_key(lhs)
            && self
                .productions
                .iter()
                .all(|production| once.insert(production) && production.rhs.iter().all(is_known))
            && tables.labels.is_sorted()
            && used
                .chain([self.start])
                .all(|id| !self.productions_of(id).is_empty())
    }
}
