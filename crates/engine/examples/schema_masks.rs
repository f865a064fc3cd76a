//! How long masks take the first and the second time that texts under many schemas are read.
//!
//! `cargo run --release --example schema_masks -- vocabulary.tkv schemas.jsonl tokens.msgpack [sample]`; each line of the
//! schemas is `{id, schema, tests: [{valid, …}]}`, the tokens are a map from id to one list of token ids per test. Times
//! are CPU time of the thread, in microseconds. With a sample size, so many bits of every mask are compared with simulated
//! acceptance instead.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use serde_json::Value;
use syntagma_engine::{CompiledGrammar, GrammarCompiler, GrammarMatcher, Limits, bitmask_words};
use syntagma_grammar::Grammar;
use syntagma_grammar::syntax::json_schema;

#[path = "support/clock.rs"]
mod clock;
#[path = "support/vocabulary.rs"]
mod vocabulary;

use clock::clock;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tkv, schemas, tokens, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: schema_masks vocabulary.tkv schemas.jsonl tokens.msgpack [sample]".into(),
        );
    };
    let sample: Option<usize> = rest.first().map(|size| size.parse()).transpose()?;
    let vocabulary = Arc::new(vocabulary::read(&std::fs::read(tkv)?)?);
    let tokens = Packed(&std::fs::read(tokens)?).table()?;
    let maker = GrammarCompiler::new(vocabulary, Limits::default()).with_cache(false);
    let (mut times, mut bits, mut refused) = (Times::default(), Bits::default(), 0);
    for line in std::fs::read_to_string(schemas)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let id = line["id"].as_str().ok_or("no id")?;
        let text = line["schema"].to_string();
        let start = clock();
        let options = json_schema::Options::default();
        let grammar = json_schema::parse(&text, &options, &syntagma_grammar::Limits::default());
        let parsed = clock();
        let Ok(grammar) = grammar.map(Arc::new) else {
            refused += 1;
            continue;
        };
        let Ok(compiled) = maker.compile(&grammar) else {
            refused += 1;
            continue;
        };
        times.compile.push(clock() - start);
        times.parse.push(parsed - start);
        match sample {
            Some(sample) => bits.compare(&compiled, &grammar, &tokens[id], sample)?,
            None => {
                for pass in 0..2 {
                    times.replay(&compiled, &tokens[id], pass)?;
                }
            }
        }
    }
    println!("refused {refused} schemas");
    if sample.is_some() {
        println!("{} bits compared, {} set, all equal", bits.all, bits.ones);
    } else {
        times.print();
    }
    Ok(())
}

/// Mask bits beside simulated acceptance.
#[derive(Default)]
struct Bits {
    all: usize,
    ones: usize,
    noise: u64,
}

