//! Programs in C, compiled, linked against a library that the test was built with, and run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, process};

/// What a static library of Rust needs.
const BESIDE: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A program of a crate, by the file of its source, the crate's library, and what is asked of it.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) folder: &'static str,
    /// In its folder of tests, or anywhere.
    pub(crate) source: &'a str,
    pub(crate) library: &'static str,
    pub(crate) is_static: bool,
    /// Whether it runs under valgrind where `VALGRIND` is set.
    pub(crate) watched: bool,
}

impl Program<'_> {
    /// Compiles it; None where there is no compiler.
    pub(crate) fn compiled(self) -> Option<Command> {
        let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        if Command::new(&compiler).arg("--version").output().is_err() {
            println!("skipped: there is no C compiler");
            return None;
        }
        let (here, crate_folder) = (folder(), Path::new(self.folder));
        let mut compile = Command::new(compiler);
        compile
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"])
            .arg(here.join("program"));
        compile
            .arg("-I")
            .arg(crate_folder.join("include"))
            .arg("-I")
            .arg(crate_folder.join("tests/c/stub"))
            .arg(crate_folder.join("tests").join(self.source));
        let built = env::current_exe().unwrap();
        let library = built.with_file_name(format!(
            "lib{}.{}",
            self.library,
            if self.is_static { "a" } else { "so" }
        ));
        // A program asks for the library by the name of its binary interface.
        symlink(&library, here.join(format!("lib{}.so.0", self.library))).unwrap();
        compile.arg(library).args(BESIDE);
        succeeds(&compile.output().unwrap());
        let mut run = Command::new(here.join("program"));
        if self.watched && env::var_os("VALGRIND").is_some() {
            run = Command::new("valgrind");
            // Optimised code looks at values that it then does not use; what is wrong with addresses and leaks is found.
            run.args([
                "--quiet",
                "--undef-value-errors=no",
                "--error-exitcode=9",
                "--leak-check=full",
            ]);
            run.args([
                "--show-leak-kinds=definite",
                "--errors-for-leak-kinds=definite",
            ])
            .arg(here.join("program"));
        }
        run.env("LD_LIBRARY_PATH", here);
        Some(run)
    }
}

/// A new folder.
pub(crate) fn folder() -> PathBuf {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{}-{number}", env!("CARGO_CRATE_NAME"), process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub(crate) fn succeeds(done: &Output) {
    let said = [&done.stdout[..], &done.stderr[..]].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&said));
}
