//! The derivatives that are known.

use super::classes::Classes;
use super::expression::ExprId;

/// A step of a derivation.
#[derive(Debug)]
pub(super) enum Task {
    /// Derive this expression.
    Visit(ExprId),
    /// The parts of this expression are derived: put them together.
    Build(ExprId),
}

/// Derivatives of expressions by class of bytes.
#[derive(Debug)]
pub(super) struct Derivatives {
    pub(super) classes: Classes,
    /// Rows; None is not yet derived.
    pub(super) rows: Vec<Option<ExprId>>,
    /// Work space.
    pub(super) tasks: Vec<Task>,
    pub(super) values: Vec<ExprId>,
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
        self.rows.len() * size_of::<Option<ExprId>>() + self.classes.memory_bytes()
    }
}
