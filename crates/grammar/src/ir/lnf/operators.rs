//! Pass: operators between operands of the same kind, which may be read as any tree, become iteration.
//!
//! With `E ::= E o E | p E | E q | t`, every `E` is `u` or `u o u o … u`, where `u` is a `t` after any number of `p` and before
//! any number of `q`: `E ::= u | E o u`, `u ::= p u | v`, `v ::= v q | t`. All strings of `E` are of this form, as an
//! operator put around two of them, or before or after one, gives another; and each has a tree. Here `o`, `p`, `q` and `t`
//! stand for whatever a production says between, before, after or instead of its outermost `E`s, and may hold further
//! `E`s: the least solution of `E = f(E, E)` is that of `E = g(E)`, `g(Y)` being the least solution of `X = f(X, Y)`. There is one
//! tree left for each string, where there were exponentially many, and the engine's sets stay bounded. Labelled parts in
//! operators and operands are nonterminals, so what they hold is the same in all trees; a labelled part itself, whose
//! beginnings and ends would tell trees apart, is left as it is.

use smallvec::smallvec;

use super::draft::{Draft, Rhs};
use super::form::{NonterminalId, Symbol};
use crate::error::Error;

/// Rewrites operators that may be read as several trees.
pub(super) fn run(draft: &mut Draft) -> Result<(), Error> {
    draft.spend(draft.rules.len())?;
    for lhs in draft.nonterminals() {
        let of = |kind: Kind| {
            draft
                .rules_of(lhs)
                .iter()
                .any(|rhs| Kind::of(rhs, lhs) == kind)
        };
        let ambiguous = of(Kind::Infix) || (of(Kind::Prefix) && of(Kind::Postfix));
        // Without anything to begin with there is nothing to say.
        let begins = of(Kind::Prefix) || of(Kind::Operand);
        if ambiguous && begins && !draft.is_labelled(lhs) {
            rewrite(draft, lhs)?;
        }
    }
    Ok(())
}

/// What a production of a nonterminal is to it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Operand,
    Prefix,
    Postfix,
    /// Empty for one right after the other.
    Infix,
    /// `E ::= E`
    Itself,
}

impl Kind {
    fn of(rhs: &Rhs, lhs: NonterminalId) -> Self {
        let this = Some(&Symbol::Nonterminal(lhs));
        match (rhs.first() == this, rhs.last() == this) {
            (true, true) if rhs.len() == 1 => Self::Itself,
            (true, true) => Self::Infix,
            (true, false) => Self::Postfix,
            (false, true) => Self::Prefix,
            (false, false) => Self::Operand,
        }
    }
}

fn rewrite(draft: &mut Draft, lhs: NonterminalId) -> Result<(), Error> {
    draft.changes += 1;
    let rules = std::mem::take(&mut draft.rules[lhs.0 as usize]);
    let has = |kind: Kind| rules.iter().any(|rhs| Kind::of(rhs, lhs) == kind);
    let part = draft.names[lhs.0 as usize].part();
    // What stands between operators, and that without what stands before it.
    let mut whole = lhs;
    if has(Kind::Infix) {
        whole = draft.nonterminal(part.clone())?;
        draft.add(lhs, smallvec![Symbol::Nonterminal(whole)])?;
    }
    let mut bare = whole;
    if has(Kind::Postfix) {
        bare = draft.nonterminal(part)?;
        draft.add(whole, smallvec![Symbol::Nonterminal(bare)])?;
    }
    let (this, whole_symbol) = (Symbol::Nonterminal(lhs), Symbol::Nonterminal(whole));
    for mut rhs in rules {
        let last = rhs.len().saturating_sub(1);
        match Kind::of(&rhs, lhs) {
            Kind::Itself => {}
            Kind::Operand => draft.add(bare, rhs)?,
            Kind::Prefix => {
                rhs[last] = whole_symbol;
                draft.add(whole, rhs)?;
            }
            Kind::Postfix => {
                rhs[0] = Symbol::Nonterminal(bare);
                draft.add(bare, rhs)?;
            }
            Kind::Infix => {
                rhs[0] = this;
                rhs[last] = whole_symbol;
                draft.add(lhs, rhs)?;
            }
        }
    }
    Ok(())
}
