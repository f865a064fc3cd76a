//! What is known of an expression from its form.

use syntagma_grammar::ir::ByteSet;

use super::classes::ClassesId;
use super::counted::Taken;
use super::residual::{ByteSetId, Node, RegexId, Residuals};
use super::size::Size;

/// What is known of an expression from its form, and what was found out.
#[derive(Debug)]
pub(super) struct Facts {
    /// Whether the empty string is in it.
    pub(super) nullable: bool,
    /// Whether it has an intersection or complement anywhere, so that form alone does not say whether it is empty.
    pub(super) logical: bool,
    /// How many words it has. An infinite language without finitely many words is still infinite: that decides about most
    /// complements without a search.
    pub(super) size: Size,
    /// The bytes that it does not tell apart, once somebody asked.
    pub(super) classes: Option<ClassesId>,
    /// Every byte that a word may begin with, and for logical expressions maybe more.
    pub(super) first: ByteSetId,
    /// Length of a shortest word; for logical expressions a guess, what their parts need together.
    pub(super) shortest: u32,
    /// No word is shorter.
    pub(super) least: u32,
    /// No word is longer.
    pub(super) most: u32,
    /// From whatever is read of it, some word ends within so many bytes; for expressions that are not logical.
    pub(super) within: u32,
    /// Whether a repetition in it has a bound that may be kept beside the automaton.
    pub(super) counted: bool,
    /// What its counters have taken.
    pub(super) taken: Taken,
    /// How many expressions it consists of.
    pub(super) weight: u32,
    /// Whether it has any word, once decided; for logical expressions.
    pub(super) inhabited: Option<bool>,
    /// The same language with ε or ∅ recognised, once decided; for logical expressions.
    pub(super) trimmed: Option<RegexId>,
    /// Where its derivatives by class begin in `Residuals::derivatives`.
    pub(super) row: Option<u32>,
}

impl Facts {
    /// Of an expression with no word that is known of.
    fn unknown() -> Self {
        Self {
            nullable: false,
            logical: false,
            size: Size::Unknown,
            classes: None,
            first: ByteSetId::default(),
            shortest: u32::MAX,
            least: 0,
            most: u32::MAX,
            within: u32::MAX,
            counted: false,
            taken: Taken::Nothing,
            weight: 1,
            inhabited: None,
            trimmed: None,
            row: None,
        }
    }

    /// Whether the form alone says that there is a word.
    fn surely_inhabited(&self) -> bool {
        self.nullable || self.size.endless() || (!self.logical && self.shortest != u32::MAX)
    }
}

impl Residuals {
    /// All but the number of the first bytes, and these.
    pub(super) fn facts_of(&self, node: &Node) -> (Facts, ByteSet) {
        let mut facts = Facts::unknown();
        let mut first = ByteSet::EMPTY;
        match node {
            Node::Nothing => facts.size = Size::Finite,
            Node::Empty => {
                facts.nullable = true;
                facts.size = Size::Finite;
                facts.most = 0;
                facts.shortest = 0;
                facts.within = 0;
            }
            Node::Class(set) => {
                first = *self.bytes(*set);
                facts.size = Size::Finite;
                (facts.least, facts.most) = (1, 1);
                facts.shortest = 1;
                facts.within = 1;
            }
            Node::Literal { bytes, at, tail } => {
                let literal = &self.literals[*bytes as usize];
                let rest = literal.len() as u32 - at;
                first = ByteSet::byte(literal[*at as usize]);
                let tail = self.facts(*tail);
                facts.logical = tail.logical;
                facts.size = tail.size.behind_some();
                facts.least = tail.least.saturating_add(rest);
                facts.most = tail.most.saturating_add(rest);
                facts.counted = tail.counted;
                facts.taken = tail.taken;
                facts.shortest = tail.shortest.saturating_add(rest);
                facts.within = facts.shortest.max(tail.within);
                facts.weight = tail.weight.saturating_add(1);
            }
            &Node::Words {
                table,
                first: word,
                end,
                at,
            } => {
                let words = &self.tables[table as usize];
                words.facts(word..end, at, &mut facts);
                first = words.first(word..end, at);
            }
            Node::Concat(head, tail) => {
                first = self.first(*head);
                if self.facts(*head).nullable {
                    first = first.union(&self.first(*tail));
                }
                let (head, tail) = (self.facts(*head), self.facts(*tail));
                facts.size = match (head.size, tail.size) {
                    (Size::Finite, Size::Finite) => Size::Finite,
                    _ if (head.size.endless() && tail.surely_inhabited())
                        || (tail.size.endless() && head.surely_inhabited()) =>
                    {
                        Size::Infinite
                    }
                    _ => Size::Unknown,
                };
                facts.nullable = head.nullable && tail.nullable;
                facts.least = head.least.saturating_add(tail.least);
                facts.most = head.most.saturating_add(tail.most);
                facts.logical = head.logical || tail.logical;
                facts.counted = head.counted || tail.counted;
                facts.taken = head.taken.with(tail.taken);
                facts.weight = head.weight.saturating_add(tail.weight).saturating_add(1);
                facts.shortest = head.shortest.saturating_add(tail.shortest);
                facts.within = head.within.saturating_add(tail.shortest).max(tail.within);
            }
            Node::Alt(parts) | Node::And(parts) => {
                first = self.facts_of_parts(parts, matches!(node, Node::Alt(_)), &mut facts);
            }
            Node::Not(inner) => {
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.nullable = !inner.nullable;
                facts.least = u32::from(inner.nullable);
                facts.size = match inner.size {
                    Size::Finite => Size::Cofinite,
                    Size::Cofinite => Size::Finite,
                    _ => Size::Unknown,
                };
                first = ByteSet::FULL;
                facts.shortest = 0;
                facts.logical = true;
                facts.taken = inner.taken.fixed();
            }
            Node::Repeat { inner, .. } | Node::Counter { inner, .. } => {
                first = self.first(*inner);
                self.facts_of_repeats(node, &mut facts);
            }
        }
        (facts, first)
    }

