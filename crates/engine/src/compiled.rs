//! A grammar brought together with a vocabulary.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use syntagma_grammar::ir::{Lnf, Report};

use crate::automaton::Seed;
use crate::earley::Recognizer;
use crate::error::Error;
use crate::fingerprint;
use crate::generation::{Basis, Current, Generation};
use crate::judge::Judge;
use crate::layers::Layers;
use crate::limits::{Fuel, Limits};
use crate::mask::Shared;
use crate::tally::{CompiledStats, Tally};
use crate::vocabulary::Vocabulary;

/// A grammar compiled for a vocabulary. Shared between matchers and threads behind an [`Arc`].
#[derive(Debug)]
pub struct CompiledGrammar {
    basis: Arc<Basis>,
    report: Report,
    /// What was compiled, and its fingerprint, once somebody asked.
    lnf: Lnf,
    fingerprint: OnceLock<u128>,
    /// The panic after which nothing that was found out can be relied on.
    broken: OnceLock<Error>,
    current: Arc<Current>,
    /// What every mask and step is checked by, if they are.
    judge: Option<Mutex<Judge>>,
}

impl CompiledGrammar {
    /// Compiles a grammar in normal form without any cache; with `verify`, every mask and every step
    /// of a matcher is checked as [`GrammarCompiler::with_verify`](crate::GrammarCompiler::with_verify) says.
    ///
    /// Errors: `E-GRAMMAR-EMPTY` where nothing matches, `E-VOCAB-TOKEN` for a token that the vocabulary lacks,
    /// `E-LIMIT-COMPILE`, `E-LIMIT-RESIDUALS`.
    pub fn from_lnf(
        lnf: &Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
        verify: bool,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(limits.terminal_cache_bytes));
        let layers = Layers::default();
        Self::with_shared(
            lnf.clone(),
            report,
            vocabulary,
            limits,
            (verify, layers),
            shared,
        )
    }

    /// The same with fewer layers, and no check of masks.
    ///
    /// Errors: as [`Self::from_lnf`].
    pub fn from_lnf_with(
        layers: Layers,
        lnf: &Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(limits.terminal_cache_bytes));
        Self::with_shared(
            lnf.clone(),
            report,
            vocabulary,
            limits,
            (false, layers),
            shared,
        )
    }

    /// The same, with what other grammars of the vocabulary have found out.
    pub(crate) fn with_shared(
        lnf: Lnf,
        report: Report,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
        (verify, layers): (bool, Layers),
        shared: Arc<Shared>,
    ) -> Result<Self, Error> {
        let reach = vocabulary.trie().longest() as u32;
        let residuals = shared.seed(|| Seed::new(reach, layers)).store(layers);
        let (recognizer, start) =
            Recognizer::new(&lnf, &vocabulary, residuals, &mut Fuel::compile(limits))?;
        let judge = verify.then(|| {
            let dots = recognizer.dots.clone();
            Judge::new(dots, Arc::clone(&vocabulary), limits)
        });
        let basis = Arc::new(Basis {
            vocabulary,
            limits: limits.clone(),
            layers,
            shared,
            tally: Tally::default(),
        });
        Ok(Self {
            judge: judge.map(Mutex::new),
            current: Current::new(Arc::clone(&basis), recognizer, start),
            basis,
            report,
            fingerprint: OnceLock::new(),
            lnf,
            broken: OnceLock::new(),
        })
    }

    /// The vocabulary that it was compiled for.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.basis.vocabulary
    }

    /// What the grammar does not enforce.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The same for the same grammar in every process, whatever the vocabulary.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        *self
            .fingerprint
            .get_or_init(|| fingerprint::of_grammar(&self.lnf))
    }

    /// What masks and steps are checked by, if they are.
    pub(crate) fn judge(&self) -> Option<MutexGuard<'_, Judge>> {
        let judge = self.judge.as_ref()?;
        Some(judge.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether masks and steps are checked.
    pub(crate) fn is_judged(&self) -> bool {
        self.judge.is_some()
    }

    /// The panic that broke it, if one did.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.broken.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Remembers an error that concerns all matchers: a panic may have left anything half done.
    pub(crate) fn note(&self, error: &Error) {
        if error.is_panic() {
            let _ = self.broken.set(error.clone());
        }
    }

    /// How much it holds at the moment.
    #[must_use]
    pub fn stats(&self) -> CompiledStats {
        self.current.peek().stats()
    }

    /// Approximate bytes of everything found out so far, and who else wants to know them.
    pub(crate) fn tally(&self) -> &Tally {
        &self.basis.tally
    }

    /// What a matcher that begins now goes by.
    pub(crate) fn open(&self) -> Arc<Generation> {
        self.current.touch();
        self.current.get()
    }

    /// What a matcher that has to go on in a newer generation goes by.
    pub(crate) fn newest(&self) -> Arc<Generation> {
        self.current.get()
    }
}
