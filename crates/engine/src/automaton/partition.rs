//! Partitions of the bytes, each made once for all grammars of the process: the same few hundred occur in nearly all.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::maps::{IdMap, SeededMap, SeededSet};
use crate::tuning;
use syntagma_grammar::ir::ByteSet;

/// Class of each byte, numbered by first appearance.
type Map = [u8; 256];

/// The 256 bytes in classes.
#[derive(Debug)]
pub(crate) struct Partition {
    /// No other partition that is known at the same time has it.
    number: u64,
    map: Map,
    /// One byte of each class, largest class first.
    representatives: Box<[u8]>,
    /// Once somebody asked.
    members: OnceLock<Box<Members>>,
}

/// All bytes, class by class, and where each class ends.
#[derive(Debug)]
struct Members {
    bytes: [u8; 256],
    ends: Vec<u16>,
}

/// The partitions of the process.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    all: SeededSet<ByMap>,
    of_set: SeededMap<ByteSet, Arc<Partition>>,
    of_bytes: SeededMap<ByteSet, Arc<Partition>>,
    meets: IdMap<(u64, u64), Arc<Partition>>,
    /// How many were ever made.
    made: u64,
}

/// A partition that is found by its map.
#[derive(Debug)]
struct ByMap(Arc<Partition>);

impl Borrow<Map> for ByMap {
    fn borrow(&self) -> &Map {
        &self.0.map
    }
}

impl Hash for ByMap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.map.hash(state);
    }
}

impl PartialEq for ByMap {
    fn eq(&self, other: &Self) -> bool {
        self.0.map == other.0.map
    }
}

impl Eq for ByMap {}

impl Known {
    /// The partition with a map. What is remembered under a key is bounded, too.
    fn partition(&mut self, map: Map) -> Arc<Partition> {
        if self.all.len() + self.of_set.len() + self.of_bytes.len() + self.meets.len()
            > 4 * tuning::KEPT_PARTITIONS
        {
            let made = self.made;
            *self = Self {
                made,
                ..Self::default()
            };
        }
        if let Some(known) = self.all.get(&map) {
            return Arc::clone(&known.0);
        }
        self.made += 1;
        let new = Arc::new(Partition::new(map, self.made));
        self.all.insert(ByMap(Arc::clone(&new)));
        new
    }
}

impl Partitions {
    /// All bytes alike.
    pub(super) fn one(&self) -> Arc<Partition> {
        self.lock().partition([0; 256])
    }

    /// Members of a set, and the others.
    pub(super) fn of_set(&self, set: &ByteSet) -> Arc<Partition> {
        self.get(
            |known| &mut known.of_set,
            *set,
            || numbered(2, |byte| usize::from(set.contains(byte))),
        )
    }

    /// Each member of a set, and the others.
    pub(super) fn of_bytes(&self, set: &ByteSet) -> Arc<Partition> {
        let class = |byte| usize::from(set.contains(byte)) * (usize::from(byte) + 1);
        self.get(|known| &mut known.of_bytes, *set, || numbered(257, class))
    }

    /// The coarsest partition that is as fine as both.
    pub(super) fn meet(&self, a: &Partition, b: &Partition) -> Arc<Partition> {
        let key = (a.number.min(b.number), a.number.max(b.number));
        let (many, more) = (a.count(), b.count());
        let class = |byte| a.class(byte) * more + b.class(byte);
        self.get(
            |known| &mut known.meets,
            key,
            || numbered(many * more, class),
        )
    }

    /// The partition of a key, whose map is made without the lock.
    fn get<K: Eq + Hash, S: BuildHasher>(
        &self,
        table: impl Fn(&mut Known) -> &mut HashMap<K, Arc<Partition>, S>,
        key: K,
        map: impl FnOnce() -> Map,
    ) -> Arc<Partition> {
        if let Some(known) = table(&mut self.lock()).get(&key) {
            return Arc::clone(known);
        }
        let map = map();
        let mut known = self.lock();
        let made = known.partition(map);
        table(&mut known).insert(key, Arc::clone(&made));
        made
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Partition {
    /// Tells it from others.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The class of a byte.
    #[inline]
    pub(super) fn class(&self, byte: u8) -> usize {
        usize::from(self.map[usize::from(byte)])
    }

    /// How many classes there are.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.representatives.len()
    }

    /// One byte of each class, largest class first.
    pub(super) fn representatives(&self) -> &[u8] {
        &self.representatives
    }

    /// The bytes of a class.
    pub(super) fn members(&self, class: usize) -> &[u8] {
        let make = || Box::new(Members::new(&self.map, self.count()));
        let Members { bytes, ends } = &**self.members.get_or_init(make);
        let start = class.checked_sub(1).map_or(0, |before| ends[before]);
        &bytes[usize::from(start)..usize::from(ends[class])]
    }

    fn new(map: Map, number: u64) -> Self {
        let mut sizes = [0_u16; 256];
        let mut firsts = [0_u8; 256];
        let mut count = 0;
        for (&class, byte) in map.iter().zip(0..=u8::MAX) {
            let class = usize::from(class);
            if class == count {
                firsts[count] = byte;
                count += 1;
            }
            sizes[class] += 1;
        }
        let mut representatives = firsts[..count].to_vec();
        representatives.sort_by_key(|&byte| Reverse(sizes[usize::from(map[usize::from(byte)])]));
        Self {
            number,
            map,
            representatives: representatives.into(),
            members: OnceLock::new(),
        }
    }
}

impl Members {
    fn new(map: &Map, count: usize) -> Self {
        let mut ends = vec![0_u16; count + 1];
        for &class in map {
            ends[usize::from(class) + 1] += 1;
        }
        for class in 1..=count {
            ends[class] += ends[class - 1];
        }
        let mut bytes = [0; 256];
        for (&class, byte) in map.iter().zip(0..=u8::MAX) {
            let place = &mut ends[usize::from(class)];
            bytes[usize::from(*place)] = byte;
            *place += 1;
        }
        Self { bytes, ends }
    }
}

/// The partition by a key below `keys`.
fn numbered(keys: usize, key: impl Fn(u8) -> usize) -> Map {
    const UNSEEN: u16 = u16::MAX;
    let mut class_of_key = vec![UNSEEN; keys];
    let mut map = [0; 256];
    let mut count = 0;
    for (class, byte) in map.iter_mut().zip(0..=u8::MAX) {
        let known = &mut class_of_key[key(byte)];
        if *known == UNSEEN {
            *known = count;
            count += 1;
        }
        *class = *known as u8;
    }
    map
}
