//! A grammar as bytes, for other hosts and processes.
//!
//! Numbers are of 8 bytes, little-endian; texts and bytes have their length in front:
//!
//! ```text
//! "SGHG"  version: u8  grammar  schemas (text)  count  (label  unit: u8  most)*  checksum
//! ```
//!
//! `schemas` is 0 or 1, `unit` 0 for tokens and 1 for bytes.

use std::sync::Arc;

use syntagma_engine::{Bound, Unit, caught};
use syntagma_grammar::ir;

use crate::bytes::{Reader, checksum, write_number, write_part};
use crate::error::{Error, ErrorKind};
use crate::grammar::Grammar;

const MAGIC: &[u8; 4] = b"SGHG";
const VERSION: u8 = 1;

impl Grammar {
    /// The grammar, its schema and its bounds as bytes that [`from_bytes`](Self::from_bytes) reads in any host.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        write_part(&mut out, &self.grammar.to_bytes());
        write_number(&mut out, usize::from(self.schema.is_some()));
        if let Some(schema) = &self.schema {
            write_part(&mut out, schema.as_bytes());
        }
        write_number(&mut out, self.bounds.len());
        for bound in &self.bounds {
            write_part(&mut out, bound.label.as_bytes());
            out.push(u8::from(bound.unit == Unit::Bytes));
            write_number(&mut out, bound.most as usize);
        }
        let check = checksum(&out);
        out.extend_from_slice(&check.to_le_bytes());
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// Errors: `E-STATE-FORMAT`, these are no such bytes, or damaged; `E-STATE-VERSION`, of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let malformed = || argument("E-STATE-FORMAT", "these bytes are no saved grammar");
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(malformed());
        }
        let version = bytes.get(MAGIC.len()).copied().ok_or_else(malformed)?;
        if version != VERSION {
            let message =
                format!("the grammar was saved as version {version}, this is version {VERSION}");
            return Err(argument("E-STATE-VERSION", &message));
        }
        let (whole, check) = bytes.split_last_chunk().ok_or_else(malformed)?;
        if u64::from_le_bytes(*check) != checksum(whole) {
            return Err(malformed());
        }
        let mut reader = Reader(whole.get(MAGIC.len() + 1..).ok_or_else(malformed)?);
        let grammar = reader.part().ok_or_else(malformed)?;
        let (schema, bounds) = beside(&mut reader).ok_or_else(malformed)?;
        if !reader.0.is_empty() {
            return Err(malformed());
        }
        let grammar = caught(|| Ok(ir::Grammar::from_bytes(grammar)?))
            .map_err(|error| argument(error.code(), error.message()))?;
        Ok(Self {
            grammar: Arc::new(grammar),
            schema,
            bounds,
        })
    }
}

fn argument(code: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Argument, code, message)
}

/// The schema and the bounds.
fn beside(reader: &mut Reader<'_>) -> Option<(Option<String>, Vec<Bound>)> {
    let schema = match reader.number()? {
        0 => None,
        1 => Some(reader.text()?.to_owned()),
        _ => return None,
    };
    let mut bounds = Vec::new();
    for _ in 0..reader.number()? {
        let label = reader.text()?.into();
        let unit = match reader.take(1)?[0] {
            0 => Unit::Tokens,
            1 => Unit::Bytes,
            _ => return None,
        };
        let most = u32::try_from(reader.number()?).ok()?;
        bounds.push(Bound { label, unit, most });
    }
    Some((schema, bounds))
}
