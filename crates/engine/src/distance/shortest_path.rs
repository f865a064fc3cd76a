//! A shortest way to an end, found by walking downhill.
//!
//! A step that lowers the distance always exists, so no search is needed. Which way is taken depends on nothing but the
//! state, so that the rest of a way is the way from there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use syntagma_grammar::ir::ByteSet;

use crate::budget::{Class, Exit, NEVER, OUTSIDE, Parts};
use crate::earley::{Frames, ROOT, Recognizer, RetId, SetId, StateId, Sym, View};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, IdSet};
use crate::vocabulary::Vocabulary;

/// By continuation: how many bytes lie between it and where a way leads.
type Ends = IdMap<RetId, u32>;

/// What is known of the ways to one goal. A text that goes on inside of a string or a number is soon on a known way.
#[derive(Debug, Default)]
pub(crate) struct PathCache {
    /// Distances of continuations.
    ends: Ends,
    /// By state: its first step; none where the way ends.
    steps: IdMap<StateId, Option<Step>>,
    /// By state: the fewest tokens that spell the way; None if none do.
    spellings: IdMap<StateId, Option<Spelling>>,
}

/// A piece, and the state behind it.
type Step = (Piece, StateId);

/// How many tokens there are, the first of them, and the state behind it.
type Spelling = (u32, u32, StateId);

impl PathCache {
    /// For ways to the end of the text.
    pub(super) fn of_end() -> Self {
        Self {
            ends: Ends::from_iter([(ROOT, 0)]),
            ..Self::default()
        }
    }

    /// Approximate bytes of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ends.len() * 16 + self.steps.len() * 32 + self.spellings.len() * 24
    }
}

/// Where a way leads.
pub(crate) enum Goal<'a> {
    /// To where the text may end.
    End,
    /// To where something outside of this part may follow.
    Outside(&'a mut Parts, Class),
}

/// One step on the way.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Byte(u8),
    /// A token, and the symbol of a set that it matches.
    Token(u32, SetId, u32),
}

/// Everything that finding a way needs.
pub(crate) struct ShortestPath<'a> {
    pub(crate) recognizer: &'a mut Recognizer,
    pub(crate) frames: &'a mut Frames,
    /// By dot: the shortest string of the rest of its rule.
    pub(crate) rest: &'a [u32],
    pub(crate) known: &'a mut PathCache,
    pub(crate) goal: Goal<'a>,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) fuel: &'a mut Fuel,
}

