//! Which terminals may stand right behind which: where the one could go on with what the other begins with, readers that
//! take the longest match refuse texts that are accepted here.

use super::places::{Net, Place, forward, plain, reached};
use crate::limits::Fuel;
use crate::maps::{IdIndexMap, IdIndexSet, IdMap, IdSet};
use crate::syntax::rules::{Ast, Node, NodeId};
use crate::tuning::FOLLOWED;

/// Terminals, each with those that may follow it. What is left when the work is too much is left out.
pub(super) fn followed(
    ast: &Ast,
    terminals: (&IdSet<u32>, Option<NodeId>),
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
    let mut behind: IdMap<Place, Vec<NodeId>> = IdMap::default();
    for occurrence in &net.occurrences {
        let is_there = (occurrence.places().iter()).any(|&place| reached[place as usize]);
        let id = plain(ast, occurrence.node);
        if !is_there || !may_go_on(ast, id) || is_shortest(occurrence.node) {
            continue;
        }
        // What is ignored right there comes first.
        let here = begin[occurrence.after() as usize].iter();
        let here = here.map(|&at| plain(ast, net.occurrences[at as usize].node));
        let place = forward(&net, &graph, &begin, occurrence.after());
        let known = behind.entry(place).or_insert_with(|| {
            let mut seen: IdSet<Place> = IdSet::default();
            let mut ids: IdIndexSet<u32> = IdIndexSet::default();
            let mut work = vec![place];
            while let Some(place) = work.pop().filter(|_| !fuel.is_spent()) {
                if !seen.insert(place) {
                    continue;
                }
                fuel.take(1 + graph[place as usize].len() + begin[place as usize].len());
                work.extend(&graph[place as usize]);
                let there = begin[place as usize].iter();
                ids.extend(there.map(|&at| plain(ast, net.occurrences[at as usize].node).0));
            }
            ids.into_iter().map(NodeId).collect()
        });
        fuel.take(known.len());
        if fuel.is_spent() {
            break;
        }
        let others = here.chain(known.iter().copied());
        let others = others.filter(|&other| other != id && is_text(ast, other));
        let entry = found.entry(id.0).or_default();
        entry.extend(others.map(|other| other.0));
    }
    let pair = |(id, behind): (u32, IdIndexSet<u32>)| {
        let behind = behind.into_iter().map(NodeId).collect();
        (NodeId(id), behind)
    };
    found.into_iter().map(pair).collect()
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
