//! The parser: text to a syntax tree. There is no lexer, since only `::=` tells the name of a rule from a part of the one
//! before.

use super::attributes::{self, Attributes};
use super::macros;
use super::words::{begins_name, class, name, skip_blanks, string};
use crate::error::{Diagnostic, Error, shown};
use crate::limits::Limits;
use crate::maps::SeededMap;
use crate::syntax::regex::Patterns;
use crate::syntax::rules::{
    Ast, Budget, Cursor, Function, Groups, Node, NodeId, Rule, check_repetition, duplicate,
};

const BOUNDS_HINT: &str = "bounds are written {m} {m,} {m,n} {m, -1}";

/// The beginning of a rule.
struct Head<'t> {
    name: &'t str,
    offset: usize,
    attributes: Attributes,
}

/// What stands right before a place inside a rule.
#[derive(PartialEq)]
enum Before {
    /// The beginning of an alternative.
    Nothing,
    Part,
    Repetition,
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    groups: Groups<'t>,
    patterns: Patterns,
    limits: &'t Limits,
    budgets: Vec<Budget>,
}

/// Reads all rules, and the most tokens of those that have a bound.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<(Ast, Vec<Budget>), Error> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        groups: Groups::new(text, limits),
        patterns: Patterns::new(limits),
        limits,
        budgets: Vec::new(),
    };
    parser.groups.ast.rules_as_operands = true;
    let mut seen: SeededMap<&str, usize> = SeededMap::default();
    skip_blanks(&mut parser.cursor);
    let mut next = parser.head()?;
    while let Some(Head {
        name,
        offset,
        attributes,
    }) = next
    {
        if let Some(&first) = seen.get(name) {
            return Err(duplicate(text, name, offset, first));
        }
        seen.insert(name, offset);
        let body = parser.body()?;
        let body = parser.with_attributes(body, name, offset, attributes)?;
        parser.groups.ast.rules.push(Rule {
            name: name.to_owned(),
            offset,
            body,
            parts: Vec::new(),
        });
        next = parser.head()?;
    }
    if parser.cursor.rest().is_empty() {
        return Ok((parser.groups.ast, parser.budgets));
    }
    Err(parser
        .cursor
        .error(parser.cursor.at, "expected a rule")
        .with_hint("a rule is written: name ::= …"))
}