    fn facts_of_repeats(&self, node: &Node, facts: &mut Facts) {
        match node {
            Node::Repeat { inner, min, max } => {
                let begins = !self.first(*inner).is_empty();
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.size = match inner.size {
                    // No part of an expression that is not logical is empty.
                    _ if max.is_none() && !inner.logical && begins => Size::Infinite,
                    Size::Finite if max.is_some() => Size::Finite,
                    size if size.endless() && *max != Some(0) => Size::Infinite,
                    _ => Size::Unknown,
                };
                facts.nullable = *min == 0 || inner.nullable;
                facts.least = inner.least.saturating_mul(*min);
                facts.most = max.map_or(u32::MAX, |max| inner.most.saturating_mul(max));
                facts.logical = inner.logical;
                facts.counted = *min > self.far || max.is_some_and(|max| max > self.far);
                facts.taken = inner.taken.fixed();
                facts.shortest = if *min == 0 {
                    0
                } else {
                    inner.shortest.saturating_mul(*min)
                };
                facts.within = inner
                    .within
                    .saturating_add(inner.shortest.saturating_mul(*min));
            }
            Node::Counter {
                inner,
                lower,
                taken,
                ..
            } => {
                let inner = self.facts(*inner);
                facts.weight = inner.weight.saturating_add(1);
                facts.size = Size::Unknown;
                facts.nullable = !*lower;
                facts.logical = inner.logical;
                facts.taken = Taken::All(*taken);
                facts.shortest = if *lower { u32::MAX } else { 0 };
            }
            _ => {}
        }
    }

    /// The first bytes.
    fn facts_of_parts(&self, parts: &[RegexId], any: bool, facts: &mut Facts) -> ByteSet {
        let mut first = if any { ByteSet::EMPTY } else { ByteSet::FULL };
        facts.nullable = !any;
        facts.logical = !any;
        facts.size = if any { Size::Finite } else { Size::Cofinite };
        if any {
            facts.within = 0;
            (facts.least, facts.most) = (u32::MAX, 0);
        } else {
            facts.shortest = 0;
        }
        for &part in parts {
            let more = self.bytes(self.facts(part).first);
            first = if any {
                first.union(more)
            } else {
                first.intersection(more)
            };
            let part = self.facts(part);
            facts.weight = facts.weight.saturating_add(part.weight);
            facts.size = if any {
                facts.size.or(part.size)
            } else {
                facts.size.and(part.size)
            };
            (facts.least, facts.most) = if any {
                (facts.least.min(part.least), facts.most.max(part.most))
            } else {
                (facts.least.max(part.least), facts.most.min(part.most))
            };
            facts.nullable = if any {
                facts.nullable || part.nullable
            } else {
                facts.nullable && part.nullable
            };
            facts.logical |= part.logical;
            facts.counted |= part.counted;
            facts.taken = facts.taken.with(part.taken);
            facts.within = facts.within.max(part.within);
            facts.shortest = if any {
                facts.shortest.min(part.shortest)
            } else {
                facts.shortest.saturating_add(part.shortest)
            };
        }
        first
    }
}
