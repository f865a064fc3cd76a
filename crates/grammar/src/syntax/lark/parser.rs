//! The parser: statements to a syntax tree. Terminals come first, each after those that it names, and are written out where
//! they are named.

use std::borrow::Cow;
use std::sync::Arc;

use super::commit::{self, Lazies};
use super::directives::{self, Directives};
use super::endings::Budget;
use super::ignored::inner_name;
use super::lexer::{Kind, Token};
use super::longest;
use super::once;
use super::statements::{Definition, Source, is_terminal};
use crate::error::{Error, SourceLocation};
use crate::ir::{Grammar, TokenSet};
use crate::limits::Limits;
use crate::maps::{IdSet, SeededIndexMap, SeededMap, SeededSet};
use crate::syntax::rules::{Ast, Constant, Function, Groups, Node, NodeId, Pattern, Rule, Sight};

pub(super) struct Parser<'s> {
    pub(super) text: &'s str,
    limits: &'s Limits,
    pub(super) around: &'s Around<'s>,
    pub(super) groups: Groups<'s>,
    /// Names of the source's own rules and terminals.
    pub(super) names: SeededSet<&'s str>,
    /// Terminals that are read: the expression and how many nodes it has, counted as often as they stand in it.
    pub(super) terminals: SeededMap<&'s str, (NodeId, u64)>,
    /// How the patterns of what is read see the text, where they do not stand alone.
    pub(super) sight: Sight,
    /// What may be ignored; none if nothing is.
    pub(super) ignored: Option<NodeId>,
    /// Any number of them.
    pub(super) any_ignored: Option<NodeId>,
    /// Whether some terminal is lazy, so that each place of a terminal gets a node of its own.
    pub(super) commits: bool,
    pub(super) lazies: Lazies,
    pub(super) budgets: Vec<Budget>,
    /// Terminals that are declared, each with its offset.
    pub(super) declared: SeededIndexMap<&'s str, usize>,
    pub(super) ignores_once: bool,
}

/// What a source stands in.
pub(super) struct Around<'a> {
    pub(super) start: &'a str,
    /// Whole grammars that `@name` and declared terminals stand for.
    pub(super) grammars: &'a [(&'a str, Arc<Grammar>)],
    pub(super) limits: &'a Limits,
    /// Whether it stands in another grammar.
    pub(super) is_inside: bool,
    /// Reads a grammar inside this one.
    pub(super) nested: &'a dyn Fn(&str) -> Result<Grammar, Error>,
}

/// Reads all statements.
pub(super) fn parse<'s>(
    text: &'s str,
    source: &Source<'s>,
    around: &'s Around<'s>,
) -> Result<(Ast, Vec<Budget>), Error> {
    let directives = directives::read(text, source)?;
    let limits = around.limits;
    let mut parser = Parser {
        text,
        limits,
        around,
        declared: directives.declared.clone(),
        ignores_once: directives.ignores_once,
        groups: Groups::new(text, limits),
        names: source.definitions.keys().copied().collect(),
        terminals: SeededMap::default(),
        sight: Sight::Part,
        ignored: None,
        any_ignored: None,
        commits: (source.definitions.values()).any(|definition| definition.options.lazy),
        lazies: Lazies::default(),
        budgets: Vec::new(),
    };
    parser.read_imports(&directives, source)?;
    for name in terminals_in_order(text, source)? {
        let definition = &source.definitions[name];
        parser.see(definition);
        let (body, weight) = parser.body(definition.body, definition.offset, true)?;
        parser.check_terminal(definition)?;
        let (body, weight) = parser.shortest(definition, body, weight)?;
        parser.terminals.insert(name, (body, weight));
        parser.define(name, definition.offset, body);
    }
    parser.sight = Sight::Part;
    parser.read_ignored(&directives)?;
    // The shortest match is one of a regular language: a lazy rule is read as a terminal is, and before what it is beside.
    let mut lazy = SeededMap::default();
    for (&name, definition) in &source.definitions {
        if definition.options.lazy && !is_terminal(name) {
            parser.see(definition);
            let (body, weight) = parser.body(definition.body, definition.offset, true)?;
            lazy.insert(name, parser.shortest(definition, body, weight)?.0);
        }
    }
    parser.sight = Sight::Part;
    for (&name, definition) in &source.definitions {
        if is_terminal(name) {
            continue;
        }
        let offset = definition.offset;
        let body = if let Some(&body) = lazy.get(name) {
            let body = parser.placed(body, offset);
            let body = parser.labelled(name, definition, body)?;
            parser.followed(body, offset)
        } else {
            let (body, _) = parser.body(definition.body, offset, false)?;
            parser.labelled(name, definition, body)?
        };
        parser.define(name, offset, body);
    }
    parser.lead_with_ignored(source);
    let terminals: IdSet<u32> = (parser.terminals.values().map(|(id, _)| id.0))
        .chain(parser.ignored.map(|id| id.0))
        .collect();
    let terminals = (&terminals, parser.ignored);
    let (ast, lazies) = (&mut parser.groups.ast, &parser.lazies);
    if !lazies.is_empty() {
        commit::commit(ast, lazies, terminals, (text, around.start, limits))?;
    }
    let is_shortest = |id| lazies.of(ast, id).is_some();
    ast.followed = longest::followed(ast, terminals, is_shortest, around.start);
    once::check(text, &parser.groups.ast, &parser.budgets, around)?;
    Ok((parser.groups.ast, parser.budgets))
}

