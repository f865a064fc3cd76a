//! Classes of characters as patterns and other notations write them, where a notation has none; and ranges of characters.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// What stands between brackets around a place, if it looks like a class of characters: `[a-z]`, `[^a]`, `[\w]`.
pub(in crate::syntax) fn class_around(text: &str, offset: usize) -> Option<&str> {
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[offset..]
        .find('\n')
        .map_or(text.len(), |at| offset + at);
    let up_to = text
        .len()
        .min(offset + text[offset..].chars().next().map_or(0, char::len_utf8));
    let start = line_start + text[line_start..up_to].rfind('[')?;
    let end = start + text[start..line_end].find(']')? + 1;
    let class = &text[start..end];
    let inner = &class[1..class.len() - 1];
    let characters: Vec<char> = inner.chars().collect();
    let has_range = characters
        .windows(3)
        .any(|w| w[1] == '-' && w[0].is_alphanumeric() && w[2].is_alphanumeric())
        && !inner.contains(' ');
    let is_short = characters.len() <= 40 && !inner.contains('"') && end > offset;
    let is_class = inner.starts_with('^') || inner.contains('\\') || has_range;
    (is_short && is_class).then_some(class)
}

/// The ranges in order, without overlaps; their complement if asked for.
pub(in crate::syntax) fn ranges_in_order(
    ranges: Vec<(char, char)>,
    negated: bool,
) -> Vec<(char, char)> {
    let ranges = ranges.into_iter();
    let mut class =
        ClassUnicode::new(ranges.map(|(first, last)| ClassUnicodeRange::new(first, last)));
    if negated {
        class.negate();
    }
    let ranges = class.iter();
    ranges.map(|range| (range.start(), range.end())).collect()
}
