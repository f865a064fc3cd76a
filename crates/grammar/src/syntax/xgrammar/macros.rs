//! `Regex(…)`, `Substring(…)`, `Token(…)`, `ExcludeToken(…)`, `TagDispatch(…)` and `TokenTagDispatch(…)`: their arguments,
//! and what the first four stand for.

use super::dispatch;
use super::words::{name, skip_blanks, string};
use crate::error::{Error, SourceLocation};
use crate::ir::{Regex, TokenSet};
use crate::limits::Limits;
use crate::syntax::regex::{self, Dialect, Patterns, Utf8};
use crate::syntax::rules::{Ast, Cursor, Node, NodeId};

/// Whether a name is that of a macro.
pub(super) fn is_macro(name: &str) -> bool {
    matches!(
        name,
        "Regex" | "Substring" | "Token" | "ExcludeToken" | "TagDispatch" | "TokenTagDispatch"
    )
}

/// An argument.
#[derive(Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(u32),
    Flag(bool),
    Name(String),
    Tuple(Vec<(Value, usize)>),
}

/// The arguments of a macro, each with its offset.
pub(super) struct Arguments<'t> {
    pub(super) positional: Vec<(Value, usize)>,
    pub(super) named: Vec<(&'t str, Value, usize)>,
    text: &'t str,
}

impl<'t> Arguments<'t> {
    /// Takes what stands between parentheses after the name of a macro.
    fn read(cursor: &mut Cursor<'t>) -> Result<Self, Error> {
        let mut arguments = Self {
            positional: Vec::new(),
            named: Vec::new(),
            text: cursor.text,
        };
        skip_blanks(cursor);
        if !cursor.take("(") {
            return Err(cursor
                .error(cursor.at, "expected ( after the name of a macro")
                .with_hint("its arguments stand in parentheses: Regex(\"[a-z]+\")"));
        }
        skip_blanks(cursor);
        if cursor.take(")") {
            return Ok(arguments);
        }
        loop {
            skip_blanks(cursor);
            let offset = cursor.at;
            let word = name(cursor);
            skip_blanks(cursor);
            if !word.is_empty() && cursor.take("=") {
                skip_blanks(cursor);
                let at = cursor.at;
                if arguments.named.iter().any(|&(known, ..)| known == word) {
                    let message = format!("the argument {word} stands there twice");
                    return Err(cursor.error(offset, message).with_hint("leave one out"));
                }
                let value = value(cursor, true)?;
                arguments.named.push((word, value, at));
            } else {
                cursor.at = offset;
                arguments.positional.push((value(cursor, true)?, offset));
            }
            skip_blanks(cursor);
            if cursor.take(")") {
                return Ok(arguments);
            }
            if !cursor.take(",") {
                return Err(cursor
                    .error(cursor.at, "expected , or ) after an argument")
                    .with_hint("arguments are texts, numbers, true, false, names of rules and tuples of these"));
            }
        }
    }

