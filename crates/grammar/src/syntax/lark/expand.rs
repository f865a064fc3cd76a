//! Templates and rules with a value, written out: each use with other arguments is a rule of its own, named after the first
//! with a number behind a space. `%extend` and `%override` change the rule that they name.

use super::lexer::{Kind, Token, unsupported};
use super::statements::{begins, expect_statement, wrong};
use super::values::{self, Value};
use crate::error::{Error, SourceLocation};
use crate::limits::{Fuel, Limits};
use crate::maps::{SeededIndexMap, SeededMap};
use crate::syntax::rules::{check_nesting, duplicate};

/// What a token costs that is written once more.
const COPIED: usize = 20;

/// A definition, or a directive, which has no name.
#[derive(Debug, Clone, Default)]
pub(super) struct Statement {
    pub(super) name: String,
    /// The place of the name in `tokens`.
    pub(super) at: usize,
    pub(super) tokens: Vec<Token>,
    takes: Takes,
}

impl Statement {
    /// The names of what it takes.
    pub(super) fn parameters(&self) -> &[String] {
        match &self.takes {
            Takes::Names(names, _) => names,
            _ => &[],
        }
    }
}

#[derive(Debug, Clone, Default)]
enum Takes {
    #[default]
    Nothing,
    /// Names, which end at this token.
    Names(Vec<String>, usize),
    Value,
}

/// Writes out what has parameters.
pub(super) fn expand(text: &str, tokens: Vec<Token>, limits: &Limits) -> Result<Vec<Token>, Error> {
    let has = |kind: &Kind| match kind {
        Kind::Sign(sign) => matches!(sign, '§' | '{'),
        Kind::Directive(name) => matches!(name.as_str(), "extend" | "override" | "if"),
        _ => false,
    };
    if !tokens.iter().any(|token| has(&token.kind)) {
        return Ok(tokens);
    }
    let statements = changed(text, statements(text, &tokens)?)?;
    let mut expansion = Expansion {
        text,
        limits,
        fuel: Fuel::new(limits),
        definitions: SeededMap::default(),
        made: SeededIndexMap::default(),
        open: Vec::new(),
    };
    let mut plain = Vec::new();
    for statement in statements {
        if let Takes::Nothing = statement.takes {
            plain.push(statement);
        } else {
            let offset = statement.tokens[statement.at].offset;
            let name = statement.name.clone();
            if let Some(first) = expansion.definitions.insert(name, statement) {
                let first_offset = first.tokens[first.at].offset;
                return Err(duplicate(text, &first.name, offset, first_offset));
            }
        }
    }
    let mut written = Vec::with_capacity(tokens.len());
    for statement in plain {
        let body = expansion.rewritten(&statement.tokens, &Bound::default(), 0)?;
        written.extend(expansion.chosen(body, None)?);
    }
    while let Some((name, instance)) = expansion.open.pop() {
        written.extend(expansion.instance(&name, &instance)?);
    }
    Ok(written)
}

/// What stands for the parameters of a definition.
#[derive(Debug, Clone, Default)]
struct Bound {
    names: SeededMap<String, Vec<Token>>,
    value: Option<Value>,
    /// What its rule is called.
    called: String,
}

/// Splits a source.
pub(super) fn statements(text: &str, tokens: &[Token]) -> Result<Vec<Statement>, Error> {
    let mut found: Vec<Statement> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begin = at;
        expect_statement(text, &tokens[at..])?;
        let is_directive = matches!(&tokens[at].kind, Kind::Directive(name) if !matches!(name.as_str(), "extend" | "override"));
        let mut name_at = at;
        while !is_directive
            && name_at < tokens.len()
            && !matches!(tokens[name_at].kind, Kind::Name(_))
        {
            name_at += 1;
        }
        at = name_at + 1;
        // A name right after the colon is of the body.
        let colon = tokens[at.min(tokens.len())..]
            .iter()
            .position(|token| token.kind == Kind::Sign(':'));
        let body = colon.map_or(at, |colon| at + colon + 1);
        at = if is_directive {
            at
        } else {
            body.min(tokens.len())
        };
        let start = at;
        while at < tokens.len()
            && (at == start && !tokens[at].first && !is_directive || !begins(&tokens[at..]))
        {
            at += 1;
        }
        let mut statement = Statement {
            at: name_at - begin,
            tokens: tokens[begin..at].to_vec(),
            ..Statement::default()
        };
        if !is_directive {
            if let Some(Kind::Name(name)) = tokens.get(name_at).map(|token| &token.kind) {
                statement.name.clone_from(name);
            }
            statement.takes = takes(text, &statement)?;
        }
        found.push(statement);
    }
    Ok(found)
}

