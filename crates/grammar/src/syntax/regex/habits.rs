//! How a pattern is written, where that says more than its language: anchors, and repetitions that are lazy.

use std::convert::Infallible;

use regex_syntax::ast::{self, AssertionKind, Ast};
use regex_syntax::hir::{Hir, HirKind};

use super::look_around::{Kind, Mark};

/// Where something first stands in a pattern.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Habits {
    /// `^`, `$`, `\A`, `\z`
    pub(super) anchor: Option<usize>,
    /// Any other that looks beside it, such as `\b`.
    pub(super) assertion: Option<usize>,
    /// A repetition that would rather end, or (`U`) one that looks as if it would not.
    pub(super) lazy: Option<usize>,
}

impl Habits {
    pub(super) fn of(pattern: &Ast) -> Self {
        let visitor = Visitor(Self::default());
        ast::visit(pattern, visitor).unwrap_or_else(|never| match never {})
    }
}

struct Visitor(Habits);

impl ast::Visitor for Visitor {
    type Output = Habits;
    type Err = Infallible;

    fn finish(self) -> Result<Habits, Infallible> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, node: &Ast) -> Result<(), Infallible> {
        let habits = &mut self.0;
        match node {
            Ast::Assertion(assertion) => {
                let found = match assertion.kind {
                    AssertionKind::StartLine
                    | AssertionKind::EndLine
                    | AssertionKind::StartText
                    | AssertionKind::EndText => &mut habits.anchor,
                    _ => &mut habits.assertion,
                };
                found.get_or_insert(assertion.span.start.offset);
            }
            Ast::Repetition(repetition) if !repetition.greedy => {
                let offset = repetition.op.span.start.offset;
                habits.lazy.get_or_insert(offset);
            }
            // It makes the others lazy.
            Ast::Flags(set) if set.flags.flag_state(ast::Flag::SwapGreed).is_some() => {
                habits.lazy.get_or_insert(set.span.start.offset);
            }
            Ast::Group(group) => {
                let flags = group.flags();
                if flags.is_some_and(|flags| flags.flag_state(ast::Flag::SwapGreed).is_some()) {
                    habits.lazy.get_or_insert(group.span.start.offset);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a match is as long as one lazy repetition makes it: one stands in a sequence of parts that each have one length,
/// and so has what is repeated. The first match is then the shortest.
pub(super) fn is_shortest(hir: &Hir, mark: &dyn Fn(&str) -> Option<Mark>) -> bool {
    let mut lazy = 0;
    let mut work = vec![hir];
    while let Some(part) = work.pop() {
        match part.kind() {
            HirKind::Concat(parts) => work.extend(parts),
            HirKind::Capture(capture) if !looks(capture, mark) => work.push(&capture.sub),
            HirKind::Repetition(repetition) if repetition.max != Some(repetition.min) => {
                if repetition.greedy || length(&repetition.sub, mark).is_none() {
                    return false;
                }
                lazy += 1;
            }
            _ if length(part, mark).is_none() => return false,
            _ => {}
        }
    }
    lazy == 1
}

fn looks(capture: &regex_syntax::hir::Capture, mark: &dyn Fn(&str) -> Option<Mark>) -> bool {
    let mark = capture.name.as_deref().and_then(mark);
    mark.is_some_and(|mark| matches!(mark.kind, Kind::Look(..)))
}

/// The number of characters of every match, if there is only one. As deep as the pattern is nested, which is limited.
fn length(hir: &Hir, mark: &dyn Fn(&str) -> Option<Mark>) -> Option<u32> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => {
            u32::try_from(String::from_utf8_lossy(&literal.0).chars().count()).ok()
        }
        HirKind::Class(_) => Some(1),
        HirKind::Capture(capture) if looks(capture, mark) => Some(0),
        HirKind::Capture(capture) => length(&capture.sub, mark),
        HirKind::Repetition(repetition) if repetition.max == Some(repetition.min) => {
            length(&repetition.sub, mark)?.checked_mul(repetition.min)
        }
        HirKind::Repetition(_) => None,
        HirKind::Concat(parts) => parts
            .iter()
            .try_fold(0_u32, |sum, part| sum.checked_add(length(part, mark)?)),
        HirKind::Alternation(parts) => {
            let (first, others) = parts.split_first()?;
            let wanted = length(first, mark)?;
            let same = others.iter().all(|part| length(part, mark) == Some(wanted));
            same.then_some(wanted)
        }
    }
}
