//! Patterns that look around themselves, as plain regular languages.
//!
//! A pattern is a list of branches, and a branch a list of items: texts, and between them conditions on all that stands
//! ahead or behind. A condition is a language as well. It disappears in one of three ways, all exact:
//! * next to enough text it is a condition on that text alone: what decides about `(?!-)` is the next character;
//! * once everything ahead is known, up to the end of the whole text, it is an intersection with that; the same behind;
//! * repeated text with conditions at its ends becomes first, inner and last rounds, of which each has the conditions of
//!   its neighbours; repeated single characters become a complement: `(?:(?!x).)*` forbids `x` to begin within.
//!
//! What is left over is refused.

use super::branch::{Branch, Condition, Item, Side, Text, Unsupported, is_empty, normal};
use super::resolve::{reach, scope, settled, whole};
use crate::ir::Regex;
use crate::tuning::{MAX_LOOK_ALTERNATIVES, MAX_LOOK_BRANCHES};

/// A pattern as its alternatives.
#[derive(Debug, Clone, Default)]
pub(super) struct Branches(Vec<Branch>);

/// The conditions at both ends of a branch and the text between them.
struct Framed {
    behind: Vec<Condition>,
    text: Text,
    ahead: Vec<Condition>,
}

impl Branches {
    /// A language without conditions.
    pub(super) fn text(text: Text) -> Self {
        Self(vec![vec![Item::Text(text)]])
    }

    /// Alternatives of conditions at one place.
    pub(super) fn conditions(alternatives: Vec<Vec<Condition>>) -> Self {
        let branch = |conditions: Vec<Condition>| conditions.into_iter().map(Item::Condition);
        Self(
            alternatives
                .into_iter()
                .map(|one| normal(branch(one).collect()))
                .collect(),
        )
    }

    /// Whether some condition is left in it.
    pub(super) fn looks_around(&self) -> bool {
        let mut items = self.0.iter().flatten();
        items.any(|item| !matches!(item, Item::Text(_)))
    }

    /// What is wrong if text outside of a match may decide whether it is one, anchors aside, and where that is said.
    ///
    /// A condition on the match's own text may reach over its edge only where that text is as long as one likes.
    pub(super) fn looks_beyond(&self) -> Option<(&'static str, Option<usize>)> {
        let mut branches = self.0.iter().map(|branch| settled(branch.clone()));
        branches.find_map(|branch| beyond(&branch))
    }

    /// About how many parts it is made of that may be copied.
    pub(super) fn size(&self) -> usize {
        let items = self.0.iter().flatten();
        self.0.len() + items.map(Item::size).sum::<usize>()
    }

    /// Says where conditions come from that do not know yet.
    pub(super) fn set_origin(&mut self, offset: usize) {
        for item in self.0.iter_mut().flatten() {
            if let Item::Condition(condition) | Item::Guarded { condition, .. } = item {
                condition.origin.get_or_insert(offset);
            }
        }
    }

    /// One after another.
    pub(super) fn concat(parts: Vec<Self>) -> Result<Self, Unsupported> {
        let mut all: Vec<Branch> = vec![Vec::new()];
        for mut part in parts {
            // The common case, in place: a long sequence would be copied once for each of its parts.
            if part.0.len() == 1
                && let Some(only) = part.0.pop()
            {
                for branch in &mut all {
                    branch.extend_from_slice(&only);
                }
                continue;
            }
            let mut next = Vec::with_capacity(all.len());
            for before in &all {
                for branch in &part.0 {
                    next.push(before.iter().chain(branch).cloned().collect());
                }
            }
            if next.len() > MAX_LOOK_BRANCHES {
                let place = next.iter().flatten().find_map(Item::origin);
                return Err(Unsupported(
                    "look-around in so many alternatives is not supported",
                    place,
                ));
            }
            all = next;
        }
        let all = all.into_iter().map(normal).collect();
        Self(all).joined()
    }

    /// Any of these.
    pub(super) fn alternation(parts: Vec<Self>) -> Result<Self, Unsupported> {
        Self(parts.into_iter().flat_map(|part| part.0).collect()).joined()
    }

    /// Branches with the same conditions at their ends, and none between, become one.
    fn joined(self) -> Result<Self, Unsupported> {
        let mut groups: Vec<(Vec<Condition>, Vec<Condition>, Vec<Text>)> = Vec::new();
        let mut others = Vec::new();
        for branch in self.0 {
            if groups.len() + others.len() > MAX_LOOK_ALTERNATIVES {
                return Err(Unsupported(
                    "look-around in so many alternatives is not supported",
                    branch.iter().find_map(Item::origin),
                ));
            }
            match framed(branch) {
                Ok(Framed {
                    behind,
                    text,
                    ahead,
                }) => {
                    let same = |group: &&mut (Vec<Condition>, Vec<Condition>, Vec<Text>)| {
                        group.0 == behind && group.1 == ahead
                    };
                    match groups.iter_mut().find(same) {
                        Some(group) => group.2.push(text),
                        None => groups.push((behind, ahead, vec![text])),
                    }
                }
                Err(branch) => others.push(branch),
            }
        }
        let mut all: Vec<Branch> = groups
            .into_iter()
            .map(|(behind, ahead, texts)| {
                Framed {
                    behind,
                    text: Text::or(texts),
                    ahead,
                }
                .items()
            })
            .collect();
        all.append(&mut others);
        Ok(Self(all))
    }

