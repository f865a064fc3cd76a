//! `adapter.c` calls the library as llama.cpp's adapter does.
#![cfg(target_os = "linux")]

#[path = "../../capi/tests/program/mod.rs"]
mod program;

use program::{Program, succeeds};

#[test]
fn the_adapter_gets_what_it_asks_for() {
    let adapter = Program {
        folder: env!("CARGO_MANIFEST_DIR"),
        source: "adapter.c",
        library: "llguidance",
        is_static: false,
        watched: true,
    };
    if let Some(mut run) = adapter.compiled() {
        succeeds(&run.output().unwrap());
    }
}
