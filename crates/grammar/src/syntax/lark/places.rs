//! The places between the terminals of a grammar, and what may come next there: what follows the end of a rule is what
//! follows it anywhere.

use super::nullable::is_nullable;
use crate::maps::{IdMap, IdSet, SeededMap};
use crate::syntax::rules::{Ast, Node, NodeId, Without};

/// A place between terminals, in one of two forms: before anything of its rule was written, and after something was.
pub(super) type Place = u32;

/// A terminal in a place.
pub(super) struct Occurrence {
    pub(super) node: NodeId,
    from: u32,
    to: u32,
}

/// The places of all rules.
#[derive(Default)]
pub(super) struct Net {
    count: u32,
    steps: Vec<(u32, u32)>,
    /// (rule, from, to)
    calls: Vec<(usize, u32, u32)>,
    pub(super) occurrences: Vec<Occurrence>,
    /// By rule: where it begins and ends.
    rules: Vec<(u32, u32)>,
}

impl Net {
    fn place(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// `is_cut` says of which terminals a text is to follow.
    pub(super) fn new(
        ast: &Ast,
        (terminals, ignored): (&IdSet<u32>, Option<NodeId>),
        is_cut: impl Fn(NodeId) -> bool,
    ) -> Self {
        let mut net = Self::default();
        let positions: SeededMap<&str, usize> = (ast.rules.iter().enumerate())
            .map(|(position, rule)| (rule.name.as_str(), position))
            .collect();
        net.rules = (0..ast.rules.len())
            .map(|_| (net.place(), net.place()))
            .collect();
        let mut work: Vec<(NodeId, u32, u32)> = (ast.rules.iter().zip(&net.rules))
            .map(|(rule, &(from, to))| (rule.body, from, to))
            .collect();
        let inlined = inlined(ast, terminals, &positions);
        let is_ignored = |id: NodeId| ignored.is_some_and(|ignored| plain(ast, id) == ignored);
        while let Some((id, from, to)) = work.pop() {
            let node = &ast.nodes[id.0 as usize].0;
            match node {
                _ if terminals.contains(&id.0) => net.occurs(id, from, to),
                Node::Seq(parts) => {
                    let at = net.chain(parts.iter().copied(), from, &mut work);
                    net.steps.push((at, to));
                }
                Node::Alt(parts) => work.extend(parts.iter().map(|&part| (part, from, to))),
                Node::Capture(_, inner) => work.push((*inner, from, to)),
                Node::Repeat { inner, .. } if is_ignored(*inner) => {
                    net.steps.push((from, to));
                    net.occurs(*inner, from, from);
                }
                Node::Repeat {
                    inner, min, max, ..
                } => net.repeat(*inner, (*min, *max), (from, to), &mut work),
                Node::Name(name) => match positions.get(name.as_str()) {
                    Some(&rule) if inlined[rule] => work.push((ast.rules[rule].body, from, to)),
                    Some(&rule) => net.calls.push((rule, from, to)),
                    None => net.occurs(id, from, to),
                },
                _ => net.occurs(id, from, to),
            }
        }
        let mut known = IdMap::default();
        for Occurrence { node, from, to, .. } in &net.occurrences {
            // What ends before a text is never empty with it.
            if !is_cut(*node) && is_nullable(ast, *node, &mut known) {
                net.steps.push((*from, *to));
            }
        }
        net
    }

    fn occurs(&mut self, node: NodeId, from: u32, to: u32) {
        self.occurrences.push(Occurrence { node, from, to });
    }

    /// One after another from a place; says where they end.
    fn chain(
        &mut self,
        parts: impl Iterator<Item = NodeId>,
        from: u32,
        work: &mut Vec<(NodeId, u32, u32)>,
    ) -> u32 {
        let mut at = from;
        for part in parts {
            let behind = self.place();
            work.push((part, at, behind));
            at = behind;
        }
        at
    }

    /// A repetition; a few times are told apart.
    fn repeat(
        &mut self,
        inner: NodeId,
        (min, max): (u32, Option<u32>),
        (from, to): (u32, u32),
        work: &mut Vec<(NodeId, u32, u32)>,
    ) {
        let is_few = min.max(max.unwrap_or(0)) <= FEW && self.count < MOST_TOLD_APART;
        let times = if is_few { min } else { min.min(1) };
        let mut at = self.chain((0..times).map(|_| inner), from, work);
        match max.filter(|_| is_few) {
            Some(max) => {
                for _ in times..max {
                    self.steps.push((at, to));
                    at = self.chain(std::iter::once(inner), at, work);
                }
            }
            None if max != Some(times) => {
                let begin = self.place();
                self.steps.push((at, begin));
                let end = self.chain(std::iter::once(inner), begin, work);
                self.steps.push((end, begin));
                at = begin;
            }
            None => {}
        }
        self.steps.push((at, to));
    }

    /// By rule: whether it may write nothing.
    fn nullable_rules(&self) -> Vec<bool> {
        let mut nullable = vec![false; self.rules.len()];
        let mut reached = vec![false; self.count as usize];
        let mut next: IdMap<u32, Vec<u32>> = IdMap::default();
        for &(from, to) in &self.steps {
            next.entry(from).or_default().push(to);
        }
        // By rule: the calls that wait for it to be known as one that may write nothing.
        let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); self.rules.len()];
        let mut calls: IdMap<u32, Vec<(usize, u32)>> = IdMap::default();
        for &(rule, from, to) in &self.calls {
            calls.entry(from).or_default().push((rule, to));
        }
        let ends: IdMap<u32, usize> = (self.rules.iter().enumerate())
            .map(|(rule, &(_, end))| (end, rule))
            .collect();
        let mut work: Vec<u32> = self.rules.iter().map(|&(from, _)| from).collect();
        while let Some(place) = work.pop() {
            if std::mem::replace(&mut reached[place as usize], true) {
                continue;
            }
            work.extend(next.get(&place).into_iter().flatten());
            for &(rule, to) in calls.get(&place).into_iter().flatten() {
                if nullable[rule] {
                    work.push(to);
                } else {
                    waiting[rule].push(to);
                }
            }
            if let Some(&rule) = ends.get(&place) {
                nullable[rule] = true;
                work.append(&mut waiting[rule]);
            }
        }
        nullable
    }

    /// The steps between places that write nothing, in both forms.
    pub(super) fn graph(&self) -> Vec<Vec<Place>> {
        let nullable = self.nullable_rules();
        let mut graph = vec![Vec::new(); 2 * self.count as usize];
        for &(from, to) in &self.steps {
            for form in 0..2 {
                graph[(2 * from + form) as usize].push(2 * to + form);
            }
        }
        for &(rule, from, to) in &self.calls {
            let (begin, end) = self.rules[rule];
            for form in 0..2 {
                graph[(2 * from + form) as usize].push(2 * begin);
                if nullable[rule] {
                    graph[(2 * from + form) as usize].push(2 * to + form);
                }
            }
            graph[(2 * end + 1) as usize].push(2 * to + 1);
        }
        graph
    }

    /// Where a text of a rule begins.
    pub(super) fn beginning(&self, rule: usize) -> Place {
        2 * self.rules[rule].0
    }

    /// Where a text of a rule that is not empty ends.
    pub(super) fn end(&self, rule: usize) -> Place {
        2 * self.rules[rule].1 + 1
    }

    /// By place: the occurrences that begin there.
    pub(super) fn begin(&self) -> Vec<Vec<u32>> {
        let mut begin = vec![Vec::new(); 2 * self.count as usize];
        for (at, occurrence) in self.occurrences.iter().enumerate() {
            for place in occurrence.places() {
                begin[place as usize].push(at as u32);
            }
        }
        begin
    }
}

