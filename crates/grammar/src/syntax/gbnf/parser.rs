//! The parser: text to a syntax tree. There is no lexer, since whether a line break ends a rule depends on where it stands.

use crate::error::{Error, SourceLocation, shown};
use crate::ir::TokenSet;
use crate::limits::Limits;
use crate::maps::SeededMap;
use crate::syntax::rules::{Ast, Cursor, Groups, Node, NodeId, Rule, duplicate, ranges_in_order};

const ESCAPES: &str = r#"known are \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH"#;

const BOUNDS_HINT: &str = "bounds are written {m} {m,} {m,n}";

struct Parser<'t> {
    cursor: Cursor<'t>,
    groups: Groups<'t>,
}

/// Reads all rules.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Ast, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        groups: Groups::new(text, limits),
    };
    let mut seen: SeededMap<&str, usize> = SeededMap::default();
    loop {
        skip_blanks(&mut parser.cursor, true);
        let offset = parser.cursor.at;
        if parser.cursor.rest().is_empty() {
            return Ok(parser.groups.ast);
        }
        let name = parser.name();
        if name.is_empty() {
            return Err(parser
                .cursor
                .error(offset, "expected a rule")
                .with_hint("a rule is written: name ::= …"));
        }
        skip_blanks(&mut parser.cursor, false);
        if !parser.cursor.take("::=") {
            let error = parser.cursor.error(
                parser.cursor.at,
                format!("expected ::= after the name {name:?}"),
            );
            return Err(error.with_hint("a rule is written: name ::= …"));
        }
        if let Some(&first) = seen.get(name) {
            return Err(duplicate(text, name, offset, first));
        }
        seen.insert(name, offset);
        skip_blanks(&mut parser.cursor, true);
        let body = parser.body()?;
        parser.groups.ast.rules.push(Rule {
            name: name.to_owned(),
            offset,
            body,
            parts: Vec::new(),
        });
    }
}

fn name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Whitespace and comments; line breaks only where they end nothing.
fn skip_blanks(cursor: &mut Cursor<'_>, lines: bool) {
    while let Some(c) = cursor.peek() {
        match c {
            ' ' | '\t' => cursor.at += 1,
            '\n' | '\r' if lines => cursor.at += 1,
            '#' => {
                cursor.while_some(|c| !matches!(c, '\n' | '\r'));
            }
            _ => return,
        }
    }
}

