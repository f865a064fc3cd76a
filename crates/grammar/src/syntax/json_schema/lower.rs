//! Conjunctions to rules. Each conjunction becomes one rule (two, if it is also the whole document); what it refers to waits
//! in a list, so that nothing recurses.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::keywords::Types;
use super::locations::LocationId;
use super::merge::{Conjunction, Demands, Open, counter};
use super::schemas::Schemas;
use super::spelling::Spelling;
use crate::error::Error;
use crate::ir::{Expr, ExprId, GrammarBuilder, Regex, RuleId};

/// Combinations of choices that are spelled out in one place.
const COMBINATIONS: usize = 2_000;
/// Branches of one choice that are compared with each other.
const COMPARED: usize = 200;

/// Builds the grammar.
pub(super) struct Lowering<'d> {
    pub(super) schemas: Schemas<'d>,
    pub(super) builder: GrammarBuilder,
    pub(super) spelling: Spelling,
    rules: FxHashMap<(Conjunction, bool), RuleId>,
    work: Vec<(Conjunction, bool, RuleId)>,
    names: FxHashMap<String, u32>,
    spent: u64,
}

impl<'d> Lowering<'d> {
    pub(super) fn new(schemas: Schemas<'d>) -> Self {
        let spelling = Spelling::new(&schemas.options, schemas.limits);
        Self {
            schemas,
            builder: GrammarBuilder::new(),
            spelling,
            rules: FxHashMap::default(),
            work: Vec::new(),
            names: FxHashMap::default(),
            spent: 0,
        }
    }

    /// Lowers a whole document.
    pub(super) fn document(&mut self, root: &Conjunction) -> Result<RuleId, Error> {
        let start = self.rule(root, true);
        while let Some((conjunction, first, rule)) = self.work.pop() {
            let body = self.body(&conjunction, first)?;
            self.builder.define(rule, body);
        }
        Ok(start)
    }

    /// Pays for work.
    pub(super) fn spend(&mut self, units: usize) -> Result<(), Error> {
        self.spent += units as u64;
        let allowed = self.schemas.limits.compile_fuel;
        if self.spent > allowed {
            return Err(Error::limit(
                "E-LIMIT-FUEL",
                "compile_fuel",
                self.spent,
                allowed,
            ));
        }
        Ok(())
    }

    /// The rule of a conjunction; `first`: at the very beginning of the document.
    fn rule(&mut self, conjunction: &Conjunction, first: bool) -> RuleId {
        if let Some(&rule) = self.rules.get(&(conjunction.clone(), first)) {
            return rule;
        }
        let name = match conjunction.members.first() {
            None => "json".to_owned(),
            Some(&id) => {
                let pointer = self.schemas.pointer(id);
                let last = pointer
                    .rsplit('/')
                    .find(|step| step.parse::<u32>().is_err())
                    .unwrap_or("");
                if last.is_empty() {
                    "document".to_owned()
                } else {
                    last.to_owned()
                }
            }
        };
        let rule = self.fresh(&name);
        self.rules.insert((conjunction.clone(), first), rule);
        self.work.push((conjunction.clone(), first, rule));
        rule
    }

    /// A new rule under a name like this one.
    pub(super) fn fresh(&mut self, name: &str) -> RuleId {
        let mut base: String = name
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '_' {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        if !base.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            base.insert(0, '_');
        }
        let count = self.names.entry(base.clone()).or_insert(0);
        *count += 1;
        // Numbers are set off by a dot, which no name of a property keeps: names stay unique.
        let unique = if *count == 1 {
            base
        } else {
            format!("{base}.{count}")
        };
        self.builder.rule(&unique)
    }

    /// A value that satisfies a conjunction, inside the document.
    pub(super) fn value(&mut self, conjunction: &Conjunction) -> ExprId {
        let rule = self.rule(conjunction, false);
        self.builder.reference(rule)
    }

    pub(super) fn nothing(&mut self) -> ExprId {
        self.builder.regex(Regex::Nothing)
    }

    fn body(&mut self, conjunction: &Conjunction, first: bool) -> Result<ExprId, Error> {
        self.spend(1 + conjunction.members.len())?;
        let demands = self.schemas.demands(conjunction)?;
        for member in &demands.members {
            for (pointer, reason) in &member.widened {
                self.schemas.widen(pointer, reason);
            }
        }
        if let Some(values) = &demands.values {
            return self.values(conjunction, values, first);
        }
        if !demands.choices.is_empty() {
            let mut conjunction = conjunction.clone();
            let mut choices = demands.choices.clone();
            self.leave_out(&mut conjunction, &mut choices);
            return self.choice(&conjunction, &choices[0], first);
        }
        self.types(&demands, first)
    }

