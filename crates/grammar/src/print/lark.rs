//! A grammar as Lark text, in the dialect of llguidance, where it can be said.
//!
//! Its lexer takes the longest match of the terminals that may stand at a place. So every terminal here is one character,
//! and every longer text a rule: then the longest match is the only one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::regex::Binding;
use super::rules::{Notation, Unprintable, written};
use super::specials::{Part, Specials};
use crate::error::Error;
use crate::ir::{Grammar, TokenSet, other_ids};

/// The grammar as Lark; its start rule is `start`.
///
/// With `ids`, which says the number of each special token by its text, tokens and the tokens in markers are written as
/// numbers, and what of a marker is no token as text. Without, each is written as the special token of its text, which must
/// be of the form `<text>`.
///
/// # Errors
/// `E-GRAMMAR-UNPRINTABLE`: what Lark cannot say, by name.
pub fn to_lark(grammar: &Grammar, ids: Option<&BTreeMap<String, u32>>) -> Result<String, Error> {
    let specials = ids.map(Specials::new);
    written(grammar, || InLark { specials }).map(|(text, _)| text)
}

struct InLark<'f> {
    specials: Option<Specials<'f>>,
}

impl<'g> Notation<'g> for InLark<'_> {
    const NAME: &'static str = "Lark";
    const START: &'static str = "start";
    const DEFINES: &'static str = ": ";

    /// Small letters, digits and underscores, a letter first: names in capitals are terminals.
    fn identifier(name: &str) -> String {
        let plain: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '_'
                }
            })
            .collect();
        if plain.starts_with(|c: char| c.is_ascii_lowercase()) {
            plain
        } else {
            format!("rule_{plain}")
        }
    }

    fn literal(out: &mut String, text: &str, outer: Binding) {
        let nested = outer == Binding::Primary && text.chars().count() != 1;
        out.push_str(if nested { "(" } else { "" });
        if text.is_empty() {
            out.push_str("\"\"");
        }
        for (at, c) in text.chars().enumerate() {
            out.push_str(if at > 0 { " \"" } else { "\"" });
            match c {
                '"' | '\\' => {
                    out.push('\\');
                    out.push(c);
                }
                c if c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() => out.push(c),
                c => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(out, "\\u{unit:04X}");
                    }
                }
            }
            out.push('"');
        }
        out.push_str(if nested { ")" } else { "" });
    }

    fn class(out: &mut String, ranges: &[(u32, u32)]) {
        if let [(first, last)] = ranges
            && first == last
            && let Some(only) = char::from_u32(*first)
        {
            return Self::literal(out, &only.to_string(), Binding::Sequence);
        }
        out.push_str("/[");
        for &(first, last) in ranges {
            // Surrogates are no characters.
            let (first, last) = (beside(first, 0xE000), beside(last, 0xD7FF));
            if first > last {
                continue;
            }
            code(out, first);
            if first < last {
                out.push('-');
                code(out, last);
            }
        }
        out.push_str("]/");
    }

    fn marker(
        &mut self,
        out: &mut String,
        text: &'g str,
        outer: Binding,
    ) -> Result<(), Unprintable> {
        let Some(specials) = self.specials else {
            if !is_token(text) {
                return Err(format!(
                    "the marker {text:?}, which is not of the form <text>, without its number"
                ));
            }
            out.push_str(text);
            return Ok(());
        };
        let parts = specials.parts(text);
        let nested = parts.len() > 1 && outer == Binding::Primary;
        let inner = if parts.len() > 1 {
            Binding::Sequence
        } else {
            outer
        };
        out.push_str(if nested { "(" } else { "" });
        for (position, part) in parts.into_iter().enumerate() {
            out.push_str(if position > 0 { " " } else { "" });
            match part {
                Part::Token(id) => {
                    let _ = write!(out, "<[{id}]>");
                }
                Part::Text(text) => Self::literal(out, text, inner),
            }
        }
        out.push_str(if nested { ")" } else { "" });
        Ok(())
    }

    fn token(&mut self, out: &mut String, set: &TokenSet, _: Binding) -> Result<(), Unprintable> {
        let ids = match set {
            TokenSet::Text(text) => {
                match self.specials {
                    Some(specials) => {
                        let Some(id) = specials.get(text) else {
                            return Err(format!("the token {text:?}, whose number is not known"));
                        };
                        let _ = write!(out, "<[{id}]>");
                    }
                    None if is_token(text) => out.push_str(text),
                    None => {
                        return Err(format!("the token {text:?}, whose number is not known"));
                    }
                }
                return Ok(());
            }
            TokenSet::Except { .. } => {
                return Err("tokens that are named by what they are not".into());
            }
            TokenSet::Ids(ids) => ids,
        };
        // No vocabulary has the last id, and llguidance refuses it: such a set is said by what it lacks.
        if ids.iter().any(|&(_, last)| last == u32::MAX) {
            let lacking = other_ids(ids.to_vec());
            let _ = if lacking.is_empty() {
                write!(out, "<[*]>")
            } else {
                write!(out, "<[^{}]>", listed(&lacking))
            };
        } else {
            let _ = write!(out, "<[{}]>", listed(ids));
        }
        Ok(())
    }
}

/// Ranges of ids.
fn listed(ids: &[(u32, u32)]) -> String {
    let one = |&(first, last): &(u32, u32)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    ids.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Whether a text is the name of a special token in Lark.
fn is_token(text: &str) -> bool {
    let inner = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| {
        !inner.is_empty()
            && !inner.starts_with('[')
            && !inner.contains(|c: char| matches!(c, '<' | '>') || c.is_whitespace())
    })
}

/// A code point, or `otherwise` for a surrogate.
fn beside(code: u32, otherwise: u32) -> u32 {
    if (0xD800..0xE000).contains(&code) {
        otherwise
    } else {
        code
    }
}

/// A code point in a class.
fn code(out: &mut String, code: u32) {
    match char::from_u32(code) {
        Some(c) if c.is_ascii_alphanumeric() => out.push(c),
        _ => {
            let _ = write!(out, "\\u{{{code:X}}}");
        }
    }
}
