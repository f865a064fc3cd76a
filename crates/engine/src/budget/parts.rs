//! Which part of the text an alternative is in, and states split by that.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Unit;
use crate::earley::{Ended, Frames, ROOT, Recognizer, RetId, SetId, StateId, Sym, Thread};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap};

/// A part by the number of its bound, from 1 on; or [`OUTSIDE`].
pub(crate) type Class = u8;

/// Outside of every part that has a bound.
pub(crate) const OUTSIDE: Class = 0;

/// Parts as bits, [`OUTSIDE`] included.
type Classes = u64;

/// An interned [`Piece`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PieceId(u32);

/// The alternatives of a state whose next byte or token is in one part.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Piece {
    pub(crate) class: Class,
    pub(crate) state: StateId,
}

/// Pieces, one for each part that a state is in.
pub(crate) type Pieces = Arc<[PieceId]>;

/// What waits for one symbol in a set, by the part that it is in: sets of only that. The set itself, if all is in one part.
type Waits = Arc<[(Class, SetId)]>;

/// No end can be reached.
pub(crate) const NEVER: u32 = u32::MAX;

/// The least bytes of a part that a symbol, or what is left of a rule, goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    /// Until something that is not of the part may come next.
    pub(crate) out: u32,
    /// Until the end, if all of it may be of the part.
    pub(crate) over: u32,
}

impl Exit {
    pub(super) const NONE: Self = Self {
        out: NEVER,
        over: NEVER,
    };
}

/// By nonterminal that stands outside.
type Exits = IdMap<u32, Exit>;

/// Where all alternatives of a grammar are.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The parts that nonterminals are.
    pub(super) labelled: IdMap<u32, Class>,
    /// What each part is counted in.
    units: Box<[Unit]>,
    continuations: IdMap<RetId, Classes>,
    waits: IdMap<(SetId, u32), Waits>,
    /// By part.
    pub(super) exits: Box<[Exits]>,
    interned: IdIndexSet<Piece>,
    splits: IdMap<StateId, Pieces>,
    steps: IdMap<(PieceId, u8), Pieces>,
}

impl Parts {
    /// For these labels, the first of which is part 1.
    pub(crate) fn new(recognizer: &Recognizer, labels: &[(Arc<str>, Unit)]) -> Self {
        let labelled = recognizer.dots.labels.iter().filter_map(|(&id, label)| {
            let index = labels.iter().position(|(known, _)| known == label)?;
            Some((id, index as Class + 1))
        });
        Self {
            labelled: labelled.collect(),
            units: labels.iter().map(|&(_, unit)| unit).collect(),
            continuations: IdMap::from_iter([(ROOT, 1 << OUTSIDE)]),
            waits: IdMap::default(),
            exits: labels.iter().map(|_| Exits::default()).collect(),
            interned: IdIndexSet::default(),
            splits: IdMap::default(),
            steps: IdMap::default(),
        }
    }

    /// Whether a part's bytes are counted, and not its tokens.
    pub(crate) fn in_bytes(&self, class: Class) -> bool {
        class != OUTSIDE && self.units[usize::from(class) - 1] == Unit::Bytes
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let exits: usize = self.exits.iter().map(IdMap::len).sum();
        (self.continuations.len() + self.waits.len() + exits) * 24
            + self.interned.len() * 64
            + (self.splits.len() + self.steps.len()) * 56
    }

    /// Forgets what can be found out anew; pieces keep their numbers.
    pub(crate) fn forget(&mut self) {
        self.splits.clear();
        self.steps.clear();
    }

    /// A piece that was made here.
    pub(crate) fn piece(&self, id: PieceId) -> &Piece {
        &self.interned[id.0 as usize]
    }

