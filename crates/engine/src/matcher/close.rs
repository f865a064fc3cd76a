//! The shortest way to an end, found by walking downhill.
//!
//! How many bytes a state is from an accepting one follows from the grammar alone: what the terminals that are under way
//! still need, then the rest of the rules that wait, then the continuations. A step that lowers this number always
//! exists, so no search is needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use syntagma_grammar::ir::ByteSet;

use super::{GrammarMatcher, Place};
use crate::earley::{Dots, Frames, ROOT, Recognizer, RetId, StateId, Sym, View};
use crate::error::Error;
use crate::generation::Found;
use crate::limits::Fuel;
use crate::vocabulary::Vocabulary;

/// No end can be reached.
const NEVER: u32 = u32::MAX;

/// Distances, in bytes; a token counts as one.
#[derive(Debug)]
pub(crate) struct Costs {
    /// By dot: the shortest string of the rest of its rule.
    rest: Vec<u32>,
    /// By continuation: from there to the end of the text.
    ends: FxHashMap<RetId, u32>,
}

/// One step on the way.
#[derive(Debug, Clone, Copy)]
enum Piece {
    Byte(u8),
    Token(u32),
}

impl GrammarMatcher {
    /// A shortest way to an accepting place, as tokens (without one that ends the turn); `None` if there is none of at
    /// most `budget` tokens. Shortest in bytes where the vocabulary can spell it, then in tokens for these bytes.
    pub fn shortest_close(&self, budget: Option<usize>) -> Result<Option<Vec<u32>>, Error> {
        self.guard(|matcher| {
            let Place::At(state) = matcher.place() else {
                return Ok(Some(Vec::new()));
            };
            let vocabulary = &**matcher.compiled.vocabulary();
            let mut fuel = matcher.generation.fuel();
            let found = &mut *matcher.generation.write();
            if found.costs.is_none() {
                found.costs = Some(Costs::new(&mut found.recognizer, &mut fuel)?);
            }
            let Found {
                recognizer,
                frames,
                costs: Some(costs),
                ..
            } = found
            else {
                return Ok(None);
            };
            let mut way = Way {
                recognizer,
                frames,
                costs,
                vocabulary,
                fuel: &mut fuel,
            };
            let tokens = match way.downhill(state)? {
                None => None,
                Some(pieces) => match way.spell(&pieces)? {
                    Some(tokens) => Some(tokens),
                    None => way.search(state, budget.unwrap_or(usize::MAX))?,
                },
            };
            Ok(tokens.filter(|tokens| budget.is_none_or(|budget| tokens.len() <= budget)))
        })
    }
}

impl Costs {
    fn new(recognizer: &mut Recognizer, fuel: &mut Fuel) -> Result<Self, Error> {
        let mut terminals = Vec::with_capacity(recognizer.dots.terminals.len());
        for terminal in &recognizer.dots.terminals {
            terminals.push(
                recognizer
                    .unions
                    .residuals()
                    .shortest_with_byte(terminal.residual, fuel)?,
            );
        }
        let dots = &recognizer.dots;
        fuel.spend(dots.places.len())?;
        let nonterminals = nonterminals(dots, &terminals);
        let mut rest = vec![0_u32; dots.places.len()];
        for (dot, place) in dots.places.iter().enumerate().rev() {
            rest[dot] = match place.sym.view() {
                View::End => 0,
                View::Terminal(index) => rest[dot + 1].saturating_add(terminals[index as usize]),
                View::Token(_) => rest[dot + 1].saturating_add(1),
                View::Nonterminal(index) => {
                    rest[dot + 1].saturating_add(nonterminals[index as usize])
                }
            };
        }
        Ok(Self {
            rest,
            ends: FxHashMap::from_iter([(ROOT, 0)]),
        })
    }

