//! Bounds on the engine's work and memory, and the fuel that enforces the former.

use crate::error::Error;
use crate::tuning;

/// Bounds on work and memory; every bound is inclusive. The defaults are the library's documented ones; change fields of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Units of work of one compilation: a symbol of a rule, a residual that is looked at; a new one is a few.
    pub compile_fuel: u64,
    /// Units of work of one call on a matcher: an Earley item, a residual or a trie node visited.
    pub step_fuel: u64,
    /// Branching residuals (unions and intersections) that one terminal may have.
    pub terminal_residuals: u32,
    /// Bytes that the compiled grammars in a compiler's cache may hold together.
    pub cache_bytes: usize,
    /// Compiled grammars in a compiler's cache.
    pub cache_entries: usize,
    /// Bytes of residuals, sets, states and masks of one compiled grammar. Beyond them it forgets masks, then where tokens
    /// lead, then everything but the places of its matchers, which may need more.
    pub grammar_cache_bytes: usize,
    /// Bytes of what is known about terminals, whatever grammar they stand in: one store for each vocabulary, for as much as
    /// the most generous of its compilers allows.
    pub terminal_cache_bytes: usize,
    /// `grammar_cache_bytes` for all compiled grammars of the process together, those used longest ago first.
    pub process_cache_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compile_fuel: 5_000_000,
            step_fuel: 2_000_000,
            terminal_residuals: 50_000,
            cache_bytes: 256 << 20,
            cache_entries: 1_000,
            grammar_cache_bytes: 64 << 20,
            terminal_cache_bytes: 64 << 20,
            process_cache_bytes: 512 << 20,
        }
    }
}

/// Work that one call may still do.
#[derive(Debug)]
pub(crate) struct Fuel {
    left: u64,
    code: &'static str,
    limit: &'static str,
    allowed: u64,
    /// What a new residual takes where there are many.
    pub(crate) residual: usize,
    /// The cap on branching residuals, which applies to the same calls.
    pub(crate) terminal_residuals: u32,
}

impl Fuel {
    pub(crate) fn compile(limits: &Limits) -> Self {
        Self {
            left: limits.compile_fuel,
            code: "E-LIMIT-COMPILE",
            limit: "compile_fuel",
            allowed: limits.compile_fuel,
            residual: tuning::NEW_EXPRESSION_FUEL,
            terminal_residuals: limits.terminal_residuals,
        }
    }

    pub(crate) fn step(limits: &Limits) -> Self {
        Self {
            left: limits.step_fuel,
            code: "E-LIMIT-STEP",
            limit: "step_fuel",
            allowed: limits.step_fuel,
            residual: 1,
            terminal_residuals: limits.terminal_residuals,
        }
    }

    /// For reading the vocabulary by one terminal, three times at most.
    pub(crate) fn scan(limits: &Limits) -> Self {
        Self {
            left: limits.step_fuel.saturating_mul(3),
            ..Self::step(limits)
        }
    }

    /// For reading a text and the vocabulary again in the plainest way.
    pub(crate) fn judge(limits: &Limits) -> Self {
        Self {
            left: limits.step_fuel.saturating_mul(tuning::JUDGE_FUEL),
            ..Self::step(limits)
        }
    }

    /// For taking over what could be made within limits before.
    pub(crate) fn endless() -> Self {
        Self {
            left: u64::MAX,
            code: "E-LIMIT-STEP",
            limit: "step_fuel",
            allowed: u64::MAX,
            residual: 1,
            terminal_residuals: u32::MAX,
        }
    }

    /// For something that may be given up.
    pub(crate) fn up_to(&self, units: u64) -> Self {
        Self {
            left: self.left.min(units),
            ..*self
        }
    }

    /// The same with so many units more.
    pub(crate) fn with_more(self, units: usize) -> Self {
        Self {
            left: self.left.saturating_add(units as u64),
            ..self
        }
    }

    /// Units that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn spend(&mut self, units: usize) -> Result<(), Error> {
        match self.left.checked_sub(units as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::limit(self.code, self.limit, self.allowed)),
        }
    }
}