impl ShortestPath<'_> {
    /// The tokens of a shortest way from a state; those of some way of at most `most` tokens if that cannot be spelled.
    pub(crate) fn tokens(
        &mut self,
        state: StateId,
        most: usize,
    ) -> Result<Option<Vec<u32>>, Error> {
        if !self.spell(state)? {
            return Ok(None);
        }
        let mut tokens = Vec::new();
        let mut at = state;
        loop {
            match self.known.spellings[&at] {
                Some((0, ..)) => return Ok(Some(tokens)),
                Some((_, token, next)) => {
                    tokens.push(token);
                    at = next;
                }
                None => return self.search(state, most),
            }
        }
    }

    /// Whether the way from a state has at most `most` tokens.
    pub(crate) fn fits(&mut self, state: StateId, most: usize) -> Result<bool, Error> {
        if !self.spell(state)? {
            return Ok(false);
        }
        match self.known.spellings[&state] {
            Some((count, ..)) => Ok(count as usize <= most),
            None => Ok(self.search(state, most)?.is_some()),
        }
    }

    /// How many tokens the way from a state has; [`NEVER`] if there is none.
    pub(crate) fn token_count(&mut self, state: StateId) -> Result<u32, Error> {
        let tokens = self.tokens(state, usize::MAX)?;
        Ok(tokens.map_or(NEVER, |tokens| u32::try_from(tokens.len()).unwrap_or(NEVER)))
    }

    /// How many bytes the way from a state has; [`NEVER`] if there is none.
    pub(crate) fn byte_count(&mut self, state: StateId) -> Result<u32, Error> {
        self.frames.load(self.recognizer.state(state));
        self.cost()
    }

    /// Whether a continuation is beyond the goal.
    fn is_beyond(&mut self, ret: RetId) -> Result<bool, Error> {
        match &mut self.goal {
            Goal::End => Ok(false),
            Goal::Outside(parts, class) => {
                Ok(parts.of_continuation(ret, self.recognizer, self.fuel)? != *class)
            }
        }
    }

    /// From behind a dot, with the continuation of its rule.
    fn exit(&mut self, dot: u32, ret: RetId) -> Result<Exit, Error> {
        let over = self.rest[dot as usize];
        let Goal::Outside(parts, class) = &mut self.goal else {
            return Ok(Exit { out: NEVER, over });
        };
        let class = *class;
        let here = parts.of_continuation(ret, self.recognizer, self.fuel)?;
        if here == class {
            return Ok(Exit { out: NEVER, over });
        }
        if here != OUTSIDE {
            return Ok(Exit {
                out: 0,
                over: NEVER,
            });
        }
        let mut exit = parts.exit(class, dot, self.rest, &self.recognizer.dots, self.fuel)?;
        if ret == ROOT {
            // The text may end.
            exit.out = exit.out.min(exit.over);
        }
        Ok(exit)
    }

    /// From a continuation to the goal: Dijkstra's algorithm over continuations, remembered along the way that it finds.
    fn end(&mut self, ret: RetId) -> Result<u32, Error> {
        if let Some(&known) = self.known.ends.get(&ret) {
            return Ok(known);
        }
        // A way through a known continuation is put in the queue once more, as a way to the goal.
        let mut queue = BinaryHeap::from([Reverse((0_u32, false, ret))]);
        let mut reached: IdMap<RetId, (u32, Option<RetId>)> = IdMap::from_iter([(ret, (0, None))]);
        let mut done: IdSet<RetId> = IdSet::default();
        while let Some(Reverse((cost, is_end, at))) = queue.pop() {
            self.fuel.spend(1)?;
            if is_end {
                let mut back = Some(at);
                while let Some(at) = back {
                    let (so_far, before) = reached[&at];
                    self.known.ends.insert(at, cost - so_far);
                    back = before;
                }
                return Ok(cost);
            }
            if !done.insert(at) {
                continue;
            }
            if let Some(&known) = self.known.ends.get(&at) {
                if known != NEVER {
                    queue.push(Reverse((cost.saturating_add(known), true, at)));
                }
                continue;
            }
            let Recognizer {
                sets, dots, lexer, ..
            } = &mut *self.recognizer;
            for (dot, next) in sets.answer(at, dots, lexer, self.fuel)? {
                self.fuel.spend(1)?;
                let Exit { out, over } = self.exit(dot, next)?;
                if out != NEVER {
                    queue.push(Reverse((cost.saturating_add(out), true, at)));
                }
                let total = cost.saturating_add(over);
                if total != NEVER && reached.get(&next).is_none_or(|&(known, _)| total < known) {
                    reached.insert(next, (total, Some(at)));
                    queue.push(Reverse((total, false, next)));
                }
            }
        }
        for ret in done {
            self.known.ends.insert(ret, NEVER);
        }
        Ok(NEVER)
    }

    /// From the topmost state to the goal.
    fn cost(&mut self) -> Result<u32, Error> {
        let top = self.frames.top();
        if top.accept {
            return Ok(0);
        }
        let mut best = NEVER;
        let mut waits = Vec::new();
        for &(set, lexer_state) in self.frames.threads() {
            let lexer_state = self.recognizer.lexer.written_out(lexer_state, self.fuel)?;
            for index in 0..self.recognizer.lexer.parts(lexer_state).len() {
                let (tag, residual) = self.recognizer.lexer.parts(lexer_state)[index];
                let needed = self
                    .recognizer
                    .lexer
                    .residuals()
                    .shortest_with_byte(residual, self.fuel)?;
                waits.push((set, Sym(tag), needed));
            }
        }
        let symbols = self.token_symbols().into_iter();
        waits.extend(symbols.map(|(set, tag)| (set, Sym(tag), 1)));
        for (set, sym, needed) in waits {
            let Recognizer {
                sets, dots, lexer, ..
            } = &mut *self.recognizer;
            for (dot, ret) in sets.continuations(set, sym, dots, lexer, self.fuel)? {
                if self.is_beyond(ret)? {
                    return Ok(0);
                }
                let before = needed.saturating_add(self.rest[dot as usize]);
                if before < best {
                    best = best.min(before.saturating_add(self.end(ret)?));
                }
            }
        }
        Ok(best)
    }

    /// The token symbols that may come next in the topmost state, as tags of its set.
    fn token_symbols(&self) -> Vec<(SetId, u32)> {
        let fresh = self.frames.top().fresh;
        let symbols = fresh.map(|set| {
            let tokens = self.recognizer.sets.tokens(set);
            tokens.map(move |(sym, _)| (set, sym.0))
        });
        symbols.into_iter().flatten().collect()
    }

    /// A shortest way from a state: its steps, each with the state before it; None if there is none.
    fn downhill(&mut self, state: StateId) -> Result<Option<Vec<(StateId, Step)>>, Error> {
        let mut steps = Vec::new();
        let mut at = state;
        loop {
            if !self.known.steps.contains_key(&at) && !self.find_step(at)? {
                return Ok(None);
            }
            self.fuel.spend(1)?;
            let Some(step) = self.known.steps[&at] else {
                return Ok(Some(steps));
            };
            steps.push((at, step));
            at = step.1;
        }
    }

    /// Finds the first step of the way from a state; false if no way leads from it.
    fn find_step(&mut self, state: StateId) -> Result<bool, Error> {
        self.frames.load(self.recognizer.state(state));
        let left = self.cost()?;
        let step = match left {
            NEVER => return Ok(false),
            0 => None,
            _ => {
                let Some(step) = self.descend(left)? else {
                    return Ok(false);
                };
                Some(step)
            }
        };
        self.known.steps.insert(state, step);
        Ok(true)
    }

    /// From the topmost state, which is so far from the goal, to one that is nearer.
    fn descend(&mut self, left: u32) -> Result<Option<Step>, Error> {
        let mut best = None;
        for group in self.recognizer.byte_classes(self.frames) {
            let byte = self.spellable(&group);
            if !self.recognizer.push(self.frames, byte, self.fuel)? {
                continue;
            }
            let cost = self.cost()?;
            self.frames.truncate(0);
            if best.is_none_or(|(known, _)| cost < known) {
                best = Some((cost, Piece::Byte(byte)));
            }
            if cost < left {
                break;
            }
        }
        for (set, tag) in self.token_symbols() {
            let Some(id) = self.token_of(tag) else {
                continue;
            };
            if !self.push_token_of(set, tag)? {
                continue;
            }
            let cost = self.cost()?;
            self.frames.truncate(0);
            if best.is_none_or(|(known, _)| cost < known) {
                best = Some((cost, Piece::Token(id, set, tag)));
            }
        }
        let Some((_, piece)) = best.filter(|&(cost, _)| cost < left) else {
            return Ok(None);
        };
        match piece {
            Piece::Byte(byte) => self.recognizer.push(self.frames, byte, self.fuel)?,
            Piece::Token(_, set, tag) => self.push_token_of(set, tag)?,
        };
        let next = self.recognizer.intern(self.frames);
        self.frames.truncate(0);
        Ok(Some((piece, next)))
    }

    /// A token that a symbol matches.
    fn token_of(&self, tag: u32) -> Option<u32> {
        let View::Token(index) = Sym(tag).view() else {
            return None;
        };
        let ids = &self.recognizer.dots.tokens[index as usize].ids;
        ids.first().map(|&(first, _)| first)
    }

    /// Pushes the state behind the token of a symbol, and of all others of the set that match it.
    fn push_token_of(&mut self, set: SetId, tag: u32) -> Result<bool, Error> {
        let Some(id) = self.token_of(tag) else {
            return Ok(false);
        };
        match self.recognizer.symbols(set, id) {
            Some(symbols) => self
                .recognizer
                .push_symbols(self.frames, symbols, self.fuel),
            None => Ok(false),
        }
    }

    /// Of bytes that do as well, one that is a token, and a visible one if possible.
    fn spellable(&self, group: &ByteSet) -> u8 {
        let trie = self.vocabulary.trie();
        let rank = |&byte: &u8| {
            let alone = trie
                .child(None, byte)
                .is_some_and(|node| !trie.tokens(node).is_empty());
            (!alone, !byte.is_ascii_graphic(), byte)
        };
        group.iter().min_by_key(rank).unwrap_or(0)
    }

    /// Finds the fewest tokens that spell the way from a state, if any do; false if no way leads from it.
    fn spell(&mut self, state: StateId) -> Result<bool, Error> {
        if self.known.spellings.contains_key(&state) {
            return Ok(true);
        }
        let Some(steps) = self.downhill(state)? else {
            return Ok(false);
        };
        let end = steps.last().map_or(state, |&(_, (_, next))| next);
        self.known.spellings.insert(end, Some((0, 0, end)));
        let trie = self.vocabulary.trie();
        for start in (0..steps.len()).rev() {
            if self.known.spellings.contains_key(&steps[start].0) {
                continue;
            }
            let mut best: Option<Spelling> = None;
            let mut node = None;
            for (index, &(_, (piece, next))) in steps[start..].iter().enumerate() {
                self.fuel.spend(1)?;
                let token = match piece {
                    Piece::Token(id, ..) if index == 0 => Some(id),
                    Piece::Token(..) => break,
                    Piece::Byte(byte) => {
                        let Some(child) = trie.child(node, byte) else {
                            break;
                        };
                        node = Some(child);
                        trie.tokens(child).first().copied()
                    }
                };
                if let (Some(token), Some((count, ..))) = (token, self.known.spellings[&next])
                    && best.is_none_or(|(known, ..)| count + 1 < known)
                {
                    best = Some((count + 1, token, next));
                }
                if node.is_none() {
                    break;
                }
            }
            self.known.spellings.insert(steps[start].0, best);
        }
        Ok(true)
    }

    /// A way over tokens, nearest states first: for vocabularies that cannot spell the shortest bytes.
    fn search(&mut self, state: StateId, budget: usize) -> Result<Option<Vec<u32>>, Error> {
        self.frames.load(self.recognizer.state(state));
        let mut queue = BinaryHeap::from([Reverse((self.cost()?, 0_usize, state))]);
        let mut from: IdMap<StateId, Option<(StateId, u32)>> = IdMap::from_iter([(state, None)]);
        while let Some(Reverse((cost, taken, at))) = queue.pop() {
            if cost == 0 {
                let mut tokens = Vec::with_capacity(taken);
                let mut back = from[&at];
                while let Some((before, token)) = back {
                    tokens.push(token);
                    back = from[&before];
                }
                tokens.reverse();
                return Ok(Some(tokens));
            }
            if taken == budget {
                continue;
            }
            let successors = self.successors(at)?;
            for (token, next) in successors {
                if from.contains_key(&next) {
                    continue;
                }
                from.insert(next, Some((at, token)));
                self.frames.load(self.recognizer.state(next));
                let cost = self.cost()?;
                if cost != NEVER {
                    queue.push(Reverse((cost, taken + 1, next)));
                }
            }
        }
        Ok(None)
    }

    /// Where the tokens lead that may come next; one token for each state.
    fn successors(&mut self, state: StateId) -> Result<Vec<(u32, StateId)>, Error> {
        self.frames.load(self.recognizer.state(state));
        let mut found = Vec::new();
        let mut seen = IdSet::default();
        for (set, tag) in self.token_symbols() {
            let Some(id) = self.token_of(tag) else {
                continue;
            };
            if self.push_token_of(set, tag)? {
                let next = self.recognizer.intern(self.frames);
                if seen.insert(next) {
                    found.push((id, next));
                }
            }
            self.frames.truncate(0);
        }
        let trie = self.vocabulary.trie();
        let mut at = 0;
        while let Some(node) = trie.nodes().get(at) {
            self.frames.truncate(node.depth as usize - 1);
            if !self.recognizer.push(self.frames, node.byte, self.fuel)? {
                at = node.next as usize;
                continue;
            }
            if let Some(&id) = trie.tokens(at).first() {
                let next = self.recognizer.intern(self.frames);
                if seen.insert(next) {
                    self.fuel.spend(16)?;
                    found.push((id, next));
                }
            }
            at += 1;
        }
        Ok(found)
    }
}
