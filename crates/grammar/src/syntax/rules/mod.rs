//! What the languages of rules share: the tree that a source becomes, the groups it is read in, and its lowering.

mod ast;
mod groups;
mod lower;

pub(super) use ast::{Ast, Constant, Function, Node, NodeId, Rule};
pub(super) use groups::{DEEPEST, Groups, check_size};
pub(super) use lower::lower;
