//! Fuel pays for time and memory, whichever keyword multiplies and in whatever size.
#![allow(missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use syntagma_engine::{GrammarCompiler, Vocabulary, VocabularyParts};
use syntagma_fuzz::attacks::{ATTACKS, SIZES};
use syntagma_fuzz::usage::{peak_memory, processor_time};
use syntagma_grammar::Limits;
use syntagma_grammar::syntax::json_schema::{self, Options};

/// Without optimisation a step takes ten times as long and more: then less fuel and smaller schemas show the same.
const SLOW: bool = cfg!(debug_assertions);
/// KiB that the process may take.
const MEMORY: u64 = 500 << 10;

#[test]
fn what_multiplies_is_paid_for() {
    let mut limits = Limits::default();
    let mut engine = syntagma_engine::Limits::default();
    let mut most = Duration::from_secs(2);
    if SLOW {
        limits.compile_fuel /= 20;
        engine.compile_fuel /= 20;
        most = Duration::from_secs(10);
    }
    let parts = VocabularyParts {
        tokens: (0..=u8::MAX).map(|byte| vec![byte]).collect(),
        ..VocabularyParts::default()
    };
    let compiler = GrammarCompiler::new(Arc::new(Vocabulary::new(&parts).unwrap()), engine);
    let compiler = compiler.with_cache(false);
    for (name, make) in ATTACKS {
        for size in SIZES.into_iter().filter(|&size| !SLOW || size < 500) {
            let text = make(size);
            let begin = processor_time();
            let code = match json_schema::parse(&text, &Options::default(), &limits) {
                Err(error) => Some(error.code().to_owned()),
                Ok(grammar) => compiler
                    .compile(&Arc::new(grammar))
                    .err()
                    .map(|error| error.code().to_owned()),
            };
            let took = processor_time().saturating_sub(begin);
            let fits =
                |code: &str| code.starts_with("E-LIMIT-") || code == "E-SCHEMA-UNSATISFIABLE";
            assert!(code.as_deref().is_none_or(fits), "{name} {size}: {code:?}");
            assert!(took < most, "{name} {size} takes {took:?}: {code:?}");
            assert!(
                peak_memory() < MEMORY,
                "{name} {size} takes {} KiB",
                peak_memory()
            );
        }
    }
}
