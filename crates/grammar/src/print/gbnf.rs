//! A grammar as GBNF text, where GBNF can say it.

use std::fmt::Write as _;

use super::names::Names;
use super::regex::{Binding, Piece, bounds, next_node, push_list};
use crate::error::Error;
use crate::ir::automaton::{self, Failure, State};
use crate::ir::{Expr, ExprId, Grammar, Matching, Regex, TokenSet, is_visibly_nothing};
use crate::maps::{IdMap, SeededMap, SeededSet};

/// Tokens by number that are written one by one.
const TOKENS: u64 = 256;

/// Nodes of derivatives that one grammar may make.
const FUEL: usize = 4_000_000;

/// What is written more than once gets a name if it has more nodes and bytes.
const LONG: usize = 256;

/// A grammar as GBNF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gbnf {
    /// The source; its start rule is `root`.
    pub text: String,
    /// Markers that stand in it as plain text, in the order in which they are met: a vocabulary that has them as tokens must
    /// let these tokens match their text.
    pub preserved_tokens: Vec<String>,
}

/// The grammar as GBNF; [`crate::syntax::gbnf::parse`] reads it back to the same language. Markers become plain text.
/// Intersections and complements are written out as rules where these are few.
///
/// # Errors
/// `E-GRAMMAR-UNPRINTABLE`: what GBNF cannot say, by name.
pub fn to_gbnf(grammar: &Grammar) -> Result<Gbnf, Error> {
    let mut printer = Printer {
        names: Names::new(grammar, "root", identifier),
        matching: grammar.matching(),
        fuel: FUEL,
        written: SeededMap::default(),
        classes: SeededMap::default(),
        named: IdMap::default(),
        waiting: Vec::new(),
        extra: String::new(),
        markers: Vec::new(),
        seen: SeededSet::default(),
    };
    let mut text = String::new();
    while let Some((name, owner, body)) = printer.next_rule() {
        let _ = write!(text, "{name} ::= ");
        printer.expr(&mut text, owner, body).map_err(|what| {
            Error::grammar(
                "E-GRAMMAR-UNPRINTABLE",
                format!("GBNF cannot say {what}, in the rule {name:?}"),
            )
            .with_hint("EBNF can say everything")
        })?;
        text.push('\n');
    }
    text.push_str(&printer.extra);
    Ok(Gbnf {
        text,
        preserved_tokens: printer.markers,
    })
}

type Unprintable = String;

struct Printer<'g> {
    names: Names<'g>,
    matching: Matching,
    fuel: usize,
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
    markers: Vec<String>,
    seen: SeededSet<&'g str>,
}