    /// The listed values that everything else allows.
    fn values(
        &mut self,
        conjunction: &Conjunction,
        values: &[Value],
        first: bool,
    ) -> Result<ExprId, Error> {
        self.spend(values.len())?;
        let mut words = indexmap::IndexSet::<Regex, rustc_hash::FxBuildHasher>::default();
        for value in values {
            match self.schemas.allows(conjunction, value)? {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    let pointer = conjunction
                        .members
                        .first()
                        .map_or(String::new(), |&id| self.schemas.pointer(id));
                    self.schemas.widen(
                        &pointer,
                        "whether listed values satisfy the keywords beside them is not decided",
                    );
                }
            }
            words.insert(self.spelling.value(value, first));
        }
        Ok(self.builder.regex(Regex::alt(words.into_iter().collect())))
    }

    /// Leaves choices out, last first, for as long as there are too many combinations.
    fn leave_out(&mut self, conjunction: &mut Conjunction, choices: &mut Vec<Open>) {
        loop {
            let combinations = choices.iter().fold(1usize, |product, choice| {
                product.saturating_mul(choice.choice.branches.len().max(1))
            });
            if choices.len() < 2 || combinations <= COMBINATIONS {
                return;
            }
            if let Some(left_out) = choices.pop() {
                self.schemas.widen(
                    &left_out.choice.pointer,
                    "too many combinations with other keywords",
                );
                conjunction.made.push((left_out.owner, left_out.index));
                conjunction.made.sort_unstable();
            }
        }
    }

    /// One of the branches.
    fn choice(
        &mut self,
        conjunction: &Conjunction,
        choice: &Open,
        first: bool,
    ) -> Result<ExprId, Error> {
        let mut branches: Vec<(LocationId, Conjunction)> = Vec::new();
        for &branch in &choice.choice.branches {
            let chosen = self.schemas.chosen(conjunction, choice, branch)?;
            if !self.schemas.impossible(&chosen)? {
                branches.push((branch, chosen));
            }
        }
        if choice.choice.exclusive {
            self.exclude(&mut branches, choice)?;
        }
        self.spend(branches.len())?;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut parts = Vec::with_capacity(branches.len());
        for (_, branch) in branches {
            let rule = self.rule(&branch, first);
            if seen.insert(rule) {
                parts.push(self.builder.reference(rule));
            }
        }
        Ok(if parts.is_empty() {
            self.nothing()
        } else {
            self.builder.alt(parts)
        })
    }

    /// Exactly one branch: to each is added that those that it overlaps with fail.
    fn exclude(
        &mut self,
        branches: &mut [(LocationId, Conjunction)],
        choice: &Open,
    ) -> Result<(), Error> {
        const REASON: &str = "more than one of the branches may hold";
        if branches.len() > COMPARED {
            self.schemas.widen(&choice.choice.pointer, REASON);
            return Ok(());
        }
        let mut overlaps: Vec<Vec<usize>> = vec![Vec::new(); branches.len()];
        for left in 0..branches.len() {
            for right in left + 1..branches.len() {
                self.spend(1)?;
                let both = branches[left].1.joined(&branches[right].1);
                if !self.schemas.impossible(&both)? {
                    overlaps[left].push(right);
                    overlaps[right].push(left);
                }
            }
        }
        let ids: Vec<LocationId> = branches.iter().map(|(id, _)| *id).collect();
        for (own, others) in overlaps.iter().enumerate() {
            for &other in others {
                match self.schemas.negation(ids[other])? {
                    Some(negation) => {
                        let fails = self.schemas.conjunction([negation])?;
                        branches[own].1 = branches[own].1.joined(&fails);
                    }
                    None => self.schemas.widen(&choice.choice.pointer, REASON),
                }
            }
        }
        Ok(())
    }

    /// A value of any of the types, by the keywords of each.
    fn types(&mut self, demands: &Demands, first: bool) -> Result<ExprId, Error> {
        let mut words: Vec<Regex> = Vec::new();
        let free = |value: &Value| !demands.excluded.contains(value);
        if demands.types.has(Types::NULL) && free(&Value::Null) {
            words.push(Regex::literal(b"null"));
        }
        if demands.types.has(Types::BOOLEAN) {
            for (value, word) in [(true, &b"true"[..]), (false, b"false")] {
                if free(&Value::Bool(value)) {
                    words.push(Regex::literal(word));
                }
            }
        }
        let mut parts = Vec::new();
        if !words.is_empty() {
            parts.push(self.word(Regex::alt(words), first));
        }
        if demands.types.has(Types::STRING) {
            let string = self.string(demands)?;
            parts.push(self.word(string, first));
        }
        if demands.types.has(Types::NUMBER) {
            let number = self.number(demands);
            parts.push(self.word(number, first));
        }
        let containers = demands.excluded.iter().any(|value| {
            (value.is_array() && demands.types.has(Types::ARRAY))
                || (value.is_object() && demands.types.has(Types::OBJECT))
        });
        if containers {
            self.schemas.widen(
                "",
                "arrays and objects that are excluded by value are not left out",
            );
        }
        if demands.types.has(Types::ARRAY) {
            parts.push(self.array(demands, first)?);
        }
        if demands.types.has(Types::OBJECT) {
            parts.push(self.object(demands, first)?);
        }
        Ok(if parts.is_empty() {
            self.nothing()
        } else {
            self.builder.alt(parts)
        })
    }

    pub(super) fn word(&mut self, word: Regex, first: bool) -> ExprId {
        let word = self.spelling.word(word, first);
        self.builder.regex(word)
    }

    /// A count that the engine's counters can hold; one that is larger is an error or says nothing.
    pub(super) fn bounds(
        &mut self,
        min: u64,
        max: Option<u64>,
    ) -> Result<(u32, Option<u32>), Error> {
        let limits = self.schemas.limits;
        let Some(min) = counter(min, limits) else {
            return Err(Error::limit(
                "E-LIMIT-REGEX-REPETITION",
                "regex_repetition",
                min,
                u64::from(limits.regex_repetition),
            ));
        };
        match max {
            None => Ok((min, None)),
            Some(max) => {
                let fits = counter(max, limits);
                if fits.is_none() {
                    self.schemas
                        .widen("", &format!("an upper bound of {max} is not counted"));
                }
                Ok((min, fits))
            }
        }
    }

    pub(super) fn repeat(
        &mut self,
        inner: ExprId,
        min: u32,
        max: Option<u32>,
        separator: Option<ExprId>,
    ) -> ExprId {
        self.builder.add(Expr::Repeat {
            inner,
            min,
            max,
            separator,
        })
    }
}
