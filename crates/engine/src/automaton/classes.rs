//! Classes of bytes that an expression does not tell apart, for one grammar: one derivative serves a whole class
//! (Owens, Reppy and Turon 2009).

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::partition::{Partition, Partitions};
use crate::context::EngineContext;
use crate::maps::{IdMap, SeededMap};

/// A partition of the 256 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassesId(u32);

impl ClassesId {
    /// All bytes alike.
    pub(crate) const ONE: Self = Self(0);
}

/// All partitions met so far.
#[derive(Debug)]
pub(crate) struct Classes {
    all: Vec<Arc<Partition>>,
    /// By partition: the byte that it tells from all others, if that is all.
    single: Vec<Option<u8>>,
    numbers: IdMap<u64, ClassesId>,
    of_set: SeededMap<ByteSet, ClassesId>,
    meets: IdMap<(ClassesId, ClassesId), ClassesId>,
}

impl Classes {
    pub(crate) fn new() -> Self {
        let mut classes = Self {
            all: Vec::new(),
            single: Vec::new(),
            numbers: IdMap::default(),
            of_set: SeededMap::default(),
            meets: IdMap::default(),
        };
        classes.add(partitions().one());
        classes
    }

    /// The class of a byte.
    #[inline]
    pub(crate) fn class(&self, id: ClassesId, byte: u8) -> usize {
        self.all[id.0 as usize].class(byte)
    }

    /// The bytes of a class.
    pub(crate) fn members(&self, id: ClassesId, class: usize) -> &[u8] {
        self.all[id.0 as usize].members(class)
    }

    /// How many classes there are.
    pub(crate) fn count(&self, id: ClassesId) -> usize {
        self.all[id.0 as usize].count()
    }

    /// One byte of each class, largest class first.
    pub(crate) fn representatives(&self, id: ClassesId) -> &[u8] {
        self.all[id.0 as usize].representatives()
    }

    /// Members of a set, and the others.
    pub(crate) fn of_set(&mut self, set: &ByteSet) -> ClassesId {
        if let Some(&id) = self.of_set.get(set) {
            return id;
        }
        let id = self.add(partitions().of_set(set));
        if set.len() == 1 {
            self.single[id.0 as usize] = set.iter().next();
        }
        self.of_set.insert(*set, id);
        id
    }

    /// Each member of a set, and the others.
    pub(crate) fn of_bytes(&mut self, set: &ByteSet) -> ClassesId {
        self.add(partitions().of_bytes(set))
    }

    /// The coarsest partition that is as fine as all of some. Those of single bytes go together, or there would be one for
    /// each number of them.
    pub(crate) fn meet_all(&mut self, all: impl IntoIterator<Item = ClassesId>) -> ClassesId {
        let mut met = ClassesId::ONE;
        let mut singles = ByteSet::EMPTY;
        for id in all {
            match self.single[id.0 as usize] {
                Some(byte) => singles.insert(byte),
                None => met = self.meet(met, id),
            }
        }
        let singles = match singles.len() {
            0 => return met,
            1 => self.of_set(&singles),
            _ => self.of_bytes(&singles),
        };
        self.meet(met, singles)
    }

    /// The coarsest partition that is as fine as both.
    fn meet(&mut self, a: ClassesId, b: ClassesId) -> ClassesId {
        if a == b || b == ClassesId::ONE {
            return a;
        }
        if a == ClassesId::ONE {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.meets.get(&key) {
            return id;
        }
        let met = partitions().meet(&self.all[a.0 as usize], &self.all[b.0 as usize]);
        let id = self.add(met);
        self.meets.insert(key, id);
        id
    }

    fn add(&mut self, partition: Arc<Partition>) -> ClassesId {
        let new = ClassesId(self.all.len() as u32);
        let id = *self.numbers.entry(partition.number()).or_insert(new);
        if id == new {
            self.all.push(partition);
            self.single.push(None);
        }
        id
    }

    /// Without the partitions themselves, which belong to all grammars.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.all.len() * 28 + (self.of_set.len() + self.meets.len()) * 48
    }
}

fn partitions() -> &'static Partitions {
    &EngineContext::current().partitions
}
