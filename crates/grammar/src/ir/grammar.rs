//! Rules over expressions.

use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;

use super::identity::Identified;
use super::regex::Regex;
use crate::error::{Diagnostic, WARNINGS};
use crate::maps::{IdSet, SeededIndexSet};

/// A rule of one [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub u32);

/// An expression in the arena of one [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Tokens of a vocabulary that a grammar demands as tokens, named before any vocabulary is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TokenSet {
    /// The special, added or user-defined token of exactly this text; compiling fails where there is none.
    Text(Arc<str>),
    /// Inclusive ranges of token ids.
    Ids(Arc<[(u32, u32)]>),
    /// Any token but those of these ids and texts; compiling fails where a text is no special, added or user-defined
    /// token. There is at least one text: without any, the other ids are named.
    Except {
        /// Inclusive ranges of ids.
        ids: Arc<[(u32, u32)]>,
        /// Texts of tokens.
        texts: Arc<[Arc<str>]>,
    },
}

impl TokenSet {
    /// Any token but these.
    #[must_use]
    pub fn except(ids: Vec<(u32, u32)>, texts: Vec<Arc<str>>) -> Self {
        if texts.is_empty() {
            return Self::Ids(other_ids(ids).into());
        }
        Self::Except {
            ids: ids.into(),
            texts: texts.into(),
        }
    }
}

/// The ids that lie in none of the ranges, as ranges in order.
#[must_use]
pub fn other_ids(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut others = Vec::new();
    let mut from = Some(0u32);
    for (first, last) in ranges {
        if let Some(from) = from
            && first > from
        {
            others.push((from, first - 1));
        }
        from = from.and_then(|from| Some(from.max(last.checked_add(1)?)));
    }
    others.extend(from.map(|from| (from, u32::MAX)));
    others
}

/// Expressions in an order; few of them take no memory of their own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExprIds(SmallVec<[ExprId; 4]>);

impl Deref for ExprIds {
    type Target = [ExprId];

    fn deref(&self) -> &[ExprId] {
        &self.0
    }
}

impl From<&[ExprId]> for ExprIds {
    fn from(ids: &[ExprId]) -> Self {
        Self(ids.into())
    }
}

impl AsRef<[ExprId]> for ExprIds {
    fn as_ref(&self) -> &[ExprId] {
        self
    }
}

impl FromIterator<ExprId> for ExprIds {
    fn from_iter<T: IntoIterator<Item = ExprId>>(ids: T) -> Self {
        Self(ids.into_iter().collect())
    }
}

/// One expression; children are ids into the same arena.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// The empty string.
    Empty,
    /// A regular language over bytes; the engine runs it as one automaton.
    Regex(Regex),
    /// Another rule.
    Rule(RuleId),
    /// A marker of a format: the vocabulary's special token of exactly this text where there is one, else its bytes, with
    /// special tokens that the text holds as tokens.
    Marker(Arc<str>),
    /// A token that text never matches.
    Token(TokenSet),
    /// One after another.
    Seq(ExprIds),
    /// Any of these; none is the empty language.
    Alt(ExprIds),
    /// Between `min` and `max` (None: unbounded) times, with `separator` between.
    Repeat {
        /// What is repeated.
        inner: ExprId,
        /// The least number of repetitions.
        min: u32,
        /// The largest number of repetitions; None if there is no bound.
        max: Option<u32>,
        /// Between two repetitions.
        separator: Option<ExprId>,
    },
    /// A labelled part; matches what `inner` matches.
    Capture {
        /// The label.
        label: Arc<str>,
        /// What it holds.
        inner: ExprId,
    },
    /// Another whole grammar. Embedding the same `Arc` twice costs one grammar.
    Embed(Arc<Grammar>),
}

/// A named rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The name, for people and dumps; unique in its grammar.
    pub name: Arc<str>,
    /// What it matches.
    pub body: ExprId,
}

/// How much of what was asked a grammar enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Exactly what was asked.
    #[default]
    Exact,
    /// More than was asked; [`Report::pointers`] says where.
    Widened,
}

/// What a front end could not enforce. Empty means exact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// (JSON pointer, reason) of what must be checked in the finished text.
    pub pointers: Vec<(String, String)>,
}

impl Report {
    /// Whether the grammar is exact.
    #[must_use]
    pub fn status(&self) -> Status {
        if self.pointers.is_empty() {
            Status::Exact
        } else {
            Status::Widened
        }
    }
}

