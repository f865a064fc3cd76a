//! Names the shared library by the version of its binary interface, so that programs find the one they were linked against.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsyntagma.so.0");
    }
}
