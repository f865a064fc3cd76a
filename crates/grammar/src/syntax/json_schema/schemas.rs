//! The state of one lowering: subschemas, what is known of them, and what could not be enforced.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::json::Value;

use super::cycles::Cycles;
use super::demands::{Conjunction, Demands};
use super::formats;
use super::keywords::LocationId;
use super::keywords::{Keywords, Pattern, Source};
use super::locations::Locations;
use super::metaschemas::Bundled;
use super::notation::Notation;
use super::options::{Draft, Options};
use super::pointers::{pay_for_beginnings, pay_for_pointers};
use super::reader::read as keywords_of;
use super::text::Escaped;
use crate::error::{Error, SourceLocation, shown};
use crate::ir::{Matcher, Regex};
use crate::limits::{Fuel, Limits};
use crate::maps::{SeededIndexMap, SeededIndexSet, SeededMap, SeededSet};
use crate::syntax::regex::{self, Alphabet, Dialect, Patterns, Widened};
use crate::tuning::UNITS_PER_SUBSCHEMA;

/// A pattern that is refused for one of these is not enforced as it is.
const UNENFORCED: [&str; 3] = [
    "E-REGEX-UNSUPPORTED",
    "E-LIMIT-REGEX-REPETITION",
    "E-LIMIT-REGEX-EXPANSION",
];

/// A pattern in two readings: over the text itself, and over its spelling inside a string of the notation.
#[derive(Debug, Clone)]
pub(super) struct CompiledPattern {
    /// Made when a text is first matched, which few schemas ask for.
    plain: Arc<OnceLock<Matcher>>,
    pub(super) escaped: Regex,
    pattern: Arc<str>,
    dialect: Dialect,
}

/// One lowering.
pub(super) struct Schemas<'d> {
    pub(super) locations: Locations<'d>,
    pub(super) draft: Draft,
    pub(super) options: Options,
    pub(super) limits: &'d Limits,
    /// Whether choices are only held one at a time, and their branches not told apart: otherwise it is too much work.
    pub(super) is_frugal: bool,
    /// What reading patterns shares, with the fuel of all of it.
    pub(super) read: Patterns,
    /// What is not enforced.
    pub(super) report: SeededIndexSet<(String, String)>,
    /// The pointers of patterns that only Python reads.
    pub(super) pythonic: SeededIndexSet<String>,
    patterns: SeededMap<String, Result<CompiledPattern, String>>,
    /// Of patterns that cannot be enforced as they are, wider ones.
    wider: SeededMap<String, Option<Widened>>,
    /// Formats in a notation that is not JSON.
    formats: SeededMap<&'static str, CompiledPattern>,
    enum_values: usize,
    /// Keywords whose negations are not expressed, as they took too many rules.
    pub(super) left_out: SeededSet<Rc<str>>,
    /// What conjunctions demand.
    pub(super) demands: SeededMap<Conjunction, Rc<Demands>>,
    /// Which subschemas apply themselves.
    cycles: Cycles,
    /// How many questions about conjunctions were looked into.
    pub(super) questions: usize,
    /// Conjunctions that were asked whether any value satisfies them.
    pub(super) impossible: SeededIndexMap<Conjunction, bool>,
    /// Conjunctions of one subschema, by its number.
    pub(super) singles: Vec<Option<Rc<Conjunction>>>,
}

impl<'d> Schemas<'d> {
    pub(super) fn new(
        bundled: &'d Bundled,
        options: &Options,
        limits: &'d Limits,
        mut read: Patterns,
    ) -> Result<Self, Error> {
        let document = &bundled.document;
        let draft = options.draft.unwrap_or_else(|| Draft::of(document));
        Ok(Self {
            locations: Locations::new(document, &bundled.given, draft, &mut read.fuel)?,
            draft,
            options: options.clone(),
            limits,
            is_frugal: false,
            read,
            report: SeededIndexSet::default(),
            pythonic: SeededIndexSet::default(),
            patterns: SeededMap::default(),
            wider: SeededMap::default(),
            formats: SeededMap::default(),
            enum_values: 0,
            left_out: SeededSet::default(),
            demands: SeededMap::default(),
            cycles: Cycles::default(),
            questions: 0,
            impossible: SeededIndexMap::default(),
            singles: Vec::new(),
        })
    }

