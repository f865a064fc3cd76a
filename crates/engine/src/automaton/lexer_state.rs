//! The state of the lexer: all terminals that an Earley set waits for, run at once. A lexer state is a set of
//! residuals, each with the terminal that it is left of; its transitions are made when they are first taken, as those
//! of a lazy DFA by subset construction (Rabin and Scott 1959). For the recogniser.

use smallvec::SmallVec;
use syntagma_grammar::ir::ByteSet;

use super::classes::ClassesId;
use super::expression::ExprId;
use super::expression::{Bounds, Consumed, Countable};
use super::residual::Carried;
use super::residual::Residuals;
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap, IdSet};

/// An interned set of (tag, residual), with the bounds that its counters stand for if it has any. The bounds are not
/// interned: a text that is counted would leave one entry for each of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LexerStateId {
    plain: u32,
    pub(super) bounds: Bounds,
}

impl LexerStateId {
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

    /// The lexer state without its bounds.
    pub(super) fn without_bounds(self) -> Self {
        Self::plain(self.plain)
    }

    /// The lexer state with bounds beside it.
    pub(super) fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// The lexer state with the bounds of another one.
    pub(super) fn with_bounds_of(self, other: Self) -> Self {
        self.with_bounds(other.bounds)
    }
}

/// An interned set of tags that end at the same byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AcceptSetId(pub(crate) u32);

impl AcceptSetId {
    /// No tag ends here.
    pub(crate) const NONE: Self = Self(0);
}

/// Where a byte leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Transition {
    /// The number of a lexer state, or with [`COUNTED`] an index into `LexerStates::arrivals`.
    to: u32,
    accept_set: AcceptSetId,
}

/// Set in transitions to lexer states with counters.
const COUNTED: u32 = 1 << 31;

impl Transition {
    const UNKNOWN: Self = Self {
        to: u32::MAX,
        accept_set: AcceptSetId(u32::MAX),
    };

    const NOWHERE: Self = Self {
        to: LexerStateId::DEAD.plain,
        accept_set: AcceptSetId::NONE,
    };
}

/// Where a byte leads from a lexer state with counters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    /// To a lexer state without these counters.
    Away(LexerStateId, AcceptSetId),
    /// To one with the same counters, which take so many units.
    On(LexerStateId, AcceptSetId, u32),
    /// That depends on the bounds.
    Unclear,
}

/// Where `LexerStates::transitions` has those of a lexer state without counters.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// Nowhere yet: many lexer states stand where a token ends, and nobody asks where a byte leads from them.
    None,
    /// One byte was asked for so far, on the way through a word.
    One { byte: u8, at: u32 },
    /// There is one for each class of bytes.
    All { classes: ClassesId, start: u32 },
}

pub(super) type Part = (u32, ExprId);

/// What a byte leaves of the parts of a lexer state: mostly few.
pub(super) type Left = SmallVec<[Part; 4]>;

type Parts = Box<[Part]>;

/// All lexer states met so far, over one store of residuals.
#[derive(Debug)]
pub(crate) struct LexerStates {
    pub(super) residuals: Residuals,
    /// Residuals in a lexer state are trimmed, and neither ∅ nor ε.
    interned: IdIndexSet<Parts>,
    rows: Vec<Row>,
    transitions: Vec<Transition>,
    accept_set: IdIndexSet<Box<[u32]>>,
    /// Lexer states with counters in which transitions arrive.
    arrivals: Vec<LexerStateId>,
    /// Where the classes of bytes lead from lexer states with counters.
    pub(super) steps: IdMap<(LexerStateId, u32), Counted>,
    /// By lexer state with counters: by how much upper bounds must be out of reach.
    pub(super) margins: IdMap<LexerStateId, u32>,
    /// Lexer states with counters that are of no use.
    pub(super) useless: IdSet<LexerStateId>,
    /// By lexer state with counters: the one that has the same masks and no counters.
    pub(super) representatives: IdMap<LexerStateId, LexerStateId>,
    heap: usize,
}

impl LexerStates {
    /// No lexer states but the empty one; tokens have up to `reach` bytes.
    pub(crate) fn new(residuals: Residuals) -> Self {
        let mut lexer = Self {
            residuals,
            interned: IdIndexSet::default(),
            rows: Vec::new(),
            transitions: Vec::new(),
            accept_set: IdIndexSet::default(),
            arrivals: Vec::new(),
            steps: IdMap::default(),
            margins: IdMap::default(),
            useless: IdSet::default(),
            representatives: IdMap::default(),
            heap: 0,
        };
        lexer.intern([]);
        lexer.accept_set(Vec::new());
        lexer
    }

