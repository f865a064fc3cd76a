//! Recognisers that are too slow to use and too simple to be wrong: fix points over sets of end positions.
//!
//! A set of positions is a `u128`, so an input has at most 127 bytes. Markers and tokens by text match their bytes, tokens by
//! number nothing.
#![allow(dead_code, unreachable_pub)]

pub mod schemas;

use std::collections::HashMap;

use syntagma_grammar::Error;
use syntagma_grammar::ir::{Expr, ExprId, Grammar, Lnf, Regex, Symbol, TokenSet};

type Ends = u128;

fn each(set: Ends) -> impl Iterator<Item = usize> {
    (0..128).filter(move |at| set >> at & 1 == 1)
}

/// (pattern or grammar, what it matches, what it does not)
pub type Meaning = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// Every pattern matches the texts of its row as a whole that it should, and no others.
pub fn check_regexes(parse: impl Fn(&str) -> Result<Regex, Error>, table: &[Meaning]) {
    for (pattern, matching, other) in table {
        let regex = parse(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for (texts, wanted) in [(matching, true), (other, false)] {
            for text in *texts {
                assert_eq!(
                    regex_matches(&regex, text.as_bytes()),
                    wanted,
                    "{pattern} on {text:?}"
                );
            }
        }
    }
}

/// Where a match that starts at `start` may end.
pub fn regex_ends(regex: &Regex, input: &[u8], start: usize) -> Ends {
    let all_from = |start: usize| {
        (0..=input.len())
            .filter(|&at| at >= start)
            .fold(0, |set, at| set | 1 << at)
    };
    match regex {
        Regex::Nothing => 0,
        Regex::Class(set) => match input.get(start) {
            Some(&byte) if set.contains(byte) => 1 << (start + 1),
            _ => 0,
        },
        Regex::Literal(bytes) => {
            if input[start..].starts_with(bytes) {
                1 << (start + bytes.len())
            } else {
                0
            }
        }
        Regex::Concat(parts) => parts.iter().fold(1 << start, |set, part| {
            each(set).fold(0, |ends, at| ends | regex_ends(part, input, at))
        }),
        Regex::Alt(parts) => parts
            .iter()
            .fold(0, |ends, part| ends | regex_ends(part, input, start)),
        Regex::And(parts) => parts.iter().fold(all_from(start), |ends, part| {
            ends & regex_ends(part, input, start)
        }),
        Regex::Not(inner) => all_from(start) & !regex_ends(inner, input, start),
        Regex::Repeat { inner, min, max } => {
            let (mut now, mut ends, mut count): (Ends, Ends, u32) = (1 << start, 0, 0);
            while now != 0 && max.is_none_or(|max| count <= max) {
                if count >= *min {
                    ends |= now;
                }
                let next = each(now).fold(0, |set, at| set | regex_ends(inner, input, at));
                if next == now {
                    // Nothing moves any more: it is the same for every count that follows.
                    return if max.is_none_or(|max| max >= *min) {
                        ends | now
                    } else {
                        ends
                    };
                }
                now = next;
                count += 1;
            }
            ends
        }
    }
}

/// Whether the whole input is in the language.
pub fn regex_matches(regex: &Regex, input: &[u8]) -> bool {
    regex_ends(regex, input, 0) >> input.len() & 1 == 1
}

fn literal_ends(text: &str, input: &[u8], start: usize) -> Ends {
    regex_ends(&Regex::literal(text.as_bytes()), input, start)
}

fn token_ends(token: &TokenSet, input: &[u8], start: usize) -> Ends {
    match token {
        TokenSet::Text(text) => literal_ends(text, input, start),
        TokenSet::Ids(_) | TokenSet::Except { .. } => 0,
    }
}

struct IrTable<'a> {
    input: &'a [u8],
    ends: HashMap<(*const Grammar, ExprId, usize), Ends>,
    changed: bool,
}

/// Whether a grammar matches the whole input, by its expressions.
pub fn grammar_matches(grammar: &Grammar, input: &[u8]) -> bool {
    let mut table = IrTable {
        input,
        ends: HashMap::new(),
        changed: true,
    };
    while std::mem::take(&mut table.changed) {
        // Everything is computed anew in every round from what the last one knew.
        let mut done = std::collections::HashSet::new();
        table.expr(grammar, grammar.rule(grammar.start()).body, 0, &mut done);
    }
    table.known(grammar, grammar.rule(grammar.start()).body, 0) >> input.len() & 1 == 1
}

type Done = std::collections::HashSet<(*const Grammar, ExprId, usize)>;

