//! Earley sets and continuations as interned values without positions, and goto: the set behind the symbols that end at
//! one place. For the recogniser.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::arena::{Chunks, NONE, Near, Table, near};
use super::core::{Core, Return};
use super::grammar::DottedRules;
use super::symbol::{Sym, View};
use crate::automaton::{AcceptSetId, LexerStateId, LexerStates};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdHasher, IdIndexMap};
use crate::tuning;

/// An interned Earley set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SetId(pub(crate) u32);

/// An interned continuation: who goes on when an item is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RetId(u32);

/// The continuation of the outer rule: the text is complete.
pub(crate) const ROOT: RetId = RetId(0);

/// Terminals or tokens that end at one position: in this set, these.
pub(crate) type Ended = (SetId, AcceptSetId);

/// An item that is not finished, and who goes on after its rule.
type SetItem = (u32, RetId);

/// What lies behind terminals that end at one position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GotoResult {
    /// The set of what goes on, if anything may.
    pub(crate) set: Option<SetId>,
    /// Whether the text may end here.
    pub(crate) accept: bool,
    /// How deep below the sets that were left those lie that had to be looked into.
    pub(super) depth: u8,
    /// How deep those lie that the set here may return to.
    pub(super) reach: u8,
}

impl GotoResult {
    /// Nowhere.
    pub(super) const NONE: Self = Self {
        set: None,
        accept: false,
        depth: 0,
        reach: 0,
    };
}

/// A set. What was found out about it hangs on it.
#[derive(Debug)]
struct Set {
    /// Its kernel, sorted: a slice of `Sets::items`.
    items: u32,
    len: u32,
    core: u32,
    /// First of the landings behind it, as the newest of the sets in which something ended.
    gotos: u32,
    /// First of its continuations.
    rets: u32,
    /// The next set with the same newest continuation.
    next: u32,
}

/// A continuation: this nonterminal is complete, as it was predicted in this set, of which there is no more than it takes
/// (`Core::home`): else each set would be another one in which the same goes on, and a list whose items may begin anywhere
/// would have one set for each byte.
#[derive(Debug)]
struct Ret {
    nonterminal: u32,
    set: SetId,
    /// The next one of the same set.
    next: u32,
    /// First of the sets whose newest continuation it is.
    sets: u32,
    /// The goto at which it was called last, and how deep its set was then.
    called: u32,
    depth: u8,
}

/// Where the position lands at which something ended.
#[derive(Debug)]
struct Goto {
    /// What ended: a slice of `Sets::ended`; for a single one its accept set.
    ended: u32,
    /// How many sets it ended in.
    len: u32,
    /// The set of what goes on, and whether the text may end.
    set: u32,
    accept: bool,
    depth: u8,
    reach: u8,
    /// The next one of the same set.
    next: u32,
}

/// All sets met so far. A set holds no positions, so equal ones are one wherever they occur.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    all: Chunks<Set>,
    items: Chunks<SetItem>,
    cores: IdIndexMap<Box<[u32]>, Core>,
    rets: Chunks<Ret>,
    gotos: Chunks<Goto>,
    ended: Chunks<Ended>,
    /// Those that did not find room in the lists of their owners.
    by_kernel: Table,
    by_return: Table,
    by_ended: Table,
    /// Gotos computed so far.
    landings: u32,
    heap: usize,
    work: Work,
}

/// What sets of another recogniser have become, by their numbers: most were not taken over.
#[derive(Debug)]
pub(super) struct CarriedSets(Vec<u32>);

impl CarriedSets {
    /// Marks a set that is to be taken over; false if it was marked.
    fn mark(&mut self, set: SetId) -> bool {
        std::mem::replace(&mut self.0[set.0 as usize], NONE) == 0
    }

    fn put(&mut self, set: SetId, here: SetId) {
        self.0[set.0 as usize] = here.0;
    }

    /// What a set that was taken over has become.
    pub(super) fn get(&self, set: SetId) -> SetId {
        SetId(self.0[set.0 as usize])
    }
}

