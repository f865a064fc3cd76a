//! Many matchers in one call.

use super::{GrammarMatcher, NextMask, ahead};
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
    let mut targets = Vec::with_capacity(matchers.len());
    for position in 0..matchers.len() {
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
        targets.push(row);
    }
    for (mask, row) in next_masks(matchers, threads)?.iter().zip(targets) {
        mask.write(row)?;
    }
    Ok(())
}

/// Finds which tokens may come next for each matcher, on up to `threads` threads (default 1). What is found can be written
/// anywhere.
///
/// Errors: the first matcher's that has one.
pub fn next_masks(
    matchers: &[&GrammarMatcher],
    threads: Option<usize>,
) -> Result<Vec<NextMask>, Error> {
    if let Some(threads) = threads.filter(|&threads| threads > 1) {
        ahead::find_out(matchers.iter().map(|&matcher| (matcher, None)), threads);
    }
    matchers.iter().map(|matcher| matcher.next_mask()).collect()
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
    if let Some(threads) = threads.filter(|&threads| threads > 1) {
        let asked = matchers
            .iter()
            .zip(ids)
            .map(|(matcher, &id)| (&**matcher, Some(id)));
        ahead::find_out(asked, threads);
    }
    let matchers = matchers.iter_mut().zip(ids);
    Ok(matchers
        .map(|(matcher, &id)| matcher.accept_token(id))
        .collect())
}

fn size_error(given: usize, what: &str, matchers: usize) -> Error {
    Error::argument(
        "E-BATCH-SIZE",
        format!("there are {given} {what} for {matchers} matchers"),
    )
}
