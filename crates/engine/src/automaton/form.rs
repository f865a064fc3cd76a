//! Numbers of expressions by form alone: equal in all stores of this process, and different for different forms.
//!
//! A form is a sequence of numbers, and that the coefficients of a polynomial, taken at a secret point modulo 2^61 - 1. Two
//! sequences of up to n numbers that differ come to the same at n points at most (Carter and Wegman, Universal classes of
//! hash functions, 1979), and there are two points: nobody who writes grammars can aim at a collision.

use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::context::EngineContext;
use crate::tuning;

const PRIME: u64 = (1 << 61) - 1;

/// Two polynomials being evaluated.
struct Form {
    at: [u64; 2],
    value: [u64; 2],
}

impl Form {
    /// Begins with what kind of expression it is.
    fn new(kind: u32) -> Self {
        let at = EngineContext::current()
            .secrets
            .map(|secret| secret % PRIME);
        // No sequence begins with zero, or it could be longer and mean the same.
        let first = u64::from(kind) + 1;
        Self {
            at,
            value: [first; 2],
        }
    }

    /// A number below 2^61 - 1.
    fn number(&mut self, number: u64) {
        for (value, at) in self.value.iter_mut().zip(self.at) {
            let product = u128::from(*value) * u128::from(at);
            // 2^61 is one more than the prime.
            let folded = (product as u64 & PRIME) + (product >> 61) as u64 + number;
            *value = folded % PRIME;
        }
    }

    fn fingerprint(&mut self, fingerprint: u128) {
        for part in [fingerprint as u64, (fingerprint >> 64) as u64] {
            self.number(part);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for chunk in bytes.chunks(7) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
    }

    fn finish(self) -> u128 {
        u128::from(self.value[1]) << 64 | u128::from(self.value[0])
    }
}

impl Residuals {
    /// The number of an expression; None for those of which it would take longer than it is worth.
    pub(crate) fn fingerprint(&mut self, root: ExprId) -> Option<u128> {
        if self.arena.facts(root).weight > tuning::FORM_WEIGHT {
            return None;
        }
        let mut work = vec![root];
        while let Some(&id) = work.last() {
            if self.fingerprints.contains_key(&id) {
                work.pop();
                continue;
            }
            let waiting = work.len();
            let form = self.form(id, &mut work);
            if work.len() == waiting {
                self.fingerprints.insert(id, form.finish());
            }
        }
        self.fingerprints.get(&root).copied()
    }

    /// The form of an expression; whose parts have no number yet are added to the work that comes first.
    fn form(&self, id: ExprId, work: &mut Vec<ExprId>) -> Form {
        let mut part = |part: ExprId| {
            let known = self.fingerprints.get(&part).copied();
            known.unwrap_or_else(|| {
                work.push(part);
                0
            })
        };
        match self.arena.node(id) {
            Node::Nothing => Form::new(0),
            Node::Empty => Form::new(1),
            Node::Class(set) => {
                let mut form = Form::new(2);
                for word in self.arena.bytes(*set).words() {
                    form.number(word & u64::from(u32::MAX));
                    form.number(word >> 32);
                }
                form
            }
            Node::Literal { bytes, at, tail } => {
                let mut form = Form::new(3);
                form.bytes(&self.arena.literals[*bytes as usize][*at as usize..]);
                form.fingerprint(part(*tail));
                form
            }
            &Node::Words {
                table,
                first,
                end,
                at,
            } => {
                let mut form = Form::new(4);
                let words = &self.arena.tables[table as usize];
                form.number(u64::from(end - first));
                for word in first..end {
                    form.bytes(words.rest(word, at));
                }
                let tails = words.tails().get(first as usize..end as usize);
                for &tail in tails.unwrap_or_default() {
                    form.fingerprint(part(tail));
                }
                form
            }
            &Node::Concat(head, tail) => {
                let mut form = Form::new(5);
                form.fingerprint(part(head));
                form.fingerprint(part(tail));
                form
            }
            Node::Alt(parts) | Node::And(parts) => {
                let any = matches!(self.arena.node(id), Node::Alt(_));
                // Their order is that of this store.
                let mut all: Vec<u128> = parts.iter().map(|&one| part(one)).collect();
                all.sort_unstable();
                let mut form = Form::new(if any { 6 } else { 7 });
                for one in all {
                    form.fingerprint(one);
                }
                form
            }
            &Node::Not(inner) => {
                let mut form = Form::new(8);
                form.fingerprint(part(inner));
                form
            }
            &Node::Repeat { inner, min, max } => {
                let mut form = Form::new(9);
                form.fingerprint(part(inner));
                form.number(u64::from(min));
                // One more than any bound.
                form.number(max.map_or(1 << 32, u64::from));
                form
            }
            &Node::Counter {
                inner,
                lower,
                upper,
                consumed,
            } => {
                let mut form = Form::new(10);
                form.fingerprint(part(inner));
                form.number(u64::from(lower) << 1 | u64::from(upper));
                form.number(u64::from(consumed));
                form
            }
        }
    }
}
