//! Vocabulary files: `TKVOCAB1`, a u32 length, that many bytes of JSON with `n` and `eos`, `n` u16 token lengths, `n` u8
//! kinds (0 text, 1 special, 2 unused, 3 added, 4 byte) and the tokens' bytes.

use std::error::Error;

use syntagma_engine::{Vocabulary, VocabularyParts};

/// Reads a vocabulary file.
pub(crate) fn read(file: &[u8]) -> Result<Vocabulary, Box<dyn Error>> {
    let file = file
        .strip_prefix(b"TKVOCAB1")
        .ok_or("not a vocabulary file")?;
    let (length, file) = file.split_first_chunk::<4>().ok_or("cut off")?;
    let (header, file) = file
        .split_at_checked(u32::from_le_bytes(*length) as usize)
        .ok_or("cut off")?;
    let header = std::str::from_utf8(header)?;
    let count = numbers(header, "\"n\"")
        .first()
        .copied()
        .ok_or("no count")? as usize;
    let eos = numbers(header, "\"eos\"");
    let (lengths, file) = file.split_at_checked(count * 2).ok_or("cut off")?;
    let (kinds, mut bytes) = file.split_at_checked(count).ok_or("cut off")?;
    let mut parts = VocabularyParts {
        eos_ids: eos,
        ..VocabularyParts::default()
    };
    for (id, (length, kind)) in lengths.chunks_exact(2).zip(kinds).enumerate() {
        let (token, rest) = bytes
            .split_at_checked(usize::from(length[0]) | usize::from(length[1]) << 8)
            .ok_or("cut off")?;
        bytes = rest;
        match kind {
            1 => parts.special_ids.push(id as u32),
            3 => parts.marker_ids.push(id as u32),
            _ => {}
        }
        parts.tokens.push(if *kind == 2 {
            Vec::new()
        } else {
            token.to_vec()
        });
    }
    Ok(Vocabulary::new(&parts)?)
}

/// The number, or the numbers of the list, behind a key.
fn numbers(header: &str, key: &str) -> Vec<u32> {
    let Some((_, rest)) = header.split_once(key) else {
        return Vec::new();
    };
    let rest = rest.trim_start_matches([':', ' ']);
    let end = if rest.starts_with('[') {
        rest.find(']')
    } else {
        rest.find([',', '}'])
    };
    let list = rest[..end.unwrap_or(rest.len())].trim_start_matches('[');
    list.split(',')
        .filter_map(|number| number.trim().parse().ok())
        .collect()
}
