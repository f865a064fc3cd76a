//! Whoever sends a grammar chooses its names. Names that a known hash function puts into one place cost no more than others.
//!
//! The names collide under the hash that this project takes for numbers of its own (`rustc-hash`), which mixes a text in
//! blocks of sixteen bytes: a block whose first half equals what the hash has kept of the block before the last is
//! multiplied by zero, whatever its second half says.

use crate::vocabularies;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustc_hash::FxBuildHasher;
use syntagma_engine::{GrammarCompiler, Limits as EngineLimits};
use syntagma_grammar::ir::{GrammarBuilder, Lnf, Regex, Report, text};
use syntagma_grammar::syntax::{ebnf, gbnf, json_schema, lark};
use syntagma_grammar::{Grammar, Limits};

const NAMES: usize = 6_000;
const DIGITS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// One block of the hash of a text.
fn mixed(kept: u64, block: &[u8]) -> u64 {
    const ZERO: u64 = 0xa409_3822_299f_31d0;
    let (left, right) = (kept ^ word(block), ZERO ^ word(&block[8..]));
    let full = u128::from(left) * u128::from(right);
    full as u64 ^ (full >> 64) as u64
}

/// What is left of a text that ends with a block's end.
fn kept(text: &[u8]) -> [u64; 2] {
    let start = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
    text.chunks(16)
        .fold(start, |[left, right], block| [right, mixed(left, block)])
}

/// A number as eight characters.
fn spelled(mut number: usize) -> [u8; 8] {
    let mut out = [b'a'; 8];
    for byte in out.iter_mut().rev() {
        *byte = DIGITS[number % DIGITS.len()];
        number /= DIGITS.len();
    }
    out
}

/// Names that collide where this stands before them, and as many that do not.
struct Names {
    crafted: Vec<String>,
    ordinary: Vec<String>,
}

/// A block after which letters and digits are kept, and these.
type Searched = ([u8; 16], [u8; 8]);

/// Finds one.
fn searched(old: u64) -> Searched {
    static FOUND: Mutex<BTreeMap<u64, Searched>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap();
    *found.entry(old).or_insert_with(|| {
        let mut block = *b"searchedaaaaaaaa";
        loop {
            let kept = mixed(old, &block);
            let ascii = kept & 0x8080_8080_8080_8080 == 0;
            let kept = kept.to_le_bytes();
            if ascii && kept.iter().all(|byte| DIGITS.contains(byte)) {
                return (block, kept);
            }
            // The next block, as if its letters were digits.
            for byte in block.iter_mut().rev() {
                *byte = if *byte == b'z' { b'a' } else { *byte + 1 };
                if *byte != b'a' {
                    break;
                }
            }
        }
    })
}

fn names(before: &str) -> Names {
    let filler = 16 - before.len() % 16;
    let first = [before.as_bytes(), &vec![b'n'; filler]].concat();
    let [old, _] = kept(&first);
    let (block, key) = searched(old);
    let lead = [&first[before.len()..], &block, b"someblockbetween"].concat();
    let name = |key: &[u8], number: usize| {
        let name = [&lead[..], key, &spelled(number), b"endofacraftednam"].concat();
        String::from_utf8(name).unwrap()
    };
    let other = key.map(|byte| if byte == b'a' { b'b' } else { b'a' });
    let made = |key: [u8; 8]| -> Vec<String> { (0..NAMES).map(|at| name(&key, at * 7)).collect() };
    let made = Names {
        crafted: made(key),
        ordinary: made(other),
    };
    let hash = |name: &String| FxBuildHasher.hash_one(format!("{before}{name}"));
    let all_one = |names: &[String]| names.iter().all(|name| hash(name) == hash(&names[0]));
    assert!(all_one(&made.crafted) && !all_one(&made.ordinary));
    made
}

/// Checks that crafted names do not cost the square of their number.
///
/// Names that collide are compared with each other, 18 million times for 6,000: at least ten times what reading them
/// takes. So four times as long is the bound, for the least of a few tries each, until they are within it. The kernel
/// tells what a thread has worked only as of its last tick, which is longer than some of these take: the clock on the
/// wall is read.
fn check(what: &str, before: &str, read: impl Fn(&[String])) {
    const TRIES: usize = 30;
    let names = names(before);
    let took = |names: &[String], least: &mut Duration| {
        let start = Instant::now();
        read(names);
        *least = (*least).min(start.elapsed());
    };
    let (mut crafted, mut ordinary) = (Duration::MAX, Duration::MAX);
    for _ in 0..TRIES {
        took(&names.ordinary, &mut ordinary);
        took(&names.crafted, &mut crafted);
        if crafted <= ordinary * 4 {
            return;
        }
    }
    panic!("{what}: {crafted:?} for crafted names, {ordinary:?} for others");
}

fn written(names: &[String], each: impl Fn(&mut String, &str)) -> String {
    let mut text = String::new();
    for name in names {
        each(&mut text, name);
    }
    text.trim_end_matches([',', '|', ' ']).to_owned()
}

fn compiled(grammar: Grammar) {
    let tokens = vocabularies::of_tokens(vocabularies::bytes());
    let compiler = GrammarCompiler::new(tokens, EngineLimits::default());
    compiler.compile(&Arc::new(grammar)).unwrap();
}

