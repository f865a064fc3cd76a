//! What one residual of a terminal means to the whole vocabulary, whatever grammar it stands in.
//!
//! Read by the residual alone, a token stays inside (all of it is consumed, and something or the empty string is left), or
//! it dies. Where it dies right behind a place at which the terminal may end, the rest of the token belongs to what follows
//! the terminal: an exit. It may also have passed such places and gone on; as long as what follows cannot begin with a byte
//! on which the residual went on, those lead nowhere, and the exits are all that is left to decide.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use syntagma_grammar::ir::ByteSet;

use super::lane::{Lane, Reads, Rest};
use super::place::{Front, Place};
use super::pool::{List, SPARSE};
use super::row::{allow, allow_all, allow_row, is_allowed, refuse};
use super::shared::Shared;
use super::siblings::Siblings;
use super::walk;
use crate::automaton::{RegexId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::vocabulary::{Below, Trie, Vocabulary, bitmask_words, kinds_of};

/// From so many exits at one byte on, the rests of the tokens get a trie of their own.
const EXITS: usize = 8;

/// Up to so many nodes below the exits: making it takes about a microsecond for three.
const CROSSING: usize = 1_500;

/// A walk beside another residual may visit one in so many nodes,
const BESIDE: usize = 8;

/// or so many in all.
const MOST_BESIDE: usize = 6_000;

/// Up to so many nodes below a node are fewer than what it takes to skip them.
const SMALL: usize = 48;

/// A scan that has visited one in so many nodes is long: then it pays to look closely at what residuals read.
const LONG: usize = 128;

/// Tokens, as what takes less room.
#[derive(Debug, Clone)]
pub(super) enum Tokens {
    /// A whole row.
    Row(Arc<[i32]>),
    /// Few.
    List(List),
}

impl Tokens {
    /// Whether a token is among them.
    pub(super) fn has(&self, id: u32) -> bool {
        match self {
            Self::Row(row) => is_allowed(row, id),
            Self::List(list) => list.contains(&id),
        }
    }

    /// Tokens of runs in the order of the trie, and some more.
    fn of_runs(
        runs: &[Range<u32>],
        more: impl Iterator<Item = u32> + Clone,
        vocabulary: &Vocabulary,
    ) -> Self {
        let order = vocabulary.trie().order();
        let ids_of = |run: Range<u32>| &order[run.start as usize..run.end as usize];
        let count: usize = runs.iter().map(Range::len).sum::<usize>() + more.clone().count();
        if count <= SPARSE {
            let mut list = Vec::with_capacity(count);
            for run in runs {
                list.extend_from_slice(ids_of(run.clone()));
            }
            list.extend(more);
            return Self::List(list.into());
        }
        // Whatever is fewer is touched one by one: what is kept, or what is not.
        let all = order.len() as u32;
        if count > order.len() / 2 && runs.is_sorted_by_key(|run| run.start) {
            let ends = runs.iter().map(|run| run.start).chain([all]);
            let starts = [0].into_iter().chain(runs.iter().map(|run| run.end));
            return Self::row(vocabulary.text_row().iter().copied(), |row| {
                for (start, end) in starts.zip(ends) {
                    for &id in ids_of(start..end) {
                        refuse(row, id);
                    }
                }
                more.for_each(|id| allow(row, id));
            });
        }
        Self::row(nothing(vocabulary), |row| {
            for run in runs {
                allow_all(row, ids_of(run.clone()));
            }
            more.for_each(|id| allow(row, id));
        })
    }

    /// The tokens of rows and of a list.
    pub(super) fn of_rows(rows: &[&[i32]], list: Vec<u32>, vocabulary: &Vocabulary) -> Self {
        match rows {
            [] if list.len() <= SPARSE => Self::List(list.into()),
            [] => Self::row(nothing(vocabulary), |row| allow_all(row, &list)),
            [first, more @ ..] => Self::row(first.iter().copied(), |row| {
                for more in more {
                    allow_row(row, more);
                }
                allow_all(row, &list);
            }),
        }
    }

    /// A row that is made of another one, where it is to stay.
    fn row(other: impl Iterator<Item = i32>, change: impl FnOnce(&mut [i32])) -> Self {
        let mut row: Arc<[i32]> = other.collect();
        if let Some(own) = Arc::get_mut(&mut row) {
            change(own);
        }
        Self::Row(row)
    }
}

/// A row that allows nothing.
fn nothing(vocabulary: &Vocabulary) -> impl Iterator<Item = i32> {
    std::iter::repeat_n(0, bitmask_words(vocabulary.size()))
}

/// Nodes of the vocabulary's trie at which a token leaves the terminal, by their bytes.
#[derive(Debug)]
pub(super) struct Exits {
    nodes: Box<[(u8, u32)]>,
    /// Bytes with many nodes, ascending.
    crowds: Box<[Crowd]>,
}

/// Many exits at one byte.
#[derive(Debug)]
struct Crowd {
    byte: u8,
    /// Whether somebody has walked below the nodes: who comes second makes the trie of the rests.
    walked: AtomicBool,
    rests: OnceLock<Option<Box<Trie>>>,
}

impl Exits {
    /// Puts nodes together that are at the same byte.
    pub(super) fn new(found: Vec<(u8, u32)>) -> Self {
        // Counting is several times as fast as sorting many, and of one byte their order does not matter.
        if found.len() < EXITS {
            let mut nodes = found;
            nodes.sort_unstable_by_key(|&(byte, _)| byte);
            return Self {
                nodes: nodes.into(),
                crowds: Box::default(),
            };
        }
        let mut next = [0; 256];
        for &(byte, _) in &found {
            next[usize::from(byte)] += 1;
        }
        let mut sum = 0;
        for next in &mut next {
            sum += std::mem::replace(next, sum);
        }
        let mut nodes = vec![(0, 0); found.len()];
        for (byte, node) in found {
            let next = &mut next[usize::from(byte)];
            nodes[*next] = (byte, node);
            *next += 1;
        }
        let crowds = nodes
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() >= EXITS)
            .map(|same| Crowd {
                byte: same[0].0,
                walked: AtomicBool::new(false),
                rests: OnceLock::new(),
            })
            .collect();
        Self {
            nodes: nodes.into(),
            crowds,
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All of them, with their bytes.
    pub(super) fn nodes(&self) -> &[(u8, u32)] {
        &self.nodes
    }

    /// Whether any is among these nodes.
    pub(super) fn any_in(&self, nodes: Range<usize>) -> bool {
        self.all().any(|node| nodes.contains(&node))
    }

    /// All nodes.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().map(|&(_, node)| node as usize)
    }

    /// The nodes of a byte.
    pub(super) fn at(&self, byte: u8) -> &[(u8, u32)] {
        at(&self.nodes, byte)
    }

    /// A trie of what is left of the tokens that leave at a byte, where it is worth while to walk that instead.
    pub(super) fn rests(&self, byte: u8, vocabulary: &Vocabulary) -> Option<&Trie> {
        let crowd = self.crowds.binary_search_by_key(&byte, |crowd| crowd.byte);
        let crowd = &self.crowds[crowd.ok()?];
        if !crowd.walked.swap(true, Ordering::Relaxed) {
            return None;
        }
        let make = || {
            let nodes = vocabulary.trie().nodes();
            let below = |&(_, node): &(u8, u32)| nodes[node as usize].next - node;
            let exits = self.at(byte);
            let crossing: u32 = exits.iter().map(below).sum();
            let few = crossing as usize <= CROSSING;
            few.then(|| Box::new(rest_trie(exits, vocabulary)))
        };
        crowd.rests.get_or_init(make).as_deref()
    }

    /// Counts the tries as if they were there.
    fn memory_bytes(&self) -> usize {
        self.nodes.len() * 40 + self.crowds.len() * size_of::<Crowd>() + size_of::<Self>()
    }
}

/// Those of the exits that are at a byte.
pub(super) fn at(exits: &[(u8, u32)], byte: u8) -> &[(u8, u32)] {
    let from = exits.partition_point(|&(exit, _)| exit < byte);
    let same = exits[from..].partition_point(|&(exit, _)| exit == byte);
    &exits[from..from + same]
}

/// The tokens of one residual.
#[derive(Debug)]
pub(super) struct Inside {
    /// The tokens that stay inside.
    pub(super) tokens: Tokens,
    /// Bytes on which it goes on where it might have ended; perhaps more.
    pub(super) live: ByteSet,
    /// Nodes whose subtrees leave.
    pub(super) exits: Arc<Exits>,
    /// Tokens below `exits` that do not leave after all; ascending.
    pub(super) without: Box<[u32]>,
    /// Nodes whose subtrees leave, whatever `without` says.
    pub(super) own_exits: Box<[(u8, u32)]>,
    /// Whether it might have ended behind every byte but the last that is read, wherever a token leaves or dies.
    pub(super) ends_anywhere: bool,
}

impl Inside {
    /// Whether it is told without reference to another, so that others may refer to it.
    pub(super) fn is_whole(&self) -> bool {
        self.without.is_empty() && self.own_exits.is_empty()
    }

    /// Whether some token leaves.
    pub(super) fn leaves(&self) -> bool {
        !self.exits.is_empty() || !self.own_exits.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Row(row) => size_of_val(&**row),
            Tokens::List(list) => size_of_val(&**list),
        };
        tokens
            + self.exits.memory_bytes()
            + self.own_exits.len() * 8
            + self.without.len() * 4
            + size_of::<Self>()
            + 64
    }
}

