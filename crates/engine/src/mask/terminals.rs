//! Classifications of terminals, for one grammar: what it has found out, or what others of the vocabulary have. For
//! `compose`, by way of scans, deltas to similar terminals, and exclusions.

use std::sync::Arc;

use syntagma_grammar::ir::ByteSet;

use super::classification::Anchor;
use super::classification::{Classification, changed};
use super::classification::{MidAccept, RestTrie};
use super::lazy_dfa::{DfaState, Reads};
use super::scan::{Scan, ScanStart};
use super::shared::Shared;
use crate::automaton::{Exclusion, ExprId, LexerStateId, LexerStates, Residuals};
use crate::error::Error;
use crate::layers::{Layer, Layers};
use crate::limits::{Fuel, Limits};
use crate::maps::{IdMap, IdSet};
use crate::tuning;
use crate::vocabulary::{Trie, Vocabulary};

/// Marks what is made for comparison, which is not the terminal's own.
const ASIDE: u32 = 1 << 31;

/// What one mask may still spend on reading the vocabulary, and whose it is.
pub(super) struct Reading<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) limits: &'a Limits,
    nodes: usize,
}

impl<'a> Reading<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary, limits: &'a Limits) -> Self {
        let nodes = vocabulary
            .trie()
            .nodes()
            .len()
            .saturating_mul(tuning::SCANS_PER_MASK);
        Self {
            vocabulary,
            limits,
            nodes,
        }
    }

    /// Takes off what is at a place; None if that is too much.
    fn spend(&mut self, place: Anchor) -> Option<()> {
        let nodes = place.size(self.vocabulary.trie());
        self.nodes = self.nodes.checked_sub(nodes)?;
        Some(())
    }
}

/// The terminals of one grammar.
#[derive(Debug)]
pub(super) struct Terminals {
    shared: Arc<Shared>,
    layers: Layers,
    classifications: IdMap<(ExprId, Anchor), Arc<Classification>>,
    rest_tries: IdMap<(ExprId, Anchor, MidAccept), RestTrie>,
    /// By residual: what it leaves out of another.
    exclusions: IdMap<ExprId, Option<Arc<Exclusion>>>,
    /// Narrow terminals that have been walked.
    walked: IdSet<(ExprId, Anchor)>,
    bytes: usize,
    wide: IdMap<ExprId, bool>,
    with_wide: IdMap<LexerStateId, bool>,
}

