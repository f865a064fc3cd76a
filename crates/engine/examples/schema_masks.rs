//! How long masks take the first and the second time that texts under many schemas are read.
//!
//! `cargo run --release --example schema_masks -- vocabulary.tkv schemas.jsonl tokens.msgpack [rounds=3] [slow=40]
//! [sample=100]`; each line of the schemas is `{id, schema, tests: [{valid, …}]}`, the tokens are a map from id to one list
//! of token ids per test. Times are CPU time of the thread, in microseconds, without what reading the clock costs.
//!
//! Every schema is new to the compiler; what that has learnt of terminals from earlier schemas stays. With `rounds`, all is
//! done so often, each time by a new compiler, and the least time counts: another process may have slowed the others down.
//! With `slow`, the slowest masks of the first replay are told one by one: what they made anew, and what was expected
//! there. With `sample`, so many bits of every mask are compared with simulated acceptance instead.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use syntagma_engine::{
    CompiledGrammar, CompiledStats, GrammarCompiler, GrammarMatcher, Limits, Vocabulary,
    bitmask_words,
};
use syntagma_grammar::Grammar;
use syntagma_grammar::json::{self, Value};
use syntagma_grammar::syntax::json_schema;

use clock::clock;

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/clock.rs"]
mod clock;
#[path = "support/packed.rs"]
mod packed;
#[path = "support/vocabulary.rs"]
mod vocabulary;

/// Containers within containers in a line of the schemas.
const DEPTH: usize = 1_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A schema's name, its text, and the tokens of its documents.
type Case = (String, String, Vec<Vec<u32>>);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tkv, schemas, tokens, options @ ..] = &arguments[..] else {
        return Err(
            "usage: schema_masks vocabulary.tkv schemas.jsonl tokens.msgpack [rounds=3] [slow=40] [sample=100]"
                .into(),
        );
    };
    let (mut rounds, mut slow, mut sample) = (1, 0, 0);
    for option in options {
        match option.split_once('=').ok_or("an option is name=number")? {
            ("rounds", count) => rounds = count.parse()?,
            ("slow", count) => slow = count.parse()?,
            ("sample", count) => sample = count.parse()?,
            (name, _) => return Err(format!("there is no option {name}").into()),
        }
    }
    let vocabulary = Arc::new(vocabulary::read(&std::fs::read(tkv)?)?);
    let mut tokens = packed::Packed(&std::fs::read(tokens)?).table()?;
    let mut cases: Vec<Case> = Vec::new();
    for line in std::fs::read_to_string(schemas)?.lines() {
        let line = json::read(line, DEPTH)?;
        let id = line.get("id").and_then(Value::as_str).ok_or("no id")?;
        let documents = tokens.remove(id).ok_or("no tokens")?;
        cases.push((
            id.to_owned(),
            line.get("schema").ok_or("no schema")?.to_string(),
            documents,
        ));
    }
    if sample > 0 {
        let mut bits = Bits::default();
        let maker = GrammarCompiler::new(vocabulary, Limits::default()).with_cache(false);
        for (_, schema, documents) in &cases {
            if let Some(grammar) = read(schema)
                && let Ok(compiled) = maker.compile(&grammar)
            {
                bits.compare(&compiled, &grammar, documents, sample)?;
            }
        }
        println!("{} bits compared, {} set, all equal", bits.all, bits.ones);
        return Ok(());
    }
    let mut best = Times::default();
    for _ in 0..rounds {
        best.improve(Times::measure(&vocabulary, &cases, slow > 0)?);
    }
    best.print(slow);
    Ok(())
}

fn read(schema: &str) -> Option<Arc<Grammar>> {
    let options = json_schema::Options::default();
    let grammar = json_schema::parse(schema, &options, &syntagma_grammar::Limits::default());
    grammar.ok().map(Arc::new)
}

/// What a mask made anew, and what was expected where it belongs.
fn tell(id: &str, at: usize, matcher: &GrammarMatcher, before: CompiledStats) -> Outcome<String> {
    let after = matcher.compiled().stats();
    let mut text = format!(
        "{id}, token {at}: {} sets, {} residuals, {} bytes;",
        after.sets - before.sets,
        after.residuals - before.residuals,
        after.bytes.saturating_sub(before.bytes),
    );
    let expected = matcher.explain(None)?.expected;
    for one in expected.iter().take(3) {
        let symbol: String = one.symbol.chars().take(120).collect();
        let begun = if one.begun { " (begun)" } else { "" };
        write!(text, " {}{begun}: {symbol};", one.rule)?;
    }
    if expected.len() > 3 {
        write!(text, " and {} more", expected.len() - 3)?;
    }
    Ok(text)
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
    refused: usize,
    parse: Vec<f64>,
    compile: Vec<f64>,
    fill: [Vec<f64>; 2],
    accept: [Vec<f64>; 2],
    /// Masks of the first replay by number, where somebody may want to know.
    told: Vec<(usize, String)>,
}

