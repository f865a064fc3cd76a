//! The options of JSON Schemas, those of Python's `Grammar.from_json_schema`.

use syntagma_grammar::json::Value;
use syntagma_grammar::syntax::json_schema::Whitespace;
use syntagma_grammar::syntax::json_schema::{Draft, Notation, Options as SchemaOptions, Order};

use crate::error::{Error, ErrorKind};
use crate::options::Options;

const DRAFTS: [(&str, Draft); 5] = [
    ("draft-04", Draft::Draft7),
    ("draft-06", Draft::Draft7),
    ("draft-07", Draft::Draft7),
    ("2019-09", Draft::Draft2019),
    ("2020-12", Draft::Draft2020),
];
/// The code of an option that means nothing.
const OPTION: &str = "E-SCHEMA-OPTION";
const MAX_INDENT: u32 = 16;

/// Reads the options; whether the schema says everything about the grammar, without a notation and resources.
pub(crate) fn schema_options(given: &mut Options<'_>) -> Result<(SchemaOptions, bool), Error> {
    let mut options = SchemaOptions::default();
    options.whitespace = whitespace(given)?;
    if let Some(allowed) = given.flag("allow_widened")? {
        options.allow_widened = allowed;
    }
    let orders = [("declared", Order::Declared), ("any", Order::Any)];
    options.order = one_of(given, OPTION, "order", &orders)?.unwrap_or_default();
    options.draft = one_of(given, OPTION, "draft", &DRAFTS)?;
    let notation = notation(given)?;
    let mut alone = notation.is_none();
    options.notation = notation.unwrap_or_default();
    if let Some(resources) = given.object("resources")? {
        alone &= resources.is_empty();
        for (uri, resource) in resources {
            let text = resource
                .as_str()
                .map_or_else(|| resource.to_string(), str::to_owned);
            options.resources.push((uri.clone(), text));
        }
    }
    Ok((options, alone))
}

fn whitespace(given: &mut Options<'_>) -> Result<Option<Whitespace>, Error> {
    let styles = [
        ("flexible", Whitespace::Flexible),
        ("compact", Whitespace::Compact),
    ];
    let word = one_of(given, OPTION, "whitespace", &styles)?;
    let pattern = given.text("whitespace_pattern")?;
    let separators = given.array("separators")?;
    let indent: Option<u32> = given.number("indent")?;
    let asked = usize::from(pattern.is_some())
        + usize::from(separators.is_some())
        + usize::from(indent.is_some());
    if asked > 1 || (asked == 1 && word == Some(Whitespace::Compact)) {
        let message = "whitespace is asked for in more than one way";
        return Err(Error::new(ErrorKind::Argument, OPTION, message)
            .with_hint("give one of: whitespace, whitespace_pattern, separators, indent"));
    }
    let refused =
        |name: &str, message: &str| Err(given.error((ErrorKind::Argument, OPTION), name, message));
    if let Some(pattern) = pattern {
        return Ok(Some(Whitespace::Regex(pattern.to_owned())));
    }
    if let Some(indent) = indent {
        if indent > MAX_INDENT {
            let message = format!("indent is 0 to {MAX_INDENT} spaces, not {indent}");
            return refused("indent", &message);
        }
        return Ok(Some(Whitespace::Indent(indent)));
    }
    match separators {
        None => Ok(word),
        Some([Value::String(comma), Value::String(colon)]) => {
            Ok(Some(Whitespace::separators(comma, colon)?))
        }
        Some(_) => refused(
            "separators",
            "separators are two texts, as json.dumps takes them",
        ),
    }
}

/// How values are spelled, if not as JSON.
fn notation(given: &mut Options<'_>) -> Result<Option<Notation>, Error> {
    let Some(mut given) = given.inner("notation")? else {
        return Ok(None);
    };
    let quote = given.text("quote")?.unwrap_or("\"");
    let bare_keys = given.flag("bare_keys")?.unwrap_or(false);
    let mut words: [String; 3] = Default::default();
    for (word, name) in words.iter_mut().zip(["true", "false", "null"]) {
        given.text(name)?.unwrap_or(name).clone_into(word);
    }
    given.finish()?;
    Ok(Some(Notation::new(quote, bare_keys, words)?))
}

/// What one of several words means.
pub(crate) fn one_of<T: Clone>(
    given: &mut Options<'_>,
    code: &'static str,
    name: &'static str,
    known: &[(&str, T)],
) -> Result<Option<T>, Error> {
    let Some(word) = given.text(name)? else {
        return Ok(None);
    };
    if let Some((_, meant)) = known.iter().find(|(known, _)| *known == word) {
        return Ok(Some(meant.clone()));
    }
    let names: Vec<String> = known
        .iter()
        .map(|(known, _)| format!("{known:?}"))
        .collect();
    let kind = (ErrorKind::Argument, code);
    let found = given.error(kind, name, &format!("{name} {word:?} is not known"));
    Err(found.with_hint(format!("known: {}", names.join(", "))))
}
