//! Residuals side by side: of two grammars, and of one terminal at two places.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, OnceLock};

use syntagma_grammar::ir::ByteSet;

use super::residual::{Node, RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;

/// Two independent keyed hashes: nobody who writes grammars can aim at a collision of both.
fn hash(value: &impl Hash) -> u128 {
    static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
    let halves = KEYS
        .get_or_init(|| [RandomState::new(), RandomState::new()])
        .each_ref()
        .map(|key| {
            let mut hasher = key.build_hasher();
            value.hash(&mut hasher);
            hasher.finish()
        });
    u128::from(halves[0]) << 64 | u128::from(halves[1])
}

impl Residuals {
    /// Every byte that a word may begin with, and where there are intersections or complements maybe more.
    pub(crate) fn first(&self, id: RegexId) -> ByteSet {
        self.facts(id).first
    }

    /// A number of the form alone: equal in all stores of this process, and different for different forms.
    pub(crate) fn fingerprint(&mut self, root: RegexId) -> u128 {
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.facts(id).fingerprint.is_some() {
                work.pop();
                continue;
            }
            let waiting = work.len();
            let mut part = |part: RegexId| {
                self.facts(part).fingerprint.unwrap_or_else(|| {
                    work.push(part);
                    0
                })
            };
            let value = match self.node(id) {
                Node::Nothing => hash(&0),
                Node::Empty => hash(&1),
                Node::Class(set) => hash(&(2, set)),
                Node::Literal { bytes, at, tail } => {
                    let literal = &self.literals[*bytes as usize][*at as usize..];
                    hash(&(3, literal, part(*tail)))
                }
                &Node::Words {
                    table,
                    first,
                    end,
                    at,
                } => {
                    let words = &self.tables[table as usize][first as usize..end as usize];
                    let words: Vec<&[u8]> = words
                        .iter()
                        .map(|&word| &self.literals[word as usize][at as usize..])
                        .collect();
                    hash(&(4, words))
                }
                &Node::Concat(head, tail) => hash(&(5, part(head), part(tail))),
                Node::Alt(parts) | Node::And(parts) => {
                    // Their order is that of this store.
                    let mut all: Vec<u128> = parts.iter().map(|&one| part(one)).collect();
                    all.sort_unstable();
                    hash(&(6, matches!(self.node(id), Node::Alt(_)), all))
                }
                &Node::Not(inner) => hash(&(7, part(inner))),
                &Node::Repeat { inner, min, max } => hash(&(8, part(inner), min, max)),
            };
            if work.len() == waiting {
                self.set_fingerprint(id, value);
            }
        }
        self.facts(root).fingerprint.unwrap_or(0)
    }

    /// An expression that words of up to `bytes` bytes, and what can be read of longer ones in so many bytes, cannot tell
    /// from this one: counts that cannot run out are dropped. Counts below intersections and complements stay, since they
    /// decide whether there is any word.
    pub(crate) fn uncounted(
        &mut self,
        id: RegexId,
        bytes: u32,
        fuel: &mut Fuel,
    ) -> Result<RegexId, Error> {
        if let Some((known, result)) = self.facts(id).uncounted
            && known == bytes
        {
            return Ok(result);
        }
        let result = self.rewrite(id, fuel, &|residuals, part, fuel| {
            if let Node::Repeat { inner, min, max } = *residuals.node(part) {
                let max = max.filter(|&max| max < bytes);
                return residuals.repeat(inner, min.min(bytes), max, fuel);
            }
            Ok(part)
        })?;
        self.set_uncounted(id, (bytes, result));
        Ok(result)
    }

    /// A wider expression that many others share: without upper bounds and without complements.
    pub(crate) fn plainer(&mut self, id: RegexId, fuel: &mut Fuel) -> Result<RegexId, Error> {
        self.rewrite(
            id,
            fuel,
            &|residuals, part, fuel| match residuals.node(part) {
                &Node::Repeat { inner, max, .. } if max.is_some_and(|max| max > 1) => {
                    residuals.repeat(inner, 0, None, fuel)
                }
                Node::And(parts) => {
                    let parts = Arc::clone(parts);
                    let kept = parts
                        .iter()
                        .copied()
                        .filter(|&part| !matches!(residuals.node(part), Node::Not(_)))
                        .collect();
                    residuals.and(kept, fuel)
                }
                _ => Ok(part),
            },
        )
    }

    /// Changes the parts that follow each other in an expression.
    fn rewrite(
        &mut self,
        id: RegexId,
        fuel: &mut Fuel,
        change: &dyn Fn(&mut Self, RegexId, &mut Fuel) -> Result<RegexId, Error>,
    ) -> Result<RegexId, Error> {
        let mut spine = Vec::new();
        let mut rest = id;
        let mut changed = false;
        loop {
            let (head, tail) = self.split(rest);
            let new = match self.node(head) {
                Node::Literal { .. } => head,
                _ => change(self, head, fuel)?,
            };
            changed |= new != head;
            spine.push(new);
            match tail {
                Some(tail) => rest = tail,
                None => break,
            }
        }
        fuel.spend(spine.len())?;
        if !changed {
            return Ok(id);
        }
        let mut result = RegexId::EMPTY;
        for part in spine.into_iter().rev() {
            result = match *self.node(part) {
                // The part stands for its bytes alone; its own tail comes next in the spine.
                Node::Literal { bytes, at, tail } if tail != RegexId::EMPTY => {
                    self.literal_from(bytes, at, result, fuel)?
                }
                _ => self.concat(part, result, fuel)?,
            };
        }
        Ok(result)
    }

    /// For how many bytes two expressions cannot be told apart, as far as their form shows.
    pub(crate) fn agreement(&self, mut a: RegexId, mut b: RegexId) -> u32 {
        let mut bytes = u32::MAX;
        while a != b {
            let ((head_a, tail_a), (head_b, tail_b)) = (self.split(a), self.split(b));
            if head_a != head_b {
                match (self.node(head_a), self.node(head_b)) {
                    (
                        &Node::Repeat {
                            inner: inner_a,
                            min: min_a,
                            max: max_a,
                        },
                        &Node::Repeat {
                            inner: inner_b,
                            min: min_b,
                            max: max_b,
                        },
                    ) if inner_a == inner_b => {
                        if min_a != min_b {
                            bytes = bytes.min(min_a).min(min_b);
                        }
                        if max_a != max_b {
                            bytes = bytes
                                .min(max_a.unwrap_or(u32::MAX))
                                .min(max_b.unwrap_or(u32::MAX));
                        }
                    }
                    (
                        Node::Literal {
                            bytes: bytes_a,
                            at: at_a,
                            ..
                        },
                        Node::Literal {
                            bytes: bytes_b,
                            at: at_b,
                            ..
                        },
                    ) if (bytes_a, at_a) == (bytes_b, at_b) && tail_a.is_some() => {}
                    _ => return 0,
                }
            }
            match (tail_a, tail_b) {
                (Some(tail_a), Some(tail_b)) => (a, b) = (tail_a, tail_b),
                (None, None) => break,
                _ => return 0,
            }
        }
        bytes
    }

    /// The first of the parts that follow each other, and the others. A literal with a tail is its own first part.
    fn split(&self, id: RegexId) -> (RegexId, Option<RegexId>) {
        match *self.node(id) {
            Node::Concat(head, tail) => (head, Some(tail)),
            Node::Literal { tail, .. } if tail != RegexId::EMPTY => (id, Some(tail)),
            _ => (id, None),
        }
    }
}
