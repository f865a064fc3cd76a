//! A grammar as GBNF text, the language of llama.cpp, where GBNF can say it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::regex::Binding;
use super::rules::{Notation, Unprintable, written};
use super::specials::{Part, Specials};
use crate::error::Error;
use crate::ir::{Grammar, TokenSet, other_ids};
use crate::maps::SeededSet;
use crate::tuning::LISTED_TOKENS;

/// A grammar as GBNF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gbnf {
    /// The source; its start rule is `root`.
    pub text: String,
    /// Markers that stand in it as plain text, in the order in which they are met: a vocabulary that has them as tokens must
    /// let these tokens match their text.
    pub preserved_tokens: Vec<String>,
    /// Whether it names tokens by number or by text, as `<[1]>` and `<text>`.
    pub names_tokens: bool,
}

/// The grammar as GBNF; [`crate::syntax::gbnf::parse`] reads it back to the same language. Markers become plain text; with
/// `ids`, which says the number of each special token by its text, the tokens in them are written as numbers. Intersections and complements are written out as rules where these are few.
///
/// # Errors
/// `E-GRAMMAR-UNPRINTABLE`: what GBNF cannot say, by name.
pub fn to_gbnf(grammar: &Grammar, ids: Option<&BTreeMap<String, u32>>) -> Result<Gbnf, Error> {
    let specials = ids.map(Specials::new);
    let (text, notation) = written(grammar, || InGbnf {
        specials,
        markers: Vec::new(),
        seen: SeededSet::default(),
        names_tokens: false,
    })?;
    Ok(Gbnf {
        text,
        preserved_tokens: notation.markers,
        names_tokens: notation.names_tokens,
    })
}

struct InGbnf<'g, 'f> {
    specials: Option<Specials<'f>>,
    markers: Vec<String>,
    seen: SeededSet<&'g str>,
    names_tokens: bool,
}

impl<'g> Notation<'g> for InGbnf<'g, '_> {
    const NAME: &'static str = "GBNF";
    const START: &'static str = "root";
    const DEFINES: &'static str = " ::= ";
    /// llama.cpp expands repetitions; from here on it refuses them, or takes a large upper bound for none.
    const COPIES: u32 = 2_000;

    /// Letters, digits and dashes.
    fn identifier(name: &str) -> String {
        let out: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        if out.is_empty() {
            "rule".to_owned()
        } else {
            out
        }
    }

    fn literal(out: &mut String, text: &str, outer: Binding) {
        // Nothing can be repeated that has no character.
        let nested = text.is_empty() && outer == Binding::Primary;
        out.push_str(if nested { "(\"" } else { "\"" });
        for c in text.chars() {
            character(out, c, "\"\\");
        }
        out.push_str(if nested { "\")" } else { "\"" });
    }

    /// A class of characters, said directly or by what it lacks, whichever is shorter.
    fn class(out: &mut String, ranges: &[(u32, u32)]) {
        let mut lacking = Vec::new();
        let mut from = 0;
        for &(first, last) in ranges {
            if first > from {
                lacking.push((from, first - 1));
            }
            from = last + 1;
        }
        if from <= 0x0010_FFFF {
            lacking.push((from, 0x0010_FFFF));
        }
        // Surrogates are no characters; what lacks only them lacks nothing.
        lacking.retain(|&gap| gap != (0xD800, 0xDFFF));
        let (sign, shown) = match lacking.len() {
            0 => return out.push('.'),
            count if count < ranges.len() => ("[^", &lacking[..]),
            _ => ("[", ranges),
        };
        let one = |code: u32| char::from_u32(code).unwrap_or('\u{D7FF}');
        if let ("[", [(first, last)]) = (sign, shown)
            && first == last
        {
            return Self::literal(out, &one(*first).to_string(), Binding::Sequence);
        }
        out.push_str(sign);
        for &(first, last) in shown {
            character(out, one(first), "\\[]^-");
            if first < last {
                if last > first + 1 {
                    out.push('-');
                }
                character(out, one(last), "\\[]^-");
            }
        }
        out.push(']');
    }

    fn marker(
        &mut self,
        out: &mut String,
        text: &'g str,
        outer: Binding,
    ) -> Result<(), Unprintable> {
        let parts = match self.specials {
            Some(specials) => specials.parts(text),
            None => vec![Part::Text(text)],
        };
        let nested = parts.len() > 1 && outer == Binding::Primary;
        let inner = if parts.len() > 1 {
            Binding::Sequence
        } else {
            outer
        };
        if let [Part::Text(_)] = parts[..]
            && self.seen.insert(text)
        {
            self.markers.push(text.to_owned());
        }
        out.push_str(if nested { "(" } else { "" });
        for (position, part) in parts.into_iter().enumerate() {
            out.push_str(if position > 0 { " " } else { "" });
            match part {
                Part::Token(id) => {
                    self.names_tokens = true;
                    let _ = write!(out, "<[{id}]>");
                }
                Part::Text(text) => Self::literal(out, text, inner),
            }
        }
        out.push_str(if nested { ")" } else { "" });
        Ok(())
    }

    fn token(
        &mut self,
        out: &mut String,
        set: &TokenSet,
        outer: Binding,
    ) -> Result<(), Unprintable> {
        self.names_tokens = true;
        match set {
            TokenSet::Text(text) => {
                if let Some(specials) = self.specials {
                    let Some(id) = specials.get(text) else {
                        return Err(format!("the token {text:?}, whose number is not known"));
                    };
                    let _ = write!(out, "<[{id}]>");
                    return Ok(());
                }
                let inner = text
                    .strip_prefix('<')
                    .and_then(|text| text.strip_suffix('>'));
                let plain = inner.is_some_and(|inner| {
                    !inner.is_empty()
                        && !inner.starts_with('[')
                        && !inner.contains(['>', '\n', '\r'])
                });
                if !plain {
                    return Err(format!(
                        "the token {text:?}, which is not of the form <text>"
                    ));
                }
                out.push_str(text);
            }
            TokenSet::Ids(ranges) => {
                if let [(first, last)] = other_ids(ranges.to_vec())[..]
                    && first == last
                {
                    let _ = write!(out, "!<[{first}]>");
                    return Ok(());
                }
                let count: u64 = ranges
                    .iter()
                    .map(|&(first, last)| u64::from(last) - u64::from(first) + 1)
                    .sum();
                if count > LISTED_TOKENS {
                    return Err(format!("{count} tokens at once"));
                }
                let nested = count > 1 && outer > Binding::Alternation;
                out.push_str(if nested { "(" } else { "" });
                let ids = ranges.iter().flat_map(|&(first, last)| first..=last);
                for (position, id) in ids.enumerate() {
                    let _ = write!(out, "{}<[{id}]>", if position > 0 { " | " } else { "" });
                }
                out.push_str(if nested { ")" } else { "" });
            }
            TokenSet::Except { .. } => {
                return Err("tokens that are named by what they are not".into());
            }
        }
        Ok(())
    }
}

fn character(out: &mut String, c: char, escaped: &str) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if escaped.contains(c) && matches!(c, '"' | '\\' | '[' | ']') => {
            out.push('\\');
            out.push(c);
        }
        c if escaped.contains(c) || c.is_control() || (c.is_whitespace() && c != ' ') => {
            let code = u32::from(c);
            let _ = match code {
                0..=0xFF => write!(out, "\\x{code:02X}"),
                0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
        }
        c => out.push(c),
    }
}
