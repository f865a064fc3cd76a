//! Names for grammars and vocabularies that mean the same in every process.
//!
//! FNV-1a's steps (Fowler, Noll and Vo; 128 bits) over words of eight bytes. They tell different things apart by
//! accident, not by malice: whoever can forge a saved state can as well write another one.

use std::sync::Arc;

use crate::maps::IdMap;
use syntagma_grammar::ir::{Lnf, Regex, Symbol, TokenSet};

const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// A fingerprint being taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u128);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(BASIS)
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ u128::from(word)).wrapping_mul(PRIME);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    pub(crate) fn finish(self) -> u128 {
        // The low bits of a product depend on low bits only; the high ones have seen everything.
        self.0 ^ self.0 >> 61
    }

    fn ranges(&mut self, ranges: &[(u32, u32)]) {
        self.word(ranges.len() as u64);
        for &(first, last) in ranges {
            self.word(u64::from(first) << 32 | u64::from(last));
        }
    }

    fn value(&mut self, value: u128) {
        self.word(value as u64);
        self.word((value >> 64) as u64);
    }
}

/// A grammar in normal form, by what it says: names of rules, and which parts are shared in memory, do not matter.
pub(crate) fn of_grammar(lnf: &Lnf) -> u128 {
    let mut whole = Fingerprint::new();
    let mut regexes = Regexes::default();
    whole.word(lnf.symbols.regexes.len() as u64);
    for regex in &lnf.symbols.regexes {
        whole.value(regexes.fingerprint(regex));
    }
    whole.word(lnf.symbols.markers.len() as u64);
    for marker in &lnf.symbols.markers {
        whole.bytes(marker.as_bytes());
    }
    for token in &lnf.symbols.tokens {
        match token {
            TokenSet::Text(text) => {
                whole.word(0);
                whole.bytes(text.as_bytes());
            }
            TokenSet::Ids(ranges) => {
                whole.word(1);
                whole.ranges(ranges);
            }
            TokenSet::Except { ids, texts } => {
                whole.word(2);
                whole.ranges(ids);
                whole.word(texts.len() as u64);
                for text in texts.iter() {
                    whole.bytes(text.as_bytes());
                }
            }
        }
    }
    whole.word(u64::from(lnf.start.0));
    for (id, label) in &lnf.symbols.labels {
        whole.word(u64::from(id.0));
        whole.bytes(label.as_bytes());
    }
    for production in &lnf.productions {
        whole.word(u64::from(production.lhs.0) << 32 | production.rhs.len() as u64);
        for symbol in &production.rhs {
            let (kind, index) = match *symbol {
                Symbol::Nonterminal(id) => (0, id.0),
                Symbol::Regex(index) => (1, index),
                Symbol::Marker(index) => (2, index),
                Symbol::Token(index) => (3, index),
            };
            whole.word(kind << 32 | u64::from(index));
        }
    }
    whole.finish()
}

/// Fingerprints of regular languages that have parts, by address: a shared part is looked at once.
#[derive(Default)]
struct Regexes {
    known: IdMap<*const Regex, u128>,
}

/// A part that has parts, half done.
struct Open<'a> {
    node: &'a Regex,
    rest: std::slice::Iter<'a, Regex>,
    so_far: Fingerprint,
}

impl<'a> Open<'a> {
    fn new(node: &'a Regex) -> Self {
        let (parts, so_far) = parts(node);
        let rest = parts.iter();
        Self { node, rest, so_far }
    }
}

impl Regexes {
    fn fingerprint(&mut self, root: &Regex) -> u128 {
        let mut work = vec![Open::new(root)];
        let mut last = 0;
        while let Some(open) = work.last_mut() {
            let Some(part) = open.rest.next() else {
                last = open.so_far.finish();
                self.known.insert(std::ptr::from_ref(open.node), last);
                work.pop();
                if let Some(around) = work.last_mut() {
                    around.so_far.value(last);
                }
                continue;
            };
            if parts(part).0.is_empty() {
                open.so_far.value(parts(part).1.finish());
            } else if let Some(&known) = self.known.get(&std::ptr::from_ref(part)) {
                open.so_far.value(known);
            } else {
                work.push(Open::new(part));
            }
        }
        last
    }
}

