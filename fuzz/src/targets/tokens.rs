//! A random grammar and random calls on its matchers.

use std::sync::Arc;

use syntagma_engine::{Error, GrammarMatcher};
use syntagma_grammar::{Limits, syntax::ebnf};

use super::grammar::{VOCABULARY, allowed, compile, mask, number};
use super::source::error_features;

/// Input as a list of choices.
struct Choices<'i>(std::slice::Iter<'i, u8>);

impl Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % end
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}

const ITEMS: &[&str] = &[
    "start",
    "x",
    "y",
    "x",
    "y",
    "\"a\"",
    "\"ab\"",
    "\"ba\"",
    "\"\"",
    "\"é\"",
    "#\"[ab]*\"",
    "#\"[a-c]{2,4}\"",
    "#\".*\"",
    "#\"a?\"",
    "#e\"[ab]*b\"",
    "#substrs\"abab\"",
    "any!",
    "except!(\"ab\")",
    "except!(\"b\", 5)",
    "until!(\"bb\")",
    "(#\"[a-c]+\" & ~\"ab\")",
    "complement!(\"a\")",
    "@marker(\"m\")",
    "@marker(\"none\")",
    "<|t|>",
    "<[3..5,97]>",
    "@label(x)",
    "byte!",
    "lazy!(\"a\" | \"ab\")",
    "#\"[0-9]{1,300}\"",
    "\" \"*",
];

const SUFFIXES: &[&str] = &[
    "",
    "",
    "",
    "?",
    "*",
    "+",
    "{2}",
    "{0,3}",
    "{1,3} % \",\"",
    "{2,1000}",
];

fn grammar(choices: &mut Choices<'_>) -> String {
    let mut text = String::new();
    for rule in ["start", "x", "y"] {
        text.push_str(rule);
        text.push_str(" ::= ");
        for alternative in 0..=choices.below(3) {
            if alternative > 0 {
                text.push_str(" | ");
            }
            for _ in 0..=choices.below(3) {
                text.push_str(choices.one(ITEMS));
                text.push_str(choices.one(SUFFIXES));
                text.push(' ');
            }
        }
        text.push_str(";\n");
    }
    text
}

pub(super) fn run(input: &[u8]) -> Vec<u64> {
    let mut choices = Choices(input.iter());
    let text = grammar(&mut choices);
    let grammar = match ebnf::parse(&text, "start", &Limits::default()) {
        Ok(grammar) => Arc::new(grammar),
        Err(error) => return error_features(&text, &error, true),
    };
    let mut features = Vec::new();
    let compiled = match compile(&grammar) {
        Ok(compiled) => compiled,
        Err(error) => return vec![allowed(&error)],
    };
    let mut matchers = vec![GrammarMatcher::new(compiled)];
    let mut steps = 0;
    while choices.0.len() > 0 && steps < 60 {
        steps += 1;
        match step(&mut matchers, &mut choices) {
            Ok(feature) => features.push(feature),
            Err(Stopped { error, in_fork }) => {
                features.push(allowed(&error));
                // A failed matcher stays failed, until it begins anew.
                let failed = &mut matchers[0];
                if !in_fork && error.code().starts_with("E-LIMIT-") {
                    assert!(failed.is_accepting().is_err(), "{text}");
                    failed.reset();
                    assert!(
                        failed.is_accepting().is_ok() || failed.steps() == 0,
                        "{text}"
                    );
                }
            }
        }
    }
    let stats = matchers[0].compiled().stats();
    features.push(number((
        stats.sets.max(1).ilog2(),
        stats.states.max(1).ilog2(),
        steps / 8,
    )));
    features
}

/// Why a step came to no end: an error of the matcher in front, or of a fork made to compare it with.
struct Stopped {
    error: Error,
    in_fork: bool,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self {
            error,
            in_fork: false,
        }
    }
}

fn in_fork(error: Error) -> Stopped {
    Stopped {
        error,
        in_fork: true,
    }
}

/// One call on the matcher in front; checks what it promises.
fn step(matchers: &mut Vec<GrammarMatcher>, choices: &mut Choices<'_>) -> Result<u64, Stopped> {
    let call = choices.below(10);
    let matcher = &mut matchers[0];
    let before = matcher.steps();
    let answer = match call {
        0 | 1 => {
            let tokens = mask(matcher)?;
            if tokens.is_empty() {
                matcher.reset();
                0
            } else {
                let id = tokens[choices.below(256) % tokens.len()];
                assert!(matcher.accept_token(id)? && matcher.steps() == before + 1);
                1
            }
        }
        2 => {
            let id = (choices.below(256) + choices.below(64)) % VOCABULARY.size();
            let wanted = matcher.accepts(id as u32)?;
            assert_eq!(matcher.accept_token(id as u32)?, wanted);
            u64::from(wanted)
        }
        3 => {
            let text: Vec<u8> = (0..choices.below(6))
                .map(|_| b"abc ,1"[choices.below(6)])
                .collect();
            let taken = matcher.accept_bytes(&text)?;
            assert_eq!(matcher.steps(), before + usize::from(taken));
            u64::from(taken)
        }
        4 => {
            // Forward and back again is where it was.
            let old = mask(matcher)?;
            let mut taken = 0;
            for _ in 0..choices.below(4) {
                taken += usize::from(matcher.accept_token(choices.below(256) as u32)?);
            }
            matcher.rollback(taken)?;
            assert_eq!(mask(matcher)?, old);
            taken as u64
        }
        5 => {
            let back = choices.below(8);
            assert_eq!(matcher.rollback(back).is_ok(), back <= before);
            3
        }
        6 => {
            let fork = matcher.fork();
            assert_eq!(mask(&fork).map_err(in_fork)?, mask(matcher)?);
            matchers.push(fork);
            let last = matchers.len() - 1;
            matchers.swap(0, last);
            matchers.truncate(4);
            4
        }
        7 => {
            let bytes = matcher.find_jump_forward_bytes()?;
            let mut ahead = matcher.fork();
            assert!(bytes.is_empty() || ahead.accept_bytes(&bytes).map_err(in_fork)?);
            number(bytes.len().min(9))
        }
        8 => {
            let Some(ids) = matcher.shortest_close(Some(64))? else {
                return Ok(5);
            };
            let mut end = matcher.fork();
            for &id in &ids {
                assert!(end.accept_token(id).map_err(in_fork)?, "{ids:?}");
            }
            let ended =
                end.is_terminated().map_err(in_fork)? || end.is_accepting().map_err(in_fork)?;
            assert!(ended, "{ids:?}");
            number(ids.len().min(9))
        }
        _ => {
            let ids: Vec<u32> = (0..5).map(|_| choices.below(256) as u32).collect();
            let valid = matcher.validate_tokens(&ids)?;
            let mut ahead = matcher.fork();
            for (at, &id) in ids.iter().enumerate() {
                if at > valid {
                    break;
                }
                assert_eq!(ahead.accept_token(id).map_err(in_fork)?, at < valid);
            }
            matcher.explain(Some(ids[0]))?;
            valid as u64
        }
    };
    Ok(number((call, answer)))
}
