//! Whether something is refused for the work that it takes, whatever was asked before: questions about hard grammars in many
//! orders, where nothing is known yet, and where all is known that other orders have found out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::vocabularies;
use syntagma_engine::{Error, GrammarCompiler, GrammarMatcher, Limits, Vocabulary};
use syntagma_grammar::Grammar;
use syntagma_grammar::Limits as SourceLimits;
use syntagma_grammar::syntax::{ebnf, json_schema};

const GRAMMARS: usize = 200;
const ORDERS: usize = 10;
const KINDS: usize = 8;
/// Texts before which it is asked.
const TEXTS: [&[u8]; 5] = [b"", b"a", b"ab", b"{", b"{\"a"];

/// What is asked of a matcher.
#[derive(Clone, Copy)]
struct Question {
    name: &'static str,
    /// Whether it is refused or not whatever was asked before.
    always: bool,
    /// Whether it is refused again once it was.
    again: bool,
    /// The answer in words.
    ask: fn(&GrammarMatcher) -> Result<String, Error>,
}

const fn question(
    name: &'static str,
    (always, again): (bool, bool),
    ask: fn(&GrammarMatcher) -> Result<String, Error>,
) -> Question {
    Question {
        name,
        always,
        again,
        ask,
    }
}

const ALWAYS: (bool, bool) = (true, true);
const AGAIN: (bool, bool) = (false, true);
const NEITHER: (bool, bool) = (false, false);

const QUESTIONS: [Question; 8] = [
    question("shortest_close", ALWAYS, |m| {
        Ok(format!("{:?}", m.shortest_close(None)?))
    }),
    question("closes_within 3", ALWAYS, |m| {
        Ok(format!("{:?}", m.closes_within(3)?))
    }),
    question("closes_within 40", ALWAYS, |m| {
        Ok(format!("{:?}", m.closes_within(40)?))
    }),
    question("captures", ALWAYS, |m| Ok(format!("{:?}", m.captures()?))),
    question("mask", AGAIN, |m| {
        let mask = m.next_mask()?;
        let mut row = vec![0; mask.word_count()];
        mask.write(&mut row[..])?;
        Ok(format!("{row:x?}"))
    }),
    question("token", AGAIN, |m| {
        Ok(format!("{:?}", m.accepts(u32::from(b'a'))?))
    }),
    question("bytes", NEITHER, |m| Ok(format!("{:?}", m.next_bytes()?))),
    question("jump", NEITHER, |m| {
        Ok(format!("{:?}", m.find_jump_forward_bytes()?))
    }),
];

/// Numbers without end (Marsaglia, Xorshift RNGs, 2003).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}

fn list(count: usize, between: &str, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(between)
}

