//! The derivatives that are known.

use super::classes::Classes;
use super::expression::RegexId;

/// A step of a derivation.
#[derive(Debug)]
pub(super) enum Task {
    /// Derive this expression.
    Visit(RegexId),
    /// The parts of this expression are derived: put them together.
    Build(RegexId),
}

/// Derivatives of expressions by class of bytes.
#[derive(Debug)]
pub(super) struct Derivatives {
    pub(super) classes: Classes,
    /// Rows; None is not yet derived.
    pub(super) rows: Vec<Option<RegexId>>,
    /// Work space.
    pub(super) tasks: Vec<Task>,
    pub(super) values: Vec<RegexId>,
}

impl Derivatives {
    pub(super) fn new() -> Self {
        Self {
            classes: Classes::new(),
            rows: Vec::new(),
            tasks: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.len() * size_of::<Option<RegexId>>() + self.classes.memory_bytes()
    }
}
