//! Whether a text is in a regular language: for names and values that stand in the schema itself. Recursion is bounded by the
//! nesting that the pattern reader allows.

use crate::error::Error;
use crate::ir::Regex;
use crate::limits::Fuel;

/// Positions in the text at which a match may end, ascending.
type Ends = Vec<usize>;

/// Whether `text` as a whole is in the language. `fuel` pays for every position at every node.
pub(super) fn matches(regex: &Regex, text: &[u8], fuel: &mut Fuel) -> Result<bool, Error> {
    Ok(ends(regex, text, &[0], fuel)?.contains(&text.len()))
}

fn ends(regex: &Regex, text: &[u8], starts: &[usize], fuel: &mut Fuel) -> Result<Ends, Error> {
    fuel.spend(1 + starts.len() / 8)?;
    Ok(match regex {
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
        Regex::Concat(parts) => {
            let mut now = starts.to_vec();
            for part in parts.iter() {
                if now.is_empty() {
                    break;
                }
                now = ends(part, text, &now, fuel)?;
            }
            now
        }
        Regex::Alt(parts) => {
            let mut all = Ends::new();
            for part in parts.iter() {
                all.append(&mut ends(part, text, starts, fuel)?);
            }
            sorted(all)
        }
        // These two are about one beginning at a time.
        Regex::And(parts) => one_by_one(text, starts, fuel, |start, fuel| {
            let mut common: Ends = (start..=text.len()).collect();
            for part in parts.iter() {
                let found = ends(part, text, &[start], fuel)?;
                common.retain(|at| found.binary_search(at).is_ok());
            }
            Ok(common)
        })?,
        Regex::Not(inner) => one_by_one(text, starts, fuel, |start, fuel| {
            let found = ends(inner, text, &[start], fuel)?;
            Ok((start..=text.len())
                .filter(|at| found.binary_search(at).is_err())
                .collect())
        })?,
        Regex::Repeat { inner, min, max } => {
            let mut now = starts.to_vec();
            let mut all = Ends::new();
            let mut count = 0;
            while !now.is_empty() && max.is_none_or(|max| count <= max) {
                if count >= *min {
                    let before = all.len();
                    fuel.spend(before / 8)?;
                    all.extend(&now);
                    all = sorted(all);
                    if all.len() == before {
                        break;
                    }
                }
                let next = ends(inner, text, &now, fuel)?;
                if next == now {
                    // Nothing moves any more: it is the same for every count that follows.
                    if max.is_none_or(|max| max >= *min) {
                        all.extend(&now);
                        all = sorted(all);
                    }
                    break;
                }
                now = next;
                count += 1;
            }
            all
        }
    })
}

fn sorted(mut all: Ends) -> Ends {
    all.sort_unstable();
    all.dedup();
    all
}

fn one_by_one(
    text: &[u8],
    starts: &[usize],
    fuel: &mut Fuel,
    each: impl Fn(usize, &mut Fuel) -> Result<Ends, Error>,
) -> Result<Ends, Error> {
    let mut all = Ends::new();
    for &start in starts {
        fuel.spend(1 + (text.len() - start) / 8)?;
        all.append(&mut each(start, fuel)?);
    }
    Ok(sorted(all))
}
