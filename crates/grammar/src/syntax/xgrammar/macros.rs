//! `Regex(…)`, `Substring(…)`, `Token(…)`, `ExcludeToken(…)`, `TagDispatch(…)` and `TokenTagDispatch(…)`: what
//! they stand for.

use super::arguments::{Arguments, Value};
use super::dispatch;
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
