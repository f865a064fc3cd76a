//! Regular languages, markers and tokens in EBNF notation.

use std::fmt::Write as _;
use std::ops::Range;

use crate::ir::text::{any_text, utf8_character};
use crate::ir::{ByteSet, EmptinessChecks, Regex, TokenSet, is_doubtful, is_visibly_nothing};
use crate::maps::SeededMap;
use crate::tuning::{COPIED_WEIGHT, PRINT_ALL, PRINT_ONE};

/// How tightly a place binds; an expression that binds less gets parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Binding {
    Alternation,
    Intersection,
    Sequence,
    Primary,
}

/// What is still to be written: a text, a node of an expression, the bounds of a repetition.
pub(super) enum Piece<N> {
    Text(&'static str),
    Node(N, Binding),
    Bounds(u32, Option<u32>),
    Name(String),
}

/// Writes what stands before the next node, which is taken off the list; None at its end.
pub(super) fn next_node<N>(out: &mut String, work: &mut Vec<Piece<N>>) -> Option<(N, Binding)> {
    loop {
        match work.pop()? {
            Piece::Text(text) => out.push_str(text),
            Piece::Bounds(min, max) => bounds(out, min, max),
            Piece::Name(name) => out.push_str(&name),
            Piece::Node(node, outer) => return Some((node, outer)),
        }
    }
}

/// A regular language in EBNF notation. Iterative.
#[must_use]
pub fn regex(regex: &Regex) -> String {
    let mut out = String::new();
    Terminals::default().write(&mut out, regex, Binding::Alternation);
    out
}

/// Writes regular languages, each into the same text.
pub(super) struct Terminals {
    /// Where in the text something large is written already.
    written: SeededMap<(Regex, Binding), Range<usize>>,
    /// Whether an intersection or complement is certainly empty.
    nothing: SeededMap<Regex, bool>,
    checks: EmptinessChecks,
}

impl Default for Terminals {
    fn default() -> Self {
        Self {
            written: SeededMap::default(),
            nothing: SeededMap::default(),
            checks: EmptinessChecks::new(PRINT_ONE, PRINT_ALL),
        }
    }
}

/// An expression that is being written.
struct Open<'r> {
    node: &'r Regex,
    outer: Binding,
    /// Where it begins.
    start: usize,
    /// How much was still to be written below it on the stack.
    below: usize,
}

impl Terminals {
    pub(super) fn write(&mut self, out: &mut String, regex: &Regex, binding: Binding) {
        let mut work = vec![Piece::Node(regex, binding)];
        let mut open: Vec<Open<'_>> = Vec::new();
        while let Some(piece) = work.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Bounds(min, max) => bounds(out, min, max),
                Piece::Name(name) => out.push_str(&name),
                Piece::Node(node, outer) if node.weight() < COPIED_WEIGHT => {
                    self.push_node(out, &mut work, node, outer);
                }
                Piece::Node(node, outer) => {
                    let key = (node.clone(), outer);
                    if let Some(written) = self.written.get(&key) {
                        let copy = out[written.clone()].to_owned();
                        out.push_str(&copy);
                    } else {
                        open.push(Open {
                            node,
                            outer,
                            start: out.len(),
                            below: work.len(),
                        });
                        self.push_node(out, &mut work, node, outer);
                    }
                }
            }
            while let Some(done) = open.last()
                && done.below == work.len()
            {
                let key = (done.node.clone(), done.outer);
                self.written.insert(key, done.start..out.len());
                open.pop();
            }
        }
    }

    /// Whether it is certain that nothing matches. Recursion follows the nesting of the expression, which the front ends
    /// bound.
    pub(super) fn holds_nothing(&mut self, node: &Regex) -> bool {
        if !is_doubtful(node) {
            return is_visibly_nothing(node);
        }
        match node {
            Regex::And(_) | Regex::Not(_) => self.is_nothing(node),
            Regex::Concat(parts) => parts.iter().any(|part| self.holds_nothing(part)),
            Regex::Alt(parts) => parts.iter().all(|part| self.holds_nothing(part)),
            Regex::Repeat { inner, min, .. } => *min > 0 && self.holds_nothing(inner),
            Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => is_visibly_nothing(node),
        }
    }

    /// Notes that nothing matches; whether that was not known.
    pub(super) fn note_nothing(&mut self, node: &Regex) -> bool {
        self.nothing.insert(node.clone(), true) != Some(true)
    }

    /// Whether an intersection or complement is certainly empty.
    fn is_nothing(&mut self, node: &Regex) -> bool {
        if let Some(&known) = self.nothing.get(node) {
            return known;
        }
        let nothing = self.checks.is_nothing(node);
        self.nothing.insert(node.clone(), nothing);
        nothing
    }

    fn push_node<'r>(
        &mut self,
        out: &mut String,
        work: &mut Vec<Piece<&'r Regex>>,
        node: &'r Regex,
        outer: Binding,
    ) {
        let (parts, between, own) = match node {
            Regex::Nothing => return out.push_str("nothing!"),
            Regex::Class(set) if set.is_empty() => return out.push_str("nothing!"),
            Regex::Class(set) => return class(out, set),
            Regex::Literal(bytes) => return out.push_str(&literal(bytes)),
            // What nearly every pattern holds has short names.
            Regex::Repeat { .. } if *node == any_text() => return out.push_str("any!"),
            Regex::Alt(_) if *node == utf8_character() => return out.push_str("#\"(?s:.)\""),
            Regex::Alt(parts) | Regex::And(parts) | Regex::Concat(parts) if parts.len() == 1 => {
                return work.push(Piece::Node(&parts[0], outer));
            }
            Regex::Alt(parts) if parts.is_empty() => return out.push_str("nothing!"),
            Regex::And(parts) if parts.is_empty() => return out.push_str("complement!(nothing!)"),
            Regex::Concat(parts) if parts.is_empty() => return out.push_str("\"\""),
            // The reader refuses a terminal that matches nothing, unless it says so.
            Regex::And(_) | Regex::Not(_) if self.is_nothing(node) => {
                return out.push_str("nothing!");
            }
            Regex::Alt(parts) => (parts, " | ", Binding::Alternation),
            Regex::And(parts) => (parts, " & ", Binding::Intersection),
            Regex::Concat(parts) => (parts, " ", Binding::Sequence),
            Regex::Not(inner) => {
                out.push_str("complement!(");
                work.push(Piece::Text(")"));
                return work.push(Piece::Node(inner, Binding::Alternation));
            }
            Regex::Repeat { inner, min, max } => {
                work.push(Piece::Bounds(*min, *max));
                return work.push(Piece::Node(inner, Binding::Primary));
            }
        };
        if own < outer {
            out.push('(');
            work.push(Piece::Text(")"));
        }
        let inner = match own {
            Binding::Alternation => Binding::Intersection,
            Binding::Intersection => Binding::Sequence,
            Binding::Sequence | Binding::Primary => Binding::Primary,
        };
        push_list(work, parts.iter(), between, inner);
    }
}

