//! JSON pointers (RFC 6901) of subschemas, and what writing them costs.

use crate::error::Error;
use crate::limits::Fuel;
use crate::tuning::POINTER_BYTES_PER_UNIT;

/// Pays for bytes of pointers.
pub(super) fn pay_for_pointers(bytes: usize, fuel: &mut Fuel) -> Result<(), Error> {
    fuel.spend(bytes / POINTER_BYTES_PER_UNIT)
}

/// Pays for looking up every beginning of a pointer.
pub(super) fn pay_for_beginnings(pointer: &str, fuel: &mut Fuel) -> Result<(), Error> {
    let steps = 1 + pointer.matches('/').count() / POINTER_BYTES_PER_UNIT;
    pay_for_pointers(pointer.len().saturating_mul(steps), fuel)
}

/// A JSON pointer with one more step.
pub(super) fn below(pointer: &str, name: &str) -> String {
    if name.contains(['~', '/']) {
        let step = name.replace('~', "~0").replace('/', "~1");
        [pointer, "/", &step].concat()
    } else {
        [pointer, "/", name].concat()
    }
}