/// Masks that took so many microseconds are told.
const WORTH_TELLING: f64 = 100.0;

impl Times {
    /// One round over all cases.
    fn measure(vocabulary: &Arc<Vocabulary>, cases: &[Case], tells: bool) -> Outcome<Self> {
        let maker =
            GrammarCompiler::new(Arc::clone(vocabulary), Limits::default()).with_cache(false);
        // Nothing is known from earlier rounds.
        maker.clear();
        let mut times = Self::default();
        for (id, schema, documents) in cases {
            let start = clock();
            let grammar = read(schema);
            let parsed = clock();
            let Some(compiled) = grammar.and_then(|grammar| maker.compile(&grammar).ok()) else {
                times.refused += 1;
                continue;
            };
            times.compile.push(clock() - start);
            times.parse.push(parsed - start);
            for pass in 0..2 {
                times.replay(
                    &compiled,
                    documents,
                    pass,
                    (pass == 0 && tells).then_some(id),
                )?;
            }
        }
        Ok(times)
    }

    /// Fills and accepts along documents, until a token is refused or a limit is met.
    fn replay(
        &mut self,
        compiled: &Arc<CompiledGrammar>,
        documents: &[Vec<u32>],
        pass: usize,
        told: Option<&String>,
    ) -> Outcome<()> {
        let mut row = vec![0; bitmask_words(compiled.vocabulary().size())];
        for document in documents {
            let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
            for (at, &token) in document.iter().enumerate() {
                let before = told.map(|id| (id, compiled.stats()));
                let start = clock();
                if let Err(error) = matcher.fill_next_token_bitmask(&mut row) {
                    println!("{error}");
                    break;
                }
                let time = clock() - start;
                if let Some((id, before)) = before
                    && time > WORTH_TELLING
                {
                    let number = self.fill[pass].len();
                    self.told.push((number, tell(id, at, &matcher, before)?));
                }
                let filled = clock();
                let alive = matcher.accept_token(token)?;
                self.accept[pass].push(clock() - filled);
                self.fill[pass].push(time);
                if !alive {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Keeps the lesser times; everything else is the same in every round.
    fn improve(&mut self, other: Self) {
        if self.compile.is_empty() {
            *self = other;
            return;
        }
        let mine = self.lists();
        let mut other = other;
        for (mine, other) in mine.into_iter().zip(other.lists()) {
            for (mine, other) in mine.1.iter_mut().zip(other.1) {
                *mine = mine.min(*other);
            }
        }
    }

    fn lists(&mut self) -> [(&'static str, &mut Vec<f64>); 6] {
        let [cold, warm] = &mut self.fill;
        let [cold_accept, warm_accept] = &mut self.accept;
        [
            ("schema to grammar", &mut self.parse),
            ("schema to compiled", &mut self.compile),
            ("fill, first replay", cold),
            ("fill, second replay", warm),
            ("accept, first replay", cold_accept),
            ("accept, second replay", warm_accept),
        ]
    }

    fn print(mut self, slow: usize) {
        let cost = clock_cost();
        println!(
            "refused {} schemas; reading the clock costs {cost:.2}, which is taken off",
            self.refused
        );
        let mut told: Vec<(f64, String)> = std::mem::take(&mut self.told)
            .into_iter()
            .map(|(number, text)| (self.fill[0][number], text))
            .collect();
        for (name, times) in self.lists() {
            times.sort_by(f64::total_cmp);
            let at = |per_mille: usize| times[(times.len() - 1) * per_mille / 1_000] - cost;
            let mean = times.iter().sum::<f64>() / f64::from(times.len() as u32) - cost;
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
        told.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (time, text) in told.iter().take(slow) {
            println!("{time:9.1} {text}");
        }
    }
}

/// What reading the clock twice costs by itself, in microseconds: the median of many readings.
fn clock_cost() -> f64 {
    let mut costs: Vec<f64> = (0..10_001)
        .map(|_| {
            let start = clock();
            clock() - start
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}
