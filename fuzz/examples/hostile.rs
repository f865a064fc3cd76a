//! Inputs made to be costly: which of them take longest, and at what.
//!
//! `cargo run --release -p syntagma-fuzz --example hostile -- [seconds] [seed] [milliseconds]` makes inputs for so many
//! seconds (60), and prints those on which one stage takes more than so many milliseconds of processor time (500) or
//! the process grows by more than 100 MiB. Inputs are built from what is costly: wide classes, counts in counts, conditions
//! on the text around, intersections, complements, long alternations, deep nesting, and every keyword of a schema that
//! multiplies (`attack`). `-- --file FILE KIND` times one, `-- --attacks` each of the schemas that multiply in some sizes.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use syntagma_engine::{GrammarCompiler, GrammarMatcher, Vocabulary, VocabularyParts};
use syntagma_fuzz::attacks;
use syntagma_fuzz::noise::Noise;
use syntagma_fuzz::usage::{peak_memory, processor_time};
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark, regex};
use syntagma_grammar::{Error, Grammar, Limits, print};

/// What an input is given to.
type Parse = fn(&str, &Limits) -> Result<Grammar, Error>;

/// A language: its name, its reader, and who makes inputs.
type Kind = (&'static str, Parse, fn(&mut Noise) -> String);

const KINDS: [Kind; 8] = [
    (
        "rust",
        |text, limits| regex::parse(text, regex::Dialect::Rust, limits).map(Grammar::from_regex),
        |noise| pattern(noise, true),
    ),
    (
        "ecma",
        |text, limits| regex::parse(text, regex::Dialect::Ecma, limits).map(Grammar::from_regex),
        |noise| pattern(noise, false),
    ),
    (
        "search",
        |text, limits| regex::ecma_search(text, limits).map(Grammar::from_regex),
        |noise| pattern(noise, false),
    ),
    (
        "ebnf",
        |text, limits| ebnf::parse(text, "start", limits),
        rules,
    ),
    (
        "gbnf",
        |text, limits| gbnf::parse(text, "root", limits),
        gbnf_rules,
    ),
    (
        "lark",
        |text, limits| lark::parse(text, "start", limits),
        lark_rules,
    ),
    (
        "schema",
        |text, limits| json_schema::parse(text, &json_schema::Options::default(), limits),
        schema,
    ),
    (
        "attack",
        |text, limits| json_schema::parse(text, &json_schema::Options::default(), limits),
        attacks::draw,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [option, file, kind] = &arguments[..]
        && option == "--file"
    {
        let (Ok(text), Some(&(_, parse, _))) = (
            std::fs::read_to_string(file),
            KINDS.iter().find(|(name, ..)| name == kind),
        ) else {
            eprintln!("no such file or kind");
            return ExitCode::from(2);
        };
        println!("{}", told(&run(&text, parse)));
        return ExitCode::SUCCESS;
    }
    if arguments == ["--attacks"] {
        for (name, make) in attacks::ATTACKS {
            for size in attacks::SIZES {
                let text = make(size);
                let stages = run(&text, KINDS[7].1);
                let (bytes, peak) = (text.len(), peak_memory() >> 10);
                println!(
                    "{name} {size}, {bytes} bytes: {}peak {peak} MiB",
                    told(&stages)
                );
            }
        }
        return ExitCode::SUCCESS;
    }
    let number = |at: usize, default: u64| {
        arguments
            .get(at)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (seconds, seed, least) = (number(0, 60), number(1, 0), number(2, 500));
    let mut noise = Noise::new(seed);
    let begin = Instant::now();
    let mut runs = 0;
    let mut slowest = Duration::ZERO;
    while begin.elapsed() < Duration::from_secs(seconds) {
        let (name, parse, make) = KINDS[noise.below(KINDS.len())];
        let text = make(&mut noise);
        let current = std::env::temp_dir().join(format!("hostile.{seed}.{name}"));
        let _ = std::fs::write(current, &text);
        let memory = peak_memory();
        let stages = run(&text, parse);
        runs += 1;
        let longest = stages.iter().map(|stage| stage.1).max().unwrap_or_default();
        let grown = peak_memory().saturating_sub(memory) >> 10;
        slowest = slowest.max(longest);
        if longest > Duration::from_millis(least) || grown > 100 {
            let shown: String = text.chars().take(300).collect();
            let file = std::env::temp_dir().join(format!("hostile.{seed}.{runs}.{name}"));
            let _ = std::fs::write(&file, &text);
            println!(
                "{} {} bytes, {grown} MiB more: {}\n  {shown}",
                file.display(),
                text.len(),
                told(&stages)
            );
        }
    }
    println!(
        "{runs} inputs, the slowest stage took {slowest:.1?}, memory {} MiB",
        peak_memory() >> 10
    );
    ExitCode::SUCCESS
}

/// A stage, how long it took and what came of it.
type Stage = (&'static str, Duration, String);

fn told(stages: &[Stage]) -> String {
    let mut text = String::new();
    for (name, time, outcome) in stages {
        let _ = write!(text, "{name} {time:.1?} {outcome}; ");
    }
    text
}

fn run(text: &str, parse: Parse) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut clock = processor_time();
    let mut stage = |name, outcome: String| {
        let now = processor_time();
        stages.push((name, now.saturating_sub(clock), outcome));
        clock = processor_time();
    };
    let grammar = match parse(text, &Limits::default()) {
        Ok(grammar) => grammar,
        Err(error) => {
            stage("read", error.code().to_owned());
            return stages;
        }
    };
    stage("read", String::new());
    let written = print::to_ebnf(&grammar).len();
    stage("ebnf", format!("{written} bytes"));
    let written = print::to_gbnf(&grammar, None);
    stage(
        "gbnf",
        written.map_or_else(
            |error| error.code().to_owned(),
            |written| format!("{} bytes", written.text.len()),
        ),
    );
    let compiler =
        GrammarCompiler::new(Arc::clone(&VOCABULARY), syntagma_engine::Limits::default())
            .with_cache(false);
    match compiler.compile(&Arc::new(grammar)) {
        Err(error) => stage("compile", error.code().to_owned()),
        Ok(made) => {
            stage("compile", String::new());
            let mut row = vec![0; VOCABULARY.size().div_ceil(32)];
            let filled = GrammarMatcher::new(made).fill_next_token_bitmask(&mut row);
            let outcome = filled.map_or_else(|error| error.code().to_owned(), |()| String::new());
            stage("mask", outcome);
        }
    }
    stages
}

static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let texts = [
        "aa", "ab", "é", "\": ", "\", \"", "{\"", "    ", "12", "true", "abcdefgh",
    ];
    tokens.extend(texts.map(|text| text.as_bytes().to_vec()));
    let parts = VocabularyParts {
        tokens,
        ..VocabularyParts::default()
    };
    Arc::new(Vocabulary::new(&parts).expect("the vocabulary is right"))
});

const CLASSES: &[&str] = &[
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\d",
    r"\D",
    ".",
    r"\p{L}",
    r"\P{L}",
    r"\p{Lu}",
    r"\p{N}",
    "[^a]",
    "[a-z]",
    "[ab]",
    r"[\w-]",
    r"[^\w\s]",
    r"\p{Script=Greek}",
    r"[a-zA-Z0-9_.+-]",
    r"[\s\S]",
    "é",
    "[à-ÿ]",
    "a",
    "b",
    "ab",
    "x",
    ":",
    "-",
    r"[\u0100-\u{10FFFF}]",
    "[^\"\\\\]",
];

const RUST_CLASSES: &[&str] = &[
    r"[\w&&[^a-z]]",
    r"[\p{L}--\p{Lu}]",
    r"[\w~~\d]",
    "(?i:straße)",
    r"(?i:\p{Lu})",
    "(?s:.)",
    r"(?i:[a-z])",
    r"(?-u:\w)",
    "(?i:abc)",
];

const EDGES: &[&str] = &["^", "$", r"\b", r"\B"];

const COUNTS: &[u64] = &[
    0, 1, 2, 3, 7, 10, 16, 31, 64, 100, 255, 1_000, 4_096, 65_535, 261_076, 999_999, 1_000_000,
];

fn count(noise: &mut Noise) -> String {
    let most = if noise.below(3) == 0 {
        COUNTS.len()
    } else {
        10
    };
    let (a, b) = (COUNTS[noise.below(most)], COUNTS[noise.below(most)]);
    match noise.below(9) {
        0 | 1 => "*".to_owned(),
        2 => "+".to_owned(),
        3 | 4 => "?".to_owned(),
        5 => format!("{{{a}}}"),
        6 => format!("{{{a},}}"),
        7 => format!("{{0,{b}}}"),
        _ => format!("{{{},{}}}", a.min(b), a.max(b)),
    }
}

fn pattern(noise: &mut Noise, rust: bool) -> String {
    let mut out = String::new();
    let budget = [6, 12, 25, 60, 150][noise.below(5)];
    let looks = noise.below(3) == 0;
    let flag = rust && noise.below(6) == 0;
    if flag {
        out.push_str("(?i)");
    }
    if noise.below(12) == 0 {
        // One thing many times over.
        let mut unit = String::new();
        piece(noise, &mut unit, &mut 5, 3, rust, looks);
        let between = ["", "|", ":?", "a|"][noise.below(4)];
        let times = [10, 50, 200, 1_000, 4_000][noise.below(5)];
        let times = times.min(8_000 / (unit.len() + between.len()).max(1));
        let list = vec![unit.as_str(); times].join(between);
        let tail = if noise.below(2) == 0 {
            count(noise)
        } else {
            String::new()
        };
        let _ = write!(out, "(?:{list}){tail}");
        return out;
    }
    piece(noise, &mut out, &mut { budget }, 0, rust, looks);
    out
}

fn piece(
    noise: &mut Noise,
    out: &mut String,
    budget: &mut usize,
    depth: usize,
    rust: bool,
    looks: bool,
) {
    let alternatives = if noise.below(3) == 0 {
        1 + noise.below(4)
    } else {
        1
    };
    for at in 0..alternatives {
        if at > 0 {
            out.push('|');
        }
        for _ in 0..=noise.below(4) {
            if *budget == 0 {
                return;
            }
            *budget -= 1;
            if looks && noise.below(4) == 0 {
                if noise.below(2) == 0 {
                    out.push_str(noise.one(EDGES));
                } else {
                    let kinds = ["(?=", "(?!", "(?<=", "(?<!"];
                    out.push_str(noise.one(&kinds));
                    piece(noise, out, budget, depth + 2, rust, depth < 2 && looks);
                    out.push(')');
                }
                continue;
            }
            if depth < 8 && noise.below(3) == 0 {
                out.push_str("(?:");
                piece(noise, out, budget, depth + 1, rust, looks);
                out.push(')');
            } else if rust && noise.below(6) == 0 {
                out.push_str(noise.one(RUST_CLASSES));
            } else {
                out.push_str(noise.one(CLASSES));
            }
            if noise.below(2) == 0 {
                out.push_str(&count(noise));
            }
        }
    }
}

fn rules(noise: &mut Noise) -> String {
    let mut out = String::new();
    for (at, rule) in ["start", "x", "y", "z"].into_iter().enumerate() {
        let _ = write!(out, "{rule} ::= ");
        let mut budget = [4, 10, 30][noise.below(3)];
        operands(noise, &mut out, &mut budget, 0, at);
        out.push_str(" ;\n");
    }
    out
}

fn quoted(noise: &mut Noise) -> String {
    pattern(noise, true).replace('"', "q")
}

fn operands(noise: &mut Noise, out: &mut String, budget: &mut usize, depth: usize, rule: usize) {
    let between = [" | ", " & ", " "][noise.below(3)];
    for at in 0..=noise.below(4) {
        if at > 0 {
            out.push_str(between);
        }
        if *budget == 0 {
            out.push_str("\"a\"");
            continue;
        }
        *budget -= 1;
        match noise.below(14) {
            0 | 1 => out.push_str(["\"a\"", "\"ab\"", "\"é\"", "any!", "byte!"][noise.below(5)]),
            2..=4 => {
                let _ = write!(out, "#\"{}\"", quoted(noise));
            }
            5 => {
                let _ = write!(out, "#e\"{}\"", quoted(noise));
            }
            6 => {
                let _ = write!(out, "#substrs\"{}\"", "abacé".repeat(1 + noise.below(200)));
            }
            7 | 8 if depth < 6 => {
                let open = ["except!(", "until!(", "lazy!(", "complement!(", "~("][noise.below(5)];
                out.push_str(open);
                operands(noise, out, budget, depth + 1, rule);
                if open == "except!(" && noise.below(3) == 0 {
                    let _ = write!(out, ", {}", COUNTS[noise.below(COUNTS.len())]);
                }
                out.push(')');
            }
            9 if rule < 3 => out.push_str(["x", "y", "z"][rule + noise.below(3 - rule)]),
            _ if depth < 6 => {
                out.push('(');
                operands(noise, out, budget, depth + 1, rule);
                out.push(')');
                out.push_str(&count(noise));
                if noise.below(5) == 0 {
                    out.push_str(" % \",\"");
                }
            }
            _ => out.push_str("\"b\""),
        }
    }
}

fn gbnf_rules(noise: &mut Noise) -> String {
    let mut out = String::new();
    let items = [
        "\"a\"",
        "[^a]",
        "[a-zé]",
        ".",
        "root",
        "x",
        "x",
        "y",
        "(x | \"b\")",
        "(\"c\" y)",
        "\"\"",
    ];
    for rule in ["root", "x", "y"] {
        let _ = write!(out, "{rule} ::= ");
        for _ in 0..=noise.below(8) {
            let times = [1, 1, 3, 100, 20_000][noise.below(5)];
            let item = format!("{}{} ", noise.one(&items), count(noise));
            out.push_str(&item.repeat(times));
            out.push_str(["", "", "| "][noise.below(3)]);
        }
        out.push_str("\"z\"\n");
    }
    out
}

fn lark_rules(noise: &mut Noise) -> String {
    let mut out = String::from("start: A B | C\n");
    for name in ["A", "B", "C"] {
        let _ = write!(out, "{name}: ");
        for at in 0..=noise.below(4) {
            if at > 0 {
                out.push_str([" & ", " | ", " "][noise.below(3)]);
            }
            if noise.below(3) == 0 {
                out.push('~');
            }
            let _ = write!(out, "/{}/", pattern(noise, true).replace('/', "q"));
        }
        out.push('\n');
    }
    out
}

fn schema(noise: &mut Noise) -> String {
    fn escaped(noise: &mut Noise) -> String {
        let mut pattern = pattern(noise, false);
        if noise.below(2) == 0 {
            pattern = format!("^{pattern}$");
        }
        pattern.replace('\\', "\\\\").replace('"', "\\\"")
    }
    fn text(noise: &mut Noise) -> String {
        let mut out = format!(r#"{{"type":"string","pattern":"{}""#, escaped(noise));
        for keyword in ["minLength", "maxLength"] {
            if noise.below(3) == 0 {
                let _ = write!(out, r#","{keyword}":{}"#, COUNTS[noise.below(COUNTS.len())]);
            }
        }
        if noise.below(6) == 0 {
            out.push_str(r#","format":"email""#);
        }
        out.push('}');
        out
    }
    let list = |noise: &mut Noise| {
        let all: Vec<String> = (0..=noise.below(6)).map(|_| text(noise)).collect();
        all.join(",")
    };
    match noise.below(8) {
        0 | 1 => text(noise),
        2 => format!(r#"{{"allOf":[{}]}}"#, list(noise)),
        3 => format!(r#"{{"oneOf":[{}]}}"#, list(noise)),
        4 => format!(r#"{{"type":"string","not":{{"anyOf":[{}]}}}}"#, list(noise)),
        5 => format!(r#"{{"propertyNames":{},"minProperties":2}}"#, text(noise)),
        6 => format!(
            r#"{{"if":{},"then":{},"else":{}}}"#,
            text(noise),
            text(noise),
            text(noise)
        ),
        _ => {
            let all: Vec<String> = (0..=noise.below(5))
                .map(|_| format!(r#""{}":{}"#, escaped(noise), text(noise)))
                .collect();
            format!(
                r#"{{"patternProperties":{{{}}},"properties":{{"a":{}}},"additionalProperties":{}}}"#,
                all.join(","),
                text(noise),
                ["true", "false"][noise.below(2)]
            )
        }
    }
}
