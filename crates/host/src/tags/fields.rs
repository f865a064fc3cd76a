//! The fields of one format in a structural tag, and the errors of structural tags.

use syntagma_grammar::json::{Map, Value};

use crate::error::{Error, ErrorKind};

/// The fields of a format, each checked for its type.
pub(super) struct Fields<'v> {
    pub(super) members: &'v Map,
    pub(super) pointer: &'v str,
}

impl<'v> Fields<'v> {
    pub(super) fn at(&self, field: &str) -> String {
        format!("{}/{field}", self.pointer)
    }

    pub(super) fn get(&self, field: &str) -> Option<&'v Value> {
        (self.members.get(field)).filter(|value| **value != Value::Null)
    }

    pub(super) fn text(&self, field: &str) -> Result<&'v str, Error> {
        let text = self.members.get(field).and_then(Value::as_str);
        text.ok_or_else(|| invalid(&format!("{field} is text"), &self.at(field)))
    }

    pub(super) fn source(&self, field: &str) -> Result<&'v str, Error> {
        match self.text(field)? {
            "" => Err(invalid(&format!("{field} is not empty"), &self.at(field))),
            text => Ok(text),
        }
    }

    pub(super) fn flag(&self, field: &str) -> Result<bool, Error> {
        match self.members.get(field) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(invalid(
                &format!("{field} is true or false"),
                &self.at(field),
            )),
        }
    }

    pub(super) fn members(&self, field: &str) -> Result<&'v [Value], Error> {
        match self.members.get(field) {
            Some(Value::Array(listed)) if !listed.is_empty() => Ok(listed),
            Some(Value::Array(_)) => Err(invalid(
                &format!("{field} has one member at least"),
                &self.at(field),
            )),
            _ => Err(invalid(&format!("{field} is a list"), &self.at(field))),
        }
    }

    /// Texts, none of them empty.
    pub(super) fn texts(&self, field: &str) -> Result<Vec<&'v str>, Error> {
        let listed = self.members(field)?.iter().enumerate();
        let read = |(at, text): (usize, &'v Value)| {
            let text = text.as_str().filter(|text| !text.is_empty());
            text.ok_or_else(|| {
                let message = format!("{field} are texts, none of them empty");
                invalid(&message, &format!("{}/{at}", self.at(field)))
            })
        };
        listed.map(read).collect()
    }

    /// Texts, or none where there is no such field.
    pub(super) fn some_texts(&self, field: &str) -> Result<Vec<&'v str>, Error> {
        match self.get(field) {
            None => Ok(Vec::new()),
            Some(Value::Array(listed)) if listed.is_empty() => Ok(Vec::new()),
            Some(_) => self.texts(field),
        }
    }
}

pub(super) fn invalid(message: &str, pointer: &str) -> Error {
    Error::new(ErrorKind::Grammar, "E-GRAMMAR-STRUCTURAL-TAG", message).at_pointer(pointer)
}

pub(super) fn unsupported(message: &str, pointer: &str) -> Error {
    Error::new(ErrorKind::Grammar, "E-GRAMMAR-UNSUPPORTED", message).at_pointer(pointer)
}