/// Terminals, each after those that it names.
fn terminals_in_order<'s>(text: &str, source: &Source<'s>) -> Result<Vec<&'s str>, Error> {
    let mut order = Vec::new();
    let mut done: SeededSet<&str> = SeededSet::default();
    let mut open: SeededSet<&str> = SeededSet::default();
    for (&root, _) in source
        .definitions
        .iter()
        .filter(|(name, _)| is_terminal(name))
    {
        let mut work = vec![(root, false)];
        while let Some((name, visited)) = work.pop() {
            if visited {
                open.remove(name);
                done.insert(name);
                order.push(name);
                continue;
            }
            if done.contains(name) || !open.insert(name) {
                continue;
            }
            work.push((name, true));
            for token in source.definitions[name].body {
                let Kind::Name(other) = &token.kind else {
                    continue;
                };
                let known = source.definitions.get_key_value(other.as_str());
                let Some((&other, _)) = known.filter(|(other, _)| is_terminal(other)) else {
                    continue;
                };
                if open.contains(other) && work.contains(&(other, true)) {
                    return Err(Error::grammar(
                        "E-GRAMMAR-IRREGULAR",
                        format!("the terminal {other:?} contains itself"),
                    )
                    .at(SourceLocation::in_text(text, token.offset))
                    .with_hint("only rules, which begin with a small letter, can be recursive"));
                }
                work.push((other, false));
            }
        }
    }
    Ok(order)
}

impl<'s> Parser<'s> {
    fn define(&mut self, name: &str, offset: usize, body: NodeId) {
        self.groups.ast.rules.push(Rule {
            name: name.to_owned(),
            offset,
            body,
            parts: vec![body],
        });
    }

    fn see(&mut self, definition: &Definition<'s>) {
        self.sight = if definition.options.lazy {
            Sight::Shortest
        } else {
            Sight::Part
        };
    }

    /// How an item sees the text; `whole`: it is no part of a longer terminal.
    fn sight_of(&self, whole: bool) -> Sight {
        match self.sight {
            Sight::Part if whole => Sight::Whole,
            sight => sight,
        }
    }

    fn read_imports(
        &mut self,
        directives: &Directives<'s>,
        source: &Source<'s>,
    ) -> Result<(), Error> {
        for &(name, ref pattern, offset) in &directives.imports {
            let known = source.definitions.contains_key(name) || self.terminals.contains_key(name);
            if known || !is_terminal(name) {
                let what = if known {
                    format!("the name {name:?} is defined twice")
                } else {
                    format!("{name:?} is no name of a terminal")
                };
                return Err(Error::grammar("E-GRAMMAR-DUPLICATE", what)
                    .at(SourceLocation::in_text(self.text, offset))
                    .with_hint("import it under another name: %import common.INT -> NUMBER"));
            }
            let weight = pattern.len() as u64;
            let node = Node::Pattern(Pattern::new(pattern.clone(), offset));
            let body = self.groups.ast.add(node, offset);
            self.terminals.insert(name, (body, weight));
            self.define(name, offset, body);
        }
        Ok(())
    }

