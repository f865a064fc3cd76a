//! How long masks take with a real vocabulary, cold and warm, and whether they are right.
//!
//! `cargo run --release --example fill_times -- vocabulary.tkv [text [grammar]] [slow=20] [sample=2000] [rounds=3]
//! [cold=1]`
//!
//! The grammar's name ends in `.ebnf`, `.regex`, or `.json` for a schema; without one the text is JSON. Times are CPU time of the thread, in microseconds. With `slow`, the slowest masks of
//! the first pass are told one by one. With `rounds`, all is done so often, each time by a new compiler, and the least time
//! counts: another process may have slowed the others down. What is known of terminals stays, unless `cold` is 1. So many
//! bits of every mask as `sample` says are compared with simulated acceptance.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use syntagma_engine::{
    CompiledGrammar, GrammarCompiler, GrammarMatcher, Limits, Vocabulary, bitmask_words,
};
use syntagma_grammar::Grammar;
use syntagma_grammar::ir::{ByteSet, Expr, GrammarBuilder, Regex, Report};
use syntagma_grammar::syntax::{ebnf, json_schema, regex};

use clock::clock;

#[path = "support/allocator.rs"]
mod allocator;
#[path = "support/clock.rs"]
mod clock;
#[path = "support/vocabulary.rs"]
mod vocabulary;

/// A text that is used where none is given.
const SAMPLE: &str = r#"{"name": "Ada Lovelace", "born": 1815, "tags": ["poet", "analyst", "\u00e9t\u00e9"],
 "works": [{"title": "Notes", "pages": 66, "rating": -4.5e1, "open": true}, {"title": "Lettres, déjà", "pages": 12,
 "rating": 3.25, "open": false}, {}], "nothing": null, "deep": [[[[[[1], 2], 3], {"a": {"b": {"c": []}}}]]]}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut slow, mut sample, mut rounds, mut cold) = (0, 2_000, 1, 0);
    let mut paths = Vec::new();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("slow", count)) => slow = count.parse()?,
            Some(("sample", count)) => sample = count.parse()?,
            Some(("rounds", count)) => rounds = count.parse()?,
            Some(("cold", one)) => cold = one.parse()?,
            _ => paths.push(argument),
        }
    }
    let [path, files @ ..] = &paths[..] else {
        return Err(
            "usage: fill_times vocabulary.tkv [text [grammar]] [slow=20] [sample=2000] [rounds=3] [cold=1]".into(),
        );
    };
    let text = match files.first() {
        Some(text) => std::fs::read_to_string(text)?,
        None => SAMPLE.to_owned(),
    };
    let grammar = Arc::new(match files.get(1) {
        Some(grammar) => read(grammar)?,
        None => json(),
    });
    let start = Instant::now();
    let vocabulary = Arc::new(vocabulary::read(&std::fs::read(path)?)?);
    println!(
        "vocabulary: {} tokens, {} bytes, {:.1} ms",
        vocabulary.size(),
        vocabulary.memory_bytes(),
        millis(start)
    );
    let maker = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
    let start = Instant::now();
    let compiled = maker.compile(&grammar)?;
    println!("compile: {:.3} ms, again: {:.4} ms", millis(start), {
        let start = Instant::now();
        maker.compile(&grammar)?;
        millis(start)
    });
    let tokens = tokenize(&vocabulary, text.trim().as_bytes())?;
    let mut best: Vec<Pass> = Vec::new();
    for round in 0..rounds {
        let maker = GrammarCompiler::new(Arc::clone(&vocabulary), Limits::default());
        if cold == 1 {
            maker.clear();
        }
        let compiled = maker.compile(&grammar)?;
        for at in 0..2 {
            let pass = Pass::replay(&compiled, &tokens)?;
            match best.get_mut(at) {
                Some(best) => best.improve(&pass),
                None => best.push(pass),
            }
            if round == 0 {
                println!("  {:?}", compiled.stats());
            }
        }
    }
    for (best, (name, slow)) in best.iter().zip([("first pass", slow), ("second pass", 0)]) {
        best.print(name, slow);
    }
    compare(&compiled, &grammar, &tokens, sample)
}

