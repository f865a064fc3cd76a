//! Conditions on the text around a place become part of a regular language: of the text beside them, or of all that stands on
//! one side. Both are exact; what is neither is refused.

use super::branch::{
    Branch, Condition, Item, Side, Text, Unsupported, both, is_empty, normal, sequence,
};
use crate::ir::Regex;
use crate::tuning::MAX_LOOK_ROUNDS;

/// The branch with every condition that the text beside it decides turned into one on that text.
pub(super) fn settled(branch: Branch) -> Branch {
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
pub(super) fn reach(branch: &Branch, side: Side) -> Option<u32> {
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
pub(super) fn scope(
    branch: Branch,
    edge: Regex,
    side: Side,
    anything: &Regex,
) -> Result<Regex, Unsupported> {
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
    if rest == *anything && min <= MAX_LOOK_ROUNDS {
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
            "look-around in a repetition needs a clear end after it: the end of the text, or another character",
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
pub(super) fn whole(branch: Branch, around: Regex, anything: &Regex) -> Result<Regex, Unsupported> {
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
