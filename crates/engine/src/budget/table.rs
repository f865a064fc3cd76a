//! What is found out about the parts of a compiled grammar, for all matchers with bounds on the same labels.

use std::sync::Arc;

use super::Unit;
use super::parts::{Class, OUTSIDE, Parts, PieceId};
use super::token::{Outcome, longer, read_symbols, read_text};
use crate::automaton::AcceptSetId;
use crate::distance::{Goal, PathCache, ShortestPath};
use crate::earley::{Frames, Recognizer, StateId};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap};
use crate::tuning;
use crate::vocabulary::{ASCII, Below, Vocabulary};

/// Stands for the length of a token where it must not matter.
const ANY_LENGTH: u32 = 1 << 24;

/// The labels of bounded parts, and what is counted of each.
type Labels = Box<[(Arc<str>, Unit)]>;

/// Ways of reading a token, each with the token's length.
pub(crate) type Readings = Arc<[(Outcome, u32)]>;

/// The tables of one compiled grammar.
#[derive(Debug, Default)]
pub(crate) struct Tables(Vec<(Labels, Table)>);

impl Tables {
    /// The number of the table for these labels.
    pub(crate) fn of(&mut self, labels: &[(Arc<str>, Unit)], recognizer: &Recognizer) -> usize {
        if let Some(known) = self.0.iter().position(|(known, _)| **known == *labels) {
            return known;
        }
        let table = Table {
            parts: Parts::new(recognizer, labels),
            ways: labels.iter().map(|_| PathCache::default()).collect(),
            bytes: IdMap::default(),
            tokens: IdMap::default(),
            followed: IdMap::default(),
            effects: IdMap::default(),
            effect_bytes: 0,
        };
        self.0.push((labels.into(), table));
        self.0.len() - 1
    }

    /// Approximate bytes of all tables.
    pub(crate) fn memory_bytes(&self) -> usize {
        let tables = self.0.iter();
        tables.map(|(_, table)| table.memory_bytes()).sum()
    }

    /// Forgets what can be found out anew.
    pub(crate) fn forget(&mut self) {
        for (_, table) in &mut self.0 {
            table.parts.forget();
            table.followed.clear();
            table.effects.clear();
            table.effect_bytes = 0;
        }
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> &mut Table {
        &mut self.0[number].1
    }
}

/// Everything that a table works with.
pub(crate) struct Work<'a> {
    pub(crate) recognizer: &'a mut Recognizer,
    pub(crate) frames: &'a mut Frames,
    /// By dot: the shortest string of the rest of its rule.
    pub(crate) rest: &'a [u32],
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) fuel: &'a mut Fuel,
}

/// Tokens with the same ways of being read.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) outcomes: Arc<[Outcome]>,
    /// The length of the tokens, where it matters.
    pub(crate) length: u32,
    pub(crate) tokens: Vec<u32>,
}

/// What each token does from a piece on.
#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) groups: Vec<Group>,
    /// By part: what no token takes more of, the shortest way out included.
    pub(crate) most: Box<[u32]>,
}

/// What is known of the parts.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) parts: Parts,
    /// By part: what is known of the ways out of it.
    ways: Box<[PathCache]>,
    /// From pieces out of their parts.
    bytes: IdMap<PieceId, u32>,
    tokens: IdMap<PieceId, u32>,
    followed: IdMap<(PieceId, u32), Readings>,
    effects: IdMap<PieceId, Arc<Effects>>,
    effect_bytes: usize,
}

impl Table {
    fn memory_bytes(&self) -> usize {
        let ways: usize = self.ways.iter().map(PathCache::memory_bytes).sum();
        self.parts.memory_bytes()
            + ways
            + (self.bytes.len() + self.tokens.len()) * 16
            + self.followed.len() * 128
            + self.effect_bytes
    }

