//! Masks, put together from what each terminal does to the vocabulary by itself. From the threads of a state, for
//! whoever keeps masks.
//!
//! A token that may come next is read by one terminal of one thread: wholly inside of it, or leaving it at an exit with
//! a rest that what follows takes. So the mask is the union over terminals, and terminals may be handled in different
//! ways: wide ones by their [`Classification`], narrow ones all together by a walk. The same holds at every place
//! within tokens, so where a walk meets wide terminals with many tokens still ahead, these terminals leave the walk.

use std::sync::Arc;

use smallvec::SmallVec;
use syntagma_grammar::ir::ByteSet;

use super::classification::Anchor;
use super::classification::{Classification, Tokens};
use super::classification::{MidAccept, at};
use super::shared::Pool;
use super::shared::Shared;
use super::terminals::{Reading, Terminals};
use super::walk::List;
use super::walk::Mask;
use super::walk::{Listed, Visitor, WalkStack, symbols, walk, whole};
use crate::automaton::{AcceptSetId, ExprId, LexerStateId, Residuals};
use crate::earley::{Ended, Frames, Recognizer, SetId, State, StateId, Thread};
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::tuning;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

/// What one grammar remembers of terminals, with work space.
#[derive(Debug)]
pub(crate) struct Composer {
    terminals: Terminals,
    stack: WalkStack,
    pool: Pool,
}

/// One terminal of one thread: what remains of it, its set, its tag there.
type Part = (ExprId, SetId, u32);

impl Composer {
    /// Remembers nothing yet but what other grammars have found out.
    pub(crate) fn new(shared: Arc<Shared>, layers: Layers) -> Self {
        Self {
            terminals: Terminals::new(shared, layers),
            stack: WalkStack::default(),
            pool: Pool::default(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.terminals.memory_bytes() + self.pool.memory_bytes()
    }

    pub(crate) fn forget(&mut self) {
        self.terminals.forget();
        self.pool = Pool::default();
    }

    /// The mask that allows the tokens of a row.
    pub(crate) fn of_row(&mut self, row: &[i32]) -> Mask {
        Mask {
            row: Some(self.pool.row(row, self.terminals.shared())),
            lists: SmallVec::new(),
        }
    }

    /// The tokens that may come next in a state, and how deep below its sets it was looked for them.
    pub(crate) fn mask(
        &mut self,
        recognizer: &mut Recognizer,
        vocabulary: &Vocabulary,
        state: StateId,
        frames: &mut Frames,
        limits: &Limits,
    ) -> Result<(Mask, u8), Error> {
        let fuel = &mut Fuel::step(limits);
        let mut out = Out::default();
        symbols(recognizer, vocabulary, state, &mut out.ids, fuel)?;
        let State { threads, fresh, .. } = recognizer.state(state);
        let threads = threads.to_vec();
        let sets = threads.iter().map(|&(set, _)| set).chain(fresh);
        recognizer.reads.begin(sets);
        let mut making = MaskBuilder {
            terminals: &mut self.terminals,
            reading: Reading::new(vocabulary, limits),
            jobs: Vec::new(),
            out,
        };
        let few = if making.terminals.has(Layer::Few) {
            tuning::FEW_TERMINALS
        } else {
            0
        };
        let mut left = parts_of(&threads, recognizer, fuel)?;
        if left.len() > few {
            left = making.take(&left, Anchor::Root, TerminalFilter::Wide, recognizer, fuel)?;
        }
        if left.len() <= few {
            left = making.take(&left, Anchor::Root, TerminalFilter::All, recognizer, fuel)?;
        }
        making.narrow(left, recognizer, frames, &mut self.stack, fuel)?;
        while let Some(job) = making.jobs.pop() {
            making.run(job, recognizer, frames, &mut self.stack, fuel)?;
        }
        let depth = recognizer.reads.finish();
        let out = making.out;
        let words = bitmask_words(vocabulary.size());
        Ok((
            out.finish(words, &mut self.pool, self.terminals.shared()),
            depth,
        ))
    }
}

/// The terminals of threads, those with the same residual side by side. Counts that no token can exhaust are left out.
fn parts_of(
    threads: &[Thread],
    recognizer: &mut Recognizer,
    fuel: &mut Fuel,
) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    for &(set, lexer_state) in threads {
        let lexer_state = recognizer.lexer.representative(lexer_state, fuel)?;
        let lexer_state = recognizer.lexer.parts(lexer_state);
        parts.extend(
            lexer_state
                .iter()
                .map(|&(tag, residual)| (residual, set, tag)),
        );
    }
    parts.sort_unstable();
    parts.dedup();
    Ok(parts)
}

/// Threads of terminals.
fn threads_of(mut parts: Vec<Part>, recognizer: &mut Recognizer) -> Vec<Thread> {
    parts.sort_unstable_by_key(|&(_, set, _)| set);
    parts
        .chunk_by(|a, b| a.1 == b.1)
        .map(|same| {
            let lexer_state = same.iter().map(|&(residual, _, tag)| (tag, residual));
            (same[0].1, recognizer.lexer.intern(lexer_state))
        })
        .collect()
}

/// Every byte that may come next in one of the threads, and perhaps more.
fn first_of(threads: &[Thread], recognizer: &Recognizer) -> ByteSet {
    let lexer = threads.iter().map(|&(_, lexer_state)| lexer_state);
    lexer.fold(ByteSet::EMPTY, |first, lexer_state| {
        first.union(&recognizer.lexer.first(lexer_state))
    })
}

/// The bytes of which terminals may begin with any run, whitespace mostly.
fn loops_of(parts: &[Part], residuals: &mut Residuals, fuel: &mut Fuel) -> Result<ByteSet, Error> {
    let mut loops = ByteSet::EMPTY;
    for &(residual, _, tag) in parts {
        let first = residuals.first(residual);
        if first.len() > tuning::LOOP_BYTES {
            continue;
        }
        residuals.set_owner(tag);
        for byte in first.iter() {
            let rest = residuals.step(residual, byte, fuel)?;
            if rest == residual || residuals.step(rest, byte, fuel)? == rest {
                loops.insert(byte);
            }
        }
    }
    Ok(loops)
}

/// What may come behind each of some bytes that may come next in a lexer state.
fn mid_accepts_of(
    lexer_state: LexerStateId,
    bytes: &ByteSet,
    recognizer: &mut Recognizer,
    fuel: &mut Fuel,
) -> Result<Vec<MidAccept>, Error> {
    let lexer = &mut recognizer.lexer;
    let accept = |byte| {
        let (to, accept_set) = lexer.step(lexer_state, byte, fuel)?;
        let then = match accept_set {
            AcceptSetId::NONE => lexer.first(to),
            _ => ByteSet::FULL,
        };
        Ok(MidAccept { byte, then })
    };
    bytes.iter().map(accept).collect()
}

/// Which terminals are looked at by themselves.
#[derive(Debug, Clone, Copy)]
enum TerminalFilter {
    All,
    /// Those that most tokens may be read by.
    Wide,
    /// Those that have been at the place before, as if they were narrow.
    Returning,
}

/// What is left to be done for a mask.
enum Job {
    /// Tokens that leave a terminal at its exits, where these bytes may follow.
    Exits(Arc<Classification>, Thread, ByteSet),
    /// Tokens that leave it elsewhere: a trie of what they have behind that place.
    Rests(Arc<Trie>, Thread),
}

/// A mask in the making.
struct MaskBuilder<'a> {
    terminals: &'a mut Terminals,
    reading: Reading<'a>,
    jobs: Vec<Job>,
    out: Out,
}