    /// From a continuation to the end of the text: Dijkstra's algorithm over continuations, remembered along the way
    /// that it finds.
    fn end(
        &mut self,
        ret: RetId,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<u32, Error> {
        if let Some(&known) = self.ends.get(&ret) {
            return Ok(known);
        }
        // A way through a known continuation is put in the queue once more, as a way to the end.
        let mut queue = BinaryHeap::from([Reverse((0_u32, false, ret))]);
        let mut reached: FxHashMap<RetId, (u32, Option<RetId>)> =
            FxHashMap::from_iter([(ret, (0, None))]);
        let mut done: FxHashSet<RetId> = FxHashSet::default();
        while let Some(Reverse((cost, is_end, at))) = queue.pop() {
            fuel.spend(1)?;
            if is_end {
                let mut back = Some(at);
                while let Some(at) = back {
                    let (so_far, before) = reached[&at];
                    self.ends.insert(at, cost - so_far);
                    back = before;
                }
                return Ok(cost);
            }
            if !done.insert(at) {
                continue;
            }
            if let Some(&known) = self.ends.get(&at) {
                if known != NEVER {
                    queue.push(Reverse((cost.saturating_add(known), true, at)));
                }
                continue;
            }
            for (dot, next) in recognizer.sets.answer(at, &recognizer.dots) {
                fuel.spend(1)?;
                let total = cost.saturating_add(self.rest[dot as usize]);
                if total != NEVER && reached.get(&next).is_none_or(|&(known, _)| total < known) {
                    reached.insert(next, (total, Some(at)));
                    queue.push(Reverse((total, false, next)));
                }
            }
        }
        for ret in done {
            self.ends.insert(ret, NEVER);
        }
        Ok(NEVER)
    }

    /// From the topmost state to the end of the text.
    fn state(
        &mut self,
        recognizer: &mut Recognizer,
        frames: &Frames,
        fuel: &mut Fuel,
    ) -> Result<u32, Error> {
        let top = frames.top();
        if top.accept {
            return Ok(0);
        }
        let mut best = NEVER;
        let mut waits = Vec::new();
        for &(set, union) in frames.threads() {
            let union = recognizer.unions.written_out(union, fuel)?;
            for index in 0..recognizer.unions.parts(union).len() {
                let (tag, residual) = recognizer.unions.parts(union)[index];
                let needed = recognizer
                    .unions
                    .residuals()
                    .shortest_with_byte(residual, fuel)?;
                waits.push((set, Sym(tag), needed));
            }
        }
        if let Some(set) = top.fresh {
            waits.extend(recognizer.sets.tokens(set).map(|(sym, _)| (set, sym, 1)));
        }
        for (set, sym, needed) in waits {
            for (dot, ret) in recognizer.sets.continuations(set, sym, &recognizer.dots) {
                let before = needed.saturating_add(self.rest[dot as usize]);
                if before < best {
                    best = best.min(before.saturating_add(self.end(ret, recognizer, fuel)?));
                }
            }
        }
        Ok(best)
    }
}

/// By nonterminal: the length of its shortest string (Knuth's generalisation of Dijkstra's algorithm).
fn nonterminals(dots: &Dots, terminals: &[u32]) -> Vec<u32> {
    struct Rule {
        lhs: u32,
        missing: usize,
        cost: u32,
    }
    let mut costs = vec![NEVER; dots.nonterminals()];
    let mut rules: Vec<Rule> = Vec::new();
    let mut uses: Vec<Vec<usize>> = vec![Vec::new(); dots.nonterminals()];
    let mut queue = BinaryHeap::new();
    for lhs in 0..dots.nonterminals() {
        let firsts = dots.firsts(lhs);
        for &first in firsts {
            let mut rule = Rule {
                lhs: lhs as u32,
                missing: 0,
                cost: 0,
            };
            for dot in first.. {
                match dots.sym(dot).view() {
                    View::End => break,
                    View::Terminal(index) => {
                        rule.cost = rule.cost.saturating_add(terminals[index as usize]);
                    }
                    View::Token(_) => rule.cost = rule.cost.saturating_add(1),
                    View::Nonterminal(index) => {
                        rule.missing += 1;
                        uses[index as usize].push(rules.len());
                    }
                }
            }
            if rule.missing == 0 {
                queue.push(Reverse((rule.cost, rule.lhs)));
            }
            rules.push(rule);
        }
    }
    while let Some(Reverse((cost, nonterminal))) = queue.pop() {
        let known = &mut costs[nonterminal as usize];
        if *known != NEVER {
            continue;
        }
        *known = cost;
        for &user in &uses[nonterminal as usize] {
            let rule = &mut rules[user];
            rule.missing -= 1;
            rule.cost = rule.cost.saturating_add(cost);
            if rule.missing == 0 {
                queue.push(Reverse((rule.cost, rule.lhs)));
            }
        }
    }
    costs
}

/// Everything that finding a way needs.
struct Way<'a> {
    recognizer: &'a mut Recognizer,
    frames: &'a mut Frames,
    costs: &'a mut Costs,
    vocabulary: &'a Vocabulary,
    fuel: &'a mut Fuel,
}

