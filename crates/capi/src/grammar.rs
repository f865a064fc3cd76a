//! Grammars.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use syntagma_host::Grammar;

use crate::call::{SyntagmaStatus, call, quietly};
use crate::given::{given, put, put_made, text, word};
use crate::memory::{SyntagmaBytes, items};

/// What may be written. Immutable.
#[derive(Debug)]
pub struct SyntagmaGrammar(pub(crate) Grammar);

/// Reads a grammar from a text in a notation: `ebnf`, `gbnf`, `json_schema`, `lark`, `regex`, `structural_tag` or `xgrammar`.
///
/// `options` is NULL or a JSON object. `limits` is an object of bounds, see docs/reference/limits.md; `start` is the start
/// rule (`root` in gbnf and xgrammar, else `start`); `imports` holds the texts that lark imports, by name; `dialect` of a regex
/// is `rust` or `ecma`. Those of a schema are `allow_widened`, `whitespace`, `whitespace_pattern`, `separators`, `indent`,
/// `order`, `draft`, `notation` and `resources`, as docs/reference/json-schema.md says, and `strict`: objects hold only what they
/// declare. In a structural tag, formats that need a
/// vocabulary or a style of calls are refused: syntagma_grammar_load() takes them from Python. Fails with E-GRAMMAR-DIALECT, an
/// unknown notation; E-ARGUMENT-TYPE, E-ARGUMENT-VALUE or E-SCHEMA-OPTION, an option; E-ARGUMENT-TEXT, a text is not UTF-8;
/// E-GRAMMAR-…, E-REGEX-…, E-SCHEMA-… or E-LIMIT-…, the text. `*out` is freed by syntagma_grammar_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_grammar_read(
    notation: *const c_char,
    source: *const c_char,
    length: usize,
    options: *const c_char,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaGrammar>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            // SAFETY: the source is as long as it says, the others end with a zero byte.
            let (notation, source, options) = unsafe {
                (
                    word(notation, "notation")?,
                    text(source, length, "source")?,
                    word(options, "options")?,
                )
            };
            Grammar::read(notation, source, options).map(SyntagmaGrammar)
        })
    })
}

/// Reads a grammar that syntagma_grammar_save() wrote, or Python's `Grammar.to_bytes`.
///
/// Fails with E-STATE-FORMAT, these are no such bytes, or damaged; E-STATE-VERSION, of another version. `*out` is freed by
/// syntagma_grammar_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_grammar_load(
    data: *const u8,
    length: usize,
    out: Option<&mut MaybeUninit<Option<Box<SyntagmaGrammar>>>>,
) -> SyntagmaStatus {
    call(|| {
        put_made(out, || {
            // SAFETY: the bytes are as many as they say.
            let data = unsafe { items(data, length) };
            Grammar::from_bytes(data).map(SyntagmaGrammar)
        })
    })
}

/// The grammar as bytes, for another process or for Python's `Grammar.from_bytes`. `*out` is freed by syntagma_bytes_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_grammar_save(
    grammar: Option<&SyntagmaGrammar>,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    call(|| put(out, given(grammar, "grammar")?.0.to_bytes().into()))
}

/// How much of its schemas the grammar enforces, as a JSON object: `status`, `exact` or `widened`; `pointers`, the reason by the
/// JSON pointer of each keyword that is not enforced; `schema`; `warnings` about the source. `*out` is freed by
/// syntagma_bytes_free().
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_grammar_report(
    grammar: Option<&SyntagmaGrammar>,
    out: Option<&mut MaybeUninit<SyntagmaBytes>>,
) -> SyntagmaStatus {
    call(|| {
        put(
            out,
            given(grammar, "grammar")?
                .0
                .report_json()
                .into_bytes()
                .into(),
        )
    })
}

/// Frees a grammar.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_grammar_free(grammar: Option<Box<SyntagmaGrammar>>) {
    quietly(|| drop(grammar));
}
