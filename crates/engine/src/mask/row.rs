//! The layout of a bitmask row: bit `i` of word `w` is token `32 w + i`.

/// Allows a token.
pub(crate) fn allow(row: &mut [i32], id: u32) {
    row[id as usize / 32] |= 1 << (id % 32);
}

/// Allows some tokens.
pub(super) fn allow_all(row: &mut [i32], ids: &[u32]) {
    for &id in ids {
        allow(row, id);
    }
}

/// Allows the tokens of another row.
pub(super) fn allow_row(row: &mut [i32], other: &[i32]) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

/// Refuses a token.
pub(super) fn refuse(row: &mut [i32], id: u32) {
    row[id as usize / 32] &= !(1 << (id % 32));
}

/// Whether a token is allowed.
pub(super) fn is_allowed(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}
