//! Calls and their errors.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use syntagma_engine::{EngineContext, caught};
use syntagma_host::{Error, ErrorKind};

/// What became of a call. Anything but SYNTAGMA_OK is a failure.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntagmaStatus {
    /// It was done.
    SyntagmaOk = 0,
    /// An argument can never be valid.
    SyntagmaErrorArgument = 1,
    /// An input is beyond a limit.
    SyntagmaErrorLimit = 2,
    /// A grammar cannot be read, or means nothing, or nothing with the vocabulary.
    SyntagmaErrorGrammar = 3,
    /// A JSON Schema is refused.
    SyntagmaErrorSchema = 4,
    /// A vocabulary cannot be understood.
    SyntagmaErrorVocabulary = 5,
    /// A matcher failed and stays failed until it is reset, or the library made a mistake.
    SyntagmaErrorMatcher = 6,
}

/// The last failure of a thread, as the texts that `syntagma_error_code` and its sisters return.
struct Kept {
    code: CString,
    text: CString,
    json: CString,
}

thread_local! {
    static LAST: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// A text that ends with a zero byte; zero bytes in it are left out.
fn c_text(text: String) -> CString {
    let mut bytes = text.into_bytes();
    bytes.retain(|&byte| byte != 0);
    CString::new(bytes).unwrap_or_default()
}

/// Runs a call. Forks wait until it is done, and a panic in it becomes an error.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Error>) -> SyntagmaStatus {
    let done = caught(|| {
        let _at_work = EngineContext::current().at_work();
        Ok(work())
    });
    let error = match done {
        Ok(Ok(())) => return SyntagmaStatus::SyntagmaOk,
        Ok(Err(error)) => error,
        Err(panic) => panic.into(),
    };
    let kept = Kept {
        code: c_text(error.code().to_owned()),
        text: c_text(error.to_string()),
        json: c_text(error.to_json()),
    };
    // A thread that ends has nobody left who asks.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(kept));
    match error.kind() {
        ErrorKind::Argument | ErrorKind::ArgumentType => SyntagmaStatus::SyntagmaErrorArgument,
        ErrorKind::Limit => SyntagmaStatus::SyntagmaErrorLimit,
        ErrorKind::Grammar => SyntagmaStatus::SyntagmaErrorGrammar,
        ErrorKind::Schema => SyntagmaStatus::SyntagmaErrorSchema,
        ErrorKind::Vocabulary => SyntagmaStatus::SyntagmaErrorVocabulary,
        _ => SyntagmaStatus::SyntagmaErrorMatcher,
    }
}

/// Runs something that cannot fail; a panic in it is dropped.
pub(crate) fn quietly(work: impl FnOnce()) {
    let _ = call(|| {
        work();
        Ok(())
    });
}

fn last(field: impl FnOnce(&Kept) -> &CStr) -> *const c_char {
    let found = LAST.try_with(|last| last.borrow().as_ref().map(|kept| field(kept).as_ptr()));
    found.ok().flatten().unwrap_or(c"".as_ptr())
}

/// The stable code of the last failure in this thread, `E-AREA-WHAT`; empty before the first one. The library keeps it until
/// the next failure in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_error_code() -> *const c_char {
    last(|kept| &kept.code)
}

/// The last failure in this thread for people: code, message, place, line with a caret, and hint. The library keeps it until
/// the next failure in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_error_text() -> *const c_char {
    last(|kept| &kept.text)
}

/// The last failure in this thread as a JSON object: `kind`, `code`, `message`, and what is known of `hint`, `line`, `column`,
/// `offset`, `excerpt`, `pointer`, `pointers`, `limit`, `given`, `allowed`. The library keeps it until the next failure in this
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_error_json() -> *const c_char {
    last(|kept| &kept.json)
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of the library, `MAJOR.MINOR.PATCH`. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn syntagma_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::{SyntagmaStatus, call, syntagma_error_code};

    #[test]
    fn no_panic_crosses() {
        let done = call(|| panic!("on purpose"));
        assert_eq!(done, SyntagmaStatus::SyntagmaErrorMatcher);
        // SAFETY: the library's text ends with a zero byte, and nothing fails meanwhile.
        let code = unsafe { CStr::from_ptr(syntagma_error_code()) };
        assert_eq!(code, c"E-ENGINE-PANIC");
    }
}