    /// The shortest way out of a piece's part, or anything up to `enough` if it is not longer than that.
    pub(crate) fn need(
        &mut self,
        piece: PieceId,
        enough: u32,
        work: &mut Work<'_>,
    ) -> Result<u32, Error> {
        let class = self.parts.piece(piece).class;
        let bytes = if let Some(&known) = self.bytes.get(&piece) {
            known
        } else {
            let (mut way, state) = self.way(piece, work);
            let bytes = way.byte_count(state)?;
            self.bytes.insert(piece, bytes);
            bytes
        };
        // No way has more tokens than bytes.
        if bytes <= enough || self.parts.in_bytes(class) {
            return Ok(bytes);
        }
        if let Some(&known) = self.tokens.get(&piece) {
            return Ok(known);
        }
        let (mut way, state) = self.way(piece, work);
        let tokens = way.token_count(state)?;
        self.tokens.insert(piece, tokens);
        Ok(tokens)
    }

    /// The tokens of the shortest way out of a piece's part.
    pub(crate) fn way_out(
        &mut self,
        piece: PieceId,
        work: &mut Work<'_>,
    ) -> Result<Option<Vec<u32>>, Error> {
        let (mut way, state) = self.way(piece, work);
        way.tokens(state, usize::MAX)
    }

    /// What finds the way out of a piece's part, and where it begins.
    fn way<'a>(
        &'a mut self,
        piece: PieceId,
        work: &'a mut Work<'_>,
    ) -> (ShortestPath<'a>, StateId) {
        let found = self.parts.piece(piece).clone();
        let way = ShortestPath {
            recognizer: work.recognizer,
            frames: work.frames,
            rest: work.rest,
            known: &mut self.ways[usize::from(found.class) - 1],
            goal: Goal::Outside(&mut self.parts, found.class),
            vocabulary: work.vocabulary,
            fuel: work.fuel,
        };
        (way, found.state)
    }

    /// The ways of reading text from a piece on.
    pub(crate) fn read_text(
        &mut self,
        piece: PieceId,
        text: &[u8],
        work: &mut Work<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let both = (&mut *work.recognizer, &mut *work.frames);
        read_text(piece, text, &mut self.parts, both, work.fuel)
    }

    /// The ways of reading a token from a piece on, each with the token's length.
    pub(crate) fn read_token(
        &mut self,
        piece: PieceId,
        id: u32,
        work: &mut Work<'_>,
    ) -> Result<Readings, Error> {
        if let Some(known) = self.followed.get(&(piece, id)) {
            return Ok(Arc::clone(known));
        }
        let mut outcomes = Vec::new();
        if let Some(text) = work.vocabulary.text(id) {
            let length = text.len() as u32;
            let read = self.read_text(piece, text, work)?;
            outcomes.extend(read.into_iter().map(|outcome| (outcome, length)));
        }
        let fresh = work.recognizer.state(self.parts.piece(piece).state).fresh;
        if let Some(symbols) = fresh.and_then(|set| work.recognizer.symbols(set, id)) {
            let both = (&mut *work.recognizer, &mut *work.frames);
            let read = read_symbols(piece, symbols, &mut self.parts, both, work.fuel)?;
            outcomes.extend(read.into_iter().map(|outcome| (outcome, 1)));
        }
        if self.followed.len() == tuning::BUDGET_TOKENS {
            self.followed.clear();
        }
        let outcomes: Readings = outcomes.into();
        self.followed.insert((piece, id), Arc::clone(&outcomes));
        Ok(outcomes)
    }

    /// What each token does from a piece on.
    pub(crate) fn effects(
        &mut self,
        piece: PieceId,
        work: &mut Work<'_>,
    ) -> Result<Arc<Effects>, Error> {
        if let Some(known) = self.effects.get(&piece) {
            return Ok(Arc::clone(known));
        }
        let mut groups = Groups::default();
        self.read_trie(piece, &mut groups, work)?;
        self.read_symbols(piece, &mut groups, work)?;
        let mut most = vec![0; self.ways.len()];
        let mut list = Vec::with_capacity(groups.tokens.len());
        for ((set, length), tokens) in groups.tokens {
            let outcomes: Arc<[Outcome]> = groups.sets[set].as_slice().into();
            for outcome in outcomes.iter() {
                self.take_most(piece, outcome, length, &mut most, work)?;
            }
            list.push(Group {
                outcomes,
                length,
                tokens,
            });
        }
        let bytes: usize = list.iter().map(|group| group.tokens.len() * 4 + 64).sum();
        if self.effect_bytes + bytes > tuning::BUDGET_EFFECT_BYTES {
            self.effects.clear();
            self.effect_bytes = 0;
        }
        self.effect_bytes += bytes;
        let effects = Arc::new(Effects {
            groups: list,
            most: most.into(),
        });
        self.effects.insert(piece, Arc::clone(&effects));
        Ok(effects)
    }

    /// Raises what a way of reading a token may take of each part.
    fn take_most(
        &mut self,
        from: PieceId,
        outcome: &Outcome,
        length: u32,
        most: &mut [u32],
        work: &mut Work<'_>,
    ) -> Result<(), Error> {
        let mut raise = |class: Class, bytes: u32, need: u32, in_bytes: bool| {
            let taken = if in_bytes { bytes } else { 1 };
            let known = &mut most[usize::from(class) - 1];
            *known = (*known).max(taken.saturating_add(need));
        };
        if let Some(bytes) = outcome.left {
            let class = self.parts.piece(from).class;
            raise(class, bytes, 0, self.parts.in_bytes(class));
        }
        for &(entry, bytes) in &outcome.passed {
            let class = self.parts.piece(entry).class;
            raise(class, bytes, 0, self.parts.in_bytes(class));
        }
        let class = self.parts.piece(outcome.piece).class;
        if class != OUTSIDE {
            let need = self.need(outcome.piece, u32::MAX, work)?;
            let in_bytes = self.parts.in_bytes(class);
            raise(class, outcome.run(length), need, in_bytes);
        }
        Ok(())
    }

    /// Follows all tokens that are text, along the trie. Where the ways of reading do not change with any byte below a
    /// node, what is below it is not looked at.
    fn read_trie(
        &mut self,
        piece: PieceId,
        groups: &mut Groups,
        work: &mut Work<'_>,
    ) -> Result<(), Error> {
        let trie = work.vocabulary.trie();
        let nodes = trie.nodes();
        let start = groups.set(vec![Outcome::start(piece)]);
        // By depth: the ways of reading what stands before.
        let mut before = vec![start];
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            let depth = usize::from(node.depth);
            before.truncate(depth);
            let length = depth as u32;
            let set = self.step(groups, before[depth - 1], length, node.byte, work)?;
            if groups.sets[set].is_empty() {
                at = node.next as usize;
                continue;
            }
            let matters = groups.length_matters(set, &self.parts);
            let shown = |length: u32| if matters { length } else { 0 };
            for &id in trie.tokens(at) {
                groups.add(set, shown(length), id);
            }
            if let Some(below) = trie.below(at)
                && self.stays(groups, set, below, work)?
            {
                let (first, end) = (trie.before(at + 1), trie.before(node.next as usize));
                for position in first as usize..end as usize {
                    let id = trie.order()[position];
                    let length = work.vocabulary.token(id).len() as u32;
                    groups.add(set, shown(length), id);
                }
                work.fuel.spend((end - first) as usize)?;
                at = node.next as usize;
                continue;
            }
            before.push(set);
            at += 1;
        }
        Ok(())
    }

    /// Follows the tokens that the grammar names.
    fn read_symbols(
        &mut self,
        piece: PieceId,
        groups: &mut Groups,
        work: &mut Work<'_>,
    ) -> Result<(), Error> {
        let Some(set) = work.recognizer.state(self.parts.piece(piece).state).fresh else {
            return Ok(());
        };
        let mut known: IdMap<AcceptSetId, usize> = IdMap::default();
        let mut ids: Vec<u32> = Vec::new();
        for (_, index) in work.recognizer.sets.tokens(set) {
            for &(first, last) in &work.recognizer.dots.tokens[index as usize].ids {
                ids.extend(first..=last);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        work.fuel.spend(ids.len())?;
        for id in ids {
            let Some(symbols) = work.recognizer.symbols(set, id) else {
                continue;
            };
            let number = if let Some(&number) = known.get(&symbols.1) {
                number
            } else {
                let both = (&mut *work.recognizer, &mut *work.frames);
                let read = read_symbols(piece, symbols, &mut self.parts, both, work.fuel)?;
                let number = groups.set(read);
                known.insert(symbols.1, number);
                number
            };
            groups.add(number, 1, id);
        }
        Ok(())
    }

    /// The ways of reading with one byte more, as the `length`-th; remembered where they do not tell the length.
    fn step(
        &mut self,
        groups: &mut Groups,
        set: usize,
        length: u32,
        byte: u8,
        work: &mut Work<'_>,
    ) -> Result<usize, Error> {
        if let Some(&known) = groups.steps.get(&(set, byte)) {
            work.fuel.spend(1)?;
            return Ok(known);
        }
        let read = self.longer(groups, set, length - 1, byte, work)?;
        let tells_length = read.iter().any(|outcome| outcome.tells(length));
        let next = groups.set(read);
        if !tells_length {
            groups.steps.insert((set, byte), next);
        }
        Ok(next)
    }

    fn longer(
        &mut self,
        groups: &Groups,
        set: usize,
        length: u32,
        byte: u8,
        work: &mut Work<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let both = (&mut *work.recognizer, &mut *work.frames);
        let outcomes = &groups.sets[set];
        longer(outcomes, length, byte, &mut self.parts, both, work.fuel)
    }

    /// Whether no byte below a node changes the ways of reading, wherever it stands.
    fn stays(
        &mut self,
        groups: &mut Groups,
        set: usize,
        below: &Below,
        work: &mut Work<'_>,
    ) -> Result<bool, Error> {
        let (ascii, others) = if let Some(&known) = groups.stays.get(&set) {
            known
        } else {
            let (mut ascii, mut others) = (0_u128, true);
            for byte in 0..=u8::MAX {
                let stays = self.longer(groups, set, ANY_LENGTH, byte, work)? == groups.sets[set];
                if byte < 0x80 {
                    ascii |= u128::from(stays) << byte;
                } else {
                    others &= stays;
                }
            }
            groups.stays.insert(set, (ascii, others));
            (ascii, others)
        };
        Ok(below.ascii & !ascii == 0 && (others || below.from & ASCII != 0))
    }
}

/// Tokens by the ways of reading them, while they are being read.
#[derive(Default)]
struct Groups {
    sets: IdIndexSet<Vec<Outcome>>,
    /// By set: the ASCII bytes that do not change it, and whether no other does.
    stays: IdMap<usize, (u128, bool)>,
    steps: IdMap<(usize, u8), usize>,
    tokens: IdMap<(usize, u32), Vec<u32>>,
}

impl Groups {
    fn set(&mut self, outcomes: Vec<Outcome>) -> usize {
        self.sets.insert_full(outcomes).0
    }

    fn add(&mut self, set: usize, length: u32, id: u32) {
        self.tokens.entry((set, length)).or_default().push(id);
    }

    /// Whether the length of a token matters beside the ways of reading it.
    fn length_matters(&self, set: usize, parts: &Parts) -> bool {
        self.sets[set].iter().any(|outcome| {
            outcome.entry.is_some() || parts.in_bytes(parts.piece(outcome.piece).class)
        })
    }
}
