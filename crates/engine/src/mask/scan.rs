//! Reads the vocabulary by one residual of a terminal: which tokens stay inside, and where the others leave or die.
//! From the lazy DFA of `lazy_dfa`, for `terminals`.

use std::ops::Range;
use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::classification::Anchor;
use super::classification::Exits;
use super::classification::{Classification, Tokens, changed};
use super::lazy_dfa::{DfaState, LazyDfa, Reads};
use super::walk;
use super::walk::allow_all;
use crate::automaton::{ExprId, Residuals};
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::tuning;
use crate::vocabulary::{Below, Trie, Vocabulary, kinds_of};

/// What a scan has found so far.
struct Found {
    live: ByteSet,
    exits: Vec<(u8, u32)>,
    ends_anywhere: bool,
    visited: usize,
}

impl Found {
    /// Whether what a residual reads of all below a node says which of the tokens there stay inside.
    fn skip(
        &mut self,
        (trie, at): (&Trie, usize),
        (below, reads): (&Below, Reads),
        vocabulary: &Vocabulary,
        (kept, from): (&mut Vec<Range<u32>>, &mut u32),
    ) -> bool {
        let node = trie.nodes()[at];
        let tokens = trie.before(at + 1)..trie.before(node.next as usize);
        match reads {
            Reads::All { may_end } => {
                if may_end {
                    self.live = self.live.union(&below.bytes());
                }
                return true;
            }
            Reads::UpTo(characters) => {
                let longest = below.begun + characters as u8;
                keep(kept, from, tokens, trie.lengths(), |&length| {
                    length <= longest
                });
            }
            Reads::Without(kinds) => {
                let one = vocabulary.token(trie.order()[tokens.start as usize]);
                if kinds_of(&one[..usize::from(node.depth)]) & kinds != 0 {
                    self.ends_anywhere = false;
                    return false;
                }
                keep(kept, from, tokens, trie.kinds(), |&has| has & kinds == 0);
            }
            Reads::Unknown => return false,
        }
        self.ends_anywhere = false;
        true
    }
}

/// Work space of scans.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) dfa: LazyDfa,
    pub(super) path: Vec<DfaState>,
    pairs: Vec<(DfaState, DfaState)>,
    kept: Vec<Range<u32>>,
    agreement: IdMap<(ExprId, ExprId), u32>,
}

