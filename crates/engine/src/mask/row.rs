//! The layout of a bitmask row: bit `i` of word `w` is token `32 w + i`.

/// Allows a token.
pub(crate) fn allow(row: &mut [i32], id: u32) {
    row[id as usize / 32] |= 1 << (id % 32);
}

/// Refuses a token.
pub(super) fn refuse(row: &mut [i32], id: u32) {
    row[id as usize / 32] &= !(1 << (id % 32));
}

/// Whether a token is allowed.
pub(super) fn is_allowed(row: &[i32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}