impl Bits {
    /// The judge has its own compiler, so it knows nothing of what the masks were made from.
    fn compare(
        &mut self,
        compiled: &Arc<CompiledGrammar>,
        grammar: &Arc<Grammar>,
        documents: &[Vec<u32>],
        sample: usize,
    ) -> Outcome<()> {
        let vocabulary = compiled.vocabulary();
        let judges = GrammarCompiler::new(Arc::clone(vocabulary), Limits::default());
        let other = judges.compile(grammar)?;
        let mut row = vec![0; bitmask_words(vocabulary.size())];
        for document in documents {
            let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
            let mut judge = GrammarMatcher::new(Arc::clone(&other));
            for &token in document {
                matcher.fill_next_token_bitmask(&mut row)?;
                for _ in 0..sample {
                    self.noise = self
                        .noise
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let id = ((self.noise >> 33) % vocabulary.size() as u64) as u32;
                    let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
                    if bit != judge.accepts(id)? {
                        return Err(
                            format!("{document:?} before {token}: bit {id} is {bit}").into()
                        );
                    }
                    self.all += 1;
                    self.ones += usize::from(bit);
                }
                judge.accept_token(token)?;
                if !matcher.accept_token(token)? {
                    break;
                }
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Times {
    parse: Vec<f64>,
    compile: Vec<f64>,
    fill: [Vec<f64>; 2],
    accept: [Vec<f64>; 2],
}

impl Times {
    /// Fills and accepts along documents, until a token is refused or a limit is met.
    fn replay(
        &mut self,
        compiled: &Arc<CompiledGrammar>,
        documents: &[Vec<u32>],
        pass: usize,
    ) -> Outcome<()> {
        let mut row = vec![0; bitmask_words(compiled.vocabulary().size())];
        for document in documents {
            let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
            for &token in document {
                let start = clock();
                if let Err(error) = matcher.fill_next_token_bitmask(&mut row) {
                    println!("{error}");
                    break;
                }
                let filled = clock();
                let alive = matcher.accept_token(token)?;
                self.accept[pass].push(clock() - filled);
                self.fill[pass].push(filled - start);
                if !alive {
                    break;
                }
            }
        }
        Ok(())
    }

    fn print(&mut self) {
        let [cold, warm] = &mut self.fill;
        let [cold_accept, warm_accept] = &mut self.accept;
        for (name, times) in [
            ("schema to grammar", &mut self.parse),
            ("schema to compiled", &mut self.compile),
            ("fill, first replay", cold),
            ("fill, second replay", warm),
            ("accept, first replay", cold_accept),
            ("accept, second replay", warm_accept),
        ] {
            times.sort_by(f64::total_cmp);
            let at = |per_mille: usize| times[(times.len() - 1) * per_mille / 1_000];
            let mean = times.iter().sum::<f64>() / f64::from(times.len() as u32);
            println!(
                "{name:22} n {:6} mean {mean:9.2} p50 {:9.2} p75 {:9.2} p90 {:9.2} p99 {:9.2} p99.9 {:9.2} max {:9.2}",
                times.len(),
                at(500),
                at(750),
                at(900),
                at(990),
                at(999),
                at(1_000)
            );
        }
    }
}

/// Reads what is left of a `MessagePack` text.
struct Packed<'a>(&'a [u8]);

impl Packed<'_> {
    fn number(&mut self, bytes: usize) -> Outcome<usize> {
        let (number, rest) = self.0.split_at_checked(bytes).ok_or("cut off")?;
        self.0 = rest;
        Ok(number
            .iter()
            .fold(0, |value, &byte| value << 8 | usize::from(byte)))
    }

    fn length(&mut self, fixed: u8, mask: u8, long: &[(u8, usize)]) -> Outcome<usize> {
        let tag = self.number(1)? as u8;
        if tag & !mask == fixed {
            return Ok(usize::from(tag & mask));
        }
        let &(_, bytes) = long
            .iter()
            .find(|(long, _)| *long == tag)
            .ok_or("another type")?;
        self.number(bytes)
    }

    fn table(mut self) -> Outcome<HashMap<String, Vec<Vec<u32>>>> {
        let mut table = HashMap::new();
        for _ in 0..self.length(0x80, 15, &[(0xde, 2), (0xdf, 4)])? {
            let length = self.length(0xa0, 31, &[(0xd9, 1), (0xda, 2), (0xdb, 4)])?;
            let (key, rest) = self.0.split_at_checked(length).ok_or("cut off")?;
            self.0 = rest;
            let key = String::from_utf8(key.to_vec())?;
            let mut lists = Vec::new();
            for _ in 0..self.length(0x90, 15, &[(0xdc, 2), (0xdd, 4)])? {
                let mut list = Vec::new();
                for _ in 0..self.length(0x90, 15, &[(0xdc, 2), (0xdd, 4)])? {
                    list.push(self.length(0, 127, &[(0xcc, 1), (0xcd, 2), (0xce, 4)])? as u32);
                }
                lists.push(list);
            }
            table.insert(key, lists);
        }
        Ok(table)
    }
}
