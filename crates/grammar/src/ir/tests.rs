//! Derivatives, automata and emptiness of random regular languages, against a recogniser that knows none of them.

use proptest::prelude::*;

use super::automaton::{CharacterState, over_characters};
use super::derive::Matcher;
use super::empty_regex::EmptinessChecks;
use super::regex::Regex;
use crate::limits::Fuel;
use crate::reference::{regex_matches, strings};
use crate::shapes;

/// Whether an automaton over characters accepts ASCII text.
fn accepts(states: &[CharacterState], text: &[u8]) -> bool {
    let mut at = Some(0);
    for &byte in text {
        at = at.and_then(|at: usize| {
            let mut steps = states[at].steps.iter();
            let byte = u32::from(byte);
            let step = steps.find(|&&(first, last, _)| (first..=last).contains(&byte));
            step.map(|&(_, _, to)| to)
        });
    }
    at.is_some_and(|at| states[at].accepting)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn derivatives_decide_what_is_in_a_language(regex in shapes::regex()) {
        let matcher = Matcher::new(&regex);
        let mut checks = EmptinessChecks::new(100_000, 100_000);
        let nothing = checks.is_nothing(&regex);
        let states = over_characters(&regex, &mut Fuel::of(1_000_000)).ok();
        for text in strings(b"ab", 6) {
            let wanted = regex_matches(&regex, &text);
            let mut fuel = Fuel::of(1_000_000);
            prop_assert_eq!(matcher.matches(&text, &mut fuel).ok(), Some(wanted), "{:?}", text);
            prop_assert!(!(nothing && wanted), "{:?} is in it", text);
            if let Some(states) = &states {
                prop_assert_eq!(accepts(states, &text), wanted, "{:?}", text);
            }
        }
    }
}

#[test]
fn a_match_without_fuel_is_an_error() {
    let matcher = Matcher::new(&Regex::repeat(Regex::literal(b"ab"), 0, None));
    let enough = (1..100).find(|&units| matcher.matches(b"abab", &mut Fuel::of(units)).is_ok());
    let enough = enough.expect("some fuel is enough");
    assert!(matcher.matches(b"abab", &mut Fuel::of(enough)).unwrap());
    let error = matcher
        .matches(b"abab", &mut Fuel::of(enough - 1))
        .unwrap_err();
    assert_eq!(error.code(), "E-LIMIT-FUEL");
}
