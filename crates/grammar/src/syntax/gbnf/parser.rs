//! Text to tree. There are no words: whether a line break ends a rule depends on where it stands.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use rustc_hash::FxHashMap;

use crate::error::{Error, Place};
use crate::ir::TokenSet;
use crate::limits::Limits;
use crate::syntax::rules::{Ast, Groups, Node, NodeId, Rule};

struct Parser<'t> {
    text: &'t str,
    at: usize,
    groups: Groups<'t>,
}

/// Reads all rules.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Ast, Error> {
    let mut parser = Parser {
        text,
        at: 0,
        groups: Groups::new(text, limits),
    };
    let mut seen: FxHashMap<&str, usize> = FxHashMap::default();
    loop {
        parser.skip_blanks(true);
        let offset = parser.at;
        if parser.rest().is_empty() {
            return Ok(parser.groups.ast);
        }
        let name = parser.name();
        if name.is_empty() {
            return Err(parser
                .error(offset, "a rule is wanted")
                .with_hint("a rule is written: name ::= …"));
        }
        parser.skip_blanks(false);
        if !parser.take("::=") {
            let error = parser.error(parser.at, format!("::= is wanted after the name {name:?}"));
            return Err(error.with_hint("a rule is written: name ::= …"));
        }
        if let Some(&first) = seen.get(name) {
            let line = text[..first].bytes().filter(|&byte| byte == b'\n').count() + 1;
            return Err(Error::grammar(
                "E-GRAMMAR-DUPLICATE",
                format!("the rule {name:?} is defined twice"),
            )
            .at(Place::in_text(text, offset))
            .with_hint(format!(
                "it is first defined in line {line}; join the two with |"
            )));
        }
        seen.insert(name, offset);
        parser.skip_blanks(true);
        let body = parser.body()?;
        parser.groups.ast.rules.push(Rule {
            name: name.to_owned(),
            offset,
            body,
        });
    }
}

fn name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

