//! Whether a terminal may match the empty text, before it is lowered.

use crate::maps::IdMap;
use crate::syntax::rules::{Ast, Function, Node, NodeId, Without};

/// Whether a terminal may match the empty text. A pattern that looks around itself is taken for one that does not.
/// `known` is what was found out before.
pub(super) fn is_nullable(ast: &Ast, id: NodeId, known: &mut IdMap<u32, bool>) -> bool {
    let mut work = vec![(id, false)];
    while let Some((id, visited)) = work.pop() {
        if known.contains_key(&id.0) {
            continue;
        }
        let node = &ast.nodes[id.0 as usize].0;
        if !visited {
            work.push((id, true));
            work.extend(node.children().map(|child| (child, false)));
            continue;
        }
        let of = |id: &NodeId| known[&id.0];
        let nullable = match node {
            Node::Bytes(bytes) => bytes.is_empty(),
            Node::Parts(_) => true,
            Node::Pattern(pattern) => regex_syntax::parse(&pattern.text)
                .is_ok_and(|hir| hir.properties().minimum_len() == Some(0)),
            Node::Seq(parts) | Node::And(parts) => parts.iter().all(of),
            Node::Alt(parts) => parts.iter().any(of),
            Node::Repeat { inner, min, .. } => *min == 0 || of(inner),
            Node::Function(Function::Not | Function::Complement, inner) => !of(inner),
            Node::Function(_, inner)
            | Node::Capture(_, inner)
            | Node::Without(Without { inner, .. }) => of(inner),
            _ => false,
        };
        known.insert(id.0, nullable);
    }
    known[&id.0]
}
