//! The fast way to a mask: what is known of each terminal by itself, put together.
//!
//! A token that may come next is read by one terminal of one thread: wholly inside of it, or leaving it at an exit with a
//! rest that what follows takes. So the mask is the union over terminals, and terminals may be handled in different ways:
//! wide ones by their [`Inside`], narrow ones all together by a walk.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntagma_grammar::ir::ByteSet;

use super::inside::{Inside, Tokens};
use super::memo::Mask;
use super::shared::Shared;
use super::walk::{symbols, walk, whole};
use crate::automaton::{RegexId, UnionId};
use crate::earley::{Frames, Recognizer, SetId, StateId};
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::vocabulary::{Vocabulary, bitmask_words};

/// So many terminals or fewer are looked up one by one, however narrow.
const FEW: usize = 2;

/// Whole scans that one mask may cost; further terminals are walked.
const SCANS: usize = 8;

/// A terminal that may begin with so many bytes is compared with another before the vocabulary is read by it.
const MANY: u32 = 32;

/// Tokens of up to so many bytes are short.
const NEAR: u32 = 32;

/// A terminal is wide if it may begin with so many bytes behind each of which so many may follow.
const WIDE: (usize, u32) = (9, 10);

/// What one grammar remembers of terminals, with work space.
#[derive(Debug)]
pub(crate) struct Composer {
    shared: Arc<Shared>,
    layers: Layers,
    insides: FxHashMap<RegexId, Arc<Inside>>,
    bytes: usize,
    wide: FxHashMap<RegexId, bool>,
    lane: Vec<UnionId>,
}

/// One terminal of one thread: its set, its tag there, what remains of it.
type Part = (SetId, u32, RegexId);

