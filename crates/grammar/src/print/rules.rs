//! Prints a grammar as rules over characters, for languages without our regular operators: intersections, complements and
//! bytes become the states of an automaton.

use std::fmt::Write as _;

use super::measure::{copies, copies_of, is_large, is_long, one_character, regular};
use super::names::Names;
use super::regex::{Binding, Piece, Terminals, bounds, next_node, push_list};
use crate::error::{Error, shown};
use crate::ir::automaton::{self, CharacterState, Failure};
use crate::ir::{Expr, ExprId, Grammar, Matching, Regex, TokenSet, is_visibly_nothing};
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededMap};
use crate::tuning::{BLOCK, PRINT_FUEL};

/// How a language of grammars writes things.
pub(super) trait Notation<'g> {
    /// What people call it.
    const NAME: &'static str;
    /// The name of its start rule.
    const START: &'static str;
    /// What stands between the name of a rule and its body.
    const DEFINES: &'static str;
    /// The number of copies from which a reader refuses a repetition, its item's own copies included.
    const COPIES: u32 = u32::MAX;

    /// A name that the language can read.
    fn identifier(name: &str) -> String;
    /// A text.
    fn literal(out: &mut String, text: &str, outer: Binding);
    /// One character of ascending ranges of code points.
    fn class(out: &mut String, ranges: &[(u32, u32)]);
    /// A marker.
    fn marker(
        &mut self,
        out: &mut String,
        text: &'g str,
        outer: Binding,
    ) -> Result<(), Unprintable>;
    /// One of some tokens.
    fn token(
        &mut self,
        out: &mut String,
        set: &TokenSet,
        outer: Binding,
    ) -> Result<(), Unprintable>;
}

/// The text of a grammar. Intersections and complements are written out as rules where these are few.
///
/// # Errors
/// `E-GRAMMAR-UNPRINTABLE`: what the language cannot say, by name.
pub(super) fn written<'g, N: Notation<'g>>(
    grammar: &'g Grammar,
    notation: impl Fn() -> N,
) -> Result<(String, N), Error> {
    let (mut fuel, mut terminals) = (Fuel::of(PRINT_FUEL), Terminals::default());
    loop {
        let mut printer = Printer {
            notation: notation(),
            names: Names::new(grammar, N::START, N::identifier),
            matching: grammar.matching_if(|regex| !terminals.holds_nothing(regex)),
            fuel,
            written: SeededMap::default(),
            classes: SeededMap::default(),
            named: IdMap::default(),
            waiting: Vec::new(),
            extra: String::new(),
            blocks: SeededMap::default(),
            terminals,
            found_empty: false,
        };
        match printer.all() {
            Ok(text) => return Ok((text, printer.notation)),
            // What needs a terminal that turned out to be empty is left out.
            Err(_) if printer.found_empty => (fuel, terminals) = (printer.fuel, printer.terminals),
            Err(error) => return Err(error),
        }
    }
}

/// What cannot be written.
pub(super) type Unprintable = String;

struct Printer<'g, N> {
    notation: N,
    names: Names<'g>,
    matching: Matching,
    fuel: Fuel,
    /// Regular languages that are written out as rules already, by the name of the first.
    written: SeededMap<Regex, String>,
    /// What looked like one character, as a class if it is one.
    classes: SeededMap<Regex, Option<String>>,
    /// Expressions that stand in several places, by the names of their rules.
    named: IdMap<(usize, ExprId), String>,
    /// Those whose rules are still to be written.
    waiting: Vec<(String, usize, ExprId)>,
    /// Rules of what is written out.
    extra: String,
    /// Rules for many of something, by its name.
    blocks: SeededMap<String, String>,
    /// Knows which terminals are empty.
    terminals: Terminals,
    /// Whether a terminal turned out to be empty of which that was not known.
    found_empty: bool,
}

