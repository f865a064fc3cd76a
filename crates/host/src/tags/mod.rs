//! Structural tags: free text in which what begins with a trigger is held by a grammar.
//!
//! Formats mean what they mean in Python (`Grammar.from_structural_tag`). Read are those that need no vocabulary and no
//! style; what is not known, formats and fields alike, is refused by name, with a JSON pointer.

mod fields;

use std::collections::BTreeSet;
use std::sync::Arc;

use syntagma_engine::Bound;
use syntagma_grammar::ir::{self, text};
use syntagma_grammar::json::{Map, Value, read};
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, regex, xgrammar};
use syntagma_grammar::{Diagnostic, Error as GrammarError, Limits, SourceLocation};

use self::fields::{Fields, invalid, unsupported};
use crate::error::{Error, ErrorKind};
use crate::values::tokens;

/// Formats inside of formats, whatever the limits say, because reading them recurses.
const MAX_DEPTH: usize = 128;
/// How deep the JSON may be nested, schemas included.
const JSON_DEPTH: usize = 1_000;

/// The formats, and the fields that each may have beside its type.
const FORMATS: [(&str, &[&str]); 14] = [
    ("const_string", &["value"]),
    ("json_schema", &["json_schema", "style", "any_order"]),
    ("grammar", &["grammar"]),
    ("regex", &["pattern"]),
    ("any_text", &["excludes"]),
    ("sequence", &["elements"]),
    ("or", &["elements"]),
    ("optional", &["content"]),
    ("plus", &["content"]),
    ("star", &["content"]),
    ("repeat", &["min", "max", "content"]),
    ("tag", &["begin", "content", "end"]),
    (
        "triggered_tags",
        &[
            "triggers",
            "tags",
            "excludes",
            "at_least_one",
            "stop_after_first",
        ],
    ),
    (
        "tags_with_separator",
        &["tags", "separator", "at_least_one", "stop_after_first"],
    ),
];

type Grammar = Arc<ir::Grammar>;

/// Reads the JSON text of a tag, in the newer form (`format`) or the older one (`structures` and `triggers`).
pub(crate) fn read_tag(source: &str, limits: &Limits) -> Result<(Grammar, Vec<Bound>), Error> {
    if source.len() > limits.grammar_bytes {
        let (given, allowed) = (source.len() as u64, limits.grammar_bytes as u64);
        let code = "E-LIMIT-GRAMMAR-BYTES";
        return Err(GrammarError::limit(code, "grammar_bytes", given, allowed).into());
    }
    let value = read(source, JSON_DEPTH).map_err(|error| {
        let message = format!("the structural tag is not JSON: {error}");
        let place = SourceLocation::in_text(source, error.offset);
        let found = Diagnostic::new("E-GRAMMAR-STRUCTURAL-TAG", message).at(place);
        Error::of(ErrorKind::Grammar, found)
    })?;
    let mut whole = &value;
    let members = loop {
        let Value::Object(members) = whole else {
            return Err(invalid("a structural tag is an object", ""));
        };
        let named = members.get("type").and_then(Value::as_str) == Some("structural_tag");
        // As requests for tools have it.
        match members.get("structural_tag").filter(|_| named) {
            Some(Value::String(text)) => return read_tag(text, limits),
            Some(inner @ Value::Object(_)) => whole = inner,
            _ => break members,
        }
    };
    let mut reader = Reader {
        limits,
        found: 0,
        bounds: Vec::new(),
    };
    let start = Here::default();
    let kind = members.get("type").and_then(Value::as_str);
    let grammar = if members.contains_key("structures") {
        reader.older(members)?
    } else if kind.is_some_and(|kind| kind != "structural_tag") {
        // A format stands for itself.
        reader.format(whole, &start)?
    } else {
        let format = members.get("format").ok_or_else(|| {
            invalid("a structural tag has a format", "")
                .with_hint("the older form has \"structures\" and \"triggers\"")
        })?;
        reader.format(format, &start.at("format"))?
    };
    Ok((grammar, reader.bounds))
}

/// Where a format stands.
#[derive(Clone, Default)]
struct Here {
    pointer: String,
    /// The texts that end the enclosing tag.
    ends: Vec<String>,
    /// Formats around it.
    depth: usize,
}