impl Composer {
    /// Remembers nothing yet but what other grammars have found out.
    pub(crate) fn new(shared: Arc<Shared>, layers: Layers) -> Self {
        Self {
            shared,
            layers,
            insides: FxHashMap::default(),
            bytes: 0,
            wide: FxHashMap::default(),
            lane: Vec::new(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes + self.insides.len() * 32 + self.wide.len() * 16
    }

    pub(crate) fn forget(&mut self) {
        self.insides.clear();
        self.bytes = 0;
        self.wide.clear();
    }

    /// The tokens that may come next in a state.
    pub(crate) fn mask(
        &mut self,
        recognizer: &mut Recognizer,
        vocabulary: &Vocabulary,
        state: StateId,
        frames: &mut Frames,
        limits: &Limits,
    ) -> Result<Mask, Error> {
        let fuel = &mut Fuel::step(limits);
        let mut out = Out::default();
        symbols(recognizer, vocabulary, state, &mut out.ids, fuel)?;
        let mut parts: Vec<Part> = Vec::new();
        for &(set, union) in recognizer.state(state).threads {
            let union = recognizer.unions.parts(union);
            parts.extend(union.iter().map(|&(tag, residual)| (set, tag, residual)));
        }
        let mut scans = SCANS;
        let mut narrow = Vec::new();
        if parts.len() > FEW {
            for part in parts {
                if !self.is_wide(part, recognizer, fuel)?
                    || !self.terminal(
                        part, recognizer, vocabulary, frames, &mut scans, limits, &mut out, fuel,
                    )?
                {
                    narrow.push(part);
                }
            }
            parts = std::mem::take(&mut narrow);
        }
        if parts.len() <= FEW {
            for part in parts {
                if !self.terminal(
                    part, recognizer, vocabulary, frames, &mut scans, limits, &mut out, fuel,
                )? {
                    narrow.push(part);
                }
            }
        } else {
            narrow = parts;
        }
        self.narrow(narrow, recognizer, vocabulary, frames, &mut out, fuel)?;
        Ok(out.finish(vocabulary))
    }

    /// Adds the tokens of terminals that begin with few bytes, blanks aside, by walks behind these bytes.
    fn narrow(
        &mut self,
        mut parts: Vec<Part>,
        recognizer: &mut Recognizer,
        vocabulary: &Vocabulary,
        frames: &mut Frames,
        out: &mut Out,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let trie = vocabulary.trie();
        while let Some(&(_, _, residual)) = parts.first() {
            // Terminals that the same blanks may lead go together.
            let residuals = recognizer.unions.residuals();
            let (set, most, _) = residuals.lead(residual);
            let mut together: Vec<Part> = Vec::new();
            parts.retain(|&(thread, tag, residual)| {
                let (other, other_most, rest) = residuals.lead(residual);
                let same = (other, other_most) == (set, most);
                if same {
                    together.push((thread, tag, rest));
                }
                !same
            });
            let mut threads = Vec::new();
            let mut first = ByteSet::EMPTY;
            for same in together.chunk_by(|a, b| a.0 == b.0) {
                let union = same.iter().map(|&(_, tag, rest)| (tag, rest)).collect();
                let union = recognizer.unions.intern(union);
                first = first.union(&recognizer.unions.first(union));
                threads.push((same[0].0, union));
            }
            let runs = self.shared.runs(trie, &set);
            out.ids.extend(runs.tokens(most));
            let (lane, ids) = (&mut self.lane, &mut out.ids);
            runs.branches(trie, most, &first, |branch| {
                let part = branch..trie.nodes()[branch].next as usize;
                frames.load_threads(&threads);
                let found = |id| ids.push(id);
                walk(recognizer, trie, part, frames, lane, fuel, found)
            })?;
        }
        Ok(())
    }

    /// Adds the tokens of one terminal; false, with nothing added, if they have to be walked.
    // The parts of what is being filled in; they are borrowed apart.
    #[allow(clippy::too_many_arguments)]
    fn terminal(
        &mut self,
        (set, tag, residual): Part,
        recognizer: &mut Recognizer,
        vocabulary: &Vocabulary,
        frames: &mut Frames,
        scans: &mut usize,
        limits: &Limits,
        out: &mut Out,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let Some(inside) = self.inside(tag, residual, recognizer, vocabulary, scans, limits) else {
            return Ok(false);
        };
        let fired = recognizer.unions.fire(vec![tag]);
        let behind = recognizer.goto(&[(set, fired)], fuel)?;
        let next = behind
            .set
            .map_or(UnionId::DEAD, |set| recognizer.sets.union(set));
        let first = recognizer.unions.first(next);
        let dead_end = behind.set.is_none() && !behind.accept;
        if dead_end || !first.intersection(&inside.live).is_empty() {
            return Ok(false);
        }
        out.add(&inside.tokens);
        let Some(behind) = behind.set.filter(|_| next != UnionId::DEAD) else {
            return Ok(true);
        };
        let thread = [(behind, next)];
        let ids = &mut out.ids;
        let mut leaving = |id| {
            if inside.without.is_empty() || inside.without.binary_search(&id).is_err() {
                ids.push(id);
            }
        };
        let rests = inside.exits.rests(vocabulary);
        if let Some(rests) = rests {
            frames.load_threads(&thread);
            walk(
                recognizer,
                rests,
                whole(rests),
                frames,
                &mut self.lane,
                fuel,
                &mut leaving,
            )?;
        }
        let trie = vocabulary.trie();
        let mut walk_below = |exits: &[(u8, u32)], found: &mut dyn FnMut(u32)| {
            for byte in bytes_of(&first, exits) {
                let from = exits.partition_point(|&(exit, _)| exit < byte);
                for &(_, node) in exits[from..].iter().take_while(|&&(exit, _)| exit == byte) {
                    let part = node as usize..trie.nodes()[node as usize].next as usize;
                    frames.load_threads(&thread);
                    walk(
                        recognizer,
                        trie,
                        part,
                        frames,
                        &mut self.lane,
                        fuel,
                        &mut *found,
                    )?;
                }
            }
            Ok::<(), Error>(())
        };
        if rests.is_none() {
            walk_below(inside.exits.nodes(), &mut leaving)?;
        }
        walk_below(&inside.own_exits, &mut |id| ids.push(id))?;
        Ok(true)
    }

    /// What is known of a residual; None if it cannot be found out within the limits.
    fn inside(
        &mut self,
        tag: u32,
        residual: RegexId,
        recognizer: &mut Recognizer,
        vocabulary: &Vocabulary,
        scans: &mut usize,
        limits: &Limits,
    ) -> Option<Arc<Inside>> {
        if let Some(known) = self.insides.get(&residual) {
            return Some(Arc::clone(known));
        }
        // Scans have their own fuel: whether a mask can be computed must not depend on what is known already.
        let fuel = &mut Fuel::scan(limits);
        let unions = &mut recognizer.unions;
        // What is made for comparison is not the terminal's own.
        let aside = tag | 1 << 31;
        unions.residuals().set_owner(aside);
        let longest = vocabulary.trie().longest() as u32;
        let shape = unions.residuals().uncounted(residual, longest, fuel).ok()?;
        let fingerprint = unions.residuals().fingerprint(shape);
        let remembers = self.layers.has(Layer::Terminals);
        let known = if remembers {
            self.shared.get(fingerprint)
        } else {
            None
        };
        let inside = if let Some(known) = known {
            known
        } else {
            *scans = scans.checked_sub(1)?;
            let shared = &*self.shared;
            // Few tokens are long, so a residual that treats the short ones alike is a good one to start from.
            let near = unions.residuals().uncounted(residual, NEAR, fuel).ok()?;
            let other = if unions.residuals().first(shape).len() < MANY
                || !self.layers.has(Layer::Beside)
            {
                None
            } else if !unions.residuals().is_logical(shape) {
                (near != shape).then_some((near, NEAR))
            } else if unions.residuals().same_head(near, shape) {
                let plainer = unions.residuals().plainer(shape, longest, fuel).ok()?;
                plainer.map(|plainer| (plainer, 0))
            } else {
                Some((near, NEAR))
            };
            let stretches = self.layers.has(Layer::Stretches);
            let made = shared.with_scan(|scan| {
                scan.use_stretches(stretches);
                let part = (if shape == residual { tag } else { aside }, shape);
                if let Some((other, near)) = other {
                    let fingerprint = unions.residuals().fingerprint(other);
                    let known = if let Some(known) = shared.get(fingerprint) {
                        known
                    } else {
                        let other = (aside, other);
                        let known =
                            scan.whole(other, unions.residuals(), vocabulary, shared, fuel)?;
                        let known = Arc::new(known);
                        shared.put(fingerprint, &known);
                        known
                    };
                    let other = (other, &*known, near);
                    if known.is_whole()
                        && let Some(made) = scan.beside(
                            (aside, shape),
                            other,
                            unions.residuals(),
                            vocabulary,
                            fuel,
                        )?
                    {
                        return Ok(made);
                    }
                }
                scan.whole(part, unions.residuals(), vocabulary, shared, fuel)
            });
            let made: Result<Inside, Error> = made;
            let made = Arc::new(made.ok()?);
            if remembers {
                self.shared.put(fingerprint, &made);
            }
            made
        };
        if remembers {
            self.bytes += inside.memory_bytes();
            self.insides.insert(residual, Arc::clone(&inside));
        }
        Some(inside)
    }

    /// Whether a terminal is worth being looked at by itself.
    fn is_wide(
        &mut self,
        (_, tag, residual): Part,
        recognizer: &mut Recognizer,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        if let Some(&known) = self.wide.get(&residual) {
            return Ok(known);
        }
        let residuals = recognizer.unions.residuals();
        let first = residuals.first(residual);
        let mut wide = 0;
        if first.len() as usize >= WIDE.0 {
            residuals.set_owner(tag);
            for byte in first.iter() {
                let rest = residuals.step(residual, byte, fuel)?;
                wide += usize::from(residuals.first(rest).len() >= WIDE.1);
                if wide >= WIDE.0 {
                    break;
                }
            }
        }
        let wide = wide >= WIDE.0;
        self.wide.insert(residual, wide);
        Ok(wide)
    }
}

/// The bytes of a set at which some exit is.
fn bytes_of(set: &ByteSet, exits: &[(u8, u32)]) -> Vec<u8> {
    if exits.is_empty() {
        return Vec::new();
    }
    set.iter().collect()
}

/// A mask in the making.
#[derive(Default)]
struct Out {
    base: Option<Arc<[i32]>>,
    ids: Vec<u32>,
    /// Further rows that are allowed.
    more: Vec<Arc<[i32]>>,
}

impl Out {
    fn add(&mut self, tokens: &Tokens) {
        match tokens {
            Tokens::Ids(ids) => self.ids.extend_from_slice(ids),
            Tokens::Row(row) if self.base.is_none() => self.base = Some(Arc::clone(row)),
            Tokens::Row(row) => self.more.push(Arc::clone(row)),
        }
    }

    fn finish(self, vocabulary: &Vocabulary) -> Mask {
        if self.more.is_empty() {
            return Mask::new(self.base, &self.ids, bitmask_words(vocabulary.size()));
        }
        let mut row = self.base.map_or_else(Vec::new, |base| base.to_vec());
        for more in self.more {
            for (word, more) in row.iter_mut().zip(&*more) {
                *word |= more;
            }
        }
        Mask::new(
            Some(row.into()),
            &self.ids,
            bitmask_words(vocabulary.size()),
        )
    }
}
