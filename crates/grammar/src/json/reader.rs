//! JSON text (RFC 8259) to a value, over an explicit stack.

use std::fmt;

use super::{Map, Number, Value};

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong.
    pub problem: Problem,
    /// The byte at which it is.
    pub offset: usize,
}

/// What is wrong with a text that is to be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing but whitespace.
    Empty,
    /// What should stand there, or what must not.
    Syntax(&'static str),
    /// Something follows the value.
    Follows,
    /// Values are nested deeper than is allowed.
    Deep,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.problem {
            Problem::Empty => "it is empty",
            Problem::Syntax(expected) => expected,
            Problem::Follows => "something follows the value",
            Problem::Deep => "it is nested too deeply",
        })
    }
}

impl std::error::Error for Unreadable {}

/// A container that is being read.
enum Open {
    Array(Vec<Value>),
    /// With the name of the member whose value comes next.
    Object(Map, String),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// Reads one value, in which containers nest at most so deep.
///
/// # Errors
/// The first [`Problem`].
pub fn read(text: &str, depth: usize) -> Result<Value, Unreadable> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(depth).map_err(|problem| Unreadable {
        problem,
        offset: reader.at,
    })?;
    reader.whitespace();
    if reader.at < text.len() {
        return Err(Unreadable {
            problem: Problem::Follows,
            offset: reader.at,
        });
    }
    Ok(value)
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn whitespace(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Reads this punctuation mark, with whitespace before it; false if something else comes next.
    fn takes(&mut self, sign: u8) -> bool {
        self.whitespace();
        let found = self.peek() == Some(sign);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut open: Vec<Open> = Vec::new();
        self.whitespace();
        if self.peek().is_none() {
            return Err(Problem::Empty);
        }
        loop {
            self.whitespace();
            let mut value = match self.peek() {
                Some(b'[' | b'{') if open.len() == depth => return Err(Problem::Deep),
                Some(b'[') => {
                    self.at += 1;
                    if !self.takes(b']') {
                        open.push(Open::Array(Vec::new()));
                        continue;
                    }
                    Value::Array(Vec::new())
                }
                Some(b'{') => {
                    self.at += 1;
                    if !self.takes(b'}') {
                        let name = self.name()?;
                        open.push(Open::Object(Map::default(), name));
                        continue;
                    }
                    Value::Object(Map::default())
                }
                _ => self.scalar()?,
            };
            // The value may be the last one of containers.
            loop {
                match open.pop() {
                    None => return Ok(value),
                    Some(Open::Array(mut items)) => {
                        items.push(value);
                        if self.takes(b',') {
                            open.push(Open::Array(items));
                            break;
                        }
                        if !self.takes(b']') {
                            return Err(Problem::Syntax("expected a comma or ]"));
                        }
                        value = Value::Array(items);
                    }
                    Some(Open::Object(mut members, name)) => {
                        members.0.insert(name, value);
                        if self.takes(b',') {
                            let name = self.name()?;
                            open.push(Open::Object(members, name));
                            break;
                        }
                        if !self.takes(b'}') {
                            return Err(Problem::Syntax("expected a comma or }"));
                        }
                        value = Value::Object(members);
                    }
                }
            }
        }
    }

    /// The name of a member, and its colon.
    fn name(&mut self) -> Result<String, Problem> {
        if !self.takes(b'"') {
            return Err(Problem::Syntax("expected a name in quotes"));
        }
        let name = self.string()?;
        if !self.takes(b':') {
            return Err(Problem::Syntax("expected a colon"));
        }
        Ok(name)
    }

    fn scalar(&mut self) -> Result<Value, Problem> {
        let word = |reader: &mut Self, word: &str, value: Value| {
            if reader.text[reader.at..].starts_with(word) {
                reader.at += word.len();
                Ok(value)
            } else {
                Err(Problem::Syntax("expected a value"))
            }
        };
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string().map(Value::String)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b't') => word(self, "true", Value::Bool(true)),
            Some(b'f') => word(self, "false", Value::Bool(false)),
            Some(b'n') => word(self, "null", Value::Null),
            _ => Err(Problem::Syntax("expected a value")),
        }
    }

    fn digits(&mut self) -> Result<(), Problem> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(Problem::Syntax("expected a digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Number, Problem> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(Problem::Syntax("no digit may follow a zero that leads"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Number(self.text[start..self.at].into()))
    }

    /// What stands between quotes; the first of them is passed.
    fn string(&mut self) -> Result<String, Problem> {
        let mut out = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let special = |&byte: &u8| byte < b' ' || byte == b'"' || byte == b'\\';
            let plain = rest.iter().position(special);
            let end = self.at + plain.unwrap_or(rest.len());
            out.push_str(&self.text[self.at..end]);
            self.at = end;
            match self.peek() {
                None => return Err(Problem::Syntax("the string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escaped()?);
                }
                Some(_) => {
                    return Err(Problem::Syntax(
                        "a control character must be escaped in a string",
                    ));
                }
            }
        }
    }

    /// The character that an escape stands for; its backslash is passed.
    fn escaped(&mut self) -> Result<char, Problem> {
        let letter = self.peek();
        let character = match letter {
            Some(sign @ (b'"' | b'\\' | b'/')) => char::from(sign),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0C',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(Problem::Syntax("there is no such escape")),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode(&mut self) -> Result<char, Problem> {
        const ALONE: Problem = Problem::Syntax("a surrogate stands alone");
        let first = self.hex()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if first >= 0xDC00 || !self.text[self.at..].starts_with("\\u") {
            return Err(ALONE);
        }
        self.at += 2;
        let second = self.hex()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(ALONE);
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10 | (second - 0xDC00))).ok_or(ALONE)
    }

    fn hex(&mut self) -> Result<u32, Problem> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(Problem::Syntax("expected four hexadecimal digits"));
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }
}
