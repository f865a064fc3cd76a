//! The engine as a WebAssembly module without imports, for `js/`: arguments and results are converted here, and everything
//! else is decided in the crates below.
//!
//! Values are known to the page by numbers. It writes what is longer than a number into [`input`] and reads it from
//! [`output`], where several parts stand one behind the other. A function that returns `i32` returns -1 for an error, whose
//! JSON is then the output.
//!
//! A panic ends the instance: the page gets a trap, reads [`last_words`], and makes another instance.

mod arguments;
pub mod grammar;
pub mod matcher;
mod things;
pub mod vocabulary;

use std::sync::{Mutex, PoisonError};

use crate::things::with_page;

static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

/// Begins: 128 bits that nobody outside can know, from which hashes and fingerprints are seeded. The first call.
#[unsafe(no_mangle)]
pub extern "C" fn begin(first: u64, second: u64) {
    #[cfg(target_family = "wasm")]
    syntagma_grammar::maps::give_secret([first, second]);
    #[cfg(not(target_family = "wasm"))]
    let _ = (first, second);
    std::panic::set_hook(Box::new(|reason| {
        *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = reason.to_string();
    }));
}

/// Room for so many bytes of arguments: where it begins.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    with_page(|page| {
        page.input.clear();
        page.input.resize(length, 0);
        page.input.as_mut_ptr()
    })
}

/// Where the result of the last call begins.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with_page(|page| page.output.as_ptr())
}

/// Bytes of the result of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    with_page(|page| page.output.len())
}

/// Where the message of the panic begins that ended the instance.
#[unsafe(no_mangle)]
pub extern "C" fn last_words() -> *const u8 {
    let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    words.as_ptr()
}

/// Bytes of the message.
#[unsafe(no_mangle)]
pub extern "C" fn last_words_length() -> usize {
    let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    words.len()
}

/// Forgets a value.
#[unsafe(no_mangle)]
pub extern "C" fn dispose(thing: u32) {
    // What it holds is dropped when the page is at hand again.
    drop(with_page(|page| page.things.remove(thing)));
}