    pub(super) fn pointer(&self, id: LocationId) -> String {
        self.locations.get(id).pointer.to_string()
    }

    /// Notes what is not enforced.
    pub(super) fn widen(&mut self, pointer: &str, reason: &str) {
        self.report.insert((pointer.to_owned(), reason.to_owned()));
    }

    /// What is not enforced, at every subschema that says so.
    pub(super) fn reported(&mut self) -> Result<Vec<(String, String)>, Error> {
        let mut reported = std::mem::take(&mut self.report);
        if reported.is_empty() {
            return Ok(Vec::new());
        }
        let fuel = &mut self.read.fuel;
        let twins = self.locations.twins(fuel)?;
        let mut next = 0;
        while let Some((pointer, reason)) = reported.get_index(next).cloned() {
            next += 1;
            pay_for_beginnings(&pointer, fuel)?;
            // Above the keyword itself, whose own place may be that of a subschema.
            for (end, _) in pointer.match_indices('/') {
                let Some(others) = twins.get(&pointer[..end]) else {
                    continue;
                };
                for other in others {
                    let other = format!("{other}{}", &pointer[end..]);
                    pay_for_pointers(2 * other.len() + reason.len(), fuel)?;
                    reported.insert((other, reason.clone()));
                }
            }
        }
        Ok(reported.into_iter().collect())
    }

