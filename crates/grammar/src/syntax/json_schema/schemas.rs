//! The state of one lowering: subschemas, what is known of them, and what could not be enforced.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value;

use super::formats;
use super::keywords::{self, Choice, Keywords, Pattern, Source};
use super::locations::{LocationId, Locations};
use super::matching;
use super::merge::{Conjunction, Demands};
use super::text::{self, Escaped};
use super::{Draft, Options};
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Limits;
use crate::syntax::regex::{self, Dialect};

/// A pattern in two readings: over the text itself, and over its spelling inside a JSON string.
#[derive(Debug, Clone)]
pub(super) struct Readings {
    /// Made when a text is first matched, which few schemas ask for.
    plain: Arc<OnceLock<Regex>>,
    pub(super) escaped: Regex,
    pattern: Arc<str>,
}

/// One lowering.
pub(super) struct Schemas<'d> {
    pub(super) locations: Locations<'d>,
    pub(super) draft: Draft,
    pub(super) options: Options,
    pub(super) limits: &'d Limits,
    /// What is not enforced.
    pub(super) report: IndexSet<(String, String), FxBuildHasher>,
    patterns: FxHashMap<String, Result<Readings, String>>,
    enum_values: usize,
    /// What conjunctions demand.
    pub(super) demands: FxHashMap<Conjunction, Rc<Demands>>,
    /// Conjunctions that were asked whether any value satisfies them.
    pub(super) impossible: FxHashMap<Conjunction, bool>,
    /// How deep a negation stands inside negations.
    pub(super) negations: u32,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(document: &'d Value, options: &Options, limits: &'d Limits) -> Self {
        Self {
            locations: Locations::new(document),
            draft: options.draft.unwrap_or_else(|| Draft::of(document)),
            options: options.clone(),
            limits,
            report: IndexSet::default(),
            patterns: FxHashMap::default(),
            enum_values: 0,
            demands: FxHashMap::default(),
            impossible: FxHashMap::default(),
            negations: 0,
        }
    }

    pub(super) fn pointer(&self, id: LocationId) -> String {
        self.locations.get(id).pointer.to_string()
    }

    /// Notes what is not enforced.
    pub(super) fn widen(&mut self, pointer: &str, reason: &str) {
        self.report.insert((pointer.to_owned(), reason.to_owned()));
    }

    /// What a subschema says.
    pub(super) fn keywords(&mut self, id: LocationId) -> Result<Rc<Keywords>, Error> {
        let location = self.locations.get(id);
        if let Some(keywords) = &location.keywords {
            return Ok(Rc::clone(keywords));
        }
        let pointer = Rc::clone(&location.pointer);
        let value = location.value.unwrap_or(&Value::Bool(true));
        let (mut keywords, pending) =
            keywords::read(&mut self.locations, self.draft, &pointer, value)?;
        if let Some(values) = &keywords.values {
            self.enum_values += values.len();
            let allowed = self.limits.schema_enum_values;
            if self.enum_values > allowed {
                let given = self.enum_values as u64;
                return Err(Error::limit(
                    "E-LIMIT-SCHEMA-ENUM",
                    "schema_enum_values",
                    given,
                    allowed as u64,
                ));
            }
        }
        if let Some(not) = pending.not {
            match self.negation(not)? {
                Some(negation) => keywords.includes.push(negation),
                None => {
                    keywords.widened.push((
                        format!("{pointer}/not"),
                        "this negation is not enforced".to_owned(),
                    ));
                }
            }
            keywords.only_reference = false;
        }
        if let Some((condition, then, otherwise)) = pending.condition {
            self.condition(&mut keywords, &pointer, condition, then, otherwise)?;
            keywords.only_reference = false;
        }
        let keywords = Rc::new(keywords);
        self.locations.set_keywords(id, Rc::clone(&keywords));
        Ok(keywords)
    }

    /// `if`, `then`, `else`: one of the two sides, each with its condition.
    fn condition(
        &mut self,
        keywords: &mut Keywords,
        pointer: &Rc<str>,
        condition: LocationId,
        then: Option<LocationId>,
        otherwise: Option<LocationId>,
    ) -> Result<(), Error> {
        let Some(negation) = self.negation(condition)? else {
            let reason = "the negation of this condition cannot be expressed".to_owned();
            keywords.widened.push((format!("{pointer}/if"), reason));
            return Ok(());
        };
        let holds = Keywords {
            includes: std::iter::once(condition).chain(then).collect(),
            ..Keywords::default()
        };
        let fails = Keywords {
            includes: std::iter::once(negation).chain(otherwise).collect(),
            ..Keywords::default()
        };
        let branches = vec![
            self.locations.made(pointer, holds),
            self.locations.made(pointer, fails),
        ];
        keywords.choices.push(Choice {
            branches,
            exclusive: false,
            pointer: format!("{pointer}/if").into(),
        });
        Ok(())
    }

    /// The readings of a pattern or format; Err(reason) where it cannot be enforced.
    pub(super) fn readings(
        &mut self,
        source: &Source,
        pointer: &str,
    ) -> Result<Result<Readings, String>, Error> {
        match source {
            Source::Pattern(pattern) => self.pattern(pattern, pointer),
            Source::Format(name) => Ok(Ok(format(name)?)),
        }
    }

    fn pattern(&mut self, pattern: &str, pointer: &str) -> Result<Result<Readings, String>, Error> {
        if let Some(known) = self.patterns.get(pattern) {
            return Ok(known.clone());
        }
        let readings = match Readings::new(pattern, self.limits) {
            Ok(readings) => Ok(readings),
            Err(error) if error.code() == "E-REGEX-UNSUPPORTED" => Err(error.message().to_owned()),
            Err(error) if error.code() == "E-REGEX-SYNTAX" => {
                let message = format!("{pattern:?}: {}", error.message());
                let place = (pointer.to_owned(), message.clone());
                return Err(Error::schema("E-SCHEMA-INVALID", message, vec![place])
                    .with_hint("patterns are regular expressions of ECMA-262"));
            }
            Err(error) => return Err(error),
        };
        self.patterns.insert(pattern.to_owned(), readings.clone());
        Ok(readings)
    }

    /// Whether a pattern is found in a name; None where it cannot be enforced.
    pub(super) fn pattern_matches(
        &mut self,
        pattern: &str,
        name: &str,
    ) -> Result<Option<bool>, Error> {
        let readings = self.pattern(pattern, "")?;
        Ok(readings.ok().map(|readings| readings.matches(name)))
    }

    /// What a string's characters must be for a pattern to hold, reporting one that cannot be enforced.
    pub(super) fn pattern_body(&mut self, pattern: &Pattern) -> Result<Option<Regex>, Error> {
        match self.readings(&pattern.source, &pattern.pointer)? {
            Ok(readings) if pattern.negated => Ok(Some(Regex::Not(readings.escaped.into()))),
            Ok(readings) => Ok(Some(readings.escaped)),
            Err(reason) => {
                self.widen(&pattern.pointer, &reason);
                Ok(None)
            }
        }
    }
}

