//! A matcher as bytes, for another process or another day.
//!
//! What is saved are the steps, not the state: states are numbers of one process, while the same steps lead to the same
//! state everywhere, and bring the way back with them. Layout, all numbers little-endian:
//!
//! ```text
//! "SGMS"  version: u8  vocabulary: u128  grammar: u128  bounds  bound*  count  step*  check: u64
//! bound = unit: u8  most  length  label
//! step = token << 1  |  (length << 1 | 1) bytes        count and step heads are LEB128 numbers
//! ```

use std::sync::Arc;

use super::GrammarMatcher;
use crate::budget::{Bound, Unit};
use crate::compiled::CompiledGrammar;
use crate::error::Error;
use crate::fingerprint::Fingerprint;
use crate::position::Input;

const MAGIC: &[u8; 4] = b"SGMS";
const VERSION: u8 = 2;
const CHECK: usize = size_of::<u64>();

impl GrammarMatcher {
    /// The matcher as bytes that [`from_state_bytes`](Self::from_state_bytes) reads, in this process or another.
    ///
    /// Errors: the failure of a matcher that has failed.
    pub fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        self.guard(|matcher| {
            let mut bytes = MAGIC.to_vec();
            bytes.push(VERSION);
            bytes.extend(matcher.compiled.vocabulary().fingerprint().to_le_bytes());
            bytes.extend(matcher.compiled.fingerprint().to_le_bytes());
            write_number(&mut bytes, matcher.bounds().len() as u64);
            for bound in matcher.bounds() {
                bytes.push(match bound.unit {
                    Unit::Tokens => 0,
                    Unit::Bytes => 1,
                });
                write_number(&mut bytes, u64::from(bound.most));
                write_number(&mut bytes, bound.label.len() as u64);
                bytes.extend_from_slice(bound.label.as_bytes());
            }
            write_number(&mut bytes, matcher.history.len() as u64);
            for input in matcher.history.inputs() {
                match input {
                    Input::Token(id) => write_number(&mut bytes, u64::from(id) << 1),
                    Input::Text(text) => {
                        write_number(&mut bytes, (text.len() as u64) << 1 | 1);
                        bytes.extend_from_slice(text);
                    }
                }
            }
            let check = check(&bytes);
            bytes.extend(check.to_le_bytes());
            Ok(bytes)
        })
    }

    /// A matcher as it was when it was saved, with everything that it can take back.
    ///
    /// Errors: `E-STATE-FORMAT` (no such bytes, or damaged), `E-STATE-VERSION` (written by another version),
    /// `E-STATE-VOCABULARY` and `E-STATE-GRAMMAR` (saved with another one), and limits as for the steps themselves.
    pub fn from_state_bytes(compiled: Arc<CompiledGrammar>, bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader { bytes };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(malformed("they do not begin like one"));
        }
        let version = reader.take(1)?[0];
        if version != VERSION {
            return Err(Error::argument(
                "E-STATE-VERSION",
                format!("the state was saved as version {version}, this is version {VERSION}"),
            ));
        }
        let Some(end) = reader.bytes.len().checked_sub(CHECK) else {
            return Err(malformed("they end too early"));
        };
        let whole = &bytes[..bytes.len() - CHECK];
        if reader.bytes[end..] != check(whole).to_le_bytes() {
            return Err(malformed("their checksum is wrong"));
        }
        reader.bytes = &reader.bytes[..end];
        let owners = [
            (
                "E-STATE-VOCABULARY",
                "vocabulary",
                compiled.vocabulary().fingerprint(),
            ),
            ("E-STATE-GRAMMAR", "grammar", compiled.fingerprint()),
        ];
        for (code, what, fingerprint) in owners {
            if reader.take(size_of::<u128>())? != fingerprint.to_le_bytes() {
                return Err(Error::argument(
                    code,
                    format!("the state was saved with another {what}"),
                ));
            }
        }
        let mut bounds = Vec::new();
        for _ in 0..reader.number()? {
            bounds.push(reader.bound()?);
        }
        let count = reader.number()?;
        let mut matcher = Self::with_bounds(compiled, bounds)?;
        for step in 0..count {
            let head = reader.number()?;
            let taken = if head & 1 == 0 {
                let id = u32::try_from(head >> 1)
                    .ok()
                    .filter(|&id| (id as usize) < matcher.compiled.vocabulary().size())
                    .ok_or_else(|| malformed("a token is not in the vocabulary"))?;
                matcher.accept_token(id)?
            } else {
                let length =
                    usize::try_from(head >> 1).map_err(|_| malformed("a text is too long"))?;
                matcher.accept_bytes(reader.take(length)?)?
            };
            if !taken {
                return Err(malformed(&format!("step {step} is refused")));
            }
        }
        if !reader.bytes.is_empty() {
            return Err(malformed("something follows the last step"));
        }
        Ok(matcher)
    }
}

fn check(bytes: &[u8]) -> u64 {
    let mut fingerprint = Fingerprint::new();
    fingerprint.bytes(bytes);
    fingerprint.finish() as u64
}

fn malformed(what: &str) -> Error {
    Error::argument(
        "E-STATE-FORMAT",
        format!("these bytes are no saved matcher: {what}"),
    )
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(length)
            .ok_or_else(|| malformed("they end too early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn bound(&mut self) -> Result<Bound, Error> {
        let unit = match self.take(1)?[0] {
            0 => Unit::Tokens,
            1 => Unit::Bytes,
            _ => return Err(malformed("a bound counts something unknown")),
        };
        let most = u32::try_from(self.number()?).map_err(|_| malformed("a bound is too large"))?;
        let length =
            usize::try_from(self.number()?).map_err(|_| malformed("a label is too long"))?;
        let label = std::str::from_utf8(self.take(length)?)
            .map_err(|_| malformed("a label is no text"))?
            .into();
        Ok(Bound { label, unit, most })
    }

    fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed("a number is too long"))
    }
}
