//! The grammar between two passes: productions grouped by left-hand side, terminals interned.

use std::sync::Arc;

use smallvec::SmallVec;

use super::form::{NonterminalId, Symbol};
use crate::error::Error;
use crate::ir::grammar::TokenSet;
use crate::ir::regex::{Facts, Regex};
use crate::limits::{Fuel, Limits};
use crate::maps::{IdMap, SeededIndexSet};

/// A right-hand side; most are short.
pub(super) type Rhs = SmallVec<[Symbol; 4]>;

/// The productions of one nonterminal, by their right-hand sides; most have one or two.
pub(super) type Rules = SmallVec<[Rhs; 2]>;

/// A name for people: that of a rule, and what the nonterminal is of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    rule: Option<Arc<str>>,
    part: bool,
    count: bool,
    optional: bool,
}

impl Name {
    /// The rule itself.
    pub(super) fn of(rule: &Arc<str>) -> Self {
        Self {
            rule: Some(Arc::clone(rule)),
            ..Self::default()
        }
    }

    /// A part of it; parts of parts are parts.
    pub(super) fn part(&self) -> Self {
        Self {
            part: true,
            ..self.clone()
        }
    }

    /// So many of it.
    pub(super) fn count(&self) -> Self {
        Self {
            count: true,
            ..self.clone()
        }
    }

    /// It or nothing.
    pub(super) fn optional(&self) -> Self {
        Self {
            optional: true,
            ..self.clone()
        }
    }

    /// The name as it is shown.
    pub(super) fn text(&self) -> Arc<str> {
        let rule = self.rule.clone().unwrap_or_default();
        let mut text = String::new();
        for (mark, is) in [("'", self.part), ("#", self.count), ("?", self.optional)] {
            if is {
                text.push_str(mark);
            }
        }
        if text.is_empty() {
            rule
        } else {
            format!("{rule}{text}").into()
        }
    }
}

type Interner<T> = SeededIndexSet<T>;

/// What the passes work on. A nonterminal without productions matches nothing.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) names: Vec<Name>,
    pub(super) rules: Vec<Rules>,
    pub(super) start: NonterminalId,
    /// Nonterminals that are labelled parts: no pass takes them apart, merges them or puts their productions elsewhere.
    pub(super) labels: IdMap<NonterminalId, Arc<str>>,
    regexes: Interner<Regex>,
    facts: Vec<Facts>,
    markers: Interner<Arc<str>>,
    tokens: Interner<TokenSet>,
    fuel: Fuel,
    /// How often a pass that makes room for others has changed something.
    pub(super) changes: usize,
}

impl Draft {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            names: Vec::new(),
            rules: Vec::new(),
            start: NonterminalId(0),
            labels: IdMap::default(),
            regexes: Interner::default(),
            facts: Vec::new(),
            markers: Interner::default(),
            tokens: Interner::default(),
            changes: 0,
            fuel: Fuel::new(limits),
        }
    }

    /// Pays for `units` of work.
    pub(super) fn spend(&mut self, units: usize) -> Result<(), Error> {
        self.fuel.spend(units)
    }

    /// A fresh nonterminal without productions.
    pub(super) fn nonterminal(&mut self, name: Name) -> Result<NonterminalId, Error> {
        self.spend(1).map_err(|error| error.in_rule(&name.text()))?;
        self.names.push(name);
        self.rules.push(Rules::new());
        Ok(NonterminalId(self.rules.len() as u32 - 1))
    }

    /// Adds a production.
    pub(super) fn add(&mut self, lhs: NonterminalId, rhs: Rhs) -> Result<(), Error> {
        self.spend(1 + rhs.len())
            .map_err(|error| error.in_rule(&self.names[lhs.0 as usize].text()))?;
        self.rules[lhs.0 as usize].push(rhs);
        Ok(())
    }

    /// The symbol of a regular language.
    pub(super) fn regex(&mut self, regex: Regex) -> Symbol {
        let (index, new) = self.regexes.insert_full(regex);
        if new {
            self.facts.push(Facts::of(&self.regexes[index]));
        }
        Symbol::Regex(index as u32)
    }

    /// The symbol of a marker.
    pub(super) fn marker(&mut self, text: &Arc<str>) -> Symbol {
        Symbol::Marker(self.markers.insert_full(Arc::clone(text)).0 as u32)
    }

    /// The symbol of a token.
    pub(super) fn token(&mut self, token: &TokenSet) -> Symbol {
        Symbol::Token(self.tokens.insert_full(token.clone()).0 as u32)
    }

    /// How many regex symbols there are.
    pub(super) fn regex_count(&self) -> usize {
        self.regexes.len()
    }

    /// What a regex symbol stands for.
    pub(super) fn regex_of(&self, index: u32) -> &Regex {
        &self.regexes[index as usize]
    }

    /// What is known of a regex symbol.
    pub(super) fn facts_of(&self, index: u32) -> Facts {
        self.facts[index as usize]
    }

    /// What is known of a token symbol.
    pub(super) fn token_of(&self, index: u32) -> &TokenSet {
        &self.tokens[index as usize]
    }

    /// What a marker symbol stands for.
    pub(super) fn marker_of(&self, index: u32) -> &Arc<str> {
        &self.markers[index as usize]
    }

    /// All nonterminals.
    pub(super) fn nonterminals(&self) -> impl Iterator<Item = NonterminalId> + use<> {
        (0..self.rules.len() as u32).map(NonterminalId)
    }

    /// The productions of one nonterminal.
    pub(super) fn rules_of(&self, id: NonterminalId) -> &[Rhs] {
        &self.rules[id.0 as usize]
    }

    /// Whether a nonterminal is a labelled part.
    pub(super) fn is_labelled(&self, id: NonterminalId) -> bool {
        !self.labels.is_empty() && self.labels.contains_key(&id)
    }

    /// How often each nonterminal stands on a right-hand side; the start counts once more.
    pub(super) fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0u32; self.rules.len()];
        uses[self.start.0 as usize] = 1;
        for symbol in self.rules.iter().flatten().flatten() {
            if let Symbol::Nonterminal(id) = symbol {
                uses[id.0 as usize] += 1;
            }
        }
        uses
    }

    /// How many symbols all productions hold.
    pub(super) fn size(&self) -> usize {
        self.rules.iter().flatten().map(|rhs| rhs.len() + 1).sum()
    }
}