/// By rule: whether it is written out where it is named, so that what follows is what follows there: a short one that does
/// not lead back to itself.
fn inlined(ast: &Ast, terminals: &IdSet<u32>, positions: &SeededMap<&str, usize>) -> Vec<bool> {
    let mut size = vec![0usize; ast.rules.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); ast.rules.len()];
    let mut open = vec![0usize; ast.rules.len()];
    for (caller, rule) in ast.rules.iter().enumerate() {
        let mut work = vec![rule.body];
        while let Some(id) = work.pop() {
            size[caller] += 1;
            let node = &ast.nodes[id.0 as usize].0;
            match node {
                _ if terminals.contains(&id.0) => {}
                Node::Name(name) => {
                    if let Some(&rule) = positions.get(name.as_str()) {
                        callers[rule].push(caller);
                        open[caller] += 1;
                    }
                }
                _ => work.extend(node.children()),
            }
        }
    }
    let mut inlined = vec![false; ast.rules.len()];
    let mut work: Vec<usize> = (0..ast.rules.len())
        .filter(|&rule| open[rule] == 0)
        .collect();
    while let Some(rule) = work.pop() {
        inlined[rule] = size[rule] <= MOST_INLINED;
        for &caller in &callers[rule] {
            size[caller] = size[caller].saturating_add(size[rule]);
            open[caller] -= 1;
            if open[caller] == 0 {
                work.push(caller);
            }
        }
    }
    inlined
}

