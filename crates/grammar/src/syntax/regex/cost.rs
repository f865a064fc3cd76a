//! The cost of a pattern, paid for before it is lowered: counts multiply, classes of Unicode have hundreds of ranges, and to
//! ignore case in one is to look at each of its characters.

use regex_syntax::ast::{
    Ast, ClassBracketed, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, Flag, Flags, Group,
    GroupKind, RepetitionKind, RepetitionRange,
};

use super::look_around::{Kind, Names};
use crate::error::Error;
use crate::limits::{Fuel, Limits};
use crate::tuning::{FOLDED_PER_UNIT, JOINED_PER_UNIT};

/// Characters and ranges of a class, more rather than less.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    characters: usize,
    ranges: usize,
}

/// All characters there are.
const ALL: usize = 0x11_0000;
/// What the largest general categories and scripts have.
const PROPERTY: Size = Size {
    characters: 145_000,
    ranges: 760,
};

impl Size {
    fn with(self, other: Self) -> Self {
        Self {
            characters: (self.characters + other.characters).min(ALL),
            ranges: self.ranges + other.ranges,
        }
    }

    /// What it is to ignore case in it.
    fn folded(self) -> usize {
        self.characters / FOLDED_PER_UNIT
    }

    fn negated(self, is_negated: bool) -> Self {
        if is_negated {
            Self {
                characters: ALL - self.characters / 2,
                ..self
            }
        } else {
            self
        }
    }
}

/// A place of the walk.
enum Step<'a> {
    /// A node within counted repetitions whose bounds multiply to this, and the outermost look-around that it is in.
    Node(&'a mut Ast, u64, Option<usize>),
    /// The end of a group: whether case was ignored before it.
    Leave(bool),
}

/// Counts that are too large, where they become `*` or `+` instead of an error.
pub(super) struct Counts<'n> {
    pub(super) names: &'n Names,
    pub(super) found: Vec<TooLarge>,
}

/// A count that became `*` or `+`.
pub(super) struct TooLarge {
    /// Where it stands in the pattern.
    pub(super) offset: usize,
    /// Where in the source the outermost look-around begins that it is in.
    pub(super) look: Option<usize>,
    pub(super) error: Error,
}

