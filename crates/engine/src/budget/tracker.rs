//! Counting along one text, and what the bounds allow.
//!
//! A place in the text is a list of pieces, each with its counts. What a piece wants is its count and the shortest way out of
//! its part; what that is more than the bound is its overrun. A token is allowed if one way of reading it leads to an overrun
//! not larger than before. The shortest way out always does, so a bound never leads into a dead end; and of several ways of
//! reading a text, only those with the least overrun live on, so that a part is left as soon as its bound is spent. A part
//! that begins may always take its shortest text, whatever the bound.

use std::sync::Arc;

use super::parts::{OUTSIDE, PieceId};
use super::table::{Table, Work};
use super::token::Outcome;
use super::{Bound, Unit};
use crate::distance::Costs;
use crate::earley::StateId;
use crate::error::Error;
use crate::generation::{Generation, GrammarCaches};
use crate::limits::Fuel;
use crate::mask::{Step, allow};
use crate::position::Position;
use crate::tuning;
use crate::vocabulary::bitmask_words;

/// A piece with what has been counted on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Branch {
    piece: PieceId,
    /// By part: tokens in all, or bytes of the part that is under way.
    counts: Box<[u32]>,
}

/// A place in the text.
#[derive(Debug)]
struct Node {
    before: Option<Arc<Node>>,
    place: Position,
    /// Where the grammar alone would be.
    free: Option<StateId>,
    branches: Box<[Branch]>,
    /// The overrun of each of them.
    overrun: u32,
    /// Whether no bound has taken any alternative away so far.
    whole: bool,
}