impl Visitor for MaskBuilder<'_> {
    fn found(&mut self, id: u32) {
        self.out.ids.push(id);
    }

    fn enter(
        &mut self,
        node: usize,
        threads: &[Thread],
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Option<Vec<Thread>>, Error> {
        if !self.terminals.has(Layer::Within) {
            return Ok(None);
        }
        let mut wide = false;
        for &(_, lexer_state) in threads {
            wide = wide || self.has_wide(lexer_state, recognizer, fuel)?;
        }
        if !wide {
            return Ok(None);
        }
        let parts = parts_of(threads, recognizer, fuel)?;
        let count = parts.len();
        let left = self.take(
            &parts,
            Anchor::Behind(node as u32),
            TerminalFilter::Wide,
            recognizer,
            fuel,
        )?;
        Ok((left.len() < count).then(|| threads_of(left, recognizer)))
    }
}

impl MaskBuilder<'_> {
    /// Whether a walk would not visit all below a node where some terminal of a lexer state begins.
    fn has_wide(
        &mut self,
        lexer_state: LexerStateId,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let within = self.terminals.has(Layer::Within);
        Ok(within
            && self
                .terminals
                .has_wide(lexer_state, &mut recognizer.lexer, fuel)?)
    }

    /// Adds the tokens that some of the terminals, which are sorted, have at a place; returns those that have to be walked.
    fn take(
        &mut self,
        parts: &[Part],
        place: Anchor,
        which: TerminalFilter,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<Vec<Part>, Error> {
        let mut left = Vec::new();
        for same in parts.chunk_by(|a, b| a.0 == b.0) {
            let (residual, _, tag) = same[0];
            let residuals = recognizer.lexer.residuals();
            let (wanted, wide) = match which {
                TerminalFilter::Returning => (self.terminals.returns(residual, place), false),
                TerminalFilter::All | TerminalFilter::Wide => {
                    let wide = self.terminals.is_wide((tag, residual), residuals, fuel)?;
                    (wide || matches!(which, TerminalFilter::All), wide)
                }
            };
            if !wanted || !self.terminal(same, place, wide, recognizer, fuel)? {
                left.extend_from_slice(same);
            }
        }
        Ok(left)
    }

    /// Adds the tokens of terminals that have the same residual; false, with nothing added, if they have to be walked.
    fn terminal(
        &mut self,
        same: &[Part],
        place: Anchor,
        wide: bool,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let (residual, _, tag) = same[0];
        let part = (tag, residual);
        let residuals = recognizer.lexer.residuals();
        let classification =
            self.terminals
                .classification(part, place, residuals, &mut self.reading);
        let Some(classification) = classification else {
            return Ok(false);
        };
        if !classification.leaves() && classification.live.is_empty() {
            self.out.add(&classification.tokens);
            return Ok(true);
        }
        let ended: Vec<Ended> = same
            .chunk_by(|a, b| a.1 == b.1)
            .map(|same| {
                let tags = same.iter().map(|&(_, _, tag)| tag).collect();
                (same[0].1, recognizer.lexer.accept_set(tags))
            })
            .collect();
        let behind = recognizer.goto(&ended, fuel)?;
        if behind.set.is_none() && !behind.accept {
            return Ok(false);
        }
        let next = behind
            .set
            .map_or(LexerStateId::DEAD, |set| recognizer.sets.lexer_state(set));
        let first = recognizer.lexer.first(next);
        // Below many exits of a narrow terminal, wide ones would be looked up again and again; a walk meets them once.
        if !wide
            && classification.exits.len() > tuning::FEW_EXITS
            && self.has_wide(next, recognizer, fuel)?
        {
            return Ok(false);
        }
        let overlap = first.intersection(&classification.live);
        let mut rests = Vec::new();
        if !overlap.is_empty() {
            if !wide || !self.terminals.has(Layer::Overlaps) {
                return Ok(false);
            }
            let accepts = mid_accepts_of(next, &overlap, recognizer, fuel)?;
            let residuals = recognizer.lexer.residuals();
            let found = self.terminals.rest_tries(
                part,
                (place, &accepts),
                &classification,
                residuals,
                &mut self.reading,
            );
            let Some(found) = found else {
                return Ok(false);
            };
            rests = found;
        }
        self.out.add(&classification.tokens);
        if let Some(behind) = behind.set.filter(|_| next != LexerStateId::DEAD) {
            let thread = (behind, next);
            let rests = rests.into_iter().map(|trie| Job::Rests(trie, thread));
            self.jobs.extend(rests);
            if classification.leaves() {
                self.jobs.push(Job::Exits(classification, thread, first));
            }
        }
        Ok(true)
    }

    /// Adds the tokens of terminals that begin with few bytes, whitespace aside, by walks behind these bytes.
    fn narrow(
        &mut self,
        mut parts: Vec<Part>,
        recognizer: &mut Recognizer,
        frames: &mut Frames,
        stack: &mut WalkStack,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let trie = self.reading.vocabulary.trie();
        while let Some(&(residual, ..)) = parts.first() {
            // Terminals that the same whitespace may lead go together.
            let residuals = recognizer.lexer.residuals();
            let (set, most, _) = residuals.lead(residual);
            let mut together: Vec<Part> = Vec::new();
            parts.retain(|&(residual, thread, tag)| {
                let (other, other_most, rest) = residuals.lead(residual);
                let same = (other, other_most) == (set, most);
                if same {
                    together.push((rest, thread, tag));
                }
                !same
            });
            let runs = self.terminals.shared().runs(trie, &set);
            self.out.ids.extend(runs.tokens(most));
            together.sort_unstable();
            let place = Anchor::Lead(set, most);
            let together = self.take(
                &together,
                place,
                TerminalFilter::Returning,
                recognizer,
                fuel,
            )?;
            let loops = if set.is_empty() && self.terminals.has(Layer::Runs) {
                let residuals = recognizer.lexer.residuals();
                loops_of(&together, residuals, fuel)?
            } else {
                ByteSet::EMPTY
            };
            let threads = threads_of(together, recognizer);
            let loops = self.loops(&threads, loops, recognizer, frames, stack, fuel)?;
            let first = first_of(&threads, recognizer);
            let first = first.intersection(&loops.complement());
            for part in runs.branches(most, &first) {
                frames.load_threads(&threads);
                walk(recognizer, trie, part, frames, stack, fuel, self)?;
            }
        }
        Ok(())
    }

    /// Adds the tokens that begin with bytes of a set, as far as all runs of these lead to the same threads; returns the
    /// bytes for which they do.
    fn loops(
        &mut self,
        threads: &[Thread],
        candidates: ByteSet,
        recognizer: &mut Recognizer,
        frames: &mut Frames,
        stack: &mut WalkStack,
        fuel: &mut Fuel,
    ) -> Result<ByteSet, Error> {
        let mut behind: Option<Vec<Thread>> = None;
        let mut set = candidates;
        for byte in candidates.iter() {
            frames.load_threads(threads);
            let mut same = recognizer.push(frames, byte, fuel)?;
            if same && behind.is_none() {
                behind = Some(frames.threads().to_vec());
            }
            same = same && behind.as_deref() == Some(frames.threads());
            same = same && recognizer.push(frames, byte, fuel)?;
            if !same || behind.as_deref() != Some(frames.threads()) {
                set = set.intersection(&ByteSet::byte(byte).complement());
            }
        }
        let Some(behind) = behind.filter(|_| !set.is_empty()) else {
            return Ok(ByteSet::EMPTY);
        };
        let trie = self.reading.vocabulary.trie();
        let runs = self.terminals.shared().runs(trie, &set);
        self.out.ids.extend(runs.tokens(u32::MAX));
        let parts = parts_of(&behind, recognizer, fuel)?;
        let left = self.take(
            &parts,
            Anchor::Runs(set),
            TerminalFilter::Wide,
            recognizer,
            fuel,
        )?;
        let left = threads_of(left, recognizer);
        let first = first_of(&left, recognizer);
        for part in runs.behind(&first) {
            frames.load_threads(&left);
            walk(recognizer, trie, part, frames, stack, fuel, self)?;
        }
        Ok(set)
    }

    /// Adds the tokens that a job is about.
    fn run(
        &mut self,
        job: Job,
        recognizer: &mut Recognizer,
        frames: &mut Frames,
        stack: &mut WalkStack,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let vocabulary = self.reading.vocabulary;
        let (classification, thread, first) = match job {
            Job::Rests(rests, thread) => {
                frames.load_threads(&[thread]);
                let all = &mut Listed(&mut self.out.ids);
                return walk(recognizer, &rests, whole(&rests), frames, stack, fuel, all);
            }
            Job::Exits(classification, thread, first) => (classification, thread, first),
        };
        let trie = vocabulary.trie();
        let below = |node: u32| node as usize..trie.nodes()[node as usize].next as usize;
        let from = self.out.ids.len();
        for byte in first.iter() {
            for &(_, node) in classification.exits.at(byte) {
                frames.load_threads(&[thread]);
                if classification.without.is_empty() {
                    walk(recognizer, trie, below(node), frames, stack, fuel, self)?;
                } else {
                    let all = &mut Listed(&mut self.out.ids);
                    walk(recognizer, trie, below(node), frames, stack, fuel, all)?;
                }
            }
        }
        if !classification.without.is_empty() {
            let mut found = self.out.ids.split_off(from);
            found.retain(|id| classification.without.binary_search(id).is_err());
            self.out.ids.append(&mut found);
        }
        if !classification.own_exits.is_empty() {
            for byte in first.iter() {
                for &(_, node) in at(&classification.own_exits, byte) {
                    frames.load_threads(&[thread]);
                    walk(recognizer, trie, below(node), frames, stack, fuel, self)?;
                }
            }
        }
        Ok(())
    }
}