    /// The part that an item with this continuation is in.
    pub(crate) fn of_continuation(
        &mut self,
        ret: RetId,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Class, Error> {
        self.classes(ret, recognizer, fuel).map(single)
    }

    /// All parts that an item with this continuation may be in: the outermost labels on the ways to the end of the text.
    fn classes(
        &mut self,
        ret: RetId,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Classes, Error> {
        if let Some(&known) = self.continuations.get(&ret) {
            return Ok(known);
        }
        let mut order = vec![ret];
        let mut numbers: IdMap<RetId, usize> = IdMap::from_iter([(ret, 0)]);
        let mut above: Vec<Vec<RetId>> = Vec::new();
        while let Some(&at) = order.get(above.len()) {
            let Recognizer {
                sets, dots, lexer, ..
            } = &mut *recognizer;
            let answers = sets.answer(at, dots, lexer, fuel)?;
            fuel.spend(1 + answers.len())?;
            let mut targets: Vec<RetId> = answers.into_iter().map(|(_, next)| next).collect();
            targets.sort_unstable();
            targets.dedup();
            for &next in &targets {
                if !self.continuations.contains_key(&next) && !numbers.contains_key(&next) {
                    numbers.insert(next, order.len());
                    order.push(next);
                }
            }
            above.push(targets);
        }
        // What is met later is mostly further out.
        let mut found = vec![0; order.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..order.len()).rev() {
                fuel.spend(1)?;
                let mut classes: Classes = above[index].iter().fold(0, |classes, next| {
                    let known = self.continuations.get(next).copied();
                    classes | known.unwrap_or_else(|| found[numbers[next]])
                });
                let nonterminal = recognizer.sets.nonterminal(order[index]);
                if let Some(&class) = nonterminal.and_then(|id| self.labelled.get(&id))
                    && classes & 1 << OUTSIDE != 0
                {
                    classes = classes & !(1 << OUTSIDE) | 1 << class;
                }
                changed |= classes != found[index];
                found[index] = classes;
            }
        }
        for (&ret, classes) in order.iter().zip(found) {
            self.continuations.insert(ret, classes);
        }
        Ok(self.continuations[&ret])
    }

    /// What waits for a symbol in a set, by part.
    fn of_wait(
        &mut self,
        set: SetId,
        tag: u32,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Waits, Error> {
        if let Some(known) = self.waits.get(&(set, tag)) {
            return Ok(Arc::clone(known));
        }
        let waits = self.by_part(set, &[tag], recognizer, fuel)?;
        self.waits.insert((set, tag), Arc::clone(&waits));
        Ok(waits)
    }

    /// The pieces of a state.
    pub(crate) fn split(
        &mut self,
        id: StateId,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Pieces, Error> {
        if let Some(known) = self.splits.get(&id) {
            return Ok(Arc::clone(known));
        }
        let state = recognizer.state(id);
        let (alive, begins, ends) = (state.threads.to_vec(), state.fresh, state.accept);
        let mut threads: BTreeMap<Class, Vec<Thread>> = BTreeMap::new();
        for (set, lexer_state) in alive {
            let mut own: BTreeMap<(Class, SetId), Vec<u32>> = BTreeMap::new();
            for index in 0..recognizer.lexer.parts(lexer_state).len() {
                let (tag, _) = recognizer.lexer.parts(lexer_state)[index];
                for &wait in self.of_wait(set, tag, recognizer, fuel)?.iter() {
                    own.entry(wait).or_default().push(tag);
                }
            }
            let whole = own.len() == 1;
            for ((class, set), tags) in own {
                let lexer_state = if whole {
                    lexer_state
                } else {
                    let lexer_state = recognizer.lexer.written_out(lexer_state, fuel)?;
                    let mut parts = recognizer.lexer.parts(lexer_state).to_vec();
                    parts.retain(|(tag, _)| tags.contains(tag));
                    recognizer.lexer.intern(parts)
                };
                threads.entry(class).or_default().push((set, lexer_state));
            }
        }
        let mut fresh: BTreeMap<Class, SetId> = BTreeMap::new();
        if let Some(set) = begins {
            let tags: Vec<u32> = recognizer.sets.tokens(set).map(|(sym, _)| sym.0).collect();
            let waits = self.by_part(set, &tags, recognizer, fuel)?;
            fresh.extend(waits.iter().copied());
        }
        let mut classes: Vec<Class> = threads.keys().chain(fresh.keys()).copied().collect();
        if ends {
            classes.push(OUTSIDE);
        }
        classes.sort_unstable();
        classes.dedup();
        let mut pieces = Vec::with_capacity(classes.len());
        let whole = classes.len() == 1;
        for class in classes {
            let state = if whole {
                id
            } else {
                let threads = threads.remove(&class).unwrap_or_default();
                let accept = ends && class == OUTSIDE;
                recognizer.intern_threads(threads, fresh.get(&class).copied(), accept)
            };
            let piece = Piece { class, state };
            pieces.push(PieceId(self.interned.insert_full(piece).0 as u32));
        }
        let pieces: Pieces = pieces.into();
        self.splits.insert(id, Arc::clone(&pieces));
        Ok(pieces)
    }

    /// What waits for these symbols in a set, by part.
    fn by_part(
        &mut self,
        set: SetId,
        tags: &[u32],
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Waits, Error> {
        let mut by_class: BTreeMap<Class, Vec<(u32, RetId)>> = BTreeMap::new();
        for &tag in tags {
            let Recognizer {
                sets, dots, lexer, ..
            } = &mut *recognizer;
            for item in sets.continuations(set, Sym(tag), dots, lexer, fuel)? {
                let class = self.of_continuation(item.1, recognizer, fuel)?;
                by_class.entry(class).or_default().push(item);
            }
        }
        let whole = by_class.len() == 1;
        let mut waits = Vec::with_capacity(by_class.len());
        for (class, items) in by_class {
            let own = if whole {
                set
            } else {
                recognizer.waiting(&items, fuel)?
            };
            waits.push((class, own));
        }
        Ok(waits.into())
    }

    /// Where a byte leads from a piece.
    pub(crate) fn step(
        &mut self,
        piece: PieceId,
        byte: u8,
        recognizer: &mut Recognizer,
        frames: &mut Frames,
        fuel: &mut Fuel,
    ) -> Result<Pieces, Error> {
        fuel.spend(1)?;
        if let Some(known) = self.steps.get(&(piece, byte)) {
            return Ok(Arc::clone(known));
        }
        frames.load(recognizer.state(self.piece(piece).state));
        let pieces = if recognizer.push(frames, byte, fuel)? {
            let state = recognizer.intern(frames);
            self.split(state, recognizer, fuel)?
        } else {
            Pieces::default()
        };
        self.steps.insert((piece, byte), Arc::clone(&pieces));
        Ok(pieces)
    }

    /// Where a token leads from a piece that names it, as these symbols.
    pub(crate) fn step_symbols(
        &mut self,
        piece: PieceId,
        symbols: Ended,
        recognizer: &mut Recognizer,
        frames: &mut Frames,
        fuel: &mut Fuel,
    ) -> Result<Pieces, Error> {
        frames.load(recognizer.state(self.piece(piece).state));
        if !recognizer.push_symbols(frames, symbols, fuel)? {
            return Ok(Pieces::default());
        }
        let state = recognizer.intern(frames);
        self.split(state, recognizer, fuel)
    }
}

/// One part for several.
fn single(classes: Classes) -> Class {
    if classes == 0 {
        OUTSIDE
    } else {
        classes.trailing_zeros() as Class
    }
}