/// What a scan has found so far.
struct Found {
    live: ByteSet,
    exits: Vec<(u8, u32)>,
    ends_anywhere: bool,
    visited: usize,
}

impl Found {
    /// Goes from a node that leaves a residual to the first one below at which something else is left, and not nothing.
    fn pass(
        &mut self,
        (trie, at): (&Trie, usize),
        (rest, row): (Rest, &[Rest]),
        (kept, from): (&mut Vec<Range<u32>>, &mut u32),
    ) -> usize {
        let nodes = trie.nodes();
        let next = nodes[at].next as usize;
        let mut child = at + 1;
        while child < next {
            let node = nodes[child];
            let to = row[usize::from(node.byte)];
            if to == Rest::DEAD {
                if rest.ends() {
                    self.exits.push((node.byte, child as u32));
                }
                keep_run(kept, *from..trie.before(child));
                child = node.next as usize;
                *from = trie.before(child);
            } else if to == rest {
                if rest.ends() {
                    self.live.insert(node.byte);
                }
                child += 1;
            } else {
                break;
            }
            self.visited += 1;
        }
        child
    }

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
    pub(super) lane: Lane,
    pub(super) path: Vec<Rest>,
    siblings: Vec<Option<Siblings>>,
    pairs: Vec<(Rest, Rest)>,
    kept: Vec<Range<u32>>,
    agreement: IdMap<(RegexId, RegexId), u32>,
}

