//! Parses groups within groups over an explicit stack, so that nesting is bounded by the limits and not by the thread's stack.

use super::ast::{Ast, Function, Node, NodeId};
use crate::error::{Error, SourceLocation};
use crate::limits::Limits;
use crate::tuning::MAX_GROUP_NESTING;

/// Refuses a source that is too long.
pub(in crate::syntax) fn check_size(text: &str, limits: &Limits) -> Result<(), Error> {
    let limit = ("E-LIMIT-GRAMMAR-BYTES", "grammar_bytes");
    Error::check_limit(limit, text.len(), limits.grammar_bytes)
}

/// Refuses a group that is nested too deep, `depth` of them being open; the body of a rule is no group.
pub(in crate::syntax) fn check_nesting(
    text: &str,
    limits: &Limits,
    depth: usize,
    offset: usize,
) -> Result<(), Error> {
    let limit = ("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting");
    Error::check_limit(limit, depth, limits.grammar_nesting.min(MAX_GROUP_NESTING)).map_err(
        |error| {
            let error = error.at(SourceLocation::in_text(text, offset));
            if limits.grammar_nesting < MAX_GROUP_NESTING {
                return error;
            }
            error.with_hint("simplify the input: groups nest no deeper, whatever the limits say")
        },
    )
}

/// Counts one alternative more in `count`, and refuses one too many.
pub(in crate::syntax) fn count_alternative(
    text: &str,
    limits: &Limits,
    count: &mut usize,
    offset: usize,
) -> Result<(), Error> {
    *count += 1;
    let limit = ("E-LIMIT-GRAMMAR-ALTERNATIVES", "grammar_alternatives");
    Error::check_limit(limit, *count, limits.grammar_alternatives)
        .map_err(|error| error.at(SourceLocation::in_text(text, offset)))
}

/// Refuses a repetition with too large a bound.
pub(in crate::syntax) fn check_repetition(
    text: &str,
    limits: &Limits,
    bound: u32,
    offset: usize,
) -> Result<(), Error> {
    let allowed = limits.regex_repetition;
    if bound <= allowed {
        return Ok(());
    }
    let (code, limit) = ("E-LIMIT-REGEX-REPETITION", "regex_repetition");
    let error = Error::limit(code, limit, u64::from(bound), u64::from(allowed));
    Err(error.at(SourceLocation::in_text(text, offset)))
}

/// An open group.
struct Frame {
    offset: usize,
    alternatives: Vec<NodeId>,
    /// Of an intersection.
    operands: Vec<NodeId>,
    /// Each with the offset where it starts.
    items: Vec<(NodeId, usize)>,
    /// Complements that wait for their operand.
    complements: Vec<usize>,
}

/// The tree of a source while its groups are read. An alternative with nothing in it is the empty string.
pub(in crate::syntax) struct Groups<'t> {
    text: &'t str,
    limits: &'t Limits,
    pub(in crate::syntax) ast: Ast,
    frames: Vec<Frame>,
    alternatives: usize,
}

impl<'t> Groups<'t> {
    /// No rules and no group.
    pub(in crate::syntax) fn new(text: &'t str, limits: &'t Limits) -> Self {
        Self {
            text,
            limits,
            ast: Ast::default(),
            frames: Vec::new(),
            alternatives: 0,
        }
    }

    /// A mistake in the source.
    pub(in crate::syntax) fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(self.text, offset))
    }

    /// How many groups are open; the body of a rule is one.
    pub(in crate::syntax) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Where the innermost group was opened.
    pub(in crate::syntax) fn opened_at(&mut self) -> usize {
        self.frame().offset
    }

    /// The innermost open group. There is one for as long as a body is read.
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a body has a frame")
    }

    /// Opens a group, or the body of a rule.
    pub(in crate::syntax) fn open(&mut self, offset: usize) -> Result<(), Error> {
        check_nesting(self.text, self.limits, self.frames.len(), offset)?;
        self.frames.push(Frame {
            offset,
            alternatives: Vec::new(),
            operands: Vec::new(),
            items: Vec::new(),
            complements: Vec::new(),
        });
        Ok(())
    }

    /// A complement of the item that comes next.
    pub(in crate::syntax) fn complement(&mut self, offset: usize) -> Result<(), Error> {
        if self.frame().complements.len() >= self.limits.grammar_nesting.min(MAX_GROUP_NESTING) {
            return Err(self
                .error(offset, "too many complements of complements")
                .with_hint("two complements say nothing"));
        }
        self.frame().complements.push(offset);
        Ok(())
    }

    /// Adds an item.
    pub(in crate::syntax) fn item(&mut self, node: Node, offset: usize) {
        let id = self.ast.add(node, offset);
        self.item_again(id, offset);
    }

    /// Adds an item that is in the tree already.
    pub(in crate::syntax) fn item_again(&mut self, mut id: NodeId, offset: usize) {
        while let Some(start) = self.frame().complements.pop() {
            id = self.ast.add(Node::Function(Function::Not, id), start);
        }
        self.frame().items.push((id, offset));
    }

    /// Replaces the last item by what is made of it; false if there is none.
    pub(in crate::syntax) fn change_last(&mut self, change: impl FnOnce(NodeId) -> Node) -> bool {
        let Some((last, offset)) = self.frame().items.pop() else {
            return false;
        };
        let changed = self.ast.add(change(last), offset);
        self.frame().items.push((changed, offset));
        true
    }

    /// Repeats the last item.
    pub(in crate::syntax) fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        offset: usize,
    ) -> Result<(), Error> {
        if max.is_some_and(|max| max < min) {
            return Err(self
                .error(offset, "the upper bound is below the lower one")
                .with_hint("the smaller number comes first"));
        }
        check_repetition(self.text, self.limits, max.unwrap_or(min), offset)?;
        let repeated = self.change_last(|inner| Node::Repeat {
            inner,
            min,
            max,
            separator: None,
        });
        if repeated {
            Ok(())
        } else {
            Err(self
                .error(offset, "nothing stands before the repetition")
                .with_hint("a repetition follows what it repeats"))
        }
    }

    /// Ends an operand of an intersection.
    pub(in crate::syntax) fn end_operand(&mut self, offset: usize) -> Result<(), Error> {
        if let Some(&start) = self.frame().complements.last() {
            return Err(self
                .error(start, "expected an operand after ~")
                .with_hint("~ stands before what it negates"));
        }
        let items = std::mem::take(&mut self.frame().items);
        let operand = match items[..] {
            [] => self.ast.add(Node::Bytes(Vec::new()), offset),
            [(only, _)] => only,
            [(_, start), ..] => {
                let parts = items.into_iter().map(|(id, _)| id).collect();
                self.ast.add(Node::Seq(parts), start)
            }
        };
        self.frame().operands.push(operand);
        Ok(())
    }

    /// Ends an alternative.
    pub(in crate::syntax) fn end_alternative(&mut self, offset: usize) -> Result<(), Error> {
        self.end_operand(offset)?;
        count_alternative(self.text, self.limits, &mut self.alternatives, offset)?;
        let operands = std::mem::take(&mut self.frame().operands);
        let alternative = self.ast.intersection(operands, offset);
        self.frame().alternatives.push(alternative);
        Ok(())
    }

    /// Closes the innermost group and says what it holds.
    pub(in crate::syntax) fn close(&mut self, offset: usize) -> Result<NodeId, Error> {
        self.end_alternative(offset)?;
        let frame = self.frames.pop().expect("a body has a frame");
        Ok(self.ast.choice(frame.alternatives, frame.offset))
    }
}
