//! Arguments that may be NULL or no text.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use syntagma_host::{Error, ErrorKind};

use crate::memory::items;

fn argument(code: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Argument, code, message)
}

/// What an argument holds that must not be NULL.
pub(crate) fn given<T>(value: Option<T>, name: &str) -> Result<T, Error> {
    value.ok_or_else(|| argument("E-ARGUMENT-VALUE", format!("{name} is NULL")))
}

/// Writes a result behind a pointer.
pub(crate) fn put<T>(out: Option<&mut MaybeUninit<T>>, value: T) -> Result<(), Error> {
    given(out, "the place of the result")?.write(value);
    Ok(())
}

/// Writes a handle behind a pointer, NULL where there is none.
pub(crate) fn put_made<T>(
    out: Option<&mut MaybeUninit<Option<Box<T>>>>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<(), Error> {
    let out = given(out, "the place of the result")?;
    out.write(None);
    out.write(Some(Box::new(make()?)));
    Ok(())
}

fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes)
        .map_err(|error| argument("E-ARGUMENT-TEXT", format!("{name} is not UTF-8: {error}")))
}

/// A text with its length.
///
/// # Safety
/// Unless it is NULL, the pointer leads to so many bytes, which nobody changes while the answer is in use.
pub(crate) unsafe fn text<'a>(
    data: *const c_char,
    length: usize,
    name: &str,
) -> Result<&'a str, Error> {
    // SAFETY: the caller's promise.
    utf8(unsafe { items(data.cast(), length) }, name)
}

/// A text that ends with a zero byte; NULL is empty.
///
/// # Safety
/// Unless it is NULL, the pointer leads to such a text, which nobody changes while the answer is in use.
pub(crate) unsafe fn word<'a>(data: *const c_char, name: &str) -> Result<&'a str, Error> {
    if data.is_null() {
        return Ok("");
    }
    // SAFETY: the caller's promise.
    utf8(unsafe { CStr::from_ptr(data) }.to_bytes(), name)
}
