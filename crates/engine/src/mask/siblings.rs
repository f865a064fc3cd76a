//! Past the children of a node that has many: those at which all ends are not even looked at.
//!
//! The nodes of siblings are far from each other, while their bytes lie side by side.

use crate::error::Error;
use crate::vocabulary::Trie;

/// Which of the children comes next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Siblings {
    parent: usize,
    /// How many children are behind.
    behind: usize,
    /// The one that was found last.
    found: usize,
}

impl Siblings {
    /// In front of the children of a node, if there are many.
    #[inline]
    pub(super) fn of(trie: &Trie, parent: usize) -> Option<Self> {
        let many = !trie.children(parent).is_empty();
        many.then_some(Self {
            parent,
            behind: 0,
            found: parent,
        })
    }

    /// The first node from `at` on that is a child whose byte lives; the one behind all children if none is. What was found
    /// before is found again.
    #[inline]
    pub(super) fn next(
        &mut self,
        trie: &Trie,
        at: usize,
        mut lives: impl FnMut(u8) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        if self.found == at {
            return Ok(at);
        }
        for &(byte, child) in &trie.children(self.parent)[self.behind..] {
            self.behind += 1;
            if child as usize >= at && lives(byte)? {
                self.found = child as usize;
                return Ok(self.found);
            }
        }
        Ok(trie.nodes()[self.parent].next as usize)
    }

    /// The same where only one byte can live.
    #[inline]
    pub(super) fn next_of(&mut self, trie: &Trie, at: usize, byte: u8) -> usize {
        if self.found == at {
            return at;
        }
        let children = &trie.children(self.parent)[self.behind..];
        let index = children.partition_point(|&(other, _)| other < byte);
        if let Some(&(other, child)) = children.get(index)
            && other == byte
            && child as usize >= at
        {
            self.behind += index + 1;
            self.found = child as usize;
            return self.found;
        }
        self.behind += children.len();
        trie.nodes()[self.parent].next as usize
    }
}
