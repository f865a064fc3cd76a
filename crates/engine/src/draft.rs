//! Masks behind the tokens that a draft model proposed.

use crate::error::Error;
use crate::matcher::{GrammarMatcher, NextMask};
use crate::vocabulary::bitmask_words;

/// Fills one row for the present place and one behind each draft token: row 0, then row `i + 1` behind `ids[i]`.
///
/// `parents[i]` is the index of the draft token that `ids[i]` follows, or `None` for the present place; without
/// `parents`, each token follows the one before it. Behind a token that is refused, nothing is allowed: its row and those
/// of its followers are zero. Returns which tokens were accepted. The matcher does not move.
///
/// Errors: `E-DRAFT-PARENT` (a parent that does not come before its child, or lists of different lengths),
/// `E-BITMASK-SIZE`, and the matcher's own.
pub fn fill_draft(
    matcher: &GrammarMatcher,
    ids: &[u32],
    parents: Option<&[Option<usize>]>,
    bitmask: &mut [i32],
    stride: usize,
) -> Result<Vec<bool>, Error> {
    let words = bitmask_words(matcher.compiled().vocabulary().size());
    if stride < words || bitmask.len() < stride * (ids.len() + 1) {
        return Err(Error::argument(
            "E-BITMASK-SIZE",
            format!(
                "a draft of {} tokens needs {} rows of {words} words",
                ids.len(),
                ids.len() + 1
            ),
        ));
    }
    let masks = draft_masks(matcher, ids, parents)?;
    for (mask, row) in masks.iter().zip(bitmask.chunks_exact_mut(stride)) {
        let row = &mut row[..words];
        match mask {
            Some(mask) => mask.write(row)?,
            None => row.fill(0),
        }
    }
    Ok(masks[1..].iter().map(Option::is_some).collect())
}

/// What may come next at the present place, then behind each draft token; None behind a token that is refused. Parents are
/// those of [`fill_draft`].
///
/// Errors: `E-DRAFT-PARENT`, and the matcher's own.
pub fn draft_masks(
    matcher: &GrammarMatcher,
    ids: &[u32],
    parents: Option<&[Option<usize>]>,
) -> Result<Vec<Option<NextMask>>, Error> {
    if parents.is_some_and(|parents| {
        parents.len() != ids.len()
            || parents
                .iter()
                .enumerate()
                .any(|(i, p)| p.is_some_and(|p| p >= i))
    }) {
        return Err(Error::argument(
            "E-DRAFT-PARENT",
            "each draft token needs one parent, which comes before it",
        ));
    }
    let mut masks = Vec::with_capacity(ids.len() + 1);
    masks.push(Some(matcher.next_mask()?));
    let mut after: Vec<Option<GrammarMatcher>> = Vec::with_capacity(ids.len());
    for (i, &id) in ids.iter().enumerate() {
        let parent = parents.map_or(i.checked_sub(1), |parents| parents[i]);
        let before = parent.map_or(Some(matcher), |parent| after[parent].as_ref());
        let mut next = before.map(GrammarMatcher::fork);
        let accepted = next
            .as_mut()
            .map_or(Ok(false), |next| next.accept_token(id))?;
        let next = next.filter(|_| accepted);
        masks.push(next.as_ref().map(GrammarMatcher::next_mask).transpose()?);
        after.push(next);
    }
    Ok(masks)
}
