//! Bytes and tokens that callers get and give back.

use std::ptr;
use std::slice;

use crate::call::quietly;

/// Bytes of the caller, to be freed by syntagma_bytes_free(). A zero byte follows them, which `length` does not count.
#[repr(C)]
#[derive(Debug)]
pub struct SyntagmaBytes {
    /// The bytes.
    pub data: *mut u8,
    /// How many there are.
    pub length: usize,
}

/// Token ids of the caller, to be freed by syntagma_tokens_free().
#[repr(C)]
#[derive(Debug)]
pub struct SyntagmaTokens {
    /// The ids.
    pub data: *mut u32,
    /// How many there are.
    pub length: usize,
}

impl From<Vec<u8>> for SyntagmaBytes {
    fn from(mut bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        bytes.push(0);
        let data = Box::into_raw(bytes.into_boxed_slice()).cast();
        Self { data, length }
    }
}

impl From<Vec<u32>> for SyntagmaTokens {
    fn from(ids: Vec<u32>) -> Self {
        let length = ids.len();
        let data = Box::into_raw(ids.into_boxed_slice()).cast();
        Self { data, length }
    }
}

/// Frees bytes that the library gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_bytes_free(bytes: SyntagmaBytes) {
    if !bytes.data.is_null() {
        let slice = ptr::slice_from_raw_parts_mut(bytes.data, bytes.length + 1);
        // SAFETY: data and length are those of a box that `SyntagmaBytes::from` let go, the zero byte included.
        quietly(|| drop(unsafe { Box::from_raw(slice) }));
    }
}

/// Frees tokens that the library gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syntagma_tokens_free(tokens: SyntagmaTokens) {
    if !tokens.data.is_null() {
        let slice = ptr::slice_from_raw_parts_mut(tokens.data, tokens.length);
        // SAFETY: data and length are those of a box that `SyntagmaTokens::from` let go.
        quietly(|| drop(unsafe { Box::from_raw(slice) }));
    }
}

/// What a pointer and a length lead to; NULL is empty.
///
/// # Safety
/// Unless it is NULL, the pointer leads to so many values, which nobody changes while the answer is in use.
pub(crate) unsafe fn items<'a, T>(data: *const T, length: usize) -> &'a [T] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: it leads to so many values, as the caller promises.
    unsafe { slice::from_raw_parts(data, length) }
}

/// The same for values that only the caller uses.
///
/// # Safety
/// Unless it is NULL, the pointer leads to so many values, which nobody else uses while the answer is in use.
pub(crate) unsafe fn items_mut<'a, T>(data: *mut T, length: usize) -> &'a mut [T] {
    if data.is_null() {
        return &mut [];
    }
    // SAFETY: it leads to so many values of the caller's alone, as it promises.
    unsafe { slice::from_raw_parts_mut(data, length) }
}
