//! Lowers a syntax tree to a grammar. What is regular stays one regular language for as long as an operator may need it
//! whole.

mod longest;
mod without;

use std::sync::Arc;

use super::ast::{Ast, Constant, Function, Node, NodeId, Pattern, Rule, Sight};
use super::checks;
use super::operands::{self, Positions};
use super::regular::{Context, Regular, apply, expansion, simple_repeat};
use super::suggest::near_names;
use crate::error::{Diagnostic, Error, SourceLocation};
use crate::ir::text::{any_text, runs};
use crate::ir::{ByteSet, Expr, ExprId, ExprIds, Grammar, GrammarBuilder, Regex, Report, RuleId};
use crate::ir::{EmptinessChecks, is_visibly_nothing};
use crate::limits::Limits;
use crate::maps::{IdIndexMap, SeededIndexMap};
use crate::syntax::regex::{self, InRule, Patterns, Utf8};
use crate::tuning::{LOWER_ALL, LOWER_ONE, MAX_REGULAR_NESTING, REPEATED_WEIGHT};

enum Lowered {
    Regular(Regular),
    Expr(ExprId),
}

struct Lowering<'a> {
    text: &'a str,
    ast: &'a Ast,
    limits: &'a Limits,
    builder: GrammarBuilder,
    /// Grammars that the source may name.
    given: SeededIndexMap<&'a str, &'a Arc<Grammar>>,
    /// Grammars that stand in it.
    embedded: IdIndexMap<*const Grammar, Arc<Grammar>>,
    /// By the position of a rule.
    rules: Vec<RuleId>,
    positions: Positions<'a>,
    /// By node; all are there once everything is lowered.
    values: Vec<Option<Lowered>>,
    /// Whether the node that is lowered must be regular.
    operand: bool,
    /// Finds terminals that match nothing.
    checks: EmptinessChecks,
    patterns: Patterns,
    /// Each with its offset.
    warnings: Vec<(usize, Diagnostic)>,
}

/// Builds the grammar. Names that no rule has may be those of `given`.
pub(in crate::syntax) fn lower(
    text: &str,
    ast: &Ast,
    start: &str,
    given: &[(&str, Arc<Grammar>)],
    limits: &Limits,
) -> Result<Grammar, Error> {
    let mut builder = GrammarBuilder::new();
    let rules: Vec<RuleId> = ast
        .rules
        .iter()
        .map(|rule| builder.rule(&rule.name))
        .collect();
    let positions: Positions<'_> = ast
        .rules
        .iter()
        .enumerate()
        .map(|(position, rule)| (rule.name.as_str(), position))
        .collect();
    let Some(&start_position) = positions.get(start) else {
        let error = Error::grammar(
            "E-GRAMMAR-START",
            format!("there is no rule {start:?} to start from"),
        )
        .at(SourceLocation::in_text(text, 0));
        let near = near_names(start, positions.keys().copied());
        return Err(error.with_hint(match ast.rules.first() {
            Some(first) => format!("{near}; the start rule is chosen by start={:?}", first.name),
            None => near,
        }));
    };
    let start_rule = rules[start_position];
    if let Some(&rule) = given.iter().find_map(|(name, _)| positions.get(name)) {
        let Rule { name, offset, .. } = &ast.rules[rule];
        let message = format!("the rule {name:?} has the name of a grammar that is given");
        return Err(Error::grammar("E-GRAMMAR-DUPLICATE", message)
            .at(SourceLocation::in_text(text, *offset))
            .with_hint("give one of the two another name"));
    }
    let order = operands::order(text, ast, &positions)?;
    let mut values = Vec::new();
    values.resize_with(ast.nodes.len(), || None);
    let mut lowering = Lowering {
        text,
        ast,
        limits,
        builder,
        given: given
            .iter()
            .map(|(name, grammar)| (*name, grammar))
            .collect(),
        embedded: IdIndexMap::default(),
        rules,
        positions,
        values,
        operand: false,
        checks: EmptinessChecks::new(LOWER_ONE, LOWER_ALL),
        patterns: Patterns::new(limits),
        warnings: ast.warnings.clone(),
    };
    for id in order.nodes {
        lowering.operand = order.operand[id.0 as usize];
        let (node, offset) = &ast.nodes[id.0 as usize];
        let value = if order.replaced[id.0 as usize] {
            lowering.replaced(node, *offset)?
        } else {
            lowering.node(node, *offset)?
        };
        if let Lowered::Regular(regular) = &value {
            lowering.check(regular, *offset)?;
        }
        lowering.values[id.0 as usize] = Some(value);
    }
    for (rule, &id) in ast.rules.iter().zip(&lowering.rules.clone()) {
        let body = lowering.expr(rule.body);
        lowering.builder.define(id, body);
    }
    lowering.warn_of_longest();
    let grammar = lowering.builder.finish(start_rule, Report::default());
    let found = (grammar, lowering.warnings);
    let grammar = checks::check(text, ast, start_position, &lowering.positions, found)?;
    Ok(grammar.joining(lowering.embedded.values()))
}

