//! Subschemas that apply themselves to the same value.
//!
//! `properties`, `items` and their like go to a part of the value, so that recursion through them ends with it. `$ref`,
//! `allOf`, `anyOf`, `oneOf`, `not`, `if` and dependencies stay with the value: a cycle of them alone never ends, and JSON
//! Schema (2020-12 core, 9.4.1) gives it no meaning.

use super::keywords::LocationId;
use crate::error::Error;

/// What is known of a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Visit {
    #[default]
    Unknown,
    /// It is being looked at.
    Open,
    /// It is in no cycle.
    Fine,
}

/// What is known of each subschema, by its number.
#[derive(Debug, Default)]
pub(super) struct Cycles(Vec<Visit>);

impl Cycles {
    fn get(&self, id: LocationId) -> Visit {
        self.0.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, id: LocationId, state: Visit) {
        let at = id.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, Visit::Unknown);
        }
        self.0[at] = state;
    }

    /// A cycle that a subschema leads into, in order; empty where there is none. `applied` tells the subschemas that one
    /// applies to the same value, the one to be looked at first at the end.
    pub(super) fn find(
        &mut self,
        start: LocationId,
        mut applied: impl FnMut(LocationId) -> Result<Vec<LocationId>, Error>,
    ) -> Result<Vec<LocationId>, Error> {
        if self.get(start) != Visit::Unknown {
            return Ok(Vec::new());
        }
        // (subschema, those that it applies to the same value and that are still to be looked at)
        let mut path = vec![(start, applied(start)?)];
        self.set(start, Visit::Open);
        while let Some((id, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                let id = *id;
                self.set(id, Visit::Fine);
                path.pop();
                continue;
            };
            match self.get(next) {
                Visit::Fine => {}
                Visit::Unknown => {
                    self.set(next, Visit::Open);
                    path.push((next, applied(next)?));
                }
                Visit::Open => {
                    let from = path.iter().position(|&(id, _)| id == next).unwrap_or(0);
                    return Ok(path[from..].iter().map(|&(id, _)| id).collect());
                }
            }
        }
        Ok(Vec::new())
    }
}
