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
use syntagma_engine::{GrammarCompiler, GrammarMatcher, Limits, bitmask_words};
use syntagma_grammar::syntax::json_schema;

#[path = "support/vocabulary.rs"]
mod vocabulary;

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
    let compiler =
        GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default()).with_cache(false);
    // What the masks are compared with knows nothing of what the compiler has learnt.
    let mut times = Times::default();
    let (mut refused, mut rejected, mut accepted, mut noise) = (0, 0, 0, 1_u64);
    let mut worst: Vec<(f64, String)> = Vec::new();
    for line in std::fs::read_to_string(schemas)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let id = line["id"].as_str().ok_or("no id")?;
        let text = line["schema"].to_string();
        let start = clock();
        let options = json_schema::Options::default();
        let grammar = json_schema::parse(&text, &options, &syntagma_grammar::Limits::default());
        let parsed = clock();
        let Ok(grammar) = grammar else {
            refused += 1;
            continue;
        };
        let grammar = Arc::new(grammar);
        let compiled = match compiler.compile(&grammar) {
            Ok(compiled) => compiled,
            Err(error) => {
                println!("{id}: {error}");
                refused += 1;
                continue;
            }
        };
        times.compile.push(clock() - start);
        times.parse.push(parsed - start);
        let mut row = vec![0; bitmask_words(vocabulary.size())];
        let tests = line["tests"].as_array().ok_or("no tests")?;
        if let Some(sample) = sample {
            let plain = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
            let other = plain.compile(&grammar)?;
            for ids in &tokens[id] {
                let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
                let mut judge = GrammarMatcher::new(Arc::clone(&other));
                for &token in ids {
                    matcher.fill_next_token_bitmask(&mut row)?;
                    for _ in 0..sample {
                        noise = noise
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        // Half of the samples are near the token that comes, in bytes.
                        let id = ((noise >> 33) % vocabulary.size() as u64) as u32;
                        let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
                        if bit != judge.accepts(id)? {
                            return Err(format!("{line}: bit {id} is {bit}").into());
                        }
                        times.bits += 1;
                        times.ones += usize::from(bit);
                    }
                    judge.accept_token(token)?;
                    if !matcher.accept_token(token)? {
                        break;
                    }
                }
            }
            continue;
        }
        for pass in 0..2 {
            for (ids, test) in tokens[id].iter().zip(tests) {
                let mut matcher = GrammarMatcher::new(Arc::clone(&compiled));
                let mut alive = true;
                for (at, &token) in ids.iter().enumerate() {
                    let start = clock();
                    if let Err(error) = matcher.fill_next_token_bitmask(&mut row) {
                        println!("{id}: {error}");
                        alive = false;
                        break;
                    }
                    let filled = clock();
                    alive = matcher.accept_token(token)?;
                    times.accept[pass].push(clock() - filled);
                    times.fill[pass].push(filled - start);
                    if pass == 0 && filled - start > 300.0 {
                        let state = matcher.steps();
                        worst.push((
                            filled - start,
                            format!(
                                "{id} token {at} {state}: {:?}",
                                String::from_utf8_lossy(
                                    &ids[at.saturating_sub(8)..at]
                                        .iter()
                                        .flat_map(|&id| vocabulary.token(id).to_vec())
                                        .collect::<Vec<_>>()
                                )
                            ),
                        ));
                    }
                    if !alive {
                        break;
                    }
                }
                if pass == 0 && test["valid"] == Value::Bool(true) {
                    accepted += usize::from(alive);
                    rejected += usize::from(!alive);
                }
            }
        }
    }
    println!("refused {refused} schemas; valid documents: {accepted} read, {rejected} not");
    if sample.is_some() {
        println!(
            "{} bits compared, {} set, all equal",
            times.bits, times.ones
        );
        return Ok(());
    }
    times.print();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (time, place) in worst.iter().take(40) {
        println!("{time:.0} {place}");
    }
    Ok(())
}

#[derive(Default)]
struct Times {
    parse: Vec<f64>,
    compile: Vec<f64>,
    fill: [Vec<f64>; 2],
    accept: [Vec<f64>; 2],
    bits: usize,
    ones: usize,
}

impl Times {
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
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            println!(
                "{name:22} n {:6} mean {mean:9.2} p50 {:9.2} p75 {:9.2} p90 {:9.2} p99 {:9.2} p99.9 {:9.2} max {:9.2}",
                times.len(),
                at(0.5),
                at(0.75),
                at(0.9),
                at(0.99),
                at(0.999),
                at(1.0)
            );
        }
    }
}

/// CPU time of this thread, in microseconds.
fn clock() -> f64 {
    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
    }
    const THREAD_CPU_TIME: i32 = 3;
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the layout is that of 64-bit Linux, and the pointer is good for the call.
    unsafe { clock_gettime(THREAD_CPU_TIME, &raw mut time) };
    time.seconds as f64 * 1e6 + time.nanoseconds as f64 / 1e3
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