impl Scan {
    /// Reads what the vocabulary has at an anchor by a residual of a terminal.
    pub(super) fn whole(
        &mut self,
        (owner, residual): (u32, ExprId),
        (anchor, mut front): (Anchor, ScanStart),
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Classification, Error> {
        let trie = vocabulary.trie();
        residuals.set_owner(owner);
        self.dfa.clear();
        self.kept.clear();
        self.path.clear();
        self.path.resize(trie.longest() + 1, DfaState::DEAD);
        let start = self.dfa.start(front.rest, residuals);
        let mut found = Found {
            live: ByteSet::EMPTY,
            exits: Vec::new(),
            ends_anywhere: front.rest == residual,
            visited: 0,
        };
        // Where all plain tokens are read, only the others are looked at.
        let tokens = vocabulary.plain();
        let mut plain = None;
        let first = residuals.first(front.rest);
        if anchor == Anchor::Root && residuals.has(Layer::Plain) && tokens.begin_within(&first) {
            match self.dfa.reads(start, tokens.below(), residuals, fuel)? {
                Reads::All { may_end } => {
                    plain = Some(tokens.row());
                    if may_end {
                        found.live = tokens.below().bytes();
                    }
                }
                Reads::UpTo(characters) => {
                    plain = Some(tokens.row_up_to(characters));
                    found.ends_anywhere = false;
                }
                _ => {}
            }
        }
        let (read, parts) = match plain {
            Some(_) => (tokens.others(), vec![walk::whole(tokens.others())]),
            None => (trie, std::mem::take(&mut front.parts)),
        };
        for part in parts {
            let part = (read, part);
            self.part(part, start, &mut found, residuals, vocabulary, fuel)?;
        }
        let tokens = if let Some(row) = plain {
            for (_, node) in &mut found.exits {
                *node = tokens.node(*node);
            }
            let order = read.order();
            Tokens::row(row.iter().copied(), |row| {
                for run in &self.kept {
                    allow_all(row, &order[run.start as usize..run.end as usize]);
                }
            })
        } else {
            Tokens::of_runs(&self.kept, front.leading(), vocabulary)
        };
        fuel.spend(found.visited)?;
        Ok(Classification {
            tokens,
            live: found.live,
            exits: Arc::new(Exits::new(found.exits)),
            without: Box::default(),
            own_exits: Box::default(),
            ends_anywhere: found.ends_anywhere,
        })
    }

    /// Reads a part of a trie of tokens: nodes side by side, with all that is below them.
    fn part(
        &mut self,
        (trie, part): (&Trie, Range<usize>),
        start: DfaState,
        found: &mut Found,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let Self {
            dfa, path, kept, ..
        } = self;
        let long = vocabulary.trie().nodes().len() / tuning::LONG_SCAN_SHARE;
        let nodes = trie.nodes();
        let Some(first) = nodes.get(part.start) else {
            return Ok(());
        };
        path[usize::from(first.depth) - 1] = start;
        let mut at = part.start;
        // Tokens are kept by the run: between two places where they die, all stay inside.
        let mut from = trie.before(part.start);
        while at < part.end {
            let node = nodes[at];
            let depth = usize::from(node.depth);
            let before = path[depth - 1];
            found.visited += 1;
            dfa.looking = found.visited > long;
            let rest = dfa.step(before, node.byte, residuals, fuel)?;
            if rest == DfaState::DEAD {
                if before.ends() {
                    found.exits.push((node.byte, at as u32));
                }
                keep_run(kept, from..trie.before(at));
                at = node.next as usize;
                from = trie.before(at);
                continue;
            }
            if before.ends() {
                found.live.insert(node.byte);
            }
            found.ends_anywhere &= rest.ends();
            let next = node.next as usize;
            if !rest.passes()
                && let Some(below) = trie.below(at)
                && let reads = dfa.reads(rest, below, residuals, fuel)?
                && found.skip((trie, at), (below, reads), vocabulary, (kept, &mut from))
            {
                at = next;
                continue;
            }
            path[depth] = rest;
            at += 1;
        }
        keep_run(kept, from..trie.before(part.end));
        Ok(())
    }

    /// The same as [`Self::whole`], by walking only where the residual and another differ whose tokens are known. The two
    /// take words of up to `near` bytes alike. None where they differ too much for this to be worth while.
    pub(super) fn delta(
        &mut self,
        (owner, residual): (u32, ExprId),
        (other, known, near): (ExprId, &Classification, u32),
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Option<Classification>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self {
            dfa,
            pairs: path,
            agreement,
            ..
        } = self;
        residuals.set_owner(owner);
        dfa.clear();
        agreement.clear();
        path.clear();
        path.resize(trie.longest() + 1, (DfaState::DEAD, DfaState::DEAD));
        path[0] = (dfa.add(residual, false), dfa.add(other, false));
        let mut live = known.live;
        let (mut removed, mut added, mut without) = (Vec::new(), Vec::new(), Vec::new());
        let mut own_exits = Vec::new();
        let (mut at, mut visited) = (0, 0);
        while at < nodes.len() {
            let node = nodes[at];
            let depth = usize::from(node.depth);
            if node.height < u8::MAX && u32::from(node.depth) + u32::from(node.height) <= near {
                at = node.next as usize;
                continue;
            }
            visited += 1;
            dfa.looking = visited > nodes.len() / tuning::LONG_SCAN_SHARE;
            if visited > tuning::DELTA_NODES && visited > at / tuning::DELTA_SHARE {
                return Ok(None);
            }
            let before = path[depth - 1];
            let mine = dfa.step(before.0, node.byte, residuals, fuel)?;
            let theirs = dfa.step(before.1, node.byte, residuals, fuel)?;
            if mine == DfaState::DEAD {
                let exit = before.0.ends();
                if exit != (theirs == DfaState::DEAD && before.1.ends()) {
                    if exit {
                        own_exits.push((node.byte, at as u32));
                    } else {
                        below(trie, at, &mut without);
                    }
                }
            } else {
                if before.0.ends() {
                    live.insert(node.byte);
                }
                if theirs == DfaState::DEAD && before.1.ends() {
                    below(trie, at, &mut without);
                }
            }
            let same = mine == theirs
                || match (dfa.residual(mine), dfa.residual(theirs)) {
                    (Some(a), Some(b)) if mine != DfaState::DEAD && theirs != DfaState::DEAD => {
                        let bytes = if let Some(&known) = agreement.get(&(a, b)) {
                            known
                        } else {
                            let bytes = residuals.agreement(a, b, fuel)?;
                            agreement.insert((a, b), bytes);
                            bytes
                        };
                        node.height < u8::MAX && bytes >= u32::from(node.height)
                    }
                    _ => false,
                };
            if same {
                at = node.next as usize;
                continue;
            }
            if let Some(below) = trie.below(at)
                && let Reads::All { may_end } = dfa.reads(mine, below, residuals, fuel)?
                && let Reads::All { .. } = dfa.reads(theirs, below, residuals, fuel)?
            {
                if may_end {
                    live = live.union(&below.bytes());
                }
                // The node itself is no difference either: both are alive.
                at = node.next as usize;
                continue;
            }
            path[depth] = (mine, theirs);
            match (mine == DfaState::DEAD, theirs == DfaState::DEAD) {
                (true, false) => removed.extend_from_slice(trie.tokens(at)),
                (false, true) => added.extend_from_slice(trie.tokens(at)),
                _ => {}
            }
            at += 1;
        }
        fuel.spend(visited)?;
        let tokens = changed(&known.tokens, &removed, &added, vocabulary);
        without.extend_from_slice(&known.without);
        without.sort_unstable();
        own_exits.extend_from_slice(&known.own_exits);
        own_exits.sort_unstable();
        Ok(Some(Classification {
            tokens,
            live,
            exits: Arc::clone(&known.exits),
            without: without.into(),
            own_exits: own_exits.into(),
            ends_anywhere: false,
        }))
    }
}

/// Keeps a run, if it is any.
fn keep_run(kept: &mut Vec<Range<u32>>, run: Range<u32>) {
    if !run.is_empty() {
        kept.push(run);
    }
}

/// Keeps the runs of some tokens that pass; `from` is where the run began that they may continue, and then where the last
/// one begins that may go on.
fn keep<T>(
    kept: &mut Vec<Range<u32>>,
    from: &mut u32,
    tokens: Range<u32>,
    facts: &[T],
    passes: impl Fn(&T) -> bool,
) {
    let facts = &facts[tokens.start as usize..tokens.end as usize];
    for (index, fact) in tokens.zip(facts) {
        if !passes(fact) {
            keep_run(kept, *from..index);
            *from = index + 1;
        }
    }
}

/// The tokens below a node, the node included.
fn below(trie: &Trie, node: usize, ids: &mut Vec<u32>) {
    for at in node..trie.nodes()[node].next as usize {
        ids.extend_from_slice(trie.tokens(at));
    }
}

// ---
// How a terminal begins to read at an anchor.

/// How a scan of a residual begins at an anchor.
pub(super) struct ScanStart {
    /// Runs of bytes that lead, and how many.
    lead: Option<(Arc<Runs>, u32)>,
    /// What is behind them.
    pub(super) rest: ExprId,
    /// What of the trie the rest may read.
    pub(super) parts: Vec<Range<usize>>,
}

impl ScanStart {
    /// `runs_of` has the runs of a set of bytes in the trie. At the root, bytes that lead are not part of any end, so what is behind them can be read by the rest alone.
    pub(super) fn new(
        anchor: Anchor,
        residual: ExprId,
        residuals: &Residuals,
        trie: &Trie,
        runs_of: impl Fn(&ByteSet) -> Arc<Runs>,
    ) -> Self {
        let mut front = Self {
            lead: None,
            rest: residual,
            parts: Vec::new(),
        };
        match anchor {
            Anchor::Root => {
                let (set, most, rest) = residuals.lead(residual);
                let runs = runs_of(&set);
                let first = residuals.first(rest);
                front.parts = runs.branches(most, &first);
                front.rest = rest;
                front.lead = Some((runs, most));
            }
            Anchor::Behind(node) => {
                let next = trie.nodes()[node as usize].next;
                front.parts.push(node as usize + 1..next as usize);
            }
            Anchor::Runs(set) => {
                let runs = runs_of(&set);
                let first = residuals.first(residual);
                front.parts = runs.behind(&first);
            }
            Anchor::Lead(set, most) => {
                let runs = runs_of(&set);
                let first = residuals.first(residual);
                front.parts = runs.branches(most, &first);
            }
        }
        front
    }

