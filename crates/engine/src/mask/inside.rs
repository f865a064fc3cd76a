//! What one residual of a terminal means to the whole vocabulary, whatever grammar it stands in.
//!
//! Read by the residual alone, a token stays inside (all of it is consumed, and something or the empty string is left), or
//! it dies. Where it dies right behind a place at which the terminal may end, the rest of the token belongs to what follows
//! the terminal: an exit. It may also have passed such places and gone on; as long as what follows cannot begin with a byte
//! on which the residual went on, those lead nowhere, and the exits are all that is left to decide.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntagma_grammar::ir::ByteSet;

use super::lane::{Lane, Rest};
use super::memo::SPARSE;
use super::row::allow;
use super::shared::Shared;
use crate::automaton::{RegexId, Unions};
use crate::error::Error;
use crate::limits::Fuel;
use crate::vocabulary::{Trie, Vocabulary, bitmask_words};

/// From so many exits on, the rests of the tokens get a trie of their own.
const EXITS: usize = 24;

/// Up to so many tokens in it.
const CROSSING: usize = 8_192;

/// A walk beside another residual may visit one in so many nodes.
const BESIDE: usize = 4;

/// Tokens, as what takes less room.
#[derive(Debug, Clone)]
pub(super) enum Tokens {
    /// A whole row.
    Row(Arc<[i32]>),
    /// The ids.
    Ids(Arc<[u32]>),
}

/// Nodes of the vocabulary's trie at which a token leaves the terminal, by their bytes.
pub(super) type Exits = Arc<[(u8, u32)]>;

/// The tokens of one residual.
#[derive(Debug)]
pub(super) struct Inside {
    /// The tokens that stay inside.
    pub(super) tokens: Tokens,
    /// Bytes on which it goes on where it might have ended; perhaps more.
    pub(super) live: ByteSet,
    /// What is left of the tokens that leave, except those of `exits` and `own_exits`.
    pub(super) rests: Option<Arc<Trie>>,
    /// Nodes whose subtrees leave.
    pub(super) exits: Exits,
    /// Tokens in `rests` and below `exits` that do not leave after all; ascending.
    pub(super) without: Box<[u32]>,
    /// Nodes whose subtrees leave, whatever `without` says.
    pub(super) own_exits: Box<[(u8, u32)]>,
}

impl Inside {
    /// Whether it is told without reference to another, so that others may refer to it.
    pub(super) fn is_whole(&self) -> bool {
        self.without.is_empty() && self.own_exits.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let tokens = match &self.tokens {
            Tokens::Row(row) => size_of_val(&**row),
            Tokens::Ids(ids) => size_of_val(&**ids),
        };
        let rests = self.rests.as_ref().map_or(0, |rests| rests.memory_bytes());
        tokens
            + rests
            + (self.exits.len() + self.own_exits.len()) * 8
            + self.without.len() * 4
            + size_of::<Self>()
            + 64
    }
}

/// Work space of scans.
#[derive(Debug, Default)]
pub(super) struct Scan {
    lane: Lane,
    path: Vec<(Rest, Rest)>,
    ids: Vec<u32>,
    agreement: FxHashMap<(RegexId, RegexId), u32>,
}

