//! The arguments of macros: texts, numbers, words and tuples of them, with and without names.

use super::words::{name, skip_blanks, string};
use crate::error::{Error, SourceLocation};
use crate::syntax::rules::Cursor;

/// An argument.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(u32),
    Flag(bool),
    Name(String),
    Tuple(Vec<(Value, usize)>),
}

/// The arguments of a macro, each with its offset.
pub(super) struct Arguments<'t> {
    pub(super) positional: Vec<(Value, usize)>,
    pub(super) named: Vec<(&'t str, Value, usize)>,
    /// The whole source.
    pub(super) text: &'t str,
}

impl<'t> Arguments<'t> {
    /// Takes what stands between parentheses after the name of a macro.
    pub(super) fn read(cursor: &mut Cursor<'t>) -> Result<Self, Error> {
        let mut arguments = Self {
            positional: Vec::new(),
            named: Vec::new(),
            text: cursor.text,
        };
        skip_blanks(cursor);
        if !cursor.take("(") {
            return Err(cursor
                .error(cursor.at, "expected ( after the name of a macro")
                .with_hint("its arguments stand in parentheses: Regex(\"[a-z]+\")"));
        }
        skip_blanks(cursor);
        if cursor.take(")") {
            return Ok(arguments);
        }
        loop {
            skip_blanks(cursor);
            let offset = cursor.at;
            let word = name(cursor);
            skip_blanks(cursor);
            if !word.is_empty() && cursor.take("=") {
                skip_blanks(cursor);
                let at = cursor.at;
                if arguments.named.iter().any(|&(known, ..)| known == word) {
                    let message = format!("the argument {word} stands there twice");
                    return Err(cursor.error(offset, message).with_hint("leave one out"));
                }
                let value = value(cursor, true)?;
                arguments.named.push((word, value, at));
            } else {
                cursor.at = offset;
                arguments.positional.push((value(cursor, true)?, offset));
            }
            skip_blanks(cursor);
            if cursor.take(")") {
                return Ok(arguments);
            }
            if !cursor.take(",") {
                return Err(cursor
                    .error(cursor.at, "expected , or ) after an argument")
                    .with_hint("arguments are texts, numbers, true, false, names of rules and tuples of these"));
            }
        }
    }

    /// Refuses arguments by name that are not known.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Error> {
        match self.named.iter().find(|(name, ..)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _, offset)) => {
                let hint = match known {
                    [] => "its arguments have no names".to_owned(),
                    _ => format!("known are {}", known.join(", ")),
                };
                let message = format!("there is no argument {name}");
                Err(self.error(*offset, message).with_hint(hint))
            }
        }
    }

    /// The argument of a name.
    pub(super) fn named(&self, name: &str) -> Option<(&Value, usize)> {
        let mut named = self.named.iter();
        named.find_map(|(known, value, offset)| (*known == name).then_some((value, *offset)))
    }

    /// The switch of a name.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.named(name) {
            None => Ok(default),
            Some((Value::Flag(flag), _)) => Ok(*flag),
            Some((_, offset)) => Err(self.wrong(offset, &format!("{name} is true or false"))),
        }
    }

    /// A wrong argument.
    pub(super) fn wrong(&self, offset: usize, message: &str) -> Error {
        let forms = "Regex(\"[a-z]+\"), Substring(\"a\", \"b\"), Token(1, 2), TagDispatch((\"<a>\", rule), excludes=(\"<b>\",))";
        self.error(offset, message)
            .with_hint(format!("macros are written so: {forms}"))
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(self.text, offset))
    }

    /// The arguments without names, which are texts.
    pub(super) fn texts(&self) -> Result<Vec<Vec<u8>>, Error> {
        let texts = self.positional.iter().map(|(value, offset)| match value {
            Value::Text(text) => Ok(text.clone().into_bytes()),
            _ => Err(self.wrong(*offset, "expected a text")),
        });
        texts.collect()
    }

    /// The arguments without names, which are numbers of tokens, one at least.
    pub(super) fn tokens(&self, offset: usize) -> Result<Vec<(u32, u32)>, Error> {
        self.only(&[])?;
        if self.positional.is_empty() {
            return Err(self.wrong(offset, "expected a token at least"));
        }
        let ids = self.positional.iter().map(|(value, offset)| match value {
            Value::Number(id) => Ok((*id, *id)),
            _ => Err(self.wrong(*offset, "a token is given by its number")),
        });
        let mut ids: Vec<_> = ids.collect::<Result<_, _>>()?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

/// Takes an argument; in a tuple, none is a tuple.
fn value(cursor: &mut Cursor<'_>, tuples: bool) -> Result<Value, Error> {
    let offset = cursor.at;
    match cursor.peek() {
        Some('"') => Ok(Value::Text(string(cursor)?)),
        Some(c) if c.is_ascii_digit() => Ok(Value::Number(cursor.number()?)),
        Some('(') if tuples => {
            cursor.at += 1;
            let mut members = Vec::new();
            loop {
                skip_blanks(cursor);
                if cursor.take(")") {
                    return Ok(Value::Tuple(members));
                }
                let at = cursor.at;
                members.push((value(cursor, false)?, at));
                skip_blanks(cursor);
                if !cursor.take(",") && cursor.peek() != Some(')') {
                    return Err(cursor
                        .error(cursor.at, "expected , or ) in a tuple")
                        .with_hint("tuples are written so: (\"<a>\", rule)"));
                }
            }
        }
        _ => match name(cursor) {
            "" => Err(cursor.error(offset, "expected an argument").with_hint(
                "arguments are texts, numbers, true, false, names of rules and tuples of these",
            )),
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            name => Ok(Value::Name(name.to_owned())),
        },
    }
}
