//! Look-around as groups of special names, so that `regex-syntax`, which has none, reads the pattern around it and in it.

use super::branch::Side;

/// What a group's name says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    /// Where the group stands in the pattern's source.
    pub(super) offset: usize,
}

/// What a group stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An anchor or a word boundary.
    Edge,
    /// Look-around: where it looks, and whether nothing may match there.
    Look(Side, bool),
    /// A group that captures, by its number from 0.
    Group(usize),
    /// What such a group captured, again.
    Reference(usize),
}

/// Names of groups that no pattern uses itself.
pub(super) struct Names {
    prefix: String,
}

impl Names {
    /// Names that do not occur in a pattern.
    pub(super) fn new(pattern: &str) -> Self {
        let mut prefix = "look_".to_owned();
        while pattern.contains(&prefix) {
            prefix.push('_');
        }
        Self { prefix }
    }

    /// The opening of a group that means `mark`.
    pub(super) fn open(&self, Mark { kind, offset }: Mark) -> String {
        let (letter, number) = match kind {
            Kind::Edge => ('o', 0),
            Kind::Look(Side::Ahead, false) => ('a', 0),
            Kind::Look(Side::Ahead, true) => ('A', 0),
            Kind::Look(Side::Behind, false) => ('b', 0),
            Kind::Look(Side::Behind, true) => ('B', 0),
            Kind::Group(number) => ('g', number),
            Kind::Reference(number) => ('r', number),
        };
        format!("(?P<{}{letter}{offset}_{number}>", self.prefix)
    }

    /// What the name of a group means.
    pub(super) fn read(&self, name: &str) -> Option<Mark> {
        let mut rest = name.strip_prefix(&self.prefix)?.chars();
        let letter = rest.next()?;
        let (offset, number) = rest.as_str().split_once('_')?;
        let number = number.parse().ok()?;
        let kind = match letter {
            'o' => Kind::Edge,
            'a' => Kind::Look(Side::Ahead, false),
            'A' => Kind::Look(Side::Ahead, true),
            'b' => Kind::Look(Side::Behind, false),
            'B' => Kind::Look(Side::Behind, true),
            'g' => Kind::Group(number),
            'r' => Kind::Reference(number),
            _ => return None,
        };
        let offset = offset.parse().ok()?;
        Some(Mark { kind, offset })
    }

    /// Rewrites look-around in a pattern in Rust's syntax, and `\<` and `\>`, which are characters here as in most dialects
    /// (Rust's word boundaries of that spelling are `\b{start}` and `\b{end}`, too); also says which offsets in the source
    /// belong to which in the result: (result, source), ascending.
    pub(super) fn rewrite(&self, pattern: &str) -> (String, Vec<(usize, usize)>) {
        let mut out = String::with_capacity(pattern.len());
        let mut offsets = vec![(0, 0)];
        // Classes within classes.
        let mut classes = 0_usize;
        let mut at = 0;
        while let Some(c) = pattern[at..].chars().next() {
            let rest = &pattern[at..];
            let opening = (classes == 0).then(|| opening(rest)).flatten();
            if let Some(((side, negated), length)) = opening {
                out.push_str(&self.open(Mark {
                    kind: Kind::Look(side, negated),
                    offset: at,
                }));
                at += length;
                offsets.push((out.len(), at));
                continue;
            }
            let angle = [(r"\<", r"\x3C"), (r"\>", r"\x3E")];
            let angle = angle.iter().find(|(escape, _)| rest.starts_with(escape));
            if let Some((escape, character)) = angle {
                // By number, so that it opens no name of a group.
                out.push_str(character);
                at += escape.len();
                offsets.push((out.len(), at));
                continue;
            }
            let mut length = c.len_utf8();
            match c {
                '\\' => length += rest[1..].chars().next().map_or(0, char::len_utf8),
                '[' => {
                    classes += 1;
                    // A bracket right behind the opening is a member.
                    let inner = rest[1..].trim_start_matches('^');
                    if inner.starts_with(']') {
                        length = rest.len() - inner.len() + 1;
                    }
                }
                ']' => classes = classes.saturating_sub(1),
                _ => {}
            }
            out.push_str(&rest[..length]);
            at += length;
        }
        (out, offsets)
    }
}

/// The look-around that a text begins with, and the length of its opening.
pub(super) fn opening(text: &str) -> Option<((Side, bool), usize)> {
    let openings = [
        ("(?=", (Side::Ahead, false)),
        ("(?!", (Side::Ahead, true)),
        ("(?<=", (Side::Behind, false)),
        ("(?<!", (Side::Behind, true)),
    ];
    let found = openings
        .into_iter()
        .find(|(opening, _)| text.starts_with(opening));
    found.map(|(opening, look)| (look, opening.len()))
}
