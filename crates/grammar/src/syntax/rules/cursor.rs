//! A cursor over a source, and the lexical rules that all languages of rules share: escapes, numbers, token ids.

use crate::error::{Error, SourceLocation};

/// A place in a source that moves on.
#[derive(Debug)]
pub(in crate::syntax) struct Cursor<'t> {
    pub(in crate::syntax) text: &'t str,
    /// Byte offset of what comes next.
    pub(in crate::syntax) at: usize,
}

impl<'t> Cursor<'t> {
    /// At the beginning.
    pub(in crate::syntax) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// All that is still to be read.
    pub(in crate::syntax) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character.
    pub(in crate::syntax) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes the next character.
    pub(in crate::syntax) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes `prefix` if it comes next.
    pub(in crate::syntax) fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// Takes the characters that come next for as long as they are some.
    pub(in crate::syntax) fn while_some(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes what stands before `end`, and `end`; a backslash protects what follows it. None if `end` never comes, or if
    /// one of `never` comes first.
    pub(in crate::syntax) fn quoted(&mut self, end: char, never: &[char]) -> Option<&'t str> {
        let rest = self.rest();
        let mut escaped = false;
        for (offset, c) in rest.char_indices() {
            if never.contains(&c) {
                return None;
            } else if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == end {
                self.at += offset + end.len_utf8();
                return Some(&rest[..offset]);
            }
        }
        None
    }

    /// Takes the next character of a string that begins at `start` and ends on the same line.
    pub(in crate::syntax) fn in_string(
        &mut self,
        start: usize,
        quote: char,
    ) -> Result<char, Error> {
        self.next().filter(|&c| c != '\n').ok_or_else(|| {
            self.error(start, "the string is not closed")
                .with_hint(format!(
                    "close it with {quote} on the same line; a line break is \\n"
                ))
        })
    }

    /// Takes the character after the backslash of an escape that begins at `start`.
    pub(in crate::syntax) fn escaped(&mut self, start: usize) -> Result<char, Error> {
        self.next().ok_or_else(|| {
            self.error(start, "the escape is not finished")
                .with_hint("a backslash itself is written \\\\")
        })
    }

    /// Takes the bounds of a repetition, of which `sign` comes next: `?`, `*`, `+` or `{`. `skip` takes blanks between
    /// braces, `endless` is a sign for no upper bound beside none at all, and `hint` says how bounds are written.
    pub(in crate::syntax) fn bounds(
        &mut self,
        sign: char,
        skip: impl Fn(&mut Self),
        endless: Option<&str>,
        hint: &str,
    ) -> Result<(u32, Option<u32>), Error> {
        self.at += 1;
        match sign {
            '?' => return Ok((0, Some(1))),
            '*' => return Ok((0, None)),
            '+' => return Ok((1, None)),
            _ => {}
        }
        skip(self);
        if self.peek() == Some(',') {
            return Err(self
                .error(self.at, "expected the lower bound of a repetition")
                .with_hint("write it out: {0,3}"));
        }
        let min = self.number()?;
        skip(self);
        let mut max = Some(min);
        if self.take(",") {
            skip(self);
            let is_endless =
                self.peek() == Some('}') || endless.is_some_and(|sign| self.take(sign));
            max = if is_endless {
                None
            } else {
                Some(self.number()?)
            };
            skip(self);
        }
        if self.take("}") {
            return Ok((min, max));
        }
        let message = "expected } after the bounds of a repetition";
        Err(self.error(self.at, message).with_hint(hint))
    }

    /// Takes a decimal number.
    pub(in crate::syntax) fn number(&mut self) -> Result<u32, Error> {
        let start = self.at;
        self.while_some(|c| c.is_ascii_digit())
            .parse()
            .map_err(|_| {
                self.error(start, "expected a number that fits in 32 bits")
                    .with_hint("numbers are written in decimal digits, up to 4294967295")
            })
    }

    /// Takes a token's number, or the first and the last of several with `dash` between; the list begins at `start`.
    pub(in crate::syntax) fn token_range(
        &mut self,
        start: usize,
        dash: &str,
    ) -> Result<(u32, u32), Error> {
        let first = self.number()?;
        let last = if self.take(dash) {
            self.number()?
        } else {
            first
        };
        if last < first {
            return Err(self
                .error(start, "the range of tokens is out of order")
                .with_hint(format!("the smaller number comes first: <[12{dash}20]>")));
        }
        Ok((first, last))
    }

    /// Takes exactly this number of hexadecimal digits, at most eight, of an escape that begins at `start`.
    pub(in crate::syntax) fn hex(&mut self, start: usize, digits: usize) -> Result<u32, Error> {
        let text = self.rest().get(..digits).unwrap_or("");
        let valid = (1..=8).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(text, 16).ok().filter(|_| valid);
        let code = code.ok_or_else(|| {
            let wanted = match digits {
                2 | 4 | 8 => format!("expected {digits} hexadecimal digits"),
                _ => "expected one to eight hexadecimal digits".to_owned(),
            };
            self.error(start, wanted)
                .with_hint("digits are 0-9 and a-f")
        })?;
        self.at += digits;
        Ok(code)
    }

    /// Takes what follows `\x`, `\u` or `\U`, whose letter is `kind`, and gives the character of that number. Every other
    /// letter is refused with `hint`, which says what is known.
    pub(in crate::syntax) fn numbered(
        &mut self,
        start: usize,
        kind: char,
        hint: &str,
    ) -> Result<char, Error> {
        let digits = match kind {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Err(self.unknown_escape(start, kind, hint)),
        };
        let code = self.hex(start, digits)?;
        self.character(start, code)
    }

    /// The refusal of an escape; `hint` says which are known.
    pub(in crate::syntax) fn unknown_escape(&self, start: usize, kind: char, hint: &str) -> Error {
        self.error(start, format!("unknown escape \\{kind}"))
            .with_hint(hint)
    }

    /// The character with a number that [`Self::hex`] read.
    pub(in crate::syntax) fn character(&self, start: usize, code: u32) -> Result<char, Error> {
        char::from_u32(code).ok_or_else(|| {
            self.error(start, format!("U+{code:X} is no character"))
                .with_hint("characters are up to U+10FFFF, without the surrogates U+D800 to U+DFFF")
        })
    }

    /// A mistake at a place of the source.
    pub(in crate::syntax) fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(self.text, offset))
    }
}
