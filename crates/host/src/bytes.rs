//! Numbers and texts in bytes.

/// Reads from the front of bytes; None where they end.
pub(crate) struct Reader<'b>(pub(crate) &'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let bytes = self.take(size_of::<u64>())?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Bytes behind their length.
    pub(crate) fn part(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).ok()?)
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        std::str::from_utf8(self.part()?).ok()
    }
}

pub(crate) fn write_number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&(number as u64).to_le_bytes());
}

pub(crate) fn write_part(out: &mut Vec<u8>, part: &[u8]) {
    write_number(out, part.len());
    out.extend_from_slice(part);
}

/// FNV-1a, 64 bits: damage is noticed, intent is not.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