impl IrTable<'_> {
    fn known(&self, grammar: &Grammar, expr: ExprId, start: usize) -> Ends {
        self.ends
            .get(&(std::ptr::from_ref(grammar), expr, start))
            .copied()
            .unwrap_or(0)
    }

    fn after_all(&mut self, grammar: &Grammar, expr: ExprId, set: Ends, done: &mut Done) -> Ends {
        each(set).fold(0, |ends, at| ends | self.expr(grammar, expr, at, done))
    }

    fn expr(&mut self, grammar: &Grammar, expr: ExprId, start: usize, done: &mut Done) -> Ends {
        let key = (std::ptr::from_ref(grammar), expr, start);
        if !done.insert(key) {
            return self.known(grammar, expr, start);
        }
        let ends = match grammar.expr(expr) {
            Expr::Empty => 1 << start,
            Expr::Regex(regex) => regex_ends(regex, self.input, start),
            Expr::Rule(rule) => self.expr(grammar, grammar.rule(*rule).body, start, done),
            Expr::Marker(text) => literal_ends(text, self.input, start),
            Expr::Token(token) => token_ends(token, self.input, start),
            Expr::Seq(parts) => parts.iter().fold(1 << start, |set, &part| {
                self.after_all(grammar, part, set, done)
            }),
            Expr::Alt(parts) => parts.iter().fold(0, |ends, &part| {
                ends | self.expr(grammar, part, start, done)
            }),
            Expr::Capture { inner, .. } => self.expr(grammar, *inner, start, done),
            Expr::Embed(inner) => self.expr(inner, inner.rule(inner.start()).body, start, done),
            &Expr::Repeat {
                inner,
                min,
                max,
                separator,
            } => {
                // Counted one by one; a count beyond every position and the minimum changes nothing more.
                let rounds = max
                    .unwrap_or(u32::MAX)
                    .min(min + self.input.len() as u32 + 2);
                let mut now: Ends = 1 << start;
                let mut ends = if min == 0 { now } else { 0 };
                for count in 1..=rounds {
                    if count > 1
                        && let Some(separator) = separator
                    {
                        now = self.after_all(grammar, separator, now, done);
                    }
                    now = self.after_all(grammar, inner, now, done);
                    if count >= min {
                        ends |= now;
                    }
                    if now == 0 {
                        break;
                    }
                }
                if max.is_some_and(|max| max < min) {
                    0
                } else {
                    ends
                }
            }
        };
        let slot = self.ends.entry(key).or_insert(0);
        if *slot | ends != *slot {
            *slot |= ends;
            self.changed = true;
        }
        *slot
    }
}

/// Whether a normal form matches the whole input. Like the engine, it takes every terminal as one byte or more.
pub fn lnf_matches(lnf: &Lnf, input: &[u8]) -> bool {
    productions_match(lnf, input, false)
}

/// Whether productions match the whole input; terminals may be empty, as they are before the last pass, if asked for.
pub fn productions_match(lnf: &Lnf, input: &[u8], empty_terminals: bool) -> bool {
    let count = lnf.symbols.nonterminals.len();
    let width = input.len() + 1;
    let mut table: Vec<Ends> = vec![0; count * width];
    let terminals: Vec<Vec<Ends>> = lnf
        .symbols
        .regexes
        .iter()
        .map(|regex| {
            (0..width)
                .map(|start| {
                    let ends = regex_ends(regex, input, start);
                    if empty_terminals {
                        ends
                    } else {
                        ends & !(1 << start)
                    }
                })
                .collect()
        })
        .collect();
    loop {
        let mut changed = false;
        for production in &lnf.productions {
            for start in 0..width {
                let mut set: Ends = 1 << start;
                for symbol in &production.rhs {
                    set = each(set).fold(0, |ends, at| {
                        ends | match *symbol {
                            Symbol::Nonterminal(id) => table[id.0 as usize * width + at],
                            Symbol::Regex(index) => terminals[index as usize][at],
                            Symbol::Marker(index) => {
                                literal_ends(&lnf.symbols.markers[index as usize], input, at)
                            }
                            Symbol::Token(index) => {
                                token_ends(&lnf.symbols.tokens[index as usize], input, at)
                            }
                        }
                    });
                }
                let slot = &mut table[production.lhs.0 as usize * width + start];
                if *slot | set != *slot {
                    *slot |= set;
                    changed = true;
                }
            }
        }
        if !changed {
            return table[lnf.start.0 as usize * width] >> input.len() & 1 == 1;
        }
    }
}

/// All strings over an alphabet up to a length, shortest first.
pub fn strings(alphabet: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..length {
        let until = all.len();
        for at in from..until {
            for &letter in alphabet {
                let mut longer: Vec<u8> = all[at].clone();
                longer.push(letter);
                all.push(longer);
            }
        }
        from = until;
    }
    all
}
