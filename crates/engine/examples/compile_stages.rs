//! How long schemas take to become compiled grammars, stage by stage, and which take longest.
//!
//! `cargo run --release --example compile_stages -- vocabulary.tkv schemas.jsonl [repeats] [slowest] [megabytes]`; each
//! line of the schemas is `{id, schema, …}`. Times are CPU time of the thread, in microseconds: the least of so many repeats (1 if
//! not given, which is what a process that sees each schema once pays). The slowest so many (50) are listed. With a third
//! number, so many megabytes are written before each stage, so that the caches of the processor hold nothing of use.

use std::error::Error;
use std::sync::Arc;

use syntagma_engine::{GrammarCompiler, Limits};
use syntagma_grammar::ir::Lnf;
use syntagma_grammar::json::{self, Value};
use syntagma_grammar::syntax::json_schema;

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/clock.rs"]
mod clock;
#[path = "support/vocabulary.rs"]
mod vocabulary;

use clock::clock;

/// Containers within containers in a line of the schemas.
const DEPTH: usize = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

const STAGES: [&str; 5] = ["schema to grammar", "key", "normal form", "compiled", "all"];

struct Case {
    id: String,
    bytes: usize,
    /// By stage; the last is the sum of all but the normal form, which is a part of what follows.
    times: [f64; STAGES.len()],
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tkv, schemas, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: compile_stages vocabulary.tkv schemas.jsonl [repeats] [slowest] [megabytes]"
                .into(),
        );
    };
    let number = |at: usize, default: usize| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (repeats, slowest) = (number(0, 1)?, number(1, 50)?);
    let mut dirt = vec![0_u8; number(2, 0)? << 20];
    let vocabulary = Arc::new(vocabulary::read(&std::fs::read(tkv)?)?);
    let compiler = GrammarCompiler::new(vocabulary, Limits::default()).with_cache(false);
    let mut cases: Vec<Case> = Vec::new();
    for line in std::fs::read_to_string(schemas)?.lines() {
        let line = json::read(line, DEPTH)?;
        let id = line.get("id").and_then(Value::as_str).ok_or("no id")?;
        let text = line.get("schema").ok_or("no schema")?.to_string();
        let mut best: Option<[f64; STAGES.len()]> = None;
        for _ in 0..repeats {
            match stages(&text, &compiler, &mut dirt) {
                Ok(times) => {
                    let best = best.get_or_insert(times);
                    if times[STAGES.len() - 1] < best[STAGES.len() - 1] {
                        *best = times;
                    }
                }
                Err(error) => {
                    println!("refused {id}: {error}");
                    break;
                }
            }
        }
        if let Some(times) = best {
            cases.push(Case {
                id: id.to_owned(),
                bytes: text.len(),
                times,
            });
        }
    }
    print(&mut cases, slowest);
    Ok(())
}

fn stages(text: &str, compiler: &GrammarCompiler, dirt: &mut [u8]) -> Outcome<[f64; STAGES.len()]> {
    let limits = syntagma_grammar::Limits::default();
    let mut taken = [0.0; STAGES.len()];
    let mut timed = |stage: usize, work: &mut dyn FnMut() -> Outcome<()>| {
        for byte in dirt.iter_mut() {
            *byte = byte.wrapping_add(1);
        }
        let start = clock();
        work()?;
        taken[stage] = clock() - start;
        Outcome::Ok(())
    };
    let mut grammar = None;
    timed(0, &mut || {
        let options = json_schema::Options::default();
        grammar = Some(Arc::new(json_schema::parse(text, &options, &limits)?));
        Ok(())
    })?;
    let grammar = grammar.ok_or("no grammar")?;
    timed(1, &mut || {
        let _ = grammar.identity();
        Ok(())
    })?;
    timed(2, &mut || {
        Lnf::new(&grammar, &limits)?;
        Ok(())
    })?;
    let mut built = None;
    timed(3, &mut || {
        built = Some(compiler.compile(&grammar)?);
        Ok(())
    })?;
    // What was compiled includes its normal form.
    taken[4] = taken[0] + taken[1] + taken[3];
    Ok(taken)
}

fn print(cases: &mut [Case], slowest: usize) {
    for (stage, name) in STAGES.iter().enumerate() {
        cases.sort_by(|a, b| a.times[stage].total_cmp(&b.times[stage]));
        let at = |per_mille: usize| {
            cases
                .get((cases.len().max(1) - 1) * per_mille / 1_000)
                .map_or(0.0, |case| case.times[stage])
        };
        let mean = cases.iter().map(|case| case.times[stage]).sum::<f64>()
            / f64::from(cases.len().max(1) as u32);
        println!(
            "{name:18} n {} mean {mean:8.1} p50 {:8.1} p75 {:8.1} p90 {:8.1} p99 {:8.1} max {:8.1}",
            cases.len(),
            at(500),
            at(750),
            at(900),
            at(990),
            at(1_000)
        );
    }
    for case in cases.iter().rev().take(slowest) {
        let [read, key, normal, compiled, all] = case.times;
        println!(
            "{all:8.0} = {read:6.0} + {key:6.0} + {compiled:6.0} ({normal:6.0})  {:7} bytes  {}",
            case.bytes, case.id
        );
    }
}
