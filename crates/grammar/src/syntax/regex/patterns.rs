//! What the patterns of one source share: classes that are spelled already, and fuel.

use super::alphabet::Alphabet;
use crate::error::Error;
use crate::ir::Regex;
use crate::limits::{Fuel, Limits};
use crate::maps::SeededMap;
use crate::tuning::UNITS_PER_RANGE;

/// What the patterns of one source share, all in one spelling of characters.
pub(crate) struct Patterns {
    pub(crate) fuel: Fuel,
    /// Classes of Unicode have hundreds of ranges, and patterns name the same one again and again.
    classes: SeededMap<Box<[(char, char)]>, Regex>,
}

impl Patterns {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            fuel: Fuel::new(limits),
            classes: SeededMap::default(),
        }
    }

    /// One character out of the ranges.
    pub(crate) fn class(
        &mut self,
        ranges: &[(char, char)],
        alphabet: &mut dyn Alphabet,
    ) -> Result<Regex, Error> {
        if ranges.is_empty() {
            return Ok(Regex::Nothing);
        }
        if let Some(known) = self.classes.get(ranges) {
            return Ok(known.clone());
        }
        self.fuel.spend(UNITS_PER_RANGE * ranges.len())?;
        let class = alphabet.class(ranges);
        self.classes.insert(ranges.into(), class.clone());
        Ok(class)
    }
}
