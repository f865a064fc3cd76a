//! Repetitions as productions. Unbounded ones are left-recursive. A bounded one counts in binary: the nonterminal for
//! `2^k` copies is twice the one for `2^(k-1)`, and "at most n" splits on the highest bit, so that `{m,n}` costs a number
//! of productions in the order of `log(n)` and every count has one derivation.

use smallvec::smallvec;

use super::draft::{Draft, Name, Rhs};
use super::form::{NonterminalId, Symbol};
use crate::error::Error;

/// `item{min,max}` with `between` (empty: nothing) between two items.
pub(super) struct Counted {
    pub(super) item: Rhs,
    pub(super) between: Rhs,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// Adds the productions of `lhs ::= counted`.
pub(super) fn expand(
    draft: &mut Draft,
    lhs: NonterminalId,
    counted: &Counted,
) -> Result<(), Error> {
    let Counted {
        item,
        between,
        min,
        max,
    } = counted;
    let (min, max) = (*min, *max);
    if max.is_some_and(|max| max < min) {
        return Ok(());
    }
    let name = draft.names[lhs.0 as usize].clone();
    if between.is_empty() {
        let mut numbers = Counter::new(item.clone(), &name);
        let mut rhs = numbers.exactly(draft, min)?;
        match max {
            // `lhs` itself is the loop, there is nothing before it.
            None if min <= 1 => {
                draft.add(lhs, rhs)?;
                let again = followed([Symbol::Nonterminal(lhs)].as_slice(), item);
                return draft.add(lhs, again);
            }
            None => rhs.push(numbers.any_number(draft)?),
            Some(max) => rhs.extend(numbers.at_most(draft, max - min)?),
        }
        return draft.add(lhs, rhs);
    }
    if min == 0 {
        draft.add(lhs, Rhs::new())?;
    }
    if max == Some(0) {
        return Ok(());
    }
    // The first item, then pairs of separator and item.
    let mut numbers = Counter::new(followed(between, item), &name);
    let mut rhs = item.clone();
    rhs.extend(numbers.exactly(draft, min.saturating_sub(1))?);
    match max {
        None if min <= 1 => {
            let list = if min == 0 {
                draft.nonterminal(name)?
            } else {
                lhs
            };
            draft.add(list, rhs)?;
            let mut again: Rhs = smallvec![Symbol::Nonterminal(list)];
            again.extend(followed(between, item));
            draft.add(list, again)?;
            if min == 0 {
                draft.add(lhs, smallvec![Symbol::Nonterminal(list)])?;
            }
            return Ok(());
        }
        None => rhs.push(numbers.any_number(draft)?),
        Some(max) => rhs.extend(numbers.at_most(draft, max - min.max(1))?),
    }
    draft.add(lhs, rhs)
}

fn followed(first: &[Symbol], second: &[Symbol]) -> Rhs {
    first.iter().chain(second).copied().collect()
}

/// Nonterminals for counts of one item, made when they are first asked for.
struct Counter {
    name: Name,
    /// `powers[k]` matches `2^k` items.
    powers: Vec<Rhs>,
    /// `blocks[k]` matches `0 ..= 2^k - 1` items.
    blocks: Vec<Rhs>,
}

impl Counter {
    fn new(item: Rhs, name: &Name) -> Self {
        Self {
            name: name.count(),
            powers: vec![item],
            blocks: vec![Rhs::new()],
        }
    }

    fn fresh(&self, draft: &mut Draft) -> Result<NonterminalId, Error> {
        draft.nonterminal(self.name.clone())
    }

    fn power(&mut self, draft: &mut Draft, exponent: usize) -> Result<Rhs, Error> {
        if self.powers[0].len() > 1 {
            // The item is named before it is doubled, so that it is written down once.
            let item = self.fresh(draft)?;
            draft.add(item, self.powers[0].clone())?;
            self.powers[0] = smallvec![Symbol::Nonterminal(item)];
        }
        while self.powers.len() <= exponent {
            let half = &self.powers[self.powers.len() - 1];
            let double = followed(half, half);
            let id = self.fresh(draft)?;
            draft.add(id, double)?;
            self.powers.push(smallvec![Symbol::Nonterminal(id)]);
        }
        Ok(self.powers[exponent].clone())
    }

    fn block(&mut self, draft: &mut Draft, exponent: usize) -> Result<Rhs, Error> {
        while self.blocks.len() <= exponent {
            let smaller = self.blocks[self.blocks.len() - 1].clone();
            let power = self.power(draft, self.blocks.len() - 1)?;
            let id = self.fresh(draft)?;
            draft.add(id, followed(&power, &smaller))?;
            draft.add(id, smaller)?;
            self.blocks.push(smallvec![Symbol::Nonterminal(id)]);
        }
        Ok(self.blocks[exponent].clone())
    }

    /// `n` items.
    fn exactly(&mut self, draft: &mut Draft, n: u32) -> Result<Rhs, Error> {
        let mut rhs = Rhs::new();
        for bit in (0..32).rev().filter(|bit| n >> bit & 1 == 1) {
            rhs.extend(self.power(draft, bit)?);
        }
        Ok(rhs)
    }

    /// `0 ..= n` items.
    fn at_most(&mut self, draft: &mut Draft, n: u32) -> Result<Rhs, Error> {
        // Remainders from the highest bit down; the last is a whole block.
        let mut rest = n;
        let mut splits = Vec::new();
        let mut rhs = loop {
            let counts = u64::from(rest) + 1;
            let bit = counts.ilog2() as usize;
            if counts.is_power_of_two() {
                break self.block(draft, bit)?;
            }
            splits.push(bit);
            rest -= 1 << bit;
        };
        for bit in splits.into_iter().rev() {
            let fewer = self.block(draft, bit)?;
            let more = followed(&self.power(draft, bit)?, &rhs);
            let id = self.fresh(draft)?;
            draft.add(id, fewer)?;
            draft.add(id, more)?;
            rhs = smallvec![Symbol::Nonterminal(id)];
        }
        Ok(rhs)
    }

    /// Any number of items, left-recursive.
    fn any_number(&mut self, draft: &mut Draft) -> Result<Symbol, Error> {
        let id = self.fresh(draft)?;
        let again = followed(&[Symbol::Nonterminal(id)], &self.power(draft, 0)?);
        draft.add(id, Rhs::new())?;
        draft.add(id, again)?;
        Ok(Symbol::Nonterminal(id))
    }
}
