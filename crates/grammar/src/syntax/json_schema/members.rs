//! The members of an object as rules. A rule is a state: which listed properties may come, how many members there are, and
//! which demanded members have been written.
//!
//! In the order of the schema, the next listed property is enough of a state, and there are as many rules as properties. In
//! any order, the state is the set of properties already written: of all of them where that takes few rules, else of those
//! that are required (another may then be written again, as RFC 8259 allows), else of some of those.
//!
//! Of a name that is written twice the last value counts. So a demanded member whose name may come again comes last in the
//! order of the schema; in any order that is not enforced.

use std::rc::Rc;

use super::demands::{Conjunction, Demands};
use super::lower::Lowering;
use super::object::Shape;
use super::options::Order;
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ExprId, RuleId};
use crate::maps::{IdHash, IdMap};
use crate::tuning::{MAX_ALL_MEMBER_EDGES, MAX_MEMBER_EDGES, MAX_MEMBER_STATES, MIN_MEMBER_EDGES};

/// Where in an object a member stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct MemberState {
    /// In order: how many listed properties are passed. In any order: which of those remembered are written.
    written: u64,
    count: u64,
    has: u32,
    /// Of the demanded members, those after which no other member may follow.
    witness: u32,
}

/// What a state remembers of the members written.
struct Memory {
    /// Counts from here on are alike.
    cap: u64,
    min: u64,
    max: Option<u64>,
    /// In any order: the bit of each listed property that is remembered.
    bits: Option<Vec<Option<u32>>>,
    /// Of the demanded members, those that come last, since their names may come again.
    witness: u32,
}

type Rules = (IdMap<MemberState, RuleId>, Vec<(MemberState, RuleId)>);

