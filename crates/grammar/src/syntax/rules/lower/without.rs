//! Terminals beside lazy ones.

use super::{Lowered, Lowering};
use crate::error::{Diagnostic, Error, SourceLocation};
use crate::ir::Regex;
use crate::syntax::rules::ast::{NodeId, Without};
use crate::syntax::rules::regular::Regular;

impl Lowering<'_> {
    /// A terminal without what lazy ones take.
    pub(super) fn without(&mut self, without: &Without, offset: usize) -> Result<Lowered, Error> {
        if without.is_whole() {
            return Ok(match self.value(without.inner) {
                Lowered::Regular(regular) => Lowered::Regular(regular.clone()),
                Lowered::Expr(expr) => Lowered::Expr(*expr),
            });
        }
        let inner = self.regular(without.inner)?.clone();
        for &partly in &without.partly {
            if self.meets(&inner, partly)? {
                return Err(self.sometimes(partly, offset));
            }
        }
        let mut parts = Vec::new();
        for &excluded in &without.excluded {
            if self.meets(&inner, excluded)? {
                parts.push(self.regular(excluded)?.clone());
            }
        }
        if parts.is_empty() {
            return Ok(Lowered::Regular(inner));
        }
        let others = parts.iter().map(|part| part.regex.clone()).collect();
        let others = Regex::Not(Regex::alt(others).into());
        let rest = Regex::And([inner.regex.clone(), others].into());
        parts.push(inner);
        let mut whole = Regular::of(rest, &parts);
        // An intersection, a complement and a choice.
        whole.depth += 3;
        if self.checks.is_nothing(&whole.regex) {
            let message = "a lazy terminal that may begin here takes every text of this one";
            let warning = Diagnostic::new("W-GRAMMAR-LAZY", message)
                .with_hint("the shortest match of a lazy terminal is nobody else's");
            self.warnings.push((offset, warning));
            whole.regex = Regex::Nothing;
        }
        Ok(Lowered::Regular(whole))
    }

    /// Whether a text may be of both.
    fn meets(&mut self, inner: &Regular, other: NodeId) -> Result<bool, Error> {
        let other = self.regular(other)?.regex.clone();
        let both = Regex::And([inner.regex.clone(), other].into());
        Ok(!self.checks.is_nothing(&both))
    }

    fn sometimes(&self, lazy: NodeId, offset: usize) -> Error {
        let lazy = self.ast.nodes[lazy.0 as usize].1;
        let line = self.text[..lazy].matches('\n').count() + 1;
        let message = format!(
            "in some places where this may begin, the lazy terminal of line {line} may begin too and takes the text, in others not"
        );
        Error::grammar("E-GRAMMAR-UNSUPPORTED", message)
            .at(SourceLocation::in_text(self.text, offset))
            .with_hint("write a rule of its own, with this in it, for the places where the lazy terminal cannot begin")
    }
}