impl Scan {
    /// Reads the whole vocabulary by a residual, tagged as in the unions of its grammar.
    pub(super) fn whole(
        &mut self,
        (tag, residual): (u32, RegexId),
        unions: &mut Unions,
        vocabulary: &Vocabulary,
        shared: &Shared,
        fuel: &mut Fuel,
    ) -> Result<Inside, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self {
            lane, path, ids, ..
        } = self;
        lane.clear();
        if ids.len() < trie.room() {
            ids.resize(trie.room(), 0);
        }
        let mut count = 0;
        path.clear();
        path.resize(trie.longest() + 1, (Rest::DEAD, Rest::DEAD));
        let mut live = ByteSet::EMPTY;
        let mut exits: Vec<(u8, u32)> = Vec::new();
        let mut visited = 0;
        // Bytes that lead are not part of any end, so what is behind them can be read by the rest alone.
        let (set, most, rest) = unions.residuals().lead(residual);
        let runs = shared.runs(trie, &set);
        for id in runs.tokens(most) {
            ids[count] = id;
            count += 1;
        }
        let start = lane.add(unions.intern(vec![(tag, rest)]), false);
        let first = unions.residuals().first(rest);
        runs.branches(trie, most, &first, |branch| {
            path[usize::from(nodes[branch].depth) - 1].0 = start;
            let mut at = branch;
            let end = nodes[branch].next as usize;
            while at < end {
                let node = nodes[at];
                let depth = usize::from(node.depth);
                let before = path[depth - 1].0;
                visited += 1;
                let rest = lane.step(before, node.byte, unions, fuel)?;
                if rest == Rest::DEAD {
                    if before.ends() {
                        exits.push((node.byte, at as u32));
                    }
                    at = node.next as usize;
                    continue;
                }
                if before.ends() {
                    live.insert(node.byte);
                }
                path[depth].0 = rest;
                trie.write_tokens(at, ids, &mut count);
                at += 1;
            }
            Ok::<(), Error>(())
        })?;
        fuel.spend(visited)?;
        let ids = &ids[..count];
        let tokens = if ids.len() > SPARSE {
            let mut row = vec![0; bitmask_words(vocabulary.size())];
            for &id in ids {
                allow(&mut row, id);
            }
            Tokens::Row(row.into())
        } else {
            Tokens::Ids(ids.into())
        };
        let mut rests = None;
        if exits.len() >= EXITS {
            let crossing = exits
                .iter()
                .map(|&(_, node)| nodes[node as usize].next - node);
            if crossing.sum::<u32>() as usize <= CROSSING * 2 {
                rests = Some(Arc::new(rest_trie(&exits, vocabulary)));
                exits.clear();
            }
        }
        exits.sort_unstable();
        Ok(Inside {
            tokens,
            live,
            rests,
            exits: exits.into(),
            without: Box::default(),
            own_exits: Box::default(),
        })
    }

    /// The same as [`Self::whole`], by walking only where the residual and another differ whose tokens are known. The two
    /// take words of up to `near` bytes alike. None where they differ too much for this to be worth while.
    pub(super) fn beside(
        &mut self,
        (tag, residual): (u32, RegexId),
        (other, known, near): (RegexId, &Inside, u32),
        unions: &mut Unions,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Option<Inside>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self {
            lane,
            path,
            agreement,
            ..
        } = self;
        lane.clear();
        agreement.clear();
        path.clear();
        path.resize(trie.longest() + 1, (Rest::DEAD, Rest::DEAD));
        path[0].0 = lane.add(unions.intern(vec![(tag, residual)]), false);
        path[0].1 = lane.add(unions.intern(vec![(tag, other)]), false);
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
            if visited > nodes.len() / BESIDE {
                return Ok(None);
            }
            let before = path[depth - 1];
            let mine = lane.step(before.0, node.byte, unions, fuel)?;
            let theirs = lane.step(before.1, node.byte, unions, fuel)?;
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
                || mine != Rest::DEAD && theirs != Rest::DEAD && {
                    let pair = (lane.residual(mine, unions), lane.residual(theirs, unions));
                    let bytes = if let Some(&known) = agreement.get(&pair) {
                        known
                    } else {
                        let bytes = unions.agreement(pair.0, pair.1, fuel)?;
                        agreement.insert(pair, bytes);
                        bytes
                    };
                    node.height < u8::MAX && bytes >= u32::from(node.height)
                };
            if same {
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
            rests: known.rests.clone(),
            exits: Arc::clone(&known.exits),
            without: without.into(),
            own_exits: own_exits.into(),
        }))
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
fn changed(known: &Tokens, removed: &[u32], added: &[u32], vocabulary: &Vocabulary) -> Tokens {
    match known {
        known if removed.is_empty() && added.is_empty() => known.clone(),
        Tokens::Ids(ids) if ids.len() + added.len() <= SPARSE => {
            let mut removed = removed.to_vec();
            removed.sort_unstable();
            let kept = ids.iter().chain(added).copied();
            Tokens::Ids(
                kept.filter(|id| removed.binary_search(id).is_err())
                    .collect(),
            )
        }
        known => {
            let mut row = match known {
                Tokens::Row(row) => row.to_vec(),
                Tokens::Ids(ids) => {
                    let mut row = vec![0; bitmask_words(vocabulary.size())];
                    for &id in &**ids {
                        allow(&mut row, id);
                    }
                    row
                }
            };
            for &id in removed {
                row[id as usize / 32] &= !(1 << (id % 32));
            }
            for &id in added {
                allow(&mut row, id);
            }
            Tokens::Row(row.into())
        }
    }
}
