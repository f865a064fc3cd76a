//! Names for grammars and vocabularies that mean the same in every process.
//!
//! FNV-1a's steps (Fowler, Noll and Vo; 128 bits) over words of eight bytes. They tell different things apart by
//! accident, not by malice: whoever can forge a saved state can as well write another one.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntagma_grammar::ir::{ByteSet, Lnf, Regex, Symbol, TokenSet};

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

    fn all(words: impl IntoIterator<Item = u64>) -> u128 {
        let mut all = Self::new();
        for word in words {
            all.word(word);
        }
        all.finish()
    }
}

/// A grammar in normal form, by what it says: names of rules, and which parts are shared in memory, do not matter.
pub(crate) fn of_grammar(lnf: &Lnf) -> u128 {
    let mut whole = Fingerprint::new();
    let mut regexes = Regexes::default();
    whole.word(lnf.symbols.regexes.len() as u64);
    for regex in &lnf.symbols.regexes {
        let part = regexes.fingerprint(regex);
        whole.word(part as u64);
        whole.word((part >> 64) as u64);
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
                whole.word(ranges.len() as u64);
                for &(first, last) in ranges.iter() {
                    whole.word(u64::from(first) << 32 | u64::from(last));
                }
            }
        }
    }
    whole.word(u64::from(lnf.start.0));
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

/// Fingerprints of regular languages, by address: a shared part is looked at once.
#[derive(Default)]
struct Regexes {
    known: FxHashMap<*const Regex, u128>,
}

impl Regexes {
    fn fingerprint(&mut self, root: &Regex) -> u128 {
        let mut work: Vec<&Regex> = vec![root];
        while let Some(&node) = work.last() {
            if self.known.contains_key(&std::ptr::from_ref(node)) {
                work.pop();
                continue;
            }
            let before = work.len();
            work.extend(
                parts(node).filter(|&part| !self.known.contains_key(&std::ptr::from_ref(part))),
            );
            if work.len() == before {
                let value = self.of_known_parts(node);
                self.known.insert(std::ptr::from_ref(node), value);
                work.pop();
            }
        }
        self.known[&std::ptr::from_ref(root)]
    }

    fn of_known_parts(&self, node: &Regex) -> u128 {
        let head = match node {
            Regex::Nothing => [0, 0, 0, 0, 0],
            Regex::Class(set) => {
                let words = words(set);
                [1, words[0], words[1], words[2], words[3]]
            }
            Regex::Literal(bytes) => {
                let mut text = Fingerprint::new();
                text.bytes(bytes);
                let text = text.finish();
                [2, text as u64, (text >> 64) as u64, 0, 0]
            }
            Regex::Concat(parts) => [3, parts.len() as u64, 0, 0, 0],
            Regex::Alt(parts) => [4, parts.len() as u64, 0, 0, 0],
            Regex::And(parts) => [5, parts.len() as u64, 0, 0, 0],
            Regex::Not(_) => [6, 0, 0, 0, 0],
            Regex::Repeat { min, max, .. } => [
                7,
                u64::from(*min),
                u64::from(max.is_some()),
                u64::from(max.unwrap_or(0)),
                0,
            ],
        };
        let below = parts(node).flat_map(|part| {
            let value = self.known[&std::ptr::from_ref(part)];
            [value as u64, (value >> 64) as u64]
        });
        Fingerprint::all(head.into_iter().chain(below))
    }
}

fn parts(node: &Regex) -> impl Iterator<Item = &Regex> {
    let parts: &[Regex] = match node {
        Regex::Nothing | Regex::Class(_) | Regex::Literal(_) => &[],
        Regex::Concat(parts) | Regex::Alt(parts) | Regex::And(parts) => parts,
        Regex::Not(inner) | Regex::Repeat { inner, .. } => std::slice::from_ref(Arc::as_ref(inner)),
    };
    parts.iter()
}

fn words(set: &ByteSet) -> [u64; 4] {
    let mut words = [0; 4];
    for byte in set.iter() {
        words[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    words
}

#[cfg(test)]
mod tests {
    use syntagma_grammar::ir::{NonterminalId, Production, SymbolTable};

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
