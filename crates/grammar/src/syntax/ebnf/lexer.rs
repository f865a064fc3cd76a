//! Words of the grammar language.

use crate::error::{Error, Place};

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    /// `name!`
    Builtin(String),
    /// `@name`
    At(String),
    Bytes(Vec<u8>),
    /// A regular expression and the offset of its first character.
    Pattern(String, usize),
    /// `<|text|>`, with its brackets.
    TokenText(String),
    TokenIds(Vec<(u32, u32)>),
    Number(u32),
    /// `::=`
    Define,
    /// `| & ~ ( ) [ ] { } ? * + , ; %`
    Sign(char),
}

/// A word and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) offset: usize,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Splits a source into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let offset = lexer.at;
        match lexer.token()? {
            Some(kind) => tokens.push(Token { kind, offset }),
            None => return Ok(tokens),
        }
    }
}

fn name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(Place::in_text(self.text, offset))
    }

    fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.at += blank;
            let start = self.at;
            if self.take("//") {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.take("(*") {
                let Some(end) = self.rest().find("*)") else {
                    return Err(self
                        .error(start, "the comment is not closed")
                        .with_hint("close it with *)"));
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Option<Kind>, Error> {
        let start = self.at;
        let Some(c) = self.peek() else {
            return Ok(None);
        };
        let kind = if name_start(c) {
            let name = self.name();
            if self.take("!") {
                Kind::Builtin(name)
            } else {
                Kind::Name(name)
            }
        } else if c.is_ascii_digit() {
            Kind::Number(self.number()?)
        } else if self.take("::=") {
            Kind::Define
        } else if self.take("@") {
            if !self.peek().is_some_and(name_start) {
                return Err(self.error(start, "a name must follow @"));
            }
            Kind::At(self.name())
        } else if self.take("#") {
            self.pattern(start)?
        } else if self.take("<|") {
            let Some(end) = self.rest().find("|>") else {
                return Err(self
                    .error(start, "the token is not closed")
                    .with_hint("close it with |>"));
            };
            self.at += end + 2;
            Kind::TokenText(self.text[start..self.at].to_owned())
        } else if self.take("<[") {
            self.token_ids(start)?
        } else if c == '"' || c == '\'' {
            self.at += 1;
            Kind::Bytes(self.string(start, c)?)
        } else if "|&~()[]{}?*+,;%".contains(c) {
            self.at += 1;
            Kind::Sign(c)
        } else {
            let hint = if c == ':' || c == '=' {
                "a rule is written: name ::= … ;"
            } else {
                "text stands in quotes"
            };
            return Err(self
                .error(start, format!("unexpected character {c:?}"))
                .with_hint(hint));
        };
        Ok(Some(kind))
    }

    fn name(&mut self) -> String {
        let length = self
            .rest()
            .find(|c| !name_part(c))
            .unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        name
    }

    fn number(&mut self) -> Result<u32, Error> {
        let start = self.at;
        let length = self
            .rest()
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest().len());
        let number = self.rest()[..length].parse();
        self.at += length;
        number.map_err(|_| self.error(start, "a number is wanted that fits in 32 bits"))
    }

    fn token_ids(&mut self, start: usize) -> Result<Kind, Error> {
        let mut ranges = Vec::new();
        loop {
            self.skip_blanks()?;
            let first = self.number()?;
            let last = if self.take("..") {
                self.number()?
            } else {
                first
            };
            if last < first {
                return Err(self.error(start, "the range of tokens is out of order"));
            }
            ranges.push((first, last));
            self.skip_blanks()?;
            if self.take("]>") {
                return Ok(Kind::TokenIds(ranges));
            }
            if !self.take(",") {
                return Err(self
                    .error(self.at, "a comma or ]> is wanted")
                    .with_hint("tokens by number are written <[12]> or <[12..20,30]>"));
            }
        }
    }

    /// A regular expression: everything up to the closing quote, a backslash protecting what follows it.
    fn pattern(&mut self, start: usize) -> Result<Kind, Error> {
        if self.rest().starts_with("e\"") || self.rest().starts_with("e'") {
            return Err(Error::grammar(
                "E-GRAMMAR-UNSUPPORTED",
                "early-ending expressions #e\"…\" are not supported",
            )
            .at(Place::in_text(self.text, start))
            .with_hint("until!(x) ends at the first x"));
        }
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(self.error(start, "a regular expression is written #\"…\""));
        };
        self.at += 1;
        let inner = self.at;
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                let pattern = self.rest()[..offset].to_owned();
                self.at += offset + 1;
                return Ok(Kind::Pattern(pattern, inner));
            }
        }
        Err(self.error(start, "the regular expression is not closed"))
    }

    fn string(&mut self, start: usize, quote: char) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            let at = self.at;
            let Some(c) = self.peek().filter(|&c| c != '\n') else {
                return Err(self
                    .error(start, "the string is not closed")
                    .with_hint(format!(
                        "close it with {quote} on the same line; a line break is \\n"
                    )));
            };
            self.at += c.len_utf8();
            if c == quote {
                return Ok(bytes);
            }
            if c == '\\' {
                self.escape(at, &mut bytes)?;
            } else {
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }

    fn escape(&mut self, start: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let Some(c) = self.peek() else {
            return Err(self.error(start, "the escape is not finished"));
        };
        self.at += c.len_utf8();
        let plain = match c {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            '0' => 0,
            '\\' | '"' | '\'' => c as u8,
            'x' => self.hex(start, 2)? as u8,
            'u' => {
                let code = if self.take("{") {
                    let length = self.rest().find('}').unwrap_or(0);
                    let code = self.hex(start, length)?;
                    self.at += 1;
                    code
                } else {
                    self.hex(start, 4)?
                };
                let c = char::from_u32(code)
                    .ok_or_else(|| self.error(start, format!("U+{code:X} is no character")))?;
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
            _ => {
                return Err(self
                    .error(start, format!("unknown escape \\{c}"))
                    .with_hint(r#"known are \n \t \r \0 \\ \" \' \xHH \uHHHH \u{…}"#));
            }
        };
        bytes.push(plain);
        Ok(())
    }

    fn hex(&mut self, start: usize, digits: usize) -> Result<u32, Error> {
        let text = self.rest().get(..digits).unwrap_or("");
        let valid =
            (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(text, 16).ok().filter(|_| valid);
        let code = code.ok_or_else(|| self.error(start, "hexadecimal digits are wanted"))?;
        self.at += digits;
        Ok(code)
    }
}
