//! What stands in brackets between the name of a rule and `::=`.

use super::words::{skip_blanks, string};
use crate::error::{Diagnostic, Error};
use crate::syntax::rules::Cursor;

/// What the attributes of a rule say.
#[derive(Default, PartialEq)]
pub(super) struct Attributes {
    /// The label of the text that the rule matches; empty: its name.
    pub(super) capture: Option<String>,
    /// It ends at its shortest match.
    pub(super) lazy: bool,
    /// Once so many characters are written, it ends as soon as it can.
    pub(super) max_chars: Option<u32>,
}

/// The end of the brackets that open at the cursor, if they are those of attributes: `::=` follows on the same line.
pub(super) fn end(cursor: &Cursor<'_>) -> Option<usize> {
    let mut quoted = false;
    for (offset, c) in cursor.rest().char_indices().skip(1) {
        match c {
            '\n' | '\r' => return None,
            '"' => quoted = !quoted,
            ']' if !quoted => {
                let end = cursor.at + offset + 1;
                let after = cursor.text[end..].trim_start_matches([' ', '\t']);
                return after.starts_with("::=").then_some(end);
            }
            _ => {}
        }
    }
    None
}

/// Takes the attributes of a rule, if its opening bracket comes next; what is left out of them is told in `warnings`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    warnings: &mut Vec<(usize, Diagnostic)>,
) -> Result<Attributes, Error> {
    let mut attributes = Attributes::default();
    if cursor.peek() != Some('[') {
        return Ok(attributes);
    }
    let Some(end) = end(cursor) else {
        return Ok(attributes);
    };
    let mut seen: Vec<&str> = Vec::new();
    loop {
        cursor.at += 1;
        skip_blanks(cursor);
        let offset = cursor.at;
        let name = cursor.while_some(|c| c.is_ascii_alphanumeric() || c == '_');
        skip_blanks(cursor);
        let valued = cursor.take("=");
        skip_blanks(cursor);
        if seen.contains(&name) {
            let message = format!("the attribute {name} stands there twice");
            return Err(cursor.error(offset, message).with_hint("leave one out"));
        }
        seen.push(name);
        match (name, valued) {
            ("capture", false) => attributes.capture = Some(String::new()),
            ("capture", true) => attributes.capture = Some(label(cursor)?),
            ("lazy", false) => attributes.lazy = true,
            ("max_chars", true) => attributes.max_chars = Some(cursor.number()?),
            ("max_tokens", true) => {
                return Err(unsupported(cursor, offset, name).with_hint(
                    "max_chars bounds the characters of a rule; a structural tag bounds the tokens of its text",
                ));
            }
            ("temperature", true) => {
                let number = cursor
                    .while_some(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
                if !number
                    .parse::<f32>()
                    .is_ok_and(|value| value.is_finite() && value >= 0.0)
                {
                    return Err(cursor
                        .error(offset, "a temperature is a number that is not negative")
                        .with_hint("write it so: temperature=0.7"));
                }
                warnings.push((offset, left_out(name, "set it where tokens are sampled")));
            }
            ("stop_capture", true) => {
                label(cursor)?;
                warnings.push((offset, left_out(name, "capture the rule of the marker")));
            }
            (
                "capture_hidden_suffix_bytes"
                | "capture_hidden_stop_bytes"
                | "capture_hidden_body_rule_id"
                | "capture_hidden_marker_rule_id",
                true,
            ) => {
                cursor.number()?;
                warnings.push((
                    offset,
                    left_out(name, "captures hold the whole text of a rule"),
                ));
            }
            _ => {
                return Err(cursor
                    .error(offset, format!("unknown or unfinished attribute {name:?}"))
                    .with_hint(
                        "known are capture, capture=\"label\", lazy, max_chars=N, max_tokens=N, temperature=X",
                    ));
            }
        }
        skip_blanks(cursor);
        if cursor.at + 1 == end {
            cursor.at = end;
            return Ok(attributes);
        }
        if cursor.peek() != Some(',') {
            return Err(cursor
                .error(cursor.at, "expected , or ] after an attribute")
                .with_hint("attributes are written so: name[capture=\"label\", lazy] ::= …"));
        }
    }
}

fn label(cursor: &mut Cursor<'_>) -> Result<String, Error> {
    let offset = cursor.at;
    let label = match cursor.peek() {
        Some('"') => string(cursor)?,
        _ => String::new(),
    };
    if label.is_empty() {
        return Err(cursor
            .error(offset, "a label is text, and not empty")
            .with_hint("write it so: capture=\"label\""));
    }
    Ok(label)
}

fn unsupported(cursor: &Cursor<'_>, offset: usize, name: &str) -> Error {
    Error::grammar(
        "E-GRAMMAR-UNSUPPORTED",
        format!("the attribute {name} is not supported"),
    )
    .at(crate::error::SourceLocation::in_text(cursor.text, offset))
}

fn left_out(name: &str, hint: &str) -> Diagnostic {
    let message = format!("the attribute {name} changes no text, and is left out");
    Diagnostic::new("W-GRAMMAR-LEFT-OUT", message).with_hint(hint)
}
