//! A grammar as a host holds it, read from a text in a notation that it names.

use std::sync::Arc;

use syntagma_engine::{Bound, caught};
use syntagma_grammar::ir::{self, Status};
use syntagma_grammar::json::Value;
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark, regex, xgrammar};

use crate::error::{Error, ErrorKind, diagnostic_members, reasons};
use crate::limits::Limits;
use crate::options::{Options, read_object};
use crate::schema::{one_of, schema_options};
use crate::strict::strict_schema;
use crate::tags::read_tag;
use crate::values::{object, text, tokens};

/// The notations that [`Grammar::read`] reads.
pub const NOTATIONS: [&str; 7] = [
    "ebnf",
    "gbnf",
    "json_schema",
    "lark",
    "regex",
    "structural_tag",
    "xgrammar",
];

/// A grammar with what matchers and reports need beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Grammar {
    /// The grammar itself.
    pub grammar: Arc<ir::Grammar>,
    /// The schema, if it was made from one alone.
    pub schema: Option<String>,
    /// What matchers keep labelled parts to.
    pub bounds: Vec<Bound>,
}

impl Grammar {
    /// Reads a text in a notation, one of [`NOTATIONS`]. `options` is empty or a JSON object.
    ///
    /// | notation | options beside `limits` |
    /// |---|---|
    /// | `json_schema` | those of Python's `Grammar.from_json_schema`; `strict`: close objects and tuples |
    /// | `regex` | `dialect`: `rust` or `ecma` |
    /// | `lark` | `start`; `imports`: texts by name |
    /// | `ebnf`, `gbnf`, `xgrammar` | `start` |
    /// | `structural_tag` | none; formats that need a vocabulary or a style are refused |
    ///
    /// Errors: `E-GRAMMAR-DIALECT` for an unknown notation, `E-ARGUMENT-TYPE`, `E-ARGUMENT-VALUE` and `E-SCHEMA-OPTION` for
    /// options, and those of the notation.
    pub fn read(notation: &str, source: &str, options: &str) -> Result<Self, Error> {
        let members = read_object(options)?;
        let mut given = Options::new(&members);
        let limits = Limits::within(&mut given)?.grammar;
        let start = |given: &mut Options<'_>, usual: &'static str| {
            given
                .text("start")
                .map(|start| start.unwrap_or(usual).to_owned())
        };
        match notation {
            "ebnf" => {
                let start = start(&mut given, "start")?;
                given.finish()?;
                Self::made(|| Ok(plain(ebnf::parse_with(source, &start, &[], &limits)?)))
            }
            "gbnf" => {
                let start = start(&mut given, "root")?;
                given.finish()?;
                Self::made(|| Ok(plain(gbnf::parse(source, &start, &limits)?)))
            }
            "xgrammar" => {
                let start = start(&mut given, "root")?;
                given.finish()?;
                Self::made(|| {
                    let (grammar, budgets) = xgrammar::parse_with_budgets(source, &start, &limits)?;
                    let budgets = budgets.into_iter();
                    let bounds = budgets.map(|budget| tokens(budget.label, budget.tokens));
                    Ok((grammar, None, bounds.collect()))
                })
            }
            "lark" => {
                let start = start(&mut given, "start")?;
                let imports = texts(&mut given, "imports")?;
                given.finish()?;
                let files: Vec<(&str, &str)> = (imports.iter())
                    .map(|(name, text)| (name.as_str(), text.as_str()))
                    .collect();
                Self::made(|| {
                    let (grammar, budgets) =
                        lark::parse_with(source, &start, &[], &files, &limits)?;
                    let budgets = budgets.into_iter();
                    let bounds = budgets.map(|budget| tokens(budget.label, budget.tokens));
                    Ok((grammar, None, bounds.collect()))
                })
            }
            "regex" => {
                let dialects = [
                    ("rust", regex::Dialect::Rust),
                    ("ecma", regex::Dialect::Ecma),
                ];
                let dialect = one_of(&mut given, "E-REGEX-DIALECT", "dialect", &dialects)?;
                let dialect = dialect.unwrap_or(regex::Dialect::Rust);
                given.finish()?;
                Self::made(|| {
                    let read = regex::parse(source, dialect, &limits)?;
                    Ok(plain(ir::Grammar::from_regex(read)))
                })
            }
            "json_schema" => {
                let (options, alone) = schema_options(&mut given)?;
                let is_strict = given.flag("strict")?.unwrap_or(false);
                given.finish()?;
                let source = if is_strict {
                    strict_schema(source, &limits)
                } else {
                    source.to_owned()
                };
                Self::made(|| {
                    let grammar = json_schema::parse(&source, &options, &limits)?;
                    let schema = alone.then_some(source);
                    Ok((grammar, schema, Vec::new()))
                })
            }
            "structural_tag" => {
                given.finish()?;
                let (grammar, bounds) = read_tag(source, &limits)?;
                Ok(Self {
                    grammar,
                    schema: None,
                    bounds,
                })
            }
            _ => Err(unknown(notation)),
        }
    }

    /// Runs a reader; a panic in it becomes an error.
    fn made(read: impl FnOnce() -> Result<Made, syntagma_engine::Error>) -> Result<Self, Error> {
        let (grammar, schema, bounds) = caught(read)?;
        let grammar = Arc::new(grammar);
        Ok(Self {
            grammar,
            schema,
            bounds,
        })
    }

    /// How much of its schemas it enforces, and warnings: a JSON object with the fields of Python's `Report`, and `warnings`
    /// with those of `GrammarWarning`.
    #[must_use]
    pub fn report_json(&self) -> String {
        let report = self.grammar.report();
        let warning = |said: &syntagma_grammar::Diagnostic| object(diagnostic_members(said));
        let status = match report.status() {
            Status::Exact => "exact",
            Status::Widened => "widened",
        };
        object([
            ("status", text(status)),
            ("pointers", reasons(&report.pointers)),
            ("schema", self.schema.as_deref().map_or(Value::Null, text)),
            (
                "warnings",
                Value::Array(self.grammar.warnings().iter().map(warning).collect()),
            ),
        ])
        .to_string()
    }
}

/// What a reader makes.
type Made = (ir::Grammar, Option<String>, Vec<Bound>);

fn plain(grammar: ir::Grammar) -> Made {
    (grammar, None, Vec::new())
}

fn texts(given: &mut Options<'_>, name: &'static str) -> Result<Vec<(String, String)>, Error> {
    let Some(members) = given.object(name)? else {
        return Ok(Vec::new());
    };
    let found = members.iter().map(|(key, value)| {
        let text = value.as_str().map(str::to_owned);
        text.map(|text| (key.clone(), text))
    });
    found.collect::<Option<_>>().ok_or_else(|| {
        let kind = (ErrorKind::ArgumentType, "E-ARGUMENT-TYPE");
        given.error(kind, name, &format!("{name} must be texts by name"))
    })
}

fn unknown(notation: &str) -> Error {
    let message = format!("there is no notation {notation:?}");
    let found = Error::new(ErrorKind::Argument, "E-GRAMMAR-DIALECT", message);
    found.with_hint(format!("it is one of {}", NOTATIONS.join(", ")))
}