/// Work space of a goto.
#[derive(Debug, Default)]
struct Work {
    items: Vec<SetItem>,
    /// Number of items at which those that occur more than once are dropped.
    full: usize,
    /// Continuations to be called, and how deep below the sets that are left their own lie.
    rets: Vec<(RetId, u8)>,
    depth: u8,
    reach: u8,
}

impl Work {
    fn begin(&mut self) {
        self.items.clear();
        self.rets.clear();
        (self.depth, self.reach) = (0, 0);
        self.full = tuning::SETTLED_ITEMS;
    }

    fn add(&mut self, item: SetItem) {
        if self.items.len() >= self.full {
            self.settle();
            self.full = tuning::SETTLED_ITEMS.max(2 * self.items.len());
        }
        self.items.push(item);
    }

    /// Puts the items in order, each once.
    fn settle(&mut self) {
        self.items.sort_unstable();
        self.items.dedup();
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = IdHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Sets {
    /// No sets yet but the one at the start of the text, with where that lands.
    pub(crate) fn new(
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<(Self, GotoResult), Error> {
        let mut sets = Self::default();
        // The root is nobody's continuation, but sets hang on it.
        sets.rets.push(Ret {
            nonterminal: NONE,
            set: SetId(NONE),
            next: NONE,
            sets: NONE,
            called: 0,
            depth: 0,
        });
        let mut work = Work::default();
        work.begin();
        sets.landings = 1;
        sets.put(DottedRules::START, ROOT, 0, &mut work, dots);
        let goto = sets.land(&mut work, dots, lexer, fuel)?;
        Ok((sets, goto))
    }

    /// Takes over sets of another recogniser of the same grammar, and all that they refer to.
    pub(super) fn carry(
        &mut self,
        from: &Self,
        roots: impl Iterator<Item = SetId>,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<CarriedSets, Error> {
        let mut carried = CarriedSets(vec![0; from.len()]);
        let mut reached: Vec<SetId> = Vec::new();
        let mut open: Vec<SetId> = roots.collect();
        while let Some(set) = open.pop() {
            if !carried.mark(set) {
                continue;
            }
            reached.push(set);
            for &(_, ret) in from.kernel(set) {
                if ret != ROOT {
                    open.push(from.rets[ret.0].set);
                }
            }
        }
        // A set refers to older ones only.
        reached.sort_unstable();
        let mut work = Work::default();
        for set in reached {
            work.items.clear();
            for &(dot, ret) in from.kernel(set) {
                let ret = if ret == ROOT {
                    ROOT
                } else {
                    let ret = &from.rets[ret.0];
                    self.ret(ret.nonterminal, carried.get(ret.set))
                };
                work.items.push((dot, ret));
            }
            work.items.sort_unstable();
            fuel.spend(work.items.len())?;
            let here = self.intern(&work.items, dots, lexer, fuel)?;
            carried.put(set, here);
        }
        Ok(carried)
    }

    /// How many sets there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.all.memory_bytes()
            + self.items.memory_bytes()
            + self.cores.len() * 48
            + self.rets.memory_bytes()
            + self.gotos.memory_bytes()
            + self.ended.memory_bytes()
            + self.by_kernel.memory_bytes()
            + self.by_return.memory_bytes()
            + self.by_ended.memory_bytes()
            + self.heap
    }

    fn core(&self, set: SetId) -> &Core {
        &self.cores[self.all[set.0].core as usize]
    }

    pub(super) fn kernel(&self, set: SetId) -> &[SetItem] {
        let set = &self.all[set.0];
        self.items.slice(set.items, set.len)
    }

    /// The terminals that may come next in a set.
    pub(crate) fn lexer_state(&self, set: SetId) -> LexerStateId {
        self.core(set).lexer_state
    }

    /// Whether a token may come next in a set.
    pub(crate) fn has_tokens(&self, set: SetId) -> bool {
        self.core(set).has_tokens
    }

    /// The tokens that may come next in a set: symbol, and index into [`DottedRules::tokens`].
    pub(crate) fn tokens(&self, set: SetId) -> impl Iterator<Item = (Sym, u32)> + '_ {
        self.core(set).tokens()
    }

    /// The dots that wait for a symbol in a set.
    pub(crate) fn waiting_dots(&self, set: SetId, sym: Sym) -> impl Iterator<Item = u32> + '_ {
        let core = self.core(set);
        core.waiting(sym).iter().map(|&slot| core.dot(slot))
    }

    /// What waits for a symbol in a set: the dot behind the symbol, and who goes on after that dot's rule.
    pub(crate) fn continuations(
        &mut self,
        set: SetId,
        sym: Sym,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<Vec<(u32, RetId)>, Error> {
        let mut items = Vec::with_capacity(self.core(set).waiting(sym).len());
        for index in 0..items.capacity() {
            items.push(self.continuation(set, sym, index, dots, lexer, fuel)?.0);
        }
        Ok(items)
    }

    /// Whose end a continuation other than [`ROOT`] waits for.
    pub(crate) fn nonterminal(&self, ret: RetId) -> Option<u32> {
        (ret != ROOT).then(|| self.rets[ret.0].nonterminal)
    }

    /// The items of a continuation other than [`ROOT`].
    pub(crate) fn answer(
        &mut self,
        ret: RetId,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<Vec<(u32, RetId)>, Error> {
        if ret == ROOT {
            return Ok(Vec::new());
        }
        let Ret {
            nonterminal, set, ..
        } = self.rets[ret.0];
        let sym = Sym::new(View::Nonterminal(nonterminal));
        self.continuations(set, sym, dots, lexer, fuel)
    }

    /// One of the continuations, and whether it belongs to a set further down.
    fn continuation(
        &mut self,
        set: SetId,
        sym: Sym,
        index: usize,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<(SetItem, bool), Error> {
        let core = self.core(set);
        let slot = core.waiting(sym)[index];
        let dot = core.dot(slot) + 1;
        Ok(match core.ret(slot, dots) {
            Return::Slot(slot) => ((dot, self.kernel(set)[slot as usize].1), true),
            Return::Here(nonterminal) => {
                let home = self.home(set, nonterminal, dots, lexer, fuel)?;
                ((dot, self.ret(nonterminal, home)), false)
            }
        })
    }

    /// The set of what it takes of a set to wait for a nonterminal.
    fn home(
        &mut self,
        set: SetId,
        nonterminal: u32,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<SetId, Error> {
        let Set { core, len, .. } = self.all[set.0];
        if len == 1 || !dots.homes {
            return Ok(set);
        }
        let Some(slots) = self.cores[core as usize].home(nonterminal, dots, fuel)? else {
            return Ok(set);
        };
        let slots: SmallVec<[u32; 8]> = slots.into();
        let items = slots.iter().map(|&slot| self.kernel(set)[slot as usize]);
        let kernel: SmallVec<[SetItem; 8]> = items.collect();
        self.intern(&kernel, dots, lexer, fuel)
    }

    /// The set of these items, which are not finished: of such as wait in other sets, or of whole kernels.
    pub(super) fn of_items(
        &mut self,
        items: impl Iterator<Item = (u32, RetId)>,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<SetId, Error> {
        let mut work = std::mem::take(&mut self.work);
        work.begin();
        items.for_each(|item| work.add(item));
        work.settle();
        let set = fuel
            .spend(work.items.len())
            .and_then(|()| self.intern(&work.items, dots, lexer, fuel));
        self.work = work;
        set
    }

    /// The items of a set's kernel: each dot, with the nonterminal and the set that it returns to unless that is the end of
    /// the text.
    pub(crate) fn items(
        &self,
        set: SetId,
    ) -> impl Iterator<Item = (u32, Option<(u32, SetId)>)> + '_ {
        self.kernel(set).iter().map(|&(dot, ret)| {
            let below = (ret != ROOT).then(|| {
                let ret = &self.rets[ret.0];
                (ret.nonterminal, ret.set)
            });
            (dot, below)
        })
    }

    /// The continuation of a nonterminal that was predicted in a set.
    fn ret(&mut self, nonterminal: u32, set: SetId) -> RetId {
        let head = self.all[set.0].rets;
        let is = |at| self.rets[at].nonterminal == nonterminal;
        let found = near(head, |at| self.rets[at].next, is);
        let key = (nonterminal, set);
        if let Near::Found(at) = found {
            return RetId(at);
        }
        let is_full = matches!(found, Near::Full);
        if is_full {
            let is = |at| (self.rets[at].nonterminal, self.rets[at].set) == key;
            if let Some(at) = self.by_return.find(hash(&key), is) {
                return RetId(at);
            }
        }
        let at = self.rets.push(Ret {
            nonterminal,
            set,
            next: if is_full { NONE } else { head },
            sets: NONE,
            called: 0,
            depth: 0,
        });
        if is_full {
            self.by_return.insert(hash(&key), at);
        } else {
            self.all[set.0].rets = at;
        }
        RetId(at)
    }

    /// Where the position lands at which `ended` end, all at once; they are sorted.
    pub(crate) fn goto(
        &mut self,
        ended: &[Ended],
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<GotoResult, Error> {
        let Some(&(owner, accept_set)) = ended.last() else {
            return Ok(GotoResult::NONE);
        };
        let head = self.all[owner.0].gotos;
        let single = ended.len() == 1;
        let is = |at: u32| {
            let goto = &self.gotos[at];
            if single {
                goto.len == 1 && goto.ended == accept_set.0
            } else {
                goto.len > 1 && self.ended.slice(goto.ended, goto.len) == ended
            }
        };
        let found = match near(head, |at| self.gotos[at].next, is) {
            Near::Full => {
                let is =
                    |at: u32| self.ended.slice(self.gotos[at].ended, self.gotos[at].len) == ended;
                let found = self.by_ended.find(hash(&ended), is);
                found.map_or(Near::Full, Near::Found)
            }
            found => found,
        };
        if let Near::Found(at) = found {
            let goto = &self.gotos[at];
            return Ok(GotoResult {
                set: (goto.set != NONE).then_some(SetId(goto.set)),
                accept: goto.accept,
                depth: goto.depth,
                reach: goto.reach,
            });
        }
        let goto = self.compute(ended, dots, lexer, fuel)?;
        let is_full = matches!(found, Near::Full);
        let slice = if single && !is_full {
            accept_set.0
        } else {
            self.ended.extend(ended)
        };
        let at = self.gotos.push(Goto {
            ended: slice,
            len: ended.len() as u32,
            set: goto.set.map_or(NONE, |set| set.0),
            accept: goto.accept,
            depth: goto.depth,
            reach: goto.reach,
            next: if is_full { NONE } else { head },
        });
        if is_full {
            self.by_ended.insert(hash(&ended), at);
        } else {
            self.all[owner.0].gotos = at;
        }
        Ok(goto)
    }

    fn compute(
        &mut self,
        ended: &[Ended],
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<GotoResult, Error> {
        let mut work = std::mem::take(&mut self.work);
        work.begin();
        self.begin_landing();
        let mut goto = Ok(());
        for &(set, accept_set) in ended {
            let tags: SmallVec<[u32; 16]> = lexer.tags(accept_set).into();
            for tag in tags {
                let from = (set, 0);
                goto =
                    goto.and_then(|()| self.advance(from, Sym(tag), &mut work, dots, lexer, fuel));
            }
        }
        let goto = goto.and_then(|()| self.land(&mut work, dots, lexer, fuel));
        self.work = work;
        goto
    }

    /// No continuation has been called in the goto that is computed from now on.
    fn begin_landing(&mut self) {
        self.landings = self.landings.wrapping_add(1);
        if self.landings == 0 {
            for at in 0..self.rets.len() as u32 {
                self.rets[at].called = 0;
            }
            self.landings = 1;
        }
    }

    /// Moves every item of a set (which lies so deep) that waits for a symbol behind it.
    fn advance(
        &mut self,
        (set, depth): (SetId, u8),
        sym: Sym,
        work: &mut Work,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<(), Error> {
        let count = self.core(set).waiting(sym).len();
        fuel.spend(count)?;
        for index in 0..count {
            let ((dot, ret), below) = self.continuation(set, sym, index, dots, lexer, fuel)?;
            let depth = (depth + u8::from(below)).min(tuning::READ_DEPTH);
            let passed = self.put(dot, ret, depth, work, dots);
            fuel.spend(passed)?;
        }
        Ok(())
    }

    /// Adds an item, with its dot also behind the nullable symbols that follow, and says how many these are; a finished one
    /// calls its continuation.
    fn put(
        &mut self,
        mut dot: u32,
        ret: RetId,
        depth: u8,
        work: &mut Work,
        dots: &DottedRules,
    ) -> usize {
        let mut passed = 0;
        loop {
            let sym = dots.sym(dot);
            if sym == Sym::END {
                let known = &mut self.rets[ret.0];
                if known.called != self.landings {
                    (known.called, known.depth) = (self.landings, depth);
                    work.rets.push((ret, depth));
                } else if known.depth < depth {
                    // The deepest way counts; instead of going it again, nothing is said of depths.
                    work.depth = tuning::READ_DEPTH;
                }
                return passed;
            }
            work.reach = work.reach.max(depth);
            work.add((dot, ret));
            if !dots.is_nullable(sym) {
                return passed;
            }
            passed += 1;
            dot += 1;
        }
    }

    /// Runs the continuations that are due and interns the set of what is unfinished.
    fn land(
        &mut self,
        work: &mut Work,
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<GotoResult, Error> {
        let mut accept = false;
        while let Some((ret, depth)) = work.rets.pop() {
            work.depth = work.depth.max(depth);
            if ret == ROOT {
                accept = true;
                continue;
            }
            let Ret {
                nonterminal, set, ..
            } = self.rets[ret.0];
            let sym = Sym::new(View::Nonterminal(nonterminal));
            self.advance((set, depth), sym, work, dots, lexer, fuel)?;
        }
        let mut goto = GotoResult {
            set: None,
            accept,
            depth: work.depth,
            reach: work.reach,
        };
        if work.items.is_empty() {
            return Ok(goto);
        }
        work.settle();
        fuel.spend(work.items.len())?;
        let set = self.intern(&work.items, dots, lexer, fuel)?;
        let core = self.core(set);
        let goes_on = core.has_tokens || core.lexer_state != LexerStateId::DEAD;
        goto.set = goes_on.then_some(set);
        Ok(goto)
    }

    /// The set of a kernel.
    fn intern(
        &mut self,
        kernel: &[SetItem],
        dots: &DottedRules,
        lexer: &mut LexerStates,
        fuel: &mut Fuel,
    ) -> Result<SetId, Error> {
        debug_assert!(kernel.is_sorted_by(|a, b| a < b), "equal sets would be two");
        let owner = kernel.iter().map(|&(_, ret)| ret).max().unwrap_or(ROOT);
        let head = self.rets[owner.0].sets;
        let is = |at| self.kernel(SetId(at)) == kernel;
        let found = near(head, |at| self.all[at].next, is);
        if let Near::Found(at) = found {
            return Ok(SetId(at));
        }
        let is_full = matches!(found, Near::Full);
        if is_full && let Some(at) = self.by_kernel.find(hash(&kernel), is) {
            return Ok(SetId(at));
        }
        let shape: SmallVec<[u32; 16]> = kernel.iter().map(|&(dot, _)| dot).collect();
        let core = if let Some(core) = self.cores.get_index_of(&shape[..]) {
            core
        } else {
            let core = Core::close(&shape, dots, lexer, fuel)?;
            self.heap += core.memory_bytes() + shape.len() * 4;
            self.cores.insert_full((&shape[..]).into(), core).0
        };
        let items = self.items.extend(kernel);
        let at = self.all.push(Set {
            items,
            len: kernel.len() as u32,
            core: core as u32,
            gotos: NONE,
            rets: NONE,
            next: if is_full { NONE } else { head },
        });
        if is_full {
            self.by_kernel.insert(hash(&kernel), at);
        } else {
            self.rets[owner.0].sets = at;
        }
        Ok(SetId(at))
    }
}
