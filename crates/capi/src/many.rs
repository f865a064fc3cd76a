//! Many matchers in one call.

use syntagma_engine::{GrammarMatcher, accept_token_batch, fill_next_token_bitmask_batch};
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