impl<'t> Parser<'t> {
    fn name(&mut self) -> &'t str {
        self.cursor.while_some(name_part)
    }

    /// Everything after `::=`, up to the end of the rule's last line.
    fn body(&mut self) -> Result<NodeId, Error> {
        self.groups.open(self.cursor.at)?;
        loop {
            let nested = self.groups.depth() > 1;
            skip_blanks(&mut self.cursor, nested);
            let offset = self.cursor.at;
            let Some(c) = self.cursor.peek().filter(|&c| !matches!(c, '\n' | '\r')) else {
                if nested {
                    let opened = self.groups.opened_at();
                    return Err(self
                        .cursor
                        .error(opened, "the group is not closed")
                        .with_hint("close it with )"));
                }
                return self.groups.close(offset);
            };
            match c {
                '(' => {
                    self.cursor.at += 1;
                    self.groups.open(offset)?;
                }
                ')' => {
                    if !nested {
                        return Err(self
                            .cursor
                            .error(offset, "unexpected )")
                            .with_hint("no group is open"));
                    }
                    self.cursor.at += 1;
                    let start = self.groups.opened_at();
                    let inner = self.groups.close(offset)?;
                    self.groups.item_again(inner, start);
                }
                '|' => {
                    self.cursor.at += 1;
                    self.groups.end_alternative(offset)?;
                    skip_blanks(&mut self.cursor, true);
                }
                '?' | '*' | '+' | '{' => {
                    let (min, max) = self.cursor.bounds(
                        c,
                        |cursor| skip_blanks(cursor, false),
                        None,
                        BOUNDS_HINT,
                    )?;
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
                self.cursor.at += 1;
                Ok(Node::Class(vec![('\0', char::MAX)]))
            }
            '<' | '!' => self.token(offset),
            c if name_part(c) => {
                let name = self.name().to_owned();
                skip_blanks(&mut self.cursor, false);
                if self.cursor.rest().starts_with("::=") {
                    return Err(self
                        .cursor
                        .error(offset, "a rule begins inside another")
                        .with_hint("each rule begins on a line of its own, outside parentheses"));
                }
                Ok(Node::Name(name))
            }
            _ => Err(self
                .cursor
                .error(offset, format!("unexpected character {}", shown(c)))
                .with_hint(match c {
                    ';' => "a rule ends with its line: leave the semicolon out",
                    ',' => "parts stand side by side: leave the comma out",
                    _ => "text stands in double quotes",
                })),
        }
    }

    fn string(&mut self, start: usize) -> Result<Node, Error> {
        self.cursor.at += 1;
        let mut text = String::new();
        loop {
            match self.cursor.peek() {
                None => {
                    return Err(self
                        .cursor
                        .error(start, "the string is not closed")
                        .with_hint("close it with \""));
                }
                Some('"') => {
                    self.cursor.at += 1;
                    return Ok(Node::Bytes(text.into_bytes()));
                }
                Some(_) => text.push(self.character()?),
            }
        }
    }

    fn class(&mut self, start: usize) -> Result<Node, Error> {
        self.cursor.at += 1;
        let negated = self.cursor.take("^");
        let mut ranges = Vec::new();
        loop {
            let at = self.cursor.at;
            match self.cursor.peek() {
                None => {
                    return Err(self
                        .cursor
                        .error(start, "the class is not closed")
                        .with_hint("close it with ]; a bracket inside is written \\]"));
                }
                Some(']') => {
                    self.cursor.at += 1;
                    break;
                }
                Some(_) => {}
            }
            let first = self.character()?;
            let is_range =
                self.cursor.rest().starts_with('-') && !self.cursor.rest().starts_with("-]");
            let last = if is_range && self.cursor.rest().len() > 1 {
                self.cursor.at += 1;
                self.character()?
            } else {
                first
            };
            if last < first {
                return Err(self
                    .cursor
                    .error(at, "the range is out of order")
                    .with_hint("the smaller character comes first; a hyphen is written \\-"));
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() && !negated {
            return Err(self
                .cursor
                .error(start, "the class is empty")
                .with_hint("the empty string is written \"\", any character ."));
        }
        Ok(Node::Class(ranges_in_order(ranges, negated)))
    }

    /// One character of a string or class, an escape or itself.
    fn character(&mut self) -> Result<char, Error> {
        let start = self.cursor.at;
        let c = self.cursor.escaped(start)?;
        if c != '\\' {
            return Ok(c);
        }
        let c = self.cursor.escaped(start)?;
        Ok(match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\\' | '"' | '[' | ']' | '-' => c,
            _ => self.cursor.numbered(start, c, ESCAPES)?,
        })
    }

    fn token(&mut self, start: usize) -> Result<Node, Error> {
        let negated = self.cursor.take("!");
        let hint = "tokens are written <[12]> or <text>, each negated with ! before it";
        if !self.cursor.take("<") {
            return Err(self
                .cursor
                .error(start, "expected a token after !")
                .with_hint(hint));
        }
        if self.cursor.take("[") {
            let id = self.cursor.number()?;
            if !self.cursor.take("]>") {
                return Err(self
                    .cursor
                    .error(self.cursor.at, "expected ]>")
                    .with_hint(hint));
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
            .cursor
            .rest()
            .find(['>', '\n', '\r'])
            .filter(|&length| length > 0 && self.cursor.rest()[length..].starts_with('>'));
        let Some(length) = length else {
            return Err(self
                .cursor
                .error(start, "the token is not closed")
                .with_hint(hint));
        };
        let text = &self.cursor.text[start + usize::from(negated)..=self.cursor.at + length];
        self.cursor.at += length + 1;
        if negated {
            return Err(Error::grammar(
                "E-GRAMMAR-UNSUPPORTED",
                format!("any token but {text} is not supported"),
            )
            .at(SourceLocation::in_text(self.cursor.text, start))
            .with_hint("name the token by its number: !<[12]>"));
        }
        Ok(Node::Token(TokenSet::Text(text.into())))
    }
}
