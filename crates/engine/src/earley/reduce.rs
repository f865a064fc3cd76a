//! Dropping what can never take part in a text.
//!
//! A text may be endless (`b ::= "x" b` stays), so what counts is that every prefix can go on: a nonterminal is alive if
//! it derives a finite string, or an endless one through rules whose symbols are all alive. Left recursion that never
//! comes to a byte (`y ::= y "c"`) is dead.

use std::collections::BTreeSet;

use super::grammar::{Sym, View};
use crate::error::Error;
use crate::limits::Fuel;

type Rule = (u32, Vec<Sym>);

/// The rules whose symbols are all alive, in the given order, without duplicates.
pub(super) fn reduce(
    mut rules: Vec<Rule>,
    count: usize,
    fuel: &mut Fuel,
) -> Result<Vec<Rule>, Error> {
    let mut seen = BTreeSet::new();
    rules.retain(|rule| seen.insert(rule.clone()));
    loop {
        fuel.spend(rules.iter().map(|(_, rhs)| rhs.len() + 1).sum())?;
        let finite = derives(&rules, count);
        let mut alive = finite.clone();
        if rules.iter().any(|(lhs, _)| !finite[*lhs as usize]) {
            endless(&rules, &finite, &mut alive, fuel)?;
        }
        let before = rules.len();
        rules.retain(|(_, rhs)| {
            rhs.iter().all(|sym| match sym.view() {
                View::Nonterminal(index) => alive[index as usize],
                _ => true,
            })
        });
        // A nonterminal that is dead, yet has a rule of living symbols, loops without a byte.
        rules.retain(|(lhs, _)| alive[*lhs as usize]);
        if rules.len() == before {
            return Ok(rules);
        }
    }
}

/// The least set of nonterminals with a rule all of whose nonterminals are in the set.
fn derives(rules: &[Rule], count: usize) -> Vec<bool> {
    let mut derives = vec![false; count];
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut missing = vec![0_usize; rules.len()];
    let mut work = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        for sym in &rule.1 {
            if let View::Nonterminal(nonterminal) = sym.view() {
                uses[nonterminal as usize].push(index);
                missing[index] += 1;
            }
        }
        if missing[index] == 0 {
            work.push(index);
        }
    }
    while let Some(index) = work.pop() {
        let lhs = rules[index].0 as usize;
        if std::mem::replace(&mut derives[lhs], true) {
            continue;
        }
        for &user in &uses[lhs] {
            missing[user] -= 1;
            if missing[user] == 0 {
                work.push(user);
            }
        }
    }
    derives
}

/// Adds the nonterminals that derive an endless string: those with an endless way down first symbols (what stands before
/// being finite) on which bytes come again and again.
fn endless(
    rules: &[Rule],
    finite: &[bool],
    alive: &mut [bool],
    fuel: &mut Fuel,
) -> Result<(), Error> {
    let bytes = bytes(rules, finite, fuel)?;
    // (from, to, whether a byte may stand between).
    let mut edges: Vec<(usize, usize, bool)> = Vec::new();
    for (lhs, rhs) in rules {
        let mut progress = false;
        for sym in rhs {
            match sym.view() {
                View::Nonterminal(index) => {
                    let index = index as usize;
                    edges.push((*lhs as usize, index, progress));
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
fn bytes(rules: &[Rule], finite: &[bool], fuel: &mut Fuel) -> Result<Vec<bool>, Error> {
    let mut bytes = vec![false; finite.len()];
    let mut changed = true;
    while changed {
        fuel.spend(rules.len())?;
        changed = false;
        for (lhs, rhs) in rules {
            let is_finite = |sym: &Sym| !matches!(sym.view(), View::Nonterminal(index) if !finite[index as usize]);
            let has_byte = |sym: &Sym| match sym.view() {
                View::Nonterminal(index) => bytes[index as usize],
                _ => true,
            };
            if !bytes[*lhs as usize] && rhs.iter().all(is_finite) && rhs.iter().any(has_byte) {
                bytes[*lhs as usize] = true;
                changed = true;
            }
        }
    }
    Ok(bytes)
}
