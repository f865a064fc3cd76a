//! How long schemas take to become compiled grammars, stage by stage, and which take longest.
//!
//! `cargo run --release --example compile_stages -- vocabulary.tkv schemas.jsonl [repeats] [slowest]`; each line of the
//! schemas is `{id, schema, …}`. Times are CPU time of the thread, in microseconds: the least of so many repeats (1 if
//! not given, which is what a process that sees each schema once pays). The slowest so many (50) are listed.

use std::error::Error;
use std::sync::Arc;

use syntagma_engine::{CompiledGrammar, Limits, Vocabulary};
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

const STAGES: [&str; 4] = ["schema to grammar", "normal form", "residuals", "all"];

struct Case {
    id: String,
    bytes: usize,
    /// By stage; the last is their sum.
    times: [f64; STAGES.len()],
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tkv, schemas, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: compile_stages vocabulary.tkv schemas.jsonl [repeats] [slowest]".into(),
        );
    };
    let number = |at: usize, default: usize| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (repeats, slowest) = (number(0, 1)?, number(1, 50)?);
    let vocabulary = Arc::new(vocabulary::read(&std::fs::read(tkv)?)?);
    let mut cases: Vec<Case> = Vec::new();
    for line in std::fs::read_to_string(schemas)?.lines() {
        let line = json::read(line, DEPTH)?;
        let id = line.get("id").and_then(Value::as_str).ok_or("no id")?;
        let text = line.get("schema").ok_or("no schema")?.to_string();
        let mut best: Option<[f64; STAGES.len()]> = None;
        for _ in 0..repeats {
            match stages(&text, &vocabulary) {
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

fn stages(text: &str, vocabulary: &Arc<Vocabulary>) -> Outcome<[f64; STAGES.len()]> {
    let limits = syntagma_grammar::Limits::default();
    let start = clock();
    let grammar = json_schema::parse(text, &json_schema::Options::default(), &limits)?;
    let read = clock();
    let lnf = Lnf::new(&grammar, &limits)?;
    let normal = clock();
    let (report, vocabulary) = (grammar.report().clone(), Arc::clone(vocabulary));
    let compiled = CompiledGrammar::from_lnf(&lnf, report, vocabulary, &Limits::default(), false)?;
    let end = clock();
    drop(compiled);
    Ok([read - start, normal - read, end - normal, end - start])
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
        let [read, normal, residuals, all] = case.times;
        println!(
            "{all:8.0} = {read:6.0} + {normal:6.0} + {residuals:6.0}  {:7} bytes  {}",
            case.bytes, case.id
        );
    }
}
