//! Matchers: one text as it grows.

use std::mem::MaybeUninit;
use std::sync::Arc;

use syntagma_engine::GrammarMatcher;
use syntagma_host::{Error, captures_json, explanation_json};

use crate::call::{SyntagmaStatus, call, quietly};
use crate::compiler::SyntagmaCompiled;
use crate::given::{given, put, put_made};
use crate::memory::{SyntagmaBytes, SyntagmaTokens, items, items_mut};

/// Follows one text through a compiled grammar.
#[derive(Debug)]
pub struct SyntagmaMatcher(pub(crate) GrammarMatcher);

/// Answers a question to a matcher.
fn ask<T>(
    matcher: Option<&SyntagmaMatcher>,
    out: Option<&mut MaybeUninit<T>>,
    question: impl FnOnce(&GrammarMatcher) -> Result<T, Error>,
) -> SyntagmaStatus {
    call(|| {
        let out = given(out, "the place of the result")?;
        out.write(question(&given(matcher, "matcher")?.0)?);
        Ok(())
    })
}

/// A matcher at the start of a text.
///
/// Fails with E-BUDGET-… for bounds that the grammar brings along and cannot keep, and E-LIMIT-…. `*out` is freed by
/// syntagma_matcher_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_new(
    compiled: Option<&SyntagmaCompiled>,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaMatcher>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            let compiled = given(compiled, "compiled")?;
            let (inner, bounds) = (Arc::clone(&compiled.inner), compiled.bounds.clone());
            Ok(SyntagmaMatcher(GrammarMatcher::with_bounds(inner, bounds)?))
        })
    })
}

/// A second matcher at the same place with the same past. `*out` is freed by syntagma_matcher_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_fork(
    matcher: Option<&SyntagmaMatcher>,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaMatcher>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            Ok(SyntagmaMatcher(given(matcher, "matcher")?.0.fork()))
        })
    })
}

/// Writes which tokens may come next into a row of `words` 32-bit words: bit `i` of word `w` is token `32 w + i`, 1 is allowed.
/// Words beyond the vocabulary become 0. Once the text has ended, all bits are 1.
///
/// Fails with E-BITMASK-SIZE, the row is shorter than syntagma_bitmask_words() says; E-LIMIT-STEP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_matcher_fill(
    matcher: Option<&SyntagmaMatcher>,
    row: *mut i32,
    words: usize,
) -> SyntagmaStatus {
    call(|| {
        // SAFETY: the row has so many words, which are the caller's alone.
        let row = unsafe { items_mut(row, words) };
        Ok(given(matcher, "matcher")?.0.fill_next_token_bitmask(row)?)
    })
}

/// Takes a token if it may come next; whether it may is written to `accepted`. Where not, nothing changes.
///
/// Fails with E-TOKEN-ID, the vocabulary has no such token; E-LIMIT-STEP.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_accept_token(
    matcher: Option<&mut SyntagmaMatcher>,
    id: u32,
    accepted: Option<&mut MaybeUninit<bool>>,
) -> SyntagmaStatus {
    call(|| {
        let accepted = given(accepted, "the place of the result")?;
        accepted.write(given(matcher, "matcher")?.0.accept_token(id)?);
        Ok(())
    })
}

/// Takes text, whole or not at all. It counts as one step, and as one token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_matcher_accept_bytes(
    matcher: Option<&mut SyntagmaMatcher>,
    data: *const u8,
    length: usize,
    accepted: Option<&mut MaybeUninit<bool>>,
) -> SyntagmaStatus {
    call(|| {
        let accepted = given(accepted, "the place of the result")?;
        // SAFETY: the bytes are as many as they say.
        let data = unsafe { items(data, length) };
        accepted.write(given(matcher, "matcher")?.0.accept_bytes(data)?);
        Ok(())
    })
}

/// Whether a token may come next. Nothing changes.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_accepts(
    matcher: Option<&SyntagmaMatcher>,
    id: u32,
    accepts: Option<&mut MaybeUninit<bool>>,
) -> SyntagmaStatus {
    ask(matcher, accepts, |matcher| Ok(matcher.accepts(id)?))
}

/// How many of the tokens, from the first on, could be accepted in this order. Nothing changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_matcher_validate(
    matcher: Option<&SyntagmaMatcher>,
    ids: *const u32,
    count: usize,
    valid: Option<&mut MaybeUninit<usize>>,
) -> SyntagmaStatus {
    // SAFETY: the ids are as many as they say.
    let ids = unsafe { items(ids, count) };
    ask(matcher, valid, |matcher| Ok(matcher.validate_tokens(ids)?))
}

/// Takes back the last steps.
///
/// Fails with E-MATCHER-ROLLBACK, there were fewer; nothing changes then.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_rollback(
    matcher: Option<&mut SyntagmaMatcher>,
    steps: usize,
) -> SyntagmaStatus {
    call(|| Ok(given(matcher, "matcher")?.0.rollback(steps)?))
}

