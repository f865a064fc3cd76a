//! Rules of a grammar and of all grammars in it, with names that are unique in one text.

use std::collections::hash_map::Entry;

use crate::ir::{ExprId, Grammar, RuleId};
use crate::maps::{IdMap, SeededMap, SeededSet};

/// Names rules as they are met, and hands them out in that order.
pub(super) struct Names<'g> {
    grammars: Vec<&'g Grammar>,
    ids: IdMap<*const Grammar, usize>,
    known: IdMap<(usize, RuleId), String>,
    taken: SeededSet<String>,
    /// The last number that a name was given.
    numbers: SeededMap<String, usize>,
    /// Rules in the order in which they are met.
    met: Vec<(usize, RuleId)>,
    handed_out: usize,
    /// How the language writes names.
    identifier: fn(&str) -> String,
}

impl<'g> Names<'g> {
    /// The start rule of `grammar` is met first and called `start`.
    pub(super) fn new(grammar: &'g Grammar, start: &str, identifier: fn(&str) -> String) -> Self {
        let mut names = Self {
            grammars: vec![grammar],
            ids: IdMap::default(),
            known: IdMap::default(),
            taken: SeededSet::default(),
            numbers: SeededMap::default(),
            met: vec![(0, grammar.start())],
            handed_out: 0,
            identifier,
        };
        names.ids.insert(std::ptr::from_ref(grammar), 0);
        let start = names.fresh(start);
        names.known.insert((0, grammar.start()), start);
        names
    }

    /// A grammar by its number.
    pub(super) fn grammar(&self, owner: usize) -> &'g Grammar {
        self.grammars[owner]
    }

    /// The next rule that was met and not yet handed out: its name, the number of its grammar, its body.
    pub(super) fn next(&mut self) -> Option<(String, usize, ExprId)> {
        let &(owner, rule) = self.met.get(self.handed_out)?;
        self.handed_out += 1;
        let body = self.grammars[owner].rule(rule).body;
        Some((self.of(owner, rule), owner, body))
    }

    /// The name of the start rule of a grammar that stands in another.
    pub(super) fn start_of(&mut self, grammar: &'g Grammar) -> String {
        let owner = match self.ids.entry(std::ptr::from_ref(grammar)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.grammars.push(grammar);
                *new.insert(self.grammars.len() - 1)
            }
        };
        self.of(owner, grammar.start())
    }

    /// The name of a rule.
    pub(super) fn of(&mut self, owner: usize, rule: RuleId) -> String {
        if let Some(name) = self.known.get(&(owner, rule)) {
            return name.clone();
        }
        let name = self.fresh(&self.grammars[owner].rule(rule).name);
        self.known.insert((owner, rule), name.clone());
        self.met.push((owner, rule));
        name
    }

    /// A name that nothing has yet.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let base = (self.identifier)(wanted);
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = (self.identifier)(&format!("{base}-{number}"));
        }
        name
    }
}