fn schema(text: &str) -> Grammar {
    json_schema::parse(text, &json_schema::Options::default(), &Limits::default()).unwrap()
}

#[test]
fn properties() {
    check("properties", "", |names| {
        let properties = written(names, |out, name| write!(out, r#""{name}":true,"#).unwrap());
        let listed = written(names, |out, name| write!(out, r#""{name}","#).unwrap());
        schema(&format!(
            r#"{{"properties":{{{properties}}},"required":[{listed}],"additionalProperties":false}}"#
        ));
    });
}

#[test]
fn required_names() {
    check("required", "", |names| {
        let listed = written(names, |out, name| write!(out, r#""{name}","#).unwrap());
        schema(&format!(r#"{{"type":"object","required":[{listed}]}}"#));
    });
}

#[test]
fn listed_values() {
    // A value is looked up with its quotes, as it is written.
    check("enum", "\"", |names| {
        let listed = written(names, |out, name| write!(out, r#""{name}","#).unwrap());
        compiled(schema(&format!(r#"{{"enum":[{listed}]}}"#)));
    });
}

#[test]
fn definitions() {
    for before in ["", "#/$defs/", "/$defs/"] {
        check("definitions", before, |names| {
            let definitions = written(names, |out, name| {
                write!(out, r#""{name}":{{"minLength":{}}},"#, out.len()).unwrap();
            });
            let uses = written(names, |out, name| {
                write!(out, r##"{{"$ref":"#/$defs/{name}"}},"##).unwrap();
            });
            schema(&format!(
                r#"{{"prefixItems":[{uses}],"$defs":{{{definitions}}}}}"#
            ));
        });
    }
}

#[test]
fn identifiers() {
    check("$id", "", |names| {
        let definitions = written(names, |out, name| {
            write!(out, r#""{name}":{{"$id":"{name}"}},"#).unwrap();
        });
        schema(&format!(r#"{{"$defs":{{{definitions}}}}}"#));
    });
}

#[test]
fn patterns() {
    check("pattern", "", |names| {
        let patterns = written(&names[..NAMES / 4], |out, name| {
            write!(out, r#"{{"pattern":"{name}"}},"#).unwrap();
        });
        schema(&format!(r#"{{"prefixItems":[{patterns}]}}"#));
    });
}

/// Rules that a first one names.
fn rules(names: &[String], is: &str, end: &str) -> String {
    let all = written(names, |out, name| write!(out, "{name} | ").unwrap());
    let each = written(names, |out, name| {
        writeln!(out, "{name} {is} \"x\" {end}").unwrap();
    });
    format!("{all}{end}\n{each}")
}

#[test]
fn rules_of_ebnf() {
    check("EBNF", "", |names| {
        let text = format!("start ::= {}", rules(names, "::=", ";"));
        ebnf::parse(&text, "start", &Limits::default()).unwrap();
    });
}

#[test]
fn rules_of_gbnf() {
    check("GBNF", "", |names| {
        let text = format!("root ::= {}", rules(names, "::=", ""));
        gbnf::parse(&text, "root", &Limits::default()).unwrap();
    });
}

#[test]
fn rules_of_lark() {
    check("Lark", "", |names| {
        let text = format!("start: {}", rules(names, ":", ""));
        lark::parse(&text, "start", &Limits::default()).unwrap();
    });
}

#[test]
fn printed_rules() {
    check("printing", "", |names| {
        let text = format!("root ::= {}", rules(&names[..NAMES / 2], "::=", ""));
        let grammar = gbnf::parse(&text, "root", &Limits::default()).unwrap();
        assert!(!syntagma_grammar::print::to_ebnf(&grammar).is_empty());
        syntagma_grammar::print::to_gbnf(&grammar, None).unwrap();
    });
}

#[test]
fn literals() {
    check("literals", "", |names| {
        let all = written(names, |out, name| write!(out, "\"{name}\" | ").unwrap());
        let limits = Limits::default();
        let grammar = ebnf::parse(&format!("start ::= {all};"), "start", &limits).unwrap();
        compiled(grammar);
    });
}

#[test]
fn choices() {
    check("choices", "", |names| {
        let literal =
            |name: &String| Arc::new(Grammar::from_regex(Regex::literal(name.as_bytes())));
        let parts: Vec<_> = names.iter().map(literal).collect();
        compiled(Grammar::union(&parts));
    });
}

#[test]
fn structural_tags() {
    check("structural tags", "", |names| {
        let triggers: Vec<&str> = names[..100].iter().map(String::as_str).collect();
        let mut builder = GrammarBuilder::new();
        let start = builder.rule("start");
        let free = builder.regex(text::free_text(&triggers, None));
        let tags: Vec<_> = names
            .iter()
            .map(|name| {
                let begin = builder.literal(name.as_bytes());
                let label = builder.add(syntagma_grammar::ir::Expr::Marker(name.as_str().into()));
                builder.seq([begin, label])
            })
            .collect();
        let tags = builder.alt(tags);
        let body = builder.seq([free, tags]);
        builder.define(start, body);
        Lnf::new(
            &builder.finish(start, Report::default()),
            &Limits::default(),
        )
        .unwrap();
    });
}
