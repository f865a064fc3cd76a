//! Lowers conjunctions to rules. Each becomes one rule (two, if it is also the whole document); what it refers to waits in a
//! list, so that nothing recurses.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::json::Value;
use smallvec::SmallVec;

use super::demands::{Conjunction, Demands, counter};
use super::keywords::{Keywords, Types};
use super::options::Order;
use super::schemas::Schemas;
use super::spelling::{Position, Spelling};
use crate::error::{Error, SourceLocation};
use crate::ir::{Expr, ExprId, Grammar, GrammarBuilder, Regex, RuleId};
use crate::maps::{SeededIndexMap, SeededIndexSet, SeededMap};
use crate::tuning::{MAX_NEGATIVE_QUESTIONS, MAX_NEGATIVE_RULES};

/// A name as it is written after a comma or not, in a container at a place.
type Spelled = SmallVec<[((bool, Position), ExprId); 2]>;

/// Builds the grammar.
pub(super) struct Lowering<'d> {
    pub(super) schemas: Schemas<'d>,
    pub(super) builder: GrammarBuilder,
    pub(super) spelling: Spelling,
    /// Any value inside a container, where it is the same in all of them.
    any: Option<Arc<Grammar>>,
    rules: SeededIndexMap<(Conjunction, Position), RuleId>,
    work: Vec<(Conjunction, Position, RuleId)>,
    names: SeededMap<String, u32>,
    /// Work space for names.
    unique: String,
    /// How the names of properties are written.
    pub(super) keys: SeededIndexMap<Rc<str>, Spelled>,
    /// Rules that hold a part of a negation, by the keyword that asks for it.
    negative: SeededMap<Rc<str>, usize>,
    negative_rules: usize,
    /// Transitions from member to member, in objects in any order.
    pub(super) member_edges: u64,
    /// Transitions from digit to digit, in multiples.
    pub(super) digits: usize,
}

/// Whether a value holds members that may come in several orders.
fn has_order(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_order),
        Value::Object(members) => {
            members.len() > 1 || members.iter().any(|(_, member)| has_order(member))
        }
        _ => false,
    }
}

impl<'d> Lowering<'d> {
    /// `any`: the grammar of any value inside a container, if there is one.
    pub(super) fn new(schemas: Schemas<'d>, any: Option<Arc<Grammar>>) -> Result<Self, Error> {
        let spelling = Spelling::new(&schemas.options, schemas.limits)?;
        Ok(Self {
            schemas,
            builder: GrammarBuilder::new(),
            spelling,
            any,
            rules: SeededIndexMap::default(),
            work: Vec::new(),
            names: SeededMap::default(),
            unique: String::new(),
            keys: SeededIndexMap::default(),
            negative: SeededMap::default(),
            negative_rules: 0,
            member_edges: 0,
            digits: 0,
        })
    }

    /// Lowers a value at a place and all that stands in it.
    pub(super) fn all(&mut self, root: &Conjunction, place: Position) -> Result<RuleId, Error> {
        let start = self.rule(root, place);
        while let Some((conjunction, place, rule)) = self.work.pop() {
            if self.is_too_much() {
                break;
            }
            let body = match &self.any {
                Some(any) if conjunction.members.is_empty() && place == Position::INSIDE => {
                    let any = Expr::Embed(Arc::clone(any));
                    Ok(self.builder.add(any))
                }
                _ => self.body(&conjunction, place),
            };
            let body = body.map_err(|error| self.located(error, &conjunction))?;
            self.builder.define(rule, body);
        }
        Ok(start)
    }

    /// An error without a place, at the subschema at which it arose.
    fn located(&self, error: Error, conjunction: &Conjunction) -> Error {
        match conjunction.members.first() {
            Some(&id) if error.location().is_none() => {
                error.at(SourceLocation::Pointer(self.schemas.pointer(id)))
            }
            _ => error,
        }
    }

    /// The keyword whose negations took more rules than are worth it.
    pub(super) fn overrun(&self) -> Option<Rc<str>> {
        let most = self
            .negative
            .iter()
            .max_by_key(|&(pointer, &count)| (count, pointer));
        most.filter(|_| self.is_too_much())
            .map(|(pointer, _)| Rc::clone(pointer))
    }

    /// Whether negations take more rules or more looking into than they are worth.
    fn is_too_much(&self) -> bool {
        self.negative_rules > MAX_NEGATIVE_RULES
            || (self.negative_rules > 0 && self.schemas.questions > MAX_NEGATIVE_QUESTIONS)
    }

    /// Pays for work.
    pub(super) fn spend(&mut self, units: usize) -> Result<(), Error> {
        self.schemas.read.fuel.spend(units)
    }

