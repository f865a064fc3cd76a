//! Lists of token ids by name, as `MessagePack`.

use std::collections::HashMap;
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Reads what is left of a `MessagePack` text.
pub(crate) struct Packed<'a>(pub(crate) &'a [u8]);

impl Packed<'_> {
    fn number(&mut self, bytes: usize) -> Outcome<usize> {
        let (number, rest) = self.0.split_at_checked(bytes).ok_or("cut off")?;
        self.0 = rest;
        Ok(number
            .iter()
            .fold(0, |value, &byte| value << 8 | usize::from(byte)))
    }

    fn length(&mut self, fixed: u8, mask: u8, long: &[(u8, usize)]) -> Outcome<usize> {
        let tag = self.number(1)? as u8;
        if tag & !mask == fixed {
            return Ok(usize::from(tag & mask));
        }
        let &(_, bytes) = long
            .iter()
            .find(|(long, _)| *long == tag)
            .ok_or("another type")?;
        self.number(bytes)
    }

    /// The table from names to lists of lists.
    pub(crate) fn table(mut self) -> Outcome<HashMap<String, Vec<Vec<u32>>>> {
        let mut table = HashMap::new();
        for _ in 0..self.length(0x80, 15, &[(0xde, 2), (0xdf, 4)])? {
            let length = self.length(0xa0, 31, &[(0xd9, 1), (0xda, 2), (0xdb, 4)])?;
            let (key, rest) = self.0.split_at_checked(length).ok_or("cut off")?;
            self.0 = rest;
            let key = String::from_utf8(key.to_vec())?;
            let mut lists = Vec::new();
            for _ in 0..self.length(0x90, 15, &[(0xdc, 2), (0xdd, 4)])? {
                let mut list = Vec::new();
                for _ in 0..self.length(0x90, 15, &[(0xdc, 2), (0xdd, 4)])? {
                    list.push(self.length(0, 127, &[(0xcc, 1), (0xcd, 2), (0xce, 4)])? as u32);
                }
                lists.push(list);
            }
            table.insert(key, lists);
        }
        Ok(table)
    }
}