impl Here {
    fn at(&self, place: &str) -> Self {
        Self {
            pointer: format!("{}/{place}", self.pointer),
            ..self.clone()
        }
    }

    fn inside(&self, place: &str) -> Self {
        Self {
            depth: self.depth + 1,
            ..self.at(place)
        }
    }

    fn closed_by(self, ends: Vec<String>) -> Self {
        Self { ends, ..self }
    }
}

/// Reads formats. Free text inside of a tag holds none of the texts that end the tag.
struct Reader<'l> {
    limits: &'l Limits,
    found: usize,
    bounds: Vec<Bound>,
}

impl Reader<'_> {
    fn older(&mut self, members: &Map) -> Result<Grammar, Error> {
        let fields = Fields {
            members,
            pointer: "",
        };
        let mut tags = Vec::new();
        for (at, structure) in fields.members("structures")?.iter().enumerate() {
            let Value::Object(structure) = structure else {
                let place = format!("/structures/{at}");
                return Err(invalid("a structure is an object", &place));
            };
            let schema = structure.get("schema").cloned();
            let schema = match schema.unwrap_or_else(|| object([])) {
                Value::String(text) => read(&text, JSON_DEPTH).map_err(|error| {
                    let message = format!("the schema is not JSON: {error}");
                    invalid(&message, &format!("/structures/{at}/schema"))
                })?,
                schema => schema,
            };
            let content = [("type", text_value("json_schema")), ("json_schema", schema)];
            let field = |name: &str| structure.get(name).cloned().unwrap_or(Value::Null);
            tags.push(object([
                ("begin", field("begin")),
                ("content", object(content)),
                ("end", field("end")),
            ]));
        }
        let triggers = members.get("triggers").cloned().unwrap_or(Value::Null);
        let whole = object([("triggers", triggers), ("tags", Value::Array(tags))]);
        let Value::Object(members) = &whole else {
            return Err(invalid("a structural tag is an object", ""));
        };
        let fields = Fields {
            members,
            pointer: "",
        };
        self.triggered_tags(&fields, "structures", &Here::default())
    }

    /// Counts a format, and refuses one too many, or too deep.
    fn count(&mut self, here: &Here) -> Result<(), Error> {
        self.found += 1;
        let bounds = [
            (
                here.depth + 1,
                self.limits.grammar_nesting.min(MAX_DEPTH),
                "E-LIMIT-GRAMMAR-NESTING",
                "grammar_nesting",
            ),
            (
                self.found,
                self.limits.grammar_alternatives,
                "E-LIMIT-GRAMMAR-ALTERNATIVES",
                "grammar_alternatives",
            ),
        ];
        for (given, allowed, code, limit) in bounds {
            if given > allowed {
                let found = GrammarError::limit(code, limit, given as u64, allowed as u64);
                return Err(Error::from(found).at_pointer(&here.pointer));
            }
        }
        Ok(())
    }

    fn format(&mut self, value: &Value, here: &Here) -> Result<Grammar, Error> {
        self.count(here)?;
        let Value::Object(members) = value else {
            return Err(invalid("a format is an object", &here.pointer));
        };
        let kind = members.get("type").and_then(Value::as_str);
        self.of_kind(kind.unwrap_or_default(), members, here)
    }

    fn of_kind(&mut self, kind: &str, members: &Map, here: &Here) -> Result<Grammar, Error> {
        let known = FORMATS.iter().find(|(name, _)| *name == kind);
        let Some((_, known)) = known else {
            let names: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
            let shown = members
                .get("type")
                .map_or_else(|| "null".to_owned(), ToString::to_string);
            let message = format!("the format {shown} is not read here");
            return Err(
                unsupported(&message, &format!("{}/type", here.pointer)).with_hint(format!(
                    "known are: {}; Python reads all of them, and saves the grammar",
                    names.join(", ")
                )),
            );
        };
        let fields = Fields {
            members,
            pointer: &here.pointer,
        };
        if let Some(field) = members
            .keys()
            .find(|field| *field != "type" && !known.contains(&field.as_str()))
        {
            let message = format!("the format {kind} has no field {field:?} here");
            return Err(unsupported(&message, &fields.at(field))
                .with_hint(format!("known are: {}", known.join(", "))));
        }
        match kind {
            "const_string" => Ok(marker(fields.text("value")?)),
            "json_schema" => self.json_schema(&fields),
            "grammar" => {
                let source = fields.source("grammar")?;
                let (read, bounds) = self
                    .grammar(source)
                    .map_err(|error| error.placed(&fields.at("grammar")))?;
                self.bounds.extend(bounds);
                Ok(read)
            }
            "regex" => {
                let pattern = fields.source("pattern")?;
                let read = regex::parse(pattern, regex::Dialect::Rust, self.limits);
                placed(read.map(ir::Grammar::from_regex), &fields.at("pattern"))
            }
            "any_text" => Ok(free(&fields.some_texts("excludes")?, &here.ends)),
            "sequence" | "or" => {
                let mut parts = Vec::new();
                for (at, part) in fields.members("elements")?.iter().enumerate() {
                    parts.push(self.format(part, &here.inside(&format!("elements/{at}")))?);
                }
                Ok(if kind == "or" {
                    union(&parts)
                } else {
                    concat(&parts)
                })
            }
            "tag" => self.tag(&fields, here),
            "triggered_tags" => self.triggered_tags(&fields, "tags", here),
            "tags_with_separator" => self.tags_with_separator(&fields, here),
            _ => self.repeated(kind, &fields, here),
        }
    }

    fn json_schema(&self, fields: &Fields<'_>) -> Result<Grammar, Error> {
        if let Some(style) = fields
            .get("style")
            .filter(|style| style.as_str() != Some("json"))
        {
            let message = format!("the style {style} is not known here");
            return Err(unsupported(&message, &fields.at("style")).with_hint(
                "styles need the formats of models: read the tag in Python, and save the grammar",
            ));
        }
        let place = fields.at("json_schema");
        let schema = (fields.members.get("json_schema"))
            .filter(|schema| schema.is_object() || schema.is_boolean())
            .ok_or_else(|| invalid("a schema is an object, true or false", &place))?;
        let mut options = json_schema::Options::default();
        if fields.flag("any_order")? {
            options.order = json_schema::Order::Any;
        }
        placed(
            json_schema::parse(&schema.to_string(), &options, self.limits),
            &place,
        )
    }

    /// Rules in xgrammar's language, or in GBNF, of which it is a dialect.
    fn grammar(&self, source: &str) -> Result<(Grammar, Vec<Bound>), Error> {
        let first = match xgrammar::parse_with_budgets(source, "root", self.limits) {
            Ok((read, budgets)) => {
                let bounds = budgets
                    .into_iter()
                    .map(|budget| tokens(budget.label, budget.tokens));
                return Ok((Arc::new(read), bounds.collect()));
            }
            Err(error) => error,
        };
        match gbnf::parse(source, "root", self.limits) {
            Ok(read) => Ok((Arc::new(read), Vec::new())),
            // A mistake beyond syntax says that the notation is the right one.
            Err(second)
                if first.code() == "E-GRAMMAR-SYNTAX"
                    && (second.code() != "E-GRAMMAR-SYNTAX"
                        || offset(&second) > offset(&first)) =>
            {
                Err(second.into())
            }
            Err(_) => Err(first.into()),
        }
    }

    fn repeated(&mut self, kind: &str, fields: &Fields<'_>, here: &Here) -> Result<Grammar, Error> {
        let content = fields.members.get("content").unwrap_or(&Value::Null);
        let inner = self.format(content, &here.inside("content"))?;
        let (min, max) = match kind {
            "optional" => (0, Some(1)),
            "plus" => (1, None),
            "star" => (0, None),
            _ => {
                let number = |field| match fields.get(field) {
                    Some(Value::Number(number)) => number.as_str().parse::<i32>().ok(),
                    _ => None,
                };
                match (number("min").map(u32::try_from), number("max")) {
                    (Some(Ok(min)), Some(-1)) => (min, None),
                    (Some(Ok(min)), Some(max)) if max >= min.cast_signed() => {
                        (min, Some(max.cast_unsigned()))
                    }
                    _ => {
                        let message = "min and max are numbers in order; max -1 means no limit";
                        return Err(invalid(message, &here.pointer));
                    }
                }
            }
        };
        let (most, allowed) = (max.unwrap_or(min).max(min), self.limits.regex_repetition);
        if most > allowed {
            let code = "E-LIMIT-REGEX-REPETITION";
            let found = GrammarError::limit(code, "regex_repetition", most.into(), allowed.into());
            return Err(Error::from(found).at_pointer(&here.pointer));
        }
        Ok(Arc::new(ir::Grammar::repeat(&inner, min, max, None)))
    }

    fn tag(&mut self, fields: &Fields<'_>, here: &Here) -> Result<Grammar, Error> {
        let begin = marker(fields.text("begin")?);
        let ends = match fields.members.get("end") {
            Some(Value::Array(ends)) if !ends.is_empty() => {
                ends.iter().map(Value::as_str).collect()
            }
            end => end.and_then(Value::as_str).map(|end| vec![end]),
        };
        let ends = ends.ok_or_else(|| invalid("what ends a tag is text", &fields.at("end")))?;
        let content = fields.members.get("content").unwrap_or(&Value::Null);
        if ends.iter().all(|end| end.is_empty()) && is_free(content) {
            return Err(
                invalid("nothing ends the free text in the tag", &fields.at("end"))
                    .with_hint("give the tag an end"),
            );
        }
        let closing: Vec<Grammar> = ends.iter().map(|end| marker(end)).collect();
        let texts = ends
            .into_iter()
            .filter(|end| !end.is_empty())
            .map(str::to_owned);
        let inside = here.inside("content").closed_by(texts.collect());
        let content = self.format(content, &inside)?;
        Ok(concat(&[begin, content, union(&closing)]))
    }

    fn typed_tag(&mut self, tag: &Value, here: &Here) -> Result<Grammar, Error> {
        let members = tag.as_object().filter(|tag| {
            let kind = tag.get("type");
            kind.is_none_or(|kind| kind.as_str() == Some("tag"))
        });
        let members = members.ok_or_else(|| invalid("expected a tag here", &here.pointer))?;
        self.count(here)?;
        self.of_kind("tag", members, &here.clone().closed_by(Vec::new()))
    }

    fn triggered_tags(
        &mut self,
        fields: &Fields<'_>,
        place: &str,
        here: &Here,
    ) -> Result<Grammar, Error> {
        let triggers = fields.texts("triggers")?;
        let excludes = fields.some_texts("excludes")?;
        let mut tags: Vec<(&str, Grammar)> = Vec::new();
        for (at, tag) in fields.members("tags")?.iter().enumerate() {
            let begin = tag.get("begin").and_then(Value::as_str).unwrap_or_default();
            let triggered: BTreeSet<&str> = (triggers.iter().copied())
                .filter(|trigger| begin.starts_with(trigger))
                .collect();
            let triggered: Vec<&str> = triggered.into_iter().collect();
            let [trigger] = triggered[..] else {
                let message = "the text that begins the tag does not begin with one trigger alone";
                return Err(
                    invalid(message, &format!("{}/{place}/{at}/begin", here.pointer))
                        .with_hint(format!("triggers are: {}", triggers.join(", "))),
                );
            };
            tags.push((
                trigger,
                self.typed_tag(tag, &here.inside(&format!("{place}/{at}")))?,
            ));
        }
        let ends = here.ends.iter().map(String::as_str);
        let others: Vec<&str> = excludes.iter().copied().chain(ends).collect();
        let called = self.called(&tags, &triggers, &others)?;
        let without: Vec<&str> = triggers.iter().chain(&excludes).copied().collect();
        let last = free(&without, &here.ends);
        let grammars: Vec<Grammar> = tags.into_iter().map(|(_, tag)| tag).collect();
        let (tag, once) = (union(&grammars), fields.flag("stop_after_first")?);
        Ok(match (fields.flag("at_least_one")?, once) {
            (true, true) => tag,
            (true, false) => concat(&[tag, any_number(&called), last]),
            (false, true) => union(&[called, last]),
            (false, false) => concat(&[any_number(&called), last]),
        })
    }

    /// Free text, and what begins with one of the triggers, which comes before any other text that may end there.
    fn called(
        &self,
        tags: &[(&str, Grammar)],
        triggers: &[&str],
        others: &[&str],
    ) -> Result<Grammar, Error> {
        let without: Vec<&str> = triggers.iter().chain(others).copied().collect();
        let mut groups: Vec<(Vec<&str>, Vec<Grammar>)> = Vec::new();
        for (trigger, tag) in tags {
            let early = early(trigger, &without);
            match groups.iter_mut().find(|(known, _)| *known == early) {
                Some((_, same)) => same.push(Arc::clone(tag)),
                None => groups.push((early, vec![Arc::clone(tag)])),
            }
        }
        let mut ways = Vec::new();
        for (early, same) in groups {
            let before = if !early.is_empty() && triggers.len() > 1 {
                let source = format!(
                    "start ::= except!({}) & ~(any! ({})) ;",
                    quoted(&without),
                    quoted(&early)
                );
                Arc::new(ebnf::parse_with(&source, "start", &[], self.limits)?)
            } else {
                let closer = triggers.first().copied().filter(|_| triggers.len() == 1);
                of_regex(text::free_text(&without, closer))
            };
            ways.push(concat(&[before, union(&same)]));
        }
        Ok(union(&ways))
    }

    fn tags_with_separator(&mut self, fields: &Fields<'_>, here: &Here) -> Result<Grammar, Error> {
        let mut tags = Vec::new();
        for (at, tag) in fields.members("tags")?.iter().enumerate() {
            tags.push(self.typed_tag(tag, &here.inside(&format!("tags/{at}")))?);
        }
        let separator = marker(fields.text("separator")?);
        let least = u32::from(fields.flag("at_least_one")?);
        let most = fields.flag("stop_after_first")?.then_some(1);
        let repeated = ir::Grammar::repeat(&union(&tags), least, most, Some(&separator));
        Ok(Arc::new(repeated))
    }
}

