//! The functions of llguidance that llama.cpp's adapter calls, by this engine: a program that was made for the one links
//! against the other. `include/llguidance.h` says what each promises.
//!
//! Source of the names, their arguments and the two structures: `common/llguidance.cpp` of llama.cpp.

// What callers have to keep to is said in the header.
#![allow(clippy::missing_safety_doc)]
// A handle that is given back is dropped, not used.
#![allow(clippy::needless_pass_by_value)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::slice;
use std::sync::Arc;

use syntagma_engine::{
    EngineContext, GrammarCompiler, GrammarMatcher, Limits, Vocabulary, VocabularyParts,
    bitmask_words, caught,
};
use syntagma_host::{Error, ErrorKind, Grammar, TokenizerJson, vocabulary_parts};

/// A byte that no text holds, before the text of special tokens.
const SPECIAL: u8 = 0xFF;

/// A vocabulary, with a compiler that remembers grammars.
#[derive(Debug)]
pub struct LlgTokenizer(Arc<GrammarCompiler>);

/// One text as it grows, or why there is none.
#[derive(Debug, Clone)]
pub struct LlgMatcher {
    inner: Option<GrammarMatcher>,
    error: Option<CString>,
    mask: Option<Vec<i32>>,
}

/// What a tokenizer is made from.
#[repr(C)]
#[derive(Debug)]
pub struct LlgTokenizerInit {
    vocab_size: u32,
    tok_eos: u32,
    token_lens: *const u32,
    token_bytes: *const u8,
    tokenizer_json: *const c_char,
    tokenize_assumes_string: bool,
    tokenize_fn: *const c_void,
    use_approximate_greedy_tokenize_fn: bool,
    tokenize_user_data: *const c_void,
    slices: *const *const c_char,
}

/// What a matcher is made from.
#[repr(C)]
#[derive(Debug)]
pub struct LlgConstraintInit {
    tokenizer: *const LlgTokenizer,
    log_buffer_level: u32,
    log_stderr_level: u32,
    ff_tokens_ok: bool,
    backtrack_ok: bool,
}

/// Runs a call; a panic in it becomes an error.
fn call<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, CString> {
    let done = caught(|| {
        let _at_work = EngineContext::current().at_work();
        Ok(work())
    });
    done.map_err(Error::from).flatten().map_err(|error| {
        let mut text = error.to_string().into_bytes();
        text.retain(|&byte| byte != 0);
        CString::new(text).unwrap_or_default()
    })
}

fn argument(message: &str) -> Error {
    Error::new(ErrorKind::Argument, "E-ARGUMENT-VALUE", message)
}

/// A text; NULL is empty.
///
/// # Safety
/// Unless it is NULL, the pointer leads to a text that ends with a zero byte and stays.
unsafe fn text<'a>(data: *const c_char) -> Result<&'a str, Error> {
    if data.is_null() {
        return Ok("");
    }
    // SAFETY: the caller's promise.
    let found = unsafe { CStr::from_ptr(data) };
    found
        .to_str()
        .map_err(|error| argument(&format!("a text is not UTF-8: {error}")))
}

/// # Safety
/// The lists are as long as `vocab_size` and the lengths say, and `tokenizer_json` ends with a zero byte.
unsafe fn parts(init: &LlgTokenizerInit) -> Result<VocabularyParts, Error> {
    let size = init.vocab_size as usize;
    if !init.tokenizer_json.is_null() {
        // SAFETY: the caller's promise.
        let read = TokenizerJson::read(unsafe { text(init.tokenizer_json)? }.as_bytes())?;
        let size = (size > read.tokens.len()).then_some(size);
        return Ok(vocabulary_parts(read, &[init.tok_eos], size));
    }
    if init.token_lens.is_null() || init.token_bytes.is_null() {
        return Err(argument("there are no tokens"));
    }
    // SAFETY: there is a length for each token, and bytes for all lengths.
    let mut rest = unsafe {
        let lengths = slice::from_raw_parts(init.token_lens, size);
        let total = lengths.iter().map(|&length| length as usize).sum();
        (lengths, slice::from_raw_parts(init.token_bytes, total))
    };
    let mut found = VocabularyParts {
        eos_ids: vec![init.tok_eos],
        ..VocabularyParts::default()
    };
    for (id, &length) in (0..).zip(rest.0) {
        let (token, behind) = rest.1.split_at(length as usize);
        rest.1 = behind;
        let special = token.strip_prefix(&[SPECIAL]);
        found.special_ids.extend(special.map(|_| id));
        found.tokens.push(special.unwrap_or(token).to_vec());
    }
    Ok(found)
}

