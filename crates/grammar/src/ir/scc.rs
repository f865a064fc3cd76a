//! Graphs as lists of edges, and their strongly connected components (Tarjan, Depth-first search and linear graph
//! algorithms, 1972). Nothing here recurses.

/// A list of numbers for each of some numbers, side by side in one piece of memory.
pub(in crate::ir) struct Lists {
    /// Where each list begins; one more for the end.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// `tell` is called twice and tells the same (list, item) pairs both times.
    pub(in crate::ir) fn new(count: usize, tell: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
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
    pub(in crate::ir) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// One of them.
    pub(in crate::ir) fn of(&self, list: u32) -> &[u32] {
        let at = list as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// For each node, the number of the cycle of edges that it lies on.
pub(in crate::ir) fn cyclic(edges: &Lists) -> Vec<Option<u32>> {
    let components = components(edges);
    let mut sizes: Vec<u32> = vec![0; edges.len()];
    for &component in &components {
        sizes[component as usize] += 1;
    }
    let on_cycle =
        |node: u32, component: u32| sizes[component as usize] > 1 || edges.of(node).contains(&node);
    let nodes = (0..).zip(&components);
    nodes
        .map(|(node, &component)| on_cycle(node, component).then_some(component))
        .collect()
}

/// The strongly connected component of each node (Tarjan's algorithm over an explicit stack).
pub(in crate::ir) fn components(edges: &Lists) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let mut index = vec![UNSEEN; edges.len()];
    let mut low = vec![0u32; edges.len()];
    let mut component = vec![UNSEEN; edges.len()];
    let mut open: Vec<u32> = Vec::new();
    // (node, how many of its edges are done)
    let mut work: Vec<(u32, usize)> = Vec::new();
    let (mut next_index, mut next_component) = (0, 0);
    for root in 0..edges.len() as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        work.push((root, 0));
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
    debug_assert!(
        open.is_empty() && component.iter().all(|&of| of < next_component),
        "every node is in a component"
    );
    component
}
