//! One alternative of a pattern that looks around itself: texts, and conditions between them.

use crate::ir::Regex;

/// Why a pattern is refused: the reason, and where in its source if that is known.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) &'static str, pub(super) Option<usize>);

/// A direction from a place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ahead,
    Behind,
}

/// A language without conditions.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) regex: Regex,
    /// Characters of a shortest word.
    pub(super) least: u32,
    /// Characters of a longest word; None if there is none.
    pub(super) most: Option<u32>,
}

/// That all that stands on one side is in a language.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) side: Side,
    pub(super) language: Regex,
    /// Whether the language holds texts only: a complement holds other bytes, too.
    pub(super) is_text: bool,
    /// The number of characters next to the place that decide (fewer if there are fewer); None if all may matter.
    pub(super) reach: Option<u32>,
    /// Where it stands in the pattern's source.
    pub(super) origin: Option<usize>,
}

/// A part of a branch.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// Some text.
    Text(Text),
    /// A condition on the text on one side.
    Condition(Condition),
    /// Single characters, repeated, with a condition ahead of each.
    Guarded {
        unit: Text,
        condition: Condition,
        min: u32,
        max: Option<u32>,
    },
}

/// A sequence of texts and of conditions on what stands around them.
pub(super) type Branch = Vec<Item>;

impl Text {
    pub(super) fn new(regex: Regex, least: u32, most: Option<u32>) -> Self {
        Self { regex, least, most }
    }

    pub(super) fn empty() -> Self {
        Self::new(Regex::empty(), 0, Some(0))
    }

    pub(super) fn then(self, other: Self) -> Self {
        Self {
            regex: sequence([self.regex, other.regex]),
            least: self.least.saturating_add(other.least),
            most: self
                .most
                .zip(other.most)
                .and_then(|(mine, theirs)| mine.checked_add(theirs)),
        }
    }

    pub(super) fn or(texts: Vec<Self>) -> Self {
        Self {
            least: texts.iter().map(|text| text.least).min().unwrap_or(0),
            most: texts
                .iter()
                .map(|text| text.most)
                .reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)))
                .flatten(),
            regex: Regex::alt(texts.into_iter().map(|text| text.regex).collect()),
        }
    }

    pub(super) fn repeated(self, min: u32, max: Option<u32>) -> Self {
        Self {
            least: self.least.saturating_mul(min),
            most: if self.most == Some(0) {
                Some(0)
            } else {
                self.most
                    .zip(max)
                    .and_then(|(most, max)| most.checked_mul(max))
            },
            regex: Regex::repeat(self.regex, min, max),
        }
    }

    pub(super) fn under(self, conditions: &[Condition]) -> Self {
        Self {
            regex: conditions
                .iter()
                .fold(self.regex, |regex, one| both(regex, one, None)),
            ..self
        }
    }
}

/// Conditions are equal wherever they come from.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        (self.side, self.is_text, self.reach) == (other.side, other.is_text, other.reach)
            && self.language == other.language
    }
}

impl Condition {
    pub(super) fn new(side: Side, language: Regex, reach: Option<u32>) -> Self {
        Self {
            side,
            language,
            is_text: true,
            reach,
            origin: None,
        }
    }

    /// That nothing is there: the edge of the text.
    pub(super) fn edge(side: Side) -> Self {
        Self::new(side, Regex::empty(), Some(1))
    }

    /// The opposite.
    pub(super) fn negated(self) -> Self {
        Self {
            language: match self.language {
                Regex::Not(inner) => (*inner).clone(),
                language => Regex::Not(language.into()),
            },
            is_text: false,
            ..self
        }
    }

    /// Whether a number of characters next to it decides.
    pub(super) fn is_decided_by(&self, characters: u32) -> bool {
        self.reach.is_some_and(|reach| reach <= characters)
    }

    pub(super) fn refused(&self, what: &'static str) -> Unsupported {
        Unsupported(what, self.origin)
    }
}

impl Item {
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(text) => match &text.regex {
                Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => 1 + parts.len(),
                _ => 1,
            },
            Self::Condition(_) | Self::Guarded { .. } => 4,
        }
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    pub(super) fn is_condition(&self) -> bool {
        matches!(self, Self::Condition(_))
    }

    pub(super) fn looks(&self, wanted: Side) -> bool {
        match self {
            Self::Condition(condition) => condition.side == wanted,
            Self::Guarded { .. } => wanted == Side::Ahead,
            Self::Text(_) => false,
        }
    }

    pub(super) fn origin(&self) -> Option<usize> {
        match self {
            Self::Condition(condition) | Self::Guarded { condition, .. } => condition.origin,
            Self::Text(_) => None,
        }
    }
}

pub(super) fn is_empty(regex: &Regex) -> bool {
    matches!(regex, Regex::Literal(bytes) if bytes.is_empty())
}

/// One after another, without empty parts; parts that are sequences are taken apart.
pub(super) fn sequence(parts: impl IntoIterator<Item = Regex>) -> Regex {
    let mut flat: Vec<Regex> = Vec::new();
    for part in parts {
        match part {
            Regex::Concat(inner) => flat.extend(inner.iter().cloned()),
            part if is_empty(&part) => {}
            part => flat.push(part),
        }
    }
    let parts = flat;
    if parts.is_empty() {
        Regex::empty()
    } else {
        Regex::concat(parts)
    }
}

/// The words of a language that satisfy a condition; the language may be all texts.
pub(super) fn both(regex: Regex, condition: &Condition, anything: Option<&Regex>) -> Regex {
    let language = &condition.language;
    // One of the two is the empty string, or nothing: the other has it, or not.
    for (one, other) in [(&regex, language), (language, &regex)] {
        if is_empty(one) {
            return if other.is_nullable() {
                Regex::empty()
            } else {
                Regex::Nothing
            };
        }
        if *one == Regex::Nothing {
            return Regex::Nothing;
        }
    }
    if condition.is_text && anything == Some(&regex) {
        return language.clone();
    }
    match regex {
        Regex::And(parts) => Regex::And(parts.iter().chain([language]).cloned().collect()),
        regex => Regex::And([regex, language.clone()].into()),
    }
}

/// Texts side by side become one, and conditions at one place stand in one order: those on what is behind come first.
pub(super) fn normal(branch: Branch) -> Branch {
    let mut out: Branch = Vec::with_capacity(branch.len());
    let mut texts: Vec<Text> = Vec::new();
    let flush = |texts: &mut Vec<Text>, out: &mut Branch| {
        let texts = std::mem::take(texts);
        let all = Text {
            least: texts
                .iter()
                .fold(0, |sum, text| sum.saturating_add(text.least)),
            most: texts
                .iter()
                .try_fold(0_u32, |sum, text| sum.checked_add(text.most?)),
            regex: sequence(texts.into_iter().map(|text| text.regex)),
        };
        if !is_empty(&all.regex) {
            out.push(Item::Text(all));
        }
    };
    for item in branch {
        match item {
            Item::Text(text) => texts.push(text),
            item => {
                flush(&mut texts, &mut out);
                out.push(item);
            }
        }
    }
    flush(&mut texts, &mut out);
    for run in out.chunk_by_mut(|a, b| a.is_condition() && b.is_condition()) {
        run.sort_by_key(|item| item.looks(Side::Ahead));
    }
    // Said twice, it is no more than said once.
    out.dedup_by(|later, sooner| match (later, sooner) {
        (Item::Condition(later), Item::Condition(sooner)) => {
            later.side == sooner.side && later.language == sooner.language
        }
        _ => false,
    });
    out
}
