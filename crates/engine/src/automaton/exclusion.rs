//! Residuals that are another one but for some words, such as the keys that an object does not name. From the form of
//! an intersection with a complement, for `mask::excluded`.

use super::expression::{ExprId, Node};
use super::residual::Residuals;
use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning;

/// What a residual is: all but some words of a body, and a tail behind it.
#[derive(Debug)]
pub(crate) struct Exclusion {
    /// The body with the tail, nothing being left out.
    pub(crate) plain: ExprId,
    /// The words that the body must not be; sorted. Where one of them ends, the tail may not begin, and nothing else differs.
    pub(crate) words: Vec<Vec<u8>>,
    /// The tail: it has a byte, and begins with none that the body reads where a word ends, nor with one of a word.
    pub(crate) tail: ExprId,
}

impl Residuals {
    /// What a residual leaves out of another, if that is all there is between the two.
    ///
    /// For `(body & ~words) tail` that is so if the body always goes on, and if no other reading of a text can take the place
    /// of the one in which the body is a word: the tail begins with a byte that is in no word, and on which the body dies
    /// behind them.
    pub(crate) fn exclusion(
        &mut self,
        id: ExprId,
        fuel: &mut Fuel,
    ) -> Result<Option<Exclusion>, Error> {
        let Node::Concat(head, tail) = *self.arena.node(id) else {
            return Ok(None);
        };
        let Node::And(parts) = self.arena.node(head) else {
            return Ok(None);
        };
        let mut kept = Vec::with_capacity(parts.len() - 1);
        let mut excluded = None;
        for &part in &**parts {
            match *self.arena.node(part) {
                Node::Not(inner) => excluded = Some(inner),
                _ => kept.push(part),
            }
        }
        let (Some(excluded), [body]) = (excluded, &kept[..]) else {
            return Ok(None);
        };
        let body = *body;
        let goes_on = matches!(self.arena.node(body), Node::Repeat { max: None, .. });
        if !goes_on || self.is_logical(body) || self.is_nullable(tail) {
            return Ok(None);
        }
        let Some(mut words) = self.finite_words(excluded) else {
            return Ok(None);
        };
        words.sort_unstable();
        let first = self.first(tail);
        if words.iter().flatten().any(|&byte| first.contains(byte)) {
            return Ok(None);
        }
        // Where the word before has led, byte by byte: sorted words share their beginnings.
        let mut path = vec![body];
        let mut before: &[u8] = &[];
        let mut seen = ExprId::NOTHING;
        for word in &words {
            let same = before.iter().zip(word).take_while(|(a, b)| a == b).count();
            path.truncate(same + 1);
            let mut rest = path[same];
            for &byte in &word[same..] {
                rest = self.derivative(rest, byte, fuel)?;
                path.push(rest);
            }
            before = word;
            if rest == seen || !self.is_nullable(rest) {
                continue;
            }
            for byte in first.iter() {
                if self.derivative(rest, byte, fuel)? != ExprId::NOTHING {
                    return Ok(None);
                }
            }
            seen = rest;
        }
        let plain = self.arena.concat(body, tail, fuel)?;
        Ok(Some(Exclusion { plain, words, tail }))
    }

    /// The words of an expression that is plainly a set of few.
    fn finite_words(&self, root: ExprId) -> Option<Vec<Vec<u8>>> {
        let mut words = Vec::new();
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            match self.arena.node(id) {
                Node::Empty => words.push(Vec::new()),
                Node::Class(set)
                    if self.arena.bytes(*set).len() <= tuning::EXCLUDED_CLASS_BYTES =>
                {
                    words.extend(self.arena.bytes(*set).iter().map(|byte| vec![byte]));
                }
                Node::Literal { bytes, at, tail } if *tail == ExprId::EMPTY => {
                    words.push(self.arena.literals[*bytes as usize][*at as usize..].to_vec());
                }
                &Node::Words {
                    table,
                    first,
                    end,
                    at,
                } if (end - first) as usize <= tuning::EXCLUDED_WORDS => {
                    let table = &self.arena.tables[table as usize];
                    if !table.tails().is_empty() {
                        return None;
                    }
                    let rest = |word| {
                        let literal = &self.arena.literals[table.literal(word) as usize];
                        literal[at as usize..].to_vec()
                    };
                    words.extend((first..end).map(rest));
                }
                Node::Alt(parts) if parts.len() <= tuning::EXCLUDED_WORDS => {
                    work.extend(parts.iter().copied());
                }
                _ => return None,
            }
            if words.len() > tuning::EXCLUDED_WORDS {
                return None;
            }
        }
        Some(words)
    }
}