/// Puts nodes on the list, the first one on top, with a text between each two.
pub(super) fn push_list<N>(
    work: &mut Vec<Piece<N>>,
    nodes: impl DoubleEndedIterator<Item = N> + ExactSizeIterator,
    between: &'static str,
    binding: Binding,
) {
    for (position, node) in nodes.enumerate().rev() {
        work.push(Piece::Node(node, binding));
        if position > 0 {
            work.push(Piece::Text(between));
        }
    }
}

pub(super) fn bounds(out: &mut String, min: u32, max: Option<u32>) {
    match (min, max) {
        (0, None) => out.push('*'),
        (1, None) => out.push('+'),
        (0, Some(1)) => out.push('?'),
        (min, None) => {
            let _ = write!(out, "{{{min},}}");
        }
        (min, Some(max)) if min == max => {
            let _ = write!(out, "{{{min}}}");
        }
        (min, Some(max)) => {
            let _ = write!(out, "{{{min},{max}}}");
        }
    }
}

/// A string literal; bytes that are no text are written as `\xHH`.
pub(super) fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if c.is_control() || (c.is_whitespace() && c != ' ') => {
                    let _ = write!(out, "\\u{{{:X}}}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out.push('"');
    out
}

fn class(out: &mut String, set: &ByteSet) {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in set.iter() {
        match ranges.last_mut() {
            Some((_, last)) if *last == byte.wrapping_sub(1) => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    let bytes = set.iter().any(|byte| !byte.is_ascii());
    out.push_str(if bytes { "#\"(?-u:[" } else { "#\"[" });
    let one = |out: &mut String, byte: u8| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "\\x{byte:02X}");
        }
    };
    for (first, last) in ranges {
        one(out, first);
        if first < last {
            if last > first + 1 {
                out.push('-');
            }
            one(out, last);
        }
    }
    out.push_str(if bytes { "])\"" } else { "]\"" });
}

/// A marker in EBNF notation.
pub(crate) fn marker(text: &str) -> String {
    format!("@marker({})", literal(text.as_bytes()))
}

/// A token in EBNF notation.
#[must_use]
pub fn token(token: &TokenSet) -> String {
    match token {
        TokenSet::Text(text) => format!("@token({})", literal(text.as_bytes())),
        TokenSet::Ids(ranges) => format!("<[{}]>", id_ranges(ranges).join(",")),
        TokenSet::Except { ids, texts } => {
            let mut parts = id_ranges(ids);
            parts.extend(texts.iter().map(|text| literal(text.as_bytes())));
            format!("<[^{}]>", parts.join(","))
        }
    }
}

fn id_ranges(ranges: &[(u32, u32)]) -> Vec<String> {
    ranges
        .iter()
        .map(|&(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}..{last}")
            }
        })
        .collect()
}
