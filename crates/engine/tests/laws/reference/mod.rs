//! A recogniser that is too simple to be wrong, and random grammars for both.
//!
//! It works on whole inputs, with sets of plain items, and on regular expressions as trees. Nothing is shared with the
//! engine but the grammar's types.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;
use syntagma_grammar::ir::{
    ByteSet, Lnf, NonterminalId, Production, Regex, Symbol, SymbolTable, TokenSet,
};

/// A letter of an input: a byte of text, or a token that is taken as a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    Byte(u8),
    Token(u32),
}

/// A regular expression as a tree, with sets for what is commutative and idempotent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tree {
    Nothing,
    Empty,
    Class(Vec<u8>),
    Concat(Box<Tree>, Box<Tree>),
    Alt(BTreeSet<Tree>),
    And(BTreeSet<Tree>),
    Not(Box<Tree>),
    Repeat(Box<Tree>, u32, Option<u32>),
}

impl Tree {
    pub fn new(regex: &Regex) -> Self {
        let all = |parts: &[Regex]| parts.iter().map(Tree::new).collect::<BTreeSet<_>>();
        match regex {
            Regex::Nothing => Self::Nothing,
            Regex::Class(set) => Self::Class(set.iter().collect()),
            Regex::Literal(bytes) => bytes.iter().rev().fold(Self::Empty, |tail, &byte| {
                Self::concat(Self::Class(vec![byte]), tail)
            }),
            Regex::Concat(parts) => parts.iter().rev().fold(Self::Empty, |tail, part| {
                Self::concat(Self::new(part), tail)
            }),
            Regex::Alt(parts) => Self::alt(all(parts)),
            Regex::And(parts) => Self::And(all(parts)),
            Regex::Not(inner) => Self::Not(Box::new(Self::new(inner))),
            Regex::Repeat { inner, min, max } => {
                Self::Repeat(Box::new(Self::new(inner)), *min, *max)
            }
        }
    }

    fn concat(head: Self, tail: Self) -> Self {
        match (head, tail) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Empty, tail) => tail,
            (head, Self::Empty) => head,
            (head, tail) => Self::Concat(Box::new(head), Box::new(tail)),
        }
    }

    fn alt(parts: BTreeSet<Self>) -> Self {
        let mut flat = BTreeSet::new();
        for part in parts {
            match part {
                Self::Nothing => {}
                Self::Alt(inner) => flat.extend(inner),
                part => {
                    flat.insert(part);
                }
            }
        }
        match flat.len() {
            0 => Self::Nothing,
            1 => flat.pop_first().unwrap(),
            _ => Self::Alt(flat),
        }
    }

    pub fn nullable(&self) -> bool {
        match self {
            Self::Nothing | Self::Class(_) => false,
            Self::Empty => true,
            Self::Concat(head, tail) => head.nullable() && tail.nullable(),
            Self::Alt(parts) => parts.iter().any(Self::nullable),
            Self::And(parts) => parts.iter().all(Self::nullable),
            Self::Not(inner) => !inner.nullable(),
            Self::Repeat(inner, min, max) => {
                max.is_none_or(|max| max >= *min) && (*min == 0 || inner.nullable())
            }
        }
    }

    pub fn after(&self, byte: u8) -> Self {
        match self {
            Self::Nothing | Self::Empty => Self::Nothing,
            Self::Class(bytes) => {
                if bytes.contains(&byte) {
                    Self::Empty
                } else {
                    Self::Nothing
                }
            }
            Self::Concat(head, tail) => {
                let mut parts = BTreeSet::from([Self::concat(head.after(byte), (**tail).clone())]);
                if head.nullable() {
                    parts.insert(tail.after(byte));
                }
                Self::alt(parts)
            }
            Self::Alt(parts) => Self::alt(parts.iter().map(|part| part.after(byte)).collect()),
            Self::And(parts) => {
                let parts: BTreeSet<_> = parts.iter().map(|part| part.after(byte)).collect();
                if parts.contains(&Self::Nothing) {
                    Self::Nothing
                } else {
                    Self::And(parts)
                }
            }
            Self::Not(inner) => Self::Not(Box::new(inner.after(byte))),
            Self::Repeat(inner, min, max) => {
                if *max == Some(0) || max.is_some_and(|max| max < *min) {
                    return Self::Nothing;
                }
                // A nullable body may be left out as often as one likes.
                let min = if inner.nullable() {
                    0
                } else {
                    min.saturating_sub(1)
                };
                Self::concat(
                    inner.after(byte),
                    Self::Repeat(inner.clone(), min, max.map(|max| max - 1)),
                )
            }
        }
    }

    pub fn matches(&self, bytes: &[u8]) -> bool {
        bytes
            .iter()
            .fold(self.clone(), |tree, &byte| tree.after(byte))
            .nullable()
    }

    /// Whether some string of one byte or more is in it.
    pub fn extends(&self, alphabet: &[u8]) -> bool {
        let mut seen = BTreeSet::new();
        let mut work: Vec<Tree> = alphabet.iter().map(|&byte| self.after(byte)).collect();
        while let Some(tree) = work.pop() {
            if tree.nullable() {
                return true;
            }
            if tree != Self::Nothing && seen.insert(tree.clone()) {
                assert!(seen.len() < 50_000, "too complex for the reference");
                work.extend(alphabet.iter().map(|&byte| tree.after(byte)));
            }
        }
        false
    }
}

