//! What may be asked of the blanks of a document.

use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Limits;
use crate::syntax::regex::{self, Dialect};

/// Blanks between the words of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Whitespace {
    /// None.
    Compact,
    /// Up to [`Limits::json_whitespace`] wherever JSON allows them, save before and behind the document.
    #[default]
    Flexible,
    /// Exactly these signs, blanks included, between items and between a name and its value.
    Separators {
        /// Holds one comma, else blanks.
        comma: String,
        /// Holds one colon, else blanks.
        colon: String,
    },
    /// A line for each item and member, indented by so many spaces for each container around it, and a space behind colons.
    /// Containers are nested at most 24 deep then.
    Indent(u32),
    /// Before each word but the first what a regular expression matches.
    Regex(String),
}

impl Whitespace {
    /// Separators, as they are given to writers of JSON.
    ///
    /// # Errors
    /// `E-SCHEMA-OPTION` where there is more than the sign and blanks.
    pub fn separators(comma: &str, colon: &str) -> Result<Self, Error> {
        for (given, sign) in [(comma, ","), (colon, ":")] {
            if given.trim_matches([' ', '\t', '\r', '\n']) != sign {
                let message = format!("{given:?} is not {sign:?} with blanks around it");
                return Err(Error::grammar("E-SCHEMA-OPTION", message));
            }
        }
        Ok(Self::Separators {
            comma: comma.to_owned(),
            colon: colon.to_owned(),
        })
    }
}

/// The language of blanks that a pattern describes.
pub(super) fn blanks(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    let regex = regex::parse(pattern, Dialect::Rust, limits)?;
    if only_blanks(&regex) {
        Ok(regex)
    } else {
        let message = format!("{pattern:?} matches more than blanks");
        Err(Error::grammar("E-SCHEMA-OPTION", message)
            .with_hint("blanks of JSON are space, tab, line feed and carriage return"))
    }
}

/// Whether an expression visibly holds nothing but blanks. Iterative.
fn only_blanks(regex: &Regex) -> bool {
    let blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut work = vec![regex];
    while let Some(regex) = work.pop() {
        match regex {
            Regex::Nothing => {}
            Regex::Class(set) if set.iter().all(blank) => {}
            Regex::Literal(bytes) if bytes.iter().copied().all(blank) => {}
            Regex::Class(_) | Regex::Literal(_) | Regex::Not(_) => return false,
            // Of an intersection one part would be enough.
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                work.extend(parts.iter())
            }
            Regex::Repeat { inner, .. } => work.push(inner),
        }
    }
    true
}
