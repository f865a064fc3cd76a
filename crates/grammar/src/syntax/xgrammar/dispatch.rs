//! `TagDispatch(…)` and `TokenTagDispatch(…)`: free text or free tokens, a trigger, what its rule says, and so on.

use super::arguments::{Arguments, Value};
use crate::error::Error;
use crate::ir::text::{free_text, free_text_before};
use crate::ir::{Regex, TokenSet};
use crate::syntax::regex::Patterns;
use crate::syntax::rules::{Ast, Node, NodeId};

/// A trigger, the rule that it leads to, and where the pair stands.
type Pair<'a, T> = (&'a T, &'a str, usize);

/// Builds what a dispatch stands for.
pub(super) fn read(
    arguments: &Arguments<'_>,
    (name, offset): (&str, usize),
    ast: &mut Ast,
    patterns: &mut Patterns,
) -> Result<NodeId, Error> {
    arguments.only(&["excludes", "loop_after_dispatch"])?;
    let repeats = arguments.flag("loop_after_dispatch", true)?;
    let (before, last) = if name == "TagDispatch" {
        texts(arguments, offset, ast, patterns)?
    } else {
        tokens(arguments, offset, ast)?
    };
    let mut add = |node| ast.add(node, offset);
    if before.is_empty() {
        return Ok(last);
    }
    let one = add(Node::Alt(before));
    Ok(if repeats {
        let all = add(Node::Repeat {
            inner: one,
            min: 0,
            max: None,
            separator: None,
        });
        add(Node::Seq(vec![all, last]))
    } else {
        add(Node::Alt(vec![one, last]))
    })
}

/// The pairs of a dispatch, whose triggers `of` reads.
fn pairs<'a, T>(
    arguments: &'a Arguments<'_>,
    of: impl Fn(&'a Value) -> Option<&'a T>,
    wanted: &str,
) -> Result<Vec<Pair<'a, T>>, Error> {
    let pairs = arguments.positional.iter().map(|(pair, offset)| {
        let Value::Tuple(pair) = pair else {
            return Err(arguments.wrong(*offset, "expected a pair of a trigger and a rule"));
        };
        let [(trigger, at), (Value::Name(rule), _)] = &pair[..] else {
            return Err(arguments.wrong(*offset, "expected a pair of a trigger and a rule"));
        };
        let trigger = of(trigger).ok_or_else(|| arguments.wrong(*at, wanted))?;
        Ok((trigger, rule.as_str(), *at))
    });
    pairs.collect()
}

/// What may not stand in what is free, which `of` reads.
fn excludes<'a, T>(
    arguments: &'a Arguments<'_>,
    of: impl Fn(&'a Value) -> Option<&'a T>,
    wanted: &str,
) -> Result<Vec<(&'a T, usize)>, Error> {
    let Some((given, offset)) = arguments.named("excludes") else {
        return Ok(Vec::new());
    };
    let Value::Tuple(members) = given else {
        return Err(arguments.wrong(offset, "excludes are a tuple"));
    };
    let members = members.iter().map(|(value, at)| {
        of(value)
            .map(|found| (found, *at))
            .ok_or_else(|| arguments.wrong(*at, wanted))
    });
    members.collect()
}

/// A text that is not empty.
fn text_of(value: &Value) -> Option<&String> {
    match value {
        Value::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The number of a token.
fn id_of(value: &Value) -> Option<&u32> {
    match value {
        Value::Number(id) => Some(id),
        _ => None,
    }
}

/// Free text and triggers that are texts: the ways from free text to a rule, and the free text after all of them.
fn texts(
    arguments: &Arguments<'_>,
    offset: usize,
    ast: &mut Ast,
    patterns: &mut Patterns,
) -> Result<(Vec<NodeId>, NodeId), Error> {
    let pairs = pairs(arguments, text_of, "a trigger is text, and not empty")?;
    let excludes = excludes(
        arguments,
        text_of,
        "what is excluded is text, and not empty",
    )?;
    for &(excluded, at) in &excludes {
        if pairs
            .iter()
            .any(|(trigger, ..)| trigger.starts_with(excluded.as_str()))
        {
            let message = format!("the trigger that begins with {excluded:?} could never come");
            return Err(arguments.wrong(at, &message));
        }
    }
    let triggers: Vec<&str> = pairs.iter().map(|(trigger, ..)| trigger.as_str()).collect();
    let excludes: Vec<&str> = excludes.iter().map(|(text, _)| text.as_str()).collect();
    // Each trigger is compared with all others.
    let bytes: usize = triggers
        .iter()
        .chain(&excludes)
        .map(|text| text.len())
        .sum();
    patterns.fuel.spend(bytes.saturating_mul(triggers.len()))?;
    let all: Vec<&str> = triggers.iter().chain(&excludes).copied().collect();
    let free = free_text(&all, None);
    let mut ways = Vec::with_capacity(pairs.len());
    // Triggers before which any free text may stand share it.
    let mut shared = Vec::new();
    for (trigger, rule, at) in pairs {
        let before = free_text_before(trigger, &triggers, &excludes, &free);
        let marker = ast.add(Node::Marker(trigger.clone()), at);
        let rule = ast.add(Node::Name(rule.to_owned()), at);
        let call = ast.add(Node::Seq(vec![marker, rule]), at);
        if before == free {
            shared.push(call);
        } else if before != Regex::Nothing {
            ways.push(after(ast, before, call, at));
        }
    }
    if !shared.is_empty() {
        let call = ast.choice(shared, offset);
        ways.push(after(ast, free.clone(), call, offset));
    }
    Ok((ways, ast.add(Node::Regex(free), offset)))
}

fn after(ast: &mut Ast, before: Regex, call: NodeId, offset: usize) -> NodeId {
    let before = ast.add(Node::Regex(before), offset);
    ast.add(Node::Seq(vec![before, call]), offset)
}

/// The same with tokens.
fn tokens(
    arguments: &Arguments<'_>,
    offset: usize,
    ast: &mut Ast,
) -> Result<(Vec<NodeId>, NodeId), Error> {
    let pairs = pairs(arguments, id_of, "a trigger is the number of a token")?;
    let excludes = excludes(
        arguments,
        id_of,
        "what is excluded is the number of a token",
    )?;
    if let Some((id, at)) = excludes
        .iter()
        .find(|(id, _)| pairs.iter().any(|(trigger, ..)| trigger == id))
    {
        return Err(arguments.wrong(*at, &format!("the token {id} is a trigger as well")));
    }
    let triggers = pairs.iter().map(|(id, ..)| **id);
    let ids = triggers
        .chain(excludes.iter().map(|(id, _)| **id))
        .map(|id| (id, id));
    let free = ast.add(
        Node::Token(TokenSet::except(ids.collect(), Vec::new())),
        offset,
    );
    let free = ast.add(
        Node::Repeat {
            inner: free,
            min: 0,
            max: None,
            separator: None,
        },
        offset,
    );
    let ways = pairs.into_iter().map(|(&id, rule, at)| {
        let token = ast.add(Node::Token(TokenSet::Ids([(id, id)].into())), at);
        let rule = ast.add(Node::Name(rule.to_owned()), at);
        ast.add(Node::Seq(vec![free, token, rule]), at)
    });
    Ok((ways.collect(), free))
}
