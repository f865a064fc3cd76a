//! The order in which a tree is lowered. Where `&`, `~` or a builtin wants something regular, a name stands for what its rule
//! says, so that rule comes first; it must not contain itself.

use super::ast::{Ast, Node, NodeId};
use crate::error::{Error, SourceLocation};
use crate::maps::SeededIndexMap;

/// The position of each rule in [`Ast::rules`], by its name.
pub(super) type Positions<'a> = SeededIndexMap<&'a str, usize>;

/// Nodes, each after those that it is made of.
pub(super) struct Order {
    pub(super) nodes: Vec<NodeId>,
    /// By node: whether it is a name that stands for what its rule says.
    pub(super) replaced: Vec<bool>,
    /// By node: whether it is a part of an operand, and must be regular.
    pub(super) operand: Vec<bool>,
}

/// Orders all nodes of a tree.
pub(super) fn order(text: &str, ast: &Ast, positions: &Positions<'_>) -> Result<Order, Error> {
    let (operand, replaced) = operands(ast, positions);
    if !replaced.contains(&true) {
        // Children stand before their parents.
        let nodes = (0..ast.nodes.len() as u32).map(NodeId).collect();
        return Ok(Order {
            nodes,
            replaced,
            operand,
        });
    }
    let mut nodes = Vec::with_capacity(ast.nodes.len());
    let mut marks = vec![Mark::New; ast.nodes.len()];
    for root in (0..ast.nodes.len() as u32).map(NodeId) {
        let mut work = vec![(root, false)];
        while let Some((id, left)) = work.pop() {
            let at = id.0 as usize;
            if left {
                marks[at] = Mark::Done;
                nodes.push(id);
                continue;
            }
            let (node, offset) = &ast.nodes[at];
            match marks[at] {
                Mark::Done => continue,
                // The way here began inside the rule that it leads back to.
                Mark::Open => return Err(recursive(text, *offset)),
                Mark::New => {}
            }
            marks[at] = Mark::Open;
            work.push((id, true));
            for child in node.children() {
                work.push((child, false));
            }
            if let Some(body) = replaced[at].then(|| body(ast, positions, node)).flatten() {
                if marks[body.0 as usize] == Mark::Open {
                    return Err(recursive(text, *offset));
                }
                work.push((body, false));
            }
        }
    }
    Ok(Order {
        nodes,
        replaced,
        operand,
    })
}

fn recursive(text: &str, offset: usize) -> Error {
    Error::grammar(
        "E-GRAMMAR-IRREGULAR",
        "this operand must be regular, and its rule contains itself",
    )
    .at(SourceLocation::in_text(text, offset))
    .with_hint("rules that stand in operands of & and ~ and of builtins cannot be recursive")
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// The rule that a name names.
pub(super) fn position(positions: &Positions<'_>, node: &Node) -> Option<usize> {
    let Node::Name(name) = node else {
        return None;
    };
    positions.get(name.as_str()).copied()
}

/// What that rule says.
pub(super) fn body(ast: &Ast, positions: &Positions<'_>, node: &Node) -> Option<NodeId> {
    Some(ast.rules[position(positions, node)?].body)
}

/// What stands in operands, and which names in them stand for what their rules say.
fn operands(ast: &Ast, positions: &Positions<'_>) -> (Vec<bool>, Vec<bool>) {
    let mut replaced = vec![false; ast.nodes.len()];
    let mut inside = vec![false; ast.nodes.len()];
    let mut work: Vec<NodeId> = Vec::new();
    for (node, _) in &ast.nodes {
        match node {
            Node::Function(..) | Node::And(_) => work.extend(node.children()),
            Node::Without(without) if !without.is_whole() => work.extend(node.children()),
            _ => {}
        }
    }
    while let Some(id) = work.pop() {
        let at = id.0 as usize;
        if std::mem::replace(&mut inside[at], true) {
            continue;
        }
        let node = &ast.nodes[at].0;
        work.extend(node.children());
        if ast.rules_as_operands
            && let Some(body) = body(ast, positions, node)
        {
            replaced[at] = true;
            work.push(body);
        }
    }
    (inside, replaced)
}
