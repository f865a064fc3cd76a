//! The lexer: source text to tokens.

use crate::error::{Error, SourceLocation};
use crate::ir::other_ids;
use crate::syntax::rules::Cursor;

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
    Number(u64),
    /// What matches nothing.
    Nothing,
    /// A grammar after `%lark`.
    Grammar(String),
    /// A JSON value after `%json`, `%regex` or `%llguidance`.
    Json(String),
    /// `->`
    Arrow,
    /// `..`
    Range,
    /// `: | & ~ ( ) [ ] { } ? * + , . = ! @`, and `§` for `::`
    Sign(char),
}

const ESCAPES: &str = r#"known are \n \t \r \f \b \0 \\ \" \' \/ \xHH \uHHHH \UHHHHHHHH"#;

/// A word and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) offset: usize,
    /// Whether it is the first of its line.
    pub(super) first: bool,
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
}

/// Splits a source into words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    tokens_between(text, 0, text.len())
}

/// Splits a part of a source into words.
pub(super) fn tokens_between(text: &str, start: usize, end: usize) -> Result<Vec<Token>, Error> {
    let mut cursor = Cursor::new(&text[..end]);
    cursor.at = start;
    let mut lexer = Lexer { cursor };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let before = lexer.cursor.at;
        lexer.skip_blanks();
        let first = tokens.is_empty() || text[before..lexer.cursor.at].contains('\n');
        let offset = lexer.cursor.at;
        let last = tokens.last().map(|token| &token.kind);
        let kind = if matches!(last, Some(Kind::Directive(name)) if name == "lark") {
            lexer.grammar()?
        } else {
            match lexer.next(last)? {
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
    fn skip_blanks(&mut self) {
        loop {
            self.cursor.while_some(char::is_whitespace);
            let rest = self.cursor.rest();
            if !rest.starts_with("//") && !rest.starts_with('#') {
                return;
            }
            self.cursor.while_some(|c| c != '\n');
        }
    }

    /// The next word; `last` is the one before.
    fn next(&mut self, last: Option<&Kind>) -> Result<Option<Kind>, Error> {
        match last {
            Some(Kind::Directive(name))
                if matches!(name.as_str(), "json" | "regex" | "llguidance") =>
            {
                self.json().map(Some)
            }
            _ => self.token(),
        }
    }

    /// The text of a grammar, from its bracket to the one that closes it.
    fn grammar(&mut self) -> Result<Kind, Error> {
        let start = self.cursor.at;
        let (mut depth, mut last) = (0usize, None);
        loop {
            self.skip_blanks();
            let kind = self.next(last.as_ref())?;
            match kind {
                Some(Kind::Sign('{')) => depth += 1,
                Some(Kind::Sign('}')) => depth = depth.saturating_sub(1),
                Some(_) if depth > 0 => {}
                _ => {
                    return Err(self
                        .cursor
                        .error(start, "expected a grammar in brackets after %lark")
                        .with_hint("it is written %lark { start: … }, and closed"));
                }
            }
            if depth == 0 {
                return Ok(Kind::Grammar(
                    self.cursor.text[start..self.cursor.at].to_owned(),
                ));
            }
            last = kind;
        }
    }

    /// A number, in decimal digits or as `0x…`.
    fn number(&mut self) -> Result<Kind, Error> {
        let start = self.cursor.at;
        let digits = self.cursor.while_some(|c| c.is_ascii_digit());
        let number = if digits == "0" && self.cursor.take("x") {
            u64::from_str_radix(self.cursor.while_some(|c| c.is_ascii_hexdigit()), 16)
        } else {
            digits.parse()
        };
        number.map(Kind::Number).map_err(|_| {
            self.cursor
                .error(start, "expected a number that fits in 64 bits")
                .with_hint("numbers are written in decimal digits, or as 0x and hexadecimal ones")
        })
    }

    fn name(&mut self) -> String {
        let rest = self.cursor.rest();
        let mut length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(rest.len());
        // The arrow of an alias may follow without a space.
        if rest[length..].starts_with('>') && rest[..length].ends_with('-') {
            length -= 1;
        }
        self.cursor.at += length;
        rest[..length].to_owned()
    }

    fn token(&mut self) -> Result<Option<Kind>, Error> {
        let start = self.cursor.at;
        let Some(c) = self.cursor.peek() else {
            return Ok(None);
        };
        Ok(Some(match c {
            'a'..='z' | 'A'..='Z' | '_' => Kind::Name(self.name()),
            '0'..='9' => self.number()?,
            '"' | '\'' => self.string(start, c)?,
            '/' => self.pattern(start)?,
            '<' if self.cursor.rest().starts_with("<[") => self.token_ids(start)?,
            '<' => {
                let rest = self.cursor.rest();
                let end = rest
                    .find(['>', '\n'])
                    .filter(|&at| rest[at..].starts_with('>'));
                let Some(end) = end.filter(|&end| end > 1) else {
                    return Err(self
                        .cursor
                        .error(start, "the token is not closed")
                        .with_hint("tokens are written <text> or <[12]>"));
                };
                self.cursor.at += end + 1;
                Kind::TokenText(rest[..=end].to_owned())
            }
            '%' => {
                self.cursor.at += 1;
                let name = self.name();
                if name.is_empty() {
                    return Err(self
                        .cursor
                        .error(start, "a directive must follow %")
                        .with_hint("known are %import, %ignore, %json, %regex, %llguidance"));
                }
                Kind::Directive(name)
            }
            _ if self.cursor.take("->") => Kind::Arrow,
            _ if self.cursor.take("..") => Kind::Range,
            _ if self.cursor.take("::") => Kind::Sign('§'),
            _ if ":|&~()[]{}?*+,.=!@-".contains(c) => {
                self.cursor.at += 1;
                Kind::Sign(c)
            }
            _ => {
                return Err(self
                    .cursor
                    .error(start, format!("unexpected character {c:?}"))
                    .with_hint("text stands in double quotes, regular expressions in slashes"));
            }
        }))
    }

    fn token_ids(&mut self, start: usize) -> Result<Kind, Error> {
        self.cursor.at += 2;
        let negated = self.cursor.take("^");
        let mut ranges = Vec::new();
        if self.cursor.take("*") {
            ranges.push((0, u32::MAX));
        }
        while ranges.first() != Some(&(0, u32::MAX)) {
            self.skip_blanks();
            ranges.push(self.cursor.token_range(start, "-")?);
            self.skip_blanks();
            if !self.cursor.take(",") {
                break;
            }
        }
        if !self.cursor.take("]>") {
            return Err(self
                .cursor
                .error(self.cursor.at, "expected a comma or ]>")
                .with_hint("tokens by number are written <[12]>, <[12-20,30]>, <[^12]> or <[*]>"));
        }
        Ok(Kind::TokenIds(if negated {
            other_ids(ranges)
        } else {
            ranges
        }))
    }

    fn pattern(&mut self, start: usize) -> Result<Kind, Error> {
        self.cursor.at += 1;
        let inner = self.cursor.at;
        let pattern = self.cursor.quoted('/', &['\n']);
        let pattern = match pattern {
            None => self.over_lines(),
            known => known,
        };
        let Some(pattern) = pattern else {
            return Err(self
                .cursor
                .error(start, "the regular expression is not closed")
                .with_hint("close it with / on the same line, or with /x on a later one; a slash inside is written \\/"));
        };
        let at = self.cursor.at;
        let flags = self
            .cursor
            .while_some(|c| c.is_ascii_lowercase())
            .to_owned();
        if let Some(flag) = flags.chars().find(|&flag| !"imsxu".contains(flag)) {
            return Err(self
                .cursor
                .error(at, format!("unknown flag {flag:?} of a regular expression"))
                .with_hint("known are i m s x u"));
        }
        Ok(Kind::Pattern(pattern.to_owned(), flags, inner))
    }

    /// A pattern that goes on over lines, which only those with the flag x do.
    fn over_lines(&mut self) -> Option<&'t str> {
        let inner = self.cursor.at;
        let pattern = self.cursor.quoted('/', &[]);
        let flags = self.cursor.rest();
        let flags = &flags[..flags
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(flags.len())];
        let is_spaced = flags.contains('x');
        if !is_spaced {
            self.cursor.at = inner;
        }
        pattern.filter(|_| is_spaced)
    }

    fn string(&mut self, start: usize, quote: char) -> Result<Kind, Error> {
        self.cursor.at += 1;
        let mut text = String::new();
        loop {
            let at = self.cursor.at;
            match self.cursor.in_string(start, quote)? {
                '\\' => text.push(self.escape(at)?),
                c if c == quote => break,
                c => text.push(c),
            }
        }
        // A name that begins with i right after a string is a mistake anyway.
        let ignores_case = self.cursor.take("i");
        Ok(Kind::Text(text, ignores_case))
    }

    fn escape(&mut self, start: usize) -> Result<char, Error> {
        let c = self.cursor.escaped(start)?;
        Ok(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{C}',
            'b' => '\u{8}',
            '0' => '\0',
            '\\' | '"' | '\'' | '/' => c,
            _ => self.cursor.numbered(start, c, ESCAPES)?,
        })
    }

    /// The text of an object, up to the bracket that closes it.
    fn json(&mut self) -> Result<Kind, Error> {
        let start = self.cursor.at;
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        for (offset, byte) in self.cursor.rest().bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let json = self.cursor.rest()[..=offset].to_owned();
                        self.cursor.at += offset + 1;
                        return Ok(Kind::Json(json));
                    }
                }
                _ if depth == 0 => break,
                _ => {}
            }
        }
        Err(self
            .cursor
            .error(start, "expected a JSON object here")
            .with_hint("it is written { … }, and closed"))
    }
}

/// Refuses something that other readers of the language know.
pub(super) fn unsupported(text: &str, offset: usize, what: &str) -> Error {
    Error::grammar("E-GRAMMAR-UNSUPPORTED", format!("{what} not supported"))
        .at(SourceLocation::in_text(text, offset))
        .with_hint("leave it out; docs/reference/lark.md lists what is read")
}
