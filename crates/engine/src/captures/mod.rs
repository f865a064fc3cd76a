//! Where the labelled parts of a text lie.
//!
//! The recogniser knows no positions, so that matchers can share what it finds out. Whoever asks for captures has the text
//! read again: `chart` has every reading of it, `spans` the captures of the best one. A text without anybody who asks, and
//! a grammar without labels, pay nothing.
//!
//! Two readings are compared by their captures in the order of their starts, of those at one start the longest first: at the
//! first difference the one that starts earlier is better, then the longer one, and one is better than none.

mod chart;
mod spans;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::chart::Chart;
use crate::error::Error;
use crate::matcher::GrammarMatcher;
use crate::position::Input;
use crate::tuning;

/// Spans of labelled parts by label: where each begins and ends, in bytes of the text, in the order of their beginnings.
pub type Captures = BTreeMap<Arc<str>, Vec<(usize, usize)>>;

impl GrammarMatcher {
    /// The captures of the text so far; every label of the grammar has an entry.
    ///
    /// Where the text may end, they are those of a whole reading of it, else of the parts that are complete by now. Takes
    /// time like reading the text again, more where many readings are possible; bounds on parts say nothing about it.
    ///
    /// Errors: `E-LIMIT-STEP`, which does not fail the matcher, and its failure if it has failed.
    pub fn captures(&self) -> Result<Captures, Error> {
        self.look(|matcher| {
            let generation = matcher.generation();
            let vocabulary = generation.vocabulary();
            let found = generation.read();
            let labels = found.recognizer.dots.labels.values();
            let mut captures: Captures = labels.map(|label| (Arc::clone(label), vec![])).collect();
            drop(found);
            if captures.is_empty() {
                return Ok(captures);
            }
            let bytes = matcher.inputs().map(|input| match input {
                Input::Token(id) => vocabulary.token(id).len(),
                Input::Text(bytes) => bytes.len(),
            });
            let fuel = generation
                .fuel()
                .with_more(bytes.sum::<usize>() * tuning::CAPTURE_FUEL_PER_BYTE);
            let spans = generation.aside(&fuel, |aside, fuel| {
                let mut chart = Chart::new(&mut aside.recognizer, fuel)?;
                for input in matcher.inputs() {
                    match input {
                        Input::Token(id) => chart.take_token(id, vocabulary)?,
                        Input::Text(bytes) => chart.take_text(bytes)?,
                    }
                }
                chart.captures()
            })?;
            for (label, start, end) in spans {
                captures.entry(label).or_default().push((start, end));
            }
            Ok(captures)
        })
    }
}