impl<'t> Parser<'t> {
    /// Takes the beginning of a rule, if one comes next.
    fn head(&mut self) -> Result<Option<Head<'t>>, Error> {
        let offset = self.cursor.at;
        let name = name(&mut self.cursor);
        if name.is_empty() {
            return Ok(None);
        }
        let warnings = &mut self.groups.ast.warnings;
        let attributes = attributes::read(&mut self.cursor, warnings)?;
        skip_blanks(&mut self.cursor);
        if !self.cursor.take("::=") {
            self.cursor.at = offset;
            return Ok(None);
        }
        if matches!(name, "true" | "false") {
            return Err(self
                .cursor
                .error(offset, format!("{name} is no name of a rule"))
                .with_hint("true and false are arguments of macros: give the rule another name"));
        }
        Ok(Some(Head {
            name,
            offset,
            attributes,
        }))
    }

    /// Whether a rule begins here; the cursor stays.
    fn begins_rule(&self) -> bool {
        let mut ahead = Cursor {
            text: self.cursor.text,
            at: self.cursor.at,
        };
        name(&mut ahead);
        if ahead.peek() == Some('[') {
            return attributes::end(&ahead).is_some();
        }
        skip_blanks(&mut ahead);
        ahead.rest().starts_with("::=")
    }

    /// Everything after `::=`, up to the next rule.
    fn body(&mut self) -> Result<NodeId, Error> {
        self.groups.open(self.cursor.at)?;
        let mut before = Before::Nothing;
        // Of what is looked ahead at: how many groups are open around it.
        let mut ahead = None;
        loop {
            let line_ended = skip_blanks(&mut self.cursor);
            let offset = self.cursor.at;
            let nested = self.groups.depth() > 1;
            let next = self.cursor.peek();
            let ends = match next {
                None => true,
                Some(c) => begins_name(c) && self.begins_rule(),
            };
            if ends {
                if nested {
                    let opened = self.groups.opened_at();
                    return Err(self
                        .cursor
                        .error(opened, "the group is not closed")
                        .with_hint("close it with )"));
                }
                if !line_ended && next.is_some() {
                    return Err(self
                        .cursor
                        .error(offset, "a rule begins inside another")
                        .with_hint("the name of a rule is the first on its line"));
                }
                self.some_part(&before, offset)?;
                return self.groups.close(offset);
            }
            let c = next.unwrap_or_default();
            match c {
                '(' if self.cursor.rest().starts_with("(=") => {
                    if nested {
                        return Err(self
                            .cursor
                            .error(offset, "only the end of a rule can look ahead")
                            .with_hint("it says nothing here: leave it out"));
                    }
                    self.some_part(&before, offset)?;
                    self.cursor.at += 2;
                    self.groups.open(offset)?;
                    ahead = Some(offset);
                    before = Before::Nothing;
                }
                '(' => {
                    self.cursor.at += 1;
                    self.groups.open(offset)?;
                    skip_blanks(&mut self.cursor);
                    before = if self.cursor.peek() == Some(')') {
                        Before::Part
                    } else {
                        Before::Nothing
                    };
                }
                ')' if !nested => {
                    return Err(self
                        .cursor
                        .error(offset, "unexpected )")
                        .with_hint("no group is open"));
                }
                ')' => {
                    self.some_part(&before, offset)?;
                    self.cursor.at += 1;
                    let start = self.groups.opened_at();
                    let inner = self.groups.close(offset)?;
                    if let Some(at) = ahead.filter(|_| self.groups.depth() == 1) {
                        return self.end_ahead(at);
                    }
                    self.groups.item_again(inner, start);
                    before = Before::Part;
                }
                '|' => {
                    self.some_part(&before, offset)?;
                    self.cursor.at += 1;
                    self.groups.end_alternative(offset)?;
                    before = Before::Nothing;
                }
                '?' | '*' | '+' | '{' => {
                    if before == Before::Repetition {
                        return Err(self
                            .cursor
                            .error(offset, "a repetition is repeated")
                            .with_hint("put the inner one into parentheses: (\"a\"+){2}"));
                    }
                    let (min, max) = self.cursor.bounds(
                        c,
                        |cursor| _ = skip_blanks(cursor),
                        Some("-1"),
                        BOUNDS_HINT,
                    )?;
                    self.groups.repeat(min, max, offset)?;
                    before = Before::Repetition;
                }
                _ => {
                    let part = self.part(c, offset)?;
                    self.groups.item_again(part, offset);
                    before = Before::Part;
                }
            }
        }
    }

    /// Ends a rule after what it looks ahead at, which says nothing.
    fn end_ahead(&mut self, at: usize) -> Result<NodeId, Error> {
        let warning = Diagnostic::new(
            "W-GRAMMAR-LEFT-OUT",
            "what a rule looks ahead at changes no text, and is left out",
        );
        let warning = warning.with_hint("write what follows the rule where the rule is used");
        self.groups.ast.warnings.push((at, warning));
        skip_blanks(&mut self.cursor);
        if !self.cursor.rest().is_empty() && !self.begins_rule() {
            return Err(self
                .cursor
                .error(self.cursor.at, "expected the next rule")
                .with_hint("what a rule looks ahead at is the last in it"));
        }
        self.groups.close(self.cursor.at)
    }

    fn some_part(&self, before: &Before, offset: usize) -> Result<(), Error> {
        if *before != Before::Nothing {
            return Ok(());
        }
        Err(self
            .cursor
            .error(offset, "expected a part of an alternative")
            .with_hint("the empty string is written \"\""))
    }

    fn part(&mut self, c: char, offset: usize) -> Result<NodeId, Error> {
        let node = match c {
            '"' => Node::Bytes(string(&mut self.cursor)?.into_bytes()),
            '[' => class(&mut self.cursor)?,
            c if begins_name(c) => {
                let name = name(&mut self.cursor);
                if macros::is_macro(name) {
                    let ast = &mut self.groups.ast;
                    let (patterns, limits) = (&mut self.patterns, self.limits);
                    return macros::read(&mut self.cursor, (name, offset), ast, patterns, limits)
                        .map_err(|error| self.placed(error, offset));
                }
                let hint = match name {
                    "true" | "false" => "true and false are arguments of macros",
                    "." => "any character is written [^]",
                    _ => return Ok(self.groups.ast.add(Node::Name(name.to_owned()), offset)),
                };
                let message = format!("unexpected {name}");
                return Err(self.cursor.error(offset, message).with_hint(hint));
            }
            _ => {
                return Err(self
                    .cursor
                    .error(offset, format!("unexpected character {}", shown(c)))
                    .with_hint(match c {
                        ';' => "a rule ends where the next begins: leave the semicolon out",
                        ',' => "parts stand side by side: leave the comma out",
                        '<' | '!' => "tokens are written Token(12) and ExcludeToken(12)",
                        _ => "text stands in double quotes",
                    }));
            }
        };
        Ok(self.groups.ast.add(node, offset))
    }

    /// An error with a place, if it has none.
    fn placed(&self, error: Error, offset: usize) -> Error {
        match error.location() {
            Some(_) => error,
            None => error.at(crate::error::SourceLocation::in_text(
                self.cursor.text,
                offset,
            )),
        }
    }

    /// What the attributes make of the body of a rule.
    fn with_attributes(
        &mut self,
        mut body: NodeId,
        name: &str,
        offset: usize,
        mut attributes: Attributes,
    ) -> Result<NodeId, Error> {
        if attributes == Attributes::default() {
            return Ok(self.looped(body, name, offset));
        }
        let ast = &mut self.groups.ast;
        if let Some(most) = attributes.max_chars {
            check_repetition(self.cursor.text, self.limits, most, offset)?;
            body = ast.add(Node::Function(Function::Within(most), body), offset);
        }
        if attributes.lazy {
            body = ast.add(Node::Function(Function::Shortest, body), offset);
        }
        if let Some((tokens, offset)) = attributes.max_tokens {
            let label = attributes.capture.get_or_insert_default();
            if label.is_empty() {
                name.clone_into(label);
            }
            self.budgets.push(Budget {
                label: label.clone(),
                tokens,
                rule: name.to_owned(),
                offset,
            });
        }
        if let Some(label) = attributes.capture {
            let label = if label.is_empty() {
                name.to_owned()
            } else {
                label
            };
            body = ast.add(Node::Capture(label, body), offset);
        }
        Ok(body)
    }

    /// `a ::= x a | y` as `a ::= x* y`, which is how repetitions are printed: so they stay regular.
    fn looped(&mut self, body: NodeId, name: &str, offset: usize) -> NodeId {
        let ast = &mut self.groups.ast;
        let is_self = |ast: &Ast, id: NodeId| matches!(&ast.nodes[id.0 as usize].0, Node::Name(found) if found == name);
        let Node::Alt(alternatives) = ast.nodes[body.0 as usize].0.clone() else {
            return body;
        };
        let (mut again, mut ends) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            match &ast.nodes[alternative.0 as usize].0 {
                Node::Seq(parts) if parts.iter().any(|&part| is_self(ast, part)) => {
                    let Some((&last, before)) = parts.split_last() else {
                        return body;
                    };
                    if !is_self(ast, last) || before.iter().any(|&part| is_self(ast, part)) {
                        return body;
                    }
                    let before = Node::Seq(before.to_vec());
                    again.push(ast.add(before, offset));
                }
                _ => ends.push(alternative),
            }
        }
        if again.is_empty() || ends.is_empty() {
            return body;
        }
        let inner = ast.choice(again, offset);
        let repeated = ast.add(
            Node::Repeat {
                inner,
                min: 0,
                max: None,
                separator: None,
            },
            offset,
        );
        let end = ast.choice(ends, offset);
        ast.add(Node::Seq(vec![repeated, end]), offset)
    }
}
