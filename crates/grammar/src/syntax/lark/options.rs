//! The options between the name of a rule and its colon.

use super::lexer::{Kind, Token, unsupported};
use crate::error::{Error, SourceLocation};

/// Options of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options<'s> {
    /// A label; empty is the name of the rule.
    pub(super) capture: Option<&'s str>,
    /// Whether the shortest match is taken; what it ends in may be given beside the body.
    pub(super) lazy: bool,
    /// Where a priority is, which says nothing of texts.
    pub(super) priority: Option<usize>,
    /// What stands after the body, and ends it where it first occurs.
    pub(super) suffix: Option<&'s Token>,
}

/// Reads up to and with the colon.
pub(super) fn read_options<'s>(
    text: &str,
    tokens: &'s [Token],
    at: &mut usize,
) -> Result<Options<'s>, Error> {
    let mut options = Options::default();
    let sign = |at: usize| match tokens.get(at).map(|token| &token.kind) {
        Some(Kind::Sign(sign)) => Some(*sign),
        _ => None,
    };
    let place = |at: usize| tokens.get(at).map_or(text.len(), |token| token.offset);
    if sign(*at) == Some('.') {
        options.priority = Some(place(*at));
        *at += 1 + usize::from(sign(*at + 1) == Some('-'));
        if !matches!(
            tokens.get(*at).map(|token| &token.kind),
            Some(Kind::Number(_))
        ) {
            return Err(wrong(text, place(*at), "expected a number, the priority"));
        }
        *at += 1;
    }
    match sign(*at) {
        Some('[') => {
            *at += 1;
            loop {
                read_option(text, tokens, at, &mut options)?;
                *at += 1;
                match sign(*at - 1) {
                    Some(',') => {}
                    Some(']') => break,
                    _ => return Err(wrong(text, place(*at - 1), "expected a comma or ]")),
                }
            }
        }
        _ => {}
    }
    *at += 1;
    match sign(*at - 1) {
        Some(':') => Ok(options),
        _ => Err(wrong(text, place(*at - 1), "expected :")),
    }
}

fn wrong(text: &str, offset: usize, message: &str) -> Error {
    Error::grammar("E-GRAMMAR-SYNTAX", message)
        .at(SourceLocation::in_text(text, offset))
        .with_hint("options are written name[capture=\"label\", lazy, suffix=\"end\"]: …")
}

fn read_option<'s>(
    text: &str,
    tokens: &'s [Token],
    at: &mut usize,
    options: &mut Options<'s>,
) -> Result<(), Error> {
    let place = |at: usize| tokens.get(at).map_or(text.len(), |token| token.offset);
    let offset = place(*at);
    let Some(Kind::Name(name)) = tokens.get(*at).map(|token| &token.kind) else {
        return Err(wrong(text, offset, "expected the name of an option"));
    };
    *at += 1;
    let mut value = None;
    if tokens.get(*at).map(|token| &token.kind) == Some(&Kind::Sign('=')) {
        value = tokens.get(*at + 1);
        *at += 2;
    }
    match (name.as_str(), value) {
        ("capture", None) => options.capture = Some(""),
        ("capture", Some(token)) => match &token.kind {
            Kind::Text(label, false) if !label.is_empty() => options.capture = Some(label),
            _ => return Err(wrong(text, token.offset, "a label is text")),
        },
        ("lazy", None) => options.lazy = true,
        ("suffix", Some(token)) => {
            options.suffix = Some(token);
            options.lazy = true;
        }
        ("stop", _) => {
            return Err(unsupported(text, offset, "the option stop is")
                .with_hint("suffix=… keeps what ends the text as part of it"));
        }
        ("max_tokens" | "temperature" | "stop_capture", _) => {
            return Err(unsupported(text, offset, &format!("the option {name} is")));
        }
        _ => {
            return Err(wrong(
                text,
                offset,
                &format!("unknown or unfinished option {name:?}"),
            ));
        }
    }
    Ok(())
}