/// The tokens of a mask, as far as they are known.
#[derive(Default)]
struct Out {
    rows: SmallVec<[Arc<[i32]>; 2]>,
    lists: SmallVec<[List; 2]>,
    ids: Vec<u32>,
}

impl Out {
    fn add(&mut self, tokens: &Tokens) {
        match tokens {
            Tokens::Row(row) => self.rows.push(Arc::clone(row)),
            Tokens::List(list) if list.len() <= tuning::COPIED_LIST => {
                self.ids.extend_from_slice(list);
            }
            Tokens::List(list) => self.lists.push(Arc::clone(list)),
        }
    }

    fn finish(mut self, size: usize, pool: &mut Pool, shared: &Shared) -> Mask {
        let count = self.lists.iter().map(|list| list.len()).sum::<usize>() + self.ids.len();
        let few = Pool::few(count, !self.rows.is_empty());
        if few && !self.ids.is_empty() {
            self.lists.push(pool.list(&self.ids));
            self.ids.clear();
        }
        let lists = if few {
            std::mem::take(&mut self.lists)
        } else {
            SmallVec::new()
        };
        if few && self.rows.len() <= 1 {
            let row = self.rows.pop();
            return Mask { row, lists };
        }
        let rows = self.rows.iter().map(|row| &**row);
        let all = self.lists.iter().map(|list| &**list);
        let all = all.chain([&*self.ids]);
        Mask {
            row: Some(pool.union(size, rows, all, shared)),
            lists,
        }
    }
}
