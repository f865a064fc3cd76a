//! `%import`, `%ignore` and what `%regex` holds.

use crate::json::{self, Value};

use super::common::common;
use super::lexer::{Kind, Token, unsupported};
use super::statements::{Directive, Source};
use crate::error::{Error, SourceLocation};
use crate::limits::Limits;
use crate::maps::SeededIndexMap;
use crate::tuning::{MAX_DIRECTIVE_NESTING, MAX_SUBSTRING_CHUNKS};

/// What the directives of a source say.
#[derive(Debug, Default)]
pub(super) struct Directives<'s> {
    /// (name here, pattern, offset)
    pub(super) imports: Vec<(&'s str, String, usize)>,
    /// What each `%ignore` says.
    pub(super) ignored: Vec<&'s [Token]>,
    /// Whether what is ignored is one text and not any number of them.
    pub(super) ignores_once: bool,
    /// Terminals that are defined elsewhere, each with its offset.
    pub(super) declared: SeededIndexMap<&'s str, usize>,
}

/// Options of the grammar that change nothing here: forcing is the caller's matter, and what is ignored may stand before
/// a text in any case.
const WITHOUT_EFFECT: [&str; 2] = ["no_forcing", "allow_initial_skip"];

/// `%llguidance {…}`
fn options(
    text: &str,
    directive: &Directive<'_>,
    directives: &mut Directives<'_>,
) -> Result<(), Error> {
    let written = match directive.body {
        [
            Token {
                kind: Kind::Json(written),
                ..
            },
        ] => json::read(written, MAX_DIRECTIVE_NESTING).ok(),
        _ => None,
    };
    let Some(options) = written.as_ref().and_then(Value::as_object) else {
        return Err(wrong(text, directive.offset, "the options cannot be read")
            .with_hint("options are a JSON object, which ends with its line: %llguidance {}"));
    };
    for (name, value) in options {
        match (name.as_str(), value) {
            (name, Value::Bool(_)) if WITHOUT_EFFECT.contains(&name) => {}
            ("ignore_once", Value::Bool(once)) => directives.ignores_once = *once,
            ("allow_invalid_utf8", Value::Bool(false)) => {}
            _ => {
                let what = format!("the option {name:?} of the grammar, as it is given, is");
                return Err(unsupported(text, directive.offset, &what));
            }
        }
    }
    Ok(())
}

/// Reads all directives.
pub(super) fn read<'s>(text: &str, source: &Source<'s>) -> Result<Directives<'s>, Error> {
    let mut directives = Directives::default();
    for directive in &source.directives {
        match directive.name {
            "import" => import(text, directive, &mut directives.imports)?,
            "ignore" if directive.body.is_empty() => {
                return Err(wrong(text, directive.offset, "nothing to ignore is named")
                    .with_hint("it is written %ignore NAME or %ignore /pattern/"));
            }
            "ignore" => directives.ignored.push(directive.body),
            "llguidance" => options(text, directive, &mut directives)?,
            "declare" => {
                for token in directive.body {
                    let Kind::Name(name) = &token.kind else {
                        return Err(wrong(text, token.offset, "expected a name")
                            .with_hint("terminals are declared as %declare A B"));
                    };
                    directives.declared.insert(name, token.offset);
                }
            }
            name => {
                return Err(unsupported(
                    text,
                    directive.offset,
                    &format!("the directive %{name} is"),
                )
                .with_hint("known are %import, %ignore, %declare, %extend, %override, %json, %regex, %lark, %llguidance"));
            }
        }
    }
    Ok(directives)
}

fn wrong(text: &str, offset: usize, message: &str) -> Error {
    Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(text, offset))
}

