//! `syntagma.Limits` → the bounds of the two core crates, field by field.

use pyo3::prelude::*;

/// Reads fields from the attributes of the same names.
macro_rules! read {
    ($given:ident => $limits:ident: $($field:ident),+) => {
        $($limits.$field = $given.getattr(stringify!($field))?.extract()?;)+
    };
}

/// Bounds of the grammar crate.
pub(crate) fn grammar_limits(given: &Bound<'_, PyAny>) -> PyResult<syntagma_grammar::Limits> {
    let mut limits = syntagma_grammar::Limits::default();
    read!(given => limits: grammar_bytes, grammar_nesting, grammar_alternatives, regex_bytes, regex_repetition,
        regex_expansion, schema_bytes, schema_depth, schema_ref_hops, schema_enum_values, json_whitespace, compile_fuel);
    Ok(limits)
}

/// Bounds of the engine crate. The cache of compiled grammars has longer names in Python, where other caches stand beside it.
pub(crate) fn engine_limits(given: &Bound<'_, PyAny>) -> PyResult<syntagma_engine::Limits> {
    let mut limits = syntagma_engine::Limits::default();
    read!(given => limits: compile_fuel, step_fuel, grammar_cache_bytes, terminal_cache_bytes, process_cache_bytes);
    limits.cache_bytes = given.getattr("compiler_cache_bytes")?.extract()?;
    limits.cache_entries = given.getattr("compiler_cache_entries")?.extract()?;
    Ok(limits)
}
