//! Grammars in the Lark language, as the programs Lark and llguidance read them. `docs/reference/lark.md` lists what is
//! supported and where they differ.
//!
//! A source is split into words (`lexer`), files that it imports are joined to it (`files`), and what takes parameters is
//! written out (`expand`, `values`). Statements then become a syntax tree (`parser`). What a lazy terminal takes is taken
//! from those beside it (`commit`), which `places` finds.
//!
//! A name that begins with a capital letter is a terminal: it is regular, cannot be recursive, and nothing is ignored inside
//! it. Terminals are matched as the grammar says, not longest first: `/a+/ "a"` takes `aa`. Where the shortest match is
//! wanted, `lazy`, `suffix` or `stop` say so.

mod bounds;
mod commit;
mod common;
mod directives;
mod endings;
mod expand;
mod files;
mod ignored;
mod lexer;
mod longest;
mod nullable;
mod options;
mod parser;
mod places;
mod references;
mod statements;
mod values;

use std::sync::Arc;

pub use crate::syntax::rules::Budget;
pub use files::{Files, imported_files};

use files::Joined;

use crate::error::{Diagnostic, Error, SourceLocation};
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::syntax::rules;
use crate::tuning::MAX_NESTED_GRAMMARS;

/// Reads a grammar; `start` names the rule that everything must match.
///
/// # Errors
/// `E-GRAMMAR-SYNTAX`, `E-GRAMMAR-UNDEFINED`, `E-GRAMMAR-DUPLICATE`, `E-GRAMMAR-START`, `E-GRAMMAR-IRREGULAR`,
/// `E-GRAMMAR-UNSUPPORTED`, the codes of regular expressions and schemas, and `E-LIMIT-GRAMMAR-BYTES`,
/// `E-LIMIT-GRAMMAR-NESTING`, `E-LIMIT-GRAMMAR-ALTERNATIVES`, `E-LIMIT-REGEX-REPETITION`, `E-LIMIT-REGEX-EXPANSION`,
/// `E-LIMIT-FUEL` for terminals that stand in terminals too often; each with its place.
pub fn parse(text: &str, start: &str, limits: &Limits) -> Result<Grammar, Error> {
    parse_with(text, start, &[], &[], limits).map(|(grammar, _)| grammar)
}

/// As [`parse`]; `@name` in a rule, and a declared terminal, stands for the grammar of that name out of `grammars`, and
/// what is imported is read out of `files`. With it, the most tokens of parts that come once.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    text: &str,
    start: &str,
    grammars: &[(&str, Arc<Grammar>)],
    files: &Files<'_>,
    limits: &Limits,
) -> Result<(Grammar, Vec<Budget>), Error> {
    rules::check_size(text, limits)?;
    let mut joined = Joined::new(text);
    let read = joined.read(files, limits).and_then(|()| {
        let tokens = std::mem::take(&mut joined.tokens);
        read(&joined.text, tokens, start, grammars, limits, 0)
    });
    let (grammar, budgets) = read.map_err(|error| joined.placed(explained(&joined.text, error)))?;
    if !joined.is_several() {
        return Ok((grammar, budgets));
    }
    let warnings = grammar.warnings().iter().cloned();
    let warnings = warnings.map(|warning| joined.noted(warning)).collect();
    Ok((grammar.with_warnings(warnings), budgets))
}

/// Reads a grammar that lies in `depth` others.
fn read(
    text: &str,
    tokens: Vec<lexer::Token>,
    start: &str,
    grammars: &[(&str, Arc<Grammar>)],
    limits: &Limits,
    depth: usize,
) -> Result<(Grammar, Vec<Budget>), Error> {
    let tokens = expand::expand(text, tokens, limits)?;
    let source = statements::read(text, &tokens)?;
    let nested = |inner: &str| {
        let limit = ("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting");
        let allowed = limits.grammar_nesting.min(MAX_NESTED_GRAMMARS);
        Error::check_limit(limit, depth + 1, allowed)
            .map_err(|error| error.at(SourceLocation::in_text(inner, 0)))?;
        let tokens = lexer::tokens(inner)?;
        read(inner, tokens, "start", grammars, limits, depth + 1).map(|(grammar, _)| grammar)
    };
    let around = parser::Around {
        start,
        grammars,
        limits,
        nested: &nested,
        is_inside: depth > 0,
    };
    let (ast, budgets) = parser::parse(text, &source, &around)?;
    rules::check_once(text, &ast, &budgets, start, limits)?;
    let grammar = rules::lower(text, &ast, start, &[], limits)?;
    Ok((noted(text, &source, grammars, grammar), budgets))
}

/// The grammar with warnings of what was left out.
fn noted(
    text: &str,
    source: &statements::Source<'_>,
    grammars: &[(&str, Arc<Grammar>)],
    grammar: Grammar,
) -> Grammar {
    let mut notes = Vec::new();
    let priority = source
        .definitions
        .values()
        .find_map(|definition| definition.options.priority);
    if let Some(offset) = priority {
        let message = "priorities are left out: they say which reading of a text counts, and never which texts there are";
        let note = Diagnostic::new("W-GRAMMAR-PRIORITY", message)
            .with_hint("leave it out, or let no two terminals match the same text");
        notes.push((offset, note));
    }
    let temperature =
        (source.definitions.values()).find_map(|definition| definition.options.temperature);
    if let Some(offset) = temperature {
        let message = "temperatures are left out: they say how tokens are chosen, and never which texts there are";
        let note = Diagnostic::new("W-GRAMMAR-TEMPERATURE", message)
            .with_hint("set the temperature where the tokens are chosen");
        notes.push((offset, note));
    }
    for directive in source
        .directives
        .iter()
        .filter(|directive| directive.name == "declare")
    {
        for token in directive.body {
            if let lexer::Kind::Name(name) = &token.kind
                && !grammars.iter().any(|(known, _)| known == name)
            {
                let message = format!(
                    "the terminal {name:?} is declared and not given: alternatives that need it fall away"
                );
                let warning = Diagnostic::new("W-GRAMMAR-DECLARED", message);
                let hint = "give a grammar of its name: grammars={…}";
                notes.push((token.offset, warning.with_hint(hint)));
            }
        }
    }
    if notes.is_empty() {
        return grammar;
    }
    notes.sort_by_key(|&(offset, _)| offset);
    let notes =
        (notes.into_iter()).map(|(offset, note)| note.at(SourceLocation::in_text(text, offset)));
    let warnings = notes.chain(grammar.warnings().iter().cloned()).collect();
    grammar.with_warnings(warnings)
}

/// The same mistake, with the advice that its place asks for.
fn explained(text: &str, error: Error) -> Error {
    let Some(&SourceLocation::Text { offset, .. }) = error.location() else {
        return error;
    };
    let hint = match error.code() {
        "E-GRAMMAR-UNSUPPORTED" if text[offset..].starts_with("::=") => {
            "a rule is written: name: …".to_owned()
        }
        "E-GRAMMAR-SYNTAX" | "E-GRAMMAR-UNDEFINED" => match rules::class_around(text, offset) {
            Some(class) => format!("a class of characters is a pattern: /{class}/"),
            None => return error,
        },
        _ => return error,
    };
    error.with_hint(hint)
}