impl<'g, N: Notation<'g>> Printer<'g, N> {
    /// All rules.
    fn all(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        while let Some((name, owner, body)) = self.next_rule() {
            let _ = write!(text, "{name}{}", N::DEFINES);
            self.expr(&mut text, owner, body).map_err(|what| {
                let language = N::NAME;
                Error::grammar(
                    "E-GRAMMAR-UNPRINTABLE",
                    format!("{language} cannot say {what}, in the rule {}", shown(name)),
                )
                .with_hint("EBNF can say everything")
            })?;
            text.push('\n');
        }
        text.push_str(&self.extra);
        Ok(text)
    }

    /// The next rule that is still to be written: its name, the number of its grammar, its body.
    fn next_rule(&mut self) -> Option<(String, usize, ExprId)> {
        self.names.next().or_else(|| self.waiting.pop())
    }

    /// The name of a rule for what would otherwise be written more than once, and is long.
    fn named(&mut self, owner: usize, id: ExprId) -> Option<String> {
        is_long(self.names.grammar(owner), id).then(|| self.name(owner, id))
    }

    /// The name of a rule for an expression.
    fn name(&mut self, owner: usize, id: ExprId) -> String {
        if let Some(name) = self.named.get(&(owner, id)) {
            return name.clone();
        }
        let name = self.names.fresh("item");
        self.waiting.push((name.clone(), owner, id));
        self.named.insert((owner, id), name.clone());
        name
    }

    /// A rule of this text after all others: its name.
    fn extra_rule(&mut self, wanted: &str, body: &str) -> String {
        let name = self.names.fresh(wanted);
        let _ = writeln!(self.extra, "{name}{}{body}", N::DEFINES);
        name
    }

    /// A repetition of what has a name, in rules of blocks where its count is too large to be said at once.
    fn counted(&mut self, out: &mut String, item: &str, min: u32, max: Option<u32>) {
        self.exactly(out, item, min);
        let more = max.map(|max| max - min);
        if more == Some(0) {
            return;
        }
        out.push_str(if min > 0 { " " } else { "" });
        let Some(most) = more.filter(|&most| most >= N::COPIES) else {
            out.push_str(item);
            bounds(out, 0, more);
            return;
        };
        // All blocks and a part of one more, or less than all blocks and a rest.
        let block = self.block(item);
        let (blocks, rest) = (most / BLOCK, most % BLOCK);
        out.push('(');
        self.counted(out, &block, 0, Some(blocks - 1));
        let _ = write!(out, " {item}");
        bounds(out, 0, Some(BLOCK - 1));
        out.push_str(" | ");
        self.exactly(out, &block, blocks);
        if rest > 0 {
            let _ = write!(out, " {item}");
            bounds(out, 0, Some(rest));
        }
        out.push(')');
    }

    fn exactly(&mut self, out: &mut String, item: &str, count: u32) {
        if count == 0 {
            return;
        }
        if count < N::COPIES {
            out.push_str(item);
            bounds(out, count, Some(count));
            return;
        }
        let block = self.block(item);
        self.exactly(out, &block, count / BLOCK);
        if !count.is_multiple_of(BLOCK) {
            out.push(' ');
            self.exactly(out, item, count % BLOCK);
        }
    }

    /// The name of a rule for many of something that has a name.
    fn block(&mut self, item: &str) -> String {
        if let Some(name) = self.blocks.get(item) {
            return name.clone();
        }
        let name = self.extra_rule("block", &format!("{item}{{{BLOCK}}}"));
        self.blocks.insert(item.to_owned(), name.clone());
        name
    }

    fn expr(&mut self, out: &mut String, owner: usize, root: ExprId) -> Result<(), Unprintable> {
        let grammar = self.names.grammar(owner);
        let mut work = vec![Piece::Node(root, Binding::Alternation)];
        while let Some((id, outer)) = next_node(out, &mut work) {
            // A character of several bytes may lie in several expressions.
            if let Some(regex) = regular(grammar, id) {
                self.regex(out, &regex, outer)?;
                continue;
            }
            match grammar.expr(id) {
                &Expr::Repeat {
                    min,
                    max: Some(max),
                    ..
                } if max < min => return Err("a language without any text".to_owned()),
                Expr::Empty | Expr::Repeat { max: Some(0), .. } => N::literal(out, "", outer),
                Expr::Regex(regex) => self.regex(out, regex, outer)?,
                Expr::Rule(rule) => out.push_str(&self.names.of(owner, *rule)),
                Expr::Marker(text) => self.notation.marker(out, text, outer)?,
                Expr::Token(set) => self.notation.token(out, set, outer)?,
                // A label says nothing about the text.
                Expr::Capture { inner, .. } => work.push(Piece::Node(*inner, outer)),
                Expr::Embed(inner) => out.push_str(&self.names.start_of(inner)),
                // What matches nothing can only be left out.
                &Expr::Repeat { inner, min: 0, .. } if !self.matching.any(grammar, inner) => {
                    N::literal(out, "", outer);
                }
                Expr::Seq(parts) if parts.is_empty() => N::literal(out, "", outer),
                Expr::Seq(parts) => list(out, &mut work, parts, " ", outer),
                Expr::Alt(parts) => {
                    let parts: Vec<ExprId> = parts
                        .iter()
                        .copied()
                        .filter(|&part| self.matching.any(grammar, part))
                        .collect();
                    if parts.is_empty() {
                        return Err("a language without any text".to_owned());
                    }
                    list(out, &mut work, &parts, " | ", outer);
                }
                &Expr::Repeat {
                    inner,
                    min,
                    max,
                    separator: None,
                } => {
                    // One repetition right after another is not read everywhere.
                    if outer == Binding::Primary {
                        out.push('(');
                        work.push(Piece::Text(")"));
                    }
                    if is_large(copies_of(grammar, inner), min, max, N::COPIES) {
                        let item = self.name(owner, inner);
                        self.counted(out, &item, min, max);
                        continue;
                    }
                    work.push(Piece::Bounds(min, max));
                    work.push(Piece::Node(inner, Binding::Primary));
                }
                &Expr::Repeat {
                    inner,
                    min,
                    max,
                    separator: Some(separator),
                } => {
                    if outer == Binding::Primary && min == 0 {
                        out.push('(');
                        work.push(Piece::Text(")"));
                    }
                    self.separated(out, &mut work, owner, (inner, separator), (min, max));
                }
            }
        }
        Ok(())
    }

    /// Several of something with something else between them.
    fn separated(
        &mut self,
        out: &mut String,
        work: &mut Vec<Piece<ExprId>>,
        owner: usize,
        (inner, separator): (ExprId, ExprId),
        (min, max): (u32, Option<u32>),
    ) {
        let grammar = self.names.grammar(owner);
        out.push('(');
        work.push(Piece::Text(if min == 0 { ")?" } else { ")" }));
        if max == Some(1) {
            work.push(Piece::Node(inner, Binding::Primary));
            return;
        }
        let (least, most) = (min.saturating_sub(1), max.map(|max| max - 1));
        let each = copies_of(grammar, inner) + copies_of(grammar, separator);
        if is_large(each, least, most, N::COPIES) {
            let (item, between) = (self.name(owner, inner), self.name(owner, separator));
            let more = self.extra_rule("more", &format!("{between} {item}"));
            let _ = write!(out, "{item} ");
            self.counted(out, &more, least, most);
            return;
        }
        let named = self.named(owner, inner);
        let item = || match &named {
            Some(name) => Piece::Name(name.clone()),
            None => Piece::Node(inner, Binding::Primary),
        };
        work.push(Piece::Bounds(least, most));
        work.push(Piece::Text(")"));
        work.push(item());
        work.push(Piece::Text(" "));
        work.push(Piece::Node(separator, Binding::Primary));
        work.push(Piece::Text(" ("));
        work.push(item());
    }

    /// Recursion follows the nesting of the expression, which the front ends bound.
    fn regex(
        &mut self,
        out: &mut String,
        regex: &Regex,
        outer: Binding,
    ) -> Result<(), Unprintable> {
        if is_visibly_nothing(regex) {
            return Err("a language without any text".to_owned());
        }
        let begin = out.len();
        match regex {
            _ if one_character(regex) => {
                if !self.classes.contains_key(regex) {
                    let class = self.class(regex);
                    self.classes.insert(regex.clone(), class);
                }
                if let Some(Some(class)) = self.classes.get(regex) {
                    out.push_str(class);
                    return Ok(());
                }
            }
            Regex::Literal(bytes) => {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    N::literal(out, text, outer);
                    return Ok(());
                }
            }
            Regex::Concat(parts) if parts.is_empty() => {
                N::literal(out, "", outer);
                return Ok(());
            }
            Regex::Concat(_) | Regex::Alt(_) | Regex::Repeat { .. } => {
                if self.structure(out, regex, outer).is_ok() {
                    return Ok(());
                }
                out.truncate(begin);
            }
            _ => {}
        }
        let name = self.rules(regex)?;
        out.push_str(&name);
        Ok(())
    }

    /// What may be one character as a class, if it is.
    fn class(&mut self, regex: &Regex) -> Option<String> {
        let states = automaton::over_characters(regex, &mut self.fuel).ok()?;
        let [start, end] = &states[..] else {
            return None;
        };
        let ends = end.accepting && end.steps.is_empty() && !start.accepting;
        if !ends || start.steps.iter().any(|&(_, _, to)| to != 1) {
            return None;
        }
        let mut text = String::new();
        N::class(&mut text, &ranges(start));
        Some(text)
    }

    /// Writes an expression part by part; fails where a part is no text of its own.
    fn structure(
        &mut self,
        out: &mut String,
        regex: &Regex,
        outer: Binding,
    ) -> Result<(), Unprintable> {
        let (parts, between, own) = match regex {
            Regex::Repeat { inner, min, max } => {
                if *max == Some(0) {
                    N::literal(out, "", outer);
                    return Ok(());
                }
                let nested = outer == Binding::Primary;
                out.push_str(if nested { "(" } else { "" });
                if is_large(copies(inner), *min, *max, N::COPIES) {
                    let mut body = String::new();
                    self.regex(&mut body, inner, Binding::Alternation)?;
                    let item = self.extra_rule("part", &body);
                    self.counted(out, &item, *min, *max);
                } else {
                    self.regex(out, inner, Binding::Primary)?;
                    bounds(out, *min, *max);
                }
                out.push_str(if nested { ")" } else { "" });
                return Ok(());
            }
            Regex::Concat(parts) => (parts, " ", Binding::Sequence),
            Regex::Alt(parts) => (parts, " | ", Binding::Alternation),
            _ => return Err(String::new()),
        };
        let parts: Vec<&Regex> = parts
            .iter()
            .filter(|part| own == Binding::Sequence || !self.terminals.holds_nothing(part))
            .collect();
        if let [only] = parts[..] {
            return self.regex(out, only, outer);
        }
        if parts.is_empty() && own == Binding::Alternation {
            return Err(String::new());
        }
        let nested = own < outer;
        out.push_str(if nested { "(" } else { "" });
        for (position, part) in parts.into_iter().enumerate() {
            out.push_str(if position > 0 { between } else { "" });
            // A sequence in a sequence needs no parentheses.
            self.regex(out, part, Binding::Sequence)?;
        }
        out.push_str(if nested { ")" } else { "" });
        Ok(())
    }

    /// Writes a language out as rules, one a state, and says the name of the first.
    fn rules(&mut self, regex: &Regex) -> Result<String, Unprintable> {
        if let Some(name) = self.written.get(regex) {
            return Ok(name.clone());
        }
        let states =
            automaton::over_characters(regex, &mut self.fuel).map_err(|failure| match failure {
                Failure::TooLarge => {
                    "an intersection, complement or set of bytes that needs too many rules"
                        .to_owned()
                }
                Failure::NotUtf8 => "bytes that are no text".to_owned(),
            })?;
        if states.iter().all(|state| !state.accepting) {
            self.found_empty |= self.terminals.note_nothing(regex);
            return Err("a language without any text".to_owned());
        }
        let names: Vec<String> = states.iter().map(|_| self.names.fresh("text")).collect();
        // The first state has a rule whatever it is: that is what others name.
        let written = |(at, state): &(usize, &CharacterState)| *at == 0 || !is_last(state);
        for (at, state) in states.iter().enumerate().filter(written) {
            let name = &names[at];
            let _ = write!(self.extra, "{name}{}", N::DEFINES);
            write_state::<N>(&mut self.extra, state, &states, &names);
            self.extra.push('\n');
        }
        self.written.insert(regex.clone(), names[0].clone());
        Ok(names[0].clone())
    }
}