    /// Pays for steps of reading: visited subschemas, compared and copied parts.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.read.fuel.spend(steps)
    }

    /// What a subschema says.
    pub(super) fn keywords(&mut self, id: LocationId) -> Result<Rc<Keywords>, Error> {
        let location = self.locations.get(id);
        if let Some(keywords) = &location.keywords {
            return Ok(Rc::clone(keywords));
        }
        self.check_cycles(id)?;
        self.read_keywords(id)
    }

    /// What a subschema says, whether or not it ends.
    pub(super) fn read_keywords(&mut self, id: LocationId) -> Result<Rc<Keywords>, Error> {
        let location = self.locations.get(id);
        if let Some(keywords) = &location.keywords {
            return Ok(Rc::clone(keywords));
        }
        let known = self.locations.len();
        let keywords = if let Some(positive) = location.negates {
            let pointer = Rc::clone(&location.pointer);
            self.negated(positive, &pointer)?
        } else {
            let value = location.value.unwrap_or(&Value::Bool(true));
            keywords_of(
                &mut self.locations,
                self.draft,
                (id, value),
                &mut self.read.fuel,
            )?
        };
        if let Some(values) = keywords
            .values
            .as_ref()
            .filter(|_| self.locations.get(id).value.is_some())
        {
            self.enum_values += values.len();
            let allowed = self.limits.schema_enum_values;
            if self.enum_values > allowed {
                let given = self.enum_values as u64;
                return Err(Error::limit(
                    "E-LIMIT-SCHEMA-ENUM",
                    "schema_enum_values",
                    given,
                    allowed as u64,
                )
                .at(SourceLocation::Pointer(self.pointer(id))));
            }
        }
        self.spend(UNITS_PER_SUBSCHEMA + self.locations.len() - known)?;
        let keywords = Rc::new(keywords);
        self.locations.set_keywords(id, Rc::clone(&keywords));
        Ok(keywords)
    }

    /// Refuses a subschema that applies to a value because it applies to it.
    fn check_cycles(&mut self, start: LocationId) -> Result<(), Error> {
        let mut cycles = std::mem::take(&mut self.cycles);
        let found = cycles.find(start, |id| self.applied(id));
        self.cycles = cycles;
        let cycle = found?;
        let Some(&last) = cycle.first() else {
            return Ok(());
        };
        let written = |id: &LocationId| self.locations.get(*id).value.is_some();
        let id = cycle.into_iter().find(written).unwrap_or(last);
        let reason =
            "the schema refers to itself, and nothing on the way leads into a part of the value";
        let place = (self.pointer(id), reason.to_owned());
        Err(Error::schema("E-SCHEMA-REF", reason, vec![place])
            .with_hint("refer to it from a part of the value, such as under properties or items"))
    }

    /// The subschemas that one applies to the same value, in reverse.
    fn applied(&mut self, id: LocationId) -> Result<Vec<LocationId>, Error> {
        if let Some(positive) = self.locations.get(id).negates {
            return Ok(vec![positive]);
        }
        // What cannot be read is refused where it is needed.
        let Ok(keywords) = self.read_keywords(id) else {
            return Ok(Vec::new());
        };
        let branches = keywords.choices.iter().flat_map(|choice| &*choice.branches);
        let mut applied: Vec<_> = keywords.includes.iter().chain(branches).copied().collect();
        applied.reverse();
        self.spend(applied.len())?;
        Ok(applied)
    }

    /// The readings of a pattern or format; Err(reason) where it cannot be enforced.
    pub(super) fn readings(
        &mut self,
        source: &Source,
        pointer: &str,
    ) -> Result<Result<CompiledPattern, String>, Error> {
        match source {
            Source::Pattern(pattern) => self.pattern(pattern, pointer),
            Source::Format(name) => Ok(Ok(self.format(name)?)),
        }
    }

    fn format(&mut self, name: &'static str) -> Result<CompiledPattern, Error> {
        if self.options.notation == Notation::default() {
            return format_in_json(name);
        }
        if let Some(known) = self.formats.get(name) {
            return Ok(known.clone());
        }
        let readings = CompiledPattern::of_format(name, &self.options.notation)?;
        self.formats.insert(name, readings.clone());
        Ok(readings)
    }

    fn pattern(
        &mut self,
        pattern: &str,
        pointer: &str,
    ) -> Result<Result<CompiledPattern, String>, Error> {
        let readings = self.read_pattern(pattern, pointer)?;
        let is_pythonic = matches!(&readings, Ok(readings) if readings.dialect == Dialect::Python);
        if is_pythonic && !pointer.is_empty() {
            self.pythonic.insert(pointer.to_owned());
        }
        Ok(readings)
    }

    fn read_pattern(
        &mut self,
        pattern: &str,
        pointer: &str,
    ) -> Result<Result<CompiledPattern, String>, Error> {
        if let Some(known) = self.patterns.get(pattern) {
            return Ok(known.clone());
        }
        let notation = &self.options.notation;
        let mut new = |dialect| {
            CompiledPattern::new((pattern, dialect), notation, self.limits, &mut self.read)
        };
        let is_wrong = |error: &Error| error.code() == "E-REGEX-SYNTAX";
        let readings = match new(Dialect::Ecma) {
            Err(error) if is_wrong(&error) => match new(Dialect::Python) {
                // What is wrong for both is told as ECMA-262 sees it.
                Err(other) if is_wrong(&other) => Err(error),
                readings => readings,
            },
            readings => readings,
        };
        let readings = match readings {
            Ok(readings) => Ok(readings),
            Err(error) if UNENFORCED.contains(&error.code()) => Err(error.message().to_owned()),
            Err(error) if error.code() == "E-REGEX-SYNTAX" => {
                let message = format!("{}: {}", shown(pattern), error.message());
                let place = (pointer.to_owned(), message.clone());
                return Err(Error::schema("E-SCHEMA-INVALID", message, vec![place])
                    .with_hint("patterns are regular expressions of ECMA-262"));
            }
            Err(error) => return Err(error.at(SourceLocation::Pointer(pointer.to_owned()))),
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
        let readings = readings.ok();
        readings
            .map(|readings| readings.matches(name, &mut self.read.fuel))
            .transpose()
    }

    /// What a string's characters must be for a pattern to hold, reporting one that cannot be enforced.
    pub(super) fn pattern_body(&mut self, pattern: &Pattern) -> Result<Option<Regex>, Error> {
        match self.readings(&pattern.source, &pattern.pointer)? {
            Ok(readings) if pattern.negated => Ok(Some(Regex::Not(readings.escaped.into()))),
            Ok(readings) => Ok(Some(readings.escaped)),
            Err(reason) => {
                let wider = match &pattern.source {
                    Source::Pattern(text) if !pattern.negated => self.wider(text)?,
                    _ => None,
                };
                let Some(wider) = wider else {
                    self.widen(&pattern.pointer, &reason);
                    return Ok(None);
                };
                for part in &wider.left_out {
                    let reason = format!("{part}; the rest of the pattern is enforced");
                    self.widen(&pattern.pointer, &reason);
                }
                Ok(Some(wider.regex))
            }
        }
    }

    /// A wider language for a pattern that cannot be enforced as it is.
    fn wider(&mut self, pattern: &str) -> Result<Option<Widened>, Error> {
        if let Some(known) = self.wider.get(pattern) {
            return Ok(known.clone());
        }
        let notation = &self.options.notation;
        let anything = Regex::repeat(notation.canonical_character(), 0, None);
        let mut new = |dialect| {
            let place = (&mut Escaped(notation) as &mut dyn Alphabet, &anything);
            regex::widened(pattern, dialect, self.limits, place, &mut self.read)
        };
        let wider = match new(Dialect::Ecma) {
            Err(error) if error.code() == "E-REGEX-SYNTAX" => new(Dialect::Python),
            wider => wider,
        };
        let wider = match wider {
            Err(error) if error.code() == "E-REGEX-UNSUPPORTED" => None,
            wider => wider?,
        };
        self.wider.insert(pattern.to_owned(), wider.clone());
        Ok(wider)
    }
}

