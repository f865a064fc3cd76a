//! JSON Schema, drafts 4 to 2020-12, as a grammar of the documents that satisfy it.
//!
//! What is enforced is enforced exactly; what is not is named in the grammar's [`Report`], or the schema is refused. A few
//! freedoms of JSON are not given, because they change no value:
//!
//! * properties come in the order of the schema, unless any order is asked for; names are spelled in the one canonical way;
//! * strings under `pattern`, `format`, `enum` or `const` escape only what must be escaped;
//! * integers are written without a point; numbers between bounds have an exponent only where it leaves no doubt about the
//!   bounds, multiples have none;
//! * a leap second is `23:59:60` in UTC;
//! * numbers of `enum` and `const` are written as given, as plain integers, and as JavaScript and Python print them;
//! * a property that is not listed may be repeated, as RFC 8259 allows; each time counts as one, and the last value counts.
//!
//! | file | what |
//! |---|---|
//! | `options`, `guidance` | how a schema is read |
//! | `source`, `metaschemas` | text to JSON, with the schemas that it refers to |
//! | `locations`, `pointers`, `equality`, `uri` | subschemas by number, those that say the same, references |
//! | `keywords`, `reader`, `foreign`, `negation`, `schemas`, `cycles` | one subschema, typed; what holds where another does not; those that apply themselves |
//! | `demands`, `merge`, `evaluated`, `satisfiable`, `validate`, `choices` | subschemas that hold together; what no value satisfies; branches |
//! | `any_value` | what nothing is asked of, made once |
//! | `lower`, `scalar`, `array`, `distinct`, `counted`, `object`, `names`, `members`, `multiples` | rules |
//! | `text`, `number`, `decimal`, `formats`, `notation`, `spelling`, `whitespace` | how values are written |

mod any_value;
mod array;
mod choices;
mod counted;
mod cycles;
mod decimal;
mod demands;
mod distinct;
mod equality;
mod evaluated;
mod foreign;
mod formats;
mod guidance;
mod keywords;
mod locations;
mod lower;
mod members;
mod merge;
mod metaschemas;
mod multiples;
mod names;
mod negation;
mod notation;
mod number;
mod object;
mod options;
mod pointers;
mod reader;
mod satisfiable;
mod scalar;
mod schemas;
mod source;
mod spelling;
mod text;
mod uri;
mod validate;
mod whitespace;

use crate::json::Value;

use crate::error::{Diagnostic, Error, SourceLocation};
use crate::ir::{Grammar, Report};
use crate::limits::Limits;
use crate::maps::SeededSet;
use crate::syntax::regex::Patterns;
use lower::Lowering;
use metaschemas::Bundled;
pub use notation::Notation;
pub use options::{Draft, Options, Order};
use schemas::Schemas;
use spelling::Position;
pub use whitespace::Whitespace;

/// Reads a schema, given as JSON text.
///
/// # Errors
/// `E-SCHEMA-JSON`, `E-SCHEMA-INVALID`, `E-SCHEMA-REF`, `E-SCHEMA-UNSATISFIABLE`, `E-SCHEMA-WIDENED` (with every place that
/// is not enforced, where [`Options::allow_widened`] is off), and `E-LIMIT-SCHEMA-BYTES`, `-DEPTH`, `-REFS`, `-ENUM`,
/// `E-LIMIT-REGEX-…`, `E-LIMIT-FUEL`.
pub fn parse(text: &str, options: &Options, limits: &Limits) -> Result<Grammar, Error> {
    let document = source::read(text, limits)?;
    let mut resources = Vec::with_capacity(options.resources.len());
    for (uri, text) in &options.resources {
        let resource = source::read(text, limits)?;
        resources.push((uri.clone(), resource));
    }
    let texts = options
        .resources
        .iter()
        .map(|(_, text)| text.len())
        .sum::<usize>()
        + text.len();
    let all = std::iter::once(&document).chain(resources.iter().map(|(_, resource)| resource));
    source::check_cost(texts, all, limits)?;
    let bundled = Bundled::new(document, resources);
    grammar(&bundled, options, limits)
        .map_err(|error| error.placed(|pointer| bundled.place(pointer)))
}

