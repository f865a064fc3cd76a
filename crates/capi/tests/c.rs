//! The programs in `c/`, which test the library as C sees it: compiled, linked against the shared library and the static one,
//! and run. With `VALGRIND` set, under valgrind.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, process};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const STATIC: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Where the libraries are that this test was built with.
fn built() -> PathBuf {
    let program = env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// A program, compiled and linked; None where there is no compiler. It may be run under valgrind if it is to be watched.
fn program(source: &str, is_static: bool, watched: bool) -> Option<Command> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("skipped: there is no C compiler");
        return None;
    }
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{source}-{}-{number}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let out = folder.join("program");
    let mut compile = Command::new(compiler);
    compile
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"])
        .arg(&out);
    compile
        .arg(format!("-I{CRATE}/include"))
        .arg(format!("{CRATE}/tests/c/{source}.c"));
    if is_static {
        compile.arg(built().join("libsyntagma.a")).args(STATIC);
    } else {
        // The name that programs ask for is that of its binary interface.
        symlink(
            built().join("libsyntagma.so"),
            folder.join("libsyntagma.so.0"),
        )
        .unwrap();
        compile.arg(built().join("libsyntagma.so")).arg("-lpthread");
    }
    succeeds(&compile.output().unwrap());
    let mut run = if watched && env::var_os("VALGRIND").is_some() {
        let mut valgrind = Command::new("valgrind");
        // Optimised code looks at values that it then does not use; what is wrong with addresses and leaks is found.
        valgrind.args([
            "--quiet",
            "--undef-value-errors=no",
            "--error-exitcode=9",
            "--leak-check=full",
        ]);
        valgrind
            .args([
                "--show-leak-kinds=definite",
                "--errors-for-leak-kinds=definite",
            ])
            .arg(out);
        valgrind
    } else {
        Command::new(out)
    };
    run.env("LD_LIBRARY_PATH", folder);
    Some(run)
}

fn succeeds(done: &Output) {
    let said = [&done.stdout[..], &done.stderr[..]].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// The arguments of the runner: the cases, and the tokenizer that ships with the package.
fn conformance(cases: &Path, is_static: bool, watched: bool) -> Option<Output> {
    let mut run = program("conformance", is_static, watched)?;
    let tokenizer = format!("{CRATE}/../../python/syntagma/embedded/data/tokenizer.json");
    Some(run.arg(cases).arg(tokenizer).output().unwrap())
}

#[test]
fn calls_keep_what_the_header_promises() {
    if let Some(mut run) = program("calls", false, true) {
        succeeds(&run.output().unwrap());
    }
}

#[test]
fn the_shared_cases_hold() {
    let cases = PathBuf::from(format!("{CRATE}/../../conformance/hosts/cases.jsonl"));
    for is_static in [false, true] {
        if let Some(done) = conformance(&cases, is_static, !is_static) {
            succeeds(&done);
        }
    }
}

#[test]
fn the_runner_sees_what_differs() {
    let cases = fs::read_to_string(format!("{CRATE}/../../conformance/hosts/cases.jsonl")).unwrap();
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cases-{}.jsonl", process::id()));
    for (found, other) in [
        ("\"masks\":[\"", "\"masks\":[\"1"),
        ("\"ends\":\"0", "\"ends\":\"1"),
        ("\"status\":\"exact\"", "\"status\":\"widened\""),
        ("E-GRAMMAR-SYNTAX", "E-GRAMMAR-START"),
    ] {
        assert!(cases.contains(found));
        fs::write(&path, cases.replacen(found, other, 1)).unwrap();
        if let Some(done) = conformance(&path, false, false) {
            assert_eq!(done.status.code(), Some(1), "{other}");
            let said = String::from_utf8_lossy(&done.stdout).into_owned();
            assert!(
                said.ends_with(" 1 failures\n") || said.ends_with(" 2 failures\n"),
                "{said}"
            );
        }
    }
    fs::remove_file(path).unwrap();
}