/// Reads a grammar in the language that its file's name tells.
fn read(path: &str) -> Result<Grammar, Box<dyn Error>> {
    let source = std::fs::read_to_string(path)?;
    let limits = syntagma_grammar::Limits::default();
    let grammar = match path.rsplit_once('.') {
        Some((_, "json")) => json_schema::parse(&source, &json_schema::Options::default(), &limits),
        Some((_, "regex")) => {
            regex::parse(&source, regex::Dialect::Rust, &limits).map(Grammar::from_regex)
        }
        _ => ebnf::parse(&source, "start", &limits),
    };
    Ok(grammar.map_err(|error| format!("{error:?}"))?)
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Times of one pass along the text.
#[derive(Default)]
struct Pass {
    fills: Vec<f64>,
    accepts: Vec<f64>,
    /// What is to be told of masks that were computed, with their places.
    told: Vec<(usize, String)>,
}

impl Pass {
    /// Fills and accepts along the text.
    fn replay(compiled: &Arc<CompiledGrammar>, tokens: &[u32]) -> Result<Self, Box<dyn Error>> {
        let mut pass = Self::default();
        let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
        let mut row = vec![0; bitmask_words(compiled.vocabulary().size())];
        for (at, &token) in tokens.iter().enumerate() {
            let before = compiled.stats();
            let start = clock();
            matcher.fill_next_token_bitmask(&mut row)?;
            pass.fills.push(clock() - start);
            let after = compiled.stats();
            if after.masks > before.masks {
                let from = at.saturating_sub(6);
                let text: Vec<u8> = tokens[from..at]
                    .iter()
                    .flat_map(|&id| [compiled.vocabulary().token(id), b"|"].concat())
                    .collect();
                let sets = after.sets - before.sets;
                let residuals = after.residuals - before.residuals;
                let text = String::from_utf8_lossy(&text).into_owned();
                let text = format!("{sets} sets, {residuals} residuals: {text:?}");
                pass.told.push((at, text));
            }
            let start = clock();
            let accepted = matcher.accept_token(token)?;
            pass.accepts.push(clock() - start);
            if !accepted {
                return Err(format!("refused: {:?}", matcher.explain(Some(token))?).into());
            }
        }
        if !matcher.is_accepting()? {
            return Err("the text is not complete".into());
        }
        Ok(pass)
    }

    /// Keeps the lesser times; everything else is the same in every round.
    fn improve(&mut self, other: &Self) {
        let mine = self.fills.iter_mut().chain(&mut self.accepts);
        for (mine, other) in mine.zip(other.fills.iter().chain(&other.accepts)) {
            *mine = mine.min(*other);
        }
    }

    fn print(&self, pass: &str, slow: usize) {
        let fresh: Vec<f64> = self.told.iter().map(|&(at, _)| self.fills[at]).collect();
        let lists = [
            ("fill", &self.fills),
            ("fill, if new", &fresh),
            ("accept", &self.accepts),
        ];
        for (name, times) in lists {
            let mut times = times.clone();
            times.sort_by(f64::total_cmp);
            if times.is_empty() {
                continue;
            }
            let at = |per_mille: usize| times[(times.len() - 1) * per_mille / 1000];
            let mean = times.iter().sum::<f64>() / f64::from(times.len() as u32);
            println!(
                "{pass}: {name:12} n {:6} mean {mean:8.2} p50 {:8.2} p90 {:8.2} p99 {:8.2} max {:8.2}",
                times.len(),
                at(500),
                at(900),
                at(990),
                at(1000)
            );
        }
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_by(|a, b| self.fills[b.0].total_cmp(&self.fills[a.0]));
        for (at, text) in told.iter().take(slow) {
            println!("{:9.1} {text}", self.fills[*at]);
        }
    }
}

/// Compares a sample of mask bits with what simulated acceptance says, on a grammar that knows no mask.
fn compare(
    compiled: &Arc<CompiledGrammar>,
    grammar: &Arc<Grammar>,
    tokens: &[u32],
    sample: usize,
) -> Result<(), Box<dyn Error>> {
    let vocabulary = compiled.vocabulary();
    let fresh = GrammarCompiler::new(Arc::clone(vocabulary), Limits::default()).compile(grammar)?;
    let mut matcher = GrammarMatcher::new(Arc::clone(compiled));
    let mut other = GrammarMatcher::new(fresh);
    let mut row = vec![0; bitmask_words(vocabulary.size())];
    let (mut bits, mut ones, mut wrong, mut noise) = (0, 0, 0, 1_u64);
    for &token in tokens {
        matcher.fill_next_token_bitmask(&mut row)?;
        for _ in 0..sample {
            noise = noise
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let id = ((noise >> 33) % vocabulary.size() as u64) as u32;
            let bit = row[id as usize / 32] >> (id % 32) & 1 == 1;
            bits += 1;
            ones += usize::from(bit);
            wrong += usize::from(bit != other.accepts(id)?);
        }
        matcher.accept_token(token)?;
        other.accept_token(token)?;
    }
    println!("{bits} bits compared with simulated acceptance ({ones} set): {wrong} differ");
    if wrong > 0 {
        return Err("masks are wrong".into());
    }
    Ok(())
}

/// Any JSON text, with blanks between.
fn json() -> Grammar {
    let blanks = || {
        let set = b" \n\t\r"
            .iter()
            .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte)));
        Regex::repeat(Regex::Class(set), 0, None)
    };
    let digits = || Regex::repeat(Regex::Class(ByteSet::range(b'0', b'9')), 1, None);
    let optional = |inner| Regex::repeat(inner, 0, Some(1));
    let class = |bytes: &[u8]| {
        Regex::Class(
            bytes
                .iter()
                .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte))),
        )
    };
    let token = |text: &[u8]| Regex::concat(vec![blanks(), Regex::literal(text)]);
    let number = Regex::concat(vec![
        blanks(),
        optional(Regex::literal(b"-")),
        Regex::alt(vec![
            Regex::literal(b"0"),
            Regex::concat(vec![
                Regex::Class(ByteSet::range(b'1', b'9')),
                optional(digits()),
            ]),
        ]),
        optional(Regex::concat(vec![Regex::literal(b"."), digits()])),
        optional(Regex::concat(vec![
            class(b"eE"),
            optional(class(b"+-")),
            digits(),
        ])),
    ]);
    let hex = class(b"0123456789abcdefABCDEF");
    let escape = Regex::concat(vec![
        Regex::literal(b"\\"),
        Regex::alt(vec![
            class(b"\"\\/bfnrt"),
            Regex::concat(vec![Regex::literal(b"u"), Regex::repeat(hex, 4, Some(4))]),
        ]),
    ]);
    let tail = || Regex::Class(ByteSet::range(0x80, 0xbf));
    let character = Regex::alt(vec![
        Regex::Class(ByteSet::range(0x20, 0x7f).intersection(&class_set(b"\"\\").complement())),
        Regex::concat(vec![Regex::Class(ByteSet::range(0xc2, 0xdf)), tail()]),
        Regex::concat(vec![
            Regex::Class(ByteSet::range(0xe0, 0xef)),
            tail(),
            tail(),
        ]),
        Regex::concat(vec![
            Regex::Class(ByteSet::range(0xf0, 0xf4)),
            tail(),
            tail(),
            tail(),
        ]),
        escape,
    ]);
    let string = Regex::concat(vec![
        blanks(),
        Regex::literal(b"\""),
        Regex::repeat(character, 0, None),
        Regex::literal(b"\""),
    ]);

    let mut b = GrammarBuilder::new();
    let (value, member) = (b.rule("value"), b.rule("member"));
    let string = b.regex(string);
    let colon = b.regex(token(b":"));
    let any = b.reference(value);
    let pair = b.seq(vec![string, colon, any]);
    b.define(member, pair);
    let mut list = |open: &[u8], inner, close: &[u8]| {
        let comma = b.regex(token(b","));
        let (open, close) = (b.regex(token(open)), b.regex(token(close)));
        let items = b.add(Expr::Repeat {
            inner,
            min: 0,
            max: None,
            separator: Some(comma),
        });
        b.seq(vec![open, items, close])
    };
    let array = list(b"[", any, b"]");
    let object = list(b"{", pair, b"}");
    let plain =
        [token(b"true"), token(b"false"), token(b"null"), number].map(|regex| b.regex(regex));
    let [yes, no, null, number] = plain;
    let body = b.alt(vec![object, array, string, number, yes, no, null]);
    b.define(value, body);
    b.finish(value, Report::default())
}

fn class_set(bytes: &[u8]) -> ByteSet {
    bytes
        .iter()
        .fold(ByteSet::EMPTY, |set, &byte| set.union(&ByteSet::byte(byte)))
}

/// The longest token at every place.
fn tokenize(vocabulary: &Vocabulary, text: &[u8]) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut ids = std::collections::HashMap::new();
    for id in 0..vocabulary.token_count() as u32 {
        if !vocabulary.is_special(id) {
            ids.entry(vocabulary.token(id)).or_insert(id);
        }
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let longest = (at + 1..=text.len().min(at + 64))
            .rev()
            .find(|&end| ids.contains_key(&text[at..end]));
        let end = longest.ok_or("the vocabulary cannot spell the text")?;
        tokens.push(ids[&text[at..end]]);
        at = end;
    }
    Ok(tokens)
}
