//! What may be ignored between terminals, and terminals in their places.

use super::directives::Directives;
use super::parser::Parser;
use super::statements::{Source, is_terminal};
use crate::error::Error;
use crate::syntax::rules::{Node, NodeId, Rule, Without};

impl<'s> Parser<'s> {
    pub(super) fn read_ignored(&mut self, directives: &Directives<'s>) -> Result<(), Error> {
        let mut parts = Vec::new();
        let mut place = 0;
        for tokens in &directives.ignored {
            place = tokens[0].offset;
            parts.push(self.body(tokens, place, true)?.0);
        }
        if parts.is_empty() {
            return Ok(());
        }
        self.ignored = Some(self.groups.ast.add(Node::Alt(parts), place));
        Ok(())
    }

    /// What is ignored may stand before everything, too. Rules that may begin a text are not known yet: each gets a second
    /// rule for what stands inside others only where it is named.
    pub(super) fn lead_with_ignored(&mut self, source: &Source<'s>) {
        if self.ignored.is_none() {
            return;
        }
        let rules = std::mem::take(&mut self.groups.ast.rules);
        for rule in rules {
            let Some(definition) = source.definitions.get(rule.name.as_str()) else {
                self.groups.ast.rules.push(rule);
                continue;
            };
            let offset = definition.offset;
            let body = if is_terminal(&rule.name) {
                self.followed(rule.body, offset)
            } else {
                rule.body
            };
            let inner = inner_name(&rule.name);
            let name = self.groups.ast.add(Node::Name(inner.clone()), offset);
            let parts = self.skipped().into_iter().chain([name]).collect();
            let led = self.groups.ast.add(Node::Seq(parts), offset);
            self.groups.ast.rules.push(Rule {
                name: rule.name,
                offset,
                body: led,
                parts: vec![rule.body],
            });
            self.groups.ast.rules.push(Rule {
                name: inner,
                offset,
                body,
                parts: Vec::new(),
            });
        }
    }

    /// What may be ignored, any number of times.
    pub(super) fn skipped(&mut self) -> Option<NodeId> {
        let ignored = self.ignored?;
        if let Some(repeated) = self.any_ignored.filter(|_| !self.commits) {
            return Some(repeated);
        }
        let place = self.groups.ast.nodes[ignored.0 as usize].1;
        let repeated = Node::Repeat {
            inner: self.placed(ignored, place),
            min: 0,
            max: self.ignores_once.then_some(1),
            separator: None,
        };
        self.any_ignored = Some(self.groups.ast.add(repeated, place));
        self.any_ignored
    }

    /// A terminal with what may be ignored after it.
    pub(super) fn followed(&mut self, body: NodeId, offset: usize) -> NodeId {
        match self.skipped() {
            None => body,
            Some(ignored) => self.groups.ast.add(Node::Seq(vec![body, ignored]), offset),
        }
    }

    /// A terminal in one place, where some may be lazy.
    pub(super) fn placed(&mut self, inner: NodeId, offset: usize) -> NodeId {
        if !self.commits {
            return inner;
        }
        let without = Without {
            inner,
            excluded: Vec::new(),
            partly: Vec::new(),
        };
        self.groups.ast.add(Node::Without(without), offset)
    }
}

/// The rule without what is ignored before it. No name of a source has a space.
pub(super) fn inner_name(name: &str) -> String {
    format!("{name} inside")
}
