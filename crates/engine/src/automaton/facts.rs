//! What is known of an expression from its form.

use super::bounds::Consumed;
use super::classes::ClassesId;
use super::expression::{ByteSetId, ExprId};
use super::size::Size;

/// What is known of an expression from its form, and what was found out.
#[derive(Debug, Clone)]
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
    pub(super) consumed: Consumed,
    /// How many expressions it consists of.
    pub(super) weight: u32,
    /// Whether it has any word, once decided; for logical expressions.
    pub(super) inhabited: Option<bool>,
    /// The same language with ε or ∅ recognised, once decided; for logical expressions.
    pub(super) trimmed: Option<ExprId>,
    /// Where its derivatives by class begin in `Derivatives::rows`.
    pub(super) row: Option<u32>,
}

impl Facts {
    /// Of an expression with no word that is known of.
    pub(super) fn unknown() -> Self {
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
            consumed: Consumed::Nothing,
            weight: 1,
            inhabited: None,
            trimmed: None,
            row: None,
        }
    }

    /// Whether the form alone says that there is a word.
    pub(super) fn surely_inhabited(&self) -> bool {
        self.nullable || self.size.endless() || (!self.logical && self.shortest != u32::MAX)
    }
}