/// The parameters behind the name of a definition.
fn takes(text: &str, statement: &Statement) -> Result<Takes, Error> {
    let kind = |at: usize| statement.tokens.get(at).map(|token| &token.kind);
    let at = statement.at + 1;
    match kind(at) {
        Some(Kind::Sign('§')) => match kind(at + 1) {
            Some(Kind::Name(name)) if name == "_" => Ok(Takes::Value),
            Some(Kind::Sign('=')) => Err(unsupported(
                text,
                statement.tokens[at].offset,
                "rules with ::= are",
            )),
            _ => Err(
                wrong(text, statement.tokens[at].offset, "expected _ after ::")
                    .with_hint("a rule that takes a value is written name::_ : …"),
            ),
        },
        Some(Kind::Sign('{')) => {
            let mut names = Vec::new();
            for at in (at + 1..).step_by(2) {
                match (kind(at), kind(at + 1)) {
                    (Some(Kind::Name(name)), Some(Kind::Sign(sign @ (',' | '}'))))
                        if !names.contains(name) =>
                    {
                        names.push(name.clone());
                        if *sign == '}' {
                            return Ok(Takes::Names(names, at + 1));
                        }
                    }
                    _ => {
                        let place = statement
                            .tokens
                            .get(at)
                            .map_or(text.len(), |token| token.offset);
                        return Err(wrong(text, place, "expected a parameter of the template")
                            .with_hint(
                                "a template is written name{a, b}: …, with different names",
                            ));
                    }
                }
            }
            Ok(Takes::Nothing)
        }
        _ => Ok(Takes::Nothing),
    }
}

/// Statements after what `%extend` and `%override` say.
fn changed(text: &str, statements: Vec<Statement>) -> Result<Vec<Statement>, Error> {
    let mut kept: SeededIndexMap<(String, usize), Statement> = SeededIndexMap::default();
    let mut changes = Vec::new();
    for (number, statement) in statements.into_iter().enumerate() {
        match &statement.tokens[0].kind {
            Kind::Directive(name) if matches!(name.as_str(), "extend" | "override") => {
                changes.push(statement);
            }
            // Two definitions of one name are told of later.
            _ => {
                let number = usize::from(
                    statement.name.is_empty() || kept.contains_key(&(statement.name.clone(), 0)),
                ) * (number + 1);
                kept.insert((statement.name.clone(), number), statement);
            }
        }
    }
    for mut change in changes {
        let offset = change.tokens[0].offset;
        let key = (change.name.clone(), 0);
        let Some(known) = kept.get_mut(&key).filter(|_| !change.name.is_empty()) else {
            return Err(Error::grammar(
                "E-GRAMMAR-UNDEFINED",
                format!("there is no rule {:?} to change", change.name),
            )
            .at(SourceLocation::in_text(text, offset))
            .with_hint("%extend and %override change a rule that is defined or imported"));
        };
        let is_override =
            matches!(&change.tokens[0].kind, Kind::Directive(name) if name == "override");
        change.tokens.remove(0);
        change.at -= 1;
        if is_override {
            *known = change;
        } else {
            let colon = change
                .tokens
                .iter()
                .position(|token| token.kind == Kind::Sign(':'));
            let body = change
                .tokens
                .split_off(colon.map_or(change.tokens.len(), |at| at + 1));
            known.tokens.push(sign('|', offset));
            known.tokens.extend(body);
        }
    }
    Ok(kept.into_values().collect())
}

fn sign(sign: char, offset: usize) -> Token {
    Token {
        kind: Kind::Sign(sign),
        offset,
        first: false,
    }
}

struct Expansion<'t> {
    text: &'t str,
    limits: &'t Limits,
    fuel: Fuel,
    /// What takes something.
    definitions: SeededMap<String, Statement>,
    /// The rules that were made, by what they are made of.
    made: SeededIndexMap<String, ()>,
    /// Those that are still to be written: the definition, and what it takes.
    open: Vec<(String, Bound)>,
}

