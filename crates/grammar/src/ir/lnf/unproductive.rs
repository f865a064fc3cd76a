//! Pass: productions that can never be finished nor go on for ever are dropped.
//!
//! `B ::= 'a' B` stays: it never ends, but every prefix of its text can be continued. `B ::= B 'a'` goes: it can never
//! write its first byte, and an engine that entered it would be stuck.

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use super::graph;
use crate::error::Error;
use crate::ir::grammar::TokenSet;

/// Drops unproductive productions. What is left without productions matches nothing.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    loop {
        drop_dead(draft)?;
        let finite = finite(draft)?;
        if finite.iter().all(|&finite| finite) {
            return Ok(());
        }
        let endless = endless(draft, &finite)?;
        let mut changed = false;
        for id in draft.nonterminals() {
            let at = id.0 as usize;
            if !finite[at] && !endless[at] && !draft.rules[at].is_empty() {
                draft.rules[at].clear();
                changed = true;
            }
        }
        if !changed {
            return Ok(());
        }
    }
}

/// Drops productions with a symbol that matches nothing, until none is left.
fn drop_dead(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.size())?;
    let mut dead: Vec<NonterminalId> = Vec::new();
    for id in draft.nonterminals() {
        let matches_nothing = |&symbol: &Symbol| is_nothing(draft, symbol);
        let own = draft.rules_of(id);
        if !own.is_empty() && !own.iter().flatten().any(matches_nothing) {
            continue;
        }
        let mut rules = std::mem::take(&mut draft.rules[id.0 as usize]);
        rules.retain(|rhs| !rhs.iter().any(|&symbol| is_nothing(draft, symbol)));
        if rules.is_empty() {
            dead.push(id);
        }
        draft.rules[id.0 as usize] = rules;
    }
    if dead.is_empty() {
        return Ok(());
    }
    let users = graph::users(draft);
    while let Some(gone) = dead.pop() {
        for &user in users.of(gone.0) {
            let rules = &mut draft.rules[user as usize];
            let before = rules.len();
            let work: usize = rules.iter().map(Rhs::len).sum();
            rules.retain(|rhs| !rhs.contains(&Symbol::Nonterminal(gone)));
            if rules.is_empty() && before > 0 {
                dead.push(NonterminalId(user));
            }
            draft.spend(work)?;
        }
    }
    Ok(())
}

fn is_nothing(draft: &Draft, symbol: Symbol) -> bool {
    match symbol {
        Symbol::Regex(index) => draft.facts_of(index).nothing,
        Symbol::Token(index) => {
            matches!(draft.token_of(index), TokenSet::Ids(ranges) if ranges.is_empty())
        }
        Symbol::Nonterminal(_) | Symbol::Marker(_) => false,
    }
}

/// Which nonterminals derive at least one finite string (least fix point).
fn finite(draft: &mut Draft) -> Result<Vec<bool>, Error> {
    draft.spend(draft.size())?;
    Ok(graph::least_fix_point(draft))
}

/// Which nonterminals, themselves not finite, can write for ever: they reach a cycle of productions that writes something
/// on the way round.
fn endless(draft: &mut Draft, finite: &[bool]) -> Result<Vec<bool>, Error> {
    draft.spend(draft.size())?;
    let writes = graph::can_write(draft);
    // Edges to the first symbol that never ends; whether something may be written before it.
    let count = draft.rules.len();
    let mut edges: Vec<Vec<(NonterminalId, bool)>> = vec![Vec::new(); count];
    for id in draft.nonterminals().filter(|id| !finite[id.0 as usize]) {
        for rhs in draft.rules_of(id) {
            let mut written = false;
            for &symbol in rhs {
                match symbol {
                    Symbol::Nonterminal(next) if !finite[next.0 as usize] => {
                        edges[id.0 as usize].push((next, written));
                        break;
                    }
                    Symbol::Nonterminal(next) => written |= writes[next.0 as usize],
                    _ => written = true,
                }
            }
        }
    }
    let components = graph::components(&graph::Lists::new(count, |tell| {
        for (from, targets) in edges.iter().enumerate() {
            for (to, _) in targets {
                tell(from as u32, to.0);
            }
        }
    }));
    let mut endless = vec![false; count];
    let mut reached: Vec<usize> = Vec::new();
    for (from, targets) in edges.iter().enumerate() {
        if targets
            .iter()
            .any(|&(to, written)| written && components[from] == components[to.0 as usize])
        {
            endless[from] = true;
            reached.push(from);
        }
    }
    let sources = graph::Lists::new(count, |tell| {
        for (from, targets) in edges.iter().enumerate() {
            for (to, _) in targets {
                tell(to.0, from as u32);
            }
        }
    });
    while let Some(at) = reached.pop() {
        for &from in sources.of(at as u32) {
            if !std::mem::replace(&mut endless[from as usize], true) {
                reached.push(from as usize);
            }
        }
    }
    Ok(endless)
}
