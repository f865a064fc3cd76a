//! Limits by the names of Python's `Limits`.

use crate::error::Error;
use crate::options::{Options, read_object};

/// The limits of both crates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// Of sources of grammars.
    pub grammar: syntagma_grammar::Limits,
    /// Of compilers and matchers.
    pub engine: syntagma_engine::Limits,
}

/// Reads fields from the members of the same names.
macro_rules! read {
    ($given:ident => $limits:expr; $($field:ident),+) => {
        $(if let Some(number) = $given.number(stringify!($field))? {
            $limits.$field = number;
        })+
    };
}

impl Limits {
    /// Reads limits from a JSON object, by Python's names; those that are absent keep their defaults.
    ///
    /// Errors: `E-ARGUMENT-TYPE` and `E-ARGUMENT-VALUE`.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        Self::read(Options::new(&read_object(json)?))
    }

    pub(crate) fn read(mut given: Options<'_>) -> Result<Self, Error> {
        let mut limits = Self::default();
        read!(given => limits.grammar; grammar_bytes, grammar_nesting, grammar_alternatives, regex_bytes,
            regex_repetition, regex_expansion, schema_bytes, schema_depth, schema_ref_hops, schema_enum_values,
            json_whitespace, compile_fuel);
        read!(given => limits.engine; step_fuel, grammar_cache_bytes, terminal_cache_bytes, process_cache_bytes);
        limits.engine.compile_fuel = limits.grammar.compile_fuel;
        if let Some(bytes) = given.number("compiler_cache_bytes")? {
            limits.engine.cache_bytes = bytes;
        }
        if let Some(entries) = given.number("compiler_cache_entries")? {
            limits.engine.cache_entries = entries;
        }
        given.finish()?;
        Ok(limits)
    }

    /// The member `limits` of options.
    pub(crate) fn within(options: &mut Options<'_>) -> Result<Self, Error> {
        options
            .inner("limits")?
            .map_or(Ok(Self::default()), Self::read)
    }
}

/// What a compiler is told: the arguments of Python's `GrammarCompiler`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompilerOptions {
    /// Whether it remembers compiled grammars.
    pub cache: bool,
    /// Whether a second recogniser checks every mask and token.
    pub verify: bool,
    /// Bounds on work and memory.
    pub limits: syntagma_engine::Limits,
}

impl CompilerOptions {
    /// Reads the options `cache`, `verify` and `limits` from a JSON object, which may be empty.
    ///
    /// Errors: `E-ARGUMENT-TYPE` and `E-ARGUMENT-VALUE`.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        let members = read_object(json)?;
        let mut given = Options::new(&members);
        let read = Self {
            cache: given.flag("cache")?.unwrap_or(true),
            verify: given.flag("verify")?.unwrap_or(false),
            limits: Limits::within(&mut given)?.engine,
        };
        given.finish()?;
        Ok(read)
    }
}