/// `%import common.INT`, `%import common.INT -> NUMBER`, `%import common (INT, WS)`
fn import<'s>(
    text: &str,
    directive: &Directive<'s>,
    imports: &mut Vec<(&'s str, String, usize)>,
) -> Result<(), Error> {
    let hint = "imports are written %import common.INT, %import common.INT -> NUMBER or %import common (INT, WS)";
    let kinds: Vec<&Kind> = directive.body.iter().map(|token| &token.kind).collect();
    let mut add = |name: &'s str, alias: &'s str, offset: usize| match common(name) {
        Some(pattern) => {
            imports.push((alias, pattern, offset));
            Ok(())
        }
        None => Err(Error::grammar(
            "E-GRAMMAR-UNDEFINED",
            format!("the common library has no terminal {name:?}"),
        )
        .at(SourceLocation::in_text(text, offset))
        .with_hint("it has INT, NUMBER, WORD, CNAME, WS, ESCAPED_STRING and others")),
    };
    match kinds[..] {
        [Kind::Name(library), ..] if library != "common" => Err(unsupported(
            text,
            directive.offset,
            &format!("an import of {library:?} is"),
        )
        .with_hint("common can be imported, and files of a folder: %import .file.NAME")),
        [Kind::Name(_), Kind::Sign('.'), Kind::Name(name)] => {
            add(name, name, directive.body[2].offset)
        }
        [
            Kind::Name(_),
            Kind::Sign('.'),
            Kind::Name(name),
            Kind::Arrow,
            Kind::Name(alias),
        ] => add(name, alias, directive.body[2].offset),
        [
            Kind::Name(_),
            Kind::Sign('('),
            ref names @ ..,
            Kind::Sign(')'),
        ] => {
            for (at, kind) in names.iter().enumerate() {
                let offset = directive.body[at + 2].offset;
                match kind {
                    Kind::Name(name) if at % 2 == 0 => add(name, name, offset)?,
                    Kind::Sign(',') if at % 2 == 1 => {}
                    _ => {
                        return Err(wrong(text, offset, "expected a list of names").with_hint(hint));
                    }
                }
            }
            Ok(())
        }
        _ => Err(wrong(text, directive.offset, "the import cannot be read").with_hint(hint)),
    }
}

/// The chunks of `%regex {"substring_…": …}`.
pub(super) fn substring_chunks(
    text: &str,
    written: &str,
    offset: usize,
    limits: &Limits,
) -> Result<Vec<String>, Error> {
    let hint = r#"known are {"substring_words": "…"}, {"substring_chars": "…"} and {"substring_chunks": ["…"]}"#;
    let value = json::read(written, MAX_DIRECTIVE_NESTING)
        .map_err(|error| wrong(text, offset, &format!("no JSON: {error}")).with_hint(hint))?;
    let only = value.as_object().filter(|object| object.len() == 1);
    let entry = only.and_then(|object| object.iter().next());
    let chunks: Option<Vec<String>> = match entry.map(|(key, value)| (key.as_str(), value)) {
        Some(("substring_chunks", Value::Array(chunks))) => chunks
            .iter()
            .map(|chunk| chunk.as_str().map(str::to_owned))
            .collect(),
        Some(("substring_chars", Value::String(text))) => {
            Some(text.chars().map(String::from).collect())
        }
        Some(("substring_words", Value::String(text))) => Some(words(text)),
        _ => None,
    };
    let Some(chunks) = chunks else {
        return Err(unsupported(text, offset, "this %regex is").with_hint(hint));
    };
    let allowed = MAX_SUBSTRING_CHUNKS.min(limits.grammar_nesting);
    let limit = ("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting");
    Error::check_limit(limit, chunks.len(), allowed)
        .map_err(|error| error.at(SourceLocation::in_text(text, offset)))?;
    Ok(chunks)
}

/// Words, and every character between them.
fn words(text: &str) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let part = c.is_alphanumeric() || c == '_';
        match chunks.last_mut() {
            Some(word) if part && in_word => word.push(c),
            _ => chunks.push(c.to_string()),
        }
        in_word = part;
    }
    chunks
}
