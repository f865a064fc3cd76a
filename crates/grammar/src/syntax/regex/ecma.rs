//! ECMA-262 patterns rewritten into Rust's syntax, where the two differ: what `\d`, `\w`, `\s` and `.` stand for, escapes,
//! classes, named groups, braces that are no quantifier.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::CharIndices;

use super::branch::Side;
use super::ecma_syntax::{Failure, Syntax, are_flags, is_property};
use super::look_around::{Kind, Mark, Names, opening};

/// A pattern in Rust's syntax.
pub(super) struct Translated {
    pub(super) text: String,
    /// (offset in `text`, offset in the source), ascending.
    pub(super) offsets: Vec<(usize, usize)>,
    /// The first thing that ECMA-262 knows and that is not translated.
    pub(super) unsupported: Option<Failure>,
}

/// White space and line ends of ECMA-262 (`\s`), inside a class.
const SPACE: &str = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// At the beginning of a pattern, for Python and Rust alike.
const IGNORING_CASE: &str = "(?i)";

/// How a pattern is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// With Python's spellings besides.
    pub(super) python: bool,
    /// With groups that capture and what refers to them, marked by [`Names`].
    pub(super) references: bool,
}

/// Rewrites a pattern.
pub(super) fn translate(
    pattern: &str,
    names: &Names,
    options: Options,
) -> Result<Translated, Failure> {
    let mut reader = Reader {
        source: pattern,
        names,
        chars: pattern.char_indices().peekable(),
        out: String::new(),
        offsets: Vec::new(),
        syntax: Syntax::new(),
        unsupported: None,
        options,
        open: Vec::new(),
        captures: Vec::new(),
    };
    if options.python && pattern.starts_with(IGNORING_CASE) {
        reader.offsets.push((0, 0));
        reader.out.push_str(IGNORING_CASE);
        reader.skip(IGNORING_CASE.len());
    }
    while let Some((at, c)) = reader.next() {
        reader.offsets.push((reader.out.len(), at));
        match c {
            '\\' => reader.escape(at)?,
            '[' => reader.class(at)?,
            '(' => reader.group(at)?,
            '.' => reader.atom(r"[^\n\r\x{2028}\x{2029}]"),
            '{' => reader.brace(at)?,
            '}' => reader.atom(r"\}"),
            ']' => reader.atom(r"\]"),
            '^' => reader.anchor(at, r"\A"),
            '$' => reader.anchor(at, r"\z"),
            '*' | '+' | '?' => reader.quantifier(at, c.len_utf8())?,
            '|' => {
                reader.syntax.bar();
                reader.out.push(c);
            }
            ')' => {
                reader.syntax.close();
                if let Some(Some(number)) = reader.open.pop() {
                    reader.captures[number].is_closed = true;
                }
                reader.out.push(c);
            }
            c => reader.character(c),
        }
    }
    Ok(Translated {
        text: reader.out,
        offsets: reader.offsets,
        unsupported: reader.unsupported,
    })
}

struct Reader<'p> {
    source: &'p str,
    names: &'p Names,
    chars: Peekable<CharIndices<'p>>,
    out: String,
    offsets: Vec<(usize, usize)>,
    syntax: Syntax<'p>,
    unsupported: Option<Failure>,
    options: Options,
    /// The groups that are open: of those that capture, the number from 0.
    open: Vec<Option<usize>>,
    captures: Vec<Capture<'p>>,
}

/// A group that captures.
struct Capture<'p> {
    name: Option<&'p str>,
    is_closed: bool,
}

/// What a back-reference names its group by.
#[derive(Clone, Copy)]
enum Reference<'p> {
    Number(usize),
    Name(&'p str),
}

