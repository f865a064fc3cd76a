//! Words of a Lark source.

use crate::error::{Error, Place};

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    /// `%name`
    Directive(String),
    /// Text, and whether case is ignored.
    Text(String, bool),
    /// A regular expression, its flags, and the offset of its first character.
    Pattern(String, String, usize),
    /// `<text>`, with its brackets.
    TokenText(String),
    TokenIds(Vec<(u32, u32)>),
    Number(u32),
    /// A JSON value behind `%json`, `%regex` or `%llguidance`.
    Json(String),
    /// `->`
    Arrow,
    /// `..`
    Range,
    /// `: | & ~ ( ) [ ] { } ? * + , . = ! @`, and `§` for `::`
    Sign(char),
}

/// A word and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) offset: usize,
    /// Whether it is the first of its line.
    pub(super) first: bool,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Splits a source into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let before = lexer.at;
        lexer.skip_blanks();
        let first = tokens.is_empty() || text[before..lexer.at].contains('\n');
        let offset = lexer.at;
        let wants_json = matches!(
            tokens.last().map(|token| &token.kind),
            Some(Kind::Directive(name)) if matches!(name.as_str(), "json" | "regex" | "llguidance")
        );
        let kind = if wants_json {
            lexer.json()?
        } else {
            match lexer.token()? {
                Some(kind) => kind,
                None => return Ok(tokens),
            }
        };
        tokens.push(Token {
            kind,
            offset,
            first,
        });
    }
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
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

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if !rest.starts_with("//") && !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn while_some(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let mut length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(rest.len());
        // The arrow of an alias may follow without a blank.
        if rest[length..].starts_with('>') && rest[..length].ends_with('-') {
            length -= 1;
        }
        self.at += length;
        rest[..length].to_owned()
    }

    fn token(&mut self) -> Result<Option<Kind>, Error> {
        let start = self.at;
        let Some(c) = self.peek() else {
            return Ok(None);
        };
        Ok(Some(match c {
            'a'..='z' | 'A'..='Z' | '_' => Kind::Name(self.name()),
            '0'..='9' => Kind::Number(self.number()?),
            '"' | '\'' => self.string(start, c)?,
            '/' => self.pattern(start)?,
            '<' if self.rest().starts_with("<[") => self.token_ids(start)?,
            '<' => {
                let rest = self.rest();
                let end = rest
                    .find(['>', '\n'])
                    .filter(|&at| rest[at..].starts_with('>'));
                let Some(end) = end.filter(|&end| end > 1) else {
                    return Err(self
                        .error(start, "the token is not closed")
                        .with_hint("tokens are written <text> or <[12]>"));
                };
                self.at += end + 1;
                Kind::TokenText(rest[..=end].to_owned())
            }
            '%' => {
                self.at += 1;
                let name = self.name();
                if name.is_empty() {
                    return Err(self.error(start, "a directive must follow %"));
                }
                Kind::Directive(name)
            }
            _ if self.take("->") => Kind::Arrow,
            _ if self.take("..") => Kind::Range,
            _ if self.take("::") => Kind::Sign('§'),
            _ if ":|&~()[]{}?*+,.=!@-".contains(c) => {
                self.at += 1;
                Kind::Sign(c)
            }
            _ => {
                return Err(self
                    .error(start, format!("unexpected character {c:?}"))
                    .with_hint("text stands in double quotes, regular expressions in slashes"));
            }
        }))
    }

    fn number(&mut self) -> Result<u32, Error> {
        let start = self.at;
        self.while_some(|c| c.is_ascii_digit())
            .parse()
            .map_err(|_| self.error(start, "a number is wanted that fits in 32 bits"))
    }

    fn token_ids(&mut self, start: usize) -> Result<Kind, Error> {
        self.at += 2;
        let negated = self.take("^");
        let mut ranges = Vec::new();
        if self.take("*") {
            ranges.push((0, u32::MAX));
        }
        while ranges.first() != Some(&(0, u32::MAX)) {
            self.skip_blanks();
            let first = self.number()?;
            let last = if self.take("-") {
                self.number()?
            } else {
                first
            };
            if last < first {
                return Err(self.error(start, "the range of tokens is out of order"));
            }
            ranges.push((first, last));
            self.skip_blanks();
            if !self.take(",") {
                break;
            }
        }
        if !self.take("]>") {
            return Err(self
                .error(self.at, "a comma or ]> is wanted")
                .with_hint("tokens by number are written <[12]>, <[12-20,30]>, <[^12]> or <[*]>"));
        }
        if !negated {
            return Ok(Kind::TokenIds(ranges));
        }
        ranges.sort_unstable();
        let mut others = Vec::new();
        let mut from = Some(0u32);
        for (first, last) in ranges {
            if let Some(from) = from
                && first > from
            {
                others.push((from, first - 1));
            }
            from = from.and_then(|from| Some(from.max(last.checked_add(1)?)));
        }
        others.extend(from.map(|from| (from, u32::MAX)));
        Ok(Kind::TokenIds(others))
    }

    fn pattern(&mut self, start: usize) -> Result<Kind, Error> {
        self.at += 1;
        let inner = self.at;
        let mut escaped = false;
        let mut end = None;
        for (offset, c) in self.rest().char_indices() {
            match c {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '/' => {
                    end = Some(offset);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else {
            return Err(self
                .error(start, "the regular expression is not closed")
                .with_hint("close it with / on the same line; a slash inside is written \\/"));
        };
        let pattern = self.rest()[..end].to_owned();
        self.at += end + 1;
        let at = self.at;
        let flags = self.while_some(|c| c.is_ascii_lowercase()).to_owned();
        if let Some(flag) = flags.chars().find(|&flag| !"imsxu".contains(flag)) {
            return Err(self
                .error(at, format!("unknown flag {flag:?} of a regular expression"))
                .with_hint("known are i m s x u"));
        }
        Ok(Kind::Pattern(pattern, flags, inner))
    }

    fn string(&mut self, start: usize, quote: char) -> Result<Kind, Error> {
        self.at += 1;
        let mut text = String::new();
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
            match c {
                '\\' => text.push(self.escape(at)?),
                c if c == quote => break,
                c => text.push(c),
            }
        }
        // A name that begins with i right behind a string is a mistake anyway.
        let ignores_case = self.take("i");
        Ok(Kind::Text(text, ignores_case))
    }

    fn escape(&mut self, start: usize) -> Result<char, Error> {
        let c = self
            .peek()
            .ok_or_else(|| self.error(start, "the escape is not finished"))?;
        self.at += c.len_utf8();
        let digits = match c {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            'f' => return Ok('\u{C}'),
            'b' => return Ok('\u{8}'),
            '0' => return Ok('\0'),
            '\\' | '"' | '\'' | '/' => return Ok(c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                return Err(self
                    .error(start, format!("unknown escape \\{c}"))
                    .with_hint(
                        r#"known are \n \t \r \f \b \0 \\ \" \' \/ \xHH \uHHHH \UHHHHHHHH"#,
                    ));
            }
        };
        let hex = self
            .rest()
            .get(..digits)
            .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let code = code
            .ok_or_else(|| self.error(start, format!("{digits} hexadecimal digits are wanted")))?;
        self.at += digits;
        char::from_u32(code).ok_or_else(|| self.error(start, format!("U+{code:X} is no character")))
    }

    /// The text of an object, up to the bracket that closes it.
    fn json(&mut self) -> Result<Kind, Error> {
        let start = self.at;
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        for (offset, byte) in self.rest().bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let json = self.rest()[..=offset].to_owned();
                        self.at += offset + 1;
                        return Ok(Kind::Json(json));
                    }
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        Err(self
            .error(start, "a JSON object is wanted here")
            .with_hint("it is written { … }, and closed"))
    }
}
