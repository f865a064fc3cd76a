//! The lexer: source text to tokens.

use crate::error::{Error, SourceLocation, shown};
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
    /// `"text"i`: ASCII letters of it in either case.
    AnyCase(Vec<u8>),
    /// A regular expression, and what of it is meant (None: its language).
    Pattern(Pattern, Option<Function>),
    /// Any part of a text.
    Parts(Vec<u8>),
    /// `<|text|>`, with its brackets.
    TokenText(String),
    TokenIds(Vec<(u32, u32)>),
    TokenExcept(Vec<(u32, u32)>, Vec<String>),
    Number(u32),
    /// `::=` or `=`
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

/// The words of a source, and what about them may explain a mistake.
pub(super) struct Words {
    pub(super) tokens: Vec<Token>,
    /// The first string over several lines of which one begins as a rule does: its closing quote may be missing.
    pub(super) suspect: Option<usize>,
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    suspect: Option<usize>,
}

/// Splits a source into words.
pub(super) fn words(text: &str) -> Result<Words, Error> {
    let mut lexer = Lexer {
        cursor: Cursor::new(text),
        suspect: None,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let offset = lexer.cursor.at;
        match lexer.token() {
            Ok(Some(kind)) => tokens.push(Token { kind, offset }),
            Ok(None) => {
                let suspect = lexer.suspect;
                return Ok(Words { tokens, suspect });
            }
            Err(error) => return Err(unclosed(text, lexer.suspect, error)),
        }
    }
}

/// A mistake after a string that is perhaps not closed is reported at that string.
pub(super) fn unclosed(text: &str, suspect: Option<usize>, error: Error) -> Error {
    let before = |start: usize| matches!(error.location(), Some(&SourceLocation::Text { offset, .. }) if offset > start);
    match suspect.filter(|&start| before(start)) {
        None => error,
        Some(start) => {
            let quote = text[start..].chars().next().unwrap_or('"');
            Cursor::new(text)
                .error(
                    start,
                    "the string is not closed on its line, and a rule begins inside of it",
                )
                .with_hint(format!("close it with {quote}"))
        }
    }
}

/// Whether a line begins as a rule does.
fn begins_rule(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.find(|c| !name_part(c)).unwrap_or(line.len());
    line.starts_with(name_start) && line[name..].trim_start().starts_with("::=")
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
            // `lazy(x)` is how the operator is written elsewhere; a rule of that name needs a space before a group.
            if self.cursor.take("!") || (name == "lazy" && self.cursor.peek() == Some('(')) {
                Kind::Builtin(name)
            } else {
                Kind::Name(name)
            }
        } else if c.is_ascii_digit() {
            Kind::Number(self.cursor.number()?)
        } else if self.cursor.take("::=") || self.cursor.take("=") {
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
            let bytes = self.string(start, c)?;
            if self.ignores_case() {
                Kind::AnyCase(bytes)
            } else {
                Kind::Bytes(bytes)
            }
        } else if "|&~()[]{}?*+,;%".contains(c) {
            self.cursor.at += 1;
            Kind::Sign(c)
        } else {
            return Err(self
                .cursor
                .error(start, format!("unexpected character {}", shown(c)))
                .with_hint(hint_for(c, self.cursor.rest())));
        };
        Ok(Some(kind))
    }

    /// Takes the `i` right after a string; a name that begins with it is none.
    fn ignores_case(&mut self) -> bool {
        let mut rest = self.cursor.rest().chars();
        let found = rest.next() == Some('i') && !rest.next().is_some_and(name_part);
        self.cursor.at += usize::from(found);
        found
    }

    fn token_ids(&mut self, start: usize) -> Result<Kind, Error> {
        let negated = self.cursor.take("^");
        let (mut ranges, mut texts) = (Vec::new(), Vec::new());
        loop {
            self.skip_blanks()?;
            match self.cursor.rest().chars().next() {
                Some(quote @ ('"' | '\'')) if negated => texts.push(self.token_name(quote)?),
                _ => ranges.push(self.cursor.token_range(start, "..")?),
            }
            self.skip_blanks()?;
            if self.cursor.take("]>") {
                return Ok(if negated {
                    Kind::TokenExcept(ranges, texts)
                } else {
                    Kind::TokenIds(ranges)
                });
            }
            if !self.cursor.take(",") {
                return Err(self
                    .cursor
                    .error(self.cursor.at, "expected a comma or ]>")
                    .with_hint(
                        "tokens by number are written <[12]>, <[12..20,30]> or <[^12,\"text\"]>",
                    ));
            }
        }
    }

    /// The text of a token, in quotes.
    fn token_name(&mut self, quote: char) -> Result<String, Error> {
        let start = self.cursor.at;
        self.cursor.at += 1;
        let bytes = self.string(start, quote)?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.is_empty() => Ok(text),
            _ => Err(self
                .cursor
                .error(start, "the text of a token is UTF-8, and not empty")),
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
                .error(start, "expected a quoted pattern after #")
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
            let c = self.cursor.next().ok_or_else(|| {
                self.cursor
                    .error(start, "the string is not closed")
                    .with_hint(format!("close it with {quote}"))
            })?;
            if c == quote {
                return Ok(bytes);
            }
            if c == '\n' && begins_rule(self.cursor.rest()) {
                self.suspect.get_or_insert(start);
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
            'b' => 8,
            'f' => 12,
            '0'..='7' => {
                // One to three octal digits.
                self.cursor.at = start + 1;
                let digits = self.cursor.rest().bytes().take(3);
                let length = digits
                    .take_while(|digit| (b'0'..=b'7').contains(digit))
                    .count();
                let code = u16::from_str_radix(&self.cursor.rest()[..length], 8);
                let code = code.ok().and_then(|code| u8::try_from(code).ok());
                let code = code.ok_or_else(|| {
                    self.cursor
                        .error(start, "an octal escape is one byte")
                        .with_hint("the greatest is \\377; characters are written \\uHHHH")
                })?;
                self.cursor.at += length;
                code
            }
            '\\' | '/' | '"' | '\'' => c as u8,
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
                let hint = r#"known are \n \t \r \b \f \0 \\ \/ \" \' \xHH \ooo \uHHHH \u{…}"#;
                return Err(self.cursor.unknown_escape(start, c, hint));
            }
        };
        bytes.push(plain);
        Ok(())
    }
}

/// Advice about a character that no word begins with; `rest` begins with it.
fn hint_for(c: char, rest: &str) -> &'static str {
    match c {
        ':' => "a rule is written: name ::= … ;",
        '-' if rest.starts_with("->") => "a rule is written: name ::= … ;",
        '.' => "any character is the pattern #\"(?s).\", any byte byte!, any text any!",
        '^' => "a class of characters is a pattern: #\"[^a]\"",
        '/' => "a pattern is written #\"…\"",
        '<' => "tokens are written <|text|>, <[12]> or @token(\"text\")",
        '!' => "what a text must not be is written ~x, a text without x except!(x)",
        _ => "text stands in quotes",
    }
}
