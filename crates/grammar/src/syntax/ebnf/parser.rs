//! The parser: tokens to a syntax tree, over an explicit stack, so that nesting is bounded by the limits and not by the
//! thread's stack.

use super::builtins::{Builtin, builtin};
use super::lexer::{Kind, Token};
use crate::error::{Error, SourceLocation};
use crate::ir::TokenSet;
use crate::limits::Limits;
use crate::maps::SeededIndexMap;
use crate::syntax::rules::{
    Ast, Constant, Function, Node, NodeId, Rule, check_nesting, check_repetition, count_alternative,
};

/// What a group becomes when it is closed.
#[derive(Debug, Clone)]
enum Opener {
    Rule,
    Group,
    Option,
    Repetition,
    Capture(String),
    /// The number is the most bytes that may be matched.
    Function(Function, Option<u32>),
}

impl Opener {
    fn closer(&self) -> Option<char> {
        match self {
            Self::Rule => None,
            Self::Option => Some(']'),
            Self::Repetition => Some('}'),
            _ => Some(')'),
        }
    }
}

/// An open group.
struct Frame {
    opener: Opener,
    offset: usize,
    alternatives: Vec<NodeId>,
    operands: Vec<NodeId>,
    items: Vec<NodeId>,
    /// A `~` that waits for its operand.
    complement: Option<usize>,
    /// A repetition that waits for its separator.
    separated: Option<(NodeId, u32, Option<u32>, usize)>,
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    ast: Ast,
    frames: Vec<Frame>,
    alternatives: usize,
    limits: &'t Limits,
}

/// Reads all rules.
pub(super) fn parse(text: &str, tokens: &[Token], limits: &Limits) -> Result<Ast, Error> {
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        ast: Ast {
            rules_as_operands: true,
            refuses_stuck_rules: true,
            ..Ast::default()
        },
        frames: Vec::new(),
        alternatives: 0,
        limits,
    };
    // Its place among the rules, and its bodies.
    let mut seen: SeededIndexMap<&String, (usize, Vec<NodeId>)> = SeededIndexMap::default();
    while let Some(token) = parser.tokens.get(parser.at) {
        let offset = token.offset;
        let Kind::Name(name) = &token.kind else {
            return Err(parser
                .error(offset, "expected a rule")
                .with_hint("a rule is written: name ::= … ;"));
        };
        parser.at += 1;
        if parser.kind() != Some(&Kind::Define) {
            return Err(parser
                .error(
                    parser.offset(),
                    format!("expected ::= after the name {name:?}"),
                )
                .with_hint("a rule is written: name ::= … ;"));
        }
        parser.at += 1;
        let body = parser.body()?;
        let rules = &mut parser.ast.rules;
        let (_, bodies) = seen.entry(name).or_insert_with(|| {
            rules.push(Rule {
                name: name.clone(),
                offset,
                body,
                parts: Vec::new(),
            });
            (rules.len() - 1, Vec::new())
        });
        bodies.push(body);
    }
    // A rule that is defined again has all the alternatives.
    for (rule, bodies) in seen.into_values() {
        if bodies.len() > 1 {
            let offset = parser.ast.rules[rule].offset;
            parser.ast.rules[rule].body = parser.ast.add(Node::Alt(bodies), offset);
        }
    }
    Ok(parser.ast)
}

