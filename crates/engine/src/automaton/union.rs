//! Many terminals run at once: a determinised union of tagged residuals.

use smallvec::SmallVec;
use syntagma_grammar::ir::ByteSet;

use super::bounds::{Bounds, Far, Taken};
use super::classes::ClassesId;
use super::expression::RegexId;
use super::residual::Residuals;
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap, IdSet};

/// An interned set of (tag, residual), with the bounds that its counters stand for if it has any. The bounds are not
/// interned: a text that is counted would leave one entry for each of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct UnionId {
    plain: u32,
    bounds: Bounds,
}

impl UnionId {
    /// Nothing is left.
    pub(crate) const DEAD: Self = Self::plain(0);

    const fn plain(index: u32) -> Self {
        Self {
            plain: index,
            bounds: Bounds::NONE,
        }
    }

    /// Its number, unless bounds stand beside it.
    pub(crate) fn number(self) -> Option<u32> {
        (!self.is_counted()).then_some(self.plain)
    }

    /// Whether bounds stand beside it.
    #[inline]
    pub(crate) fn is_counted(self) -> bool {
        self.bounds != Bounds::NONE
    }

    /// The union without its bounds.
    fn without_bounds(self) -> Self {
        Self::plain(self.plain)
    }

    /// The union with the bounds of another one.
    pub(super) fn with_bounds_of(self, other: Self) -> Self {
        Self {
            bounds: other.bounds,
            ..self
        }
    }
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
    /// The number of a union, or with [`COUNTED`] an index into `Unions::arrivals`.
    to: u32,
    fired: FiredId,
}

/// Set in transitions to unions with counters.
const COUNTED: u32 = 1 << 31;

impl Transition {
    const UNKNOWN: Self = Self {
        to: u32::MAX,
        fired: FiredId(u32::MAX),
    };

    const NOWHERE: Self = Self {
        to: UnionId::DEAD.plain,
        fired: FiredId::NONE,
    };
}

/// Where a byte leads from a union with counters.
#[derive(Debug, Clone, Copy)]
enum Counted {
    /// To a union without these counters.
    Away(UnionId, FiredId),
    /// To one with the same counters, which take so many units.
    On(UnionId, FiredId, u32),
    /// That depends on the bounds.
    Unclear,
}

/// Where `Unions::transitions` has those of a union without counters.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// Nowhere yet: many unions stand where a token ends, and nobody asks where a byte leads from them.
    None,
    /// One byte was asked for so far, on the way through a word.
    One { byte: u8, at: u32 },
    /// There is one for each class of bytes.
    All { classes: ClassesId, start: u32 },
}

type Part = (u32, RegexId);

/// What a byte leaves of the parts of a union: mostly few.
type Left = SmallVec<[Part; 4]>;

type Parts = Box<[Part]>;

/// All unions met so far, over one store of residuals.
#[derive(Debug)]
pub(crate) struct Unions {
    pub(super) residuals: Residuals,
    /// Residuals in a union are trimmed, and neither ∅ nor ε.
    interned: IdIndexSet<Parts>,
    rows: Vec<Row>,
    transitions: Vec<Transition>,
    fired: IdIndexSet<Box<[u32]>>,
    /// Unions with counters in which transitions arrive.
    arrivals: Vec<UnionId>,
    /// Where the classes of bytes lead from unions with counters.
    steps: IdMap<(UnionId, u32), Counted>,
    /// By union with counters: by how much upper bounds must be more than far.
    margins: IdMap<UnionId, u32>,
    /// Unions with counters that are of no use.
    useless: IdSet<UnionId>,
    /// By union with counters: the one that has the same masks and no counters.
    representatives: IdMap<UnionId, UnionId>,
    heap: usize,
}

impl Unions {
    /// No unions but the empty one; tokens have up to `far` bytes.
    pub(crate) fn new(far: u32, layers: Layers) -> Self {
        let mut unions = Self {
            residuals: Residuals::new(far, layers),
            interned: IdIndexSet::default(),
            rows: Vec::new(),
            transitions: Vec::new(),
            fired: IdIndexSet::default(),
            arrivals: Vec::new(),
            steps: IdMap::default(),
            margins: IdMap::default(),
            useless: IdSet::default(),
            representatives: IdMap::default(),
            heap: 0,
        };
        unions.intern([]);
        unions.fire(Vec::new());
        unions
    }

