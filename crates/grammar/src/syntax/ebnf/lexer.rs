//! Words of the grammar language.

use crate::error::Error;
use crate::syntax::rules::{Cursor, Function, Pattern};

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    /// `name!`
    Builtin(String),
    /// `@name`
    At(String),
    Bytes(Vec<u8>),
    /// A regular expression, and what of it is meant (None: its language).
    Pattern(Pattern, Option<Function>),
    /// Any part of a text.
    Parts(Vec<u8>),
    /// `<|text|>`, with its brackets.
    TokenText(String),
    TokenIds(Vec<(u32, u32)>),
    Number(u32),
    /// `::=`
    Define,
    /// `| & ~ ( ) [ ] { } ? * + , ; %`
    Sign(char),
}

const PATTERNS: &str = "patterns are written #\"…\", #e\"…\" (shortest match), #ex\"…\" (text without a match), #substrs\"…\"";

/// A word and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) offset: usize,
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
}

/// Splits a source into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut lexer = Lexer {
        cursor: Cursor::new(text),
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let offset = lexer.cursor.at;
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
    fn skip_blanks(&mut self) -> Result<(), Error> {
        loop {
            self.cursor.while_some(char::is_whitespace);
            let start = self.cursor.at;
            if self.cursor.take("//") {
                self.cursor.while_some(|c| c != '\n');
            } else if self.cursor.take("(*") {
                let Some(end) = self.cursor.rest().find("*)") else {
                    return Err(self
                        .cursor
                        .error(start, "the comment is not closed")
                        .with_hint("close it with *)"));
                };
                self.cursor.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Option<Kind>, Error> {
        let start = self.cursor.at;
        let Some(c) = self.cursor.peek() else {
            return Ok(None);
        };
        let kind = if name_start(c) {
            let name = self.cursor.while_some(name_part).to_owned();
            // `lazy(x)` is how the operator is written elsewhere; a rule of that name needs a blank before a group.
            if self.cursor.take("!") || (name == "lazy" && self.cursor.peek() == Some('(')) {
                Kind::Builtin(name)
            } else {
                Kind::Name(name)
            }
        } else if c.is_ascii_digit() {
            Kind::Number(self.cursor.number()?)
        } else if self.cursor.take("::=") {
            Kind::Define
        } else if self.cursor.take("@") {
            if !self.cursor.peek().is_some_and(name_start) {
                return Err(self
                    .cursor
                    .error(start, "a name must follow @")
                    .with_hint(r#"it is written @marker("text"), @token("text") or @label(…)"#));
            }
            Kind::At(self.cursor.while_some(name_part).to_owned())
        } else if self.cursor.take("#") {
            self.pattern(start)?
        } else if self.cursor.take("<|") {
            let Some(end) = self.cursor.rest().find("|>") else {
                return Err(self
                    .cursor
                    .error(start, "the token is not closed")
                    .with_hint("close it with |>"));
            };
            self.cursor.at += end + 2;
            Kind::TokenText(self.cursor.text[start..self.cursor.at].to_owned())
        } else if self.cursor.take("<[") {
            self.token_ids(start)?
        } else if c == '"' || c == '\'' {
            self.cursor.at += 1;
            Kind::Bytes(self.string(start, c)?)
        } else if "|&~()[]{}?*+,;%".contains(c) {
            self.cursor.at += 1;
            Kind::Sign(c)
        } else {
            let hint = if c == ':' || c == '=' {
                "a rule is written: name ::= … ;"
            } else {
                "text stands in quotes"
            };
            return Err(self
                .cursor
                .error(start, format!("unexpected character {c:?}"))
                .with_hint(hint));
        };
        Ok(Some(kind))
    }

    fn token_ids(&mut self, start: usize) -> Result<Kind, Error> {
        let mut ranges = Vec::new();
        loop {
            self.skip_blanks()?;
            ranges.push(self.cursor.token_range(start, "..")?);
            self.skip_blanks()?;
            if self.cursor.take("]>") {
                return Ok(Kind::TokenIds(ranges));
            }
            if !self.cursor.take(",") {
                return Err(self
                    .cursor
                    .error(self.cursor.at, "a comma or ]> is wanted")
                    .with_hint("tokens by number are written <[12]> or <[12..20,30]>"));
            }
        }
    }

    /// What follows `#`: a regular expression, or a text whose parts are meant.
    fn pattern(&mut self, start: usize) -> Result<Kind, Error> {
        let word = self.cursor.while_some(|c| c.is_ascii_lowercase());
        let function = match word {
            "" | "substrs" => None,
            "e" => Some(Function::Shortest),
            "ex" => Some(Function::Except),
            _ => {
                return Err(self
                    .cursor
                    .error(start, format!("unknown kind of pattern #{word}"))
                    .with_hint(PATTERNS));
            }
        };
        let Some(quote @ ('"' | '\'')) = self.cursor.next() else {
            return Err(self
                .cursor
                .error(start, "a quoted pattern is wanted behind #")
                .with_hint(PATTERNS));
        };
        if word == "substrs" {
            return Ok(Kind::Parts(self.string(start, quote)?));
        }
        let inner = self.cursor.at;
        let Some(pattern) = self.cursor.quoted(quote, &[]) else {
            return Err(self
                .cursor
                .error(start, "the regular expression is not closed")
                .with_hint(format!(
                    "close it with {quote}; inside it is written \\{quote}"
                )));
        };
        Ok(Kind::Pattern(Pattern::in_string(pattern, inner), function))
    }

    fn string(&mut self, start: usize, quote: char) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        loop {
            let at = self.cursor.at;
            let c = self.cursor.in_string(start, quote)?;
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
        let c = self.cursor.escaped(start)?;
        let plain = match c {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            '0' => 0,
            '\\' | '"' | '\'' => c as u8,
            'x' => self.cursor.hex(start, 2)? as u8,
            'u' => {
                let code = if self.cursor.take("{") {
                    let length = self.cursor.rest().find('}').unwrap_or(0);
                    let code = self.cursor.hex(start, length)?;
                    self.cursor.at += 1;
                    code
                } else {
                    self.cursor.hex(start, 4)?
                };
                let c = self.cursor.character(start, code)?;
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
            _ => {
                let hint = r#"known are \n \t \r \0 \\ \" \' \xHH \uHHHH \u{…}"#;
                return Err(self.cursor.unknown_escape(start, c, hint));
            }
        };
        bytes.push(plain);
        Ok(())
    }
}
