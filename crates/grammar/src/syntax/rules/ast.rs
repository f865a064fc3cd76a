//! The syntax tree of a source, in an arena: children stand before their parents. A node may have several parents.

use std::sync::Arc;

use crate::error::{Diagnostic, Error, SourceLocation};
use crate::ir::{Grammar, Regex, TokenSet};

/// A node of an [`Ast`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) struct NodeId(pub(in crate::syntax) u32);

/// A builtin without an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Constant {
    Any,
    Byte,
    Nothing,
}

/// A builtin with a regular operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Function {
    /// `~x`
    Not,
    Complement,
    Except,
    Until,
    /// What matches without a proper prefix that matches.
    Shortest,
    /// What matches without a proper prefix of at least so many characters that matches: it ends as soon as it can once
    /// they are written.
    Within(u32),
    /// The operand itself, as a part of a longer terminal: no pattern in it may stop at its own shortest match.
    Part,
}

/// What a pattern sees, and what its lazy repetitions mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Sight {
    /// It is matched against a text of its own; lazy repetitions say nothing.
    Own,
    /// It is a part of a terminal, in a text that goes on.
    Part,
    /// It is a terminal, in a text that goes on: a lazy repetition ends it at its shortest match.
    Whole,
    /// It is a part of a terminal that ends at its shortest match: lazy repetitions say nothing new.
    Shortest,
}

/// A regular expression, and where in the source it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct Pattern {
    pub(in crate::syntax) text: String,
    /// The offset of its first character.
    start: usize,
    /// Where in the text backslashes are that the source writes as two.
    doubled: Vec<usize>,
    pub(in crate::syntax) sight: Sight,
}

impl Pattern {
    /// A pattern that is written as it is.
    pub(in crate::syntax) fn new(text: String, start: usize) -> Self {
        Self {
            text,
            start,
            doubled: Vec::new(),
            sight: Sight::Own,
        }
    }

    /// The same, in a text that goes on before and after it.
    pub(in crate::syntax) fn seeing(self, sight: Sight) -> Self {
        Self { sight, ..self }
    }

    /// A pattern that is written as a string: two backslashes are one. Every other escape of a string means the same in a
    /// pattern, and what no string has is the pattern's own: `\d` may be written with one backslash or with two.
    pub(in crate::syntax) fn in_string(written: &str, start: usize) -> Self {
        let mut pattern = Self::new(String::with_capacity(written.len()), start);
        let mut characters = written.chars();
        while let Some(c) = characters.next() {
            if c == '\\' {
                match characters.next() {
                    Some('\\') => pattern.doubled.push(pattern.text.len()),
                    Some(other) => {
                        pattern.text.extend([c, other]);
                        continue;
                    }
                    None => {}
                }
            }
            pattern.text.push(c);
        }
        pattern
    }

    /// Where in the source something of the text stands.
    pub(in crate::syntax) fn source(&self, offset: usize) -> usize {
        debug_assert!(self.doubled.is_sorted());
        self.start + offset + self.doubled.partition_point(|&at| at < offset)
    }

    /// Whether some backslash is written as two.
    pub(in crate::syntax) fn is_doubled(&self) -> bool {
        !self.doubled.is_empty()
    }
}

/// A terminal beside lazy ones, which are matched first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct Without {
    pub(in crate::syntax) inner: NodeId,
    /// What it does not match.
    pub(in crate::syntax) excluded: Vec<NodeId>,
    /// What it does not match in some of the places where it stands.
    pub(in crate::syntax) partly: Vec<NodeId>,
}

impl Without {
    /// Whether nothing is left out.
    pub(super) fn is_whole(&self) -> bool {
        self.excluded.is_empty() && self.partly.is_empty()
    }
}

