//! What all Earley sets with the same dotted rules share: predictions, who waits for which symbol, and where completion
//! continues: in the set itself, or with the kernel item of the top-most caller where the nonterminal is a tail call
//! (Leo 1991). Nullable symbols are passed over when they are predicted (Aycock and Horspool 2002).

use super::grammar::DottedRules;
use super::symbol::{Sym, View};
use crate::automaton::{LexerStateId, LexerStates};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, IdSet};

/// Who answers when a nonterminal that was predicted here is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    /// This set, for this nonterminal.
    Here(u32),
    /// Whoever waits for the kernel item of this slot: the nonterminal is a tail call.
    Slot(u32),
}

/// A symbol that some slots wait for.
#[derive(Debug)]
struct Wait {
    sym: Sym,
    /// Range in `Core::waiting`.
    start: u32,
    end: u32,
    ret: Return,
}

/// Predictions of a set, from its dots alone. Slots below `kernel` are the set's own items in order, the others are
/// predicted.
#[derive(Debug)]
pub(super) struct Core {
    kernel: usize,
    slots: Box<[u32]>,
    waits: Box<[Wait]>,
    waiting: Box<[u32]>,
    /// By nonterminal: the slots of the kernel that who waits for it depends on, if not all, once somebody asked.
    homes: IdMap<u32, Option<Box<[u32]>>>,
    /// The terminals that may come next, run at once.
    pub(super) lexer_state: LexerStateId,
    /// Whether a token may come next.
    pub(super) has_tokens: bool,
}

