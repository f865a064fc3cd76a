//! Arguments, read from the front of what the page wrote.

use syntagma_host::{Error, ErrorKind};

/// The bit of a token's length that says that it is bytes.
const BYTES: u32 = 1 << 31;

/// Numbers of 4 bytes, little-endian, and texts behind their length.
pub(crate) struct Arguments<'i>(&'i [u8]);

impl<'i> Arguments<'i> {
    pub(crate) fn new(input: &'i [u8]) -> Self {
        Self(input)
    }

    pub(crate) fn number(&mut self) -> Result<u32, Error> {
        let (number, rest) = self.0.split_first_chunk().ok_or_else(cut)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*number))
    }

    /// Numbers behind their count.
    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>, Error> {
        let count = self.number()?;
        (0..count).map(|_| self.number()).collect()
    }

    pub(crate) fn bytes(&mut self) -> Result<&'i [u8], Error> {
        let length = self.number()? as usize;
        self.take(length)
    }

    /// Tokens behind their count, each text behind its length. A length with its highest bit set is that of bytes, which mean
    /// themselves.
    pub(crate) fn tokens(
        &mut self,
        spelled: impl Fn(&str) -> Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let count = self.number()?;
        (0..count)
            .map(|_| {
                let length = self.number()?;
                let token = self.take((length & !BYTES) as usize)?;
                if length & BYTES != 0 {
                    return Ok(token.to_vec());
                }
                Ok(spelled(utf8(token)?))
            })
            .collect()
    }

    pub(crate) fn text(&mut self) -> Result<&'i str, Error> {
        utf8(self.bytes()?)
    }

    fn take(&mut self, length: usize) -> Result<&'i [u8], Error> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| wrong("E-ARGUMENT-TEXT", "text is not UTF-8"))
}

fn cut() -> Error {
    wrong("E-ARGUMENT-VALUE", "the arguments are cut off")
}

fn wrong(code: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Argument, code, message)
}