    /// The rule of a conjunction; for where it stands.
    fn rule(&mut self, conjunction: &Conjunction, place: Position) -> RuleId {
        let key = (conjunction.clone(), place);
        if let Some(&rule) = self.rules.get(&key) {
            return rule;
        }
        let rule = match conjunction.members.first() {
            None => self.fresh("json"),
            Some(&id) => {
                let pointer = Rc::clone(&self.schemas.locations.get(id).pointer);
                let mut steps = pointer.rsplit('/');
                let last = steps.find(|step| step.parse::<u32>().is_err());
                let last = last.filter(|last| !last.is_empty());
                self.fresh(last.unwrap_or("document"))
            }
        };
        let mut negative: Vec<&Rc<str>> = Vec::new();
        for &id in &conjunction.members {
            let location = self.schemas.locations.get(id);
            if location.negative && !negative.contains(&&location.pointer) {
                negative.push(&location.pointer);
            }
        }
        self.negative_rules += usize::from(!negative.is_empty());
        for pointer in negative {
            *self.negative.entry(Rc::clone(pointer)).or_insert(0) += 1;
        }
        self.rules.insert(key, rule);
        self.work.push((conjunction.clone(), place, rule));
        rule
    }

    /// A new rule under a name like this one.
    pub(super) fn fresh(&mut self, name: &str) -> RuleId {
        let starts = |c: char| c.is_alphabetic() || c == '_';
        let fits = |c: char| c.is_alphanumeric() || c == '_';
        let base = if name.starts_with(starts) && name.chars().all(fits) {
            Cow::Borrowed(name)
        } else {
            let mut base: String = name
                .chars()
                .map(|c| if fits(c) { c } else { '-' })
                .collect();
            if !base.starts_with(starts) {
                base.insert(0, '_');
            }
            Cow::Owned(base)
        };
        let Some(count) = self.names.get_mut(&*base) else {
            let rule = self.builder.rule(&base);
            self.names.insert(base.into_owned(), 1);
            return rule;
        };
        *count += 1;
        // Numbers are set off by a dot, which no name of a property keeps: names stay unique.
        let mut digits = *b"0000000000";
        let (mut at, mut left) = (digits.len(), *count);
        while left > 0 {
            at -= 1;
            digits[at] += (left % 10) as u8;
            left /= 10;
        }
        self.unique.clear();
        self.unique.push_str(&base);
        self.unique.push('.');
        self.unique
            .extend(digits[at..].iter().map(|&digit| char::from(digit)));
        self.builder.rule(&self.unique)
    }

    /// A value that satisfies a conjunction, inside a container.
    pub(super) fn value(
        &mut self,
        conjunction: &Conjunction,
        container: Position,
    ) -> Result<ExprId, Error> {
        let Some(place) = self.spelling.inside(container) else {
            return Ok(self.nothing());
        };
        self.spend(conjunction.size())?;
        let simple = self.schemas.without_idle_negations(conjunction)?;
        let rule = self.rule(simple.as_ref().unwrap_or(conjunction), place);
        Ok(self.builder.reference(rule))
    }

    pub(super) fn nothing(&mut self) -> ExprId {
        self.builder.regex(Regex::Nothing)
    }

