//! Many terminals run at once: a determinised union of tagged residuals.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use syntagma_grammar::ir::ByteSet;

use super::classes::ClassesId;
use super::residual::{RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;

/// An interned set of (tag, residual).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct UnionId(pub(crate) u32);

impl UnionId {
    /// Nothing is left.
    pub(crate) const DEAD: Self = Self(0);
}

/// An interned set of tags that end at the same byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FiredId(pub(crate) u32);

impl FiredId {
    /// No tag ends here.
    pub(crate) const NONE: Self = Self(0);
}

/// Where a byte leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Transition {
    to: UnionId,
    fired: FiredId,
}

impl Transition {
    const UNKNOWN: Self = Self {
        to: UnionId(u32::MAX),
        fired: FiredId(u32::MAX),
    };
}

/// A union's own row in `Unions::transitions`.
#[derive(Debug, Clone, Copy)]
struct Row {
    classes: ClassesId,
    start: u32,
}

type Parts = Box<[(u32, RegexId)]>;

/// All unions met so far, over one store of residuals.
#[derive(Debug)]
pub(crate) struct Unions {
    residuals: Residuals,
    /// Residuals in a union are trimmed, and neither ∅ nor ε.
    interned: IndexSet<Parts, FxBuildHasher>,
    rows: Vec<Row>,
    transitions: Vec<Transition>,
    fired: IndexSet<Box<[u32]>, FxBuildHasher>,
    heap: usize,
}

impl Unions {
    pub(crate) fn new() -> Self {
        let mut unions = Self {
            residuals: Residuals::new(),
            interned: IndexSet::default(),
            rows: Vec::new(),
            transitions: Vec::new(),
            fired: IndexSet::default(),
            heap: 0,
        };
        unions.intern(Vec::new());
        unions.fire(Vec::new());
        unions
    }

    pub(crate) fn residuals(&mut self) -> &mut Residuals {
        &mut self.residuals
    }

    pub(crate) fn residual_count(&self) -> usize {
        self.residuals.len()
    }

    /// The union of trimmed residuals.
    pub(crate) fn intern(&mut self, mut parts: Vec<(u32, RegexId)>) -> UnionId {
        parts.sort_unstable();
        parts.dedup();
        if let Some(index) = self.interned.get_index_of(parts.as_slice()) {
            return UnionId(index as u32);
        }
        let mut classes = ClassesId::ONE;
        for &(_, residual) in &parts {
            let more = self.residuals.classes_of(residual);
            classes = self.residuals.class_table().meet(classes, more);
        }
        let start = self.transitions.len();
        let count = self.residuals.class_table().count(classes);
        self.transitions.resize(start + count, Transition::UNKNOWN);
        self.heap += parts.len() * size_of::<(u32, RegexId)>() + 16;
        self.rows.push(Row {
            classes,
            start: start as u32,
        });
        UnionId(self.interned.insert_full(parts.into()).0 as u32)
    }

    /// The set of tags.
    pub(crate) fn fire(&mut self, mut tags: Vec<u32>) -> FiredId {
        tags.sort_unstable();
        tags.dedup();
        if let Some(index) = self.fired.get_index_of(tags.as_slice()) {
            return FiredId(index as u32);
        }
        self.heap += tags.len() * 4 + 16;
        FiredId(self.fired.insert_full(tags.into()).0 as u32)
    }

    /// The tags of a set.
    pub(crate) fn tags(&self, fired: FiredId) -> &[u32] {
        &self.fired[fired.0 as usize]
    }

    /// The residuals of a union with their tags.
    pub(crate) fn parts(&self, union: UnionId) -> &[(u32, RegexId)] {
        &self.interned[union.0 as usize]
    }

    /// Every byte that may come next in a union, and perhaps more.
    pub(crate) fn first(&self, union: UnionId) -> ByteSet {
        let parts = self.parts(union).iter();
        parts.fold(ByteSet::EMPTY, |first, &(_, part)| {
            first.union(&self.residuals.first(part))
        })
    }

    /// The bytes, grouped by what none of the unions tells apart; largest group first.
    pub(crate) fn byte_classes(&mut self, unions: impl Iterator<Item = UnionId>) -> Vec<ByteSet> {
        let mut classes = ClassesId::ONE;
        for union in unions {
            let more = self.rows[union.0 as usize].classes;
            classes = self.residuals.class_table().meet(classes, more);
        }
        let table = self.residuals.class_table();
        let mut groups = vec![ByteSet::EMPTY; table.count(classes)];
        for byte in 0..=u8::MAX {
            groups[table.class(classes, byte)].insert(byte);
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }

    /// Where a byte leads, and which tags end with it.
    #[inline]
    pub(crate) fn step(
        &mut self,
        union: UnionId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(UnionId, FiredId), Error> {
        let row = self.rows[union.0 as usize];
        let slot = row.start as usize + self.residuals.class_of(row.classes, byte);
        let known = self.transitions[slot];
        if known == Transition::UNKNOWN {
            self.derive(union, byte, slot, fuel)
        } else {
            Ok((known.to, known.fired))
        }
    }

    #[cold]
    fn derive(
        &mut self,
        union: UnionId,
        byte: u8,
        slot: usize,
        fuel: &mut Fuel,
    ) -> Result<(UnionId, FiredId), Error> {
        let mut parts = Vec::new();
        let mut fired = Vec::new();
        for index in 0..self.parts(union).len() {
            let (tag, residual) = self.parts(union)[index];
            self.residuals.set_owner(tag);
            let rest = self.residuals.step(residual, byte, fuel)?;
            if self.residuals.is_nullable(rest) {
                fired.push(tag);
            }
            if rest != RegexId::NOTHING && rest != RegexId::EMPTY {
                parts.push((tag, rest));
            }
        }
        let (to, fired) = (self.intern(parts), self.fire(fired));
        self.transitions[slot] = Transition { to, fired };
        Ok((to, fired))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.residuals.memory_bytes()
            + self.interned.len() * 56
            + self.fired.len() * 40
            + self.transitions.len() * size_of::<Transition>()
            + self.heap
    }
}