/// The letters of random texts; the last stands for every byte that no grammar names.
pub const ALPHABET: [u8; 3] = *b"abz";

/// What terminals may go on with: the letters, and a byte of each kind that UTF-8 tells apart.
pub const BYTES: [u8; 15] = *b"abz\x80\x90\xA0\xC0\xC2\xE0\xE1\xED\xEE\xF0\xF1\xF4";

/// The recogniser of one grammar.
pub struct Reference {
    productions: Vec<(usize, Vec<Sym>)>,
    start: usize,
    nonterminals: usize,
    /// By terminal and its text: whether it matches, and whether it goes on.
    known: HashMap<(usize, Vec<u8>), (bool, bool)>,
    trees: Vec<Tree>,
}

#[derive(Debug, Clone, PartialEq)]
enum Sym {
    Nonterminal(usize),
    Terminal(usize),
    Token(Vec<u32>),
}

impl Reference {
    /// `markers` maps texts of special or added tokens to their ids.
    pub fn new(lnf: &Lnf, markers: &[(&str, u32)]) -> Self {
        let mut trees: Vec<Tree> = lnf.symbols.regexes.iter().map(Tree::new).collect();
        let ids = |text: &str| -> Vec<u32> {
            markers
                .iter()
                .filter(|(marker, _)| *marker == text)
                .map(|&(_, id)| id)
                .collect()
        };
        let mut productions = Vec::new();
        for production in &lnf.productions {
            let rhs = production
                .rhs
                .iter()
                .map(|symbol| match *symbol {
                    Symbol::Nonterminal(id) => Sym::Nonterminal(id.0 as usize),
                    Symbol::Regex(index) => Sym::Terminal(index as usize),
                    Symbol::Marker(index) => {
                        let text = &lnf.symbols.markers[index as usize];
                        let ids = ids(text);
                        if ids.is_empty() {
                            trees.push(Tree::new(&Regex::literal(text.as_bytes())));
                            Sym::Terminal(trees.len() - 1)
                        } else {
                            Sym::Token(ids)
                        }
                    }
                    Symbol::Token(index) => Sym::Token(match &lnf.symbols.tokens[index as usize] {
                        TokenSet::Text(text) => ids(text),
                        TokenSet::Ids(ranges) => ranges
                            .iter()
                            .flat_map(|&(first, last)| first..=last)
                            .collect(),
                        TokenSet::Except { .. } => unimplemented!("the reference names its tokens"),
                    }),
                })
                .collect();
            productions.push((production.lhs.0 as usize, rhs));
        }
        let nonterminals = lnf.symbols.nonterminals.len();
        Self {
            productions,
            start: lnf.start.0 as usize,
            nonterminals,
            known: HashMap::new(),
            trees,
        }
    }

    fn terminal(&mut self, terminal: usize, text: &[u8]) -> (bool, bool) {
        let tree = &self.trees[terminal];
        *self
            .known
            .entry((terminal, text.to_vec()))
            .or_insert_with(|| {
                let rest = text
                    .iter()
                    .fold(tree.clone(), |tree, &byte| tree.after(byte));
                (rest.nullable(), rest.extends(&BYTES))
            })
    }