impl Core {
    /// Closes the dots of a kernel (sorted, with repetitions) under prediction.
    pub(super) fn close(
        kernel: &[u32],
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<Self, Error> {
        let mut slots = kernel.to_vec();
        let mut predicted: IdSet<u32> = IdSet::default();
        let mut at = 0;
        while at < slots.len() {
            fuel.spend(1)?;
            if let View::Nonterminal(nonterminal) = dots.sym(slots[at]).view()
                && predicted.insert(nonterminal)
            {
                for &first in dots.firsts(nonterminal as usize) {
                    // The rule itself, and with its nullable front skipped; a rule skipped whole is covered by the
                    // items that wait for it.
                    let mut dot = first;
                    while dots.sym(dot) != Sym::END {
                        slots.push(dot);
                        if !dots.is_nullable(dots.sym(dot)) {
                            break;
                        }
                        dot += 1;
                    }
                }
            }
            at += 1;
        }
        let mut by_symbol: Vec<(Sym, u32)> = slots
            .iter()
            .enumerate()
            .map(|(slot, &dot)| (dots.sym(dot), slot as u32))
            .collect();
        by_symbol.sort_unstable();
        let mut core = Self {
            kernel: kernel.len(),
            slots: slots.into(),
            waits: Box::default(),
            waiting: by_symbol.iter().map(|&(_, slot)| slot).collect(),
            homes: IdMap::default(),
            lexer_state: LexerStateId::DEAD,
            has_tokens: false,
        };
        let mut waits = Vec::new();
        let mut terminals = Vec::new();
        let mut start = 0;
        for group in by_symbol.chunk_by(|a, b| a.0 == b.0) {
            let (sym, end) = (group[0].0, start + group.len() as u32);
            let ret = match sym.view() {
                View::Nonterminal(nonterminal) => Return::Here(nonterminal),
                _ => Return::Here(u32::MAX),
            };
            match sym.view() {
                View::Terminal(index) => {
                    let terminal = &dots.terminals[index as usize];
                    terminals.push((sym.0, terminal.residual(sym, lexer.residuals())?));
                }
                View::Token(_) => core.has_tokens = true,
                _ => {}
            }
            waits.push(Wait {
                sym,
                start,
                end,
                ret,
            });
            start = end;
        }
        core.waits = waits.into();
        core.lexer_state = lexer.intern(terminals);
        if dots.tail_calls {
            core.fold(dots);
        }
        Ok(core)
    }

    /// Finds the tail calls: a nonterminal that exactly one slot waits for, at the end of its rule, answers to whoever
    /// waits for that slot, and so on along the chain. Each step of a chain is taken once: an object of thousands of
    /// properties that may all be left out is one chain. Labelled parts are never left out, so that a continuation tells which
    /// parts it is in.
    fn fold(&mut self, dots: &DottedRules) {
        let mut answers: Vec<Option<Return>> = vec![None; self.waits.len()];
        let mut chain = Vec::new();
        for index in 0..self.waits.len() {
            let mut wait = index;
            let answer = loop {
                let View::Nonterminal(nonterminal) = self.waits[wait].sym.view() else {
                    break self.waits[wait].ret;
                };
                if let Some(known) = answers[wait] {
                    break known;
                }
                // Should the chain be a cycle, it ends here.
                answers[wait] = Some(Return::Here(nonterminal));
                chain.push(wait);
                if dots.label(nonterminal).is_some() {
                    break Return::Here(nonterminal);
                }
                let Some(slot) = self.tail_call(wait, dots) else {
                    break Return::Here(nonterminal);
                };
                if (slot as usize) < self.kernel {
                    break Return::Slot(slot);
                }
                let caller = dots.lhs(self.slots[slot as usize]);
                match self.find(Sym::new(View::Nonterminal(caller))) {
                    Ok(next) => wait = next,
                    Err(_) => break Return::Here(nonterminal),
                }
            };
            for wait in chain.drain(..) {
                answers[wait] = Some(answer);
                self.waits[wait].ret = answer;
            }
        }
    }

    /// The only slot that waits for a symbol, if its rule ends there.
    fn tail_call(&self, wait: usize, dots: &DottedRules) -> Option<u32> {
        let Wait { start, end, .. } = self.waits[wait];
        if end - start != 1 {
            return None;
        }
        let slot = self.waiting[start as usize];
        (dots.sym(self.slots[slot as usize] + 1) == Sym::END).then_some(slot)
    }

    fn find(&self, sym: Sym) -> Result<usize, usize> {
        self.waits.binary_search_by_key(&sym, |wait| wait.sym)
    }

    /// The slots of the kernel on account of which the slots that wait for a nonterminal wait for it; None if that is all.
    ///
    /// A set of these alone has the same slots that wait for it, and for whatever those then complete: each of them is
    /// predicted by way of these.
    pub(super) fn home(
        &mut self,
        nonterminal: u32,
        dots: &DottedRules,
        fuel: &mut Fuel,
    ) -> Result<Option<&[u32]>, Error> {
        if !self.homes.contains_key(&nonterminal) {
            let mut home: Vec<u32> = Vec::new();
            let mut seen: IdSet<u32> = IdSet::from_iter([nonterminal]);
            let mut work = vec![nonterminal];
            while let Some(nonterminal) = work.pop() {
                let slots = self.waiting(Sym::new(View::Nonterminal(nonterminal)));
                fuel.spend(slots.len())?;
                for &slot in slots {
                    if (slot as usize) < self.kernel {
                        home.push(slot);
                        continue;
                    }
                    let lhs = dots.lhs(self.slots[slot as usize]);
                    if seen.insert(lhs) {
                        work.push(lhs);
                    }
                }
            }
            home.sort_unstable();
            let partial = (home.len() < self.kernel).then(|| home.into());
            self.homes.insert(nonterminal, partial);
        }
        Ok(self.homes[&nonterminal].as_deref())
    }

    /// The slots that wait for a symbol.
    pub(super) fn waiting(&self, sym: Sym) -> &[u32] {
        self.find(sym).map_or(&[], |index| {
            let wait = &self.waits[index];
            &self.waiting[wait.start as usize..wait.end as usize]
        })
    }

    /// Who answers when the nonterminal of a predicted slot is complete, or the slot itself if it is in the kernel.
    pub(super) fn ret(&self, slot: u32, dots: &DottedRules) -> Return {
        if (slot as usize) < self.kernel {
            return Return::Slot(slot);
        }
        let lhs = dots.lhs(self.slots[slot as usize]);
        self.find(Sym::new(View::Nonterminal(lhs)))
            .map_or(Return::Here(lhs), |index| self.waits[index].ret)
    }

    /// The dot of a slot.
    pub(super) fn dot(&self, slot: u32) -> u32 {
        self.slots[slot as usize]
    }

    /// The tokens that may come next.
    pub(super) fn tokens(&self) -> impl Iterator<Item = (Sym, u32)> + '_ {
        self.waits.iter().filter_map(|wait| match wait.sym.view() {
            View::Token(index) => Some((wait.sym, index)),
            _ => None,
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + (self.slots.len() + self.waiting.len()) * 4
            + self.waits.len() * size_of::<Wait>()
    }
}