    fn body(&mut self, conjunction: &Conjunction, place: Position) -> Result<ExprId, Error> {
        self.spend(1 + conjunction.members.len())?;
        let demands = self.schemas.last_demands(conjunction)?;
        for (pointer, reason) in &demands.widened {
            self.schemas.widen(pointer, reason);
        }
        if let Some(values) = &demands.values {
            return self.values(&demands, values, place);
        }
        if !demands.choices.is_empty() {
            let alternatives = self.alternatives(conjunction, &demands)?;
            let mut parts = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                let rule = self.rule(&alternative, place);
                parts.push(self.builder.reference(rule));
            }
            return Ok(if parts.is_empty() {
                self.nothing()
            } else {
                self.builder.alt(parts)
            });
        }
        self.types(&demands, place)
    }

    /// The listed values that everything else allows.
    fn values(
        &mut self,
        demands: &Demands,
        values: &[Value],
        place: Position,
    ) -> Result<ExprId, Error> {
        self.spend(values.len())?;
        // Scalars share the whitespace before them, and are one table.
        let mut scalars = SeededIndexSet::<Regex>::default();
        let mut words = SeededIndexSet::<Regex>::default();
        let mut parts = Vec::new();
        for value in values {
            match self.schemas.allows_listed(demands, value)? {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    let reason =
                        "whether listed values satisfy the keywords beside them is not decided";
                    let lists = |member: &Keywords| member.values.is_some();
                    for keyword in ["enum", "const"] {
                        self.report_unenforced(demands, keyword, lists, reason);
                    }
                }
            }
            match value {
                _ if self.schemas.options.order == Order::Any && has_order(value) => {
                    parts.push(self.equal(demands, value, place)?);
                }
                Value::Array(_) | Value::Object(_) => {
                    words.insert(self.spelling.value(value, place));
                }
                scalar => {
                    scalars.insert(self.spelling.scalar(scalar));
                }
            }
        }
        if !scalars.is_empty() {
            let scalars = Regex::alt(scalars.into_iter().collect());
            words.insert(self.spelling.word(scalars, place.first));
        }
        let words = self.spelled(Regex::alt(words.into_iter().collect()));
        if parts.is_empty() {
            return Ok(words);
        }
        parts.push(words);
        Ok(self.builder.alt(parts))
    }

    /// A listed value whose members may come in any order.
    fn equal(
        &mut self,
        demands: &Demands,
        value: &Value,
        place: Position,
    ) -> Result<ExprId, Error> {
        let listed = demands.members.iter().zip(&demands.ids);
        let listed = listed.filter(|(member, _)| member.values.is_some());
        let id = listed.map(|(_, id)| *id).next();
        let pointer = id.map_or("".into(), |id| {
            Rc::clone(&self.schemas.locations.get(id).pointer)
        });
        let equal = self.schemas.equal_to(value, &pointer);
        let equal = self.schemas.locations.made(&pointer, equal);
        let equal = self.schemas.conjunction([equal])?;
        let rule = self.rule(&equal, place);
        Ok(self.builder.reference(rule))
    }

    /// A value of any of the types, by the keywords of each.
    fn types(&mut self, demands: &Demands, place: Position) -> Result<ExprId, Error> {
        let mut words: Vec<Regex> = Vec::new();
        let free = |value: &Value| !demands.excluded.contains(value);
        if demands.types.has(Types::NULL) && free(&Value::Null) {
            words.push(self.spelling.notation.null());
        }
        if demands.types.has(Types::BOOLEAN) {
            for value in [true, false] {
                if free(&Value::Bool(value)) {
                    words.push(self.spelling.notation.boolean(value));
                }
            }
        }
        let mut parts = Vec::new();
        if !words.is_empty() {
            parts.push(self.word(Regex::alt(words), place));
        }
        if demands.types.has(Types::STRING) {
            let string = self.string(demands)?;
            parts.push(self.word(string, place));
        }
        if demands.types.has(Types::NUMBER) {
            parts.push(self.number(demands, place)?);
        }
        if demands.types.has(Types::ARRAY) {
            parts.push(self.array(demands, place)?);
        }
        if demands.types.has(Types::OBJECT) {
            parts.push(self.object(demands, place)?);
        }
        Ok(if parts.is_empty() {
            self.nothing()
        } else {
            self.builder.alt(parts)
        })
    }

    pub(super) fn word(&mut self, word: Regex, place: Position) -> ExprId {
        let word = self.spelling.word(word, place.first);
        self.spelled(word)
    }

    /// A word of the notation as an expression.
    pub(super) fn spelled(&mut self, word: Regex) -> ExprId {
        self.spelling.notation.expression(&mut self.builder, word)
    }

    /// Notes at each member with a keyword that it is not enforced.
    pub(super) fn report_unenforced(
        &mut self,
        demands: &Demands,
        keyword: &str,
        has: impl Fn(&Keywords) -> bool,
        reason: &str,
    ) {
        for (member, &id) in demands.members.iter().zip(&demands.ids) {
            if has(member)
                && let Some(pointer) = self.schemas.locations.place(id, keyword)
            {
                self.schemas.widen(&pointer, reason);
            }
        }
    }

    /// A lower bound as the engine's counters hold it.
    pub(super) fn at_least(&self, min: u64) -> Result<u32, Error> {
        let limits = self.schemas.limits;
        counter(min, limits).ok_or_else(|| {
            let allowed = u64::from(limits.regex_repetition);
            Error::limit("E-LIMIT-REGEX-REPETITION", "regex_repetition", min, allowed)
        })
    }

    /// Bounds on a length.
    pub(super) fn lengths(&mut self, demands: &Demands) -> Result<(u32, Option<u32>), Error> {
        let min = self.at_least(demands.min_length)?;
        let max = demands
            .max_length
            .and_then(|max| counter(max, self.schemas.limits));
        if let Some(given) = demands.max_length.filter(|_| max.is_none()) {
            let reason = format!("an upper bound of {given} is not counted");
            self.report_unenforced(
                demands,
                "maxLength",
                |member| member.max_length.is_some(),
                &reason,
            );
        }
        Ok((min, max))
    }

    /// Bounds on the number of items.
    pub(super) fn sizes(&mut self, demands: &Demands) -> Result<(u32, Option<u32>), Error> {
        let min = self.at_least(demands.min_items)?;
        let max = demands
            .max_items
            .and_then(|max| counter(max, self.schemas.limits));
        if let Some(given) = demands.max_items.filter(|_| max.is_none()) {
            let reason = format!("an upper bound of {given} is not counted");
            self.report_unenforced(
                demands,
                "maxItems",
                |member| member.max_items.is_some(),
                &reason,
            );
        }
        Ok((min, max))
    }

    pub(super) fn repeat(
        &mut self,
        inner: ExprId,
        min: u32,
        max: Option<u32>,
        separator: Option<ExprId>,
    ) -> ExprId {
        self.builder.repeat(inner, min, max, separator)
    }
}