impl Drop for Node {
    fn drop(&mut self) {
        // One after the other: a chain is as long as the text, and dropping it by recursion would use up the stack.
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

/// What becomes of a token.
#[derive(Debug)]
pub(crate) enum Spending {
    /// The grammar refuses it.
    Refused,
    /// The grammar would take it, but a bound is spent.
    Spent,
    /// It leads here.
    To(BudgetTracker),
}

/// The bounds of a matcher, and how far they are spent. Cloning copies nothing.
#[derive(Debug, Clone)]
pub(crate) struct BudgetTracker {
    bounds: Arc<[Bound]>,
    table: usize,
    start: Arc<Node>,
    now: Arc<Node>,
}

/// A way of going on, before it is known which ones do.
struct Candidate {
    branch: Branch,
    overrun: u32,
    /// Whether its overrun is not more than what cannot be avoided.
    fits: bool,
}

impl BudgetTracker {
    /// Nothing is spent yet.
    ///
    /// Errors: `E-BUDGET-LABEL` where the grammar has no labelled part at all, `E-BUDGET-BOUNDS` for two bounds on one
    /// label or too many of them.
    pub(crate) fn new(generation: &Generation, bounds: Vec<Bound>) -> Result<Self, Error> {
        let repeated = |(at, bound): (usize, &Bound)| {
            bounds[..at].iter().any(|other| other.label == bound.label)
        };
        if bounds.len() > 60 || bounds.iter().enumerate().any(repeated) {
            return Err(Error::argument(
                "E-BUDGET-BOUNDS",
                "a label has one bound, and there are at most 60 bounds",
            ));
        }
        let found = &mut *generation.write();
        if found.recognizer.dots.labels.is_empty() {
            return Err(Error::argument(
                "E-BUDGET-LABEL",
                "the grammar has no labelled parts that could be bounded",
            )
            .with_hint("the grammar of a turn has them where it is made with budgets; EBNF labels parts as @label(…)"));
        }
        let labels: Vec<_> = bounds
            .iter()
            .map(|bound| (Arc::clone(&bound.label), bound.unit))
            .collect();
        let table = found.tables.of(&labels, &found.recognizer);
        let nothing = Arc::new(Node {
            before: None,
            place: Position::At(generation.start()),
            free: Some(generation.start()),
            branches: Box::default(),
            overrun: 0,
            whole: true,
        });
        let mut tracker = Self {
            bounds: bounds.into(),
            table,
            start: Arc::clone(&nothing),
            now: nothing,
        };
        let start = tracker.with_work(generation, found, |tracker, table, work| {
            let pieces = table
                .parts
                .split(generation.start(), work.recognizer, work.fuel)?;
            let mut candidates = Vec::new();
            for &piece in pieces.iter() {
                let branch = Branch {
                    piece,
                    counts: vec![0; tracker.bounds.len()].into(),
                };
                let overrun = tracker.overrun(table, &branch, work)?;
                candidates.push(Candidate {
                    branch,
                    overrun,
                    fits: true,
                });
            }
            let free = Some(generation.start());
            tracker.chosen(candidates, None, free, table, work)
        })?;
        tracker.now = Arc::clone(&start);
        tracker.start = start;
        Ok(tracker)
    }

    /// Approximate bytes of what is kept of so many steps.
    pub(crate) fn memory_bytes(&self, steps: usize) -> usize {
        let branch = size_of::<Branch>() + self.bounds.len() * 4;
        steps * (size_of::<Node>() + self.now.branches.len() * branch)
    }

    /// The bounds.
    pub(crate) fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// Where the text is.
    pub(crate) fn place(&self) -> Position {
        self.now.place
    }

    /// Back to the start.
    pub(crate) fn reset(&mut self) {
        self.now = Arc::clone(&self.start);
    }

    /// Takes back the last steps.
    pub(crate) fn rollback(&mut self, steps: usize) {
        for _ in 0..steps {
            if let Some(before) = &self.now.before {
                self.now = Arc::clone(before);
            }
        }
    }

    /// Where a token leads.
    pub(crate) fn step(&self, generation: &Generation, id: u32) -> Result<Spending, Error> {
        if self.now.place == Position::Ended {
            return Ok(Spending::Refused);
        }
        let is_eos = generation.vocabulary().is_eos(id);
        let found = &mut *generation.write();
        let accepts = |found: &GrammarCaches, state: StateId| found.recognizer.state(state).accept;
        if is_eos {
            let table = found.tables.get_mut(self.table);
            let states: Vec<StateId> = self.states(table).collect();
            if states.into_iter().any(|state| accepts(found, state)) {
                return Ok(Spending::To(self.ended()));
            }
        }
        let candidates = self.with_work(generation, found, |tracker, table, work| {
            let mut candidates = Vec::new();
            for branch in &tracker.now.branches {
                let read = table.read_token(branch.piece, id, work)?;
                for (outcome, length) in read.iter() {
                    candidates.push(tracker.judge(table, branch, outcome, *length, work)?);
                }
            }
            Ok(candidates)
        })?;
        let free = self.free(generation, found, |found, state, fuel| {
            Ok(
                match found.step(generation.vocabulary(), state, id, fuel)? {
                    Step::To(state) => Some(state),
                    Step::End | Step::Refused => None,
                },
            )
        })?;
        if candidates.is_empty() {
            return Ok(refused(free));
        }
        let mut candidates = candidates;
        if !candidates.iter().any(|candidate| candidate.fits) {
            if self.with_work(generation, found, Self::allows_any)? {
                return Ok(Spending::Spent);
            }
            // No token keeps to the bounds, which a vocabulary without single bytes can bring about.
            for candidate in &mut candidates {
                candidate.fits = true;
            }
        }
        let now = self.with_work(generation, found, |tracker, table, work| {
            tracker.chosen(candidates, Some(&tracker.now), free, table, work)
        })?;
        if is_eos {
            // A grammar that ends in a marker which is itself an end of the turn needs no second one.
            let only_ends = |state: StateId| {
                let state = found.recognizer.state(state);
                state.accept && state.fresh.is_none() && state.threads.is_empty()
            };
            if matches!(now.place, Position::At(state) if only_ends(state)) {
                return Ok(Spending::To(self.ended()));
            }
        }
        Ok(Spending::To(Self {
            now,
            ..self.clone()
        }))
    }

    /// Where text leads; it counts as one token.
    pub(crate) fn step_text(
        &self,
        generation: &Generation,
        text: &[u8],
    ) -> Result<Spending, Error> {
        if self.now.place == Position::Ended {
            return Ok(Spending::Refused);
        }
        if text.is_empty() {
            let mut same = self.clone();
            same.now = Arc::new(Node {
                before: Some(Arc::clone(&self.now)),
                place: self.now.place,
                free: self.now.free,
                branches: self.now.branches.clone(),
                overrun: self.now.overrun,
                whole: self.now.whole,
            });
            return Ok(Spending::To(same));
        }
        let found = &mut *generation.write();
        let candidates = self.with_work(generation, found, |tracker, table, work| {
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            let mut candidates = Vec::new();
            for branch in &tracker.now.branches {
                for outcome in table.read_text(branch.piece, text, work)? {
                    candidates.push(tracker.judge(table, branch, &outcome, length, work)?);
                }
            }
            Ok(candidates)
        })?;
        let free = self.free(generation, found, |found, state, fuel| {
            found.step_bytes(state, text, fuel)
        })?;
        if candidates.is_empty() {
            return Ok(refused(free));
        }
        if !candidates.iter().any(|candidate| candidate.fits) {
            return Ok(Spending::Spent);
        }
        let now = self.with_work(generation, found, |tracker, table, work| {
            tracker.chosen(candidates, Some(&tracker.now), free, table, work)
        })?;
        Ok(Spending::To(Self {
            now,
            ..self.clone()
        }))
    }

    /// Writes which tokens may come next into a row of the vocabulary's width.
    pub(crate) fn fill(&self, generation: &Generation, row: &mut [i32]) -> Result<(), Error> {
        let Position::At(place) = self.now.place else {
            row.fill(-1);
            return Ok(());
        };
        row.fill(0);
        let mut states = {
            let found = &mut *generation.write();
            let states = self.with_work(generation, found, |tracker, table, work| {
                tracker.fill_bounded(table, row, work)
            })?;
            let table = found.tables.get_mut(self.table);
            let all: Vec<StateId> = self.states(table).collect();
            let accepts = all
                .iter()
                .any(|&state| found.recognizer.state(state).accept);
            if accepts {
                for &id in generation.vocabulary().eos_ids() {
                    allow(row, id);
                }
            }
            let none = states.is_empty() && row.iter().all(|&word| word == 0);
            if none { all } else { states }
        };
        if self.now.whole && states.len() == self.now.branches.len() {
            states = vec![place];
        }
        let words = bitmask_words(generation.vocabulary().size());
        let mut part = vec![0; words];
        for state in states {
            generation.mask(state)?.write(&mut part[..], words);
            for (word, more) in row.iter_mut().zip(&part) {
                *word |= more;
            }
        }
        Ok(())
    }

    /// The tokens of the shortest way out of the part that the text is in; none where it is in none.
    pub(crate) fn way_out(&self, generation: &Generation) -> Result<Vec<u32>, Error> {
        let found = &mut *generation.write();
        self.with_work(generation, found, |tracker, table, work| {
            let Some(first) = tracker.now.branches.first() else {
                return Ok(Vec::new());
            };
            if table.parts.piece(first.piece).class == OUTSIDE {
                return Ok(Vec::new());
            }
            Ok(table.way_out(first.piece, work)?.unwrap_or_default())
        })
    }

    /// The states of the branches.
    fn states<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = StateId> + 'a {
        let pieces = self.now.branches.iter();
        pieces.map(|branch| table.parts.piece(branch.piece).state)
    }

    /// Behind the end of the text.
    fn ended(&self) -> Self {
        let now = Arc::new(Node {
            before: Some(Arc::clone(&self.now)),
            place: Position::Ended,
            free: None,
            branches: Box::default(),
            overrun: 0,
            whole: true,
        });
        Self {
            now,
            ..self.clone()
        }
    }

    /// Where the grammar alone leads.
    fn free(
        &self,
        generation: &Generation,
        found: &mut GrammarCaches,
        step: impl FnOnce(&mut GrammarCaches, StateId, &mut Fuel) -> Result<Option<StateId>, Error>,
    ) -> Result<Option<StateId>, Error> {
        match self.now.free {
            Some(state) => step(found, state, &mut generation.fuel()),
            None => Ok(None),
        }
    }

    fn with_work<T>(
        &self,
        generation: &Generation,
        found: &mut GrammarCaches,
        call: impl FnOnce(&Self, &mut Table, &mut Work<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut fuel = generation.scan_fuel();
        if found.costs.is_none() {
            found.costs = Some(Costs::new(&mut found.recognizer, &mut fuel)?);
        }
        let GrammarCaches {
            recognizer,
            frames,
            costs,
            tables,
            ..
        } = found;
        let mut work = Work {
            recognizer,
            frames,
            rest: costs.as_ref().map_or(&[], Costs::rest),
            vocabulary: generation.vocabulary(),
            fuel: &mut fuel,
        };
        call(self, tables.get_mut(self.table), &mut work)
    }

    /// Writes the tokens of those branches that a bound touches; returns the states of the others.
    fn fill_bounded(
        &self,
        table: &mut Table,
        row: &mut [i32],
        work: &mut Work<'_>,
    ) -> Result<Vec<StateId>, Error> {
        let mut states = Vec::new();
        for branch in &self.now.branches {
            let effects = table.effects(branch.piece, work)?;
            let mut left = self.bounds.iter().zip(&branch.counts).zip(&effects.most);
            if left.all(|((bound, count), most)| count.saturating_add(*most) <= bound.most) {
                states.push(table.parts.piece(branch.piece).state);
                continue;
            }
            for group in &effects.groups {
                if self.fits(table, branch, (&group.outcomes, group.length), work)? {
                    for &id in &group.tokens {
                        allow(row, id);
                    }
                }
            }
        }
        Ok(states)
    }

    /// Whether any token at all keeps to the bounds.
    fn allows_any(&self, table: &mut Table, work: &mut Work<'_>) -> Result<bool, Error> {
        for branch in &self.now.branches {
            if work
                .recognizer
                .state(table.parts.piece(branch.piece).state)
                .accept
                && !work.vocabulary.eos_ids().is_empty()
            {
                return Ok(true);
            }
            for group in &table.effects(branch.piece, work)?.groups {
                if self.fits(table, branch, (&group.outcomes, group.length), work)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn fits(
        &self,
        table: &mut Table,
        branch: &Branch,
        (outcomes, length): (&[Outcome], u32),
        work: &mut Work<'_>,
    ) -> Result<bool, Error> {
        for outcome in outcomes {
            if self.judge(table, branch, outcome, length, work)?.fits {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a branch wants more than its bound allows.
    fn overrun(
        &self,
        table: &mut Table,
        branch: &Branch,
        work: &mut Work<'_>,
    ) -> Result<u32, Error> {
        let class = table.parts.piece(branch.piece).class;
        if class == OUTSIDE {
            return Ok(0);
        }
        let at = usize::from(class) - 1;
        let (count, most) = (branch.counts[at], self.bounds[at].most);
        let need = table.need(branch.piece, most.saturating_sub(count), work)?;
        Ok(count.saturating_add(need).saturating_sub(most))
    }

    /// Counts a way of reading a token.
    fn judge(
        &self,
        table: &mut Table,
        from: &Branch,
        outcome: &Outcome,
        length: u32,
        work: &mut Work<'_>,
    ) -> Result<Candidate, Error> {
        let mut counts = from.counts.clone();
        for (at, bound) in self.bounds.iter().enumerate() {
            if bound.unit == Unit::Tokens && outcome.touched >> (at + 1) & 1 == 1 {
                counts[at] = counts[at].saturating_add(1);
            }
        }
        let mut fits = true;
        let before = table.parts.piece(from.piece).class;
        if before != OUTSIDE {
            let at = usize::from(before) - 1;
            let in_bytes = table.parts.in_bytes(before);
            if let Some(bytes) = outcome.left {
                let taken = counts[at].saturating_add(if in_bytes { bytes } else { 0 });
                fits &= taken.saturating_sub(self.bounds[at].most) <= self.now.overrun;
                if in_bytes {
                    counts[at] = 0;
                }
            } else if in_bytes {
                counts[at] = counts[at].saturating_add(outcome.run(length));
            }
        }
        for &(entry, bytes) in &outcome.passed {
            let class = table.parts.piece(entry).class;
            let at = usize::from(class) - 1;
            let (so_far, taken) = if table.parts.in_bytes(class) {
                (0, bytes)
            } else {
                (from.counts[at], counts[at])
            };
            let need = table.need(entry, 0, work)?;
            fits &= taken <= self.bounds[at].most.max(so_far.saturating_add(need));
        }
        let class = table.parts.piece(outcome.piece).class;
        if let (Some(_), true) = (outcome.entry, table.parts.in_bytes(class)) {
            counts[usize::from(class) - 1] = outcome.run(length);
        }
        let branch = Branch {
            piece: outcome.piece,
            counts,
        };
        let overrun = self.overrun(table, &branch, work)?;
        if class != OUTSIDE {
            match outcome.entry {
                None => fits &= overrun <= self.now.overrun,
                // Where it has only just begun, it takes what it needs.
                Some(_) if outcome.run(length) == 0 => {}
                Some(entry) => {
                    let at = usize::from(class) - 1;
                    let so_far = if table.parts.in_bytes(class) {
                        0
                    } else {
                        from.counts[at]
                    };
                    let need = table.need(entry, 0, work)?;
                    let most = self.bounds[at].most;
                    fits &= overrun <= so_far.saturating_add(need).saturating_sub(most);
                }
            }
        }
        Ok(Candidate {
            branch,
            overrun,
            fits,
        })
    }

    /// The place that candidates lead to: those that fit, and of these the ones with the least overrun. `free` is where the
    /// grammar alone leads.
    fn chosen(
        &self,
        mut candidates: Vec<Candidate>,
        before: Option<&Arc<Node>>,
        free: Option<StateId>,
        table: &Table,
        work: &mut Work<'_>,
    ) -> Result<Arc<Node>, Error> {
        let fitting = candidates.iter().filter(|candidate| candidate.fits);
        let overrun = fitting
            .map(|candidate| candidate.overrun)
            .min()
            .unwrap_or(0);
        let count = candidates.len();
        candidates.retain(|candidate| candidate.fits && candidate.overrun == overrun);
        let mut whole = self.now.whole && candidates.len() == count;
        let mut branches: Vec<Branch> = Vec::new();
        candidates.sort_by(|a, b| a.branch.counts.cmp(&b.branch.counts));
        for Candidate { branch, .. } in candidates {
            let is_worse = |known: &Branch| {
                known.piece == branch.piece
                    && known.counts.iter().zip(&branch.counts).all(|(a, b)| a <= b)
            };
            if branches.iter().any(is_worse) {
                continue;
            }
            if branches.len() == tuning::BUDGET_BRANCHES {
                whole = false;
                break;
            }
            branches.push(branch);
        }
        let state = match free.filter(|_| whole) {
            Some(state) => state,
            None => merged_state(table, &branches, work)?,
        };
        Ok(Arc::new(Node {
            before: before.cloned(),
            place: Position::At(state),
            free,
            branches: branches.into(),
            overrun,
            whole,
        }))
    }
}

/// The state in which everything goes on that goes on in one of these branches.
fn merged_state(table: &Table, branches: &[Branch], work: &mut Work<'_>) -> Result<StateId, Error> {
    let mut threads = Vec::new();
    let (mut begin, mut accept) = (Vec::new(), false);
    for branch in branches {
        let state = work.recognizer.state(table.parts.piece(branch.piece).state);
        threads.extend_from_slice(state.threads);
        begin.extend(state.fresh);
        accept |= state.accept;
    }
    begin.sort_unstable();
    begin.dedup();
    let fresh = if begin.is_empty() {
        None
    } else {
        Some(work.recognizer.merged(&begin, work.fuel)?)
    };
    Ok(work.recognizer.intern_threads(threads, fresh, accept))
}

/// What becomes of a token that no branch takes.
fn refused(free: Option<StateId>) -> Spending {
    if free.is_some() {
        Spending::Spent
    } else {
        Spending::Refused
    }
}
