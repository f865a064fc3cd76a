//! A JSON object of options, read member by member.

use syntagma_grammar::json::{Map, Value, read};

use crate::error::{Error, ErrorKind};

/// How deep options may be nested, schemas in them included.
const DEPTH: usize = 1_000;

/// Reads a text that holds a JSON object; an empty one is an object without members.
pub(crate) fn read_object(json: &str) -> Result<Map, Error> {
    if json.is_empty() {
        return Ok(Map::default());
    }
    let value = read(json, DEPTH).map_err(|error| {
        let message = format!("the options are not JSON: {error} (byte {})", error.offset);
        Error::new(ErrorKind::Argument, "E-ARGUMENT-VALUE", message)
    })?;
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(Error::new(
            ErrorKind::ArgumentType,
            "E-ARGUMENT-TYPE",
            "the options are not a JSON object",
        )),
    }
}

/// The members of an object, which are taken by name; null is as good as absent.
pub(crate) struct Options<'v> {
    members: &'v Map,
    /// Where the object stands in what was given.
    pointer: String,
    asked: Vec<&'static str>,
}

impl<'v> Options<'v> {
    pub(crate) fn new(members: &'v Map) -> Self {
        Self {
            members,
            pointer: String::new(),
            asked: Vec::new(),
        }
    }

    pub(crate) fn value(&mut self, name: &'static str) -> Option<&'v Value> {
        self.asked.push(name);
        (self.members.get(name)).filter(|value| **value != Value::Null)
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<&'v str>, Error> {
        self.of_type(name, "a text", Value::as_str)
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Error> {
        self.of_type(name, "true or false", |value| match value {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        })
    }

    pub(crate) fn number<T: TryFrom<u64>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Error> {
        let number = self.of_type(name, "a number", |value| match value {
            Value::Number(number) => Some(number),
            _ => None,
        })?;
        let Some(number) = number else {
            return Ok(None);
        };
        let read = number.as_str().parse().ok();
        match read.and_then(|number: u64| T::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.error(
                (ErrorKind::Argument, "E-ARGUMENT-VALUE"),
                name,
                &format!("{name} is {number}, which is outside of its range"),
            )),
        }
    }

    pub(crate) fn array(&mut self, name: &'static str) -> Result<Option<&'v [Value]>, Error> {
        self.of_type(name, "an array", |value| match value {
            Value::Array(items) => Some(items.as_slice()),
            _ => None,
        })
    }

    pub(crate) fn object(&mut self, name: &'static str) -> Result<Option<&'v Map>, Error> {
        self.of_type(name, "an object", Value::as_object)
    }

    /// The options in a member, if there is one.
    pub(crate) fn inner(&mut self, name: &'static str) -> Result<Option<Self>, Error> {
        let members = self.object(name)?;
        Ok(members.map(|members| Self {
            pointer: format!("{}/{name}", self.pointer),
            ..Self::new(members)
        }))
    }

    /// Refuses members that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let mut names = self.members.keys();
        let Some(unknown) = names.find(|name| !self.asked.contains(&name.as_str())) else {
            return Ok(());
        };
        let message = format!("there is no option {unknown:?}");
        let found = Error::new(ErrorKind::Argument, "E-ARGUMENT-VALUE", message);
        let place = unknown.replace('~', "~0").replace('/', "~1");
        Err(found
            .at_pointer(format!("{}/{place}", self.pointer))
            .with_hint(format!("known: {}", self.asked.join(", "))))
    }

    /// An error about a member.
    pub(crate) fn error(
        &self,
        (kind, code): (ErrorKind, &'static str),
        name: &str,
        message: &str,
    ) -> Error {
        Error::new(kind, code, message).at_pointer(format!("{}/{name}", self.pointer))
    }

    fn of_type<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.error(
                (ErrorKind::ArgumentType, "E-ARGUMENT-TYPE"),
                name,
                &format!("{name} must be {wanted}"),
            )),
        }
    }
}