/// The readings of a format, which every schema of a process shares.
fn format(name: &'static str) -> Result<Readings, Error> {
    static KNOWN: Mutex<BTreeMap<&str, Readings>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(readings) = known().get(name) {
        return Ok(readings.clone());
    }
    let pattern = format!("^(?:{})$", formats::pattern(name));
    let limits = Limits {
        regex_bytes: usize::MAX,
        ..Limits::default()
    };
    let readings = Readings::new(&pattern, &limits)?;
    known().insert(name, readings.clone());
    Ok(readings)
}

impl Readings {
    fn new(pattern: &str, limits: &Limits) -> Result<Self, Error> {
        static ANYTHING: LazyLock<Regex> =
            LazyLock::new(|| Regex::repeat(text::canonical_character(), 0, None));
        let escaped = regex::within(pattern, Dialect::Ecma, limits, &mut Escaped, &ANYTHING)?;
        Ok(Self {
            escaped,
            plain: Arc::default(),
            pattern: pattern.into(),
        })
    }

    /// Whether a text satisfies the pattern.
    pub(super) fn matches(&self, text: &str) -> bool {
        // What could be read once can be read again, so there is always a language here.
        let plain = self.plain.get_or_init(|| {
            let limits = Limits {
                regex_bytes: usize::MAX,
                regex_repetition: u32::MAX,
                regex_expansion: u64::MAX,
                ..Limits::default()
            };
            regex::ecma_search(&self.pattern, &limits).unwrap_or(Regex::Nothing)
        });
        matching::matches(plain, text.as_bytes())
    }
}
