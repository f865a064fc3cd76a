//! Advice for what people write who come from other notations.

use crate::error::{Error, Place};

/// Builtins, which other notations write without `!`.
const BUILTINS: [&str; 6] = ["any", "byte", "complement", "except", "nothing", "until"];

/// The same mistake, with the advice that its place asks for.
pub(super) fn explained(text: &str, error: Error) -> Error {
    let Some(&Place::Text { offset, .. }) = error.place() else {
        return error;
    };
    match error.code() {
        "E-GRAMMAR-SYNTAX" | "E-GRAMMAR-UNDEFINED" => {
            if let Some(class) = class_around(text, offset) {
                let hint = format!("a class of characters is a pattern: #\"{class}\"");
                return error.with_hint(hint);
            }
            let word = text[offset..].split(|c: char| !c.is_alphanumeric()).next();
            match word.filter(|word| BUILTINS.contains(word)) {
                Some(word) if error.code() == "E-GRAMMAR-UNDEFINED" => {
                    error.with_hint(format!("builtins end in an exclamation mark: {word}!"))
                }
                _ => error,
            }
        }
        _ => error,
    }
}

/// What stands between brackets around a place, if it looks like a class of characters: `[a-z]`, `[^a]`, `[\w]`.
fn class_around(text: &str, offset: usize) -> Option<&str> {
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[offset..]
        .find('\n')
        .map_or(text.len(), |at| offset + at);
    let up_to = text
        .len()
        .min(offset + text[offset..].chars().next().map_or(0, char::len_utf8));
    let start = line_start + text[line_start..up_to].rfind('[')?;
    let end = start + text[start..line_end].find(']')? + 1;
    let class = &text[start..end];
    let inner = &class[1..class.len() - 1];
    let characters: Vec<char> = inner.chars().collect();
    let has_range = characters
        .windows(3)
        .any(|w| w[1] == '-' && w[0].is_alphanumeric() && w[2].is_alphanumeric())
        && !inner.contains(' ');
    let is_short = characters.len() <= 40 && !inner.contains('"') && end > offset;
    let is_class = inner.starts_with('^') || inner.contains('\\') || has_range;
    (is_short && is_class).then_some(class)
}