/// One expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) enum Node {
    Bytes(Vec<u8>),
    Pattern(Pattern),
    /// A regular language that the front end made.
    Regex(Regex),
    /// One character out of inclusive ranges, ascending.
    Class(Vec<(char, char)>),
    /// Any run of pieces that stand after one another, the empty one too.
    Parts(Vec<Vec<u8>>),
    Name(String),
    Constant(Constant),
    Function(Function, NodeId),
    Without(Without),
    Marker(String),
    Token(TokenSet),
    /// A whole grammar of another language.
    Grammar(Arc<Grammar>),
    Capture(String, NodeId),
    Seq(Vec<NodeId>),
    And(Vec<NodeId>),
    Alt(Vec<NodeId>),
    Repeat {
        inner: NodeId,
        min: u32,
        max: Option<u32>,
        separator: Option<NodeId>,
    },
}

impl Node {
    /// What the node is made of.
    pub(in crate::syntax) fn children(&self) -> impl Iterator<Item = NodeId> + '_ {
        let (parts, last): (&[NodeId], Option<NodeId>) = match self {
            Self::Function(_, inner) | Self::Capture(_, inner) => {
                (std::slice::from_ref(inner), None)
            }
            Self::Seq(parts) | Self::And(parts) | Self::Alt(parts) => (parts, None),
            Self::Repeat {
                inner, separator, ..
            } => (std::slice::from_ref(inner), *separator),
            Self::Without(without) => (&without.excluded, Some(without.inner)),
            _ => (&[], None),
        };
        parts.iter().copied().chain(last)
    }
}

/// A rule and where its name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct Rule {
    pub(in crate::syntax) name: String,
    pub(in crate::syntax) offset: usize,
    pub(in crate::syntax) body: NodeId,
    /// What stands in other rules in its place, without its name.
    pub(in crate::syntax) parts: Vec<NodeId>,
}

/// A whole source.
#[derive(Debug, Clone, Default)]
pub(in crate::syntax) struct Ast {
    /// Whether a rule may stand where something regular is wanted, if what it says is regular.
    pub(in crate::syntax) rules_as_operands: bool,
    /// Whether a rule that can never write anything is refused; else it is only warned of.
    pub(in crate::syntax) refuses_stuck_rules: bool,
    pub(in crate::syntax) rules: Vec<Rule>,
    /// Terminals that readers might read on, each with those that may follow it.
    pub(in crate::syntax) followed: Vec<(NodeId, Vec<NodeId>)>,
    /// What the front end has to say, each with its offset.
    pub(in crate::syntax) warnings: Vec<(usize, Diagnostic)>,
    /// Each with the offset where it starts.
    pub(in crate::syntax) nodes: Vec<(Node, usize)>,
}

impl Ast {
    /// Adds a node, whose children are there already.
    pub(in crate::syntax) fn add(&mut self, node: Node, offset: usize) -> NodeId {
        debug_assert!(
            node.children().all(|id| (id.0 as usize) < self.nodes.len()),
            "children stand before their parents"
        );
        self.nodes.push((node, offset));
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The intersection of operands; `offset` is where it stands if there are none.
    pub(in crate::syntax) fn intersection(
        &mut self,
        operands: Vec<NodeId>,
        offset: usize,
    ) -> NodeId {
        match operands[..] {
            [only] => only,
            [first, ..] => {
                let start = self.nodes[first.0 as usize].1;
                self.add(Node::And(operands), start)
            }
            [] => self.add(Node::And(operands), offset),
        }
    }

    /// The choice between alternatives, which starts at `offset`.
    pub(in crate::syntax) fn choice(&mut self, alternatives: Vec<NodeId>, offset: usize) -> NodeId {
        match alternatives[..] {
            [only] => only,
            _ => self.add(Node::Alt(alternatives), offset),
        }
    }
}

/// Refuses a rule at `offset` that is defined at `first` already.
pub(in crate::syntax) fn duplicate(text: &str, name: &str, offset: usize, first: usize) -> Error {
    let line = text[..first].bytes().filter(|&byte| byte == b'\n').count() + 1;
    Error::grammar(
        "E-GRAMMAR-DUPLICATE",
        format!("the rule {name:?} is defined twice"),
    )
    .at(SourceLocation::in_text(text, offset))
    .with_hint(format!(
        "it is first defined in line {line}; join the two with |"
    ))
}