    /// Repeated.
    pub(super) fn repeated(
        self,
        min: u32,
        max: Option<u32>,
        anything: &Regex,
    ) -> Result<Self, Unsupported> {
        if max == Some(0) {
            return Ok(Self::text(Text::empty()));
        }
        if (min, max) == (1, Some(1)) {
            return Ok(self);
        }
        let local = Self(self.0.into_iter().map(settled).collect()).joined()?;
        // Conditions alone hold once or as often as one likes.
        if local.0.iter().flatten().all(Item::is_condition) {
            return Ok(if min == 0 {
                Self::text(Text::empty())
            } else {
                local
            });
        }
        let looks = local.0.iter().flatten().any(|item| !item.is_text());
        if looks && (min, max) == (0, Some(1)) {
            let none = Self::text(Text::empty());
            return Self::alternation(vec![none, local]);
        }
        let mut branches = local.0;
        if branches.len() == 1 {
            match framed(branches.remove(0)) {
                Ok(framed) if framed.behind.is_empty() && framed.ahead.is_empty() => {
                    return Ok(Self::text(framed.text.repeated(min, max)));
                }
                Ok(framed) if framed.sees_no_farther_than_itself() => {
                    return Self(framed.repeated(min, max)).joined();
                }
                Ok(framed) => branches.push(framed.items()),
                Err(branch) => branches.push(branch),
            }
        }
        Ok(Self(vec![vec![guard(branches, anything, min, max)?]]))
    }

    /// As a condition on what stands on one side, `anything` being all texts.
    pub(super) fn look(
        self,
        side: Side,
        negated: bool,
        anything: &Regex,
        origin: usize,
    ) -> Result<Self, Unsupported> {
        let mut alternatives: Vec<Vec<Condition>> = Vec::new();
        let mut plain: Vec<(Regex, Option<u32>)> = Vec::new();
        for branch in self.0 {
            let mut branch = settled(branch);
            let mut other = Vec::new();
            // Conditions on the other side hold at the same place.
            loop {
                let at = match side {
                    Side::Ahead => 0,
                    Side::Behind => branch.len().wrapping_sub(1),
                };
                match branch.get(at) {
                    Some(Item::Condition(condition)) if condition.side != side => {
                        other.push(condition.clone());
                        branch.remove(at);
                    }
                    _ => break,
                }
            }
            let reach = reach(&branch, side);
            let language = scope(branch, anything.clone(), side, anything)?;
            if other.is_empty() {
                plain.push((language, reach));
            } else {
                other.push(Condition::new(side, language, reach));
                alternatives.push(other);
            }
        }
        if !plain.is_empty() {
            let reach = plain
                .iter()
                .map(|&(_, reach)| reach)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten();
            let languages = plain.into_iter().map(|(language, _)| language).collect();
            alternatives.push(vec![Condition::new(side, Regex::alt(languages), reach)]);
        }
        if !negated {
            let mut all = Self::conditions(alternatives);
            all.set_origin(origin);
            return Ok(all);
        }
        // None of the alternatives: of each, one condition fails.
        let parts = alternatives.into_iter().map(|conditions| {
            let failing = conditions.into_iter().map(|one| vec![one.negated()]);
            let mut part = Self::conditions(failing.collect());
            part.set_origin(origin);
            part
        });
        Self::concat(parts.collect())
    }

    /// The texts that are a match within `around` on both sides; `anything` is all texts.
    pub(super) fn within(self, around: &Regex, anything: &Regex) -> Result<Regex, Unsupported> {
        let languages: Result<Vec<Regex>, Unsupported> = self
            .0
            .into_iter()
            .map(|branch| whole(branch, around.clone(), anything))
            .collect();
        let mut languages = languages?;
        languages.retain(|language| *language != Regex::Nothing);
        Ok(Regex::alt(languages))
    }
}