    /// How many bytes tokens have at most.
    pub(crate) fn reach(&self) -> u32 {
        self.residuals.reach()
    }

    /// The same store with nothing in it.
    pub(crate) fn anew(&self) -> Self {
        Self::new(Residuals::new(self.reach(), self.residuals.arena.layers))
    }

    pub(crate) fn residuals(&mut self) -> &mut Residuals {
        &mut self.residuals
    }

    pub(crate) fn residual_count(&self) -> usize {
        self.residuals.len()
    }

    /// The lexer state of trimmed residuals.
    pub(crate) fn intern(
        &mut self,
        parts: impl IntoIterator<Item = (u32, ExprId)>,
    ) -> LexerStateId {
        let mut parts: Left = parts.into_iter().collect();
        if parts.is_empty() && !self.interned.is_empty() {
            return LexerStateId::DEAD;
        }
        parts.sort_unstable();
        parts.dedup();
        if let Some(index) = self.interned.get_index_of(parts.as_slice()) {
            return LexerStateId::plain(index as u32);
        }
        self.heap += parts.len() * size_of::<(u32, ExprId)>() + 16;
        self.rows.push(Row::None);
        LexerStateId::plain(self.interned.insert_full(parts.into_boxed_slice()).0 as u32)
    }

    /// Where the transition of a lexer state without counters on a byte is, if it has a place.
    #[inline]
    fn known_slot(&self, lexer_state: LexerStateId, byte: u8) -> Option<usize> {
        match self.rows[lexer_state.plain as usize] {
            Row::All { classes, start } => {
                Some(start as usize + self.residuals.class_of(classes, byte))
            }
            Row::One { byte: one, at } if one == byte => Some(at as usize),
            _ => None,
        }
    }

    /// A place for the transition of a lexer state without counters on a byte that has none.
    #[cold]
    fn new_slot(&mut self, lexer_state: LexerStateId, byte: u8) -> usize {
        let row = &mut self.rows[lexer_state.plain as usize];
        if let Row::None = row {
            let at = self.transitions.len();
            self.transitions.push(Transition::UNKNOWN);
            *row = Row::One {
                byte,
                at: at as u32,
            };
            return at;
        }
        let (classes, start) = self.row(lexer_state);
        start as usize + self.residuals.class_of(classes, byte)
    }

