//! Residuals: what is left of terminals after some bytes, as expressions, with everything that is found out about them.

use std::sync::Arc;

use syntagma_grammar::ir::{ByteSet, Regex};

use super::arena::Arena;
use super::classes::{Classes, ClassesId};
use super::derivatives::Derivatives;
use super::expression::ExprId;
use super::length_table::LengthTables;
use super::unit::Units;
use crate::layers::{Layer, Layers};
use crate::maps::{IdMap, SeededMap};

/// Residuals of the compound expressions that were built, so that what grammars share is built once.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// Those that the store began with.
    before: Option<Arc<SeededMap<Regex, ExprId>>>,
    own: SeededMap<Regex, ExprId>,
}

impl Built {
    pub(super) fn get(&self, regex: &Regex) -> Option<ExprId> {
        let before = || self.before.as_ref()?.get(regex);
        self.own.get(regex).or_else(before).copied()
    }

    pub(super) fn insert(&mut self, regex: &Regex, residual: ExprId) {
        self.own.insert(regex.clone(), residual);
    }

    /// What any number of stores may begin with.
    pub(super) fn settled(self) -> Self {
        Self {
            before: Some(Arc::new(self.own)),
            own: SeededMap::default(),
        }
    }

    /// Without what was built since the store began.
    pub(crate) fn anew(&self) -> Self {
        Self {
            before: self.before.clone(),
            own: SeededMap::default(),
        }
    }
}

/// Whether counts may be left out of comparisons.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The same for words of up to so many bytes, with fewer counts.
    pub(super) uncounted: SeededMap<(ExprId, u32), ExprId>,
    /// What [`Residuals::slack_bound`] found out.
    pub(super) slack_bound: IdMap<ExprId, Option<(ExprId, u32)>>,
    /// Whether every word of one expression is one of another, as far as [`Residuals::slack_bound`] asked.
    pub(super) consisting: IdMap<(ExprId, ExprId), bool>,
    /// How often that took too long.
    pub(super) failures: u32,
}

/// Lengths of words, in bytes.
#[derive(Debug, Default)]
pub(super) struct WordLengths {
    /// Of shortest words of logical expressions.
    pub(super) least: IdMap<ExprId, u32>,
    /// Of shortest words of one byte or more, of nullable expressions.
    pub(super) with_byte: IdMap<ExprId, u32>,
    /// Of some words of logical expressions.
    pub(super) some: IdMap<ExprId, u32>,
}

/// Expressions, and what each analysis has found out about them so far.
#[derive(Debug)]
pub(crate) struct Residuals {
    pub(super) arena: Arena,
    pub(super) derivatives: Derivatives,
    /// Numbers of forms alone, the same in every store, as far as they were computed.
    pub(super) fingerprints: IdMap<ExprId, u128>,
    pub(super) counts: Counts,
    /// Parts of terminals that were built after the grammar.
    pub(crate) built: Built,
    pub(super) words: WordLengths,
    pub(super) units: Units,
    pub(super) lengths: LengthTables,
}

impl Residuals {
    /// No expressions but the simplest; tokens have up to `reach` bytes.
    pub(crate) fn new(reach: u32, layers: Layers) -> Self {
        Self::of(Arena::new(reach, layers), Built::default())
    }

    /// These expressions, of which nothing is known but their form.
    pub(super) fn of(arena: Arena, built: Built) -> Self {
        Self {
            arena,
            derivatives: Derivatives::new(),
            fingerprints: IdMap::default(),
            counts: Counts::default(),
            built,
            words: WordLengths::default(),
            units: Units::default(),
            lengths: LengthTables::default(),
        }
    }

    /// Whether a mechanism is in use.
    pub(crate) fn has(&self, layer: Layer) -> bool {
        self.arena.layers.has(layer)
    }

    /// Charges branching residuals to a terminal from now on.
    pub(crate) fn set_owner(&mut self, terminal: u32) {
        self.arena.set_owner(terminal);
    }

    /// How many expressions there are.
    pub(crate) fn len(&self) -> usize {
        self.arena.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let lengths = self.lengths.intersections.len() + self.lengths.places.len();
        self.arena.memory_bytes()
            + self.derivatives.memory_bytes()
            + self.fingerprints.len() * 36
            + self.counts.uncounted.len() * 14
            + self.built.own.len() * size_of::<(Regex, ExprId)>()
            + (lengths + self.words.some.len()) * 40
            + (self.counts.slack_bound.len() + self.counts.consisting.len()) * 20
    }

    /// Every byte that a word may begin with, and where there are intersections or complements maybe more.
    pub(crate) fn first(&self, id: ExprId) -> ByteSet {
        self.arena.first(id)
    }

    /// Whether the empty string is in it.
    pub(crate) fn is_nullable(&self, id: ExprId) -> bool {
        self.arena.is_nullable(id)
    }

    /// Whether it has an intersection or a complement anywhere.
    pub(crate) fn is_logical(&self, id: ExprId) -> bool {
        self.arena.facts(id).logical
    }

    /// The class of a byte.
    #[inline]
    pub(crate) fn class_of(&self, classes: ClassesId, byte: u8) -> usize {
        self.derivatives.classes.class(classes, byte)
    }

    /// The bytes of a class.
    pub(crate) fn class_members(&self, classes: ClassesId, class: usize) -> &[u8] {
        self.derivatives.classes.members(classes, class)
    }

    pub(crate) fn class_table(&mut self) -> &mut Classes {
        &mut self.derivatives.classes
    }
}
