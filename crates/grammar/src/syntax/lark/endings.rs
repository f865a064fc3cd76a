//! What the options of a rule say: where its text ends, what is labelled, and how long it may be.

use super::lexer::{Kind, Token, unsupported};
use super::parser::Parser;
use super::statements::Definition;
use crate::error::Error;
use crate::syntax::rules::{Function, Node, NodeId, Without};

/// The most tokens of the part with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The label of the part.
    pub label: String,
    /// The most tokens.
    pub tokens: u32,
    /// The rule, which is to come once.
    pub(super) rule: String,
    /// Where the option is.
    pub(super) offset: usize,
}

impl<'s> Parser<'s> {
    /// Refuses the options of rules on a terminal.
    pub(super) fn check_terminal(&self, definition: &Definition<'s>) -> Result<(), Error> {
        let options = &definition.options;
        let what = if options.capture.is_some() || options.stop_capture.is_some() {
            "a capture of a terminal is"
        } else if options.stop.is_some() {
            "the stop of a terminal is"
        } else if options.max_tokens.is_some() {
            "the option max_tokens of a terminal is"
        } else {
            return Ok(());
        };
        Err(unsupported(self.text, definition.offset, what)
            .with_hint("give the option to a rule, which begins with a small letter"))
    }

    /// What of a rule or terminal is matched, where its options ask for the shortest match; and its weight.
    pub(super) fn shortest(
        &mut self,
        definition: &Definition<'s>,
        body: NodeId,
        weight: u64,
    ) -> Result<(NodeId, u64), Error> {
        let (options, offset) = (&definition.options, definition.offset);
        if let Some(stop) = options
            .stop
            .or(options.suffix.filter(|_| options.is_labelled()))
        {
            let stop = self.ending(stop)?;
            let weight = weight + stop.len() as u64;
            return Ok((self.before(definition, body, &stop), weight));
        }
        let (mut body, mut weight) = (body, weight);
        if let Some(suffix) = options.suffix {
            let (end, more) = self.body(std::slice::from_ref(suffix), suffix.offset, true)?;
            body = self.groups.ast.add(Node::Seq(vec![body, end]), offset);
            weight += more;
        }
        if options.lazy {
            let ast = &mut self.groups.ast;
            let shortest = ast.add(Node::Function(Function::Shortest, body), offset);
            let number = self.lazies.add(ast, definition.written(), body);
            self.lazies.matched(number, shortest, None);
            body = shortest;
        }
        Ok((body, weight))
    }

    /// The text that ends a part which does not hold it.
    fn ending(&self, token: &Token) -> Result<Vec<u8>, Error> {
        match &token.kind {
            Kind::Text(text, false) if !text.is_empty() => Ok(text.clone().into_bytes()),
            Kind::Text(text, false) if text.is_empty() => Err(unsupported(
                self.text,
                token.offset,
                "a stop at the end of the answer is",
            )
            .with_hint("leave it out: a part that nothing follows ends there in any case")),
            _ => Err(unsupported(
                self.text,
                token.offset,
                "a pattern that ends a part without belonging to it is",
            )
            .with_hint("give a text, or a suffix without a label on the rule")),
        }
    }

    /// What stands before the first `stop` behind the body: a text x of the body for which no proper beginning of x and
    /// `stop` is another text of the body and `stop`. Where such a beginning ends inside of the last `stop`, that one
    /// overlaps itself.
    fn before(&mut self, definition: &Definition<'s>, body: NodeId, stop: &[u8]) -> NodeId {
        let offset = definition.offset;
        let ast = &mut self.groups.ast;
        let end = ast.add(Node::Bytes(stop.to_vec()), offset);
        let whole = ast.add(Node::Seq(vec![body, end]), offset);
        let number = self.lazies.add(ast, definition.written(), whole);
        let mut excluded = vec![self.lazies.begun(number)];
        for period in
            (1..stop.len()).filter(|&period| stop[period..] == stop[..stop.len() - period])
        {
            let part = ast.add(Node::Bytes(stop[..period].to_vec()), offset);
            excluded.push(ast.add(Node::Seq(vec![body, part]), offset));
        }
        let without = Without {
            inner: body,
            excluded,
            partly: Vec::new(),
        };
        let before = ast.add(Node::Without(without), offset);
        self.lazies.matched(number, before, Some(stop.to_vec()));
        before
    }

    /// A rule with its labels and what they belong to.
    pub(super) fn labelled(
        &mut self,
        name: &str,
        definition: &Definition<'s>,
        body: NodeId,
    ) -> Result<NodeId, Error> {
        let (options, offset) = (&definition.options, definition.offset);
        let mut body = body;
        let mut label = options
            .capture
            .map(|label| if label.is_empty() { name } else { label });
        if let Some((tokens, place)) = options.max_tokens {
            if self.around.is_inside {
                return Err(unsupported(
                    self.text,
                    place,
                    "max_tokens in a grammar inside another is",
                )
                .with_hint("give it to the rule around the grammar"));
            }
            if tokens == 0 {
                body = self.groups.ast.add(Node::Bytes(Vec::new()), offset);
            } else {
                label = label.or(Some(name));
                self.budgets.push(Budget {
                    label: label.unwrap_or(name).to_owned(),
                    tokens,
                    rule: name.to_owned(),
                    offset: place,
                });
            }
        }
        let ast = &mut self.groups.ast;
        if let Some(label) = label {
            body = ast.add(Node::Capture(label.to_owned(), body), offset);
        }
        let suffix = options.suffix.filter(|_| options.is_labelled());
        if let Some(Token {
            kind: Kind::Text(text, _),
            offset: place,
            ..
        }) = suffix
        {
            let place = *place;
            let mut end = ast.add(Node::Bytes(text.clone().into_bytes()), place);
            if let Some(label) = options.stop_capture {
                end = ast.add(Node::Capture(label.to_owned(), end), place);
            }
            body = ast.add(Node::Seq(vec![body, end]), offset);
        }
        Ok(body)
    }
}
