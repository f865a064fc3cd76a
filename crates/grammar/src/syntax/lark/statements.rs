//! Tokens to statements: rules, terminals and directives, each with the tokens that belong to it.

use super::lexer::{Kind, Token};
use super::options::{Options, read_options};
use crate::error::{Error, SourceLocation};
use crate::maps::SeededIndexMap;
use crate::syntax::rules::duplicate;
use crate::tuning::OPTION_WORDS;

/// A rule or terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition<'s> {
    pub(super) offset: usize,
    pub(super) options: Options<'s>,
    /// What stands after the colon.
    pub(super) body: &'s [Token],
}

impl Definition<'_> {
    /// How what it matches is written.
    pub(super) fn written(&self) -> String {
        let end = self.options.suffix.or(self.options.stop);
        let kinds = self.body.iter().chain(end);
        let written = kinds.map(|token| format!("{:?} ", token.kind));
        format!("{} {}", end.is_some(), written.collect::<String>())
    }
}

/// A directive with what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive<'s> {
    pub(super) name: &'s str,
    pub(super) offset: usize,
    pub(super) body: &'s [Token],
}

/// A whole source.
#[derive(Debug, Default)]
pub(super) struct Source<'s> {
    pub(super) definitions: SeededIndexMap<&'s str, Definition<'s>>,
    pub(super) directives: Vec<Directive<'s>>,
}

/// Whether a name is a terminal's.
pub(super) fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_')
        .starts_with(|c: char| c.is_ascii_uppercase())
}

/// A statement begins here: a directive, or a name with a colon after it.
pub(super) fn begins(tokens: &[Token]) -> bool {
    let Some(token) = tokens.first() else {
        return true;
    };
    match &token.kind {
        // These stand inside expressions.
        Kind::Directive(name) => !matches!(name.as_str(), "json" | "regex" | "lark" | "if"),
        Kind::Sign('?' | '!') if token.first => begins_named(&tokens[1..]),
        Kind::Name(_) => begins_named(tokens),
        _ => false,
    }
}

/// Errors: `E-GRAMMAR-SYNTAX`, no statement begins here.
pub(super) fn expect_statement(text: &str, tokens: &[Token]) -> Result<(), Error> {
    if begins(tokens) {
        return Ok(());
    }
    Err(wrong(text, tokens[0].offset, "expected a rule").with_hint("a rule is written: name: …"))
}

fn begins_named(tokens: &[Token]) -> bool {
    let Some(Kind::Name(_)) = tokens.first().map(|token| &token.kind) else {
        return false;
    };
    let kind = |at: usize| tokens.get(at).map(|token| &token.kind);
    match kind(1) {
        Some(Kind::Sign(':')) => true,
        Some(Kind::Sign('.')) => {
            let number = 2 + usize::from(kind(2) == Some(&Kind::Sign('-')));
            matches!(kind(number), Some(Kind::Number(_)))
                && matches!(kind(number + 1), Some(Kind::Sign(':' | '[')))
        }
        Some(Kind::Sign('§')) => tokens[0].first,
        Some(Kind::Sign(open @ ('[' | '{'))) if tokens[0].first => {
            let close = if *open == '[' { ']' } else { '}' };
            let end = tokens
                .iter()
                .take(OPTION_WORDS)
                .position(|token| token.kind == Kind::Sign(close));
            end.is_some_and(|end| matches!(kind(end + 1), Some(Kind::Sign(':' | '[' | '.'))))
        }
        _ => false,
    }
}

pub(super) fn wrong(text: &str, offset: usize, message: &str) -> Error {
    Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(text, offset))
}

/// Splits a source.
pub(super) fn read<'s>(text: &'s str, tokens: &'s [Token]) -> Result<Source<'s>, Error> {
    let mut source = Source::default();
    let mut at = 0;
    while at < tokens.len() {
        let begin = at;
        expect_statement(text, &tokens[at..])?;
        if let Kind::Directive(name) = &tokens[at].kind {
            at += 1;
            // A directive ends with its line, save inside brackets.
            let mut depth = 0usize;
            while let Some(token) = tokens.get(at).filter(|token| depth > 0 || !token.first) {
                match token.kind {
                    Kind::Sign('(') => depth += 1,
                    Kind::Sign(')') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
            source.directives.push(Directive {
                name,
                offset: tokens[begin].offset,
                body: &tokens[begin + 1..at],
            });
            continue;
        }
        at += usize::from(!matches!(tokens[at].kind, Kind::Name(_)));
        let Kind::Name(name) = &tokens[at].kind else {
            return Err(wrong(text, tokens[at].offset, "expected a name")
                .with_hint("a rule is written: name: …"));
        };
        let offset = tokens[at].offset;
        at += 1;
        let options = read_options(text, tokens, &mut at)?;
        let body_start = at;
        // A name right after the colon is of the body, as in `a: b: …`, which is refused there.
        while at < tokens.len() && (at == body_start && !tokens[at].first || !begins(&tokens[at..]))
        {
            at += 1;
        }
        if let Some(first) = source.definitions.get(name.as_str()) {
            return Err(duplicate(text, name, offset, first.offset));
        }
        source.definitions.insert(
            name,
            Definition {
                offset,
                options,
                body: &tokens[body_start..at],
            },
        );
    }
    Ok(source)
}

/// The rule without what is ignored before it. No name of a source has a space.
pub(super) fn inner_name(name: &str) -> String {
    format!("{name} inside")
}