    /// Whether the input is in the language, and whether it is a prefix of something in it.
    pub fn judge(&mut self, input: &[Letter]) -> (bool, bool) {
        // Items are (production, dot, origin).
        let mut charts: Vec<BTreeSet<(usize, usize, usize)>> =
            vec![BTreeSet::new(); input.len() + 1];
        for (index, (lhs, _)) in self.productions.iter().enumerate() {
            if *lhs == self.start {
                charts[0].insert((index, 0, 0));
            }
        }
        let mut viable = false;
        for at in 0..=input.len() {
            // Predict and complete until nothing changes: the simplest way to get empty rules right.
            loop {
                let before = charts[at].len();
                for (production, dot, origin) in charts[at].clone() {
                    let (lhs, rhs) = self.productions[production].clone();
                    match rhs.get(dot) {
                        Some(Sym::Nonterminal(wanted)) => {
                            for (index, (lhs, _)) in self.productions.iter().enumerate() {
                                if lhs == wanted {
                                    charts[at].insert((index, 0, at));
                                }
                            }
                        }
                        None => {
                            for (waiting, dot, from) in charts[origin].clone() {
                                if self.productions[waiting].1.get(dot)
                                    == Some(&Sym::Nonterminal(lhs))
                                {
                                    charts[at].insert((waiting, dot + 1, from));
                                }
                            }
                        }
                        _ => {}
                    }
                }
                if charts[at].len() == before {
                    break;
                }
            }
            for (production, dot, origin) in charts[at].clone() {
                match self.productions[production].1.get(dot).cloned() {
                    Some(Sym::Token(ids)) => match input.get(at) {
                        Some(Letter::Token(id)) if ids.contains(id) => {
                            charts[at + 1].insert((production, dot + 1, origin));
                        }
                        None => viable |= !ids.is_empty(),
                        _ => {}
                    },
                    Some(Sym::Terminal(terminal)) => {
                        let mut text = Vec::new();
                        let mut end = at;
                        loop {
                            let (matches, extends) = self.terminal(terminal, &text);
                            if matches && end > at {
                                charts[end].insert((production, dot + 1, origin));
                            }
                            if end == input.len() {
                                viable |= extends;
                                break;
                            }
                            let Letter::Byte(byte) = input[end] else {
                                break;
                            };
                            text.push(byte);
                            end += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        let accepted = charts[input.len()]
            .iter()
            .any(|&(production, dot, origin)| {
                let (lhs, rhs) = &self.productions[production];
                *lhs == self.start && origin == 0 && dot == rhs.len()
            });
        (accepted, viable || accepted)
    }

    pub fn judge_bytes(&mut self, bytes: &[u8]) -> (bool, bool) {
        let letters: Vec<Letter> = bytes.iter().map(|&byte| Letter::Byte(byte)).collect();
        self.judge(&letters)
    }
}

/// All strings over the alphabet up to a length, shortest first.
pub fn strings(longest: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..longest {
        let end = all.len();
        for index in start..end {
            for byte in ALPHABET {
                let mut next = all[index].clone();
                next.push(byte);
                all.push(next);
            }
        }
        start = end;
    }
    all
}

/// Builds normal forms by hand.
#[derive(Default)]
pub struct Builder {
    symbols: SymbolTable,
    productions: Vec<Production>,
}

impl Builder {
    pub fn nonterminal(&mut self, name: &str) -> Symbol {
        self.symbols.nonterminals.push(name.into());
        Symbol::Nonterminal(NonterminalId(self.symbols.nonterminals.len() as u32 - 1))
    }

    pub fn regex(&mut self, regex: Regex) -> Symbol {
        let index = self
            .symbols
            .regexes
            .iter()
            .position(|known| *known == regex)
            .unwrap_or_else(|| {
                self.symbols.regexes.push(regex);
                self.symbols.regexes.len() - 1
            });
        Symbol::Regex(index as u32)
    }

    pub fn text(&mut self, text: &str) -> Symbol {
        self.regex(Regex::literal(text.as_bytes()))
    }

    pub fn marker(&mut self, text: &str) -> Symbol {
        self.symbols.markers.push(text.into());
        Symbol::Marker(self.symbols.markers.len() as u32 - 1)
    }

    pub fn token(&mut self, token: TokenSet) -> Symbol {
        self.symbols.tokens.push(token);
        Symbol::Token(self.symbols.tokens.len() as u32 - 1)
    }

    pub fn rule(&mut self, lhs: Symbol, rhs: &[Symbol]) {
        let Symbol::Nonterminal(lhs) = lhs else {
            panic!("a rule is of a nonterminal")
        };
        self.productions.push(Production {
            lhs,
            rhs: rhs.to_vec(),
        });
    }

    /// The normal form; the first nonterminal is the start.
    pub fn finish(mut self) -> Lnf {
        self.productions.sort();
        Lnf {
            symbols: self.symbols,
            productions: self.productions,
            start: NonterminalId(0),
        }
    }
}

fn set_of(mask: u8) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    if mask & 1 != 0 {
        set.insert(b'a');
    }
    if mask & 2 != 0 {
        set.insert(b'b');
    }
    if mask & 4 != 0 {
        set = set.union(&ByteSet::byte(b'a').union(&ByteSet::byte(b'b')).complement());
    }
    set
}

/// Small regular languages over the alphabet.
pub fn regexes() -> impl Strategy<Value = Regex> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(prop::sample::select(&b"ab"[..]), 1..4).prop_map(|bytes| Regex::literal(&bytes)),
        3 => (1_u8..8).prop_map(|mask| Regex::Class(set_of(mask))),
        1 => Just(Regex::empty()),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            3 => parts.clone().prop_map(Regex::concat),
            3 => parts.clone().prop_map(Regex::alt),
            1 => parts.prop_map(|parts| Regex::And(parts.into())),
            1 => inner.clone().prop_map(|inner| Regex::Not(Arc::new(inner))),
            2 => (inner, 0_u32..3, prop::option::of(0_u32..3))
                .prop_map(|(inner, min, more)| Regex::repeat(inner, min, more.map(|more| min + more))),
        ]
    })
}

