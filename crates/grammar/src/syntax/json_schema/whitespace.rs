//! The whitespace of a document, and what may be asked of it.

use crate::error::{Error, shown};
use crate::ir::Regex;
use crate::limits::Limits;
use crate::syntax::regex::{self, Dialect};

/// Whitespace between the tokens of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Whitespace {
    /// No whitespace.
    Compact,
    /// Up to [`Limits::json_whitespace`] wherever JSON allows them, save before and after the document.
    #[default]
    Flexible,
    /// Exactly these separators, whitespace included, between items and between a name and its value.
    Separators {
        /// Holds one comma, else whitespace.
        comma: String,
        /// Holds one colon, else whitespace.
        colon: String,
    },
    /// A line for each item and member, indented by this number of spaces for each container around it, and a space after colons.
    /// Containers are nested at most 24 deep then.
    Indent(u32),
    /// What a regular expression matches, before each token but the first.
    Regex(String),
}

impl Whitespace {
    /// Separators, as they are given to writers of JSON.
    ///
    /// # Errors
    /// `E-SCHEMA-OPTION` where there is more than the separator and whitespace.
    pub fn separators(comma: &str, colon: &str) -> Result<Self, Error> {
        for (given, sign) in [(comma, ","), (colon, ":")] {
            if given.trim_matches([' ', '\t', '\r', '\n']) != sign {
                let message = format!("{given:?} is not {sign:?} with whitespace around it");
                return Err(Error::grammar("E-SCHEMA-OPTION", message));
            }
        }
        Ok(Self::Separators {
            comma: comma.to_owned(),
            colon: colon.to_owned(),
        })
    }
}

/// The whitespace that a pattern describes.
pub(super) fn whitespace(pattern: &str, limits: &Limits) -> Result<Regex, Error> {
    let regex = regex::parse(pattern, Dialect::Rust, limits)?;
    if only_whitespace(&regex) {
        Ok(regex)
    } else {
        let message = format!("{} matches more than whitespace", shown(pattern));
        Err(Error::grammar("E-SCHEMA-OPTION", message)
            .with_hint("whitespace in JSON is space, tab, line feed and carriage return"))
    }
}

/// Whether an expression visibly holds nothing but whitespace. Iterative.
fn only_whitespace(regex: &Regex) -> bool {
    let is_whitespace = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut work = vec![regex];
    while let Some(regex) = work.pop() {
        match regex {
            Regex::Nothing => {}
            Regex::Class(set) if set.iter().all(is_whitespace) => {}
            Regex::Literal(bytes) if bytes.iter().copied().all(is_whitespace) => {}
            Regex::Class(_) | Regex::Literal(_) | Regex::Not(_) => return false,
            // Of an intersection one part would be enough.
            Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => {
                work.extend(parts.iter());
            }
            Regex::Repeat { inner, .. } => work.push(inner),
        }
    }
    true
}