impl Expansion<'_> {
    /// The name of the rule of a definition with what it takes.
    fn called(&mut self, name: &str, mut bound: Bound, key: String) -> String {
        let entry = self.made.entry(key);
        let called = format!("{name} {}", entry.index());
        if let indexmap::map::Entry::Vacant(entry) = entry {
            entry.insert(());
            bound.called.clone_from(&called);
            self.open.push((name.to_owned(), bound));
        }
        called
    }

    /// A rule out of a definition.
    fn instance(&mut self, name: &str, bound: &Bound) -> Result<Vec<Token>, Error> {
        let statement = self.definitions[name].clone();
        let rest = match &statement.takes {
            Takes::Names(_, end) => end + 1,
            _ => statement.at + 3,
        };
        let (head, body) = (
            &statement.tokens[..statement.at],
            &statement.tokens[rest.min(statement.tokens.len())..],
        );
        let mut written = head.to_vec();
        written.push(Token {
            kind: Kind::Name(bound.called.clone()),
            ..statement.tokens[statement.at].clone()
        });
        let colon = body.iter().position(|token| token.kind == Kind::Sign(':'));
        let (options, body) = body.split_at(colon.map_or(body.len(), |at| at + 1));
        written.extend_from_slice(options);
        let body = self.chosen(body.to_vec(), bound.value)?;
        written.extend(self.rewritten(&body, bound, 0)?);
        Ok(written)
    }

    /// The tokens with everything in them that takes something named by the rule that it becomes.
    fn rewritten(
        &mut self,
        tokens: &[Token],
        bound: &Bound,
        depth: usize,
    ) -> Result<Vec<Token>, Error> {
        let mut written = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let next = tokens.get(at).map(|token| &token.kind);
            let Kind::Name(name) = &token.kind else {
                self.pay(bound, 1, token.offset)?;
                written.push(token.clone());
                continue;
            };
            if let Some(given) = bound.names.get(name) {
                self.pay(bound, given.len(), token.offset)?;
                written.extend_from_slice(given);
                continue;
            }
            let takes = self
                .definitions
                .get(name)
                .map(|statement| statement.takes.clone());
            let called = match (takes, next) {
                (Some(Takes::Names(names, _)), Some(Kind::Sign('{'))) => {
                    let given = self.given(tokens, &mut at, bound, depth)?;
                    if given.len() != names.len() {
                        let message = format!(
                            "the template {name:?} takes {} arguments, not {}",
                            names.len(),
                            given.len()
                        );
                        return Err(wrong(self.text, token.offset, &message)
                            .with_hint("each of its parameters wants one"));
                    }
                    let key = key(name, &given);
                    let bound = Bound {
                        names: names.into_iter().zip(given).collect(),
                        ..Bound::default()
                    };
                    self.called(name, bound, key)
                }
                (Some(Takes::Value), Some(Kind::Sign('§'))) => {
                    at += 1;
                    let value = values::value(self.text, tokens, &mut at, bound.value)?;
                    let bound = Bound {
                        value: Some(value),
                        ..Bound::default()
                    };
                    self.called(name, bound, format!("{name}::{value}"))
                }
                (Some(Takes::Names(..)), _) => {
                    return Err(wrong(
                        self.text,
                        token.offset,
                        &format!("the template {name:?} wants arguments"),
                    )
                    .with_hint("it is used as name{a, b}"));
                }
                (Some(Takes::Value), _) => {
                    return Err(wrong(
                        self.text,
                        token.offset,
                        &format!("the rule {name:?} wants a value"),
                    )
                    .with_hint(
                        "it is used as name::0, or name::_ for the value of the rule around it",
                    ));
                }
                (_, Some(Kind::Sign('§'))) => {
                    return Err(Error::grammar(
                        "E-GRAMMAR-UNDEFINED",
                        format!("there is no rule {name:?} that takes a value"),
                    )
                    .at(SourceLocation::in_text(self.text, token.offset))
                    .with_hint("such a rule is defined as name::_ : …"));
                }
                _ => name.clone(),
            };
            self.pay(bound, 1, token.offset)?;
            written.push(Token {
                kind: Kind::Name(called),
                ..token.clone()
            });
        }
        Ok(written)
    }

    /// Pays for tokens that are written once more; what is written once in any case is free.
    fn pay(&mut self, bound: &Bound, tokens: usize, offset: usize) -> Result<(), Error> {
        if bound.called.is_empty() {
            return Ok(());
        }
        let paid = self.fuel.spend(COPIED * tokens);
        paid.map_err(|error| error.at(SourceLocation::in_text(self.text, offset)))
    }

    /// The arguments of a template, each a group; `at` stands at the bracket before them.
    fn given(
        &mut self,
        tokens: &[Token],
        at: &mut usize,
        bound: &Bound,
        depth: usize,
    ) -> Result<Vec<Vec<Token>>, Error> {
        let open = tokens[*at].offset;
        check_nesting(self.text, self.limits, depth, open)?;
        *at += 1;
        let (mut begin, mut level) = (*at, 0usize);
        let mut given = Vec::new();
        loop {
            let Some(token) = tokens.get(*at) else {
                return Err(wrong(
                    self.text,
                    open,
                    "the arguments of the template are not closed",
                )
                .with_hint("close them with }"));
            };
            *at += 1;
            match token.kind {
                Kind::Sign('(' | '[' | '{') => level += 1,
                Kind::Sign('}' | ',') if level == 0 => {
                    let inside = &tokens[begin..*at - 1];
                    let mut argument = self.rewritten(inside, bound, depth + 1)?;
                    if argument.is_empty() {
                        return Err(wrong(
                            self.text,
                            token.offset,
                            "expected an argument of the template",
                        )
                        .with_hint("it is used as name{a, b}"));
                    }
                    if argument.len() > 1 {
                        argument.insert(0, sign('(', open));
                        argument.push(sign(')', open));
                    }
                    given.push(argument);
                    if token.kind == Kind::Sign('}') {
                        return Ok(given);
                    }
                    begin = *at;
                }
                Kind::Sign(')' | ']' | '}') => level = level.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// The alternatives whose conditions hold for a value.
    fn chosen(&self, tokens: Vec<Token>, value: Option<Value>) -> Result<Vec<Token>, Error> {
        if !tokens.iter().any(|token| is_condition(&token.kind)) {
            return Ok(tokens);
        }
        let mut groups = vec![Group::default()];
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let is_inside = groups.len() > 1;
            let group = groups.last_mut().expect("one is open");
            match &token.kind {
                kind if is_condition(kind) => {
                    if value.is_none() {
                        return Err(unsupported(
                            self.text,
                            token.offset,
                            "%if in a rule without a value is",
                        ));
                    }
                    group.fails |=
                        !values::condition(self.text, self.limits, &tokens, &mut at, value, 0)?;
                    if !matches!(
                        tokens.get(at).map(|token| &token.kind),
                        None | Some(Kind::Sign('|' | ')' | ']'))
                    ) {
                        return Err(wrong(
                            self.text,
                            tokens[at].offset,
                            "a condition ends its alternative",
                        )
                        .with_hint("it is written: alternative %if condition"));
                    }
                }
                Kind::Sign('|') => group.end(),
                Kind::Sign('(' | '[') => {
                    group.current.push(token.clone());
                    groups.push(Group::default());
                }
                Kind::Sign(')' | ']') if is_inside => {
                    let mut inner = groups.pop().expect("more than one is open");
                    inner.end();
                    let group = groups.last_mut().expect("one is open");
                    group.current.extend(inner.joined(token.offset));
                    group.current.push(token.clone());
                }
                _ => group.current.push(token.clone()),
            }
        }
        let mut written = Vec::new();
        // What is not closed is told of later.
        for mut group in groups {
            group.end();
            written.extend(group.joined(self.text.len()));
        }
        Ok(written)
    }
}

fn is_condition(kind: &Kind) -> bool {
    matches!(kind, Kind::Directive(name) if name == "if")
}

#[derive(Default)]
struct Group {
    kept: Vec<Vec<Token>>,
    current: Vec<Token>,
    /// Whether the condition of the current alternative fails.
    fails: bool,
}

impl Group {
    fn end(&mut self) {
        let current = std::mem::take(&mut self.current);
        if !std::mem::take(&mut self.fails) {
            self.kept.push(current);
        }
    }

    fn joined(self, offset: usize) -> Vec<Token> {
        let mut written = Vec::new();
        if self.kept.is_empty() {
            written.push(Token {
                kind: Kind::Nothing,
                offset,
                first: false,
            });
        }
        for (number, alternative) in self.kept.into_iter().enumerate() {
            if number > 0 {
                written.push(sign('|', offset));
            }
            written.extend(alternative);
        }
        written
    }
}

/// What tells apart the uses of a template.
fn key(name: &str, given: &[Vec<Token>]) -> String {
    let kinds: Vec<Vec<&Kind>> = (given.iter())
        .map(|tokens| tokens.iter().map(|token| &token.kind).collect())
        .collect();
    format!("{name}{kinds:?}")
}