/// A context-free grammar over bytes, markers and tokens. Immutable; build it with [`GrammarBuilder`].
///
/// Grammars in grammars may nest to any depth: neither comparing nor dropping recurses.
#[derive(Debug, Clone)]
pub struct Grammar {
    rules: Vec<Rule>,
    exprs: Vec<Expr>,
    start: RuleId,
    report: Report,
    warnings: Vec<Diagnostic>,
    identity: Identified,
}

impl Grammar {
    /// All rules; the index is the [`RuleId`].
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// One rule.
    ///
    /// # Panics
    /// If the id is of another grammar.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0 as usize]
    }

    /// One expression.
    ///
    /// # Panics
    /// If the id is of another grammar.
    #[must_use]
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// All expressions; the index is the [`ExprId`].
    pub(super) fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// A grammar of these parts; None where one of them names what there is not.
    pub(super) fn from_parts(
        rules: Vec<Rule>,
        exprs: Vec<Expr>,
        start: RuleId,
        report: Report,
    ) -> Option<Self> {
        let grammar = Self {
            rules,
            exprs,
            start,
            report,
            warnings: Vec::new(),
            identity: Identified::default(),
        };
        grammar.is_whole().then_some(grammar)
    }

    /// Whether every id is of a rule or an expression that there is.
    fn is_whole(&self) -> bool {
        let is_rule = |id: RuleId| (id.0 as usize) < self.rules.len();
        let is_expr = |id: ExprId| (id.0 as usize) < self.exprs.len();
        let is_whole = |expr: &Expr| match expr {
            Expr::Rule(rule) => is_rule(*rule),
            Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().all(|&part| is_expr(part)),
            Expr::Repeat {
                inner, separator, ..
            } => is_expr(*inner) && separator.is_none_or(is_expr),
            Expr::Capture { inner, .. } => is_expr(*inner),
            _ => true,
        };
        is_rule(self.start)
            && self.rules.iter().all(|rule| is_expr(rule.body))
            && self.exprs.iter().all(is_whole)
    }

    /// Puts another expression in the place of one.
    pub(super) fn replace(&mut self, id: ExprId, expr: Expr) {
        self.exprs[id.0 as usize] = expr;
        self.identity = Identified::default();
    }

    pub(super) fn identified(&self) -> &Identified {
        &self.identity
    }

    /// How many expressions lie within each other, rules and grammars in it aside; None where one lies in itself.
    #[must_use]
    pub fn nesting(&self) -> Option<usize> {
        let parts = |expr: &Expr| -> ExprIds {
            match expr {
                Expr::Seq(parts) | Expr::Alt(parts) => parts.clone(),
                Expr::Repeat {
                    inner, separator, ..
                } => [*inner].into_iter().chain(*separator).collect(),
                Expr::Capture { inner, .. } => [*inner].into_iter().collect(),
                _ => ExprIds::default(),
            }
        };
        let mut nesting = vec![0; self.exprs.len()]; // 0: not seen, 1: open, more: the nesting
        let mut work: Vec<usize> = (0..nesting.len()).collect();
        while let Some(&at) = work.last() {
            let inside = parts(&self.exprs[at]);
            let of_parts = inside.iter().map(|part| nesting[part.0 as usize]);
            match nesting[at] {
                0 => {
                    nesting[at] = 1;
                    work.extend(inside.iter().map(|part| part.0 as usize));
                }
                1 if of_parts.clone().any(|part| part < 2) => return None,
                known => {
                    nesting[at] = known.max(1 + of_parts.max().unwrap_or(1));
                    work.pop();
                }
            }
        }
        nesting.into_iter().max().or(Some(0))
    }

    /// How many expressions there are; ids are below it.
    #[must_use]
    pub fn expr_count(&self) -> usize {
        self.exprs.len()
    }

    /// The rule that everything must match.
    #[must_use]
    pub fn start(&self) -> RuleId {
        self.start
    }

    /// What is not enforced.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The same grammar as part of a larger source: the pointers of what is not enforced begin with `prefix`.
    #[must_use]
    pub fn with_pointer_prefix(mut self, prefix: &str) -> Self {
        let pointers = self.report.pointers.iter_mut();
        pointers.for_each(|(pointer, _)| pointer.insert_str(0, prefix));
        let warnings = self.warnings.iter_mut();
        warnings.for_each(|warning| warning.place_below(prefix));
        self.identity = Identified::default();
        self
    }

    /// What is odd in the sources, though it could be read, each with its place.
    #[must_use]
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The same grammar with what is to be said about its source.
    pub(crate) fn with_warnings(mut self, warnings: Vec<Diagnostic>) -> Self {
        debug_assert!(
            (warnings.iter()).all(|warning| WARNINGS.contains(&warning.code())),
            "a saved grammar is read back with these codes only"
        );
        self.warnings = warnings;
        self
    }

    fn of(build: impl FnOnce(&mut GrammarBuilder) -> ExprId) -> Self {
        let mut builder = GrammarBuilder::new();
        let body = build(&mut builder);
        let start = builder.rule("start");
        builder.define(start, body);
        builder.finish(start, Report::default())
    }

    /// The grammar of one regular language.
    #[must_use]
    pub fn from_regex(regex: Regex) -> Self {
        Self::of(|b| b.regex(regex))
    }

    /// The grammar of one marker.
    #[must_use]
    pub fn from_marker(text: &str) -> Self {
        Self::of(|b| b.add(Expr::Marker(text.into())))
    }

    /// Any of the grammars. Reports and warnings are joined.
    #[must_use]
    pub fn union(parts: &[Arc<Self>]) -> Self {
        Self::combine(parts, Expr::Alt)
    }

    /// One grammar after another. Reports and warnings are joined.
    #[must_use]
    pub fn concat(parts: &[Arc<Self>]) -> Self {
        Self::combine(parts, Expr::Seq)
    }

    /// The grammar repeated, with an optional separator.
    #[must_use]
    pub fn repeat(
        inner: &Arc<Self>,
        min: u32,
        max: Option<u32>,
        separator: Option<&Arc<Self>>,
    ) -> Self {
        let mut grammar = Self::of(|b| {
            let inner = b.add(Expr::Embed(Arc::clone(inner)));
            let separator = separator.map(|part| b.add(Expr::Embed(Arc::clone(part))));
            b.add(Expr::Repeat {
                inner,
                min,
                max,
                separator,
            })
        });
        grammar.report = Self::joined_report(std::iter::once(inner).chain(separator));
        grammar.warnings = Self::joined_warnings(std::iter::once(inner).chain(separator));
        grammar
    }

    /// The grammar as a part that has a label.
    #[must_use]
    pub fn labelled(label: &str, inner: &Arc<Self>) -> Self {
        let mut grammar = Self::of(|b| {
            let inner = b.add(Expr::Embed(Arc::clone(inner)));
            b.add(Expr::Capture {
                label: label.into(),
                inner,
            })
        });
        grammar.report = inner.report.clone();
        grammar.warnings.clone_from(&inner.warnings);
        grammar
    }

    fn combine(parts: &[Arc<Self>], join: fn(ExprIds) -> Expr) -> Self {
        let mut grammar = Self::of(|b| {
            let embedded = parts.iter().map(|part| Expr::Embed(Arc::clone(part)));
            let ids = embedded.map(|part| b.add(part)).collect();
            b.add(join(ids))
        });
        grammar.report = Self::joined_report(parts.iter());
        grammar.warnings = Self::joined_warnings(parts.iter());
        grammar
    }

    /// The same grammar, of which is also said what is said of grammars in it.
    pub(crate) fn joining<'a>(
        mut self,
        parts: impl Iterator<Item = &'a Arc<Self>> + Clone,
    ) -> Self {
        self.identity = Identified::default();
        self.report = Self::joined_report(parts.clone());
        self.warnings.extend(Self::joined_warnings(parts));
        self
    }

    fn joined_warnings<'a>(parts: impl Iterator<Item = &'a Arc<Self>>) -> Vec<Diagnostic> {
        let mut warnings: Vec<Diagnostic> = Vec::new();
        for warning in parts.flat_map(|part| &part.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        warnings
    }

    fn joined_report<'a>(parts: impl Iterator<Item = &'a Arc<Self>>) -> Report {
        let mut pointers: SeededIndexSet<&(String, String)> = SeededIndexSet::default();
        pointers.extend(parts.flat_map(|part| &part.report.pointers));
        Report {
            pointers: pointers.into_iter().cloned().collect(),
        }
    }
}

