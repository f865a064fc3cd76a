//! Arguments, read from the front of what the page wrote.

use syntagma_host::{Error, ErrorKind};

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
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Bytes, several times, behind their count.
    pub(crate) fn parts(&mut self) -> Result<Vec<Vec<u8>>, Error> {
        let count = self.number()?;
        (0..count).map(|_| Ok(self.bytes()?.to_vec())).collect()
    }

    pub(crate) fn text(&mut self) -> Result<&'i str, Error> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|_| wrong("E-ARGUMENT-TEXT", "text is not UTF-8"))
    }
}

fn cut() -> Error {
    wrong("E-ARGUMENT-VALUE", "the arguments are cut off")
}

fn wrong(code: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Argument, code, message)
}
