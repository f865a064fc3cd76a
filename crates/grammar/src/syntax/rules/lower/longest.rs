//! Warns of terminals that a reader which takes the longest match would read on.

use super::{Lowered, Lowering};
use crate::error::Diagnostic;
use crate::ir::{ByteSet, EmptinessChecks, Regex};
use crate::syntax::rules::ast::{Node, NodeId};
use crate::tuning::{LONGEST_ALL, LONGEST_ONE};

impl Lowering<'_> {
    /// Looks at terminals and those that may follow them.
    pub(super) fn warn_of_longest(&mut self) {
        let mut checks = EmptinessChecks::new(LONGEST_ONE, LONGEST_ALL);
        for (id, next) in &self.ast.followed {
            let Some(regex) = self.regex_of(*id) else {
                continue;
            };
            let any = Regex::repeat(Regex::Class(ByteSet::FULL), 0, None);
            let mut goes_on = |first: ByteSet| {
                let longer = Regex::concat(vec![regex.clone(), Regex::Class(first), any.clone()]);
                checks.has_word(&Regex::And([regex.clone(), longer].into()))
            };
            let firsts: Vec<(NodeId, ByteSet)> = (next.iter())
                .filter_map(|&id| Some((id, self.regex_of(id)?.first_bytes())))
                .collect();
            let all = firsts
                .iter()
                .fold(ByteSet::EMPTY, |all, (_, first)| all.union(first));
            if all.is_empty() || !goes_on(all) {
                continue;
            }
            let Some((other, _)) = firsts.into_iter().find(|&(_, first)| goes_on(first)) else {
                continue;
            };
            let message = format!(
                "{} may go on with what {}, which may follow it, begins with: readers that take the longest match refuse some texts that are accepted here",
                self.called(*id),
                self.called(other)
            );
            let warning = Diagnostic::new("W-GRAMMAR-LONGEST", message)
                .with_hint("let the two have no beginnings in common, or leave it: every text of such readers is accepted");
            self.warnings
                .push((self.ast.nodes[id.0 as usize].1, warning));
        }
    }

    fn regex_of(&self, id: NodeId) -> Option<Regex> {
        match self.values[id.0 as usize].as_ref()? {
            Lowered::Regular(regular) => Some(regular.regex.clone()),
            Lowered::Expr(_) => None,
        }
    }

    /// A terminal as the source calls it.
    fn called(&self, id: NodeId) -> String {
        let (node, offset) = &self.ast.nodes[id.0 as usize];
        let named = self
            .ast
            .rules
            .iter()
            .find(|rule| rule.parts.contains(&id) || rule.body == id);
        match (named, node) {
            (Some(rule), _) => format!(
                "the terminal {}",
                rule.name.split(' ').next().unwrap_or_default()
            ),
            (None, Node::Bytes(bytes)) => format!("{:?}", String::from_utf8_lossy(bytes)),
            (None, Node::Pattern(pattern)) => format!("the pattern /{}/", pattern.text),
            _ => {
                let line = self.text[..*offset].matches('\n').count() + 1;
                format!("the terminal in line {line}")
            }
        }
    }
}
