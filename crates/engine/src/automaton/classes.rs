//! Partitions of the bytes into classes that an expression does not tell apart.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use syntagma_grammar::ir::ByteSet;

/// An interned partition of the 256 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassesId(u32);

impl ClassesId {
    /// All bytes alike.
    pub(crate) const ONE: Self = Self(0);
}

/// All bytes, class by class, and where each class ends.
#[derive(Debug)]
struct Members {
    bytes: [u8; 256],
    ends: Vec<u16>,
}

/// All partitions met so far.
#[derive(Debug)]
pub(crate) struct Classes {
    /// Class of each byte, numbered by first appearance.
    maps: IndexSet<[u8; 256], FxBuildHasher>,
    /// By partition: one byte of each class, largest class first.
    representatives: Vec<Box<[u8]>>,
    /// By partition, where somebody asked.
    members: Vec<Option<Box<Members>>>,
    of_set: FxHashMap<ByteSet, ClassesId>,
    meets: FxHashMap<(ClassesId, ClassesId), ClassesId>,
    /// Work space.
    class_of_key: Vec<u16>,
}

impl Classes {
    pub(crate) fn new() -> Self {
        let mut classes = Self {
            maps: IndexSet::default(),
            representatives: Vec::new(),
            members: Vec::new(),
            of_set: FxHashMap::default(),
            meets: FxHashMap::default(),
            class_of_key: Vec::new(),
        };
        classes.intern(1, |_| 0);
        classes
    }

    /// The class of a byte.
    pub(crate) fn class(&self, id: ClassesId, byte: u8) -> usize {
        usize::from(self.maps[id.0 as usize][usize::from(byte)])
    }

    /// The bytes of a class.
    pub(crate) fn members(&mut self, id: ClassesId, class: usize) -> &[u8] {
        let count = self.count(id);
        let map = &self.maps[id.0 as usize];
        let Members { bytes, ends } = &**self.members[id.0 as usize].get_or_insert_with(|| {
            let mut starts = vec![0_u16; count + 1];
            for &class in map {
                starts[usize::from(class) + 1] += 1;
            }
            for class in 1..=count {
                starts[class] += starts[class - 1];
            }
            let mut bytes = [0; 256];
            for (&class, byte) in map.iter().zip(0..=u8::MAX) {
                let at = &mut starts[usize::from(class)];
                bytes[usize::from(*at)] = byte;
                *at += 1;
            }
            Box::new(Members {
                bytes,
                ends: starts,
            })
        });
        let start = class.checked_sub(1).map_or(0, |before| ends[before]);
        &bytes[usize::from(start)..usize::from(ends[class])]
    }

    /// How many classes there are.
    pub(crate) fn count(&self, id: ClassesId) -> usize {
        self.representatives[id.0 as usize].len()
    }

    /// One byte of each class, largest class first.
    pub(crate) fn representatives(&self, id: ClassesId) -> &[u8] {
        &self.representatives[id.0 as usize]
    }

    /// Members of a set, and the others.
    pub(crate) fn of_set(&mut self, set: &ByteSet) -> ClassesId {
        if let Some(&id) = self.of_set.get(set) {
            return id;
        }
        let id = self.intern(2, |byte| usize::from(set.contains(byte)));
        self.of_set.insert(*set, id);
        id
    }

    /// The bytes that begin some word, each alone, and the others. `next` is not 0 at the former and tells them apart,
    /// except that it may be the same for bytes 0 and 1.
    pub(crate) fn of_words(&mut self, next: [u8; 256]) -> ClassesId {
        self.intern(512, |byte| {
            usize::from(next[usize::from(byte)]) << 1 | usize::from(byte == 0)
        })
    }

    /// The coarsest partition that is as fine as both.
    pub(crate) fn meet(&mut self, a: ClassesId, b: ClassesId) -> ClassesId {
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
        let left = self.maps[a.0 as usize];
        let right = self.maps[b.0 as usize];
        let (many, more) = (self.count(a), self.count(b));
        let id = self.intern(many * more, |byte| {
            usize::from(left[usize::from(byte)]) * more + usize::from(right[usize::from(byte)])
        });
        self.meets.insert(key, id);
        id
    }

    /// The partition by a key below `keys`.
    fn intern(&mut self, keys: usize, key: impl Fn(u8) -> usize) -> ClassesId {
        const UNSEEN: u16 = u16::MAX;
        let mut map = [0; 256];
        self.class_of_key.clear();
        self.class_of_key.resize(keys, UNSEEN);
        let mut members: Vec<(usize, u8)> = Vec::with_capacity(keys.min(16));
        for byte in 0..=u8::MAX {
            let class = &mut self.class_of_key[key(byte)];
            if *class == UNSEEN {
                *class = members.len() as u16;
                members.push((0, byte));
            }
            map[usize::from(byte)] = *class as u8;
            members[usize::from(*class)].0 += 1;
        }
        let (id, new) = self.maps.insert_full(map);
        let id = ClassesId(id as u32);
        if !new {
            return id;
        }
        members.sort_by_key(|&(count, byte)| (std::cmp::Reverse(count), byte));
        self.members.push(None);
        self.representatives
            .push(members.into_iter().map(|(_, byte)| byte).collect());
        id
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.maps.len() * 340 + (self.of_set.len() + self.meets.len()) * 48
    }
}