/// A terminal without what marks its place.
pub(super) fn plain(ast: &Ast, id: NodeId) -> NodeId {
    match &ast.nodes[id.0 as usize].0 {
        Node::Without(Without { inner, .. }) => *inner,
        _ => id,
    }
}

/// Nodes of a rule that is written out where it is named.
const MOST_INLINED: usize = 100;

/// Repetitions that are told apart, and places up to which they are.
const FEW: u32 = 4;
const MOST_TOLD_APART: u32 = 50_000;

/// Places that are passed in search of the one that counts.
const MOST_PASSED: usize = 1_000;

/// The place from which a text may go on as from another: what is only passed, or only ignores something, is left out.
pub(super) fn forward(net: &Net, graph: &[Vec<Place>], begin: &[Vec<u32>], place: Place) -> Place {
    let mut place = place;
    for _ in 0..MOST_PASSED {
        let is_passed = begin[place as usize]
            .iter()
            .all(|&at| net.occurrences[at as usize].stays());
        match graph[place as usize][..] {
            [only] if is_passed => place = only,
            _ => break,
        }
    }
    place
}

impl Occurrence {
    /// Where it begins.
    pub(super) fn places(&self) -> [Place; 2] {
        [2 * self.from, 2 * self.from + 1]
    }

    /// Whether a text is behind it where it was before, as behind what is ignored.
    fn stays(&self) -> bool {
        self.from == self.to
    }

    /// Where a text goes on behind it.
    pub(super) fn after(&self) -> Place {
        2 * self.to + 1
    }
}

/// Carries what is known of places along the steps until nothing changes.
pub(super) fn spread(graph: &[Vec<Place>], known: &mut [u64], join: impl Fn(u64, u64) -> u64) {
    let mut work: Vec<u32> = (0..graph.len() as u32).collect();
    while let Some(place) = work.pop() {
        for &to in &graph[place as usize] {
            let joined = join(known[place as usize], known[to as usize]);
            if joined != known[to as usize] {
                known[to as usize] = joined;
                work.push(to);
            }
        }
    }
}

/// The places that a text may come to.
pub(super) fn reached(
    graph: &[Vec<Place>],
    net: &Net,
    begin: &[Vec<u32>],
    beginning: Place,
) -> Vec<bool> {
    let mut reached = vec![false; graph.len()];
    let mut work = vec![beginning];
    while let Some(place) = work.pop() {
        if std::mem::replace(&mut reached[place as usize], true) {
            continue;
        }
        work.extend(&graph[place as usize]);
        work.extend(
            begin[place as usize]
                .iter()
                .map(|&at| net.occurrences[at as usize].after()),
        );
    }
    reached
}