impl Lowering<'_> {
    /// What was made of a node, which came before.
    fn value(&self, id: NodeId) -> &Lowered {
        self.values[id.0 as usize]
            .as_ref()
            .expect("nodes come in order")
    }

    /// A name in an operand: what its rule says.
    fn replaced(&mut self, node: &Node, offset: usize) -> Result<Lowered, Error> {
        let body = operands::body(self.ast, &self.positions, node);
        match body.map(|body| self.value(body)) {
            Some(Lowered::Regular(regular)) => {
                let named = Regular {
                    context: regular.context.clone(),
                    ..Regular::of(regular.regex.clone(), [regular])
                };
                // It stands here once more.
                let fuel = &mut self.patterns.fuel;
                fuel.spend(named.regex.weight() as usize / 8)
                    .map_err(|error| error.at(SourceLocation::in_text(self.text, offset)))?;
                Ok(Lowered::Regular(named))
            }
            _ => self.node(node, offset),
        }
    }

    /// Names multiply what they stand for, and nest it.
    fn check(&self, regular: &Regular, offset: usize) -> Result<(), Error> {
        let place = || SourceLocation::in_text(self.text, offset);
        if regular.weight > self.limits.compile_fuel {
            let (given, allowed) = (regular.weight, self.limits.compile_fuel);
            let error = Error::limit("E-LIMIT-FUEL", "compile_fuel", given, allowed);
            return Err(error.at(place()));
        }
        if regular.depth > MAX_REGULAR_NESTING {
            let (given, allowed) = (regular.depth as u64, MAX_REGULAR_NESTING as u64);
            let error = Error::limit("E-LIMIT-GRAMMAR-NESTING", "grammar_nesting", given, allowed);
            return Err(error.at(place()));
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, offset: usize) -> Result<Lowered, Error> {
        let leaf = |regex| Ok(Lowered::Regular(Regular::of(regex, [])));
        match node {
            Node::Bytes(bytes) => leaf(Regex::literal(bytes)),
            Node::Regex(regex) => leaf(regex.clone()),
            Node::Pattern(pattern) => self.pattern(pattern, offset),
            Node::Parts(pieces) => {
                let given: usize = pieces.iter().map(Vec::len).sum();
                let limit = ("E-LIMIT-REGEX-BYTES", "regex_bytes");
                Error::check_limit(limit, given, self.limits.regex_bytes)
                    .map_err(|error| error.at(SourceLocation::in_text(self.text, offset)))?;
                // One optional whole: alternatives would be taken apart.
                leaf(Regex::repeat(runs(pieces), 0, Some(1)))
            }
            Node::Class(ranges) => leaf(self.patterns.class(ranges, &mut Utf8)?),
            Node::Grammar(grammar) => Ok(self.embed(grammar)),
            Node::Constant(Constant::Any) => leaf(any_text()),
            Node::Constant(Constant::Byte) => leaf(Regex::Class(ByteSet::FULL)),
            Node::Constant(Constant::Nothing) => leaf(Regex::Nothing),
            Node::Name(name) => match self.positions.get(name.as_str()) {
                Some(&position) => {
                    let rule = self.rules[position];
                    Ok(Lowered::Expr(self.builder.reference(rule)))
                }
                None => match self.given.get(name.as_str()) {
                    Some(grammar) => Ok(self.embed(grammar)),
                    None => Err(self.undefined(name, offset)),
                },
            },
            Node::Marker(text) => Ok(Lowered::Expr(
                self.builder.add(Expr::Marker(text.as_str().into())),
            )),
            Node::Token(token) => Ok(Lowered::Expr(self.builder.add(Expr::Token(token.clone())))),
            Node::Capture(label, inner) => {
                let inner = self.expr(*inner);
                Ok(Lowered::Expr(self.builder.add(Expr::Capture {
                    label: label.as_str().into(),
                    inner,
                })))
            }
            Node::Function(function, inner) => {
                let regular = self.regular(*inner)?;
                self.check_operand(*function, regular, *inner)?;
                if *function == Function::Part {
                    return match regular.stops {
                        None => Ok(Lowered::Regular(regular.clone())),
                        Some(at) => Err(self.lazy(at)),
                    };
                }
                let regex = apply(*function, regular);
                let mut whole = Regular::of(regex, [regular]);
                // An intersection, a complement, and what stands around the operand.
                whole.depth += 2;
                if self.is_nothing(&whole.regex, &[*inner]) {
                    return Err(self.nothing(offset));
                }
                Ok(Lowered::Regular(whole))
            }
            Node::Without(without) => self.without(without, offset),
            Node::And(operands) => {
                let parts = operands
                    .iter()
                    .map(|&operand| self.regular(operand))
                    .collect::<Result<Vec<_>, Error>>()?;
                let regexes: Vec<Regex> = parts.iter().map(|part| part.regex.clone()).collect();
                let both = Regular::of(Regex::And(regexes.into()), parts);
                if self.is_nothing(&both.regex, operands) {
                    return Err(self.nothing(offset));
                }
                Ok(Lowered::Regular(both))
            }
            Node::Seq(parts) => Ok(self.joined(parts, false)),
            Node::Alt(parts) => Ok(self.joined(parts, true)),
            Node::Repeat {
                inner,
                min,
                max,
                separator,
            } => self.repeat(*inner, *min, *max, *separator, offset),
        }
    }

    fn pattern(&mut self, pattern: &Pattern, offset: usize) -> Result<Lowered, Error> {
        let read = regex::parse_in_rule(&pattern.text, self.limits, &mut self.patterns);
        let read = read.map_err(|error| self.moved(error, pattern))?;
        if let Some(at) = read.folds {
            let message = "ignoring case, the pattern matches letters beyond ASCII, such as ſ for s and the Kelvin sign for k";
            let hint = "write (?i-u:…) for the letters of ASCII alone";
            let warning = Diagnostic::new("W-REGEX-CASE", message).with_hint(hint);
            self.warnings.push((pattern.source(at), warning));
        }
        self.check_sight(&read, pattern)?;
        let stops = self.stops(&read, pattern)?;
        let somewhere = read.somewhere.filter(|_| self.operand);
        // What looks at text outside may still match somewhere in a text.
        if is_visibly_nothing(&read.whole) && somewhere.is_none() {
            return Err(self.nothing(offset));
        }
        let expansion = expansion(&read.whole);
        let context = somewhere.map_or(Context::Free, |text| Context::Around(text, offset));
        let whole = Regular {
            expansion,
            context,
            stops,
            ..Regular::of(read.whole, [])
        };
        Ok(Lowered::Regular(match stops {
            None => whole,
            Some(_) => Regular {
                depth: 3,
                ..Regular::of(apply(Function::Shortest, &whole), [&whole])
            },
        }))
    }

    /// Refuses a pattern in a text that goes on which looks beyond its own text, and says that its anchors are left out.
    fn check_sight(&mut self, read: &InRule, pattern: &Pattern) -> Result<(), Error> {
        if pattern.sight == Sight::Own {
            return Ok(());
        }
        if let Some((message, at)) = read.looks_beyond {
            return Err(Error::grammar("E-REGEX-UNSUPPORTED", message)
                .at(SourceLocation::in_text(self.text, pattern.source(at)))
                .with_hint(
                    "a terminal is decided by its own text: take what it looks at into it, leave a \\b at its edge out, or exclude texts with & and ~",
                ));
        }
        if let Some(at) = read.anchor {
            let message = "^ and $ say nothing in a terminal, which may stand anywhere in a text";
            let warning = Diagnostic::new("W-REGEX-ANCHOR", message).with_hint("leave them out");
            self.warnings.push((pattern.source(at), warning));
        }
        Ok(())
    }

    /// Where the lazy repetition is that ends a pattern at its shortest match.
    fn stops(&mut self, read: &InRule, pattern: &Pattern) -> Result<Option<usize>, Error> {
        let Some(at) = read.lazy else {
            return Ok(None);
        };
        if matches!(pattern.sight, Sight::Own | Sight::Shortest) {
            return Ok(None);
        }
        let more = Regex::repeat(Regex::Class(ByteSet::FULL), 1, None);
        let longer = Regex::concat(vec![read.whole.clone(), more]);
        let both = Regex::And([read.whole.clone(), longer].into());
        // No match begins another: there is nothing to choose from.
        if self.checks.is_nothing(&both) {
            return Ok(None);
        }
        let at = pattern.source(at);
        if pattern.sight == Sight::Whole && read.is_shortest {
            return Ok(Some(at));
        }
        Err(self.lazy(at))
    }

    fn lazy(&self, at: usize) -> Error {
        let message =
            "lazy repetition is only supported where it alone decides how long a terminal is";
        Error::grammar("E-REGEX-UNSUPPORTED", message)
            .at(SourceLocation::in_text(self.text, at))
            .with_hint(
                "write NAME[lazy]: … for the shortest match of a terminal, or say what may stand in it: /\"[^\"]*\"/",
            )
    }

    /// A whole grammar; what is said of it is said once.
    fn embed(&mut self, grammar: &Arc<Grammar>) -> Lowered {
        let known = self.embedded.entry(Arc::as_ptr(grammar));
        known.or_insert_with(|| Arc::clone(grammar));
        Lowered::Expr(self.builder.add(Expr::Embed(Arc::clone(grammar))))
    }

    fn undefined(&self, name: &str, offset: usize) -> Error {
        let names = self.positions.keys().chain(self.given.keys());
        Error::grammar("E-GRAMMAR-UNDEFINED", format!("there is no rule {name:?}"))
            .at(SourceLocation::in_text(self.text, offset))
            .with_hint(near_names(name, names.copied()))
    }

    /// Whether it is certain that what an operator makes of its operands matches nothing, and no operand said so.
    fn is_nothing(&mut self, made: &Regex, of: &[NodeId]) -> bool {
        self.checks.is_nothing(made)
            && !of.iter().any(|&id| {
                matches!(self.value(id), Lowered::Regular(part) if is_visibly_nothing(&part.regex))
            })
    }

    fn nothing(&self, offset: usize) -> Error {
        Error::grammar(
            "E-GRAMMAR-NOTHING",
            "this terminal matches no string at all",
        )
        .at(SourceLocation::in_text(self.text, offset))
        .with_hint("where that is meant, write nothing!")
    }

    /// What is excluded must not be the empty string, which stands in every text.
    fn check_operand(
        &self,
        function: Function,
        operand: &Regular,
        id: NodeId,
    ) -> Result<(), Error> {
        let excludes = matches!(function, Function::Except | Function::Until);
        if let Context::Inside(offset) = operand.context
            && excludes
        {
            return Err(Error::grammar(
                "E-REGEX-UNSUPPORTED",
                "this pattern looks around itself, and is a part of what is excluded",
            )
            .at(SourceLocation::in_text(self.text, offset))
            .with_hint(
                "exclude it by itself or as an alternative, or do without ^ $ \\b and look-around",
            ));
        }
        if !excludes || !operand.regex.is_nullable() {
            return Ok(());
        }
        let offset = self.ast.nodes[id.0 as usize].1;
        Err(Error::grammar(
            "E-GRAMMAR-EXCEPT",
            "what is excluded matches the empty string, which every text contains",
        )
        .at(SourceLocation::in_text(self.text, offset))
        .with_hint("exclude what has one byte or more"))
    }

    /// An error of a pattern, at its place in the grammar.
    fn moved(&self, mut error: Error, pattern: &Pattern) -> Error {
        if pattern.is_doubled() && error.code() == "E-REGEX-SYNTAX" {
            error = error.with_hint(
                "a pattern is a string, in which \\\\ is one backslash: for a backslash itself write \\\\\\\\",
            );
        }
        let offset = match error.location() {
            Some(&SourceLocation::Text { offset, .. }) => offset,
            _ => 0,
        };
        error.at(SourceLocation::in_text(self.text, pattern.source(offset)))
    }

    fn regular(&self, id: NodeId) -> Result<&Regular, Error> {
        match self.value(id) {
            Lowered::Regular(regular) => Ok(regular),
            Lowered::Expr(_) => {
                let offset = self.ast.nodes[id.0 as usize].1;
                Err(Error::grammar("E-GRAMMAR-IRREGULAR", "this operand must be regular")
                    .at(SourceLocation::in_text(self.text, offset))
                    .with_hint("strings, patterns, builtins, groups and rules of them are; markers, tokens, captures and recursion are not"))
            }
        }
    }

    /// The expression of a node. A regular sequence is taken apart, so that what it is made of can be shared.
    fn expr(&mut self, id: NodeId) -> ExprId {
        let regex = match self.value(id) {
            Lowered::Expr(expr) => return *expr,
            Lowered::Regular(regular) => regular.regex.clone(),
        };
        match regex {
            Regex::Alt(parts) if parts.iter().any(|part| matches!(part, Regex::Concat(_))) => {
                let mut plain = Vec::new();
                let mut alternatives = Vec::new();
                for part in parts.iter() {
                    if matches!(part, Regex::Concat(_)) {
                        alternatives.push(self.sequence(part));
                    } else {
                        plain.push(part.clone());
                    }
                }
                if !plain.is_empty() {
                    alternatives.push(self.builder.regex(Regex::alt(plain)));
                }
                self.builder.alt(alternatives)
            }
            regex => self.sequence(&regex),
        }
    }

    fn sequence(&mut self, regex: &Regex) -> ExprId {
        match regex {
            Regex::Concat(parts) => {
                let parts: ExprIds = parts
                    .iter()
                    .map(|part| self.builder.regex(part.clone()))
                    .collect();
                self.builder.seq(parts)
            }
            other => self.builder.regex(other.clone()),
        }
    }

    fn joined(&mut self, parts: &[NodeId], is_choice: bool) -> Lowered {
        type Join = (
            fn(Vec<Regex>) -> Regex,
            fn(&mut GrammarBuilder, Vec<ExprId>) -> ExprId,
        );
        let (regular, build): Join = if is_choice {
            (Regex::alt, GrammarBuilder::alt)
        } else {
            (Regex::concat, GrammarBuilder::seq)
        };
        let regulars: Option<Vec<&Regular>> = parts
            .iter()
            .map(|&id| match self.value(id) {
                Lowered::Regular(regular) => Some(regular),
                Lowered::Expr(_) => None,
            })
            .collect();
        if let Some(regulars) = regulars {
            let regexes = regulars.iter().map(|part| part.regex.clone()).collect();
            let chosen = is_choice.then(|| Regular::choice(&regulars)).flatten();
            let mut joined = Regular::of(regular(regexes), regulars);
            joined.context = chosen.unwrap_or(joined.context);
            return Lowered::Regular(joined);
        }
        let parts = parts.iter().map(|&id| self.expr(id)).collect();
        Lowered::Expr(build(&mut self.builder, parts))
    }

    fn repeat(
        &mut self,
        inner: NodeId,
        min: u32,
        max: Option<u32>,
        separator: Option<NodeId>,
        offset: usize,
    ) -> Result<Lowered, Error> {
        let Lowered::Regular(regular) = self.value(inner) else {
            return Ok(self.repeated_expr(inner, min, max, separator));
        };
        let between = match separator.map(|id| self.value(id)) {
            None => None,
            Some(Lowered::Regular(between)) => Some(between),
            Some(Lowered::Expr(_)) => return Ok(self.repeated_expr(inner, min, max, separator)),
        };
        // What stands around separators is written twice.
        if between.is_some() && !self.operand && regular.weight > u64::from(REPEATED_WEIGHT) {
            return Ok(self.repeated_expr(inner, min, max, separator));
        }
        let regex = &regular.regex;
        let inner_expansion = between.map_or(regular.expansion, |between| {
            between.expansion.max(regular.expansion)
        });
        let bound = u64::from(max.unwrap_or(min).max(1));
        let product = inner_expansion.saturating_mul(bound);
        let allowed = self.limits.regex_expansion;
        if inner_expansion > 1 && bound > 1 && product > allowed {
            return Err(Error::limit(
                "E-LIMIT-REGEX-EXPANSION",
                "regex_expansion",
                product,
                allowed,
            )
            .at(SourceLocation::in_text(self.text, offset)));
        }
        let repeated = match between {
            None => simple_repeat(regex, min, max),
            Some(_) if max == Some(0) => Regex::empty(),
            Some(between) => {
                let more = Regex::concat(vec![between.regex.clone(), regex.clone()]);
                let rest = Regex::repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
                let some = Regex::concat(vec![regex.clone(), rest]);
                if min == 0 {
                    Regex::repeat(some, 0, Some(1))
                } else {
                    some
                }
            }
        };
        let mut repeated = Regular::of(repeated, std::iter::once(regular).chain(between));
        if between.is_some() {
            // The first is written down once more, before pairs of a separator and another.
            repeated.weight = repeated.weight.saturating_mul(2);
            repeated.depth += 3;
        }
        Ok(Lowered::Regular(Regular {
            expansion: product,
            ..repeated
        }))
    }

    fn repeated_expr(
        &mut self,
        inner: NodeId,
        min: u32,
        max: Option<u32>,
        separator: Option<NodeId>,
    ) -> Lowered {
        let inner = self.expr(inner);
        let separator = separator.map(|id| self.expr(id));
        Lowered::Expr(self.builder.repeat(inner, min, max, separator))
    }
}