/// Goes back to the start of the text, and forgets a failure.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_reset(matcher: Option<&mut SyntagmaMatcher>) -> SyntagmaStatus {
    call(|| {
        given(matcher, "matcher")?.0.reset();
        Ok(())
    })
}

/// How many steps were accepted since the start; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_steps(matcher: Option<&SyntagmaMatcher>) -> usize {
    matcher.map_or(0, |matcher| matcher.0.steps())
}

/// Whether the text may end here.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_is_accepting(
    matcher: Option<&SyntagmaMatcher>,
    accepting: Option<&mut MaybeUninit<bool>>,
) -> SyntagmaStatus {
    ask(matcher, accepting, |matcher| Ok(matcher.is_accepting()?))
}

/// Whether the text has ended: a token that ends the turn was taken.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_is_terminated(
    matcher: Option<&SyntagmaMatcher>,
    terminated: Option<&mut MaybeUninit<bool>>,
) -> SyntagmaStatus {
    ask(matcher, terminated, |matcher| Ok(matcher.is_terminated()?))
}

/// The bytes that must come next, which may be none and may end inside a character. `*out` is freed by syntagma_bytes_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_jump_forward(
    matcher: Option<&SyntagmaMatcher>,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    ask(matcher, out, |matcher| {
        Ok(matcher.find_jump_forward_bytes()?.into())
    })
}

/// The tokens of a shortest way to a place where the text may end, without one that ends the turn; `closes` says whether there
/// is a way of at most `budget` tokens (SIZE_MAX: any). `*out` is freed by syntagma_tokens_free(); without a way it is empty.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_shortest_close(
    matcher: Option<&SyntagmaMatcher>,
    budget: usize,
    closes: Option<&mut MaybeUninit<bool>>,
    out: Option<&mut MaybeUninit<SyntagmaTokens>>,
) -> SyntagmaStatus {
    call(|| {
        let closes = given(closes, "the place of the result")?;
        let budget = (budget != usize::MAX).then_some(budget);
        let way = given(matcher, "matcher")?.0.shortest_close(budget)?;
        let found = way.is_some();
        put(out, way.unwrap_or_default().into())?;
        closes.write(found);
        Ok(())
    })
}

/// Where the labelled parts of the text lie, as a JSON object: for each label an array of `[start, end]`, in bytes. `*out` is
/// freed by syntagma_bytes_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_captures(
    matcher: Option<&SyntagmaMatcher>,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    ask(matcher, out, |matcher| {
        Ok(captures_json(&matcher.captures()?).into_bytes().into())
    })
}

/// What may come next, and why a token may not, as a JSON object: `expected`, an array of `rule`, `symbol` and `begun`;
/// `accepting`; `terminated`; and, unless `token` is UINT32_MAX, `token`: `allowed`, `dies` (at the byte `dies_at`), `not expected`,
/// `unused`, `ended` or `spent`. `*out` is freed by syntagma_bytes_free().
///
/// Fails with E-TOKEN-ID, the vocabulary has no such token; E-LIMIT-STEP.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_explain(
    matcher: Option<&SyntagmaMatcher>,
    token: u32,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    let token = (token != u32::MAX).then_some(token);
    ask(matcher, out, |matcher| {
        Ok(explanation_json(&matcher.explain(token)?)
            .into_bytes()
            .into())
    })
}

/// The matcher as bytes, for syntagma_matcher_load() in this process or another, or Python's
/// `GrammarMatcher.from_state_bytes`. `*out` is freed by syntagma_bytes_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_save(
    matcher: Option<&SyntagmaMatcher>,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    ask(matcher, out, |matcher| Ok(matcher.state_bytes()?.into()))
}

/// A matcher as it was when it was saved, with the same grammar and the same vocabulary.
///
/// Fails with E-STATE-FORMAT, these are no such bytes, or damaged; E-STATE-VERSION; E-STATE-GRAMMAR or E-STATE-VOCABULARY, it was
/// saved with another one; E-LIMIT-…. `*out` is freed by syntagma_matcher_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_matcher_load(
    compiled: Option<&SyntagmaCompiled>,
    data: *const u8,
    length: usize,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaMatcher>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            let compiled = Arc::clone(&given(compiled, "compiled")?.inner);
            // SAFETY: the bytes are as many as they say.
            let data = unsafe { items(data, length) };
            Ok(SyntagmaMatcher(GrammarMatcher::from_state_bytes(
                compiled, data,
            )?))
        })
    })
}

/// Frees a matcher.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_matcher_free(matcher: Option<Box<SyntagmaMatcher>>) {
    quietly(|| drop(matcher));
}
