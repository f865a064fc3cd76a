//! `syntagma.Limits` → the cores' bounds, field by field.

use pyo3::prelude::*;

/// Bounds of the grammar crate.
pub(crate) fn grammar_limits(limits: &Bound<'_, PyAny>) -> PyResult<syntagma_grammar::Limits> {
    Ok(syntagma_grammar::Limits {
        grammar_bytes: limits.getattr("grammar_bytes")?.extract()?,
        grammar_nesting: limits.getattr("grammar_nesting")?.extract()?,
        grammar_alternatives: limits.getattr("grammar_alternatives")?.extract()?,
        regex_bytes: limits.getattr("regex_bytes")?.extract()?,
        regex_repetition: limits.getattr("regex_repetition")?.extract()?,
        regex_expansion: limits.getattr("regex_expansion")?.extract()?,
        schema_bytes: limits.getattr("schema_bytes")?.extract()?,
        schema_depth: limits.getattr("schema_depth")?.extract()?,
        schema_ref_hops: limits.getattr("schema_ref_hops")?.extract()?,
        schema_enum_values: limits.getattr("schema_enum_values")?.extract()?,
        json_whitespace: limits.getattr("json_whitespace")?.extract()?,
        compile_fuel: limits.getattr("compile_fuel")?.extract()?,
    })
}

/// Bounds of the engine crate.
pub(crate) fn engine_limits(limits: &Bound<'_, PyAny>) -> PyResult<syntagma_engine::Limits> {
    Ok(syntagma_engine::Limits {
        compile_fuel: limits.getattr("compile_fuel")?.extract()?,
        step_fuel: limits.getattr("step_fuel")?.extract()?,
        cache_bytes: limits.getattr("compiler_cache_bytes")?.extract()?,
        cache_entries: limits.getattr("compiler_cache_entries")?.extract()?,
        grammar_cache_bytes: limits.getattr("grammar_cache_bytes")?.extract()?,
        terminal_cache_bytes: limits.getattr("terminal_cache_bytes")?.extract()?,
        process_cache_bytes: limits.getattr("process_cache_bytes")?.extract()?,
        ..syntagma_engine::Limits::default()
    })
}