impl<'t> Parser<'t> {
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
        self.groups.error(offset, message)
    }

    /// Blanks and comments; line breaks only where they end nothing.
    fn skip_blanks(&mut self, lines: bool) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.at += 1,
                '\n' | '\r' if lines => self.at += 1,
                '#' => {
                    let rest = self.rest();
                    self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !name_part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Everything behind `::=`, up to the end of the rule's last line.
    fn body(&mut self) -> Result<NodeId, Error> {
        self.groups.open(self.at)?;
        loop {
            let nested = self.groups.depth() > 1;
            self.skip_blanks(nested);
            let offset = self.at;
            let Some(c) = self.peek().filter(|&c| !matches!(c, '\n' | '\r')) else {
                if nested {
                    let opened = self.groups.opened_at();
                    return Err(self
                        .error(opened, "the group is not closed")
                        .with_hint("close it with )"));
                }
                return self.groups.close(offset);
            };
            match c {
                '(' => {
                    self.at += 1;
                    self.groups.open(offset)?;
                }
                ')' => {
                    if !nested {
                        return Err(self
                            .error(offset, "unexpected )")
                            .with_hint("no group is open"));
                    }
                    self.at += 1;
                    let start = self.groups.opened_at();
                    let inner = self.groups.close(offset)?;
                    self.groups.item_again(inner, start);
                }
                '|' => {
                    self.at += 1;
                    self.groups.end_alternative(offset)?;
                    self.skip_blanks(true);
                }
                '?' | '*' | '+' | '{' => {
                    let (min, max) = self.bounds(c)?;
                    self.groups.repeat(min, max, offset)?;
                }
                _ => {
                    let node = self.primary(c, offset)?;
                    self.groups.item(node, offset);
                }
            }
        }
    }

    fn primary(&mut self, c: char, offset: usize) -> Result<Node, Error> {
        match c {
            '"' => self.string(offset),
            '[' => self.class(offset),
            '.' => {
                self.at += 1;
                Ok(Node::Class(vec![('\0', char::MAX)]))
            }
            '<' | '!' => self.token(offset),
            c if name_part(c) => {
                let name = self.name().to_owned();
                self.skip_blanks(false);
                if self.rest().starts_with("::=") {
                    return Err(self
                        .error(offset, "a rule begins inside another")
                        .with_hint("each rule begins on a line of its own, outside parentheses"));
                }
                Ok(Node::Name(name))
            }
            _ => Err(self
                .error(offset, format!("unexpected character {c:?}"))
                .with_hint("text stands in double quotes")),
        }
    }

    fn bounds(&mut self, sign: char) -> Result<(u32, Option<u32>), Error> {
        self.at += 1;
        match sign {
            '?' => return Ok((0, Some(1))),
            '*' => return Ok((0, None)),
            '+' => return Ok((1, None)),
            _ => {}
        }
        self.skip_blanks(false);
        let min = self.number()?;
        self.skip_blanks(false);
        let max = if self.take(",") {
            self.skip_blanks(false);
            if self.peek() == Some('}') {
                None
            } else {
                Some(self.number()?)
            }
        } else {
            Some(min)
        };
        self.skip_blanks(false);
        if self.take("}") {
            Ok((min, max))
        } else {
            Err(self
                .error(self.at, "} is wanted after the bounds of a repetition")
                .with_hint("bounds are written {m} {m,} {m,n}"))
        }
    }

    fn number(&mut self) -> Result<u32, Error> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let number = rest[..length]
            .parse()
            .map_err(|_| self.error(self.at, "a number is wanted that fits in 32 bits"))?;
        self.at += length;
        Ok(number)
    }

    fn string(&mut self, start: usize) -> Result<Node, Error> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => {
                    return Err(self
                        .error(start, "the string is not closed")
                        .with_hint("close it with \""));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(Node::Bytes(text.into_bytes()));
                }
                Some(_) => text.push(self.character()?),
            }
        }
    }

    fn class(&mut self, start: usize) -> Result<Node, Error> {
        self.at += 1;
        let negated = self.take("^");
        let mut ranges = Vec::new();
        loop {
            let at = self.at;
            match self.peek() {
                None => {
                    return Err(self
                        .error(start, "the class is not closed")
                        .with_hint("close it with ]; a bracket inside is written \\]"));
                }
                Some(']') => {
                    self.at += 1;
                    break;
                }
                Some(_) => {}
            }
            let first = self.character()?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            let last = if is_range && self.rest().len() > 1 {
                self.at += 1;
                self.character()?
            } else {
                first
            };
            if last < first {
                return Err(self.error(at, "the range is out of order"));
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() && !negated {
            return Err(self
                .error(start, "the class is empty")
                .with_hint("the empty string is written \"\", any character ."));
        }
        Ok(Node::Class(normal(ranges, negated)))
    }

    /// One character of a string or class, an escape or itself.
    fn character(&mut self) -> Result<char, Error> {
        let start = self.at;
        let unfinished = "the escape is not finished";
        let c = self.peek().ok_or_else(|| self.error(start, unfinished))?;
        self.at += c.len_utf8();
        if c != '\\' {
            return Ok(c);
        }
        let c = self.peek().ok_or_else(|| self.error(start, unfinished))?;
        self.at += c.len_utf8();
        let digits = match c {
            'n' => return Ok('\n'),
            'r' => return Ok('\r'),
            't' => return Ok('\t'),
            '\\' | '"' | '[' | ']' | '-' => return Ok(c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                return Err(self
                    .error(start, format!("unknown escape \\{c}"))
                    .with_hint(r#"known are \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH"#));
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

    fn token(&mut self, start: usize) -> Result<Node, Error> {
        let negated = self.take("!");
        let hint = "tokens are written <[12]> or <text>, each negated with ! before it";
        if !self.take("<") {
            return Err(self
                .error(start, "a token is wanted behind !")
                .with_hint(hint));
        }
        if self.take("[") {
            let id = self.number()?;
            if !self.take("]>") {
                return Err(self.error(self.at, "]> is wanted").with_hint(hint));
            }
            let ranges = if negated {
                let below = id.checked_sub(1).map(|last| (0, last));
                let above = id.checked_add(1).map(|first| (first, u32::MAX));
                below.into_iter().chain(above).collect()
            } else {
                vec![(id, id)]
            };
            return Ok(Node::Token(TokenSet::Ids(ranges.into())));
        }
        let length = self
            .rest()
            .find(['>', '\n', '\r'])
            .filter(|&length| length > 0 && self.rest()[length..].starts_with('>'));
        let Some(length) = length else {
            return Err(self.error(start, "the token is not closed").with_hint(hint));
        };
        let text = &self.text[start + usize::from(negated)..=self.at + length];
        self.at += length + 1;
        if negated {
            return Err(Error::grammar(
                "E-GRAMMAR-UNSUPPORTED",
                format!("any token but {text} is not supported"),
            )
            .at(Place::in_text(self.text, start))
            .with_hint("name the token by its number: !<[12]>"));
        }
        Ok(Node::Token(TokenSet::Text(text.into())))
    }
}

/// The ranges in order, without overlaps; their complement if asked for.
fn normal(ranges: Vec<(char, char)>, negated: bool) -> Vec<(char, char)> {
    let ranges = ranges.into_iter();
    let mut class =
        ClassUnicode::new(ranges.map(|(first, last)| ClassUnicodeRange::new(first, last)));
    if negated {
        class.negate();
    }
    let ranges = class.iter();
    ranges.map(|range| (range.start(), range.end())).collect()
}
