//! Everything that was ever found, and where the search begins: none of it breaks a promise.
#![allow(missing_docs)]

use syntagma_fuzz::files;
use syntagma_fuzz::targets::TARGETS;

#[test]
fn corpus_and_regressions_keep_every_promise() {
    for target in TARGETS {
        let files = files(target.name).unwrap();
        assert!(!files.is_empty(), "{} has no corpus", target.name);
        for file in files {
            println!("{}", file.display());
            (target.run)(&std::fs::read(&file).unwrap());
        }
    }
}