/// The readings of a format in JSON, which every schema of a process shares.
fn format_in_json(name: &'static str) -> Result<CompiledPattern, Error> {
    static KNOWN: Mutex<BTreeMap<&str, CompiledPattern>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(readings) = known().get(name) {
        return Ok(readings.clone());
    }
    let readings = CompiledPattern::of_format(name, &Notation::default())?;
    known().insert(name, readings.clone());
    Ok(readings)
}

impl CompiledPattern {
    fn of_format(name: &'static str, notation: &Notation) -> Result<Self, Error> {
        let pattern = format!("^(?:{})$", formats::pattern(name));
        let limits = Limits {
            regex_bytes: usize::MAX,
            ..Limits::default()
        };
        let pattern = (pattern.as_str(), Dialect::Ecma);
        Self::new(pattern, notation, &limits, &mut Patterns::new(&limits))
    }

    fn new(
        (pattern, dialect): (&str, Dialect),
        notation: &Notation,
        limits: &Limits,
        read: &mut Patterns,
    ) -> Result<Self, Error> {
        let anything = Regex::repeat(notation.canonical_character(), 0, None);
        let mut alphabet = Escaped(notation);
        let place = (&mut alphabet as &mut dyn Alphabet, &anything);
        let escaped = regex::within(pattern, dialect, limits, place, read)?;
        Ok(Self {
            escaped,
            plain: Arc::default(),
            pattern: pattern.into(),
            dialect,
        })
    }

    /// Whether a text satisfies the pattern.
    pub(super) fn matches(&self, text: &str, fuel: &mut Fuel) -> Result<bool, Error> {
        // What could be read once can be read again, so there is always a language here.
        let plain = self.plain.get_or_init(|| {
            let limits = Limits {
                regex_bytes: usize::MAX,
                regex_repetition: u32::MAX,
                regex_expansion: u64::MAX,
                compile_fuel: u64::MAX,
                ..Limits::default()
            };
            Matcher::new(
                &regex::search(&self.pattern, self.dialect, &limits).unwrap_or(Regex::Nothing),
            )
        });
        plain.matches(text.as_bytes(), fuel)
    }
}
