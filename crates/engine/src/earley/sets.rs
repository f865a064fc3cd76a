//! Sets and continuations as interned values, and the set behind a terminal.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::core::{Core, Return};
use super::grammar::{Dots, Sym, View};
use crate::automaton::{FiredId, UnionId, Unions};
use crate::error::Error;
use crate::limits::Fuel;

/// An interned Earley set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SetId(pub(crate) u32);

/// An interned continuation: who goes on when an item is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RetId(u32);

/// The continuation of the outer rule: the text is complete.
pub(crate) const ROOT: RetId = RetId(0);

/// Terminals or tokens that end at one position: in this set, these.
pub(crate) type Ended = (SetId, FiredId);

/// What lies behind terminals that end at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Landing {
    /// The set of what goes on, if anything may.
    pub(crate) set: Option<SetId>,
    /// Whether the text may end here.
    pub(crate) accept: bool,
    /// How deep below the sets that were left those lie that had to be looked into.
    pub(super) depth: u8,
    /// How deep those lie that the set here may return to.
    pub(super) reach: u8,
}

impl Landing {
    /// Nowhere.
    pub(super) const NONE: Self = Self {
        set: None,
        accept: false,
        depth: 0,
        reach: 0,
    };
}

/// Depths are not told apart from here on.
pub(crate) const DEEP: u8 = 64;

/// A kernel: (dot, continuation), sorted.
type Kernel = Box<[(u32, RetId)]>;

/// All sets met so far. A set holds no positions, so equal ones are one wherever they occur.
#[derive(Debug)]
pub(crate) struct Sets {
    kernels: IndexMap<Kernel, u32, FxBuildHasher>,
    cores: IndexMap<Box<[u32]>, Core, FxBuildHasher>,
    /// Continuation `i + 1` is (nonterminal, set).
    rets: IndexSet<(u32, SetId), FxBuildHasher>,
    single: FxHashMap<Ended, Landing>,
    joint: FxHashMap<Box<[Ended]>, Landing>,
    heap: usize,
}

/// Work space of one landing.
#[derive(Default)]
struct Scratch {
    items: FxHashSet<(u32, RetId)>,
    /// Continuations that are due, and how deep below the sets that are left their own lie.
    rets: Vec<(RetId, u8)>,
    /// The deepest place of each one so far.
    seen: FxHashMap<RetId, u8>,
    depth: u8,
    reach: u8,
}

impl Sets {
    /// No sets yet but the one at the start of the text, with where that lands.
    pub(crate) fn new(
        dots: &Dots,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<(Self, Landing), Error> {
        let mut sets = Self {
            kernels: IndexMap::default(),
            cores: IndexMap::default(),
            rets: IndexSet::default(),
            single: FxHashMap::default(),
            joint: FxHashMap::default(),
            heap: 0,
        };
        let mut scratch = Scratch::default();
        Self::put(Dots::START, ROOT, 0, &mut scratch, dots);
        let landing = sets.land(scratch, dots, unions, fuel)?;
        Ok((sets, landing))
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.kernels.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.kernels.len() * 48
            + self.cores.len() * 48
            + self.rets.len() * 24
            + self.single.len() * 32
            + self.joint.len() * 48
            + self.heap
    }

    fn core(&self, set: SetId) -> &Core {
        &self.cores[self.kernels[set.0 as usize] as usize]
    }

    fn kernel(&self, set: SetId) -> &[(u32, RetId)] {
        self.kernels
            .get_index(set.0 as usize)
            .map_or(&[], |(kernel, _)| kernel)
    }

    /// The terminals that may come next in a set.
    pub(crate) fn union(&self, set: SetId) -> UnionId {
        self.core(set).union
    }

    /// Whether a token may come next in a set.
    pub(crate) fn has_tokens(&self, set: SetId) -> bool {
        self.core(set).has_tokens
    }

    /// The tokens that may come next in a set: symbol, and index into [`Dots::tokens`].
    pub(crate) fn tokens(&self, set: SetId) -> impl Iterator<Item = (Sym, u32)> + '_ {
        self.core(set).tokens()
    }