/// Makes a tokenizer; NULL and a text where it cannot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_new_tokenizer(
    init: Option<&LlgTokenizerInit>,
    error: *mut c_char,
    error_length: usize,
) -> Option<Box<LlgTokenizer>> {
    let made = call(|| {
        let init = init.ok_or_else(|| argument("init is NULL"))?;
        // SAFETY: the caller's promise about the lists.
        let vocabulary = Vocabulary::new(&unsafe { parts(init)? })?;
        let compiler = GrammarCompiler::new(Arc::new(vocabulary), Limits::default());
        Ok(LlgTokenizer(Arc::new(compiler)))
    });
    match made {
        Ok(tokenizer) => Some(Box::new(tokenizer)),
        Err(said) => {
            let said = said.as_bytes();
            let length = said.len().min(error_length.saturating_sub(1));
            if !error.is_null() && error_length > 0 {
                // SAFETY: there is room for `error_length` bytes, the zero byte included.
                unsafe {
                    ptr::copy_nonoverlapping(said.as_ptr(), error.cast(), length);
                    error.add(length).write(0);
                }
            }
            None
        }
    }
}

/// The same tokenizer once more.
#[unsafe(no_mangle)]
pub extern "C" fn llg_clone_tokenizer(
    tokenizer: Option<&LlgTokenizer>,
) -> Option<Box<LlgTokenizer>> {
    tokenizer.map(|tokenizer| Box::new(LlgTokenizer(Arc::clone(&tokenizer.0))))
}

/// Frees a tokenizer.
#[unsafe(no_mangle)]
pub extern "C" fn llg_free_tokenizer(tokenizer: Option<Box<LlgTokenizer>>) {
    let _ = call(|| {
        drop(tokenizer);
        Ok(())
    });
}

/// Sets the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_constraint_init_set_defaults(
    init: *mut LlgConstraintInit,
    tokenizer: *const LlgTokenizer,
) {
    if !init.is_null() {
        let defaults = LlgConstraintInit {
            tokenizer,
            log_buffer_level: 0,
            log_stderr_level: 1,
            ff_tokens_ok: false,
            backtrack_ok: false,
        };
        // SAFETY: it is the caller's.
        unsafe { init.write(defaults) };
    }
}

fn compile(compiler: &GrammarCompiler, kind: &str, data: &str) -> Result<GrammarMatcher, Error> {
    let notation = if kind == "json" { "json_schema" } else { kind };
    let grammar = Grammar::read(notation, data, "")?;
    let found = compiler.compile(&grammar.grammar)?;
    Ok(GrammarMatcher::with_bounds(found, grammar.bounds)?)
}

/// Makes a matcher, one that only has an error where it cannot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llg_new_matcher(
    init: Option<&LlgConstraintInit>,
    kind: *const c_char,
    data: *const c_char,
) -> Box<LlgMatcher> {
    let made = call(|| {
        // SAFETY: the tokenizer is one of the library's, or NULL.
        let tokenizer = init.and_then(|init| unsafe { init.tokenizer.as_ref() });
        let tokenizer = tokenizer.ok_or_else(|| argument("the tokenizer is NULL"))?;
        // SAFETY: both end with a zero byte.
        let (kind, data) = unsafe { (text(kind)?, text(data)?) };
        compile(&tokenizer.0, kind, data)
    });
    let (inner, error) = match made {
        Ok(matcher) => (Some(matcher), None),
        Err(error) => (None, Some(error)),
    };
    Box::new(LlgMatcher {
        inner,
        error,
        mask: None,
    })
}