impl PartialEq for Grammar {
    fn eq(&self, other: &Self) -> bool {
        let mut seen: IdSet<(*const Self, *const Self)> = IdSet::default();
        let mut work = vec![(self, other)];
        while let Some((left, right)) = work.pop() {
            let pair = (std::ptr::from_ref(left), std::ptr::from_ref(right));
            if std::ptr::eq(left, right) || !seen.insert(pair) {
                continue;
            }
            let alike = left.start == right.start
                && left.exprs.len() == right.exprs.len()
                && left.rules == right.rules
                && left.report == right.report
                && left.warnings == right.warnings;
            if !alike {
                return false;
            }
            for both in left.exprs.iter().zip(&right.exprs) {
                match both {
                    (Expr::Embed(left), Expr::Embed(right)) => work.push((left, right)),
                    (left, right) if left != right => return false,
                    _ => {}
                }
            }
        }
        true
    }
}

impl Eq for Grammar {}

impl Drop for Grammar {
    fn drop(&mut self) {
        let embedded = |exprs: &mut Vec<Expr>| {
            std::mem::take(exprs)
                .into_iter()
                .filter_map(|expr| match expr {
                    Expr::Embed(grammar) => Some(grammar),
                    _ => None,
                })
        };
        let mut work: Vec<Arc<Self>> = embedded(&mut self.exprs).collect();
        while let Some(grammar) = work.pop() {
            // The last owner takes it apart.
            if let Some(mut grammar) = Arc::into_inner(grammar) {
                work.extend(embedded(&mut grammar.exprs));
            }
        }
    }
}