impl Scan {
    /// Whether text that a repetition reads is skipped.
    pub(super) fn use_stretches(&mut self, stretches: bool) {
        self.lane.stretches = stretches;
    }

    /// Reads what the vocabulary has at a place by a residual of a terminal.
    pub(super) fn whole(
        &mut self,
        (owner, residual): (u32, RegexId),
        place: Place,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        shared: &Shared,
        fuel: &mut Fuel,
    ) -> Result<Inside, Error> {
        let trie = vocabulary.trie();
        residuals.set_owner(owner);
        self.lane.clear();
        self.kept.clear();
        self.path.clear();
        self.path.resize(trie.longest() + 1, Rest::DEAD);
        self.siblings.resize(trie.longest() + 2, None);
        let mut front = Front::new(place, residual, residuals, trie, shared);
        let start = self.lane.start(front.rest, residuals);
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
        if place == Place::Root && tokens.begin_within(&first) {
            match self.lane.reads(start, tokens.below(), residuals, fuel)? {
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
        Ok(Inside {
            tokens,
            live: found.live,
            exits: Arc::new(Exits::new(found.exits)),
            without: Box::default(),
            own_exits: Box::default(),
            ends_anywhere: found.ends_anywhere,
        })
    }

    /// Reads a part of a trie of tokens, siblings with all that is below them.
    fn part(
        &mut self,
        (trie, part): (&Trie, Range<usize>),
        start: Rest,
        found: &mut Found,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let Self {
            lane,
            path,
            siblings,
            kept,
            ..
        } = self;
        let long = vocabulary.trie().nodes().len() / LONG;
        let nodes = trie.nodes();
        let Some(first) = nodes.get(part.start) else {
            return Ok(());
        };
        path[usize::from(first.depth) - 1] = start;
        siblings[usize::from(first.depth)] = None;
        let mut at = part.start;
        // Tokens are kept by the run: between two places where they die, all stay inside.
        let mut from = trie.before(part.start);
        while at < part.end {
            let node = nodes[at];
            let depth = usize::from(node.depth);
            let before = path[depth - 1];
            if let Some(siblings) = &mut siblings[depth] {
                let next = match lane.only(before, residuals) {
                    Some(byte) => siblings.next_of(trie, at, byte),
                    None => siblings.next(trie, at, |byte| {
                        Ok(lane.step(before, byte, residuals, fuel)? != Rest::DEAD)
                    })?,
                };
                if next != at {
                    keep_run(kept, from..trie.before(at));
                    from = trie.before(next);
                    at = next;
                    continue;
                }
            }
            found.visited += 1;
            lane.looking = found.visited > long;
            let rest = lane.step(before, node.byte, residuals, fuel)?;
            if rest == Rest::DEAD {
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
            // Where little is below, what the residual reads without change is passed in order, without asking first.
            let next = node.next as usize;
            if next - at <= SMALL
                && let Some(row) = lane.row(rest)
            {
                let child = found.pass((trie, at), (rest, row), (kept, &mut from));
                if child == next {
                    at = next;
                    continue;
                }
                if child > at + 1 {
                    let depths = depth..usize::from(nodes[child].depth);
                    path[depths.clone()].fill(rest);
                    siblings[depths.start + 1..=depths.end].fill(None);
                    at = child;
                    continue;
                }
            }
            if !rest.passes()
                && let Some(below) = trie.below(at)
                && let reads = lane.reads(rest, below, residuals, fuel)?
                && found.skip((trie, at), (below, reads), vocabulary, (kept, &mut from))
            {
                at = next;
                continue;
            }
            path[depth] = rest;
            // Where it may end, those that die leave.
            siblings[depth + 1] = if rest.ends() {
                None
            } else {
                Siblings::of(trie, at)
            };
            at += 1;
        }
        keep_run(kept, from..trie.before(part.end));
        Ok(())
    }

    /// The same as [`Self::whole`], by walking only where the residual and another differ whose tokens are known. The two
    /// take words of up to `near` bytes alike. None where they differ too much for this to be worth while.
    pub(super) fn beside(
        &mut self,
        (owner, residual): (u32, RegexId),
        (other, known, near): (RegexId, &Inside, u32),
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Option<Inside>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self {
            lane,
            pairs: path,
            agreement,
            ..
        } = self;
        residuals.set_owner(owner);
        lane.clear();
        agreement.clear();
        path.clear();
        path.resize(trie.longest() + 1, (Rest::DEAD, Rest::DEAD));
        path[0] = (lane.add(residual, false), lane.add(other, false));
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
            lane.looking = visited > nodes.len() / LONG;
            if visited > MOST_BESIDE && visited > at / BESIDE {
                return Ok(None);
            }
            let before = path[depth - 1];
            let mine = lane.step(before.0, node.byte, residuals, fuel)?;
            let theirs = lane.step(before.1, node.byte, residuals, fuel)?;
            if mine == Rest::DEAD {
                let exit = before.0.ends();
                if exit != (theirs == Rest::DEAD && before.1.ends()) {
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
                if theirs == Rest::DEAD && before.1.ends() {
                    below(trie, at, &mut without);
                }
            }
            let same = mine == theirs
                || match (lane.residual(mine), lane.residual(theirs)) {
                    (Some(a), Some(b)) if mine != Rest::DEAD && theirs != Rest::DEAD => {
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
                && let Reads::All { may_end } = lane.reads(mine, below, residuals, fuel)?
                && let Reads::All { .. } = lane.reads(theirs, below, residuals, fuel)?
            {
                if may_end {
                    live = live.union(&below.bytes());
                }
                // The node itself is no difference either: both are alive.
                at = node.next as usize;
                continue;
            }
            path[depth] = (mine, theirs);
            match (mine == Rest::DEAD, theirs == Rest::DEAD) {
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
        Ok(Some(Inside {
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

/// A trie of what is left of tokens behind the places where they leave.
fn rest_trie(exits: &[(u8, u32)], vocabulary: &Vocabulary) -> Trie {
    let trie = vocabulary.trie();
    let mut rests: Vec<(u32, &[u8])> = Vec::new();
    for &(_, exit) in exits {
        let exit = exit as usize;
        let inside = usize::from(trie.nodes()[exit].depth) - 1;
        for at in exit..trie.nodes()[exit].next as usize {
            let tokens = trie.tokens(at).iter();
            rests.extend(tokens.map(|&id| (id, &vocabulary.token(id)[inside..])));
        }
    }
    Trie::new(rests.into_iter())
}

/// Tokens without some and with others.
pub(super) fn changed(
    known: &Tokens,
    removed: &[u32],
    added: &[u32],
    vocabulary: &Vocabulary,
) -> Tokens {
    match known {
        known if removed.is_empty() && added.is_empty() => known.clone(),
        Tokens::List(list) if list.len() + added.len() <= SPARSE => {
            let mut removed = removed.to_vec();
            removed.sort_unstable();
            let mut list = list.to_vec();
            list.retain(|id| removed.binary_search(id).is_err());
            list.extend_from_slice(added);
            Tokens::List(list.into())
        }
        known => {
            let change = |row: &mut [i32]| {
                for &id in removed {
                    refuse(row, id);
                }
                allow_all(row, added);
            };
            match known {
                Tokens::Row(row) => Tokens::row(row.iter().copied(), change),
                Tokens::List(list) => Tokens::row(nothing(vocabulary), |row| {
                    allow_all(row, list);
                    change(row);
                }),
            }
        }
    }
}