    /// Tokens that are nothing but bytes that lead.
    pub(super) fn leading(&self) -> impl Iterator<Item = u32> + Clone {
        let lead = self.lead.iter();
        lead.flat_map(|(runs, most)| runs.tokens(*most))
    }
}

// ---
// Leading trivia: tokens that begin with bytes of one set, whitespace mostly. What leads a terminal is read once for
// all terminals.

/// What the trie holds behind runs of bytes of a set.
#[derive(Debug)]
pub(super) struct Runs {
    /// Tokens that are nothing but a run, with their lengths; shortest first.
    tokens: Vec<(u16, u32)>,
    /// By byte, then by node.
    branches: Vec<Branch>,
}

/// A node right behind a run (or at the root) whose byte is not in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Branch {
    byte: u8,
    node: u32,
    /// Behind all that is below it.
    next: u32,
    /// How many bytes are in front of it.
    run: u16,
}

impl Runs {
    pub(super) fn new(trie: &Trie, set: &ByteSet) -> Self {
        let nodes = trie.nodes();
        let (mut tokens, mut branches) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            if set.contains(node.byte) {
                tokens.extend(trie.tokens(at).iter().map(|&id| (node.depth, id)));
                at += 1;
            } else {
                branches.push(Branch {
                    byte: node.byte,
                    node: at as u32,
                    next: node.next,
                    run: node.depth - 1,
                });
                at = node.next as usize;
            }
        }
        tokens.sort_unstable();
        branches.sort_unstable();
        Self { tokens, branches }
    }

    /// Tokens that are a run of up to `most` bytes.
    pub(super) fn tokens(&self, most: u32) -> impl Iterator<Item = u32> + Clone {
        let shorter = move |&&(length, _): &&(u16, u32)| u32::from(length) <= most;
        self.tokens.iter().take_while(shorter).map(|&(_, id)| id)
    }

    /// The nodes of some bytes behind runs of up to `most` bytes, each with all below it.
    pub(super) fn branches(&self, most: u32, first: &ByteSet) -> Vec<Range<usize>> {
        self.behind_runs(0, most, first)
    }

    /// The nodes of some bytes behind runs of any length but none, each with all below it.
    pub(super) fn behind(&self, first: &ByteSet) -> Vec<Range<usize>> {
        self.behind_runs(1, u32::MAX, first)
    }

    fn behind_runs(&self, least: u32, most: u32, first: &ByteSet) -> Vec<Range<usize>> {
        let mut nodes = Vec::new();
        for byte in first.iter() {
            let from = self.branches.partition_point(|branch| branch.byte < byte);
            let same = self.branches[from..].iter();
            let same = same.take_while(|branch| branch.byte == byte);
            let wanted = same.filter(|branch| (least..=most).contains(&u32::from(branch.run)));
            nodes.extend(wanted.map(|branch| branch.node as usize..branch.next as usize));
        }
        nodes
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.tokens.len() * 8 + self.branches.len() * size_of::<Branch>() + 64
    }
}
