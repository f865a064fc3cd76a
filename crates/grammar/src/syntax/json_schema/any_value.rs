//! Any value inside a container: most schemas allow it somewhere, and it is the same in all that are spelled alike. So it is
//! lowered once and embedded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::lower::Lowering;
use super::metaschemas::Bundled;
use super::notation::Notation;
use super::options::Options;
use super::schemas::Schemas;
use super::spelling::Position;
use super::whitespace::Whitespace;
use crate::error::Error;
use crate::ir::{Grammar, Report};
use crate::json::Value;
use crate::limits::Limits;
use crate::syntax::regex::Patterns;
use crate::tuning::KEPT_SPELLINGS;

/// All that the grammar of any value depends on; of the limits, how much whitespace there may be.
type Spelled = (Option<Whitespace>, Notation, u32);

/// Of the spellings that were asked for last.
static KNOWN: Mutex<VecDeque<(Spelled, Arc<Grammar>)>> = Mutex::new(VecDeque::new());

/// The grammar of any value inside a container; None where each container has its own.
///
/// # Errors
/// `E-SCHEMA-OPTION` where the whitespace is none.
pub(super) fn shared(options: &Options, limits: &Limits) -> Result<Option<Arc<Grammar>>, Error> {
    if matches!(options.whitespace, Some(Whitespace::Indent(_))) {
        return Ok(None);
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |((whitespace, notation, most), _): &&(Spelled, _)| {
        (whitespace, notation, *most)
            == (
                &options.whitespace,
                &options.notation,
                limits.json_whitespace,
            )
    };
    if let Some((_, grammar)) = known().iter().find(is_same) {
        return Ok(Some(Arc::clone(grammar)));
    }
    let grammar = Arc::new(lowered(options, limits)?);
    let spelled = (
        options.whitespace.clone(),
        options.notation.clone(),
        limits.json_whitespace,
    );
    let mut known = known();
    if known.len() >= KEPT_SPELLINGS {
        known.pop_front();
    }
    known.push_back((spelled, Arc::clone(&grammar)));
    Ok(Some(grammar))
}

fn lowered(options: &Options, limits: &Limits) -> Result<Grammar, Error> {
    // Whoever embeds it has paid for it, whether or not it is made now.
    let limits = Limits {
        compile_fuel: Limits::default().compile_fuel,
        ..limits.clone()
    };
    let bundled = Bundled::new(Value::Bool(true), Vec::new());
    let mut schemas = Schemas::new(&bundled, options, &limits, Patterns::new(&limits))?;
    let anything = schemas.conjunction([])?;
    let mut lowering = Lowering::new(schemas, None)?;
    let start = lowering.all(&anything, Position::INSIDE)?;
    Ok(lowering.builder.finish(start, Report::default()))
}
