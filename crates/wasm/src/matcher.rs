//! Matchers.

use std::ptr;
use std::sync::Arc;

use syntagma_engine::{Bound, CompiledGrammar, Explanation, GrammarMatcher, Verdict};
use syntagma_grammar::json::Value;
use syntagma_host::captures_json;

use crate::arguments::Arguments;
use crate::things::{Page, answer};

/// A compiled grammar, and what its matchers keep labelled parts to.
pub(crate) struct Compiled {
    pub(crate) compiled: Arc<CompiledGrammar>,
    pub(crate) bounds: Vec<Bound>,
}

fn ask(
    matcher: u32,
    question: impl FnOnce(&GrammarMatcher) -> Result<i32, syntagma_engine::Error>,
) -> i32 {
    answer(|page| Ok(question(page.things.get(matcher)?)?))
}

/// Asks for something that is longer than a number.
fn tell(
    matcher: u32,
    question: impl FnOnce(&GrammarMatcher) -> Result<Vec<u8>, syntagma_engine::Error>,
) -> i32 {
    answer(|page| {
        page.output = question(page.things.get(matcher)?)?;
        Ok(0)
    })
}

fn change(
    matcher: u32,
    change: impl FnOnce(&mut GrammarMatcher) -> Result<i32, syntagma_engine::Error>,
) -> i32 {
    answer(|page| Ok(change(page.things.get_mut(matcher)?)?))
}

/// A matcher at the start of a text.
#[unsafe(no_mangle)]
pub extern "C" fn matcher(compiled: u32) -> i32 {
    answer(|page| {
        let Compiled { compiled, bounds } = page.things.get(compiled)?;
        let matcher = GrammarMatcher::with_bounds(Arc::clone(compiled), bounds.clone())?;
        Ok(page.things.add(matcher))
    })
}

/// A matcher where another one, of the same grammar and vocabulary, was saved. Input: the bytes.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_of_bytes(compiled: u32) -> i32 {
    answer(|page| {
        let bytes = Arguments::new(&page.input).bytes()?;
        let Compiled { compiled, .. } = page.things.get(compiled)?;
        let matcher = GrammarMatcher::from_state_bytes(Arc::clone(compiled), bytes)?;
        Ok(page.things.add(matcher))
    })
}

/// Output: where it stands, as bytes.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_bytes(matcher: u32) -> i32 {
    tell(matcher, GrammarMatcher::state_bytes)
}

/// Which tokens may come next: where the row of a bitmask begins; null for an error.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_mask(matcher: u32) -> *const i32 {
    let mut row = ptr::null();
    answer(|page| {
        let Page {
            things, row: kept, ..
        } = page;
        let matcher: &GrammarMatcher = things.get(matcher)?;
        let mask = match matcher.known_mask() {
            Some(mask) => mask,
            None => matcher.next_mask()?,
        };
        kept.resize(mask.word_count(), 0);
        mask.write(&mut kept[..])?;
        row = kept.as_ptr();
        Ok(0)
    });
    row
}

/// Accepts a token: whether it may come next.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_accept(matcher: u32, token: u32) -> i32 {
    change(matcher, |matcher| {
        let known = matcher.accept_known(token);
        Ok(known
            .map_or_else(|| matcher.accept_token(token), Ok)?
            .into())
    })
}

/// Accepts bytes of text, all or none. Input: the bytes.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_accept_bytes(matcher: u32) -> i32 {
    answer(|page| {
        let bytes = Arguments::new(&page.input).bytes()?;
        let matcher: &mut GrammarMatcher = page.things.get_mut(matcher)?;
        Ok(matcher.accept_bytes(bytes)?.into())
    })
}

/// How many of some tokens could be accepted in their order. Input: the tokens.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_validate(matcher: u32) -> i32 {
    answer(|page| {
        let tokens = Arguments::new(&page.input).numbers()?;
        let matcher: &GrammarMatcher = page.things.get(matcher)?;
        let count = matcher.validate_tokens(&tokens)?;
        Ok((count as u32).cast_signed())
    })
}

/// Whether the text has ended.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_is_terminated(matcher: u32) -> i32 {
    ask(matcher, |matcher| Ok(matcher.is_terminated()?.into()))
}

/// Whether the text may end here.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_is_accepting(matcher: u32) -> i32 {
    ask(matcher, |matcher| Ok(matcher.is_accepting()?.into()))
}

/// Takes back so many steps.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_rollback(matcher: u32, steps: u32) -> i32 {
    change(matcher, |matcher| {
        matcher.rollback(steps as usize)?;
        Ok(0)
    })
}

/// Goes back to the start of the text.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_reset(matcher: u32) -> i32 {
    change(matcher, |matcher| {
        matcher.reset();
        Ok(0)
    })
}

/// A second matcher at the same place.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_fork(matcher: u32) -> i32 {
    answer(|page| {
        let matcher: &GrammarMatcher = page.things.get(matcher)?;
        let fork = matcher.fork();
        Ok(page.things.add(fork))
    })
}

/// Output: the bytes that must come next.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_jump_forward(matcher: u32) -> i32 {
    tell(matcher, GrammarMatcher::find_jump_forward_bytes)
}

/// Output: the labelled parts of the text as JSON, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_captures(matcher: u32) -> i32 {
    tell(matcher, |matcher| {
        Ok(captures_json(&matcher.captures()?).into_bytes())
    })
}

/// The fewest tokens that end the text: how many, or -2 where `budget` of them are not enough. A negative budget is none.
/// Output: the tokens, 4 bytes each.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_shortest_close(matcher: u32, budget: i32) -> i32 {
    answer(|page| {
        let matcher: &GrammarMatcher = page.things.get(matcher)?;
        let Some(tokens) = matcher.shortest_close(usize::try_from(budget).ok())? else {
            return Ok(-2);
        };
        page.output = tokens
            .iter()
            .flat_map(|token| token.to_le_bytes())
            .collect();
        Ok((tokens.len() as u32).cast_signed())
    })
}

/// Output: what is expected and, for a token that is not negative, what becomes of it, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn matcher_explain(matcher: u32, token: i32) -> i32 {
    answer(|page| {
        let matcher: &GrammarMatcher = page.things.get(matcher)?;
        let explanation = matcher.explain(u32::try_from(token).ok())?;
        page.output = explained(&explanation).into_bytes();
        Ok(0)
    })
}

fn explained(explanation: &Explanation) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let object = |members: Vec<(&str, Value)>| {
        let members = members.into_iter();
        Value::Object(
            members
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    };
    let expected = explanation.expected.iter().map(|one| {
        object(vec![
            ("rule", text(&one.rule)),
            ("symbol", text(&one.symbol)),
            ("begun", Value::Bool(one.begun)),
        ])
    });
    let mut members = vec![
        ("expected", Value::Array(expected.collect())),
        ("accepting", Value::Bool(explanation.accepting)),
        ("terminated", Value::Bool(explanation.terminated)),
    ];
    if let Some(verdict) = explanation.token {
        let (word, at) = match verdict {
            Verdict::Allowed => ("allowed", None),
            Verdict::Dies { at } => ("dies", Some(at)),
            Verdict::NotExpected => ("not expected", None),
            Verdict::Unused => ("unused", None),
            Verdict::Ended => ("ended", None),
            Verdict::Spent => ("spent", None),
        };
        members.push(("token", text(word)));
        members.extend(at.map(|at| ("dies_at", Value::from(i64::from(at as u32)))));
    }
    object(members).to_string()
}