fn offset(error: &GrammarError) -> usize {
    match error.location() {
        Some(SourceLocation::Text { offset, .. }) => *offset,
        _ => 0,
    }
}

/// A part that was read, whose pointers begin with its place.
fn placed(read: Result<ir::Grammar, GrammarError>, place: &str) -> Result<Grammar, Error> {
    match read {
        Ok(read) => Ok(Arc::new(read.with_pointer_prefix(place))),
        Err(error) => Err(Error::from(error).placed(place)),
    }
}

/// Text that is a special token where the vocabulary has one of it.
fn marker(text: &str) -> Grammar {
    if text.is_empty() {
        of_regex(ir::Regex::literal(b""))
    } else {
        Arc::new(ir::Grammar::from_marker(text))
    }
}

fn of_regex(regex: ir::Regex) -> Grammar {
    Arc::new(ir::Grammar::from_regex(regex))
}

fn union(parts: &[Grammar]) -> Grammar {
    Arc::new(ir::Grammar::union(parts))
}

fn concat(parts: &[Grammar]) -> Grammar {
    Arc::new(ir::Grammar::concat(parts))
}

fn any_number(of: &Grammar) -> Grammar {
    Arc::new(ir::Grammar::repeat(of, 0, None, None))
}

/// Text up to the end of the enclosing tag.
fn free(excludes: &[&str], ends: &[String]) -> Grammar {
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let closer = ends.first().copied().filter(|_| ends.len() == 1);
    let without: Vec<&str> = excludes.iter().chain(&ends).copied().collect();
    of_regex(text::free_text(&without, closer))
}