impl Printer<'_> {
    /// The next rule that is still to be written: its name, the number of its grammar, its body.
    fn next_rule(&mut self) -> Option<(String, usize, ExprId)> {
        self.names.next().or_else(|| self.waiting.pop())
    }

    /// The name of a rule for what would otherwise be written more than once, and is long.
    fn named(&mut self, owner: usize, id: ExprId) -> Option<String> {
        if let Some(name) = self.named.get(&(owner, id)) {
            return Some(name.clone());
        }
        if !is_long(self.names.grammar(owner), id) {
            return None;
        }
        let name = self.names.fresh("item");
        self.waiting.push((name.clone(), owner, id));
        self.named.insert((owner, id), name.clone());
        Some(name)
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
                Expr::Empty | Expr::Repeat { max: Some(0), .. } => literal(out, "", outer),
                Expr::Regex(regex) => self.regex(out, regex, outer)?,
                Expr::Rule(rule) => out.push_str(&self.names.of(owner, *rule)),
                Expr::Marker(text) => {
                    if self.seen.insert(text) {
                        self.markers.push(text.to_string());
                    }
                    literal(out, text, outer);
                }
                Expr::Token(set) => token(out, set, outer)?,
                // A label says nothing about the text.
                Expr::Capture { inner, .. } => work.push(Piece::Node(*inner, outer)),
                Expr::Embed(inner) => out.push_str(&self.names.start_of(inner)),
                // What matches nothing can only be left out.
                &Expr::Repeat { inner, min: 0, .. } if !self.matching.any(grammar, inner) => {
                    literal(out, "", outer);
                }
                Expr::Seq(parts) if parts.is_empty() => literal(out, "", outer),
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
                    // One repetition right behind another is not read everywhere.
                    if outer == Binding::Primary {
                        out.push('(');
                        work.push(Piece::Text(")"));
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
                    out.push('(');
                    work.push(Piece::Text(if min == 0 { ")?" } else { ")" }));
                    if outer == Binding::Primary && min == 0 {
                        out.push('(');
                        work.insert(work.len() - 1, Piece::Text(")"));
                    }
                    let named = if max == Some(1) {
                        None
                    } else {
                        self.named(owner, inner)
                    };
                    let item = || match &named {
                        Some(name) => Piece::Name(name.clone()),
                        None => Piece::Node(inner, Binding::Primary),
                    };
                    if max != Some(1) {
                        let (least, most) = (min.saturating_sub(1), max.map(|max| max - 1));
                        work.push(Piece::Bounds(least, most));
                        work.push(Piece::Text(")"));
                        work.push(item());
                        work.push(Piece::Text(" "));
                        work.push(Piece::Node(separator, Binding::Primary));
                        work.push(Piece::Text(" ("));
                    }
                    work.push(item());
                }
            }
        }
        Ok(())
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
                    literal(out, text, outer);
                    return Ok(());
                }
            }
            Regex::Concat(parts) if parts.is_empty() => {
                literal(out, "", outer);
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
        class(&mut text, &ranges(start));
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
                    literal(out, "", outer);
                    return Ok(());
                }
                let nested = outer == Binding::Primary;
                out.push_str(if nested { "(" } else { "" });
                self.regex(out, inner, Binding::Primary)?;
                bounds(out, *min, *max);
                out.push_str(if nested { ")" } else { "" });
                return Ok(());
            }
            Regex::Concat(parts) => (parts, " ", Binding::Sequence),
            Regex::Alt(parts) => (parts, " | ", Binding::Alternation),
            _ => return Err(String::new()),
        };
        let parts: Vec<&Regex> = parts
            .iter()
            .filter(|part| !is_visibly_nothing(part))
            .collect();
        if let [only] = parts[..] {
            return self.regex(out, only, outer);
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
                Failure::Large => {
                    "an intersection, complement or set of bytes that needs too many rules"
                        .to_owned()
                }
                Failure::Bytes => "bytes that are no text".to_owned(),
            })?;
        if states.iter().all(|state| !state.accepting) {
            return Err("a language without any text".to_owned());
        }
        let names: Vec<String> = states.iter().map(|_| self.names.fresh("text")).collect();
        // The first state has a rule whatever it is: that is what others name.
        let written = |(at, state): &(usize, &State)| *at == 0 || !is_last(state);
        for (at, state) in states.iter().enumerate().filter(written) {
            let name = &names[at];
            let _ = write!(self.extra, "{name} ::= ");
            write_state(&mut self.extra, state, &states, &names);
            self.extra.push('\n');
        }
        self.written.insert(regex.clone(), names[0].clone());
        Ok(names[0].clone())
    }
}

/// Whether it is an end with nothing behind it, which needs no rule.
fn is_last(state: &State) -> bool {
    state.accepting && state.steps.is_empty()
}

fn write_state(out: &mut String, state: &State, states: &[State], names: &[String]) {
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
        class(out, &ranges);
        if !is_last(&states[to]) {
            let _ = write!(out, " {}", names[to]);
        }
    }
    if state.accepting {
        let _ = write!(out, "{between}\"\"");
    }
}

fn ranges(state: &State) -> Vec<(u32, u32)> {
    let steps = state.steps.iter();
    steps.map(|&(first, last, _)| (first, last)).collect()
}

/// Whether an expression is better named than written twice.
fn is_long(grammar: &Grammar, root: ExprId) -> bool {
    let mut work = vec![root];
    let mut weight = 0;
    while let Some(id) = work.pop() {
        weight += 1;
        match grammar.expr(id) {
            Expr::Regex(regex) => weight += regex.weight() as usize,
            Expr::Seq(parts) | Expr::Alt(parts) => work.extend(parts.iter()),
            Expr::Repeat {
                inner, separator, ..
            } => work.extend(std::iter::once(inner).chain(separator)),
            Expr::Capture { inner, .. } => work.push(*inner),
            Expr::Empty | Expr::Rule(_) | Expr::Embed(_) | Expr::Marker(_) | Expr::Token(_) => {}
        }
        if weight > LONG {
            return true;
        }
    }
    false
}

/// A sequence or choice of regular languages as one. Recursion follows the nesting, and ends where that is deep.
fn regular(grammar: &Grammar, id: ExprId) -> Option<Regex> {
    fn joined(grammar: &Grammar, id: ExprId, depth: u32) -> Option<Regex> {
        let all = |parts: &[ExprId]| -> Option<Vec<Regex>> {
            let below = depth.checked_sub(1)?;
            parts
                .iter()
                .map(|&part| joined(grammar, part, below))
                .collect()
        };
        match grammar.expr(id) {
            Expr::Regex(regex) => Some(regex.clone()),
            Expr::Seq(parts) => all(parts).map(Regex::concat),
            Expr::Alt(parts) => all(parts).map(Regex::alt),
            _ => None,
        }
    }
    joined(grammar, id, 8)
}

