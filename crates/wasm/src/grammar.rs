//! Grammars: read, and put together from others.

use std::sync::Arc;

use syntagma_engine::Bound;
use syntagma_grammar::ir::{self, text};
use syntagma_grammar::print;
use syntagma_host::{Error, Grammar};

use crate::arguments::Arguments;
use crate::things::answer;

/// A grammar of a text. Input: the notation, the text, and options as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn grammar() -> i32 {
    answer(|page| {
        let mut given = Arguments::new(&page.input);
        let read = Grammar::read(given.text()?, given.text()?, given.text()?)?;
        Ok(page.things.add(read))
    })
}

/// What a grammar saved. Input: its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_of_bytes() -> i32 {
    answer(|page| {
        let read = Grammar::from_bytes(Arguments::new(&page.input).bytes()?)?;
        Ok(page.things.add(read))
    })
}

/// A literal text. Input: the text.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_literal() -> i32 {
    answer(|page| {
        let text = Arguments::new(&page.input).text()?;
        let literal = ir::Grammar::from_regex(ir::Regex::literal(text.as_bytes()));
        Ok(page.things.add(made(literal, Vec::new())))
    })
}

/// A text that is one token where the vocabulary has a special or added one of it. Input: the text.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_marker() -> i32 {
    answer(|page| {
        let text = Arguments::new(&page.input).text()?;
        let marker = ir::Grammar::from_marker(text);
        Ok(page.things.add(made(marker, Vec::new())))
    })
}

/// Free text. Input: the texts that do not stand in it; the last one is what closes it, if `has_end`.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_free_text(has_end: u32) -> i32 {
    answer(|page| {
        let without = Arguments::new(&page.input).texts()?;
        let closer = without.last().copied().filter(|_| has_end != 0);
        let text = ir::Grammar::from_regex(text::free_text(&without, closer));
        Ok(page.things.add(made(text, Vec::new())))
    })
}

/// Any one of several grammars. Input: their numbers.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_union() -> i32 {
    joined(ir::Grammar::union)
}

/// Several grammars, one after the other. Input: their numbers.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_concat() -> i32 {
    joined(ir::Grammar::concat)
}

fn joined(join: impl FnOnce(&[Arc<ir::Grammar>]) -> ir::Grammar) -> i32 {
    answer(|page| {
        let numbers = Arguments::new(&page.input).numbers()?;
        let parts: Result<Vec<&Grammar>, Error> =
            numbers.iter().map(|&part| page.things.get(part)).collect();
        let parts = parts?;
        let bounds = parts.iter().flat_map(|part| part.bounds.clone()).collect();
        let grammars: Vec<_> = parts.iter().map(|part| Arc::clone(&part.grammar)).collect();
        let joined = made(join(&grammars), bounds);
        Ok(page.things.add(joined))
    })
}

/// A grammar repeated `min` to `max` times, -1 for no limit, with a separator between, 0 for none.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_repeat(repeated: u32, min: u32, max: i32, separator: u32) -> i32 {
    answer(|page| {
        let repeated: &Grammar = page.things.get(repeated)?;
        let mut bounds = repeated.bounds.clone();
        let separator = match separator {
            0 => None,
            number => {
                let separator: &Grammar = page.things.get(number)?;
                bounds.extend(separator.bounds.clone());
                Some(&separator.grammar)
            }
        };
        let max = u32::try_from(max).ok();
        let whole = ir::Grammar::repeat(&repeated.grammar, min, max, separator);
        Ok(page.things.add(made(whole, bounds)))
    })
}

/// The same grammar, as part of a source: what its report says begins with a JSON pointer. Input: the pointer.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_placed(grammar: u32) -> i32 {
    answer(|page| {
        let pointer = Arguments::new(&page.input).text()?;
        let grammar: &Grammar = page.things.get(grammar)?;
        let placed = ir::Grammar::clone(&grammar.grammar).with_pointer_prefix(pointer);
        let placed = made(placed, grammar.bounds.clone());
        Ok(page.things.add(placed))
    })
}

fn made(grammar: ir::Grammar, bounds: Vec<Bound>) -> Grammar {
    Grammar {
        grammar: Arc::new(grammar),
        schema: None,
        bounds,
    }
}

/// Output: the report as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_report(grammar: u32) -> i32 {
    answer(|page| {
        let grammar: &Grammar = page.things.get(grammar)?;
        page.output = grammar.report_json().into_bytes();
        Ok(0)
    })
}

/// Output: the grammar as EBNF.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_ebnf(grammar: u32) -> i32 {
    answer(|page| {
        let grammar: &Grammar = page.things.get(grammar)?;
        page.output = print::to_ebnf(&grammar.grammar).into_bytes();
        Ok(0)
    })
}

/// Output: the grammar, its schema and its bounds as bytes.
#[unsafe(no_mangle)]
pub extern "C" fn grammar_bytes(grammar: u32) -> i32 {
    answer(|page| {
        let grammar: &Grammar = page.things.get(grammar)?;
        page.output = grammar.to_bytes();
        Ok(0)
    })
}
