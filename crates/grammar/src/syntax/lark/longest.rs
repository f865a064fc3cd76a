//! Which terminals may stand right behind which: where the one could go on with what the other begins with, readers that
//! take the longest match refuse texts that are accepted here.

use super::places::{Net, reached};
use crate::limits::Fuel;
use crate::maps::{IdIndexMap, IdIndexSet, IdSet};
use crate::syntax::rules::{Ast, Node, NodeId, Without};
use crate::tuning::FOLLOWED;

/// Terminals, each with those that may follow it. What is left when the work is too much is left out.
pub(super) fn followed(
    ast: &Ast,
    terminals: &IdSet<u32>,
    is_shortest: impl Fn(NodeId) -> bool,
    start: &str,
) -> Vec<(NodeId, Vec<NodeId>)> {
    let Some(start) = ast.rules.iter().position(|rule| rule.name == start) else {
        return Vec::new();
    };
    let net = Net::new(ast, terminals, |_| false);
    let (graph, begin) = (net.graph(), net.begin());
    let reached = reached(&graph, &net, &begin, net.beginning(start));
    let mut fuel = Fuel::of(FOLLOWED);
    let mut found: IdIndexMap<u32, IdIndexSet<u32>> = IdIndexMap::default();
    for occurrence in &net.occurrences {
        let is_there = occurrence
            .places()
            .iter()
            .any(|&place| reached[place as usize]);
        let id = inner(ast, occurrence.node);
        if !is_there || !may_go_on(ast, id) || is_shortest(occurrence.node) {
            continue;
        }
        let mut seen: IdSet<u32> = IdSet::default();
        let mut work = vec![occurrence.after()];
        while let Some(place) = work.pop() {
            if !seen.insert(place) {
                continue;
            }
            fuel.take(1 + graph[place as usize].len() + begin[place as usize].len());
            if fuel.is_spent() {
                break;
            }
            work.extend(&graph[place as usize]);
            let behind = begin[place as usize].iter();
            let behind = behind.map(|&at| inner(ast, net.occurrences[at as usize].node));
            let behind = behind.filter(|behind| *behind != id && is_text(ast, *behind));
            found
                .entry(id.0)
                .or_default()
                .extend(behind.map(|behind| behind.0));
        }
    }
    let pair = |(id, behind): (u32, IdIndexSet<u32>)| {
        (NodeId(id), behind.into_iter().map(NodeId).collect())
    };
    found.into_iter().map(pair).collect()
}

fn inner(ast: &Ast, id: NodeId) -> NodeId {
    match &ast.nodes[id.0 as usize].0 {
        Node::Without(Without { inner, .. }) => *inner,
        _ => id,
    }
}

/// Whether a terminal is no single text, after which nothing could go on.
fn may_go_on(ast: &Ast, id: NodeId) -> bool {
    is_text(ast, id) && !matches!(ast.nodes[id.0 as usize].0, Node::Bytes(_) | Node::Class(_))
}

fn is_text(ast: &Ast, id: NodeId) -> bool {
    !matches!(
        ast.nodes[id.0 as usize].0,
        Node::Token(_) | Node::Grammar(_) | Node::Name(_) | Node::Constant(_)
    )
}
