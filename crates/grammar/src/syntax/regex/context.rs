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

use crate::ir::Regex;

/// Branches that one pattern may come to.
const BRANCHES: usize = 64;

/// Alternatives that differ in what they ask of the text around them.
const ALTERNATIVES: usize = 512;

/// Rounds of a guarded repetition that are written out.
const ROUNDS: u32 = 16;

/// Why a pattern is refused: the reason, and where in its source if that is known.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) &'static str, pub(super) Option<usize>);

/// A direction from a place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ahead,
    Behind,
}

/// A language without conditions.
#[derive(Debug, Clone)]
pub(super) struct Text {
    regex: Regex,
    /// Characters of a shortest word.
    least: u32,
    /// Characters of a longest word; None if there is none.
    most: Option<u32>,
}

/// That all that stands on one side is in a language.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    side: Side,
    language: Regex,
    /// Whether the language holds texts only: a complement holds other bytes, too.
    is_text: bool,
    /// Whether so many characters next to the place decide (fewer if there are fewer); None if all may matter.
    reach: Option<u32>,
    /// Where it stands in the pattern's source.
    origin: Option<usize>,
}

#[derive(Debug, Clone)]
enum Item {
    Text(Text),
    Condition(Condition),
    /// Single characters, repeated, with a condition ahead of each.
    Guarded {
        unit: Text,
        condition: Condition,
        min: u32,
        max: Option<u32>,
    },
}

type Branch = Vec<Item>;

/// A pattern as its alternatives.
#[derive(Debug, Clone, Default)]
pub(super) struct Branches(Vec<Branch>);

/// The conditions at both ends of a branch and the text between them.
struct Framed {
    behind: Vec<Condition>,
    text: Text,
    ahead: Vec<Condition>,
}

impl Text {
    pub(super) fn new(regex: Regex, least: u32, most: Option<u32>) -> Self {
        Self { regex, least, most }
    }

    fn empty() -> Self {
        Self::new(Regex::empty(), 0, Some(0))
    }

    fn then(self, other: Self) -> Self {
        Self {
            regex: sequence([self.regex, other.regex]),
            least: self.least.saturating_add(other.least),
            most: self
                .most
                .zip(other.most)
                .and_then(|(mine, theirs)| mine.checked_add(theirs)),
        }
    }

    fn or(texts: Vec<Self>) -> Self {
        Self {
            least: texts.iter().map(|text| text.least).min().unwrap_or(0),
            most: texts
                .iter()
                .map(|text| text.most)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten(),
            regex: Regex::alt(texts.into_iter().map(|text| text.regex).collect()),
        }
    }

    fn repeated(self, min: u32, max: Option<u32>) -> Self {
        Self {
            least: self.least.saturating_mul(min),
            most: if self.most == Some(0) {
                Some(0)
            } else {
                self.most
                    .zip(max)
                    .and_then(|(most, max)| most.checked_mul(max))
            },
            regex: Regex::repeat(self.regex, min, max),
        }
    }

    fn under(self, conditions: &[Condition]) -> Self {
        Self {
            regex: conditions
                .iter()
                .fold(self.regex, |regex, one| both(regex, one, None)),
            ..self
        }
    }
}

/// Conditions are equal wherever they come from.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        (self.side, self.is_text, self.reach) == (other.side, other.is_text, other.reach)
            && self.language == other.language
    }
}

impl Condition {
    pub(super) fn new(side: Side, language: Regex, reach: Option<u32>) -> Self {
        Self {
            side,
            language,
            is_text: true,
            reach,
            origin: None,
        }
    }

    /// That nothing is there: the edge of the text.
    pub(super) fn edge(side: Side) -> Self {
        Self::new(side, Regex::empty(), Some(1))
    }

    /// The opposite.
    pub(super) fn negated(self) -> Self {
        Self {
            language: match self.language {
                Regex::Not(inner) => (*inner).clone(),
                language => Regex::Not(language.into()),
            },
            is_text: false,
            ..self
        }
    }

    /// Whether so much text next to it decides.
    fn is_decided_by(&self, characters: u32) -> bool {
        self.reach.is_some_and(|reach| reach <= characters)
    }

