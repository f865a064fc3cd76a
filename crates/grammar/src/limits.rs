//! Bounds on what a grammar source may ask for, and the fuel that enforces the one on work. The defaults are the library's
//! documented ones.

use crate::error::Error;

/// Bounds on grammar sources; every bound is inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of an EBNF, GBNF or Lark source.
    pub grammar_bytes: usize,
    /// Groups within groups; in a regular expression, anything in anything, and 200 at most.
    pub grammar_nesting: usize,
    /// Alternatives in all rules together.
    pub grammar_alternatives: usize,
    /// Bytes of one regular expression.
    pub regex_bytes: usize,
    /// The largest bound in `{m,n}`.
    pub regex_repetition: u32,
    /// Product of the bounds of nested counted repetitions.
    pub regex_expansion: u64,
    /// Bytes of a JSON Schema with its resources, as compact JSON without remarks for people.
    pub schema_bytes: usize,
    /// Nesting of a JSON Schema.
    pub schema_depth: usize,
    /// `$ref`s followed without a keyword between them.
    pub schema_ref_hops: usize,
    /// Values in all `enum`s of one schema.
    pub schema_enum_values: usize,
    /// Whitespace characters in a row inside JSON.
    pub json_whitespace: u32,
    /// Units of work of one compilation: a symbol of a rule, a part of a pattern; a range of a new class is a few.
    pub compile_fuel: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            grammar_bytes: 2 << 20,
            grammar_nesting: 256,
            grammar_alternatives: 200_000,
            regex_bytes: 64 << 10,
            regex_repetition: 1_000_000,
            regex_expansion: 10_000,
            schema_bytes: 2 << 20,
            schema_depth: 256,
            schema_ref_hops: 1_000,
            schema_enum_values: 50_000,
            json_whitespace: 64,
            compile_fuel: 5_000_000,
        }
    }
}

/// Units of work that may still be done: on one source, where running out is an error, or for an answer that may be left
/// open.
#[derive(Debug, Clone)]
pub(crate) struct Fuel {
    left: u64,
    allowed: u64,
}

impl Fuel {
    /// What the limits allow for one source.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self::of(limits.compile_fuel)
    }

    /// A number of units.
    pub(crate) fn of(units: u64) -> Self {
        Self {
            left: units,
            allowed: units,
        }
    }

    /// Units that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Whether none is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Takes `units`, or all that are left; [`Fuel::is_spent`] says whether the work may go on.
    pub(crate) fn take(&mut self, units: usize) {
        self.left = self.left.saturating_sub(units as u64);
    }

    /// Pays for `units` of work.
    pub(crate) fn spend(&mut self, units: usize) -> Result<(), Error> {
        let Some(left) = self.left.checked_sub(units as u64) else {
            self.left = 0;
            let (code, name) = ("E-LIMIT-FUEL", "compile_fuel");
            let given = self.allowed.saturating_add(1);
            return Err(Error::limit(code, name, given, self.allowed));
        };
        self.left = left;
        Ok(())
    }
}