/// A grammar as numbers: for each rule its left-hand side and its symbols.
type Shape = Vec<(u8, Vec<u8>)>;

/// Random grammars, with every nonterminal that is left able to derive a finite string. None where nothing is left.
pub fn grammars(extra: Vec<Symbol>, symbols: SymbolTable) -> impl Strategy<Value = Option<Lnf>> {
    let shape = prop::collection::vec((0_u8..4, prop::collection::vec(any::<u8>(), 0..4)), 2..9);
    (prop::collection::vec(regexes(), 1..4), shape)
        .prop_map(move |(regexes, shape)| grammar(regexes, &shape, &extra, symbols.clone()))
}

fn grammar(
    regexes: Vec<Regex>,
    shape: &Shape,
    extra: &[Symbol],
    mut symbols: SymbolTable,
) -> Option<Lnf> {
    let alive: Vec<bool> = regexes
        .iter()
        .map(|regex| Tree::new(regex).extends(&ALPHABET))
        .collect();
    symbols.nonterminals = (0..4).map(|index| format!("n{index}").into()).collect();
    let terminals = regexes.len() + extra.len();
    symbols.regexes = regexes;
    let mut productions: Vec<Production> = shape
        .iter()
        .map(|(lhs, rhs)| {
            let rhs = rhs.iter().map(|&number| {
                let number = usize::from(number);
                if number % 2 == 0 {
                    Symbol::Nonterminal(NonterminalId((number / 2 % 4) as u32))
                } else {
                    let index = number / 2 % terminals;
                    extra
                        .get(index)
                        .copied()
                        .unwrap_or(Symbol::Regex((index.saturating_sub(extra.len())) as u32))
                }
            });
            Production {
                lhs: NonterminalId(u32::from(*lhs)),
                rhs: rhs.collect(),
            }
        })
        .collect();
    let mut finite = [false; 4];
    for _ in 0..4 {
        for Production { lhs, rhs } in &productions {
            finite[lhs.0 as usize] |= rhs.iter().all(|symbol| match *symbol {
                Symbol::Nonterminal(id) => finite[id.0 as usize],
                Symbol::Regex(index) => alive[index as usize],
                _ => true,
            });
        }
    }
    productions.retain(|Production { rhs, .. }| {
        rhs.iter().all(|symbol| match *symbol {
            Symbol::Nonterminal(id) => finite[id.0 as usize],
            Symbol::Regex(index) => alive[index as usize],
            _ => true,
        })
    });
    productions.sort();
    let start = NonterminalId(0);
    productions
        .iter()
        .any(|production| production.lhs == start)
        .then_some(Lnf {
            symbols,
            productions,
            start,
        })
}