impl Lowering<'_> {
    /// What follows the opening brace.
    pub(super) fn members(
        &mut self,
        shape: &Shape,
        demands: &Demands,
        place: Position,
    ) -> Result<ExprId, Error> {
        let memory = self.memory(shape, demands);
        let all_had = (1u32 << shape.has.len()) - 1;
        let states = 2 * (shape.listed.len() + 1);
        let known = IdMap::with_capacity_and_hasher(states, IdHash);
        let mut rules: Rules = (known, Vec::new());
        let start = MemberState {
            written: 0,
            count: 0,
            has: 0,
            witness: 0,
        };
        let start = self.state(&mut rules, start);
        let mut parts = Vec::new();
        while let Some((state, rule)) = rules.1.pop() {
            self.spend(1)?;
            let full =
                state.has & state.witness != 0 || memory.max.is_some_and(|max| state.count >= max);
            let next = MemberState {
                count: (state.count + 1).min(memory.cap),
                ..state
            };
            parts.clear();
            let mut at_end = true;
            let list = (shape, place, state.count);
            match &memory.bits {
                None => {
                    let at = state.written as usize;
                    if let Some(property) = shape.listed.get(at) {
                        at_end = false;
                        let then = MemberState {
                            written: state.written + 1,
                            ..next
                        };
                        if !full {
                            self.listed(list, at, then, &mut rules, &mut parts)?;
                        }
                        if !property.required {
                            let then = MemberState {
                                count: state.count,
                                ..then
                            };
                            let rule = self.state(&mut rules, then);
                            parts.push(self.builder.reference(rule));
                        }
                    }
                }
                Some(bits) => {
                    for (at, bit) in bits.iter().enumerate() {
                        let bit = bit.map_or(0, |bit| 1u64 << bit);
                        let seen = state.written & bit != 0;
                        at_end &= seen || bit == 0 || !shape.listed[at].required;
                        if !full && !seen {
                            let then = MemberState {
                                written: state.written | bit,
                                ..next
                            };
                            self.listed(list, at, then, &mut rules, &mut parts)?;
                        }
                    }
                }
            }
            if at_end && state.count >= memory.min && state.has == all_had {
                let end = self.spelling.close("}", place, state.count == 0);
                parts.push(self.builder.regex(end));
            }
            if (at_end || memory.bits.is_some()) && !full {
                for other in &shape.others {
                    let key = self
                        .spelling
                        .key(other.name.clone(), state.count > 0, place);
                    let key = self.spelled(key);
                    self.member(
                        (shape, place),
                        (key, &other.value, other.has),
                        MemberState {
                            witness: memory.witness,
                            ..next
                        },
                        &mut rules,
                        &mut parts,
                    )?;
                }
            }
            let body = if parts.is_empty() {
                self.nothing()
            } else {
                self.builder.alt(&parts)
            };
            self.builder.define(rule, body);
        }
        Ok(self.builder.reference(start))
    }

    /// What there are rules enough to remember.
    fn memory(&mut self, shape: &Shape, demands: &Demands) -> Memory {
        let (mut min, mut max) = (shape.min, shape.max);
        let has = 1u64 << shape.has.len();
        let listed = shape.listed.len() as u64;
        let cap = |min: u64, max: Option<u64>| min.max(max.unwrap_or(0)).max(1);
        let in_order = self.schemas.options.order == Order::Declared;
        let sets = if in_order { listed + 1 } else { 1 };
        if cap(min, max) > 1 && cap(min, max).saturating_mul(sets * has) > MAX_MEMBER_STATES {
            self.report_unenforced(
                demands,
                "minProperties",
                |member| member.min_properties > 1,
                "so many properties are not counted",
            );
            self.report_unenforced(
                demands,
                "maxProperties",
                |member| member.max_properties.is_some(),
                "so many properties are not counted",
            );
            (min, max) = (min.min(1), None);
        }
        let cap = cap(min, max);
        let required = shape.listed.iter().filter(|one| one.required).count() as u64;
        let repeatable = !shape.others.is_empty() || !in_order;
        if repeatable && min > required + 1 {
            self.report_unenforced(
                demands,
                "minProperties",
                |member| member.min_properties > 1,
                "a property that is repeated counts each time",
            );
        }
        // Whose value matters: a name is the same whenever it comes.
        let by_value = shape.has.iter().enumerate();
        let by_value = by_value.filter(|(_, has)| !has.members.is_empty());
        let by_value = by_value.fold(0u32, |all, (bit, _)| all | 1 << bit);
        let unlisted = shape.others.iter().fold(0, |all, other| all | other.has) & by_value;
        let mut memory = Memory {
            cap,
            min,
            max,
            bits: None,
            witness: if in_order && unlisted.is_power_of_two() {
                unlisted
            } else {
                0
            },
        };
        if in_order {
            if unlisted != 0 && memory.witness == 0 {
                self.blame_repeated(demands, unlisted);
            }
            return memory;
        }
        let edges = |kept: u64| {
            let sets = 1u64.checked_shl(kept as u32).unwrap_or(u64::MAX);
            sets.saturating_mul((cap + 1) * has)
                .saturating_mul(listed + 1)
        };
        // Where many objects were written, the next ones get less.
        let most = (MAX_ALL_MEMBER_EDGES.saturating_sub(self.member_edges) / 8)
            .clamp(MIN_MEMBER_EDGES, MAX_MEMBER_EDGES);
        let all = edges(listed) <= most;
        let mut room = (0..=required)
            .rev()
            .find(|&kept| edges(kept) <= most)
            .unwrap_or(0);
        self.member_edges += edges(if all { listed } else { room });
        if !all && room < required {
            self.report_unenforced(
                demands,
                "required",
                |member| !member.required.is_empty(),
                "in any order, so many required properties are not all kept in mind",
            );
        }
        if all {
            room = listed;
        }
        let mut next = 0;
        let bits = shape.listed.iter().map(|one| {
            let kept = (all || one.required) && u64::from(next) < room;
            kept.then(|| {
                next += 1;
                next - 1
            })
        });
        let bits: Vec<Option<u32>> = bits.collect();
        let forgotten = shape.listed.iter().zip(&bits);
        let forgotten = forgotten.filter(|(_, bit)| bit.is_none());
        let repeatable = forgotten.fold(unlisted, |all, (one, _)| all | one.has);
        self.blame_repeated(demands, repeatable & by_value);
        memory.bits = Some(bits);
        memory
    }

    /// Notes of demanded members that a later one of the same name may count instead.
    fn blame_repeated(&mut self, demands: &Demands, asked: u32) {
        for (at, has) in demands.has.iter().enumerate().take(32) {
            if asked >> at & 1 == 1 {
                let reason =
                    "a later property of the same name counts instead of the one that is asked for";
                self.schemas.widen(&has.pointer, reason);
            }
        }
    }

    /// The rule for what may follow.
    fn state(&mut self, rules: &mut Rules, state: MemberState) -> RuleId {
        if let Some(&rule) = rules.0.get(&state) {
            return rule;
        }
        let rule = self.fresh("members");
        rules.0.insert(state, rule);
        rules.1.push((state, rule));
        rule
    }

    /// One listed property and what follows it.
    fn listed(
        &mut self,
        (shape, place, count): (&Shape, Position, u64),
        at: usize,
        then: MemberState,
        rules: &mut Rules,
        parts: &mut Vec<ExprId>,
    ) -> Result<(), Error> {
        let property = &shape.listed[at];
        let key = self.key(&property.name, count > 0, place);
        let member = (key, &property.value, property.has);
        self.member((shape, place), member, then, rules, parts)
    }

    /// The name of a listed property up to its colon, and the comma before it if another member stands there.
    fn key(&mut self, name: &Rc<str>, comma: bool, place: Position) -> ExprId {
        let known = self.keys.get(name).into_iter().flatten();
        if let Some((_, key)) = known.copied().find(|(of, _)| *of == (comma, place)) {
            return key;
        }
        let key = self.spelling.notation.key(name);
        let key = self.spelling.key(key, comma, place);
        let key = self.spelled(key);
        let known = self.keys.entry(Rc::clone(name)).or_default();
        known.push(((comma, place), key));
        key
    }

    /// One member and what follows it; once for itself, and once for each member asked for that it may be.
    fn member(
        &mut self,
        (shape, place): (&Shape, Position),
        (key, value, has): (ExprId, &Conjunction, u32),
        then: MemberState,
        rules: &mut Rules,
        parts: &mut Vec<ExprId>,
    ) -> Result<(), Error> {
        for set in 0..1u32 << shape.has.len() {
            // Only what is still missing counts.
            if set & !has != 0 || set & then.has != 0 {
                continue;
            }
            let mut value = value.clone();
            for (bit, asked) in shape.has.iter().enumerate() {
                if set >> bit & 1 == 1 {
                    value = self.schemas.joined(&value, asked)?;
                }
            }
            let then = MemberState {
                has: then.has | set,
                witness: then.witness & set,
                ..then
            };
            let value = self.value(&value, place)?;
            let then = self.state(rules, then);
            let then = self.builder.reference(then);
            parts.push(self.builder.seq([key, value, then]));
        }
        Ok(())
    }
}
