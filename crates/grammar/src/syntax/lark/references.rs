//! Whole grammars in a rule: given by name, schemas, and grammars in this language.

use std::sync::Arc;

use super::lexer::{Kind, Token};
use super::parser::{Around, Parser};
use crate::error::{Error, SourceLocation};
use crate::ir::Grammar;
use crate::syntax::json_schema;
use crate::syntax::rules::Node;

impl Parser<'_> {
    /// The grammar whose name follows `@`, which stands at `offset`.
    pub(super) fn given(
        &self,
        tokens: &[Token],
        at: &mut usize,
        offset: usize,
    ) -> Result<Node, Error> {
        let name = match tokens.get(*at).map(|token| &token.kind) {
            Some(Kind::Name(name)) => name.clone(),
            Some(Kind::Number(number)) => number.to_string(),
            _ => {
                return Err(self
                    .groups
                    .error(offset, "expected the name of a grammar after @")
                    .with_hint("a grammar that is given by name is written @name"));
            }
        };
        *at += 1;
        let Some(grammar) = self.around.grammar(&name) else {
            let names: Vec<&str> = self.around.grammars.iter().map(|(name, _)| *name).collect();
            return Err(Error::grammar(
                "E-GRAMMAR-UNDEFINED",
                format!("there is no grammar {name:?}"),
            )
            .at(SourceLocation::in_text(self.text, offset))
            .with_hint(match names[..] {
                [] => "no grammar is given by name: write its rules here".to_owned(),
                _ => format!("those that are given by name are: {}", names.join(", ")),
            }));
        };
        Ok(Node::Grammar(Arc::clone(grammar)))
    }

    pub(super) fn schema(&self, json: &str, start: usize) -> Result<Node, Error> {
        let options = json_schema::Options::default();
        let grammar = json_schema::parse(json, &options, self.around.limits).map_err(|error| {
            let inside = match error.location() {
                Some(SourceLocation::Text { offset, .. }) => *offset,
                _ => 0,
            };
            let place = SourceLocation::in_text(self.text, start + inside);
            match error.location() {
                // The pointer says more than the place of the whole schema.
                Some(SourceLocation::Pointer(_)) => error,
                _ if error.hint().is_some() => error.at(place),
                _ => error.at(place).with_hint("%json takes a JSON Schema"),
            }
        })?;
        let place = match SourceLocation::in_text(self.text, start) {
            SourceLocation::Text { line, column, .. } => format!("%json@{line}:{column}"),
            SourceLocation::Pointer(pointer) => pointer,
        };
        Ok(Node::Grammar(Arc::new(grammar.with_pointer_prefix(&place))))
    }

    /// The grammar between the brackets after `%lark`, which begin at `start`.
    pub(super) fn nested(&self, written: &str, start: usize) -> Result<Node, Error> {
        let inner = &written[1..written.len() - 1];
        let grammar = (self.around.nested)(inner).map_err(|error| match error.location() {
            Some(SourceLocation::Text { offset, .. }) => {
                let place = SourceLocation::in_text(self.text, start + 1 + offset);
                error.at(place)
            }
            _ => error,
        })?;
        Ok(Node::Grammar(Arc::new(grammar)))
    }
}

impl Around<'_> {
    /// The grammar of a name.
    pub(super) fn grammar(&self, name: &str) -> Option<&Arc<Grammar>> {
        let found = self.grammars.iter().find(|(known, _)| *known == name);
        found.map(|(_, grammar)| grammar)
    }
}
