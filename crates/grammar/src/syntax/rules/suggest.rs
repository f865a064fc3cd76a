//! Advice for a name that no rule has: the names that are most like it, by Levenshtein distance.

/// Advice with the names that are most like `name`.
pub(super) fn near_names<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut near: Vec<(usize, &str)> = names
        // Rules of a front end's own have names that no source can write.
        .filter(|other| !other.contains(' '))
        .map(|other| (distance(name, other), other))
        .collect();
    near.sort_unstable();
    let close: Vec<&str> = near
        .iter()
        .take(3)
        .filter(|(distance, other)| *distance <= 1 + name.len().max(other.len()) / 2)
        .map(|&(_, other)| other)
        .collect();
    match (close.is_empty(), near.is_empty()) {
        (false, _) => format!("is one of these meant: {}?", close.join(", ")),
        (true, false) => {
            let some: Vec<&str> = near.iter().take(5).map(|&(_, other)| other).collect();
            format!(
                "rules are: {}{}",
                some.join(", "),
                if near.len() > 5 { ", …" } else { "" }
            )
        }
        (true, true) => "the grammar has no rules".to_owned(),
    }
}

/// Edits between two names, looking at their first 32 characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(32).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, l) in left.chars().take(32).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, &r) in right.iter().enumerate() {
            let change = diagonal + usize::from(l != r);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