    /// The classes of the bytes that a lexer state without counters tells apart, and where their transitions begin.
    pub(super) fn row(&mut self, lexer_state: LexerStateId) -> (ClassesId, u32) {
        let known = match self.rows[lexer_state.plain as usize] {
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
        let parts = &interned[lexer_state.plain as usize];
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
        self.rows[lexer_state.plain as usize] = Row::All { classes, start };
        (classes, start)
    }

    /// Whether a byte leads anywhere, where that is known without a derivative.
    pub(crate) fn lives(&self, lexer_state: LexerStateId, byte: u8) -> Option<bool> {
        if lexer_state.is_counted() || !self.residuals.has(Layer::Peeks) {
            return None;
        }
        if let Some(slot) = self.known_slot(lexer_state, byte)
            && let known = self.transitions[slot]
            && known != Transition::UNKNOWN
        {
            return Some(known != Transition::NOWHERE);
        }
        let mut all = Some(false);
        for &(_, residual) in self.parts(lexer_state) {
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
    pub(crate) fn known_first(&self, residual: ExprId, byte: u8) -> Option<bool> {
        if !self.residuals.first(residual).contains(byte) {
            Some(false)
        } else if self.residuals.is_logical(residual) {
            None
        } else {
            Some(true)
        }
    }

    /// The set of tags.
    pub(crate) fn accept_set(&mut self, mut tags: Vec<u32>) -> AcceptSetId {
        if tags.is_empty() && !self.accept_set.is_empty() {
            return AcceptSetId::NONE;
        }
        tags.sort_unstable();
        tags.dedup();
        if let Some(index) = self.accept_set.get_index_of(tags.as_slice()) {
            return AcceptSetId(index as u32);
        }
        self.heap += tags.len() * 4 + 16;
        AcceptSetId(self.accept_set.insert_full(tags.into()).0 as u32)
    }

    /// The tags of a set.
    pub(crate) fn tags(&self, accept_set: AcceptSetId) -> &[u32] {
        &self.accept_set[accept_set.0 as usize]
    }

    /// The residuals of a lexer state with their tags; counters are counters.
    pub(crate) fn parts(&self, lexer_state: LexerStateId) -> &[(u32, ExprId)] {
        &self.interned[lexer_state.plain as usize]
    }

    /// Every byte that may come next in a lexer state, and perhaps more.
    pub(crate) fn first(&self, lexer_state: LexerStateId) -> ByteSet {
        let parts = self.parts(lexer_state).iter();
        parts.fold(ByteSet::EMPTY, |first, &(_, part)| {
            first.union(&self.residuals.first(part))
        })
    }

    /// The bytes, grouped by what none of the lexer states tells apart; largest group first.
    pub(crate) fn byte_classes(
        &mut self,
        lexer: impl Iterator<Item = LexerStateId>,
    ) -> Vec<ByteSet> {
        let all: Vec<ClassesId> = lexer.map(|lexer_state| self.row(lexer_state).0).collect();
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
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(LexerStateId, AcceptSetId), Error> {
        if lexer_state.is_counted() {
            return self.step_counted(lexer_state, byte, fuel);
        }
        let slot = match self.known_slot(lexer_state, byte) {
            Some(slot) => slot,
            None => self.new_slot(lexer_state, byte),
        };
        let known = self.transitions[slot];
        if known == Transition::UNKNOWN {
            self.derive(lexer_state, byte, slot, fuel)
        } else if known.to & COUNTED == 0 {
            Ok((LexerStateId::plain(known.to), known.accept_set))
        } else {
            Ok((
                self.arrivals[(known.to & !COUNTED) as usize],
                known.accept_set,
            ))
        }
    }

    #[cold]
    fn derive(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        slot: usize,
        fuel: &mut Fuel,
    ) -> Result<(LexerStateId, AcceptSetId), Error> {
        let (parts, accept_set) = self.derived(lexer_state, byte, fuel)?;
        let (lexer_state, accept_set) = (self.arrive(parts, fuel)?, self.accept_set(accept_set));
        let to = if lexer_state.is_counted() {
            self.arrivals.push(lexer_state);
            COUNTED | (self.arrivals.len() as u32 - 1)
        } else {
            lexer_state.plain
        };
        self.transitions[slot] = Transition { to, accept_set };
        Ok((lexer_state, accept_set))
    }

    /// What remains of each part after a byte, and which tags end with it.
    pub(super) fn derived(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(Left, Vec<u32>), Error> {
        let mut parts = Left::new();
        let mut accept_set = Vec::new();
        for index in 0..self.parts(lexer_state).len() {
            let (tag, residual) = self.parts(lexer_state)[index];
            if !self.residuals.first(residual).contains(byte) {
                continue;
            }
            self.residuals.set_owner(tag);
            let rest = self.residuals.step(residual, byte, fuel)?;
            if self.residuals.is_nullable(rest) {
                accept_set.push(tag);
            }
            if rest != ExprId::NOTHING && rest != ExprId::EMPTY {
                parts.push((tag, rest));
            }
        }
        Ok((parts, accept_set))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.residuals.memory_bytes()
            + self.interned.len() * 56
            + self.accept_set.len() * 40
            + self.transitions.len() * size_of::<Transition>()
            + self.arrivals.len() * size_of::<LexerStateId>()
            + self.steps.len() * 32
            + self.representatives.len() * 16
            + self.heap
    }
}

// ---
// Lexer states with counters: bounds of repetitions that are out of reach stand beside a state, and steps take units off
// them. `counted` says when that is right.

impl LexerStates {
    /// The same lexer state with repetitions in place of counters.
    pub(crate) fn written_out(
        &mut self,
        lexer_state: LexerStateId,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        if !lexer_state.is_counted() {
            return Ok(lexer_state);
        }
        self.with_bounds(lexer_state.without_bounds(), lexer_state.bounds, fuel)
    }

    /// A lexer state with repetitions of these bounds in place of counters.
    fn with_bounds(
        &mut self,
        counters: LexerStateId,
        bounds: Bounds,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        self.with_parts(counters, |residuals, part| {
            residuals.with_bounds(part, bounds, fuel)
        })
    }

    /// The lexer state of what becomes of each residual of another.
    fn with_parts(
        &mut self,
        lexer_state: LexerStateId,
        mut become_of: impl FnMut(&mut Residuals, ExprId) -> Result<ExprId, Error>,
    ) -> Result<LexerStateId, Error> {
        let mut parts = self.parts(lexer_state).to_vec();
        for (_, part) in &mut parts {
            *part = become_of(&mut self.residuals, *part)?;
        }
        Ok(self.intern(parts))
    }

    /// A lexer state without counters from which the same tokens lead on.
    pub(crate) fn representative(
        &mut self,
        lexer_state: LexerStateId,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        if !lexer_state.is_counted() {
            return Ok(lexer_state);
        }
        let counted = lexer_state.without_bounds();
        if let Some(&known) = self.representatives.get(&counted) {
            return Ok(known);
        }
        let representative = self.with_parts(counted, |residuals, part| {
            residuals.with_out_of_reach(part, fuel)
        })?;
        self.representatives.insert(counted, representative);
        Ok(representative)
    }

    /// Puts bounds of repetitions that are out of reach beside a lexer state.
    pub(super) fn arrive(&mut self, parts: Left, fuel: &mut Fuel) -> Result<LexerStateId, Error> {
        if parts.is_empty() {
            return Ok(LexerStateId::DEAD);
        }
        if !self.residuals.has(Layer::Counters) {
            return Ok(self.intern(parts));
        }
        let mut reach = Countable::Nothing;
        for &(_, part) in &parts {
            reach = reach.with(self.residuals.countable_bounds(part, fuel)?);
        }
        let Countable::Same(bounds, margin) = reach else {
            return Ok(self.intern(parts));
        };
        let mut counters = parts.clone();
        for (_, part) in &mut counters {
            if self.residuals.countable_bounds(*part, fuel)? != Countable::Nothing {
                *part = self.residuals.with_counters(*part, fuel)?;
            }
        }
        let counters = self.intern(counters);
        Ok(if self.useless.contains(&counters) {
            self.intern(parts)
        } else {
            self.raise_margin(counters, margin);
            counters.with_bounds(bounds)
        })
    }

    /// Makes sure that upper bounds beside a lexer state are out of reach by a margin.
    pub(super) fn raise_margin(&mut self, lexer_state: LexerStateId, margin: u32) {
        if margin > 0 {
            let known = self.margins.entry(lexer_state).or_insert(0);
            *known = margin.max(*known);
        }
    }

    /// By how much upper bounds beside a lexer state must be out of reach.
    pub(super) fn margin(&self, lexer_state: LexerStateId) -> u32 {
        let known = self.margins.get(&lexer_state.without_bounds());
        known.copied().unwrap_or(0)
    }

    pub(super) fn step_counted(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(LexerStateId, AcceptSetId), Error> {
        let (counters, bounds) = (lexer_state.without_bounds(), lexer_state.bounds);
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
            Counted::Away(to, accept_set) => Ok((to, accept_set)),
            Counted::On(to, accept_set, units) => {
                let bounds = bounds.less(units);
                let margin = self.margin(counters);
                let near = !bounds.are_out_of_reach(self.residuals.reach(), margin);
                Ok((
                    if near {
                        self.with_bounds(to, bounds, fuel)?
                    } else {
                        to.with_bounds(bounds)
                    },
                    accept_set,
                ))
            }
            Counted::Unclear => {
                let lexer_state = self.written_out(lexer_state, fuel)?;
                self.step(lexer_state, byte, fuel)
            }
        }
    }

    #[cold]
    fn derive_counted(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Counted, Error> {
        let (mut parts, accept_set) = self.derived(lexer_state, byte, fuel)?;
        let consumed = parts
            .iter()
            .fold(Consumed::Nothing, |consumed, &(_, part)| {
                consumed.with(self.residuals.consumed(part))
            });
        Ok(match consumed {
            Consumed::Nothing => {
                Counted::Away(self.arrive(parts, fuel)?, self.accept_set(accept_set))
            }
            Consumed::All(units) => {
                if units > 0 {
                    for (_, part) in &mut parts {
                        *part = self.residuals.reset_counters(*part, fuel)?;
                    }
                }
                let to = self.intern(parts);
                self.raise_margin(to, self.margin(lexer_state));
                Counted::On(to, self.accept_set(accept_set), units)
            }
            Consumed::Unclear => {
                self.useless.insert(lexer_state);
                Counted::Unclear
            }
        })
    }
}

// ---
// The same for lexer states.

impl LexerStates {
    /// A residual of another store.
    pub(crate) fn carry_residual(
        &mut self,
        from: &Self,
        residual: ExprId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<ExprId, Error> {
        let residuals = &mut self.residuals;
        residuals.carry(&from.residuals, residual, carried, fuel)
    }

    /// A lexer state of another store.
    pub(crate) fn carry(
        &mut self,
        from: &Self,
        lexer_state: LexerStateId,
        carried: &mut Carried,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        let mut parts = from.parts(lexer_state).to_vec();
        for (_, part) in &mut parts {
            *part = self.carry_residual(from, *part, carried, fuel)?;
        }
        let here = self.intern(parts);
        self.raise_margin(here, from.margin(lexer_state));
        Ok(here.with_bounds_of(lexer_state))
    }
}