/// A second matcher at the same place.
#[unsafe(no_mangle)]
pub extern "C" fn llg_clone_matcher(matcher: Option<&LlgMatcher>) -> Option<Box<LlgMatcher>> {
    matcher.map(|matcher| Box::new(matcher.clone()))
}

/// Frees a matcher.
#[unsafe(no_mangle)]
pub extern "C" fn llg_free_matcher(matcher: Option<Box<LlgMatcher>>) {
    let _ = call(|| {
        drop(matcher);
        Ok(())
    });
}

/// Why a matcher goes no further; NULL where it does.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_get_error(matcher: Option<&LlgMatcher>) -> *const c_char {
    let error = matcher.and_then(|matcher| matcher.error.as_ref());
    error.map_or(ptr::null(), |error| error.as_ptr())
}

/// Works on a matcher without an error, and keeps one: 0 or -1.
fn work(
    matcher: Option<&mut LlgMatcher>,
    work: impl FnOnce(&mut GrammarMatcher, &mut Option<Vec<i32>>) -> Result<(), Error>,
) -> i32 {
    let Some(LlgMatcher { inner, error, mask }) = matcher else {
        return -1;
    };
    let Some(inner) = inner.as_mut().filter(|_| error.is_none()) else {
        return -1;
    };
    match call(|| work(inner, mask)) {
        Ok(()) => 0,
        Err(said) => {
            *mask = None;
            *error = Some(said);
            -1
        }
    }
}

/// Finds which tokens may come next; once the text has ended, the one that ends it.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_compute_mask(matcher: Option<&mut LlgMatcher>) -> i32 {
    work(matcher, |matcher, mask| {
        let vocabulary = Arc::clone(matcher.compiled().vocabulary());
        let mut row = vec![0; bitmask_words(vocabulary.size())];
        if matcher.is_terminated()? {
            for &id in vocabulary.eos_ids() {
                row[id as usize / 32] |= 1 << (id % 32);
            }
        } else {
            matcher.fill_next_token_bitmask(&mut row)?;
        }
        *mask = Some(row);
        Ok(())
    })
}

/// The mask that was computed for this place; NULL where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_get_mask(matcher: Option<&LlgMatcher>) -> *const u32 {
    let mask = matcher.and_then(|matcher| matcher.mask.as_ref());
    mask.map_or(ptr::null(), |mask| mask.as_ptr().cast())
}

/// How long the mask is, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_get_mask_byte_size(matcher: Option<&LlgMatcher>) -> usize {
    let inner = matcher.and_then(|matcher| matcher.inner.as_ref());
    inner.map_or(0, |inner| {
        bitmask_words(inner.compiled().vocabulary().size()) * size_of::<u32>()
    })
}

/// Takes a token.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_consume_token(matcher: Option<&mut LlgMatcher>, token: u32) -> i32 {
    work(matcher, |matcher, mask| {
        *mask = None;
        let behind_the_end =
            matcher.is_terminated()? && matcher.compiled().vocabulary().is_eos(token);
        if behind_the_end || matcher.accept_token(token)? {
            return Ok(());
        }
        Err(argument(&format!("token {token} may not come next")))
    })
}

/// Goes back to the start of the text, and forgets an error.
#[unsafe(no_mangle)]
pub extern "C" fn llg_matcher_reset(matcher: Option<&mut LlgMatcher>) -> i32 {
    let Some(LlgMatcher {
        inner: Some(inner),
        error,
        mask,
    }) = matcher
    else {
        return -1;
    };
    (*error, *mask) = (None, None);
    *error = call(|| {
        inner.reset();
        Ok(())
    })
    .err();
    if error.is_some() { -1 } else { 0 }
}