/// The parts of a language, and the fingerprint of everything but them.
fn parts(node: &Regex) -> (&[Regex], Fingerprint) {
    let mut own = Fingerprint::new();
    let parts: &[Regex] = match node {
        Regex::Nothing => &[],
        Regex::Class(set) => {
            own.word(1);
            for word in set.words() {
                own.word(word);
            }
            &[]
        }
        Regex::Literal(bytes) => {
            own.word(2);
            own.bytes(bytes);
            &[]
        }
        Regex::Concat(parts) => {
            own.word(3);
            parts
        }
        Regex::Alt(parts) => {
            own.word(4);
            parts
        }
        Regex::And(parts) => {
            own.word(5);
            parts
        }
        Regex::Not(inner) => {
            own.word(6);
            std::slice::from_ref(Arc::as_ref(inner))
        }
        Regex::Repeat { inner, min, max } => {
            own.word(7);
            own.word(u64::from(*min));
            own.word(max.map_or(0, |max| u64::from(max) + 1));
            std::slice::from_ref(Arc::as_ref(inner))
        }
    };
    own.word(parts.len() as u64);
    (parts, own)
}

#[cfg(test)]
mod tests {
    use syntagma_grammar::ir::{ByteSet, NonterminalId, Production, SymbolTable};

    use super::*;

    fn grammar(regex: Regex) -> Lnf {
        Lnf {
            symbols: SymbolTable {
                nonterminals: vec!["s".into()],
                regexes: vec![regex],
                ..SymbolTable::default()
            },
            productions: vec![Production {
                lhs: NonterminalId(0),
                rhs: vec![Symbol::Regex(0)],
            }],
            start: NonterminalId(0),
        }
    }

    #[test]
    fn equal_grammars_have_one_fingerprint_however_they_lie_in_memory() {
        let word = || Regex::literal(b"a long enough word");
        let once = word();
        let shared = Regex::Concat(vec![once.clone(), once].into());
        let apart = Regex::Concat(vec![word(), word()].into());
        let both = [shared, apart].map(|regex| of_grammar(&grammar(regex)));
        assert_eq!(both[0], both[1]);
    }

    #[test]
    fn different_grammars_have_different_fingerprints() {
        let repeat = |min, max| Regex::Repeat {
            inner: Arc::new(Regex::literal(b"a")),
            min,
            max,
        };
        let a = || Regex::literal(b"a");
        let languages = [
            Regex::Nothing,
            Regex::empty(),
            a(),
            Regex::literal(b"a\0"),
            Regex::Class(ByteSet::byte(b'a')),
            Regex::Class(ByteSet::byte(b'b')),
            Regex::Not(Arc::new(a())),
            Regex::Concat(vec![a(), a()].into()),
            Regex::Alt(vec![a(), a()].into()),
            Regex::And(vec![a(), a()].into()),
            Regex::Concat(vec![a(), a(), a()].into()),
            repeat(0, None),
            repeat(0, Some(0)),
            repeat(1, None),
            repeat(1, Some(2)),
        ];
        let mut all: Vec<u128> = languages.map(|regex| of_grammar(&grammar(regex))).into();
        let mut marker = grammar(Regex::Nothing);
        marker.symbols.markers.push("<x>".into());
        all.push(of_grammar(&marker));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_deep_language_does_not_use_up_the_stack() {
        let mut regex = Regex::literal(b"a");
        for _ in 0..200_000 {
            regex = Regex::Not(Arc::new(regex));
        }
        of_grammar(&grammar(regex.clone()));
        // Dropping it would recurse; this test is about fingerprints.
        std::mem::forget(regex);
    }
}