impl Parser<'_> {
    fn kind(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn kind_after(&self) -> Option<&Kind> {
        self.tokens.get(self.at + 1).map(|token| &token.kind)
    }

    fn offset(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.offset)
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(self.text, offset))
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.kind() == Some(&Kind::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn open(&mut self, opener: Opener, offset: usize) -> Result<(), Error> {
        check_nesting(self.text, self.limits, self.frames.len(), offset)?;
        self.frames.push(Frame {
            opener,
            offset,
            alternatives: Vec::new(),
            operands: Vec::new(),
            items: Vec::new(),
            complement: None,
            separated: None,
        });
        Ok(())
    }

    /// The innermost open group. There is one for as long as a body is read.
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a body has a frame")
    }

    /// Everything after `::=`.
    fn body(&mut self) -> Result<NodeId, Error> {
        let offset = self.offset();
        self.open(Opener::Rule, offset)?;
        loop {
            let offset = self.offset();
            let Some(kind) = self.kind().cloned() else {
                return self.end_of_rule(offset);
            };
            match kind {
                Kind::Name(_) if self.kind_after() == Some(&Kind::Define) => {
                    return self.end_of_rule(offset);
                }
                Kind::Sign(';') => {
                    let body = self.end_of_rule(offset)?;
                    self.at += 1;
                    return Ok(body);
                }
                Kind::Sign(sign @ ('|' | '&')) => {
                    self.at += 1;
                    self.end_of_operand(offset)?;
                    if sign == '|' {
                        self.end_of_alternative(offset)?;
                    }
                }
                Kind::Sign(',') if self.bound_follows() => {
                    self.at += 1;
                    self.bound()?;
                }
                Kind::Sign(',') if matches!(self.frame().opener, Opener::Function(..)) => {
                    self.at += 1;
                    self.next_operand(offset)?;
                }
                Kind::Sign(',') => {
                    self.at += 1;
                    if self.frame().items.is_empty() {
                        return Err(self
                            .error(offset, "nothing stands before the comma")
                            .with_hint("a comma joins two parts of a sequence; leave it out"));
                    }
                }
                Kind::Sign('~') => {
                    self.at += 1;
                    if self.frame().complement.replace(offset).is_some() {
                        return Err(self
                            .error(offset, "one ~ after another")
                            .with_hint("write ~(~x)"));
                    }
                }
                Kind::Sign('(') => self.open_at(Opener::Group, offset, 1)?,
                Kind::Sign('[') => self.open_at(Opener::Option, offset, 1)?,
                Kind::Sign('{') => self.open_at(Opener::Repetition, offset, 1)?,
                Kind::Sign(sign @ (')' | ']' | '}')) => self.close(sign, offset)?,
                _ => self.primary(kind, offset)?,
            }
        }
    }

    fn open_at(&mut self, opener: Opener, offset: usize, words: usize) -> Result<(), Error> {
        self.at += words;
        self.open(opener, offset)
    }

    fn end_of_rule(&mut self, offset: usize) -> Result<NodeId, Error> {
        let frame = self.frame();
        if let Some(closer) = frame.opener.closer() {
            let opened = frame.offset;
            return Err(self
                .error(opened, "the group is not closed")
                .with_hint(format!("close it with {closer}")));
        }
        self.finish(offset)
    }

    fn end_of_operand(&mut self, offset: usize) -> Result<(), Error> {
        let frame = self.frame();
        if frame.complement.is_some() || frame.separated.is_some() {
            return Err(self
                .error(offset, "expected an operand here")
                .with_hint("~ stands before what it negates, % before what stands between"));
        }
        let items = std::mem::take(&mut frame.items);
        let operand = match items[..] {
            [] => {
                return Err(self
                    .error(offset, "an alternative has nothing in it")
                    .with_hint(
                        "one | or & stands between two expressions; the empty string is written \"\"",
                    ));
            }
            [only] => only,
            [first, ..] => {
                let start = self.ast.nodes[first.0 as usize].1;
                self.ast.add(Node::Seq(items), start)
            }
        };
        self.frame().operands.push(operand);
        Ok(())
    }

    fn end_of_alternative(&mut self, offset: usize) -> Result<(), Error> {
        count_alternative(self.text, self.limits, &mut self.alternatives, offset)?;
        let operands = std::mem::take(&mut self.frame().operands);
        let alternative = self.ast.intersection(operands, offset);
        self.frame().alternatives.push(alternative);
        Ok(())
    }

    /// Closes the innermost group and says what it holds.
    fn finish(&mut self, offset: usize) -> Result<NodeId, Error> {
        self.end_of_operand(offset)?;
        self.end_of_alternative(offset)?;
        let frame = self.frames.pop().expect("a body has a frame");
        Ok(self.ast.choice(frame.alternatives, frame.offset))
    }

    fn close(&mut self, sign: char, offset: usize) -> Result<(), Error> {
        let opener = self.frame().opener.clone();
        if opener.closer() != Some(sign) {
            let hint = opener
                .closer()
                .map_or("no group is open".to_owned(), |closer| {
                    format!("expected {closer}")
                });
            return Err(self
                .error(offset, format!("unexpected {sign}"))
                .with_hint(hint));
        }
        self.at += 1;
        let start = self.frame().offset;
        let inner = self.finish(offset)?;
        let node = match opener {
            Opener::Rule | Opener::Group => inner,
            Opener::Option => self.ast.add(
                Node::Repeat {
                    inner,
                    min: 0,
                    max: Some(1),
                    separator: None,
                },
                start,
            ),
            Opener::Repetition => self.ast.add(
                Node::Repeat {
                    inner,
                    min: 0,
                    max: None,
                    separator: None,
                },
                start,
            ),
            Opener::Capture(label) => self.ast.add(Node::Capture(label, inner), start),
            Opener::Function(function, bound) => {
                let node = self.ast.add(Node::Function(function, inner), start);
                match bound {
                    None => node,
                    Some(bound) => self.bounded(node, bound, start),
                }
            }
        };
        self.item(node, start)
    }

    /// Whether the comma here stands before the bound in `except!(x, n)`.
    fn bound_follows(&self) -> bool {
        let opener = self.frames.last().map(|frame| &frame.opener);
        matches!(opener, Some(Opener::Function(Function::Except, None)))
            && matches!(self.kind_after(), Some(Kind::Number(_)))
    }

    /// What follows the comma in `except!(x, y)`: one more text that is excluded, as after `|`.
    fn next_operand(&mut self, offset: usize) -> Result<(), Error> {
        match self.frame().opener {
            Opener::Function(Function::Except | Function::Until, None) => {
                self.end_of_operand(offset)?;
                self.end_of_alternative(offset)
            }
            _ => Err(self.error(offset, "expected one operand").with_hint(
                "join parts of a sequence without a comma, alternatives with |; a bound comes last",
            )),
        }
    }

    fn bound(&mut self) -> Result<(), Error> {
        let offset = self.offset();
        let Some(&Kind::Number(number)) = self.kind() else {
            unreachable!("the caller has seen a number")
        };
        check_repetition(self.text, self.limits, number, offset)?;
        self.at += 1;
        if self.kind() != Some(&Kind::Sign(')')) {
            return Err(self
                .error(self.offset(), "expected ) after the bound")
                .with_hint("the bound comes last: except!(x, 50)"));
        }
        self.frame().opener = Opener::Function(Function::Except, Some(number));
        Ok(())
    }

    /// What `node` matches in at most `most` bytes.
    fn bounded(&mut self, node: NodeId, most: u32, offset: usize) -> NodeId {
        let inner = self.ast.add(Node::Constant(Constant::Byte), offset);
        let bytes = Node::Repeat {
            inner,
            min: 0,
            max: Some(most),
            separator: None,
        };
        let bytes = self.ast.add(bytes, offset);
        self.ast.add(Node::And(vec![node, bytes]), offset)
    }

    fn primary(&mut self, kind: Kind, offset: usize) -> Result<(), Error> {
        let node = match kind {
            Kind::Name(name) => Node::Name(name),
            Kind::Bytes(bytes) => Node::Bytes(bytes),
            Kind::AnyCase(bytes) => self.any_case(&bytes, offset),
            Kind::Pattern(pattern, None) => Node::Pattern(pattern),
            Kind::Pattern(pattern, Some(function)) => {
                let pattern = self.ast.add(Node::Pattern(pattern), offset);
                Node::Function(function, pattern)
            }
            Kind::Parts(text) => Node::Parts(characters(&text)),
            Kind::TokenText(text) => Node::Token(TokenSet::Text(text.into())),
            Kind::TokenIds(ranges) => Node::Token(TokenSet::Ids(ranges.into())),
            Kind::TokenExcept(ranges, texts) => {
                let texts = texts.into_iter().map(Into::into).collect();
                Node::Token(TokenSet::except(ranges, texts))
            }
            Kind::Builtin(name) => match builtin(&name) {
                Some(Builtin::Constant(constant)) => Node::Constant(constant),
                Some(Builtin::Function(function)) => {
                    if self.kind_after() != Some(&Kind::Sign('(')) {
                        return Err(self
                            .error(offset, format!("{name}! takes an operand in parentheses"))
                            .with_hint(format!("write {name}!(…)")));
                    }
                    return self.open_at(Opener::Function(function, None), offset, 2);
                }
                None => {
                    return Err(self
                        .error(offset, format!("unknown builtin {name}!"))
                        .with_hint(
                            "known are any! byte! nothing! except!(x) except!(x, n) until!(x) lazy!(x) complement!(x)",
                        ));
                }
            },
            Kind::At(name) => {
                if self.kind_after() != Some(&Kind::Sign('(')) {
                    return Err(self
                        .error(offset, format!("@{name} takes an operand in parentheses"))
                        .with_hint(format!("write @{name}(…)")));
                }
                if name != "marker" && name != "token" {
                    return self.open_at(Opener::Capture(name), offset, 2);
                }
                let text = self.text_operand(&name)?;
                if name == "marker" {
                    Node::Marker(text)
                } else {
                    Node::Token(TokenSet::Text(text.into()))
                }
            }
            Kind::Number(_) | Kind::Define | Kind::Sign(_) => {
                let hint = match kind {
                    Kind::Sign('%') => "% follows a repetition: x+ % \",\"",
                    Kind::Define => "the name of the rule stands before it: name ::= … ;",
                    _ => "a string, a pattern, a name or a group; the empty string is written \"\"",
                };
                return Err(self
                    .error(offset, "expected an expression here")
                    .with_hint(hint));
            }
        };
        self.at += 1;
        let node = self.ast.add(node, offset);
        self.item(node, offset)
    }

    /// A text whose ASCII letters may be of either case.
    fn any_case(&mut self, bytes: &[u8], offset: usize) -> Node {
        let mut parts = Vec::new();
        for run in bytes.chunk_by(|a, b| !a.is_ascii_alphabetic() && !b.is_ascii_alphabetic()) {
            let node = match *run {
                [letter] if letter.is_ascii_alphabetic() => {
                    let cases = [letter.to_ascii_uppercase(), letter.to_ascii_lowercase()];
                    Node::Class(
                        cases
                            .map(|case| (char::from(case), char::from(case)))
                            .into(),
                    )
                }
                _ => Node::Bytes(run.to_vec()),
            };
            parts.push(self.ast.add(node, offset));
        }
        Node::Seq(parts)
    }

    /// The text in `@marker("text")`; leaves the reader on the closing parenthesis.
    fn text_operand(&mut self, name: &str) -> Result<String, Error> {
        self.at += 2;
        let offset = self.offset();
        let wanted = format!("@{name} takes one string that is text and not empty");
        let hint = format!("write @{name}(\"text\")");
        let text = match self.kind() {
            Some(Kind::Bytes(bytes)) => String::from_utf8(bytes.clone())
                .ok()
                .filter(|text| !text.is_empty()),
            _ => None,
        };
        let Some(text) = text else {
            return Err(self.error(offset, wanted).with_hint(hint));
        };
        self.at += 1;
        if self.kind() != Some(&Kind::Sign(')')) {
            return Err(self.error(self.offset(), wanted).with_hint(hint));
        }
        Ok(text)
    }

    /// Takes what follows a primary: a repetition, its separator, and the waiting `~`.
    fn item(&mut self, mut node: NodeId, offset: usize) -> Result<(), Error> {
        let separated = self.frame().separated.take();
        let is_separator = separated.is_some();
        if let Some((inner, min, max, start)) = separated {
            node = self.ast.add(
                Node::Repeat {
                    inner,
                    min,
                    max,
                    separator: Some(node),
                },
                start,
            );
        }
        let after = self.offset();
        while let Some((min, max)) = self.postfix()? {
            if self.take('%') {
                self.frame().separated = Some((node, min, max, offset));
                return Ok(());
            }
            node = self.ast.add(
                Node::Repeat {
                    inner: node,
                    min,
                    max,
                    separator: None,
                },
                offset,
            );
        }
        if is_separator && after < self.offset() && self.item_follows() {
            return Err(self
                .error(after, "a separator cannot be repeated without a group")
                .with_hint(
                    "group what stands between, x+ % (y? \",\"), or the list, (x+ % \",\")?",
                ));
        }
        if let Some(start) = self.frame().complement.take() {
            node = self.ast.add(Node::Function(Function::Not, node), start);
        }
        self.frame().items.push(node);
        Ok(())
    }

    /// Whether the sequence goes on.
    fn item_follows(&self) -> bool {
        match self.kind() {
            Some(Kind::Name(_)) => self.kind_after() != Some(&Kind::Define),
            Some(Kind::Sign(sign)) => matches!(sign, '(' | '[' | '{' | '~'),
            kind => kind.is_some(),
        }
    }

    fn postfix(&mut self) -> Result<Option<(u32, Option<u32>)>, Error> {
        for (sign, bounds) in [('?', (0, Some(1))), ('*', (0, None)), ('+', (1, None))] {
            if self.take(sign) {
                return Ok(Some(bounds));
            }
        }
        if self.kind() != Some(&Kind::Sign('{')) {
            return Ok(None);
        }
        let offset = self.offset();
        let min = match self.kind_after() {
            Some(&Kind::Number(min)) => min,
            Some(Kind::Sign(',')) => {
                return Err(self
                    .error(offset, "expected the lower bound of a repetition")
                    .with_hint("write it out: {0,3}"));
            }
            _ => return Ok(None),
        };
        self.at += 2;
        let max = if self.take(',') {
            if let Some(&Kind::Number(max)) = self.kind() {
                self.at += 1;
                Some(max)
            } else {
                None
            }
        } else {
            Some(min)
        };
        if !self.take('}') {
            return Err(self
                .error(self.offset(), "expected } after the bounds of a repetition")
                .with_hint("bounds are written {m}, {m,} or {m,n}"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self
                .error(offset, "the upper bound is below the lower one")
                .with_hint("the smaller number comes first"));
        }
        check_repetition(self.text, self.limits, max.unwrap_or(min), offset)?;
        Ok(Some((min, max)))
    }
}

/// The characters of a text; bytes that belong to none stand alone.
fn characters(text: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    for chunk in text.utf8_chunks() {
        parts.extend(chunk.valid().chars().map(|c| c.to_string().into_bytes()));
        parts.extend(chunk.invalid().iter().map(|&byte| vec![byte]));
    }
    parts
}
