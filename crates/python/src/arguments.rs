//! Arguments whose wrong types and ranges are errors of `syntagma.errors`.

use std::ops::Deref;

use pyo3::conversion::FromPyObject;
use pyo3::prelude::*;

use crate::errors::unconverted;

/// An argument of a public method. What does not convert is `E-ARGUMENT-TYPE`, `E-ARGUMENT-VALUE` (a number out of
/// range) or `E-ARGUMENT-TEXT` (a lone surrogate).
#[derive(Clone, Copy)]
pub(crate) struct Given<T>(pub(crate) T);

impl<T> Deref for Given<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Given<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        T::extract(object)
            .map(Self)
            .map_err(|error| unconverted(object.py(), error.into()))
    }
}