impl Way<'_> {
    /// A shortest way from a state, or None if there is none.
    fn downhill(&mut self, state: StateId) -> Result<Option<Vec<Piece>>, Error> {
        self.frames.load(self.recognizer.state(state));
        let mut left = self.cost()?;
        let mut pieces = Vec::new();
        if left == NEVER {
            return Ok(None);
        }
        while left > 0 {
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
            if let Some(set) = self.frames.top().fresh {
                let tokens: Vec<u32> = self
                    .recognizer
                    .sets
                    .tokens(set)
                    .map(|(_, index)| index)
                    .collect();
                for index in tokens {
                    let id = self.recognizer.dots.tokens[index as usize].ids[0].0;
                    let Some(symbols) = self.recognizer.symbols(set, id) else {
                        continue;
                    };
                    if !self
                        .recognizer
                        .push_symbols(self.frames, symbols, self.fuel)?
                    {
                        continue;
                    }
                    let cost = self.cost()?;
                    self.frames.truncate(0);
                    if best.is_none_or(|(known, _)| cost < known) {
                        best = Some((cost, Piece::Token(id)));
                    }
                }
            }
            let Some((cost, piece)) = best.filter(|&(cost, _)| cost < left) else {
                return Ok(None);
            };
            match piece {
                Piece::Byte(byte) => self.recognizer.push(self.frames, byte, self.fuel)?,
                Piece::Token(id) => {
                    let symbols = self
                        .frames
                        .top()
                        .fresh
                        .and_then(|set| self.recognizer.symbols(set, id));
                    match symbols {
                        Some(symbols) => {
                            self.recognizer
                                .push_symbols(self.frames, symbols, self.fuel)?
                        }
                        None => false,
                    }
                }
            };
            self.frames.keep_top();
            pieces.push(piece);
            left = cost;
        }
        Ok(Some(pieces))
    }

    fn cost(&mut self) -> Result<u32, Error> {
        self.costs.state(self.recognizer, self.frames, self.fuel)
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

    /// The fewest tokens that spell the pieces, if any do.
    fn spell(&mut self, pieces: &[Piece]) -> Result<Option<Vec<u32>>, Error> {
        let trie = self.vocabulary.trie();
        // By position: how many tokens the rest takes, the first of them, and where it ends.
        let mut best: Vec<Option<(u32, u32, usize)>> = vec![None; pieces.len() + 1];
        best[pieces.len()] = Some((0, 0, pieces.len()));
        for start in (0..pieces.len()).rev() {
            let mut node = None;
            for end in start..pieces.len().min(start + trie.longest().max(1)) {
                self.fuel.spend(1)?;
                let token = match pieces[end] {
                    Piece::Token(id) if end == start => Some(id),
                    Piece::Token(_) => break,
                    Piece::Byte(byte) => {
                        let Some(child) = trie.child(node, byte) else {
                            break;
                        };
                        node = Some(child);
                        trie.tokens(child).first().copied()
                    }
                };
                if let (Some(token), Some((count, _, _))) = (token, best[end + 1])
                    && best[start].is_none_or(|(known, _, _)| count + 1 < known)
                {
                    best[start] = Some((count + 1, token, end + 1));
                }
                if node.is_none() {
                    break;
                }
            }
        }
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < pieces.len() {
            let Some((_, token, next)) = best[at] else {
                return Ok(None);
            };
            tokens.push(token);
            at = next;
        }
        Ok(Some(tokens))
    }

    /// A way over tokens, nearest states first: for vocabularies that cannot spell the shortest bytes.
    fn search(&mut self, state: StateId, budget: usize) -> Result<Option<Vec<u32>>, Error> {
        self.frames.load(self.recognizer.state(state));
        let mut queue = BinaryHeap::from([Reverse((self.cost()?, 0_usize, state))]);
        let mut from: FxHashMap<StateId, Option<(StateId, u32)>> =
            FxHashMap::from_iter([(state, None)]);
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
            for (token, next) in self.successors(at)? {
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
        let mut seen = FxHashSet::default();
        if let Some(set) = self.frames.top().fresh {
            let tokens: Vec<u32> = self
                .recognizer
                .sets
                .tokens(set)
                .map(|(_, index)| index)
                .collect();
            for index in tokens {
                let id = self.recognizer.dots.tokens[index as usize].ids[0].0;
                if self
                    .recognizer
                    .push_token(self.frames, self.vocabulary, id, self.fuel)?
                {
                    let next = self.recognizer.intern(self.frames);
                    if seen.insert(next) {
                        found.push((id, next));
                    }
                }
                self.frames.truncate(0);
            }
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
