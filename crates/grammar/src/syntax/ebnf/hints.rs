//! Hints for the syntax of other notations.

use crate::error::{Error, SourceLocation};
use crate::syntax::rules::class_around;

/// Builtins, which other notations write without `!`.
const BUILTINS: [&str; 6] = ["any", "byte", "complement", "except", "nothing", "until"];

/// The same mistake, with the advice that its place asks for.
pub(super) fn explained(text: &str, error: Error) -> Error {
    let Some(&SourceLocation::Text { offset, .. }) = error.location() else {
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