    fn refused(&self, what: &'static str) -> Unsupported {
        Unsupported(what, self.origin)
    }
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
            if next.len() > BRANCHES {
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
            if groups.len() + others.len() > ALTERNATIVES {
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

impl Item {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => match &text.regex {
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => 1 + parts.len(),
                _ => 1,
            },
            Self::Condition(_) | Self::Guarded { .. } => 4,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    fn is_condition(&self) -> bool {
        matches!(self, Self::Condition(_))
    }

    fn looks(&self, wanted: Side) -> bool {
        match self {
            Self::Condition(condition) => condition.side == wanted,
            Self::Guarded { .. } => wanted == Side::Ahead,
            Self::Text(_) => false,
        }
    }

    fn origin(&self) -> Option<usize> {
        match self {
            Self::Condition(condition) | Self::Guarded { condition, .. } => condition.origin,
            Self::Text(_) => None,
        }
    }
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

fn is_empty(regex: &Regex) -> bool {
    matches!(regex, Regex::Literal(bytes) if bytes.is_empty())
}

/// One after another, without empty parts; parts that are sequences are taken apart.
fn sequence(parts: impl IntoIterator<Item = Regex>) -> Regex {
    let mut flat: Vec<Regex> = Vec::new();
    for part in parts {
        match part {
            Regex::Concat(inner) => flat.extend(inner.iter().cloned()),
            part if is_empty(&part) => {}
            part => flat.push(part),
        }
    }
    let parts = flat;
    if parts.is_empty() {
        Regex::empty()
    } else {
        Regex::concat(parts)
    }
}

/// The words of a language that satisfy a condition; the language may be all texts.
fn both(regex: Regex, condition: &Condition, anything: Option<&Regex>) -> Regex {
    let language = &condition.language;
    // One of the two is the empty string, or nothing: the other has it, or not.
    for (one, other) in [(&regex, language), (language, &regex)] {
        if is_empty(one) {
            return if other.is_nullable() {
                Regex::empty()
            } else {
                Regex::Nothing
            };
        }
        if *one == Regex::Nothing {
            return Regex::Nothing;
        }
    }
    if condition.is_text && anything == Some(&regex) {
        return language.clone();
    }
    match regex {
        Regex::And(parts) => Regex::And(parts.iter().chain([language]).cloned().collect()),
        regex => Regex::And([regex, language.clone()].into()),
    }
}

/// Texts side by side become one, and conditions at one place stand in one order: those on what is behind come first.
fn normal(branch: Branch) -> Branch {
    let mut out: Branch = Vec::with_capacity(branch.len());
    let mut texts: Vec<Text> = Vec::new();
    let flush = |texts: &mut Vec<Text>, out: &mut Branch| {
        let texts = std::mem::take(texts);
        let all = Text {
            least: texts
                .iter()
                .fold(0, |sum, text| sum.saturating_add(text.least)),
            most: texts
                .iter()
                .try_fold(0_u32, |sum, text| sum.checked_add(text.most?)),
            regex: sequence(texts.into_iter().map(|text| text.regex)),
        };
        if !is_empty(&all.regex) {
            out.push(Item::Text(all));
        }
    };
    for item in branch {
        match item {
            Item::Text(text) => texts.push(text),
            item => {
                flush(&mut texts, &mut out);
                out.push(item);
            }
        }
    }
    flush(&mut texts, &mut out);
    for run in out.chunk_by_mut(|a, b| a.is_condition() && b.is_condition()) {
        run.sort_by_key(|item| item.looks(Side::Ahead));
    }
    // Said twice, it is no more than said once.
    out.dedup_by(|later, sooner| match (later, sooner) {
        (Item::Condition(later), Item::Condition(sooner)) => {
            later.side == sooner.side && later.language == sooner.language
        }
        _ => false,
    });
    out
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
        languages.push(scope(branch, anything.clone(), Side::Ahead, anything)?);
    }
    let mut condition = Condition::new(Side::Ahead, Regex::alt(languages), None);
    condition.origin = origin;
    Ok(Item::Guarded {
        unit: Text::or(units),
        condition,
        min,
        max,
    })
}

/// The branch with every condition that the text beside it decides turned into one on that text.
fn settled(branch: Branch) -> Branch {
    let mut items = branch;
    let mut at = items.len();
    while at > 0 {
        at -= 1;
        settle(&mut items, at, Side::Ahead);
    }
    let mut at = 0;
    while at < items.len() {
        let before = items.len();
        settle(&mut items, at, Side::Behind);
        // A condition behind is gone together with the texts before it, which are one now.
        at = (at + 1).saturating_sub(before - items.len());
    }
    normal(items)
}

fn settle(items: &mut Branch, at: usize, side: Side) {
    let Some(Item::Condition(condition)) = items.get(at) else {
        return;
    };
    if condition.side != side {
        return;
    }
    let condition = condition.clone();
    let mut range = match side {
        Side::Ahead => at + 1..at + 1,
        Side::Behind => at..at,
    };
    let mut text = Text::empty();
    while !condition.is_decided_by(text.least) {
        let next = match side {
            Side::Ahead => range.end,
            Side::Behind => range.start.wrapping_sub(1),
        };
        let Some(Item::Text(more)) = items.get(next) else {
            return;
        };
        match side {
            Side::Ahead => {
                text = text.then(more.clone());
                range.end += 1;
            }
            Side::Behind => {
                text = more.clone().then(text);
                range.start -= 1;
            }
        }
    }
    let range = match side {
        Side::Ahead => at..range.end,
        Side::Behind => range.start..at + 1,
    };
    items.splice(range, [Item::Text(text.under(&[condition]))]);
}

/// How many characters on one side decide whether a branch matches there.
fn reach(branch: &Branch, side: Side) -> Option<u32> {
    let mut so_far: u32 = 0;
    let mut most: u32 = 0;
    let items: Vec<&Item> = match side {
        Side::Ahead => branch.iter().collect(),
        Side::Behind => branch.iter().rev().collect(),
    };
    for item in items {
        match item {
            Item::Text(text) => so_far = so_far.checked_add(text.most?)?,
            Item::Condition(condition) => most = most.max(so_far.checked_add(condition.reach?)?),
            Item::Guarded { .. } => return None,
        }
    }
    Some(most.max(so_far))
}

/// All that may stand on one side of a place: the branch, then `edge`. Every condition must look to that side.
fn scope(branch: Branch, edge: Regex, side: Side, anything: &Regex) -> Result<Regex, Unsupported> {
    let mut all = edge;
    let items: Vec<Item> = match side {
        Side::Ahead => branch.into_iter().rev().collect(),
        Side::Behind => branch,
    };
    for item in items {
        all = match (item, side) {
            (Item::Text(text), Side::Ahead) => sequence([text.regex, all]),
            (Item::Text(text), Side::Behind) => sequence([all, text.regex]),
            (Item::Condition(condition), side) if condition.side == side => {
                both(all, &condition, Some(anything))
            }
            (
                Item::Guarded {
                    unit,
                    condition,
                    min,
                    max,
                },
                Side::Ahead,
            ) => guarded(&unit, condition, (min, max), all, anything)?,
            (Item::Condition(condition) | Item::Guarded { condition, .. }, _) => {
                return Err(condition.refused(
                    "look-around in both directions over the same text is not supported here",
                ));
            }
        };
    }
    Ok(all)
}

/// Single characters, between `min` and `max`, with a condition ahead of each, then `rest`.
///
/// Where it is clear how many characters there are, the texts are those without the condition, less those in which it
/// fails somewhere: characters, then a place where it fails although another character follows.
fn guarded(
    unit: &Text,
    condition: Condition,
    (min, max): (u32, Option<u32>),
    rest: Regex,
    anything: &Regex,
) -> Result<Regex, Unsupported> {
    // Before all texts, more characters than needed say nothing.
    if rest == *anything && min <= ROUNDS {
        return Ok((0..min).fold(rest, |rest, _| {
            both(
                sequence([unit.regex.clone(), rest]),
                &condition,
                Some(anything),
            )
        }));
    }
    if !is_empty(&rest)
        && !unit
            .regex
            .first_bytes()
            .intersection(&rest.first_bytes())
            .is_empty()
    {
        return Err(condition.refused(
            "look-around in a repetition needs a clear end behind it: the end of the text, or another character",
        ));
    }
    let repeated = |min, max| unit.clone().repeated(min, max).regex;
    let all = sequence([repeated(min, max), rest.clone()]);
    let going_on = sequence([repeated(1, None), rest]);
    let fails = both(going_on, &condition.negated(), None);
    let somewhere = sequence([repeated(0, None), fails]);
    Ok(Regex::And([all, Regex::Not(somewhere.into())].into()))
}

/// The texts that are a match of a branch with `around` on both sides.
fn whole(branch: Branch, around: Regex, anything: &Regex) -> Result<Regex, Unsupported> {
    let mut items = settled(branch);
    let (mut before, mut after) = (around.clone(), around);
    // Conditions on the whole text.
    let mut all: Vec<Condition> = Vec::new();
    loop {
        let count = items.len();
        if let Some(Item::Condition(condition)) = items.first() {
            if condition.side == Side::Behind {
                before = both(before, condition, Some(anything));
                items.remove(0);
            } else if is_empty(&before) {
                all.push(condition.clone());
                items.remove(0);
            }
        }
        if let Some(Item::Condition(condition)) = items.last() {
            if condition.side == Side::Ahead {
                after = both(after, condition, Some(anything));
                items.pop();
            } else if is_empty(&after) {
                all.push(condition.clone());
                items.pop();
            }
        }
        if items.len() == count {
            break;
        }
    }
    let behind = items.iter().rposition(|item| item.looks(Side::Behind));
    let right = items.split_off(behind.map_or(0, |at| at + 1));
    let left = scope(items, before, Side::Behind, anything)?;
    let right = scope(right, after, Side::Ahead, anything)?;
    if left == Regex::Nothing || right == Regex::Nothing {
        return Ok(Regex::Nothing);
    }
    let language = sequence([left, right]);
    Ok(all.iter().fold(language, |language, one| {
        both(language, one, Some(anything))
    }))
}
