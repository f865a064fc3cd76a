//! The judge of masks: which tokens may come next after a text, found in the plainest way that there is.
//!
//! It reads the whole text again, by Earley's algorithm with positions and by derivatives of expressions in which a count is
//! a number, and then every token of the vocabulary. It shares nothing with what it judges but the rules of the grammar:
//! no sets that are interned, no automata, no counters, no memory of what was found before. `verify` of a compiler holds
//! it against every mask and every step.
//!
//! * `derivative` runs terminals;
//! * `rules` is what a text is read by, `chart` reads it.

mod chart;
mod derivative;
mod rules;

use std::sync::Arc;

use self::chart::Chart;
use self::rules::Rules;
use crate::earley::DottedRules;
use crate::error::{Error, ErrorKind};
use crate::limits::{Fuel, Limits};
use crate::mask::{allow, is_allowed};
use crate::position::Input;
use crate::tuning;
use crate::vocabulary::{Vocabulary, bitmask_words};

/// The judge of one grammar.
#[derive(Debug)]
pub(crate) struct Judge {
    rules: Rules,
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    /// The tokens that text may match, in the order of their bytes.
    order: Vec<u32>,
}

impl Judge {
    pub(crate) fn new(dots: DottedRules, vocabulary: Arc<Vocabulary>, limits: &Limits) -> Self {
        let ids = 0..vocabulary.token_count() as u32;
        let mut order: Vec<u32> = ids.filter(|&id| vocabulary.text(id).is_some()).collect();
        order.sort_by_key(|&id| vocabulary.token(id));
        Self {
            rules: Rules::new(dots),
            vocabulary,
            limits: limits.clone(),
            order,
        }
    }

    /// Checks a mask for the place after some inputs: that it is right, or where a bound on a part may refuse tokens as
    /// well, that it allows nothing else.
    ///
    /// Errors: `E-ENGINE-VERIFY`, and `E-LIMIT-STEP` where that cannot be found out.
    pub(crate) fn check_mask<'i>(
        &mut self,
        inputs: impl Iterator<Item = Input<'i>>,
        mask: &[i32],
        bounded: bool,
    ) -> Result<(), Error> {
        let vocabulary = Arc::clone(&self.vocabulary);
        let row = self.row(inputs)?;
        for id in 0..vocabulary.size() as u32 {
            let (given, right) = (is_allowed(mask, id), is_allowed(&row, id));
            if given && !right || right && !given && !bounded {
                let (says, text) = (
                    if given { "allows" } else { "refuses" },
                    vocabulary.token(id),
                );
                let text = String::from_utf8_lossy(text);
                return Err(wrong(format!(
                    "a mask {says} token {id}, {text:?}, wrongly"
                )));
            }
        }
        Ok(())
    }

    /// Checks whether an input may come after some others: it is taken if and only if it may, or where a bound on a part
    /// may refuse it as well, only if it may.
    ///
    /// Errors: as [`Self::check_mask`].
    pub(crate) fn check_step<'i>(
        &mut self,
        inputs: impl Iterator<Item = Input<'i>>,
        input: Input<'_>,
        taken: bool,
        bounded: bool,
    ) -> Result<(), Error> {
        let vocabulary = Arc::clone(&self.vocabulary);
        let mut chart = self.read(inputs)?;
        let ends = matches!(input, Input::Token(id) if vocabulary.is_eos(id)) && chart.accepts();
        let right = ends || chart.take(input, &vocabulary)?;
        if taken && !right || right && !taken && !bounded {
            let says = if taken { "taken" } else { "refused" };
            return Err(wrong(format!("{input:?} is {says} wrongly")));
        }
        Ok(())
    }

    /// The readings of a text.
    fn read<'i>(&mut self, inputs: impl Iterator<Item = Input<'i>>) -> Result<Chart<'_>, Error> {
        if self.rules.expressions.len() > tuning::JUDGED_EXPRESSIONS {
            self.rules.forget();
        }
        let vocabulary = Arc::clone(&self.vocabulary);
        let fuel = Fuel::judge(&self.limits);
        let mut chart = Chart::new(&mut self.rules, fuel)?;
        for input in inputs {
            if !chart.take(input, &vocabulary)? {
                return Err(wrong(format!("{input:?} was taken wrongly")));
            }
        }
        Ok(chart)
    }

    /// The tokens that may come next after a text, as a row.
    fn row<'i>(&mut self, inputs: impl Iterator<Item = Input<'i>>) -> Result<Vec<i32>, Error> {
        let vocabulary = Arc::clone(&self.vocabulary);
        let order = std::mem::take(&mut self.order);
        let mut row = vec![0; bitmask_words(vocabulary.size())];
        let result = self.read(inputs).and_then(|mut chart| {
            chart.symbol_ids().for_each(|id| allow(&mut row, id));
            if chart.accepts() {
                vocabulary
                    .eos_ids()
                    .iter()
                    .for_each(|&id| allow(&mut row, id));
            }
            let start = chart.steps();
            let mut before: &[u8] = &[];
            // So many bytes of the token before may not come next.
            let mut dead = usize::MAX;
            for &id in &order {
                let token = vocabulary.token(id);
                let same = token.iter().zip(before).take_while(|(a, b)| a == b).count();
                before = token;
                if same >= dead {
                    continue;
                }
                dead = usize::MAX;
                chart.truncate(start + same);
                for (at, &byte) in token.iter().enumerate().skip(same) {
                    if !chart.push(byte, &[])? {
                        dead = at + 1;
                        break;
                    }
                }
                if dead == usize::MAX {
                    allow(&mut row, id);
                }
            }
            Ok(())
        });
        self.order = order;
        result.map(|()| row)
    }
}

fn wrong(what: String) -> Error {
    Error::new(ErrorKind::Internal, "E-ENGINE-VERIFY", what).with_hint(
        "this is a mistake of the library; please report it with the grammar and the text",
    )
}
