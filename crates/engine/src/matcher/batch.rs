//! Many matchers in one call.

use super::GrammarMatcher;
use crate::error::Error;

/// Fills row `indices[i]` (default `i`) of `bitmask`, whose rows are `stride` words wide, for each matcher, on up to
/// `threads` threads (default 1). Rows of other indices are not touched.
///
/// Errors: `E-BATCH-SIZE` where there are not as many indices as matchers, `E-BITMASK-SIZE`, `E-BITMASK-INDEX` (a row
/// that is missing or named twice), and the matchers' own; of several errors, the first matcher's.
pub fn fill_next_token_bitmask_batch(
    matchers: &[&GrammarMatcher],
    bitmask: &mut [i32],
    stride: usize,
    indices: Option<&[usize]>,
    threads: Option<usize>,
) -> Result<(), Error> {
    if let Some(indices) = indices
        && indices.len() != matchers.len()
    {
        return Err(size_error(indices.len(), "indices", matchers.len()));
    }
    if stride == 0 {
        return Err(Error::argument("E-BITMASK-SIZE", "a row has no words"));
    }
    let mut rows: Vec<Option<&mut [i32]>> = bitmask.chunks_exact_mut(stride).map(Some).collect();
    let mut jobs = Vec::with_capacity(matchers.len());
    for (position, &matcher) in matchers.iter().enumerate() {
        let index = indices.map_or(position, |indices| indices[position]);
        let Some(row) = rows.get_mut(index).and_then(Option::take) else {
            return Err(Error::argument(
                "E-BITMASK-INDEX",
                format!(
                    "row {index} is named twice or is not among the {} rows",
                    rows.len()
                ),
            ));
        };
        jobs.push((matcher, row));
    }
    let fill = |jobs: Vec<(&GrammarMatcher, &mut [i32])>| {
        let mut first = Ok(());
        for (matcher, row) in jobs {
            let result = matcher.fill_next_token_bitmask(row);
            first = first.and(result);
        }
        first
    };
    share(jobs, threads, fill)
        .into_iter()
        .fold(Ok(()), Result::and)
}

/// Accepts one token on each matcher, on up to `threads` threads (default 1); the answers in order. Every matcher is
/// tried, whatever becomes of the others.
///
/// Errors: `E-BATCH-SIZE` where the lengths differ.
pub fn accept_token_batch(
    matchers: &mut [&mut GrammarMatcher],
    ids: &[u32],
    threads: Option<usize>,
) -> Result<Vec<Result<bool, Error>>, Error> {
    if matchers.len() != ids.len() {
        return Err(size_error(ids.len(), "ids", matchers.len()));
    }
    let matchers = matchers.iter_mut().map(|matcher| &mut **matcher);
    let jobs = matchers.zip(ids.iter().copied()).collect();
    let accept = |jobs: Vec<(&mut GrammarMatcher, u32)>| -> Vec<Result<bool, Error>> {
        jobs.into_iter()
            .map(|(matcher, id)| matcher.accept_token(id))
            .collect()
    };
    Ok(share(jobs, threads, accept).into_iter().flatten().collect())
}

/// Divides jobs among threads, the calling one included; the results in the order of the jobs.
fn share<J: Send, R: Send>(
    mut jobs: Vec<J>,
    threads: Option<usize>,
    work: impl Fn(Vec<J>) -> R + Sync,
) -> Vec<R> {
    let threads = threads.unwrap_or(1).clamp(1, jobs.len().max(1));
    if threads == 1 {
        return vec![work(jobs)];
    }
    let share = jobs.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads - 1);
        let mut rest = jobs.split_off(share);
        while !rest.is_empty() {
            let behind = rest.split_off(share.min(rest.len()));
            let part = std::mem::replace(&mut rest, behind);
            let work = &work;
            workers.push(scope.spawn(move || work(part)));
        }
        let mut results = vec![work(jobs)];
        for worker in workers {
            match worker.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

fn size_error(given: usize, what: &str, matchers: usize) -> Error {
    Error::argument(
        "E-BATCH-SIZE",
        format!("there are {given} {what} for {matchers} matchers"),
    )
}
