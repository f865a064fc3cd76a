//! Whole grammars that are given by name.

use std::sync::Arc;

use super::lexer::{Kind, Token};
use super::parser::Parser;
use crate::error::{Error, SourceLocation};
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
        let Some((_, grammar)) = self.grammars.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = self.grammars.iter().map(|(name, _)| *name).collect();
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
}