    /// The dots that wait for a symbol in a set.
    pub(crate) fn waiting_dots(&self, set: SetId, sym: Sym) -> impl Iterator<Item = u32> + '_ {
        let core = self.core(set);
        core.waiting(sym).iter().map(|&slot| core.dot(slot))
    }

    /// What waits for a symbol in a set: the dot behind the symbol, and who goes on after that dot's rule.
    pub(crate) fn continuations(&mut self, set: SetId, sym: Sym, dots: &Dots) -> Vec<(u32, RetId)> {
        (0..self.core(set).waiting(sym).len())
            .map(|index| {
                let (dot, ret, _) = self.continuation(set, sym, index, dots);
                (dot, ret)
            })
            .collect()
    }

    /// The items of a continuation other than [`ROOT`].
    pub(crate) fn answer(&mut self, ret: RetId, dots: &Dots) -> Vec<(u32, RetId)> {
        let Some(&(nonterminal, set)) = self.rets.get_index((ret.0 as usize).wrapping_sub(1))
        else {
            return Vec::new();
        };
        self.continuations(set, Sym::new(View::Nonterminal(nonterminal)), dots)
    }

    /// One of the continuations, and whether it belongs to a set further down.
    fn continuation(
        &mut self,
        set: SetId,
        sym: Sym,
        index: usize,
        dots: &Dots,
    ) -> (u32, RetId, bool) {
        let core = self.core(set);
        let slot = core.waiting(sym)[index];
        let dot = core.dot(slot) + 1;
        match core.ret(slot, dots) {
            Return::Slot(slot) => (dot, self.kernel(set)[slot as usize].1, true),
            Return::Here(nonterminal) => {
                let ret = self.rets.insert_full((nonterminal, set)).0;
                (dot, RetId(ret as u32 + 1), false)
            }
        }
    }

    /// The items of a set's kernel: each dot, with the nonterminal and the set that it returns to unless that is the end of
    /// the text.
    pub(crate) fn items(
        &self,
        set: SetId,
    ) -> impl Iterator<Item = (u32, Option<(u32, SetId)>)> + '_ {
        let returns = |ret: RetId| self.rets.get_index((ret.0 as usize).wrapping_sub(1));
        let kernel = self.kernel(set).iter();
        kernel.map(move |&(dot, ret)| (dot, returns(ret).copied()))
    }

    /// Where the position lands at which `ended` end, all at once.
    pub(crate) fn goto(
        &mut self,
        ended: &[Ended],
        dots: &Dots,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<Landing, Error> {
        if let [only] = ended {
            if let Some(&landing) = self.single.get(only) {
                return Ok(landing);
            }
            let landing = self.compute(ended, dots, unions, fuel)?;
            self.single.insert(*only, landing);
            return Ok(landing);
        }
        if let Some(&landing) = self.joint.get(ended) {
            return Ok(landing);
        }
        let landing = self.compute(ended, dots, unions, fuel)?;
        self.heap += size_of_val(ended) + 16;
        self.joint.insert(ended.into(), landing);
        Ok(landing)
    }

    fn compute(
        &mut self,
        ended: &[Ended],
        dots: &Dots,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<Landing, Error> {
        let mut scratch = Scratch::default();
        for &(set, fired) in ended {
            for index in 0..unions.tags(fired).len() {
                let sym = Sym(unions.tags(fired)[index]);
                self.advance((set, 0), sym, &mut scratch, dots, fuel)?;
            }
        }
        self.land(scratch, dots, unions, fuel)
    }

    /// Moves every item of a set (which lies so deep) that waits for a symbol behind it.
    fn advance(
        &mut self,
        (set, depth): (SetId, u8),
        sym: Sym,
        scratch: &mut Scratch,
        dots: &Dots,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let count = self.core(set).waiting(sym).len();
        fuel.spend(count)?;
        for index in 0..count {
            let (dot, ret, below) = self.continuation(set, sym, index, dots);
            let depth = (depth + u8::from(below)).min(DEEP);
            Self::put(dot, ret, depth, scratch, dots);
        }
        Ok(())
    }

    /// Adds an item, with its dot also behind the nullable symbols that follow; a finished one calls its continuation.
    fn put(mut dot: u32, ret: RetId, depth: u8, scratch: &mut Scratch, dots: &Dots) {
        loop {
            let sym = dots.sym(dot);
            if sym == Sym::END {
                let known = scratch.seen.insert(ret, depth);
                if known.is_none_or(|known| known < depth) {
                    scratch.rets.push((ret, depth));
                } else if let Some(known) = known {
                    scratch.seen.insert(ret, known);
                }
                return;
            }
            scratch.reach = scratch.reach.max(depth);
            scratch.items.insert((dot, ret));
            if !dots.is_nullable(sym) {
                return;
            }
            dot += 1;
        }
    }

    /// Runs the continuations that are due and interns the set of what is unfinished.
    fn land(
        &mut self,
        mut scratch: Scratch,
        dots: &Dots,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<Landing, Error> {
        let mut accept = false;
        while let Some((ret, depth)) = scratch.rets.pop() {
            scratch.depth = scratch.depth.max(depth);
            if ret == ROOT {
                accept = true;
                continue;
            }
            let (nonterminal, set) = self.rets[ret.0 as usize - 1];
            let sym = Sym::new(View::Nonterminal(nonterminal));
            self.advance((set, depth), sym, &mut scratch, dots, fuel)?;
        }
        let (depth, reach) = (scratch.depth, scratch.reach);
        let mut landing = Landing {
            set: None,
            accept,
            depth,
            reach,
        };
        if scratch.items.is_empty() {
            return Ok(landing);
        }
        let mut kernel: Vec<(u32, RetId)> = scratch.items.into_iter().collect();
        kernel.sort_unstable();
        fuel.spend(kernel.len())?;
        let set = self.intern(kernel, dots, unions, fuel)?;
        let core = self.core(set);
        let goes_on = core.has_tokens || core.union != UnionId::DEAD;
        landing.set = goes_on.then_some(set);
        Ok(landing)
    }

    fn intern(
        &mut self,
        kernel: Vec<(u32, RetId)>,
        dots: &Dots,
        unions: &mut Unions,
        fuel: &mut Fuel,
    ) -> Result<SetId, Error> {
        if let Some(index) = self.kernels.get_index_of(kernel.as_slice()) {
            return Ok(SetId(index as u32));
        }
        let shape: Vec<u32> = kernel.iter().map(|&(dot, _)| dot).collect();
        let core = if let Some(core) = self.cores.get_index_of(shape.as_slice()) {
            core
        } else {
            let core = Core::close(&shape, dots, unions, fuel)?;
            self.heap += core.memory_bytes() + shape.len() * 4;
            self.cores.insert_full(shape.into(), core).0
        };
        self.heap += kernel.len() * size_of::<(u32, RetId)>();
        Ok(SetId(
            self.kernels.insert_full(kernel.into(), core as u32).0 as u32,
        ))
    }
}
