//! Circles in graphs of expressions. Nothing here recurses.

/// For each node, the number of the circle of edges that it lies on.
pub(super) fn circles(edges: &[Vec<u32>]) -> Vec<Option<u32>> {
    let components = components(edges);
    let mut sizes: Vec<u32> = vec![0; edges.len()];
    for &component in &components {
        sizes[component as usize] += 1;
    }
    let on_circle =
        |node: usize| sizes[components[node] as usize] > 1 || edges[node].contains(&(node as u32));
    (0..edges.len())
        .map(|node| on_circle(node).then_some(components[node]))
        .collect()
}

/// The strongly connected component of each node (Tarjan's algorithm over an explicit stack).
pub(super) fn components(edges: &[Vec<u32>]) -> Vec<u32> {
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
            if let Some(&target) = edges[at].get(done) {
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
