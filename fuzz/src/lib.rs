//! Random input for everything that reads what users bring.
//!
//! A target takes bytes, does with them what a user might, and panics where a promise is broken: errors have a code, a place
//! inside the source and a hint; what is printed or saved reads back; a mask says what is accepted; no source takes much more
//! than a second or half a gigabyte. It returns features of what was reached: inputs with new features are kept and mutated
//! further, which stands in for coverage on a toolchain without instrumentation.
//!
//! `make fuzz` runs every target for a while; `corpus/` holds where it begins, `regressions/` what it found.
#![forbid(unsafe_code)]

pub mod attacks;
pub mod mutate;
pub mod noise;
pub mod targets;
pub mod usage;

use std::path::{Path, PathBuf};

/// The files of a target in `corpus/` and `regressions/`, sorted.
///
/// # Errors
/// What reading a folder may fail with.
pub fn files(target: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["corpus", "regressions"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(folder)
            .join(target);
        if folder.is_dir() {
            for entry in folder.read_dir()? {
                files.push(entry?.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