/// What stands between `(?` and the body of a group.
enum Opening<'p> {
    Capturing(&'p str),
    Plain,
    /// Python's `(?P=name)`, which is no group.
    Reference(&'p str),
}

/// What an escape stands for.
enum Escape {
    Char(char),
    /// Members of a class, in Rust's class syntax, and whether all others are meant.
    Set(String, bool),
}

impl<'p> Reader<'p> {
    fn next(&mut self) -> Option<(usize, char)> {
        self.chars.next()
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|&(_, c)| c)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.chars.next_if(|&(_, c)| c == wanted).is_some()
    }

    fn rest(&mut self) -> &'p str {
        let at = self.chars.peek().map_or(self.source.len(), |&(at, _)| at);
        &self.source[at..]
    }

    fn skip(&mut self, characters: usize) {
        for _ in 0..characters {
            self.chars.next();
        }
    }

    fn atom(&mut self, text: &str) {
        self.syntax.atom();
        self.out.push_str(text);
    }

    fn character(&mut self, c: char) {
        self.syntax.atom();
        push_char(&mut self.out, c);
    }

    fn unsupported(&mut self, at: usize, message: &str) {
        self.unsupported
            .get_or_insert_with(|| Failure::unsupported(at, message));
    }

    /// A quantifier of so many bytes, whose first is read, and the `?` that makes it lazy.
    fn quantifier(&mut self, at: usize, length: usize) -> Result<(), Failure> {
        self.syntax.quantifier(at)?;
        let source = self.source;
        self.out.push_str(&source[at..at + length]);
        self.skip(length - 1);
        if self.take('?') {
            self.out.push('?');
        }
        Ok(())
    }

    /// An anchor, in a group that says where it stands.
    fn anchor(&mut self, offset: usize, anchor: &str) {
        self.syntax.edge();
        let kind = Kind::Edge;
        let open = self.names.open(Mark { kind, offset });
        let _ = write!(self.out, "{open}{anchor})");
    }

    fn group(&mut self, at: usize) -> Result<(), Failure> {
        if let Some(((side, negated), length)) = opening(&self.source[at..]) {
            self.skip(length - 1);
            // Annex B.1.2 lets what looks ahead be repeated.
            self.syntax.open(side == Side::Ahead);
            self.open.push(None);
            let kind = Kind::Look(side, negated);
            self.out
                .push_str(&self.names.open(Mark { kind, offset: at }));
            return Ok(());
        }
        let name = if self.take('?') {
            match self.kind_of_group(at)? {
                Opening::Capturing(name) => Some(Some(name)),
                Opening::Plain => None,
                Opening::Reference(name) => {
                    if !self.captures.iter().any(|group| group.name == Some(name)) {
                        let message = format!("no group before it has the name {name:?}");
                        return Err(Failure::syntax(at, message));
                    }
                    self.reference(at, Reference::Name(name));
                    return Ok(());
                }
            }
        } else {
            Some(None)
        };
        self.syntax.open(true);
        self.open.push(name.map(|_| self.captures.len()));
        let kind = Kind::Group(self.captures.len());
        if let Some(name) = name {
            let is_closed = false;
            self.captures.push(Capture { name, is_closed });
        }
        if name.is_some() && self.options.references {
            self.out
                .push_str(&self.names.open(Mark { kind, offset: at }));
        } else {
            self.out.push_str("(?:");
        }
        Ok(())
    }

    /// What a group captured, again.
    fn reference(&mut self, at: usize, to: Reference<'p>) {
        self.syntax.atom();
        let mut found = self
            .captures
            .iter()
            .enumerate()
            .filter(|&(number, group)| match to {
                Reference::Number(wanted) => number + 1 == wanted,
                Reference::Name(wanted) => group.name == Some(wanted),
            });
        match (found.next(), found.next()) {
            (Some((number, group)), None) if self.options.references => {
                let kind = Kind::Reference(number);
                let open = self.names.open(Mark { kind, offset: at });
                // Within its own group it is empty (ECMA-262, 22.2.2.9). Else it must not look as if it were: a repetition
                // of nothing is none.
                self.out
                    .push_str(if group.is_closed { &open } else { "(?:" });
                self.out
                    .push_str(if group.is_closed { "(?s:.*))" } else { ")" });
            }
            _ => {
                self.unsupported(at, "back-references are not regular");
                self.out.push_str("(?:)");
            }
        }
    }

    /// What stands between `(?` and the body of a group.
    fn kind_of_group(&mut self, at: usize) -> Result<Opening<'p>, Failure> {
        if self.options.python {
            if let Some(named) = self.rest().strip_prefix("P=") {
                let Some(end) = named.find(')') else {
                    return Err(Failure::syntax(at, "the name of the group is not closed"));
                };
                let name = &named[..end];
                self.skip(name.chars().count() + 3);
                return Ok(Opening::Reference(name));
            }
            if self.rest().starts_with("P<") {
                self.next();
            }
        }
        let rest = self.rest();
        if let Some(named) = rest.strip_prefix('<') {
            let Some(end) = named.find('>') else {
                return Err(Failure::syntax(at, "the name of the group is not closed"));
            };
            let name = &named[..end];
            self.syntax.name(at, name)?;
            self.skip(name.chars().count() + 2);
            return Ok(Opening::Capturing(name));
        }
        let flags = rest.split(':').next().unwrap_or_default();
        if flags.len() == rest.len() || !(flags.is_empty() || are_flags(flags)) {
            return Err(Failure::syntax(
                at,
                "a group of ECMA-262 begins with (, (?:, (?<name>, (?=, (?!, (?<=, (?<!, or flags for it, as in (?i:",
            ));
        }
        if !flags.is_empty() {
            self.unsupported(at, "flags of groups are not supported");
        }
        self.skip(flags.len() + 1);
        Ok(Opening::Plain)
    }

    /// `{` is a quantifier only in `{m}`, `{m,}`, `{m,n}`; else it stands for itself.
    fn brace(&mut self, at: usize) -> Result<(), Failure> {
        let rest = self.rest();
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let length = rest.find('}').filter(|&end| {
            let (min, max) = rest[..end].split_once(',').unwrap_or((&rest[..end], ""));
            !min.is_empty() && digits(min) && digits(max)
        });
        if let Some(length) = length {
            return self.quantifier(at, length + 2);
        }
        self.atom(r"\{");
        Ok(())
    }

    fn escape(&mut self, at: usize) -> Result<(), Failure> {
        match self.peek() {
            Some(letter @ ('b' | 'B')) => {
                self.next();
                self.anchor(at, &format!(r"(?-u:\{letter})"));
                Ok(())
            }
            Some(letter @ ('A' | 'Z')) if self.options.python => {
                self.next();
                self.anchor(at, if letter == 'A' { r"\A" } else { r"\z" });
                Ok(())
            }
            Some('1'..='9') => {
                let rest = self.rest();
                let end = rest.find(|c: char| !c.is_ascii_digit());
                let digits = &rest[..end.unwrap_or(rest.len())];
                self.skip(digits.len());
                let number = digits.parse().unwrap_or(usize::MAX);
                self.reference(at, Reference::Number(number));
                Ok(())
            }
            Some('k') => {
                self.next();
                let rest = self.rest();
                let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
                let Some((name, _)) = name else {
                    return Err(Failure::syntax(
                        at,
                        "a reference to a group is written \\k<name>",
                    ));
                };
                self.skip(name.chars().count() + 2);
                self.reference(at, Reference::Name(name));
                Ok(())
            }
            _ => {
                match self.escaped(at, false)? {
                    Escape::Char(c) => self.character(c),
                    Escape::Set(members, negated) => {
                        self.syntax.atom();
                        let _ = write!(self.out, "[{}{members}]", if negated { "^" } else { "" });
                    }
                }
                Ok(())
            }
        }
    }

    /// What follows a backslash.
    fn escaped(&mut self, at: usize, in_class: bool) -> Result<Escape, Failure> {
        let Some((_, c)) = self.next() else {
            return Err(Failure::syntax(at, "the pattern ends in a backslash"));
        };
        let set = |members: &str, negated| Ok(Escape::Set(members.to_owned(), negated));
        let char = |c| Ok(Escape::Char(c));
        match c {
            'd' => set("0-9", false),
            'D' => set("0-9", true),
            'w' => set("0-9A-Za-z_", false),
            'W' => set("0-9A-Za-z_", true),
            's' => set(SPACE, false),
            'S' => set(SPACE, true),
            't' => char('\t'),
            'n' => char('\n'),
            'v' => char('\x0B'),
            'f' => char('\x0C'),
            'r' => char('\r'),
            'b' if in_class => char('\x08'),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => char('\0'),
            'c' => match self.next() {
                Some((_, letter)) if letter.is_ascii_alphabetic() => {
                    char(char::from(letter as u8 & 31))
                }
                _ => Err(Failure::syntax(at, "a letter must follow \\c")),
            },
            'x' => {
                let code = self.hex(at, 2)?;
                char(self.scalar(at, code)?)
            }
            'u' => self.unicode(at).map(Escape::Char),
            'p' | 'P' => {
                let rest = self.rest();
                let end = rest.find('}').filter(|_| rest.starts_with('{'));
                let Some(end) = end else {
                    return Err(Failure::syntax(at, "a property is written \\p{Name}"));
                };
                let name = &rest[1..end];
                if !is_property(name) {
                    let message = format!("{name:?} is no property of ECMA-262");
                    return Err(Failure::syntax(at, message));
                }
                self.skip(name.chars().count() + 2);
                Ok(Escape::Set(format!("\\{c}{{{name}}}"), false))
            }
            c if !c.is_alphanumeric() => char(c),
            c => Err(Failure::syntax(
                at,
                format!("\\{c} is no escape of ECMA-262"),
            )),
        }
    }

    fn hex(&mut self, at: usize, digits: usize) -> Result<u32, Failure> {
        let text: String = self.rest().chars().take(digits).collect();
        let code = u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        self.skip(text.chars().count());
        code.ok_or_else(|| Failure::syntax(at, format!("expected {digits} hexadecimal digits")))
    }

    fn scalar(&mut self, at: usize, code: u32) -> Result<char, Failure> {
        if code > u32::from(char::MAX) {
            return Err(Failure::syntax(at, "the last code point is \\u{10FFFF}"));
        }
        Ok(char::from_u32(code).unwrap_or_else(|| {
            self.unsupported(at, "a lone surrogate is no character");
            // The last one before the surrogates, so that ranges are in order.
            '\u{D7FF}'
        }))
    }

    /// `\uXXXX`, a pair of surrogates, or `\u{…}`.
    fn unicode(&mut self, at: usize) -> Result<char, Failure> {
        if self.take('{') {
            let rest = self.rest();
            let digits = rest.find('}').map(|end| rest[..end].to_owned());
            let digits = digits.filter(|digits| {
                (1..=8).contains(&digits.len())
                    && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            let Some(digits) = digits else {
                return Err(Failure::syntax(
                    at,
                    "a code point is written \\u{…} in hexadecimal digits",
                ));
            };
            self.skip(digits.len() + 1);
            let code = u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX);
            return self.scalar(at, code);
        }
        let code = self.hex(at, 4)?;
        if (0xD800..0xDC00).contains(&code) && self.rest().starts_with("\\u") {
            let rest = &self.rest()[2..];
            let low = rest
                .get(..4)
                .and_then(|text| u32::from_str_radix(text, 16).ok());
            if let Some(low) = low.filter(|low| (0xDC00..0xE000).contains(low)) {
                self.skip(6);
                return self.scalar(at, 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            }
        }
        self.scalar(at, code)
    }

    fn class(&mut self, start: usize) -> Result<(), Failure> {
        self.syntax.atom();
        let negated = self.take('^');
        // Members in Rust's class syntax; the last plain character may begin a range.
        let mut members = String::new();
        loop {
            let Some((at, c)) = self.next() else {
                return Err(Failure::syntax(start, "the class is not closed"));
            };
            if c == ']' {
                break;
            }
            let first = self.member(at, c)?;
            let ranges = self.peek() == Some('-') && !self.rest()[1..].starts_with(']');
            if !ranges {
                push_member(&mut members, &first);
                continue;
            }
            self.next();
            let Some((end_at, end)) = self.next() else {
                return Err(Failure::syntax(start, "the class is not closed"));
            };
            let second = self.member(end_at, end)?;
            let (Escape::Char(low), Escape::Char(high)) = (&first, &second) else {
                // Beside a class a hyphen stands for itself.
                push_member(&mut members, &first);
                push_code(&mut members, '-');
                push_member(&mut members, &second);
                continue;
            };
            let (low, high) = (*low, *high);
            if low > high {
                return Err(Failure::syntax(at, "the range is out of order"));
            }
            push_code(&mut members, low);
            members.push('-');
            push_code(&mut members, high);
        }
        match (members.is_empty(), negated) {
            // `[]` matches nothing and `[^]` any character.
            (true, false) => self.out.push_str(r"[^\x00-\x{10FFFF}]"),
            (true, true) => self.out.push_str(r"[\x00-\x{10FFFF}]"),
            (false, _) => {
                let _ = write!(self.out, "[{}{members}]", if negated { "^" } else { "" });
            }
        }
        Ok(())
    }

    fn member(&mut self, at: usize, c: char) -> Result<Escape, Failure> {
        if c == '\\' {
            self.escaped(at, true)
        } else {
            Ok(Escape::Char(c))
        }
    }
}

fn push_member(members: &mut String, member: &Escape) {
    match member {
        Escape::Char(c) => push_code(members, *c),
        Escape::Set(inner, true) => {
            let _ = write!(members, "[^{inner}]");
        }
        Escape::Set(inner, false) => members.push_str(inner),
    }
}

fn push_code(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{{{:X}}}", u32::from(c));
    }
}

fn push_char(out: &mut String, c: char) {
    if regex_syntax::is_meta_character(c) {
        out.push('\\');
    }
    out.push(c);
}