fn beyond(branch: &Branch) -> Option<(&'static str, Option<usize>)> {
    branch.iter().enumerate().find_map(|(at, item)| {
        let (side, condition, own) = match item {
            Item::Text(_) => return None,
            Item::Condition(condition) if is_empty(&condition.language) => return None,
            Item::Condition(condition) => (condition.side, condition, Text::empty()),
            Item::Guarded {
                unit, condition, ..
            } => (Side::Ahead, condition, unit.clone()),
        };
        let beside = match side {
            Side::Ahead => &branch[at + 1..],
            Side::Behind => &branch[..at],
        };
        let text = beside.iter().fold(own, |text, item| match item {
            Item::Text(more) => text.then(more.clone()),
            Item::Condition(_) => text,
            Item::Guarded { unit, min, max, .. } => text.then(unit.clone().repeated(*min, *max)),
        });
        let is_long = text.least > 0 && text.most.is_none() && condition.reach.is_some();
        if is_long || condition.is_decided_by(text.least) {
            return None;
        }
        let message = match side {
            Side::Ahead => "this terminal looks at the text that follows it",
            Side::Behind => "this terminal looks at the text that stands before it",
        };
        Some((message, condition.origin))
    })
}

impl Framed {
    fn items(self) -> Branch {
        let conditions = |all: Vec<Condition>| all.into_iter().map(Item::Condition);
        let text = Some(self.text).filter(|text| !is_empty(&text.regex));
        conditions(self.behind)
            .chain(text.map(Item::Text))
            .chain(conditions(self.ahead))
            .collect()
    }

    /// Whether the rounds beside it decide all its conditions when it is repeated.
    fn sees_no_farther_than_itself(&self) -> bool {
        let mut conditions = self.behind.iter().chain(&self.ahead);
        conditions.all(|one| one.is_decided_by(self.text.least))
    }

    /// The rounds of a repetition, by how many there are: none, one, two or more. In the last case the first round also
    /// has the condition of the one that follows it, and so on.
    fn repeated(self, min: u32, max: Option<u32>) -> Vec<Branch> {
        let Self {
            behind,
            text,
            ahead,
        } = self;
        let mut all = Vec::new();
        if min == 0 {
            all.push(Vec::new());
        }
        if min <= 1 {
            let once = Self {
                behind: behind.clone(),
                text: text.clone(),
                ahead: ahead.clone(),
            };
            all.push(once.items());
        }
        if max.is_none_or(|max| max >= 2) {
            let first = text.clone().under(&behind);
            let inner = first.clone().under(&ahead);
            let inner = inner.repeated(min.max(2) - 2, max.map(|max| max - 2));
            let several = Self {
                text: first.then(inner).then(text.under(&ahead)),
                behind,
                ahead,
            };
            all.push(several.items());
        }
        all
    }
}

/// The branch taken apart, if its conditions are all at its ends.
fn framed(branch: Branch) -> Result<Framed, Branch> {
    let first = branch
        .iter()
        .position(|item| !item.looks(Side::Behind) || !item.is_condition());
    let first = first.unwrap_or(branch.len());
    let behind = branch.iter().rev();
    let last = behind
        .take_while(|item| item.is_condition() && item.looks(Side::Ahead))
        .count();
    let last = branch.len() - last;
    if first > last || branch[first..last].iter().any(|item| !item.is_text()) {
        return Err(branch);
    }
    let mut framed = Framed {
        behind: Vec::new(),
        text: Text::empty(),
        ahead: Vec::new(),
    };
    for (at, item) in branch.into_iter().enumerate() {
        match item {
            Item::Condition(condition) if at < first => framed.behind.push(condition),
            Item::Condition(condition) => framed.ahead.push(condition),
            Item::Text(text) => framed.text = framed.text.then(text),
            Item::Guarded { .. } => {}
        }
    }
    Ok(framed)
}

/// A repetition of single characters with conditions ahead of and behind them, of which each looks ahead.
fn guard(
    branches: Vec<Branch>,
    anything: &Regex,
    min: u32,
    max: Option<u32>,
) -> Result<Item, Unsupported> {
    let origin = branches.iter().flatten().find_map(Item::origin);
    let mut units = Vec::new();
    let mut languages = Vec::new();
    let mut farthest = Some(0);
    for branch in branches {
        let mut texts = branch.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        });
        match (texts.next(), texts.next()) {
            (Some(unit), None) if (unit.least, unit.most) == (1, Some(1)) => {
                units.push(unit.clone());
            }
            _ => {
                let what = "look-around that a round of its repetition does not decide is only supported between \
                            single characters";
                return Err(Unsupported(what, origin));
            }
        }
        farthest = farthest
            .zip(reach(&branch, Side::Ahead))
            .map(|(a, b)| a.max(b));
        languages.push(scope(branch, anything.clone(), Side::Ahead, anything)?);
    }
    let mut condition = Condition::new(Side::Ahead, Regex::alt(languages), farthest);
    condition.origin = origin;
    Ok(Item::Guarded {
        unit: Text::or(units),
        condition,
        min,
        max,
    })
}
