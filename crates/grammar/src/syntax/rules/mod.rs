//! What the languages of rules share: the tree that a source becomes, the groups it is read in, and its lowering.

mod ast;
mod checks;
mod classes;
mod cursor;
mod groups;
mod lower;
mod operands;
mod regular;
mod suggest;

pub(super) use ast::{
    Ast, Constant, Function, Node, NodeId, Pattern, Rule, Sight, Without, duplicate,
};
pub(super) use classes::{class_around, ranges_in_order};
pub(super) use cursor::Cursor;
pub(super) use groups::{Groups, check_nesting, check_repetition, check_size, count_alternative};
pub(super) use lower::lower;