/// Whether a format is free text that nothing bounds.
fn is_free(content: &Value) -> bool {
    let kind = content.get("type").and_then(Value::as_str);
    let bounded = ["excludes", "stop_after_first"].iter().any(|field| {
        content.get(field).is_some_and(|value| match value {
            Value::Array(listed) => !listed.is_empty(),
            value => *value == Value::Bool(true),
        })
    });
    matches!(kind, Some("any_text" | "triggered_tags")) && !bounded
}

/// The ends of a free text after which another text would be whole before the trigger is, or with it and longer.
fn early<'t>(trigger: &str, others: &[&'t str]) -> Vec<&'t str> {
    let mut found = Vec::new();
    for other in others {
        for (at, _) in other.char_indices().skip(1) {
            if trigger.starts_with(&other[at..]) && !found.contains(&&other[..at]) {
                found.push(&other[..at]);
            }
        }
    }
    found
}

/// Texts as EBNF writes a choice of them.
fn quoted(texts: &[&str]) -> String {
    let quote = |text: &&str| {
        let codes = text
            .chars()
            .map(|one| format!("\\u{{{:X}}}", u32::from(one)));
        format!("\"{}\"", codes.collect::<String>())
    };
    texts.iter().map(quote).collect::<Vec<_>>().join(" | ")
}

fn text_value(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}