    /// Reads an expression: its node, and its weight if it is regular.
    pub(super) fn body(
        &mut self,
        tokens: &'s [Token],
        offset: usize,
        regular: bool,
    ) -> Result<(NodeId, u64), Error> {
        self.groups.open(offset)?;
        let mut closers = Vec::new();
        let mut weight = 0u64;
        let mut at = 0;
        let end = tokens
            .last()
            .map_or(offset, |token| (token.offset + 1).min(self.text.len()));
        while let Some(token) = tokens.get(at) {
            let offset = token.offset;
            at += 1;
            match &token.kind {
                Kind::Sign('(') => {
                    closers.push(')');
                    self.groups.open(offset)?;
                }
                Kind::Sign('[') => {
                    closers.push(']');
                    self.groups.open(offset)?;
                }
                Kind::Sign(sign @ (')' | ']')) => {
                    if closers.pop() != Some(*sign) {
                        return Err(self
                            .groups
                            .error(offset, format!("unexpected {sign}"))
                            .with_hint("no such group is open"));
                    }
                    let start = self.groups.opened_at();
                    let inner = self.groups.close(offset)?;
                    self.groups.item_again(inner, start);
                    if *sign == ']' {
                        self.groups.repeat(0, Some(1), offset)?;
                    }
                }
                Kind::Sign('|') => self.groups.end_alternative(offset)?,
                Kind::Sign('&') => self.groups.end_operand(offset)?,
                Kind::Sign('~')
                    if matches!(
                        tokens.get(at).map(|token| &token.kind),
                        Some(Kind::Number(_))
                    ) =>
                {
                    let (min, max) = self.tilde_bounds(tokens, &mut at)?;
                    self.groups.repeat(min, max, offset)?;
                }
                Kind::Sign('~') => self.groups.complement(offset)?,
                Kind::Sign('{') => {
                    let (min, max) = self.brace_bounds(tokens, &mut at)?;
                    self.groups.repeat(min, max, offset)?;
                }
                Kind::Sign('?') => self.groups.repeat(0, Some(1), offset)?,
                Kind::Sign('*') => self.groups.repeat(0, None, offset)?,
                Kind::Sign('+') => self.groups.repeat(1, None, offset)?,
                Kind::Arrow => {
                    if !closers.is_empty()
                        || !matches!(tokens.get(at).map(|token| &token.kind), Some(Kind::Name(_)))
                    {
                        return Err(self
                            .groups
                            .error(
                                offset,
                                "an alias is a name at the end of an alternative of a rule",
                            )
                            .with_hint("it is written rule: alternative -> name"));
                    }
                    at += 1;
                    if !matches!(
                        tokens.get(at).map(|token| &token.kind),
                        None | Some(Kind::Sign('|'))
                    ) {
                        return Err(self
                            .groups
                            .error(tokens[at].offset, "an alias ends its alternative")
                            .with_hint("it is written rule: alternative -> name"));
                    }
                }
                _ => {
                    let alone = closers.is_empty() && is_alone(tokens, at - 1);
                    let sight = self.sight_of(alone || !regular);
                    let more = self.item(tokens, &mut at, token, (regular, sight))?;
                    weight = weight.saturating_add(more);
                }
            }
            if weight > self.limits.compile_fuel {
                return Err(Error::limit(
                    "E-LIMIT-FUEL",
                    "compile_fuel",
                    weight,
                    self.limits.compile_fuel,
                )
                .at(SourceLocation::in_text(self.text, offset)));
            }
        }
        if let Some(closer) = closers.last() {
            let opened = self.groups.opened_at();
            return Err(self
                .groups
                .error(opened, "the group is not closed")
                .with_hint(format!("close it with {closer}")));
        }
        Ok((self.groups.close(end)?, weight))
    }

