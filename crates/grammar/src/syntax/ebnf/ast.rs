//! What a source says, in an arena: children stand before their parents.

use crate::ir::TokenSet;

/// A node of an [`Ast`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

/// A builtin without an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    Any,
    Byte,
    Nothing,
}

/// A builtin with a regular operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// `~x`
    Not,
    Complement,
    Except,
    Until,
}

/// One expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Bytes(Vec<u8>),
    /// A regular expression and the offset of its first character.
    Pattern(String, usize),
    Name(String),
    Constant(Constant),
    Function(Function, NodeId),
    Marker(String),
    Token(TokenSet),
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

/// A rule and where its name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) offset: usize,
    pub(super) body: NodeId,
}

/// A whole source.
#[derive(Debug, Clone, Default)]
pub(super) struct Ast {
    pub(super) rules: Vec<Rule>,
    /// Each with the offset where it starts.
    pub(super) nodes: Vec<(Node, usize)>,
}

impl Ast {
    pub(super) fn add(&mut self, node: Node, offset: usize) -> NodeId {
        self.nodes.push((node, offset));
        NodeId(self.nodes.len() as u32 - 1)
    }
}