/// Whether an expression may be one character: classes and short strings, put together.
fn one_character(regex: &Regex) -> bool {
    let mut work = vec![regex];
    let mut count = 0;
    while let Some(node) = work.pop() {
        count += 1;
        match node {
            Regex::Class(_) => {}
            Regex::Literal(bytes) if (1..=4).contains(&bytes.len()) => {}
            Regex::Concat(parts) if (1..=4).contains(&parts.len()) => work.extend(&**parts),
            Regex::Alt(parts) => work.extend(&**parts),
            _ => return false,
        }
        if count > 2_000 {
            return false;
        }
    }
    !matches!(regex, Regex::Literal(_))
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

fn literal(out: &mut String, text: &str, outer: Binding) {
    // Nothing can be repeated that has no character.
    let nested = text.is_empty() && outer == Binding::Primary;
    out.push_str(if nested { "(\"" } else { "\"" });
    for c in text.chars() {
        character(out, c, "\"\\");
    }
    out.push_str(if nested { "\")" } else { "\"" });
}

fn character(out: &mut String, c: char, escaped: &str) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if escaped.contains(c) && matches!(c, '"' | '\\' | '[' | ']') => {
            out.push('\\');
            out.push(c);
        }
        c if escaped.contains(c) || c.is_control() || (c.is_whitespace() && c != ' ') => {
            let code = u32::from(c);
            let _ = match code {
                0..=0xFF => write!(out, "\\x{code:02X}"),
                0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
        }
        c => out.push(c),
    }
}

/// A class of characters, said directly or by what it lacks, whichever is shorter.
fn class(out: &mut String, ranges: &[(u32, u32)]) {
    let mut lacking = Vec::new();
    let mut from = 0;
    for &(first, last) in ranges {
        if first > from {
            lacking.push((from, first - 1));
        }
        from = last + 1;
    }
    if from <= 0x0010_FFFF {
        lacking.push((from, 0x0010_FFFF));
    }
    // Surrogates are no characters; what lacks only them lacks nothing.
    lacking.retain(|&gap| gap != (0xD800, 0xDFFF));
    let (sign, shown) = match lacking.len() {
        0 => return out.push('.'),
        count if count < ranges.len() => ("[^", &lacking[..]),
        _ => ("[", ranges),
    };
    let one = |code: u32| char::from_u32(code).unwrap_or('\u{D7FF}');
    if let ("[", [(first, last)]) = (sign, shown)
        && first == last
    {
        return literal(out, &one(*first).to_string(), Binding::Sequence);
    }
    out.push_str(sign);
    for &(first, last) in shown {
        character(out, one(first), "\\[]^-");
        if first < last {
            if last > first + 1 {
                out.push('-');
            }
            character(out, one(last), "\\[]^-");
        }
    }
    out.push(']');
}

fn token(out: &mut String, set: &TokenSet, outer: Binding) -> Result<(), Unprintable> {
    match set {
        TokenSet::Text(text) => {
            let inner = text
                .strip_prefix('<')
                .and_then(|text| text.strip_suffix('>'));
            let plain = inner.is_some_and(|inner| {
                !inner.is_empty() && !inner.starts_with('[') && !inner.contains(['>', '\n', '\r'])
            });
            if !plain {
                return Err(format!(
                    "the token {text:?}, which is not of the form <text>"
                ));
            }
            out.push_str(text);
        }
        TokenSet::Ids(ranges) => {
            let count: u64 = ranges
                .iter()
                .map(|&(first, last)| u64::from(last) - u64::from(first) + 1)
                .sum();
            if count > TOKENS {
                return Err(format!("{count} tokens at once"));
            }
            let nested = count > 1 && outer > Binding::Alternation;
            out.push_str(if nested { "(" } else { "" });
            let ids = ranges.iter().flat_map(|&(first, last)| first..=last);
            for (position, id) in ids.enumerate() {
                let _ = write!(out, "{}<[{id}]>", if position > 0 { " | " } else { "" });
            }
            out.push_str(if nested { ")" } else { "" });
        }
        TokenSet::Except { .. } => return Err("tokens that are named by what they are not".into()),
    }
    Ok(())
}

/// A name that GBNF can read: letters, digits and dashes.
fn identifier(name: &str) -> String {
    let out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    if out.is_empty() {
        "rule".to_owned()
    } else {
        out
    }
}
