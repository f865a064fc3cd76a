//! The committed header is the one that the sources make. With `SYNTAGMA_WRITE_HEADER` set, it is written.

use std::path::Path;
use std::{env, fs};

#[test]
fn the_header_is_up_to_date() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_src(crate_folder.join("src/lib.rs"))
        .with_config(config)
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = crate_folder.join("include/syntagma.h");
    if env::var_os("SYNTAGMA_WRITE_HEADER").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == made,
        "the header is not up to date: run `make capi`"
    );
}
