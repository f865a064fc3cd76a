//! Pass: terminals that follow each other in one production become one terminal, so that whitespace before a word belongs to
//! the word. A terminal that ends in an open loop (a string's body, a number) stays on its own: what it may contain then
//! does not depend on what follows, and its masks serve every grammar.

use smallvec::SmallVec;

use super::draft::{Draft, Rhs};
use super::form::Symbol;
use super::regular::concatenation;
use crate::error::Error;
use crate::ir::regex::Regex;

/// Fuses neighbouring terminals.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    for at in 0..draft.rules.len() {
        let any = |rhs: &Rhs| rhs.windows(2).any(|pair| fusible(draft, pair[0], pair[1]));
        if !draft.rules[at].iter().any(any) {
            continue;
        }
        let mut rules = std::mem::take(&mut draft.rules[at]);
        for rhs in &mut rules {
            if rhs.windows(2).any(|pair| fusible(draft, pair[0], pair[1])) {
                fuse(draft, rhs)?;
            }
        }
        draft.rules[at] = rules;
    }
    Ok(())
}

fn fusible(draft: &Draft, first: Symbol, second: Symbol) -> bool {
    match (first, second) {
        (Symbol::Regex(first), Symbol::Regex(_)) => !draft.facts_of(first).open,
        _ => false,
    }
}

fn fuse(draft: &mut Draft, rhs: &mut Rhs) -> Result<(), Error> {
    let mut out = Rhs::with_capacity(rhs.len());
    let mut run: SmallVec<[u32; 8]> = SmallVec::new();
    for (position, &symbol) in rhs.iter().enumerate() {
        match symbol {
            Symbol::Regex(index) => {
                run.push(index);
                let next = rhs.get(position + 1);
                if !next.is_some_and(|&next| fusible(draft, symbol, next)) {
                    out.push(joined(draft, &run)?);
                    run.clear();
                }
            }
            other => out.push(other),
        }
    }
    draft.changes += 1;
    *rhs = out;
    Ok(())
}

fn joined(draft: &mut Draft, run: &[u32]) -> Result<Symbol, Error> {
    if let [only] = run {
        return Ok(Symbol::Regex(*only));
    }
    draft.spend(run.len())?;
    let parts: Vec<&Regex> = run.iter().map(|&index| draft.regex_of(index)).collect();
    let regex = concatenation(&parts);
    Ok(draft.regex(regex))
}
