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
    let done = share(
        jobs,
        threads,
        |(matcher, _)| matcher.is_known(None),
        |(matcher, row)| matcher.fill_next_token_bitmask(row),
    );
    done.into_iter().fold(Ok(()), Result::and)
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
    Ok(share(
        matchers.zip(ids.iter().copied()).collect(),
        threads,
        |(matcher, id)| matcher.is_known(Some(*id)),
        |(matcher, id)| matcher.accept_token(id),
    ))
}

/// Does jobs on several threads, the calling one included; the results in the order of the jobs. What is known already is
/// quicker done than given to a thread.
fn share<J: Send, R: Send>(
    jobs: Vec<J>,
    threads: Option<usize>,
    is_known: impl Fn(&J) -> bool,
    work: impl Fn(J) -> R + Sync,
) -> Vec<R> {
    let threads = threads.unwrap_or(1);
    if threads <= 1 {
        return jobs.into_iter().map(work).collect();
    }
    let jobs = jobs.into_iter().enumerate();
    let (known, mut open): (Vec<_>, Vec<_>) = jobs.partition(|(_, job)| is_known(job));
    let run = |jobs: Vec<(usize, J)>| -> Vec<(usize, R)> {
        jobs.into_iter().map(|(at, job)| (at, work(job))).collect()
    };
    let mut done = run(known);
    let share = open.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut rest = open.split_off(share.min(open.len()));
        let mut workers = Vec::new();
        while !rest.is_empty() {
            let behind = rest.split_off(share.min(rest.len()));
            let part = std::mem::replace(&mut rest, behind);
            let run = &run;
            workers.push(scope.spawn(move || run(part)));
        }
        done.extend(run(open));
        for worker in workers {
            match worker.join() {
                Ok(results) => done.extend(results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn size_error(given: usize, what: &str, matchers: usize) -> Error {
    Error::argument(
        "E-BATCH-SIZE",
        format!("there are {given} {what} for {matchers} matchers"),
    )
}
