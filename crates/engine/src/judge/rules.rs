//! The rules of a grammar, with its terminals as expressions.

use super::derivative::{ExprId, Expressions};
use crate::earley::DottedRules;

/// What texts are read by.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) dots: DottedRules,
    pub(super) expressions: Expressions,
    /// By terminal, what it is before anything is read.
    pub(super) terminals: Vec<ExprId>,
}

impl Rules {
    pub(super) fn new(dots: DottedRules) -> Self {
        let (expressions, terminals) = Expressions::new(dots.sources());
        Self {
            dots,
            expressions,
            terminals,
        }
    }

    /// Forgets all expressions but the terminals.
    pub(super) fn forget(&mut self) {
        (self.expressions, self.terminals) = Expressions::new(self.dots.sources());
    }
}
