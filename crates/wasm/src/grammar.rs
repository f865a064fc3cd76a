//! Grammars.

use syntagma_grammar::print;
use syntagma_host::Grammar;

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