/// Whether it is an end with nothing after it, which needs no rule.
fn is_last(state: &CharacterState) -> bool {
    state.accepting && state.steps.is_empty()
}

fn write_state<'g, N: Notation<'g>>(
    out: &mut String,
    state: &CharacterState,
    states: &[CharacterState],
    names: &[String],
) {
    let mut by_target: Vec<(usize, Vec<(u32, u32)>)> = Vec::new();
    for &(first, last, to) in &state.steps {
        match by_target.iter_mut().find(|(target, _)| *target == to) {
            Some((_, ranges)) => ranges.push((first, last)),
            None => by_target.push((to, vec![(first, last)])),
        }
    }
    let mut between = "";
    for (to, ranges) in by_target {
        out.push_str(between);
        between = " | ";
        N::class(out, &ranges);
        if !is_last(&states[to]) {
            let _ = write!(out, " {}", names[to]);
        }
    }
    if state.accepting {
        out.push_str(between);
        N::literal(out, "", Binding::Sequence);
    }
}

fn ranges(state: &CharacterState) -> Vec<(u32, u32)> {
    let steps = state.steps.iter();
    steps.map(|&(first, last, _)| (first, last)).collect()
}

fn list(
    out: &mut String,
    work: &mut Vec<Piece<ExprId>>,
    parts: &[ExprId],
    between: &'static str,
    outer: Binding,
) {
    if let [only] = parts {
        work.push(Piece::Node(*only, outer));
        return;
    }
    let alternatives = between != " ";
    let own = if alternatives {
        Binding::Alternation
    } else {
        Binding::Sequence
    };
    if own < outer {
        out.push('(');
        work.push(Piece::Text(")"));
    }
    // A sequence in a sequence needs no parentheses.
    push_list(work, parts.iter().copied(), between, Binding::Sequence);
}
