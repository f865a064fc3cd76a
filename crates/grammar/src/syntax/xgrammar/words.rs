//! Blanks, names, strings, classes of characters and their escapes.

use crate::error::Error;
use crate::syntax::rules::{Cursor, Node, ranges_in_order};

const ESCAPES: &str =
    r#"known are \n \r \t \b \f \a \v \e \0 \\ \" \' \? \/ \xH… \uHHHH \UHHHHHHHH"#;
const CLASS_ESCAPES: &str =
    r"besides those of strings, known in classes are \^ \$ \. \* \+ \( \) \[ \] \{ \} \| \-";

/// Whether a name may begin so.
pub(super) fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.')
}

/// Skips whitespace and comments; says whether a line ended.
pub(super) fn skip_blanks(cursor: &mut Cursor<'_>) -> bool {
    let mut line_ended = false;
    while let Some(c) = cursor.peek() {
        match c {
            ' ' | '\t' => cursor.at += 1,
            '\n' | '\r' => {
                line_ended = true;
                cursor.at += 1;
            }
            '#' => {
                cursor.while_some(|c| !matches!(c, '\n' | '\r'));
            }
            _ => break,
        }
    }
    line_ended
}

/// Takes a name; empty if none stands there.
pub(super) fn name<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    if cursor.peek().is_some_and(begins_name) {
        cursor.while_some(|c| begins_name(c) || c.is_ascii_digit())
    } else {
        ""
    }
}

/// Takes a string, whose opening quote comes next.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Result<String, Error> {
    let start = cursor.at;
    cursor.at += 1;
    let mut text = String::new();
    loop {
        match cursor.peek().filter(|&c| !matches!(c, '\n' | '\r')) {
            None => {
                return Err(cursor
                    .error(start, "the string is not closed")
                    .with_hint("close it with \" on the same line; a line break is \\n"));
            }
            Some('"') => {
                cursor.at += 1;
                return Ok(text);
            }
            Some(_) => text.push(character(cursor, false)?),
        }
    }
}

/// Takes a class of characters, whose opening bracket comes next. An empty one matches nothing, its negation any character.
pub(super) fn class(cursor: &mut Cursor<'_>) -> Result<Node, Error> {
    let start = cursor.at;
    cursor.at += 1;
    let negated = cursor.take("^");
    let mut ranges = Vec::new();
    loop {
        let at = cursor.at;
        match cursor.peek().filter(|&c| !matches!(c, '\n' | '\r')) {
            None => {
                return Err(cursor.error(start, "the class is not closed").with_hint(
                    "close it with ] on the same line; a bracket inside is written \\]",
                ));
            }
            Some(']') => {
                cursor.at += 1;
                return Ok(Node::Class(ranges_in_order(ranges, negated)));
            }
            Some(_) => {}
        }
        let first = character(cursor, true)?;
        let is_range = cursor.rest().starts_with('-') && !cursor.rest().starts_with("-]");
        let last = if is_range {
            cursor.at += 1;
            if cursor.peek().is_none_or(|c| matches!(c, '\n' | '\r')) {
                continue;
            }
            character(cursor, true)?
        } else {
            first
        };
        if last < first {
            return Err(cursor
                .error(at, "the range is out of order")
                .with_hint("the smaller character comes first; a hyphen is written \\-"));
        }
        ranges.push((first, last));
    }
}

/// Takes one character of a string or class, an escape or itself.
fn character(cursor: &mut Cursor<'_>, in_class: bool) -> Result<char, Error> {
    let start = cursor.at;
    let c = cursor.escaped(start)?;
    if c != '\\' {
        return Ok(c);
    }
    let c = cursor.escaped(start)?;
    Ok(match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{C}',
        'a' => '\u{7}',
        'v' => '\u{B}',
        'e' => '\u{1B}',
        '0' => '\0',
        '\\' | '"' | '\'' | '?' | '/' => c,
        '^' | '$' | '.' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '-' if in_class => {
            c
        }
        'd' | 'D' | 's' | 'S' | 'w' | 'W' if in_class => {
            return Err(cursor.unknown_escape(
                start,
                c,
                "write the ranges out: [0-9], [A-Za-z0-9_], [ \\t\\n\\r]",
            ));
        }
        'x' => {
            let digits = cursor
                .rest()
                .bytes()
                .take_while(u8::is_ascii_hexdigit)
                .count();
            let code = cursor.hex(start, digits)?;
            cursor.character(start, code)?
        }
        _ if in_class => cursor.numbered(start, c, CLASS_ESCAPES)?,
        _ => cursor.numbered(start, c, ESCAPES)?,
    })
}