    /// How many bytes tokens have at most.
    pub(crate) fn far(&self) -> u32 {
        self.residuals.far()
    }

    /// The same store with nothing in it.
    pub(crate) fn anew(&self) -> Self {
        Self::new(self.far(), self.residuals.arena.layers)
    }

    pub(crate) fn residuals(&mut self) -> &mut Residuals {
        &mut self.residuals
    }

    pub(crate) fn residual_count(&self) -> usize {
        self.residuals.len()
    }

    /// The union of trimmed residuals.
    pub(crate) fn intern(&mut self, parts: impl IntoIterator<Item = (u32, RegexId)>) -> UnionId {
        let mut parts: Left = parts.into_iter().collect();
        if parts.is_empty() && !self.interned.is_empty() {
            return UnionId::DEAD;
        }
        parts.sort_unstable();
        parts.dedup();
        if let Some(index) = self.interned.get_index_of(parts.as_slice()) {
            return UnionId::plain(index as u32);
        }
        self.heap += parts.len() * size_of::<(u32, RegexId)>() + 16;
        self.rows.push(Row::None);
        UnionId::plain(self.interned.insert_full(parts.into_boxed_slice()).0 as u32)
    }

    /// Where the transition of a union without counters on a byte is, if it has a place.
    #[inline]
    fn known_slot(&self, union: UnionId, byte: u8) -> Option<usize> {
        match self.rows[union.plain as usize] {
            Row::All { classes, start } => {
                Some(start as usize + self.residuals.class_of(classes, byte))
            }
            Row::One { byte: one, at } if one == byte => Some(at as usize),
            _ => None,
        }
    }

    /// A place for the transition of a union without counters on a byte that has none.
    #[cold]
    fn new_slot(&mut self, union: UnionId, byte: u8) -> usize {
        let row = &mut self.rows[union.plain as usize];
        if let Row::None = row {
            let at = self.transitions.len();
            self.transitions.push(Transition::UNKNOWN);
            *row = Row::One {
                byte,
                at: at as u32,
            };
            return at;
        }
        let (classes, start) = self.row(union);
        start as usize + self.residuals.class_of(classes, byte)
    }

    /// The classes of the bytes that a union without counters tells apart, and where their transitions begin.
    fn row(&mut self, union: UnionId) -> (ClassesId, u32) {
        let known = match self.rows[union.plain as usize] {
            Row::All { classes, start } => return (classes, start),
            Row::One { byte, at } => Some((byte, self.transitions[at as usize])),
            Row::None => None,
        };
        let Self {
            residuals,
            interned,
            transitions,
            ..
        } = self;
        let mut first = ByteSet::EMPTY;
        let parts = &interned[union.plain as usize];
        let mut all: SmallVec<[ClassesId; 8]> = SmallVec::new();
        for &(_, residual) in parts {
            all.push(residuals.classes_of(residual));
            first = first.union(&residuals.first(residual));
        }
        let start = transitions.len();
        let table = residuals.class_table();
        let classes = table.meet_all(all);
        transitions.resize(start + table.count(classes), Transition::UNKNOWN);
        for &byte in table.representatives(classes) {
            if !first.contains(byte) {
                transitions[start + table.class(classes, byte)] = Transition::NOWHERE;
            }
        }
        if let Some((byte, to)) = known {
            transitions[start + table.class(classes, byte)] = to;
        }
        let start = start as u32;
        self.rows[union.plain as usize] = Row::All { classes, start };
        (classes, start)
    }