impl Terminals {
    /// Knows nothing yet but what other grammars have found out.
    pub(super) fn new(shared: Arc<Shared>, layers: Layers) -> Self {
        Self {
            shared,
            layers,
            classifications: IdMap::default(),
            rest_tries: IdMap::default(),
            exclusions: IdMap::default(),
            walked: IdSet::default(),
            bytes: 0,
            wide: IdMap::default(),
            with_wide: IdMap::default(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes
            + (self.classifications.len() + self.rest_tries.len()) * 40
            + self.exclusions.len() * 128
            + self.walked.len() * 56
            + (self.wide.len() + self.with_wide.len()) * 16
    }

    pub(super) fn forget(&mut self) {
        *self = Self::new(Arc::clone(&self.shared), self.layers);
    }

    pub(super) fn has(&self, layer: Layer) -> bool {
        self.layers.has(layer)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// What is known of a residual at a place; None if it cannot be found out within the limits.
    pub(super) fn classification(
        &mut self,
        (tag, residual): (u32, ExprId),
        place: Anchor,
        residuals: &mut Residuals,
        reading: &mut Reading,
    ) -> Option<Arc<Classification>> {
        if let Some(known) = self.classifications.get(&(residual, place)) {
            return Some(Arc::clone(known));
        }
        // Scans have their own fuel: whether a mask can be computed must not depend on what is known already.
        let fuel = &mut Fuel::scan(reading.limits);
        let aside = tag | ASIDE;
        if let Anchor::Root | Anchor::Behind(_) = place
            && let Some(exclusion) = self.exclusion((tag, residual), residuals, fuel)
        {
            let known = self.classification((aside, exclusion.plain), place, residuals, reading)?;
            if known.is_whole() {
                let start = match place {
                    Anchor::Behind(node) => Some(node as usize),
                    _ => None,
                };
                let made = excluded(&known, &exclusion, start, residuals, reading.vocabulary);
                self.remember(residual, place, &made);
                return Some(made);
            }
        }
        let shape = shape(aside, residual, residuals, reading, fuel)?;
        let fingerprint = residuals.fingerprint(shape);
        let remembers = self.layers.has(Layer::Terminals);
        let fingerprint = fingerprint.filter(|_| remembers);
        let known = fingerprint.and_then(|known| self.shared.get(known, place));
        let classification = if let Some(known) = known {
            known
        } else {
            reading.spend(place)?;
            let made = if place == Anchor::Root {
                self.delta(
                    (residual, shape),
                    aside,
                    residuals,
                    reading.vocabulary,
                    fuel,
                )
                .ok()?
            } else {
                None
            };
            let part = (if shape == residual { tag } else { aside }, shape);
            let whole = || self.whole(part, place, residuals, reading.vocabulary, fuel);
            Arc::new(made.map_or_else(whole, Ok).ok()?)
        };
        if let Some(fingerprint) = fingerprint {
            self.shared.put(fingerprint, place, &classification);
        }
        self.remember(residual, place, &classification);
        Some(classification)
    }

    /// Whether a terminal has been at a place before: then it will be again, and is worth being looked at by itself.
    pub(super) fn returns(&mut self, residual: ExprId, place: Anchor) -> bool {
        self.layers.has(Layer::Terminals) && !self.walked.insert((residual, place))
    }

    fn remember(&mut self, residual: ExprId, place: Anchor, classification: &Arc<Classification>) {
        if self.layers.has(Layer::Terminals) {
            self.bytes += classification.memory_bytes();
            self.classifications
                .insert((residual, place), Arc::clone(classification));
        }
    }

    /// What a residual leaves out of another, if that is known to be all there is between the two.
    fn exclusion(
        &mut self,
        (tag, residual): (u32, ExprId),
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Option<Arc<Exclusion>> {
        if !residuals.is_logical(residual) || !self.layers.has(Layer::Exclusions) {
            return None;
        }
        if let Some(known) = self.exclusions.get(&residual) {
            return known.clone();
        }
        residuals.set_owner(tag | ASIDE);
        let found = residuals.exclusion(residual, fuel);
        let found = found.ok().flatten().map(Arc::new);
        self.exclusions.insert(residual, found.clone());
        found
    }

    /// Reads the vocabulary by a residual.
    fn whole(
        &self,
        part: (u32, ExprId),
        place: Anchor,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Classification, Error> {
        let front = front(place, part.1, residuals, vocabulary, &self.shared);
        self.shared
            .with_scan(|scan| scan.whole(part, (place, front), residuals, vocabulary, fuel))
    }

    /// The same only where another residual differs that treats short tokens alike: without the counts that those cannot
    /// exceed. None where there is none, or the two differ too much.
    fn delta(
        &self,
        (residual, shape): (ExprId, ExprId),
        aside: u32,
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Option<Classification>, Error> {
        if residuals.first(shape).len() < tuning::DELTA_FIRST_BYTES
            || !self.layers.has(Layer::Delta)
        {
            return Ok(None);
        }
        let mut found = None;
        for near in tuning::SHORT_TOKENS {
            let other = residuals.uncounted(residual, near, fuel)?;
            let differs = if residuals.is_logical(shape) {
                !residuals.same_head(other, shape)
            } else {
                other != shape
            };
            if differs {
                found = Some((other, near));
                break;
            }
        }
        let Some((other, near)) = found else {
            return Ok(None);
        };
        let fingerprint = residuals.fingerprint(other);
        let known = fingerprint.and_then(|known| self.shared.get(known, Anchor::Root));
        let known = if let Some(known) = known {
            known
        } else {
            let made = self.whole((aside, other), Anchor::Root, residuals, vocabulary, fuel)?;
            let made = Arc::new(made);
            if let Some(fingerprint) = fingerprint {
                self.shared.put(fingerprint, Anchor::Root, &made);
            }
            made
        };
        if !known.is_whole() {
            return Ok(None);
        }
        let other = (other, &*known, near);
        self.shared
            .with_scan(|scan| scan.delta((aside, shape), other, residuals, vocabulary, fuel))
    }

    /// What tokens have where they leave a residual at a byte on which it goes on, for each of these bytes; None if that
    /// is too much, or cannot be found out within the limits.
    pub(super) fn rest_tries(
        &mut self,
        (tag, residual): (u32, ExprId),
        (place, accepts): (Anchor, &[MidAccept]),
        classification: &Classification,
        residuals: &mut Residuals,
        reading: &mut Reading,
    ) -> Option<Vec<Arc<Trie>>> {
        let mut tries = Vec::new();
        let mut missing = Vec::new();
        for &accept in accepts {
            match self.rest_tries.get(&(residual, place, accept)) {
                Some(RestTrie(known)) => tries.push(Arc::clone(known.as_ref()?)),
                None => missing.push(accept),
            }
        }
        if missing.is_empty() {
            return Some(tries);
        }
        let fuel = &mut Fuel::scan(reading.limits);
        let aside = tag | ASIDE;
        let shape = shape(aside, residual, residuals, reading, fuel)?;
        let fingerprint = residuals.fingerprint(shape);
        let remembers = self.layers.has(Layer::Terminals);
        let fingerprint = fingerprint.filter(|_| remembers);
        let mut unknown = Vec::new();
        let mut found = Vec::new();
        for accept in missing {
            match fingerprint.and_then(|known| self.shared.rest_trie(known, place, accept)) {
                Some(trie) => found.push((accept, trie)),
                None => unknown.push(accept),
            }
        }
        if !unknown.is_empty() {
            let vocabulary = reading.vocabulary;
            let shared = &*self.shared;
            let made = if let Some(made) =
                from_exits(classification, (place, &unknown), vocabulary, fuel).ok()?
            {
                made
            } else {
                reading.spend(place)?;
                let front = front(place, shape, residuals, vocabulary, shared);
                let made = shared.with_scan(|scan| {
                    scan.rest_tries(aside, (front, &unknown), residuals, vocabulary, fuel)
                });
                made.ok()?
            };
            for (accept, trie) in made {
                if let Some(fingerprint) = fingerprint {
                    shared.put_rest_trie(fingerprint, place, accept, &trie);
                }
                found.push((accept, trie));
            }
        }
        for (accept, trie) in found {
            if remembers {
                self.bytes += trie.memory_bytes();
                let key = (residual, place, accept);
                self.rest_tries.insert(key, trie.clone());
            }
            tries.push(trie.0?);
        }
        Some(tries)
    }

    /// Whether a terminal is worth being looked at by itself.
    pub(super) fn is_wide(
        &mut self,
        (tag, residual): (u32, ExprId),
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        if let Some(&known) = self.wide.get(&residual) {
            return Ok(known);
        }
        if let Some(exclusion) = self.exclusion((tag, residual), residuals, fuel) {
            let wide = self.is_wide((tag, exclusion.plain), residuals, fuel)?;
            self.wide.insert(residual, wide);
            return Ok(wide);
        }
        let first = residuals.first(residual);
        let mut wide = 0;
        if first.len() as usize >= tuning::WIDE_FIRST_BYTES {
            residuals.set_owner(tag);
            for byte in first.iter() {
                let rest = residuals.step(residual, byte, fuel)?;
                wide += usize::from(residuals.first(rest).len() >= tuning::WIDE_NEXT_BYTES);
                if wide >= tuning::WIDE_FIRST_BYTES {
                    break;
                }
            }
        }
        let wide = wide >= tuning::WIDE_FIRST_BYTES;
        self.wide.insert(residual, wide);
        Ok(wide)
    }

    /// Whether some terminal of a lexer state is.
    pub(super) fn has_wide(
        &mut self,
        lexer_state: LexerStateId,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<bool, Error> {
        let lexer_state = lexer.representative(lexer_state, fuel)?;
        if let Some(&known) = self.with_wide.get(&lexer_state) {
            return Ok(known);
        }
        let mut wide = false;
        for index in 0..lexer.parts(lexer_state).len() {
            let part = lexer.parts(lexer_state)[index];
            wide = wide || self.is_wide(part, lexer.residuals(), fuel)?;
        }
        self.with_wide.insert(lexer_state, wide);
        Ok(wide)
    }
}

/// The residual as far as tokens can tell.
fn shape(
    aside: u32,
    residual: ExprId,
    residuals: &mut Residuals,
    reading: &Reading,
    fuel: &mut Fuel,
) -> Option<ExprId> {
    if !residuals.has(Layer::Unreachable) {
        return Some(residual);
    }
    residuals.set_owner(aside);
    let longest = reading.vocabulary.trie().longest() as u32;
    residuals.uncounted(residual, longest, fuel).ok()
}

/// How a residual begins to read the vocabulary at an anchor.
fn front(
    anchor: Anchor,
    residual: ExprId,
    residuals: &Residuals,
    vocabulary: &Vocabulary,
    shared: &Shared,
) -> ScanStart {
    let trie = vocabulary.trie();
    ScanStart::new(anchor, residual, residuals, trie, |set| {
        shared.runs(trie, set)
    })
}

// ---
// The classification of a residual that is another one but for some words, from that of the other: hardly any token
// differs.

/// The tokens of such a residual from those of the plain one, both behind a node (None: the root): of these, the ones go in
/// which a word is followed by the tail.
pub(super) fn excluded(
    known: &Arc<Classification>,
    exclusion: &Exclusion,
    start: Option<usize>,
    residuals: &Residuals,
    vocabulary: &Vocabulary,
) -> Arc<Classification> {
    let trie = vocabulary.trie();
    let first = residuals.first(exclusion.tail);
    let (mut removed, mut without) = (Vec::new(), Vec::new());
    for_ends(trie, start, &exclusion.words, |end| {
        for byte in first.iter() {
            let Some(node) = trie.child(end, byte) else {
                continue;
            };
            let next = trie.nodes()[node].next as usize;
            let tokens = trie.before(node) as usize..trie.before(next) as usize;
            let tokens = &trie.order()[tokens];
            removed.extend(tokens.iter().filter(|&&id| known.tokens.has(id)));
            if known.exits.any_in(node..next) {
                without.extend_from_slice(tokens);
            }
        }
    });
    if removed.is_empty() && without.is_empty() && !known.ends_anywhere {
        return Arc::clone(known);
    }
    without.sort_unstable();
    Arc::new(Classification {
        tokens: changed(&known.tokens, &removed, &[], vocabulary),
        live: known.live,
        exits: Arc::clone(&known.exits),
        without: without.into(),
        own_exits: Box::default(),
        ends_anywhere: false,
    })
}

/// Calls with the nodes at which sorted words end that tokens have behind a node (None: the root).
fn for_ends(
    trie: &Trie,
    start: Option<usize>,
    words: &[Vec<u8>],
    mut call: impl FnMut(Option<usize>),
) {
    // Where the word before has led, as far as there are tokens.
    let mut path: Vec<usize> = Vec::new();
    let mut before: &[u8] = &[];
    for word in words {
        let same = before.iter().zip(word).take_while(|(a, b)| a == b).count();
        path.truncate(same);
        before = word;
        while path.len() < word.len() {
            match trie.child(path.last().copied().or(start), word[path.len()]) {
                Some(node) => path.push(node),
                None => break,
            }
        }
        // A word may agree with the one before it further than tokens go.
        before = &before[..path.len()];
        if path.len() == word.len() {
            call(path.last().copied().or(start));
        }
    }
}

// ---
// Mid-terminal accepts: tokens that leave a terminal where it could also have gone on.
//
// Behind `x`, the token `yor(` may be the end of a name, the word `or` and a bracket, though `yor` could be the end of the
// name as well. Where what follows may begin with a byte on which the terminal goes on, each place of such a byte is one
// at which a token may leave. Tokens that stay inside to their end are allowed anyway; of the others, what is behind these
// places makes a trie of its own, one for each byte; what cannot follow because of its second byte is left out.

/// The bytes of some.
fn bytes_of(accepts: &[MidAccept]) -> ByteSet {
    accepts.iter().fold(ByteSet::EMPTY, |mut bytes, accept| {
        bytes.insert(accept.byte);
        bytes
    })
}

/// The rests of tokens from one kind of mid-terminal accept on.
type RestsBehind<'a> = (MidAccept, Vec<(u32, &'a [u8])>);

/// Rests of tokens, by their first bytes.
struct Rests<'a> {
    /// By first byte: an index into the lists.
    list: [u8; 256],
    lists: Vec<RestsBehind<'a>>,
}

impl<'a> Rests<'a> {
    fn new(accepts: &[MidAccept]) -> Self {
        let mut rests = Self {
            list: [0; 256],
            lists: Vec::with_capacity(accepts.len()),
        };
        for &accept in accepts {
            rests.list[usize::from(accept.byte)] = rests.lists.len() as u8;
            rests.lists.push((accept, Vec::new()));
        }
        rests
    }

    /// Whether a text is one of these, as far as its first bytes tell. The first is a byte at which tokens may leave.
    fn may_have(&self, text: &[u8]) -> bool {
        let (accept, _) = &self.lists[usize::from(self.list[usize::from(text[0])])];
        text.get(1).is_none_or(|&byte| accept.then.contains(byte))
    }

    /// Adds the rest of a token from a place on, if it may be one.
    fn add(&mut self, id: u32, rest: &'a [u8]) {
        if self.may_have(rest) {
            let (_, rests) = &mut self.lists[usize::from(self.list[usize::from(rest[0])])];
            if rests.len() <= tuning::RESTS {
                rests.push((id, rest));
            }
        }
    }

    fn rest_tries(self) -> Vec<(MidAccept, RestTrie)> {
        let rest_trie = |(accept, rests): RestsBehind<'_>| {
            let few = rests.len() <= tuning::RESTS;
            let trie = few.then(|| Arc::new(Trie::new(rests.into_iter())));
            (accept, RestTrie(trie))
        };
        self.lists.into_iter().map(rest_trie).collect()
    }
}

/// The places of some bytes where the terminal might have ended behind every byte: all that is needed are the exits. None
/// where that is not so.
pub(super) fn from_exits(
    classification: &Classification,
    (anchor, accepts): (Anchor, &[MidAccept]),
    vocabulary: &Vocabulary,
    fuel: &mut Fuel,
) -> Result<Option<Vec<(MidAccept, RestTrie)>>, Error> {
    if !classification.ends_anywhere {
        return Ok(None);
    }
    let trie = vocabulary.trie();
    let nodes = trie.nodes();
    let bytes = bytes_of(accepts);
    let mut rests = Rests::new(accepts);
    let mut places: Vec<usize> = Vec::new();
    for exit in classification.exits.all() {
        let leaving = trie.before(exit) as usize..trie.before(nodes[exit].next as usize) as usize;
        let leaving = &trie.order()[leaving];
        let read = vocabulary.token(leaving[0]);
        let read = &read[..usize::from(nodes[exit].depth) - 1];
        let start = match anchor {
            Anchor::Root => 0,
            Anchor::Behind(node) => usize::from(nodes[node as usize].depth),
            Anchor::Runs(set) | Anchor::Lead(set, _) => {
                read.iter().take_while(|&&byte| set.contains(byte)).count()
            }
        };
        places.clear();
        let may_leave = |&at: &usize| bytes.contains(read[at]) && rests.may_have(&read[at..]);
        places.extend((start + 1..read.len()).filter(may_leave));
        fuel.spend(1 + leaving.len() * places.len())?;
        for &id in leaving {
            for &place in &places {
                rests.add(id, &vocabulary.token(id)[place..]);
            }
        }
    }
    Ok(Some(rests.rest_tries()))
}

impl Scan {
    /// Finds the places of some bytes, in the vocabulary as far as `front` reads it.
    pub(super) fn rest_tries(
        &mut self,
        owner: u32,
        (front, accepts): (ScanStart, &[MidAccept]),
        residuals: &mut Residuals,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Vec<(MidAccept, RestTrie)>, Error> {
        let trie = vocabulary.trie();
        let nodes = trie.nodes();
        let Self { dfa, path, .. } = self;
        residuals.set_owner(owner);
        dfa.clear();
        path.clear();
        path.resize(trie.longest() + 1, DfaState::DEAD);
        let start = dfa.start(front.rest, residuals);
        let bytes = bytes_of(accepts);
        let mut rests = Rests::new(accepts);
        // The places on the way, by how many bytes are before and including them.
        let mut places: Vec<usize> = Vec::new();
        let mut visited = 0;
        for part in front.parts {
            path[usize::from(nodes[part.start].depth) - 1] = start;
            let mut at = part.start;
            while at < part.end {
                let node = nodes[at];
                let depth = usize::from(node.depth);
                let before = path[depth - 1];
                visited += 1;
                dfa.looking = true;
                while places.last().is_some_and(|&place| place >= depth) {
                    places.pop();
                }
                let rest = dfa.step(before, node.byte, residuals, fuel)?;
                let next = node.next as usize;
                if rest == DfaState::DEAD {
                    if !places.is_empty() {
                        let leaving = trie.before(at) as usize..trie.before(next) as usize;
                        fuel.spend(leaving.len() * places.len())?;
                        for &id in &trie.order()[leaving] {
                            let token = vocabulary.token(id);
                            for &place in &places {
                                rests.add(id, &token[place - 1..]);
                            }
                        }
                    }
                    at = next;
                    continue;
                }
                if before.ends() && bytes.contains(node.byte) {
                    places.push(depth);
                }
                if let Some(below) = trie.below(at) {
                    let skipped = match dfa.reads(rest, below, residuals, fuel)? {
                        Reads::All { .. } => true,
                        // It does not end within, so only what was met before counts.
                        Reads::UpTo(_) | Reads::Without(_) => places.is_empty(),
                        Reads::Unknown => false,
                    };
                    if skipped {
                        at = next;
                        continue;
                    }
                }
                path[depth] = rest;
                at += 1;
            }
            places.clear();
        }
        fuel.spend(visited)?;
        Ok(rests.rest_tries())
    }
}