/// Pays for a pattern and checks its counts; an error comes with its place in the pattern. Classes of everything, `[\s\S]`,
/// are made easy on the way.
pub(super) fn pay(
    ast: &mut Ast,
    limits: &Limits,
    fuel: &mut Fuel,
    mut counts: Option<&mut Counts>,
) -> Result<(), (Error, usize)> {
    let mut work = vec![Step::Node(ast, 1, None)];
    let mut ignores_case = false;
    while let Some(step) = work.pop() {
        let (node, rounds, look) = match step {
            Step::Node(node, rounds, look) => (node, rounds, look),
            Step::Leave(before) => {
                ignores_case = before;
                continue;
            }
        };
        let offset = node.span().start.offset;
        let units = match node {
            Ast::ClassUnicode(class) => {
                let folded = if ignores_case { PROPERTY.folded() } else { 0 };
                let all = PROPERTY.negated(class.negated);
                folded + all.ranges / JOINED_PER_UNIT
            }
            Ast::ClassPerl(class) => perl(class).ranges / JOINED_PER_UNIT,
            Ast::ClassBracketed(class) => {
                if is_everything(class) {
                    class.kind = ClassSet::Item(ClassSetItem::Empty(class.span));
                    class.negated = true;
                }
                let mut units = 0;
                let size = bracketed(class, ignores_case, &mut units);
                units + size.ranges / JOINED_PER_UNIT
            }
            _ => 0,
        };
        fuel.spend(1 + units).map_err(|error| (error, offset))?;
        match node {
            Ast::Flags(set) => ignores_case = flagged(&set.flags, ignores_case),
            Ast::Group(group) => {
                work.push(Step::Leave(ignores_case));
                if let GroupKind::NonCapturing(flags) = &group.kind {
                    ignores_case = flagged(flags, ignores_case);
                }
                let look = look.or_else(|| looks(group, counts.as_deref()?.names));
                work.push(Step::Node(&mut group.ast, rounds, look));
            }
            Ast::Repetition(repetition) => {
                let offset = repetition.op.span.start.offset;
                let rounds = match (counted(&repetition.op.kind, rounds, limits), &mut counts) {
                    (Ok(rounds), _) => rounds,
                    (Err(error), None) => return Err((error, offset)),
                    (Err(error), Some(counts)) => {
                        repetition.op.kind = uncounted(&repetition.op.kind);
                        let large = TooLarge {
                            offset,
                            look,
                            error,
                        };
                        counts.found.push(large);
                        rounds
                    }
                };
                work.push(Step::Node(&mut repetition.ast, rounds, look));
            }
            Ast::Alternation(all) => {
                work.extend(
                    all.asts
                        .iter_mut()
                        .rev()
                        .map(|ast| Step::Node(ast, rounds, look)),
                );
            }
            Ast::Concat(all) => {
                work.extend(
                    all.asts
                        .iter_mut()
                        .rev()
                        .map(|ast| Step::Node(ast, rounds, look)),
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where look-around begins in the source.
fn looks(group: &Group, names: &Names) -> Option<usize> {
    let GroupKind::CaptureName { name, .. } = &group.kind else {
        return None;
    };
    let mark = names.read(&name.name)?;
    matches!(mark.kind, Kind::Look(..)).then_some(mark.offset)
}

/// The same without the count.
fn uncounted(kind: &RepetitionKind) -> RepetitionKind {
    match kind {
        RepetitionKind::Range(
            RepetitionRange::Exactly(0)
            | RepetitionRange::AtLeast(0)
            | RepetitionRange::Bounded(0, _),
        ) => RepetitionKind::ZeroOrMore,
        _ => RepetitionKind::OneOrMore,
    }
}

/// The rounds of a repetition within so many rounds of others, checked.
fn counted(kind: &RepetitionKind, rounds: u64, limits: &Limits) -> Result<u64, Error> {
    let RepetitionKind::Range(range) = kind else {
        return Ok(rounds);
    };
    let bound = match *range {
        RepetitionRange::Exactly(bound)
        | RepetitionRange::AtLeast(bound)
        | RepetitionRange::Bounded(_, bound) => bound,
    };
    if bound > limits.regex_repetition {
        let allowed = u64::from(limits.regex_repetition);
        let (code, name) = ("E-LIMIT-REGEX-REPETITION", "regex_repetition");
        return Err(Error::limit(code, name, u64::from(bound), allowed));
    }
    let product = rounds.saturating_mul(u64::from(bound.max(1)));
    if rounds > 1 && bound > 1 && product > limits.regex_expansion {
        let (code, name) = ("E-LIMIT-REGEX-EXPANSION", "regex_expansion");
        return Err(Error::limit(code, name, product, limits.regex_expansion));
    }
    Ok(product)
}

/// Whether case is ignored after some flags.
fn flagged(flags: &Flags, before: bool) -> bool {
    flags.flag_state(Flag::CaseInsensitive).unwrap_or(before)
}

/// Whether a class holds all of a kind and all that is not of that kind.
fn is_everything(class: &ClassBracketed) -> bool {
    let ClassSet::Item(ClassSetItem::Union(union)) = &class.kind else {
        return false;
    };
    let has = |kind: &ClassPerlKind, negated| {
        union.items.iter().any(|item| {
            matches!(item, ClassSetItem::Perl(perl) if perl.negated == negated && perl.kind == *kind)
        })
    };
    let kinds = [
        ClassPerlKind::Digit,
        ClassPerlKind::Space,
        ClassPerlKind::Word,
    ];
    !class.negated && kinds.iter().any(|kind| has(kind, true) && has(kind, false))
}

fn perl(class: &ClassPerl) -> Size {
    let size = match class.kind {
        ClassPerlKind::Digit => Size {
            characters: 760,
            ranges: 71,
        },
        ClassPerlKind::Space => Size {
            characters: 25,
            ranges: 10,
        },
        ClassPerlKind::Word => PROPERTY,
    };
    size.negated(class.negated)
}

/// What a class in brackets holds. Recursion follows the nesting, which the reader bounds.
fn bracketed(class: &ClassBracketed, ignores_case: bool, units: &mut usize) -> Size {
    let size = set(&class.kind, ignores_case, units);
    if ignores_case {
        *units += size.folded();
    }
    size.negated(class.negated)
}

fn set(kind: &ClassSet, ignores_case: bool, units: &mut usize) -> Size {
    match kind {
        ClassSet::Item(one) => item(one, ignores_case, units),
        ClassSet::BinaryOp(op) => {
            let sides = [&op.lhs, &op.rhs].map(|side| {
                let size = set(side, ignores_case, units);
                if ignores_case {
                    *units += size.folded();
                }
                size
            });
            *units += (sides[0].ranges + sides[1].ranges) / JOINED_PER_UNIT;
            sides[0].with(sides[1])
        }
    }
}

fn item(one: &ClassSetItem, ignores_case: bool, units: &mut usize) -> Size {
    *units += 1;
    match one {
        ClassSetItem::Empty(_) => Size::default(),
        ClassSetItem::Literal(_) => Size {
            characters: 1,
            ranges: 1,
        },
        ClassSetItem::Range(range) => {
            let (first, last) = (u32::from(range.start.c), u32::from(range.end.c));
            Size {
                characters: last.saturating_sub(first) as usize + 1,
                ranges: 1,
            }
        }
        ClassSetItem::Ascii(class) => Size {
            characters: 128,
            ranges: 8,
        }
        .negated(class.negated),
        ClassSetItem::Unicode(class) => {
            if ignores_case {
                *units += PROPERTY.folded();
            }
            *units += PROPERTY.ranges / JOINED_PER_UNIT;
            PROPERTY.negated(class.negated)
        }
        ClassSetItem::Perl(class) => perl(class),
        ClassSetItem::Bracketed(class) => bracketed(class, ignores_case, units),
        ClassSetItem::Union(union) => union.items.iter().fold(Size::default(), |size, one| {
            size.with(item(one, ignores_case, units))
        }),
    }
}