    /// Whether a byte leads anywhere, where that is known without a derivative.
    pub(crate) fn lives(&self, union: UnionId, byte: u8) -> Option<bool> {
        if union.is_counted() || !self.residuals.has(Layer::Peeks) {
            return None;
        }
        if let Some(slot) = self.known_slot(union, byte)
            && let known = self.transitions[slot]
            && known != Transition::UNKNOWN
        {
            return Some(known != Transition::NOWHERE);
        }
        let mut all = Some(false);
        for &(_, residual) in self.parts(union) {
            match self.known_first(residual, byte) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => all = None,
            }
        }
        all
    }

    /// Whether a byte leads anywhere from a residual, where its form says so: without intersections and complements, a
    /// first byte always belongs to a word.
    pub(crate) fn known_first(&self, residual: RegexId, byte: u8) -> Option<bool> {
        if !self.residuals.first(residual).contains(byte) {
            Some(false)
        } else if self.residuals.is_logical(residual) {
            None
        } else {
            Some(true)
        }
    }

    /// The set of tags.
    pub(crate) fn fire(&mut self, mut tags: Vec<u32>) -> FiredId {
        if tags.is_empty() && !self.fired.is_empty() {
            return FiredId::NONE;
        }
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

    /// The residuals of a union with their tags; counters are counters.
    pub(crate) fn parts(&self, union: UnionId) -> &[(u32, RegexId)] {
        &self.interned[union.plain as usize]
    }

    /// The same union with repetitions in place of counters.
    pub(crate) fn written_out(
        &mut self,
        union: UnionId,
        fuel: &mut Fuel,
    ) -> Result<UnionId, Error> {
        if !union.is_counted() {
            return Ok(union);
        }
        self.with_bounds(union.without_bounds(), union.bounds, fuel)
    }

    /// A union with repetitions of these bounds in place of counters.
    fn with_bounds(
        &mut self,
        counters: UnionId,
        bounds: Bounds,
        fuel: &mut Fuel,
    ) -> Result<UnionId, Error> {
        self.with_parts(counters, |residuals, part| {
            residuals.with_bounds(part, bounds, fuel)
        })
    }

    /// The union of what becomes of each residual of another.
    fn with_parts(
        &mut self,
        union: UnionId,
        mut become_of: impl FnMut(&mut Residuals, RegexId) -> Result<RegexId, Error>,
    ) -> Result<UnionId, Error> {
        let mut parts = self.parts(union).to_vec();
        for (_, part) in &mut parts {
            *part = become_of(&mut self.residuals, *part)?;
        }
        Ok(self.intern(parts))
    }

    /// A union without counters from which the same tokens lead on.
    pub(crate) fn representative(
        &mut self,
        union: UnionId,
        fuel: &mut Fuel,
    ) -> Result<UnionId, Error> {
        if !union.is_counted() {
            return Ok(union);
        }
        let counted = union.without_bounds();
        if let Some(&known) = self.representatives.get(&counted) {
            return Ok(known);
        }
        let representative = self.with_parts(counted, |residuals, part| {
            residuals.with_out_of_reach(part, fuel)
        })?;
        self.representatives.insert(counted, representative);
        Ok(representative)
    }

    /// Puts far bounds of repetitions beside a union.
    fn arrive(&mut self, parts: Left, fuel: &mut Fuel) -> Result<UnionId, Error> {
        if parts.is_empty() {
            return Ok(UnionId::DEAD);
        }
        if !self.residuals.has(Layer::Counters) {
            return Ok(self.intern(parts));
        }
        let mut far = Far::Nothing;
        for &(_, part) in &parts {
            far = far.with(self.residuals.far_bounds(part, fuel)?);
        }
        let Far::Same(bounds, margin) = far else {
            return Ok(self.intern(parts));
        };
        let mut counters = parts.clone();
        for (_, part) in &mut counters {
            if self.residuals.far_bounds(*part, fuel)? != Far::Nothing {
                *part = self.residuals.with_counters(*part, fuel)?;
            }
        }
        let counters = self.intern(counters);
        Ok(if self.useless.contains(&counters) {
            self.intern(parts)
        } else {
            self.raise_margin(counters, margin);
            UnionId { bounds, ..counters }
        })
    }

    /// Makes sure that upper bounds beside a union are far by a margin.
    pub(super) fn raise_margin(&mut self, union: UnionId, margin: u32) {
        if margin > 0 {
            let known = self.margins.entry(union).or_insert(0);
            *known = margin.max(*known);
        }
    }

    /// By how much upper bounds beside a union must be more than far.
    pub(super) fn margin(&self, union: UnionId) -> u32 {
        let known = self.margins.get(&union.without_bounds());
        known.copied().unwrap_or(0)
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
        let all: Vec<ClassesId> = unions.map(|union| self.row(union).0).collect();
        let table = self.residuals.class_table();
        let classes = table.meet_all(all);
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
        if union.is_counted() {
            return self.step_counted(union, byte, fuel);
        }
        let slot = match self.known_slot(union, byte) {
            Some(slot) => slot,
            None => self.new_slot(union, byte),
        };
        let known = self.transitions[slot];
        if known == Transition::UNKNOWN {
            self.derive(union, byte, slot, fuel)
        } else if known.to & COUNTED == 0 {
            Ok((UnionId::plain(known.to), known.fired))
        } else {
            Ok((self.arrivals[(known.to & !COUNTED) as usize], known.fired))
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
        let (parts, fired) = self.derived(union, byte, fuel)?;
        let (union, fired) = (self.arrive(parts, fuel)?, self.fire(fired));
        let to = if union.is_counted() {
            self.arrivals.push(union);
            COUNTED | (self.arrivals.len() as u32 - 1)
        } else {
            union.plain
        };
        self.transitions[slot] = Transition { to, fired };
        Ok((union, fired))
    }

    /// What remains of each part after a byte, and which tags end with it.
    fn derived(
        &mut self,
        union: UnionId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(Left, Vec<u32>), Error> {
        let mut parts = Left::new();
        let mut fired = Vec::new();
        for index in 0..self.parts(union).len() {
            let (tag, residual) = self.parts(union)[index];
            if !self.residuals.first(residual).contains(byte) {
                continue;
            }
            self.residuals.set_owner(tag);
            let rest = self.residuals.step(residual, byte, fuel)?;
            if self.residuals.is_nullable(rest) {
                fired.push(tag);
            }
            if rest != RegexId::NOTHING && rest != RegexId::EMPTY {
                parts.push((tag, rest));
            }
        }
        Ok((parts, fired))
    }

    fn step_counted(
        &mut self,
        union: UnionId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(UnionId, FiredId), Error> {
        let (counters, bounds) = (union.without_bounds(), union.bounds);
        let (classes, _) = self.row(counters);
        let class = self.residuals.class_of(classes, byte) as u32;
        let step = if let Some(&known) = self.steps.get(&(counters, class)) {
            known
        } else {
            let step = self.derive_counted(counters, byte, fuel)?;
            self.steps.insert((counters, class), step);
            step
        };
        match step {
            Counted::Away(to, fired) => Ok((to, fired)),
            Counted::On(to, fired, units) => {
                let bounds = bounds.less(units);
                let margin = self.margin(counters);
                let near = !bounds.are_far(self.residuals.far(), margin);
                Ok((
                    if near {
                        self.with_bounds(to, bounds, fuel)?
                    } else {
                        UnionId { bounds, ..to }
                    },
                    fired,
                ))
            }
            Counted::Unclear => {
                let union = self.written_out(union, fuel)?;
                self.step(union, byte, fuel)
            }
        }
    }

    #[cold]
    fn derive_counted(
        &mut self,
        union: UnionId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Counted, Error> {
        let (mut parts, fired) = self.derived(union, byte, fuel)?;
        let taken = parts.iter().fold(Taken::Nothing, |taken, &(_, part)| {
            taken.with(self.residuals.taken(part))
        });
        Ok(match taken {
            Taken::Nothing => Counted::Away(self.arrive(parts, fuel)?, self.fire(fired)),
            Taken::All(units) => {
                if units > 0 {
                    for (_, part) in &mut parts {
                        *part = self.residuals.reset_counters(*part, fuel)?;
                    }
                }
                let to = self.intern(parts);
                self.raise_margin(to, self.margin(union));
                Counted::On(to, self.fire(fired), units)
            }
            Taken::Unclear => {
                self.useless.insert(union);
                Counted::Unclear
            }
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.residuals.memory_bytes()
            + self.interned.len() * 56
            + self.fired.len() * 40
            + self.transitions.len() * size_of::<Transition>()
            + self.arrivals.len() * size_of::<UnionId>()
            + self.steps.len() * 32
            + self.representatives.len() * 16
            + self.heap
    }
}