fn hard(kind: usize, size: usize) -> Grammar {
    let rules = |text: &str| ebnf::parse(text, "start", &SourceLimits::default()).unwrap();
    let schema = |text: &str, order: json_schema::Order| {
        let mut options = json_schema::Options::default();
        options.order = order;
        json_schema::parse(text, &options, &SourceLimits::default()).unwrap()
    };
    let listed = json_schema::Order::Declared;
    let pattern = |at: usize| format!(r#""a{at}": {{"pattern": "^[a-c]*b{{{}}}$"}}"#, at % 7 + 1);
    match kind {
        0 => schema(
            &format!(r#"{{"properties": {{{}}}}}"#, list(size, ",", pattern)),
            listed,
        ),
        1 => {
            let some = list(size.min(9), ",", pattern);
            schema(
                &format!(r#"{{"properties": {{{some}}}}}"#),
                json_schema::Order::Any,
            )
        }
        2 => {
            let not = format!(r#"{{"pattern": "b{{{}}}"}}"#, size % 9 + 1);
            let all = r#""pattern": "^a[ab]*", "maxLength": "#;
            schema(
                &format!(r#"{{"items": {{"not": {not}, {all} {size}}}}}"#),
                listed,
            )
        }
        3 => rules(&format!(
            "start ::= start start | {} ;",
            list(size, " | ", |at| { format!("\"a{}\"", "b".repeat(at)) })
        )),
        4 => rules(&format!("start ::= \"{}\" ;", "ab".repeat(size * 5))),
        5 => rules(&format!(
            "start ::= #\"[ab]*a[ab]{{{}}}\" \"c\" ;",
            size % 12
        )),
        6 => rules(&format!(
            "start ::= r0 ;\n{}\nr{size} ::= \"a\" | \"b\" ;",
            list(size, "\n", |at| {
                format!("r{at} ::= \"a\"? r{0} \"b\" | r{0} \"ab\"* ;", at + 1)
            })
        )),
        _ => rules(&format!(
            "start ::= @one(#\"[ab]*\" & #\"(a|ab){{0,{size}}}\") @two(\"b\"*) ~#\".*ba{{{}}}.*\" ;",
            size % 5 + 1
        )),
    }
}

fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens = vocabularies::bytes();
    tokens.extend(["ab", "aba", "bb", "aaaa", "{\"a", "\": \"", "\"}"].map(Into::into));
    vocabularies::with_end(tokens, b"</s>")
}

type Answers = BTreeMap<(usize, usize), Result<String, &'static str>>;

/// Answers in one order, but for texts that are not read. What is refused is refused again at the end.
fn ask(
    compiler: &GrammarCompiler,
    grammar: &Arc<Grammar>,
    order: &[(usize, usize)],
) -> Result<Answers, &'static str> {
    let built = compiler.compile(grammar).map_err(|error| error.code())?;
    let answer = |&(text, question): &(usize, usize)| {
        let mut matcher = GrammarMatcher::new(Arc::clone(&built));
        let read = matcher.accept_bytes(TEXTS[text]);
        let ask = QUESTIONS[question].ask;
        read.is_ok_and(|read| read)
            .then(|| ask(&matcher).map_err(|error| error.code()))
    };
    let answers: Answers = order
        .iter()
        .filter_map(|at| Some((*at, answer(at)?)))
        .collect();
    for (at, known) in &answers {
        if known.is_err() && QUESTIONS[at.1].again {
            assert_eq!(answer(at).as_ref(), Some(known), "{at:?}");
        }
    }
    Ok(answers)
}

#[test]
fn what_is_refused_does_not_depend_on_what_was_asked_before() {
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    // By question: answers and refusals.
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut not_compiled = 0;
    for number in 0..GRAMMARS {
        let grammar = Arc::new(hard(number % KINDS, draw.below(40) + 2));
        let mut limits = Limits::default();
        limits.step_fuel = 1 << (6 + draw.below(12));
        limits.compile_fuel = 1 << (7 + draw.below(10));
        let full = GrammarCompiler::new(vocabulary(), limits.clone());
        let mut order: Vec<(usize, usize)> = (0..TEXTS.len())
            .flat_map(|text| (0..QUESTIONS.len()).map(move |question| (text, question)))
            .collect();
        let first = ask(&full, &grammar, &order);
        not_compiled += usize::from(first.is_err());
        for round in 0..ORDERS {
            draw.shuffle(&mut order);
            let empty = GrammarCompiler::new(vocabulary(), limits.clone());
            let compiler = if round % 2 == 0 { &empty } else { &full };
            let again = ask(compiler, &grammar, &order);
            let (Ok(first), Ok(again)) = (&first, &again) else {
                assert_eq!(first.as_ref().err(), again.as_ref().err(), "{number}");
                continue;
            };
            for (at, answer) in again {
                let Question { name, always, .. } = QUESTIONS[at.1];
                let (answers, refusals) = seen.entry(name).or_default();
                *answers += usize::from(answer.is_ok());
                *refusals += usize::from(answer.is_err());
                if let Some(other) = first.get(at)
                    && (always || answer.is_ok() && other.is_ok())
                {
                    assert_eq!(
                        answer, other,
                        "grammar {number}, {name} behind text {}",
                        at.0
                    );
                }
            }
        }
    }
    assert!(
        not_compiled > GRAMMARS / 20 && not_compiled < GRAMMARS / 2,
        "{not_compiled}"
    );
    for (name, (answers, refusals)) in seen {
        assert!(
            answers > GRAMMARS && refusals > GRAMMARS / 10,
            "{name}: {answers}, {refusals}"
        );
    }
}
