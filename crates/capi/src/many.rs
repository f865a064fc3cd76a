//! Many matchers, or many places of one, in one call.

use syntagma_engine::{
    GrammarMatcher, accept_token_batch, fill_draft, fill_next_token_bitmask_batch,
};
use syntagma_host::{Error, ErrorKind};

use crate::call::{SyntagmaStatus, call};
use crate::given::given;
use crate::matcher::SyntagmaMatcher;
use crate::memory::{items, items_mut};

/// Fills one row for each of `count` matchers, on up to `threads` threads (0 and 1: this one).
///
/// Row `indices[i]`, or `i` where `indices` is NULL, of a bitmask of `rows` rows of `stride` 32-bit words is that of matcher
/// `i`; other rows stay. Fails with E-BITMASK-INDEX, a row is missing or named twice; E-BITMASK-SIZE, rows are too short; of
/// the matchers' failures with the first one's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_fill_bitmask(
    matchers: *const Option<&SyntagmaMatcher>,
    count: usize,
    bitmask: *mut i32,
    rows: usize,
    stride: usize,
    indices: *const usize,
    threads: usize,
) -> SyntagmaStatus {
    call(|| {
        // SAFETY: the lists are as long as they say, and the bitmask is the caller's alone.
        let (matchers, bitmask, rows) = unsafe {
            let words = rows.saturating_mul(stride);
            let indices = (!indices.is_null()).then(|| items(indices, count));
            (items(matchers, count), items_mut(bitmask, words), indices)
        };
        let matchers = (matchers.iter())
            .map(|matcher| Ok(&given(*matcher, "a matcher")?.0))
            .collect::<Result<Vec<&GrammarMatcher>, Error>>()?;
        Ok(fill_next_token_bitmask_batch(
            &matchers,
            bitmask,
            stride,
            rows,
            Some(threads),
        )?)
    })
}

/// Fills `count + 1` rows of `stride` 32-bit words: row 0 for the present place, row `i + 1` for the place behind draft token
/// `ids[i]`. Behind a token that may not come, nothing may: its row and those of its followers are zero. The matcher does not
/// move.
///
/// Token `i` follows token `parents[i]`, or the present place where that is -1; where `parents` is NULL, each token follows
/// the one before it. Whether token `i` may come is written to `accepted[i]`, unless `accepted` is NULL. Fails with
/// E-DRAFT-PARENT, a parent that does not come before its child; E-BITMASK-SIZE, rows are too short; E-TOKEN-ID; E-LIMIT-STEP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_matcher_fill_draft(
    matcher: Option<&SyntagmaMatcher>,
    ids: *const u32,
    parents: *const i64,
    count: usize,
    bitmask: *mut i32,
    stride: usize,
    accepted: *mut bool,
) -> SyntagmaStatus {
    call(|| {
        // SAFETY: the lists are as long as they say, and the bitmask is the caller's alone.
        let (ids, bitmask, parents) = unsafe {
            let words = count.saturating_add(1).saturating_mul(stride);
            let parents = (!parents.is_null()).then(|| items(parents, count));
            (items(ids, count), items_mut(bitmask, words), parents)
        };
        // What is negative but -1 is no place either: the engine refuses it as beyond the draft.
        let place =
            |parent: &i64| (*parent != -1).then(|| usize::try_from(*parent).unwrap_or(count));
        let parents: Option<Vec<Option<usize>>> =
            parents.map(|parents| parents.iter().map(place).collect());
        let matcher = &given(matcher, "matcher")?.0;
        let taken = fill_draft(matcher, ids, parents.as_deref(), bitmask, stride)?;
        if !accepted.is_null() {
            // SAFETY: there are as many places as tokens.
            unsafe { items_mut(accepted, count) }.copy_from_slice(&taken);
        }
        Ok(())
    })
}

/// Accepts one token on each of `count` matchers, on up to `threads` threads (0 and 1: this one); whether it may come next is
/// written to `accepted`, of which there are as many. Every matcher is tried.
///
/// Fails with E-ARGUMENT-VALUE, a matcher is given twice; of the matchers' failures with the first one's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_accept_tokens(
    matchers: *const *mut SyntagmaMatcher,
    ids: *const u32,
    count: usize,
    threads: usize,
    accepted: *mut bool,
) -> SyntagmaStatus {
    call(|| {
        // SAFETY: the lists are as long as they say.
        let (matchers, ids) = unsafe { (items(matchers, count), items(ids, count)) };
        let mut places: Vec<_> = matchers.to_vec();
        places.sort_unstable();
        if places.is_sorted_by(|one, other| one < other) && !places.contains(&std::ptr::null_mut())
        {
            // SAFETY: they are handles of the caller's alone, each of them once.
            let mut inner: Vec<&mut GrammarMatcher> = matchers
                .iter()
                .map(|&matcher| unsafe { &mut (*matcher).0 })
                .collect();
            let answers = accept_token_batch(&mut inner, ids, Some(threads))?;
            // SAFETY: there are as many places as matchers.
            let places = unsafe { items_mut(accepted, count) };
            let mut failure = None;
            for (place, answer) in places.iter_mut().zip(answers) {
                *place = match answer {
                    Ok(taken) => taken,
                    Err(error) => {
                        failure.get_or_insert(error);
                        false
                    }
                };
            }
            return failure.map_or(Ok(()), |error| Err(error.into()));
        }
        Err(Error::new(
            ErrorKind::Argument,
            "E-ARGUMENT-VALUE",
            "a matcher is NULL or is given twice",
        ))
    })
}
