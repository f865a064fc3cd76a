//! Whether a text is in a regular language: for names and values that stand in the schema itself. Recursion is bounded by the
//! nesting that the pattern reader allows.

use crate::ir::Regex;

/// Positions in the text at which a match may end, ascending.
type Ends = Vec<usize>;

/// Whether `text` as a whole is in the language.
pub(super) fn matches(regex: &Regex, text: &[u8]) -> bool {
    ends(regex, text, &[0]).contains(&text.len())
}

fn ends(regex: &Regex, text: &[u8], starts: &[usize]) -> Ends {
    match regex {
        Regex::Nothing => Vec::new(),
        Regex::Class(set) => starts
            .iter()
            .filter(|&&at| text.get(at).is_some_and(|&byte| set.contains(byte)))
            .map(|&at| at + 1)
            .collect(),
        Regex::Literal(bytes) => starts
            .iter()
            .filter(|&&at| text[at..].starts_with(bytes))
            .map(|&at| at + bytes.len())
            .collect(),
        Regex::Concat(parts) => parts
            .iter()
            .fold(starts.to_vec(), |now, part| ends(part, text, &now)),
        Regex::Alt(parts) => {
            let mut all: Ends = parts
                .iter()
                .flat_map(|part| ends(part, text, starts))
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        // These two are about one beginning at a time.
        Regex::And(parts) => one_by_one(starts, |start| {
            let mut common: Ends = (start..=text.len()).collect();
            for part in parts.iter() {
                let found = ends(part, text, &[start]);
                common.retain(|at| found.binary_search(at).is_ok());
            }
            common
        }),
        Regex::Not(inner) => one_by_one(starts, |start| {
            let found = ends(inner, text, &[start]);
            (start..=text.len())
                .filter(|at| found.binary_search(at).is_err())
                .collect()
        }),
        Regex::Repeat { inner, min, max } => {
            let mut now = starts.to_vec();
            let mut all: Ends = Vec::new();
            let mut count = 0;
            while !now.is_empty() && max.is_none_or(|max| count <= max) {
                if count >= *min {
                    let before = all.len();
                    all.extend(&now);
                    all.sort_unstable();
                    all.dedup();
                    if all.len() == before {
                        break;
                    }
                }
                let next = ends(inner, text, &now);
                if next == now {
                    // Nothing moves any more: it is the same for every count that follows.
                    if max.is_none_or(|max| max >= *min) {
                        all.extend(&now);
                        all.sort_unstable();
                        all.dedup();
                    }
                    break;
                }
                now = next;
                count += 1;
            }
            all
        }
    }
}

fn one_by_one(starts: &[usize], each: impl Fn(usize) -> Ends) -> Ends {
    let mut all: Ends = starts.iter().flat_map(|&start| each(start)).collect();
    all.sort_unstable();
    all.dedup();
    all
}
