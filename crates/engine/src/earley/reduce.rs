//! Dropping what can never take part in a text.
//!
//! A text may be endless (`b ::= "x" b` stays), so what counts is that every prefix can go on: a nonterminal is alive if
//! it derives a finite string, or an endless one through rules whose symbols are all alive. Left recursion that never
//! comes to a byte (`y ::= y "c"`) is dead.

use super::symbol::{Sym, View};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{Seeded, SeededSet};

/// Rules one behind the other in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Rules {
    symbols: Vec<Sym>,
    /// Left-hand side, and where the right-hand side ends.
    ends: Vec<(u32, u32)>,
}

impl Rules {
    /// Adds a rule; without a right-hand side, nothing.
    pub(super) fn push(&mut self, lhs: u32, rhs: &[Sym]) {
        self.symbols.extend_from_slice(rhs);
        self.ends.push((lhs, self.symbols.len() as u32));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many symbols they have.
    pub(super) fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// Left- and right-hand sides.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[Sym])> {
        let mut start = 0;
        self.ends.iter().map(move |&(lhs, end)| {
            let rhs = &self.symbols[start..end as usize];
            start = end as usize;
            (lhs, rhs)
        })
    }

    fn retain(&mut self, keep: impl FnMut(&(u32, &[Sym])) -> bool) {
        let mut kept = Self::default();
        for (lhs, rhs) in self.iter().filter(keep) {
            kept.push(lhs, rhs);
        }
        *self = kept;
    }

    /// The least set of nonterminals with a rule all of whose symbols are in the set, or are terminals, if these count.
    pub(super) fn least(&self, count: usize, terminals: bool) -> Vec<bool> {
        const NONE: u32 = u32::MAX;
        let mut set = vec![false; count];
        let mut missing = vec![0_u32; self.len()];
        // Occurrences of each nonterminal, linked: (rule, next occurrence).
        let mut first = vec![NONE; count];
        let mut occurrences: Vec<(u32, u32)> = Vec::with_capacity(self.symbols.len());
        let mut work: Vec<u32> = Vec::new();
        for (index, (lhs, rhs)) in self.iter().enumerate() {
            for sym in rhs {
                match sym.view() {
                    View::Nonterminal(nonterminal) => {
                        let first = &mut first[nonterminal as usize];
                        occurrences.push((index as u32, *first));
                        *first = occurrences.len() as u32 - 1;
                        missing[index] += 1;
                    }
                    _ if terminals => {}
                    _ => missing[index] += 1,
                }
            }
            if missing[index] == 0 {
                work.push(lhs);
            }
        }
        while let Some(nonterminal) = work.pop() {
            if std::mem::replace(&mut set[nonterminal as usize], true) {
                continue;
            }
            let mut at = first[nonterminal as usize];
            while let Some(&(rule, next)) = occurrences.get(at as usize) {
                let missing = &mut missing[rule as usize];
                *missing -= 1;
                if *missing == 0 {
                    work.push(self.ends[rule as usize].0);
                }
                at = next;
            }
        }
        set
    }
}

/// The rules whose symbols are all alive, in the given order, without duplicates.
pub(super) fn reduce(mut rules: Rules, count: usize, fuel: &mut Fuel) -> Result<Rules, Error> {
    let mut seen: SeededSet<(u32, &[Sym])> =
        SeededSet::with_capacity_and_hasher(rules.len(), Seeded::default());
    if !rules.iter().all(|rule| seen.insert(rule)) {
        let mut unique = Rules::default();
        let mut seen: SeededSet<(u32, &[Sym])> = SeededSet::default();
        for (lhs, rhs) in rules.iter().filter(|&rule| seen.insert(rule)) {
            unique.push(lhs, rhs);
        }
        rules = unique;
    }
    loop {
        fuel.spend(rules.len() + rules.symbol_count())?;
        let finite = rules.least(count, true);
        let mut alive = finite.clone();
        if rules.iter().any(|(lhs, _)| !finite[lhs as usize]) {
            endless(&rules, &finite, &mut alive, fuel)?;
        }
        let is_alive = |&(lhs, rhs): &(u32, &[Sym])| {
            // A nonterminal that is dead, yet has a rule of living symbols, loops without a byte.
            alive[lhs as usize]
                && rhs.iter().all(|sym| match sym.view() {
                    View::Nonterminal(index) => alive[index as usize],
                    _ => true,
                })
        };
        if rules.iter().all(|rule| is_alive(&rule)) {
            return Ok(rules);
        }
        rules.retain(is_alive);
    }
}

/// Adds the nonterminals that derive an endless string: those with an endless way down first symbols (what stands before
/// being finite) on which bytes come again and again.
fn endless(
    rules: &Rules,
    finite: &[bool],
    alive: &mut [bool],
    fuel: &mut Fuel,
) -> Result<(), Error> {
    let bytes = bytes(rules, finite, fuel)?;
    // (from, to, whether a byte may stand between).
    let mut edges: Vec<(usize, usize, bool)> = Vec::new();
    for (lhs, rhs) in rules.iter() {
        let mut progress = false;
        for sym in rhs {
            match sym.view() {
                View::Nonterminal(index) => {
                    let index = index as usize;
                    edges.push((lhs as usize, index, progress));
                    if !finite[index] {
                        break;
                    }
                    progress |= bytes[index];
                }
                _ => progress = true,
            }
        }
    }
    // The greatest set from which a way leads over a byte into the set again.
    let mut outer = vec![true; finite.len()];
    loop {
        let mut inner = vec![false; finite.len()];
        let mut changed = true;
        while changed {
            fuel.spend(edges.len() + 1)?;
            changed = false;
            for &(from, to, progress) in &edges {
                if !inner[from] && ((progress && outer[to]) || inner[to]) {
                    inner[from] = true;
                    changed = true;
                }
            }
        }
        if inner == outer {
            break;
        }
        outer = inner;
    }
    for (alive, endless) in alive.iter_mut().zip(outer) {
        *alive |= endless;
    }
    Ok(())
}

/// By nonterminal: whether a finite string of it has a byte.
fn bytes(rules: &Rules, finite: &[bool], fuel: &mut Fuel) -> Result<Vec<bool>, Error> {
    let mut bytes = vec![false; finite.len()];
    let mut changed = true;
    while changed {
        fuel.spend(rules.len())?;
        changed = false;
        for (lhs, rhs) in rules.iter() {
            let is_finite = |sym: &Sym| !matches!(sym.view(), View::Nonterminal(index) if !finite[index as usize]);
            let has_byte = |sym: &Sym| match sym.view() {
                View::Nonterminal(index) => bytes[index as usize],
                _ => true,
            };
            if !bytes[lhs as usize] && rhs.iter().all(is_finite) && rhs.iter().any(has_byte) {
                bytes[lhs as usize] = true;
                changed = true;
            }
        }
    }
    Ok(bytes)
}