/// Builds a [`Grammar`]. Rules may be used before they are defined; a rule that never is matches nothing.
#[derive(Debug, Default)]
pub struct GrammarBuilder {
    rules: Vec<(Arc<str>, Option<ExprId>)>,
    exprs: Vec<Expr>,
}

impl GrammarBuilder {
    /// An empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a rule. Names are for people; the front end keeps them unique.
    pub fn rule(&mut self, name: &str) -> RuleId {
        self.rules.push((name.into(), None));
        RuleId(self.rules.len() as u32 - 1)
    }

    /// Defines a declared rule.
    ///
    /// # Panics
    /// If the id is of another builder.
    pub fn define(&mut self, rule: RuleId, body: ExprId) {
        self.rules[rule.0 as usize].1 = Some(body);
    }

    /// Adds an expression.
    pub fn add(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a regular language.
    pub fn regex(&mut self, regex: Regex) -> ExprId {
        self.add(Expr::Regex(regex))
    }

    /// Adds exact bytes.
    pub fn literal(&mut self, bytes: &[u8]) -> ExprId {
        self.regex(Regex::literal(bytes))
    }

    /// Adds a reference to a rule.
    pub fn reference(&mut self, rule: RuleId) -> ExprId {
        self.add(Expr::Rule(rule))
    }

    /// Adds a sequence; a single part is itself.
    pub fn seq(&mut self, parts: impl AsRef<[ExprId]>) -> ExprId {
        let parts = parts.as_ref();
        if let [only] = *parts {
            only
        } else {
            self.add(Expr::Seq(parts.into()))
        }
    }

    /// Adds alternatives; a single one is itself.
    pub fn alt(&mut self, parts: impl AsRef<[ExprId]>) -> ExprId {
        let parts = parts.as_ref();
        if let [only] = *parts {
            only
        } else {
            self.add(Expr::Alt(parts.into()))
        }
    }

    /// Adds a repetition; repetitions of repetitions by `?`, `*` and `+` do not nest.
    pub fn repeat(
        &mut self,
        mut inner: ExprId,
        mut min: u32,
        mut max: Option<u32>,
        separator: Option<ExprId>,
    ) -> ExprId {
        while separator.is_none()
            && min <= 1
            && matches!(max, None | Some(1))
            && let Expr::Repeat {
                inner: repeated,
                min: inner_min @ 0..=1,
                max: inner_max @ (None | Some(1)),
                separator: None,
            } = self.exprs[inner.0 as usize]
        {
            (inner, min, max) = (repeated, min * inner_min, max.and(inner_max));
        }
        self.add(Expr::Repeat {
            inner,
            min,
            max,
            separator,
        })
    }

    /// The finished grammar.
    #[must_use]
    pub fn finish(mut self, start: RuleId, report: Report) -> Grammar {
        let nothing = self.add(Expr::Alt(ExprIds::default()));
        let rules = self
            .rules
            .into_iter()
            .map(|(name, body)| Rule {
                name,
                body: body.unwrap_or(nothing),
            })
            .collect();
        let grammar = Grammar {
            rules,
            exprs: self.exprs,
            start,
            report,
            warnings: Vec::new(),
            identity: Identified::default(),
        };
        debug_assert!(grammar.is_whole(), "ids are of this builder");
        grammar
    }
}
