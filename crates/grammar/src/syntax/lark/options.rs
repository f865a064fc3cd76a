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
    /// What is to follow, and ends it where it first occurs.
    pub(super) stop: Option<&'s Token>,
    /// A label of the suffix.
    pub(super) stop_capture: Option<&'s str>,
    /// The most tokens, and where that is said.
    pub(super) max_tokens: Option<(u32, usize)>,
    /// Where a temperature is, which says nothing of texts.
    pub(super) temperature: Option<usize>,
}

impl Options<'_> {
    /// Whether a suffix is told apart from what is before it.
    pub(super) fn is_labelled(&self) -> bool {
        self.capture.is_some() || self.stop_capture.is_some() || self.max_tokens.is_some()
    }
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
    if sign(*at) == Some('[') {
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
    if options.stop_capture.is_some() && options.suffix.is_none() {
        return Err(
            unsupported(text, place(*at), "stop_capture without a suffix is")
                .with_hint("label the rule that writes the stop"),
        );
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
        ("suffix" | "stop", Some(token)) => {
            if options.suffix.is_some() || options.stop.is_some() {
                return Err(wrong(text, offset, "a part ends in one way"));
            }
            let end = match name.as_str() {
                "suffix" => &mut options.suffix,
                _ => &mut options.stop,
            };
            *end = Some(token);
            options.lazy = true;
        }
        ("stop_capture", Some(token)) => match &token.kind {
            Kind::Text(label, false) if !label.is_empty() => options.stop_capture = Some(label),
            _ => return Err(wrong(text, token.offset, "a label is text")),
        },
        ("max_tokens", Some(token)) => match token.kind {
            Kind::Number(number) if u32::try_from(number).is_ok() => {
                options.max_tokens = Some((number as u32, offset));
            }
            _ => return Err(wrong(text, token.offset, "expected a number of tokens")),
        },
        ("temperature", Some(token)) if matches!(token.kind, Kind::Number(_)) => {
            options.temperature = Some(offset);
            let is_point = tokens.get(*at).map(|token| &token.kind) == Some(&Kind::Sign('.'));
            *at += 2 * usize::from(is_point);
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