    /// Reads one item that is no sign, and says its weight.
    fn item(
        &mut self,
        tokens: &'s [Token],
        at: &mut usize,
        token: &'s Token,
        (regular, sight): (bool, Sight),
    ) -> Result<u64, Error> {
        let offset = token.offset;
        let mut weight = 1;
        let node = match &token.kind {
            Kind::Text(first, false)
                if tokens.get(*at).map(|token| &token.kind) == Some(&Kind::Range) =>
            {
                let last = tokens.get(*at + 1).map(|token| &token.kind);
                *at += 2;
                self.range(first, last, offset)?
            }
            Kind::Text(text, ignores_case) => {
                weight = text.len() as u64 + 1;
                if *ignores_case {
                    let pattern = format!("(?i:{})", regex_syntax::escape(text));
                    Node::Pattern(Pattern::new(pattern, offset))
                } else {
                    Node::Bytes(text.clone().into_bytes())
                }
            }
            Kind::Pattern(pattern, flags, inner) => {
                weight = pattern.len() as u64;
                let set = match flags.as_str() {
                    "" => String::new(),
                    flags => format!("(?{flags})"),
                };
                let start = inner.saturating_sub(set.len());
                Node::Pattern(Pattern::new(set + pattern, start).seeing(sight))
            }
            Kind::Directive(name) if name == "regex" => {
                let Some(Token {
                    kind: Kind::Json(json),
                    ..
                }) = tokens.get(*at)
                else {
                    return Err(self
                        .groups
                        .error(offset, "expected a JSON object after %regex")
                        .with_hint(r#"it is written %regex {"substring_words": "…"}"#));
                };
                *at += 1;
                let chunks = directives::substring_chunks(self.text, json, offset, self.limits)?;
                weight = (chunks.len() * chunks.len()) as u64;
                Node::Parts(chunks.into_iter().map(String::into_bytes).collect())
            }
            Kind::Nothing => Node::Constant(Constant::Nothing),
            Kind::Name(name) if self.declared.contains_key(name.as_str()) => {
                match self.around.grammar(name) {
                    Some(_) if regular => return Err(self.irregular(offset)),
                    Some(grammar) => Node::Grammar(Arc::clone(grammar)),
                    None => Node::Constant(Constant::Nothing),
                }
            }
            Kind::Name(name) => return self.name(name, offset, (regular, sight)),
            _ if regular => return Err(self.irregular(offset)),
            Kind::TokenText(text) => Node::Token(TokenSet::Text(text.as_str().into())),
            Kind::TokenIds(ranges) => Node::Token(TokenSet::Ids(ranges.as_slice().into())),
            Kind::Directive(name) if name == "json" => {
                let Some(Token {
                    kind: Kind::Json(json),
                    offset: start,
                    ..
                }) = tokens.get(*at)
                else {
                    return Err(self
                        .groups
                        .error(offset, "expected a JSON Schema after %json")
                        .with_hint(r#"it is written %json {"type": "object"}"#));
                };
                *at += 1;
                self.schema(json, *start)?
            }
            Kind::Directive(name) if name == "lark" => {
                let Some(Token {
                    kind: Kind::Grammar(inner),
                    offset: start,
                    ..
                }) = tokens.get(*at)
                else {
                    return Err(self
                        .groups
                        .error(offset, "expected a grammar after %lark")
                        .with_hint("it is written %lark { start: … }"));
                };
                *at += 1;
                self.nested(inner, *start)?
            }
            Kind::Sign('@') => self.given(tokens, at, offset)?,
            _ => {
                return Err(self
                    .groups
                    .error(offset, "expected an expression here")
                    .with_hint("text, a pattern, a name or a group"));
            }
        };
        let id = self.groups.ast.add(node, offset);
        self.add(id, offset, regular);
        Ok(weight)
    }

    fn irregular(&self, offset: usize) -> Error {
        Error::grammar(
            "E-GRAMMAR-IRREGULAR",
            "only what is regular may stand in a terminal",
        )
        .at(SourceLocation::in_text(self.text, offset))
        .with_hint("text, regular expressions, %regex, terminals and groups of them are regular")
    }

    /// Adds an item; in a rule what may be ignored follows it.
    fn add(&mut self, id: NodeId, offset: usize, regular: bool) {
        if regular {
            return self.groups.item_again(id, offset);
        }
        let is_terminal = !matches!(
            self.groups.ast.nodes[id.0 as usize].0,
            Node::Token(_) | Node::Grammar(_) | Node::Constant(_)
        );
        let id = if is_terminal {
            self.placed(id, offset)
        } else {
            id
        };
        let id = self.followed(id, offset);
        self.groups.item_again(id, offset);
    }

    fn name(
        &mut self,
        name: &'s str,
        offset: usize,
        (regular, sight): (bool, Sight),
    ) -> Result<u64, Error> {
        if let Some(&(id, weight)) = self.terminals.get(name) {
            if regular {
                let part = Node::Function(Function::Part, id);
                let id = match sight {
                    Sight::Part => self.groups.ast.add(part, offset),
                    _ => id,
                };
                self.groups.item_again(id, offset);
                return Ok(weight + 1);
            }
            self.add(id, offset, false);
            return Ok(1);
        }
        if regular {
            let terminal = is_terminal(name);
            let (code, message) = if terminal {
                (
                    "E-GRAMMAR-UNDEFINED",
                    format!("there is no terminal {name:?}"),
                )
            } else {
                (
                    "E-GRAMMAR-IRREGULAR",
                    format!("the rule {name:?} may not stand in a terminal"),
                )
            };
            return Err(Error::grammar(code, message)
                .at(SourceLocation::in_text(self.text, offset))
                .with_hint("terminals begin with a capital letter and are made of terminals"));
        }
        let target: Cow<'_, str> = match self.ignored {
            Some(_) if self.names.contains(name) => inner_name(name).into(),
            _ => name.into(),
        };
        self.groups.item(Node::Name(target.into_owned()), offset);
        Ok(1)
    }

    fn range(&self, first: &str, last: Option<&Kind>, offset: usize) -> Result<Node, Error> {
        let only = |text: &str| {
            let mut characters = text.chars();
            characters.next().filter(|_| characters.next().is_none())
        };
        let last = match last {
            Some(Kind::Text(last, false)) => only(last),
            _ => None,
        };
        match (only(first), last) {
            (Some(first), Some(last)) if first <= last => Ok(Node::Class(vec![(first, last)])),
            _ => Err(self
                .groups
                .error(offset, "a range goes from one character to a later one")
                .with_hint(r#"it is written "a".."z""#)),
        }
    }
}

/// Whether a token is an alternative by itself.
fn is_alone(tokens: &[Token], at: usize) -> bool {
    let ends = |token: Option<&Token>| token.is_none_or(|token| token.kind == Kind::Sign('|'));
    ends(at.checked_sub(1).and_then(|at| tokens.get(at))) && ends(tokens.get(at + 1))
}