/// Any JSON value.
///
/// # Errors
/// None but `E-LIMIT-FUEL`, with a very small limit.
pub fn any_json(options: &Options, limits: &Limits) -> Result<Grammar, Error> {
    grammar(
        &Bundled::new(Value::Bool(true), Vec::new()),
        options,
        limits,
    )
}

fn grammar(bundled: &Bundled, options: &Options, limits: &Limits) -> Result<Grammar, Error> {
    let options = &Options {
        whitespace: Some(guidance::whitespace(options, &bundled.document)?),
        ..options.clone()
    };
    let exact = lowered(bundled, options, limits, false);
    match exact {
        // Once more, holding less, which the report says.
        Err(error) if error.code() == "E-LIMIT-FUEL" && options.allow_widened => {
            lowered(bundled, options, limits, true).map_err(|_| error)
        }
        exact => exact,
    }
}

fn lowered(
    bundled: &Bundled,
    options: &Options,
    limits: &Limits,
    is_frugal: bool,
) -> Result<Grammar, Error> {
    let mut left_out = SeededSet::default();
    let mut read = Patterns::new(limits);
    let any = any_value::shared(options, limits)?;
    let (mut lowering, start) = loop {
        let mut schemas = Schemas::new(bundled, options, limits, read)?;
        schemas.left_out.clone_from(&left_out);
        schemas.is_frugal = is_frugal;
        let root = schemas.locations.root();
        let root = schemas.conjunction([root])?;
        let mut lowering = Lowering::new(schemas, any.clone())?;
        let start = lowering.all(&root, Position::DOCUMENT)?;
        match lowering.overrun() {
            None => break (lowering, start),
            Some(pointer) => left_out.insert(pointer),
        };
        read = lowering.schemas.read;
    };
    let reported = lowering.schemas.reported()?;
    let pointers = bundled.in_document(reported, &mut lowering.schemas.read.fuel)?;
    if !options.allow_widened && !pointers.is_empty() {
        let message = format!(
            "{} keyword(s) of the schema cannot be enforced",
            pointers.len()
        );
        return Err(Error::schema("E-SCHEMA-WIDENED", message, pointers)
            .with_hint("allow widened grammars and check the result against the schema"));
    }
    let nulls = std::mem::take(&mut lowering.schemas.locations.nulls);
    let nulls = nulls.into_iter().map(|pointer| {
        let message = "a keyword that is null says nothing";
        Diagnostic::new("W-SCHEMA-NULL", message)
            .at(SourceLocation::Pointer(bundled.place(&pointer)))
            .with_hint("leave it out")
    });
    let pythonic = std::mem::take(&mut lowering.schemas.pythonic);
    let pythonic = pythonic.into_iter().map(|pointer| {
        let message = "the pattern is Python's, and no pattern of ECMA-262";
        Diagnostic::new("W-SCHEMA-PATTERN", message)
            .at(SourceLocation::Pointer(bundled.place(&pointer)))
            .with_hint("write (?<name>…), ^ and $, and both cases of letters")
    });
    let foreign = std::mem::take(&mut lowering.schemas.locations.foreign);
    let foreign = foreign.into_iter().map(|(keyword, (pointer, instead))| {
        let message = format!("JSON Schema has no keyword {keyword:?}, which says nothing here");
        Diagnostic::new("W-SCHEMA-FOREIGN", message)
            .at(SourceLocation::Pointer(bundled.place(&pointer)))
            .with_hint(instead)
    });
    let warnings = nulls.chain(pythonic).chain(foreign);
    let grammar = lowering.builder.finish(start, Report { pointers });
    let grammar = grammar.with_warnings(warnings.collect());
    let ending = grammar.ending(&mut lowering.schemas.read.fuel)?;
    ending.ok_or_else(|| {
        let reason = "no value satisfies the schema";
        Error::schema(
            "E-SCHEMA-UNSATISFIABLE",
            reason,
            vec![(String::new(), reason.to_owned())],
        )
    })
}
