//! How many bytes each place of a grammar is from the end of its rule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::shortest_path::PathCache;
use crate::budget::NEVER;
use crate::earley::{DottedRules, Recognizer, Sym, View};
use crate::error::Error;
use crate::limits::Fuel;

/// Distances, in bytes; a token counts as one.
#[derive(Debug)]
pub(crate) struct Costs {
    /// By dot: the shortest string of the rest of its rule.
    pub(crate) rest: Vec<u32>,
    /// Ways to the end of the text.
    pub(crate) known: PathCache,
}

impl Costs {
    pub(crate) fn new(recognizer: &mut Recognizer, fuel: &mut Fuel) -> Result<Self, Error> {
        let mut terminals = Vec::with_capacity(recognizer.dots.terminals.len());
        let residuals = recognizer.lexer.residuals();
        for (index, terminal) in (0..).zip(&recognizer.dots.terminals) {
            let residual = terminal.residual(Sym::new(View::Terminal(index)), residuals)?;
            terminals.push(residuals.shortest_with_byte(residual, fuel)?);
        }
        let dots = &recognizer.dots;
        fuel.spend(dots.places.len())?;
        let nonterminals = nonterminals(dots, &terminals);
        let mut rest = vec![0_u32; dots.places.len()];
        for (dot, place) in dots.places.iter().enumerate().rev() {
            rest[dot] = match place.sym.view() {
                View::End => 0,
                View::Terminal(index) => rest[dot + 1].saturating_add(terminals[index as usize]),
                View::Token(_) => rest[dot + 1].saturating_add(1),
                View::Nonterminal(index) => {
                    rest[dot + 1].saturating_add(nonterminals[index as usize])
                }
            };
        }
        Ok(Self {
            rest,
            known: PathCache::of_end(),
        })
    }

    /// Approximate bytes of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.rest.len() * 4 + self.known.memory_bytes()
    }

    pub(crate) fn rest(&self) -> &[u32] {
        &self.rest
    }
}

/// By nonterminal: the length of its shortest string (Knuth's generalisation of Dijkstra's algorithm).
fn nonterminals(dots: &DottedRules, terminals: &[u32]) -> Vec<u32> {
    struct Rule {
        lhs: u32,
        missing: usize,
        cost: u32,
    }
    let mut costs = vec![NEVER; dots.nonterminals()];
    let mut rules: Vec<Rule> = Vec::new();
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); dots.nonterminals()];
    let mut queue = BinaryHeap::new();
    for lhs in 0..dots.nonterminals() {
        let firsts = dots.firsts(lhs);
        for &first in firsts {
            let mut rule = Rule {
                lhs: lhs as u32,
                missing: 0,
                cost: 0,
            };
            for dot in first.. {
                match dots.sym(dot).view() {
                    View::End => break,
                    View::Terminal(index) => {
                        rule.cost = rule.cost.saturating_add(terminals[index as usize]);
                    }
                    View::Token(_) => rule.cost = rule.cost.saturating_add(1),
                    View::Nonterminal(index) => {
                        rule.missing += 1;
                        uses[index as usize].push(rules.len());
                    }
                }
            }
            if rule.missing == 0 {
                queue.push(Reverse((rule.cost, rule.lhs)));
            }
            rules.push(rule);
        }
    }
    while let Some(Reverse((cost, nonterminal))) = queue.pop() {
        let known = &mut costs[nonterminal as usize];
        if *known != NEVER {
            continue;
        }
        *known = cost;
        for &user in &uses[nonterminal as usize] {
            let rule = &mut rules[user];
            rule.missing -= 1;
            rule.cost = rule.cost.saturating_add(cost);
            if rule.missing == 0 {
                queue.push(Reverse((rule.cost, rule.lhs)));
            }
        }
    }
    costs
}
