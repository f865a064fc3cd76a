//! Walks over a draft that several passes need. None recurses.

use super::draft::Draft;
use super::{NonterminalId, Symbol};

/// A list of numbers for each of some numbers, side by side in one piece of memory.
pub(super) struct Lists {
    /// Where each list begins; one more for the end.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// `tell` is called twice and tells the same (list, item) pairs both times.
    pub(super) fn new(count: usize, tell: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut starts = vec![0u32; count + 1];
        tell(&mut |list, _| starts[list as usize + 1] += 1);
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut items = vec![0; starts[count] as usize];
        let mut next = starts.clone();
        tell(&mut |list, item| {
            let at = &mut next[list as usize];
            items[*at as usize] = item;
            *at += 1;
        });
        Self { starts, items }
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One of them.
    pub(super) fn of(&self, list: u32) -> &[u32] {
        let at = list as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// For each nonterminal, the left-hand sides whose productions hold it (maybe more than once).
pub(super) fn users(draft: &Draft) -> Lists {
    Lists::new(draft.rules.len(), |tell| {
        for lhs in draft.nonterminals() {
            let mut last = None;
            for symbol in draft.rules_of(lhs).iter().flatten() {
                if let Symbol::Nonterminal(id) = symbol
                    && last.replace(id) != Some(id)
                {
                    tell(id.0, lhs.0);
                }
            }
        }
    })
}

/// The nonterminals that have a production all of whose nonterminals are such.
pub(super) fn least_fix_point(draft: &Draft) -> Vec<bool> {
    // Each production waits for its nonterminals; an occurrence list per nonterminal wakes it up.
    let mut holds = vec![false; draft.rules.len()];
    let mut waiting: Vec<(NonterminalId, u32)> = Vec::new();
    let mut found: Vec<NonterminalId> = Vec::new();
    for lhs in draft.nonterminals() {
        for rhs in draft.rules_of(lhs) {
            let is_nonterminal = |symbol: &&Symbol| matches!(symbol, Symbol::Nonterminal(_));
            let missing = rhs.iter().filter(is_nonterminal).count();
            if missing == 0 {
                found.push(lhs);
            }
            waiting.push((lhs, missing as u32));
        }
    }
    let occurrences = Lists::new(draft.rules.len(), |tell| {
        for (production, rhs) in draft.rules.iter().flatten().enumerate() {
            for symbol in rhs {
                if let Symbol::Nonterminal(id) = symbol {
                    tell(id.0, production as u32);
                }
            }
        }
    });
    while let Some(id) = found.pop() {
        if std::mem::replace(&mut holds[id.0 as usize], true) {
            continue;
        }
        for &production in occurrences.of(id.0) {
            let (lhs, missing) = &mut waiting[production as usize];
            *missing -= 1;
            if *missing == 0 {
                found.push(*lhs);
            }
        }
    }
    holds
}

/// The nonterminals that derive a string with at least one byte or token, provided that all are finite.
pub(super) fn can_write(draft: &Draft) -> Vec<bool> {
    let mut writes = vec![false; draft.rules.len()];
    let users = users(draft);
    let mut found: Vec<NonterminalId> = Vec::new();
    for lhs in draft.nonterminals() {
        // Every terminal may match a byte, save one that matches the empty string alone, which no front end writes.
        if draft
            .rules_of(lhs)
            .iter()
            .flatten()
            .any(|symbol| !matches!(symbol, Symbol::Nonterminal(_)))
        {
            found.push(lhs);
        }
    }
    while let Some(id) = found.pop() {
        if !std::mem::replace(&mut writes[id.0 as usize], true) {
            found.extend(users.of(id.0).iter().map(|&user| NonterminalId(user)));
        }
    }
    writes
}

/// The strongly connected component of each node (Tarjan's algorithm over an explicit stack).
pub(super) fn components(edges: &Lists) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut index = vec![UNSEEN; edges.len()];
    let mut low = vec![0u32; edges.len()];
    let mut component = vec![UNSEEN; edges.len()];
    let mut open: Vec<u32> = Vec::new();
    let (mut next_index, mut next_component) = (0, 0);
    for root in 0..edges.len() as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        // (node, how many of its edges are done)
        let mut work: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some((node, done)) = work.pop() {
            let at = node as usize;
            if done == 0 {
                index[at] = next_index;
                low[at] = next_index;
                next_index += 1;
                open.push(node);
            }
            if let Some(&target) = edges.of(node).get(done) {
                work.push((node, done + 1));
                if index[target as usize] == UNSEEN {
                    work.push((target, 0));
                } else if component[target as usize] == UNSEEN {
                    low[at] = low[at].min(index[target as usize]);
                }
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = next_component;
                    if member == node {
                        break;
                    }
                }
                next_component += 1;
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
        }
    }
    component
}
