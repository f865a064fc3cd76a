//! Subschemas that apply to a value because they apply to it.
//!
//! `properties`, `items` and their like go to a part of the value, so that recursion through them ends with it. `$ref`,
//! `allOf`, `anyOf`, `oneOf`, `not`, `if` and dependencies stay with the value: a circle of them alone never ends, and JSON
//! Schema (2020-12 core, 9.4.1) gives it no meaning.

use super::locations::LocationId;
use super::schemas::Schemas;
use crate::error::Error;

/// What is known of a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Unknown,
    /// It is being looked at.
    Open,
    /// It is in no circle.
    Fine,
}

/// What is known of each subschema, by its number.
#[derive(Debug, Default)]
pub(super) struct Circles(Vec<State>);

impl Circles {
    fn get(&self, id: LocationId) -> State {
        self.0.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, id: LocationId, state: State) {
        let at = id.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, State::Unknown);
        }
        self.0[at] = state;
    }
}

impl Schemas<'_> {
    /// Refuses a subschema that applies to a value because it applies to it.
    pub(super) fn check_circles(&mut self, start: LocationId) -> Result<(), Error> {
        if self.circles.get(start) != State::Unknown {
            return Ok(());
        }
        // (subschema, those that it applies to the same value and that are still to be looked at)
        let mut path = vec![(start, self.applied(start)?)];
        self.circles.set(start, State::Open);
        while let Some((id, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                let id = *id;
                self.circles.set(id, State::Fine);
                path.pop();
                continue;
            };
            match self.circles.get(next) {
                State::Fine => {}
                State::Unknown => {
                    self.circles.set(next, State::Open);
                    let applied = self.applied(next)?;
                    path.push((next, applied));
                }
                State::Open => {
                    let from = path.iter().position(|&(id, _)| id == next).unwrap_or(0);
                    let circle = path[from..].iter().map(|&(id, _)| id);
                    let written = |id: &LocationId| self.locations.get(*id).value.is_some();
                    let id = circle.clone().find(written).unwrap_or(next);
                    let reason = "the schema refers to itself, and nothing on the way leads into a part of the value";
                    let place = (self.pointer(id), reason.to_owned());
                    return Err(
                        Error::schema("E-SCHEMA-REF", reason, vec![place]).with_hint(
                            "refer to it from a part of the value, such as under properties or items",
                        ),
                    );
                }
            }
        }
        Ok(())
    }

    /// The subschemas that one applies to the same value.
    fn applied(&mut self, id: LocationId) -> Result<Vec<LocationId>, Error> {
        if let Some(positive) = self.locations.get(id).negates {
            return Ok(vec![positive]);
        }
        // What cannot be read is refused where it is needed.
        let Ok(keywords) = self.read_keywords(id) else {
            return Ok(Vec::new());
        };
        let branches = keywords.choices.iter().flat_map(|choice| &*choice.branches);
        let mut applied: Vec<_> = keywords.includes.iter().chain(branches).copied().collect();
        // The last one is looked at first.
        applied.reverse();
        self.work(applied.len())?;
        Ok(applied)
    }
}