    /// Refuses arguments by name that are not known.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Error> {
        match self.named.iter().find(|(name, ..)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _, offset)) => {
                let hint = match known {
                    [] => "its arguments have no names".to_owned(),
                    _ => format!("known are {}", known.join(", ")),
                };
                let message = format!("there is no argument {name}");
                Err(self.error(*offset, message).with_hint(hint))
            }
        }
    }

    /// The argument of a name.
    pub(super) fn named(&self, name: &str) -> Option<(&Value, usize)> {
        let mut named = self.named.iter();
        named.find_map(|(known, value, offset)| (*known == name).then_some((value, *offset)))
    }

    /// The switch of a name.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        match self.named(name) {
            None => Ok(default),
            Some((Value::Flag(flag), _)) => Ok(*flag),
            Some((_, offset)) => Err(self.wrong(offset, &format!("{name} is true or false"))),
        }
    }

    /// A wrong argument.
    pub(super) fn wrong(&self, offset: usize, message: &str) -> Error {
        let forms = "Regex(\"[a-z]+\"), Substring(\"a\", \"b\"), Token(1, 2), TagDispatch((\"<a>\", rule), excludes=(\"<b>\",))";
        self.error(offset, message)
            .with_hint(format!("macros are written so: {forms}"))
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::grammar("E-GRAMMAR-SYNTAX", message).at(SourceLocation::in_text(self.text, offset))
    }

    /// The arguments without names, which are texts.
    fn texts(&self) -> Result<Vec<Vec<u8>>, Error> {
        let texts = self.positional.iter().map(|(value, offset)| match value {
            Value::Text(text) => Ok(text.clone().into_bytes()),
            _ => Err(self.wrong(*offset, "expected a text")),
        });
        texts.collect()
    }

    /// The arguments without names, which are numbers of tokens, one at least.
    fn tokens(&self, offset: usize) -> Result<Vec<(u32, u32)>, Error> {
        self.only(&[])?;
        if self.positional.is_empty() {
            return Err(self.wrong(offset, "expected a token at least"));
        }
        let ids = self.positional.iter().map(|(value, offset)| match value {
            Value::Number(id) => Ok((*id, *id)),
            _ => Err(self.wrong(*offset, "a token is given by its number")),
        });
        let mut ids: Vec<_> = ids.collect::<Result<_, _>>()?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

/// Takes an argument; in a tuple, none is a tuple.
fn value(cursor: &mut Cursor<'_>, tuples: bool) -> Result<Value, Error> {
    let offset = cursor.at;
    match cursor.peek() {
        Some('"') => Ok(Value::Text(string(cursor)?)),
        Some(c) if c.is_ascii_digit() => Ok(Value::Number(cursor.number()?)),
        Some('(') if tuples => {
            cursor.at += 1;
            let mut members = Vec::new();
            loop {
                skip_blanks(cursor);
                if cursor.take(")") {
                    return Ok(Value::Tuple(members));
                }
                let at = cursor.at;
                members.push((value(cursor, false)?, at));
                skip_blanks(cursor);
                if !cursor.take(",") && cursor.peek() != Some(')') {
                    return Err(cursor
                        .error(cursor.at, "expected , or ) in a tuple")
                        .with_hint("tuples are written so: (\"<a>\", rule)"));
                }
            }
        }
        _ => match name(cursor) {
            "" => Err(cursor.error(offset, "expected an argument").with_hint(
                "arguments are texts, numbers, true, false, names of rules and tuples of these",
            )),
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            name => Ok(Value::Name(name.to_owned())),
        },
    }
}

/// Takes the arguments of a macro whose name at `offset` was taken; what it stands for.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    (name, offset): (&str, usize),
    ast: &mut Ast,
    patterns: &mut Patterns,
    limits: &Limits,
) -> Result<NodeId, Error> {
    let arguments = Arguments::read(cursor)?;
    let node = match name {
        "Regex" => Node::Regex(pattern(&arguments, offset, patterns, limits)?),
        "Substring" => {
            arguments.only(&[])?;
            Node::Parts(arguments.texts()?)
        }
        "Token" => Node::Token(TokenSet::Ids(arguments.tokens(offset)?.into())),
        "ExcludeToken" => Node::Token(TokenSet::except(arguments.tokens(offset)?, Vec::new())),
        _ => return dispatch::read(&arguments, (name, offset), ast, patterns),
    };
    Ok(ast.add(node, offset))
}

/// The language of a pattern: ECMA-262 with Python's spellings. Without flags a point is any character.
fn pattern(
    arguments: &Arguments<'_>,
    offset: usize,
    patterns: &mut Patterns,
    limits: &Limits,
) -> Result<Regex, Error> {
    arguments.only(&["flags", "json_string"])?;
    let [(Value::Text(pattern), at)] = &arguments.positional[..] else {
        return Err(arguments.wrong(offset, "expected one pattern, as text"));
    };
    let (mut point, mut case) = (true, false);
    if let Some((flags, at)) = arguments.named("flags") {
        let Value::Text(flags) = flags else {
            return Err(arguments.wrong(at, "flags are text"));
        };
        point = flags.contains('s');
        case = flags.contains('i');
        if let Some(flag) = flags.chars().find(|flag| !"isu".contains(*flag)) {
            return Err(
                arguments.wrong(at, &format!("unknown flag {flag:?}; flags are i, s and u"))
            );
        }
    }
    let (bare, folded) = match pattern.strip_prefix("(?i)") {
        Some(bare) => (bare, true),
        None => (pattern.as_str(), case),
    };
    let whole = format!(
        "{}{}",
        if folded { "(?i)" } else { "" },
        with_points(bare, point)
    );
    let place = (&mut Utf8 as &mut dyn regex::Alphabet, &Regex::empty());
    let read = regex::within(&whole, Dialect::Python, limits, place, patterns)
        .map_err(|error| error.at(SourceLocation::in_text(arguments.text, *at)))?;
    if !arguments.flag("json_string", false)? {
        return Ok(read);
    }
    let plain = [(' ', '!'), ('#', '['), (']', char::MAX)];
    let body = Regex::repeat(patterns.class(&plain, &mut Utf8)?, 0, None);
    Ok(Regex::And([read, body].into()))
}

/// A pattern whose points are classes: any character, or any but a line feed.
fn with_points(pattern: &str, any: bool) -> String {
    let mut whole = String::with_capacity(pattern.len());
    let (mut escaped, mut in_class) = (false, false);
    for c in pattern.chars() {
        match c {
            '.' if !escaped && !in_class => whole.push_str(if any { "[^]" } else { r"[^\n]" }),
            _ => whole.push(c),
        }
        in_class = match c {
            '[' if !escaped => true,
            ']' if !escaped => false,
            _ => in_class,
        };
        escaped = c == '\\' && !escaped;
    }
    whole
}
