//! `_engine.Grammar`: a grammar of any source.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use syntagma_grammar::ir::{self, Expr, Lnf, Report, TokenSet, text};
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark, regex, xgrammar};

use crate::arguments::Given;
use crate::bounds::{GivenBound, given_bound, read_bounds};
use crate::errors::{self, diagnostic_fields};
use crate::fork::released;
use crate::limits::grammar_limits;

/// An immutable grammar.
#[pyclass(frozen, module = "syntagma._engine")]
pub(crate) struct Grammar(pub(crate) Arc<ir::Grammar>);

fn inners(grammars: &[PyRef<'_, Grammar>]) -> Vec<Arc<ir::Grammar>> {
    grammars
        .iter()
        .map(|grammar| Arc::clone(&grammar.0))
        .collect()
}

fn read(
    py: Python<'_>,
    read: impl Send + FnOnce() -> Result<ir::Grammar, syntagma_grammar::Error>,
) -> PyResult<Grammar> {
    errors::grammar(py, read).map(|grammar| Grammar(Arc::new(grammar)))
}

/// The options of a schema, attribute by attribute.
fn schema_options(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<json_schema::Options> {
    let pattern: Option<String> = given.getattr("whitespace_pattern")?.extract()?;
    let separators: Option<(String, String)> = given.getattr("separators")?.extract()?;
    let indent: Option<u32> = given.getattr("indent")?.extract()?;
    let whitespace: Option<String> = given.getattr("whitespace")?.extract()?;
    let whitespace = if let Some(pattern) = pattern {
        Some(json_schema::Whitespace::Regex(pattern))
    } else if let Some((comma, colon)) = separators {
        let separators = || json_schema::Whitespace::separators(&comma, &colon);
        Some(errors::grammar(py, separators)?)
    } else if let Some(indent) = indent {
        Some(json_schema::Whitespace::Indent(indent))
    } else {
        whitespace.map(|word| match word.as_str() {
            "compact" => json_schema::Whitespace::Compact,
            _ => json_schema::Whitespace::Flexible,
        })
    };
    let any_order: bool = given.getattr("any_order")?.extract()?;
    let draft: Option<u32> = given.getattr("draft")?.extract()?;
    let notation = given.getattr("notation")?;
    let notation = if notation.is_none() {
        json_schema::Notation::default()
    } else {
        let quote: String = notation.getattr("quote")?.extract()?;
        let bare_keys: bool = notation.getattr("bare_keys")?.extract()?;
        let mut words: [String; 3] = Default::default();
        for (word, name) in words.iter_mut().zip(["true", "false", "null"]) {
            *word = notation.getattr(name)?.extract()?;
        }
        errors::grammar(py, || json_schema::Notation::new(&quote, bare_keys, words))?
    };
    let mut options = json_schema::Options::default();
    options.whitespace = whitespace;
    options.notation = notation;
    options.resources = given.getattr("resources")?.extract()?;
    options.allow_widened = given.getattr("allow_widened")?.extract()?;
    options.order = if any_order {
        json_schema::Order::Any
    } else {
        json_schema::Order::Declared
    };
    options.draft = draft.map(|draft| match draft {
        2020.. => json_schema::Draft::Draft2020,
        2019 => json_schema::Draft::Draft2019,
        _ => json_schema::Draft::Draft7,
    });
    Ok(options)
}

fn of_token(set: TokenSet) -> Grammar {
    let mut builder = ir::GrammarBuilder::new();
    let body = builder.add(Expr::Token(set));
    let start = builder.rule("start");
    builder.define(start, body);
    Grammar(Arc::new(builder.finish(start, Report::default())))
}

/// The text of a schema whose objects hold only what they declare.
#[pyfunction]
pub(crate) fn strict_schema(text: Given<String>, limits: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(syntagma_host::strict_schema(
        &text.0,
        &grammar_limits(limits)?,
    ))
}

/// Grammars by name, as the core takes them.
fn by_name<'g>(grammars: &'g [(String, PyRef<'_, Grammar>)]) -> Vec<(&'g str, Arc<ir::Grammar>)> {
    let given = grammars.iter();
    given
        .map(|(name, grammar)| (name.as_str(), Arc::clone(&grammar.0)))
        .collect()
}

#[pymethods]
impl Grammar {
    #[staticmethod]
    fn from_ebnf(
        py: Python<'_>,
        text: &str,
        start: &str,
        grammars: Vec<(String, PyRef<'_, Self>)>,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let limits = grammar_limits(limits)?;
        let given = by_name(&grammars);
        read(py, || ebnf::parse_with(text, start, &given, &limits))
    }

    #[staticmethod]
    fn from_gbnf(
        py: Python<'_>,
        text: &str,
        start: &str,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let limits = grammar_limits(limits)?;
        read(py, || gbnf::parse(text, start, &limits))
    }

    #[staticmethod]
    fn from_xgrammar(
        py: Python<'_>,
        text: &str,
        start: &str,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<(Self, Vec<(String, u32)>)> {
        let limits = grammar_limits(limits)?;
        let (grammar, budgets) =
            errors::grammar(py, || xgrammar::parse_with_budgets(text, start, &limits))?;
        let budgets = budgets.into_iter();
        let budgets = budgets.map(|budget| (budget.label, budget.tokens));
        Ok((Self(Arc::new(grammar)), budgets.collect()))
    }

    #[staticmethod]
    fn from_lark(
        py: Python<'_>,
        text: &str,
        start: &str,
        grammars: Vec<(String, PyRef<'_, Self>)>,
        files: Vec<(String, String)>,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<(Self, Vec<(String, u32)>)> {
        let limits = grammar_limits(limits)?;
        let given = by_name(&grammars);
        let files: Vec<(&str, &str)> = (files.iter())
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        let (grammar, budgets) = errors::grammar(py, || {
            lark::parse_with(text, start, &given, &files, &limits)
        })?;
        let budgets = budgets.into_iter();
        let budgets = budgets.map(|budget| (budget.label, budget.tokens));
        Ok((Self(Arc::new(grammar)), budgets.collect()))
    }

    /// The files that a grammar in Lark imports from the folder of its own, `file`.
    #[staticmethod]
    fn lark_imports(py: Python<'_>, text: &str, file: &str) -> PyResult<Vec<String>> {
        errors::grammar(py, || lark::imported_files(text, file))
    }

    #[staticmethod]
    #[pyo3(signature = (pattern, limits, ecma=false))]
    fn from_regex(
        py: Python<'_>,
        pattern: &str,
        limits: &Bound<'_, PyAny>,
        ecma: bool,
    ) -> PyResult<Self> {
        let limits = grammar_limits(limits)?;
        let dialect = if ecma {
            regex::Dialect::Ecma
        } else {
            regex::Dialect::Rust
        };
        read(py, || {
            regex::parse(pattern, dialect, &limits).map(ir::Grammar::from_regex)
        })
    }

    #[staticmethod]
    fn from_json_schema(
        py: Python<'_>,
        schema: &str,
        options: &Bound<'_, PyAny>,
        limits: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let limits = grammar_limits(limits)?;
        let options = schema_options(py, options)?;
        read(py, || json_schema::parse(schema, &options, &limits))
    }

    #[staticmethod]
    fn literal(bytes: &[u8]) -> Self {
        Self(Arc::new(ir::Grammar::from_regex(ir::Regex::literal(bytes))))
    }

    #[staticmethod]
    fn marker(text: &str) -> Self {
        Self(Arc::new(ir::Grammar::from_marker(text)))
    }

    #[staticmethod]
    fn token(text: &str) -> Self {
        of_token(TokenSet::Text(text.into()))
    }

    #[staticmethod]
    fn token_ids(ranges: Vec<(u32, u32)>) -> Self {
        of_token(TokenSet::Ids(ranges.into()))
    }

    #[staticmethod]
    fn token_except(ranges: Vec<(u32, u32)>, texts: Vec<String>) -> Self {
        let texts = texts.into_iter().map(Into::into).collect();
        of_token(TokenSet::except(ranges, texts))
    }

    #[staticmethod]
    fn text(py: Python<'_>, without: Vec<String>, closer: Option<&str>) -> PyResult<Self> {
        let without: Vec<&str> = without.iter().map(String::as_str).collect();
        read(py, || {
            Ok(ir::Grammar::from_regex(text::free_text(&without, closer)))
        })
    }

    #[staticmethod]
    fn union(py: Python<'_>, grammars: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let parts = inners(&grammars);
        read(py, || Ok(ir::Grammar::union(&parts)))
    }

    #[staticmethod]
    fn concat(py: Python<'_>, grammars: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let parts = inners(&grammars);
        read(py, || Ok(ir::Grammar::concat(&parts)))
    }

    #[staticmethod]
    #[pyo3(signature = (grammar, min, max, separator))]
    fn repeat(
        py: Python<'_>,
        grammar: &Self,
        min: u32,
        max: Option<u32>,
        separator: Option<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let separator = separator.map(|separator| Arc::clone(&separator.0));
        let repeated = || ir::Grammar::repeat(&grammar.0, min, max, separator.as_ref());
        read(py, || Ok(repeated()))
    }

    fn inside_json_string(&self, py: Python<'_>) -> PyResult<Self> {
        errors::grammar(py, || {
            ir::Grammar::spelled(&self.0, &ir::Escapes::json_string())
        })
        .map(Self)
    }

    fn spelled(&self, py: Python<'_>, escapes: Vec<(char, String)>) -> PyResult<Self> {
        errors::grammar(py, || {
            let pairs = escapes
                .iter()
                .map(|(character, escape)| (*character, escape.as_str()));
            ir::Grammar::spelled(&self.0, &ir::Escapes::new(pairs)?)
        })
        .map(Self)
    }

    #[staticmethod]
    fn labelled(py: Python<'_>, label: &str, grammar: &Self) -> PyResult<Self> {
        read(py, || Ok(ir::Grammar::labelled(label, &grammar.0)))
    }

    #[doc = stub!("Grammar.saved")]
    fn saved<'py>(
        &self,
        py: Python<'py>,
        schema: Option<String>,
        bounds: Vec<GivenBound>,
    ) -> Bound<'py, PyBytes> {
        let whole = syntagma_host::Grammar {
            grammar: Arc::clone(&self.0),
            schema,
            bounds: read_bounds(bounds),
        };
        let bytes = released(py, || whole.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[doc = stub!("Grammar.from_saved")]
    #[staticmethod]
    fn from_saved(
        py: Python<'_>,
        data: &[u8],
    ) -> PyResult<(Self, Option<String>, Vec<GivenBound>)> {
        let read = released(py, || syntagma_host::Grammar::from_bytes(data));
        let whole = read.map_err(|error| errors::raise(py, &error))?;
        let bounds = whole.bounds.iter().map(given_bound).collect();
        Ok((Self(whole.grammar), whole.schema, bounds))
    }

    fn placed(&self, place: &str) -> Self {
        Self(Arc::new(
            ir::Grammar::clone(&self.0).with_pointer_prefix(place),
        ))
    }

    fn report_pointers(&self) -> Vec<(String, String)> {
        self.0.report().pointers.clone()
    }

    /// Each warning as the fields that `GrammarWarning` takes.
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let of = |warning: &syntagma_grammar::Diagnostic| {
            let fields = PyDict::new(py);
            fields.set_item("code", warning.code())?;
            fields.set_item("message", warning.message())?;
            diagnostic_fields(&fields, warning)?;
            Ok(fields)
        };
        self.0.warnings().iter().map(of).collect()
    }

    fn labels(&self) -> Vec<&str> {
        self.0.labels()
    }

    fn rule_count(&self) -> usize {
        self.0.rules().len()
    }

    fn to_ebnf(&self, py: Python<'_>) -> PyResult<String> {
        errors::grammar(py, || Ok(syntagma_grammar::print::to_ebnf(&self.0)))
    }

    /// The GBNF text, the markers that stand in it as text, and whether it names tokens.
    #[pyo3(signature = (ids=None))]
    fn to_gbnf(
        &self,
        py: Python<'_>,
        ids: Option<BTreeMap<String, u32>>,
    ) -> PyResult<(String, Vec<String>, bool)> {
        errors::grammar(py, || {
            syntagma_grammar::print::to_gbnf(&self.0, ids.as_ref())
        })
        .map(|gbnf| (gbnf.text, gbnf.preserved_tokens, gbnf.names_tokens))
    }

    fn to_lark(&self, py: Python<'_>, ids: Option<BTreeMap<String, u32>>) -> PyResult<String> {
        errors::grammar(py, || {
            syntagma_grammar::print::to_lark(&self.0, ids.as_ref())
        })
    }

    #[doc = stub!("Grammar.symbol_texts")]
    fn symbol_texts(&self) -> Vec<&str> {
        self.0.symbol_texts()
    }

    #[doc = stub!("Grammar.exclusions")]
    fn exclusions(&self) -> Vec<(String, Grammar, Grammar)> {
        let whole = |regex| Grammar(Arc::new(ir::Grammar::from_regex(regex)));
        let exclusions = self.0.exclusions().into_iter();
        exclusions
            .map(|found| {
                (
                    found.rule.to_string(),
                    whole(found.shape),
                    whole(found.excluded),
                )
            })
            .collect()
    }

    fn dump_lnf(&self, py: Python<'_>, limits: &Bound<'_, PyAny>) -> PyResult<String> {
        let limits = grammar_limits(limits)?;
        errors::grammar(py, || Lnf::new(&self.0, &limits).map(|lnf| lnf.dump()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        // Cheap and equal for equal grammars; equality decides.
        self.0.rules().len().hash(&mut hasher);
        self.0.expr_count().hash(&mut hasher);
        for rule in self.0.rules() {
            rule.name.hash(&mut hasher);
        }
        hasher.finish()
    }
}
