//! The grammar as dotted rules in flat arrays, with its symbols resolved against the vocabulary. From the normal form,
//! for the recogniser, captures and the judge.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use syntagma_grammar::ir::{Lnf, Regex, Symbol, TokenSet, other_ids};
use syntagma_grammar::print;

use super::reduce::{Rules, reduce};
use super::symbol::{Sym, View};
use crate::automaton::{Built, ExprId, Residuals};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdMap, SeededMap};
use crate::tuning;
use crate::vocabulary::{MarkerPiece, Vocabulary};

/// A place in a rule; the next place in the same rule has the next number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dot {
    /// The symbol behind the place.
    pub(crate) sym: Sym,
    /// Whose rule it is.
    pub(crate) lhs: u32,
}

/// A regular language in the grammar.
#[derive(Debug, Clone)]
pub(crate) struct Terminal {
    /// Once it is built.
    pub(crate) residual: OnceLock<ExprId>,
    source: Regex,
}

impl Terminal {
    /// What it leaves before anything is read; builds it where it has been put off.
    pub(crate) fn residual(&self, owner: Sym, residuals: &mut Residuals) -> Result<ExprId, Error> {
        if let Some(&residual) = self.residual.get() {
            return Ok(residual);
        }
        residuals.set_owner(owner.0);
        // Paid for with the grammar.
        let fuel = &mut Fuel::endless();
        let mut built = std::mem::take(&mut residuals.built);
        let residual = residuals.build(&self.source, &mut built, fuel);
        residuals.built = built;
        let residual = residual?;
        Ok(*self.residual.get_or_init(|| residual))
    }

    /// The language for people.
    pub(crate) fn describe(&self) -> String {
        describe(&self.source)
    }
}

/// A token in the grammar.
#[derive(Debug, Clone)]
pub(crate) struct TokenTerminal {
    /// Inclusive ranges of ids, ascending, without ids that are never allowed.
    pub(crate) ids: Box<[(u32, u32)]>,
    /// For people.
    pub(crate) text: String,
}

impl TokenTerminal {
    pub(crate) fn contains(&self, id: u32) -> bool {
        let at = self.ids.partition_point(|&(_, last)| last < id);
        self.ids.get(at).is_some_and(|&(first, _)| first <= id)
    }
}

/// A grammar as the recogniser reads it. Nonterminal 0 is an outer one whose only rule is the grammar's start.
#[derive(Debug, Clone)]
pub(crate) struct DottedRules {
    pub(crate) places: Vec<Dot>,
    /// The first dots of all rules, by left-hand side.
    firsts: Vec<u32>,
    /// Where those of each nonterminal begin in `firsts`; one more for the end.
    starts: Vec<u32>,
    /// By nonterminal: whether it matches the empty string.
    pub(crate) nullable: Vec<bool>,
    /// By nonterminal, for people.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) tokens: Vec<TokenTerminal>,
    /// The labels of the nonterminals that have one.
    pub(crate) labels: IdMap<u32, Arc<str>>,
    /// Whether a rule that ends in a nonterminal is left before that begins.
    pub(crate) tail_calls: bool,
    /// Whether rules return to parts of sets.
    pub(crate) homes: bool,
}

/// About so many bytes has a name.
const NAME: usize = 48;

/// The outer rule's nonterminal.
const OUTER: u32 = 0;

impl DottedRules {
    /// The first dot of the outer rule.
    pub(crate) const START: u32 = 0;

    /// Resolves the symbols, drops what can never take part in a text, and lays the rest out.
    pub(crate) fn new(
        lnf: &Lnf,
        vocabulary: &Vocabulary,
        residuals: &mut Residuals,
        fuel: &mut Fuel,
    ) -> Result<Self, Error> {
        let mut resolver = Resolver {
            lnf,
            vocabulary,
            built: residuals.built.anew(),
            residuals,
            fuel,
            seen: IdMap::default(),
            seen_markers: IdMap::default(),
            terminals: Vec::new(),
            of_residual: IdMap::default(),
            tokens: Vec::new(),
            of_ids: SeededMap::default(),
        };
        let mut rules = Rules::default();
        rules.push(OUTER, &[Sym::new(View::Nonterminal(lnf.start.0 + 1))]);
        let mut rhs = Vec::new();
        for production in &lnf.productions {
            let name = || {
                let names = lnf.symbols.nonterminals.get(production.lhs.0 as usize);
                names.map_or("", |name| &**name)
            };
            let known = resolver
                .production(&production.rhs, &mut rhs)
                .map_err(|error| error.in_rule(name()))?;
            if known {
                rules.push(production.lhs.0 + 1, &rhs);
            }
        }
        let (terminals, tokens) = (resolver.terminals, resolver.tokens);
        let mut names: Vec<Arc<str>> = Vec::with_capacity(lnf.symbols.nonterminals.len() + 1);
        names.push(Arc::from("(start)"));
        names.extend(lnf.symbols.nonterminals.iter().cloned());
        // A hand-made normal form may number more nonterminals than it names.
        let used = rules.iter().flat_map(|(lhs, rhs)| {
            rhs.iter()
                .filter_map(|sym| match sym.view() {
                    View::Nonterminal(index) => Some(index),
                    _ => None,
                })
                .chain([lhs])
        });
        let count = used
            .max()
            .map_or(0, |last| last as usize + 1)
            .max(names.len());
        for index in names.len()..count {
            names.push(format!("#{}", index - 1).into());
        }
        let rules = reduce(rules, count, fuel)?;
        if rules.iter().next().is_none_or(|(lhs, _)| lhs != OUTER) {
            return Err(
                Error::grammar("E-GRAMMAR-EMPTY", "the grammar matches nothing at all")
                    .with_hint("a rule that it needs is empty, or never comes to an end or a byte"),
            );
        }
        let mut starts = vec![0_u32; count + 1];
        for (lhs, _) in rules.iter() {
            starts[lhs as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut places = Vec::with_capacity(rules.len() + rules.symbol_count());
        let mut firsts = vec![0; rules.len()];
        let mut next = starts.clone();
        for (lhs, rhs) in rules.iter() {
            let at = &mut next[lhs as usize];
            firsts[*at as usize] = places.len() as u32;
            *at += 1;
            let symbols = rhs.iter().copied().chain([Sym::END]);
            places.extend(symbols.map(|sym| Dot { sym, lhs }));
        }
        Ok(Self {
            places,
            firsts,
            starts,
            nullable: rules.least(count, false),
            names,
            terminals,
            tokens,
            labels: lnf
                .symbols
                .labels
                .iter()
                .map(|(id, label)| (id.0 + 1, Arc::clone(label)))
                .collect(),
            tail_calls: true,
            homes: true,
        })
    }

    /// The languages of the terminals as the grammar has them.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Regex> + Clone {
        self.terminals.iter().map(|terminal| &terminal.source)
    }

    /// How many nonterminals there are.
    pub(crate) fn nonterminals(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first dots of a nonterminal's rules.
    pub(crate) fn firsts(&self, nonterminal: usize) -> &[u32] {
        &self.firsts[self.starts[nonterminal] as usize..self.starts[nonterminal + 1] as usize]
    }

    /// The symbol behind a dot.
    pub(crate) fn sym(&self, dot: u32) -> Sym {
        self.places[dot as usize].sym
    }

    /// Whose rule a dot is in.
    pub(crate) fn lhs(&self, dot: u32) -> u32 {
        self.places[dot as usize].lhs
    }

    /// The label of a nonterminal, if it is a labelled part.
    pub(crate) fn label(&self, nonterminal: u32) -> Option<&Arc<str>> {
        if self.labels.is_empty() {
            return None;
        }
        self.labels.get(&nonterminal)
    }

    /// Whether the symbol is a nonterminal that matches the empty string.
    pub(crate) fn is_nullable(&self, sym: Sym) -> bool {
        matches!(sym.view(), View::Nonterminal(index) if self.nullable[index as usize])
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.places.len() * size_of::<Dot>()
            + (self.firsts.len() + self.starts.len()) * 4
            + self.names.len() * NAME
            + self.terminals.len() * 64
    }
}

/// Turns symbols of the normal form into ours.
struct Resolver<'a> {
    lnf: &'a Lnf,
    vocabulary: &'a Vocabulary,
    residuals: &'a mut Residuals,
    fuel: &'a mut Fuel,
    /// What a symbol became; None where nothing matches it.
    seen: IdMap<Symbol, Option<Sym>>,
    /// What a marker became.
    seen_markers: IdMap<u32, Option<Box<[Sym]>>>,
    built: Built,
    terminals: Vec<Terminal>,
    of_residual: IdMap<ExprId, u32>,
    tokens: Vec<TokenTerminal>,
    of_ids: SeededMap<Box<[(u32, u32)]>, u32>,
}

impl<'a> Resolver<'a> {
    /// Writes the right-hand side down; false if one of its symbols matches nothing.
    fn production(&mut self, rhs: &[Symbol], out: &mut Vec<Sym>) -> Result<bool, Error> {
        out.clear();
        self.fuel.spend(1 + rhs.len())?;
        for &symbol in rhs {
            match symbol {
                Symbol::Nonterminal(id) => out.push(Sym::new(View::Nonterminal(id.0 + 1))),
                Symbol::Marker(index) => match self.marker(index)? {
                    Some(syms) => out.extend_from_slice(syms),
                    None => return Ok(false),
                },
                Symbol::Regex(_) | Symbol::Token(_) => match self.terminal_symbol(symbol)? {
                    Some(sym) => out.push(sym),
                    None => return Ok(false),
                },
            }
        }
        Ok(true)
    }

    /// The tokens and texts that a marker stands for; empty where it is empty, None where nothing matches it.
    fn marker(&mut self, index: u32) -> Result<Option<&[Sym]>, Error> {
        if !self.seen_markers.contains_key(&index) {
            let syms = self.marker_syms(index)?;
            self.seen_markers.insert(index, syms);
        }
        Ok(self.seen_markers[&index].as_deref())
    }

    fn marker_syms(&mut self, index: u32) -> Result<Option<Box<[Sym]>>, Error> {
        let (lnf, vocabulary) = (self.lnf, self.vocabulary);
        let text = &lnf.symbols.markers[index as usize];
        let mut syms = Vec::new();
        for piece in vocabulary.marker_pieces(text) {
            let sym = match piece {
                MarkerPiece::Tokens(ids) => Some(self.marker_token(ids)),
                MarkerPiece::Text(text) => {
                    let bytes: Arc<[u8]> = text.into();
                    let residual = self.residuals.literal(&bytes, self.fuel)?;
                    self.terminal(residual, Regex::Literal(bytes))?
                }
            };
            match sym {
                Some(sym) => syms.push(sym),
                None => return Ok(None),
            }
        }
        Ok(Some(syms.into()))
    }

    /// Any of the tokens that have the same text.
    fn marker_token(&mut self, ids: &[u32]) -> Sym {
        let text = String::from_utf8_lossy(self.vocabulary.token(ids[0]));
        self.token(ids.iter().map(|&id| (id, id)).collect(), || {
            format!("token {text:?}")
        })
    }

    fn terminal_symbol(&mut self, symbol: Symbol) -> Result<Option<Sym>, Error> {
        if let Some(&resolved) = self.seen.get(&symbol) {
            return Ok(resolved);
        }
        let resolved = match symbol {
            Symbol::Regex(index) => self.regex_symbol(index)?,
            Symbol::Token(index) => Some(self.token_symbol(index)?),
            Symbol::Nonterminal(_) | Symbol::Marker(_) => None,
        };
        self.seen.insert(symbol, resolved);
        Ok(resolved)
    }

    fn regex_symbol(&mut self, index: u32) -> Result<Option<Sym>, Error> {
        let lnf = self.lnf;
        let regex = &lnf.symbols.regexes[index as usize];
        let next = Sym::new(View::Terminal(self.terminals.len() as u32));
        if self.terminals.len() >= tuning::EAGER_TERMINALS
            && regex.weight() <= tuning::LATE_WEIGHT
            && let Some(wordless) = regex.is_wordless()
        {
            self.fuel.spend(tuning::LATE_FUEL)?;
            if wordless {
                return Ok(None);
            }
            self.terminals.push(Terminal {
                residual: OnceLock::new(),
                source: regex.clone(),
            });
            return Ok(Some(next));
        }
        self.residuals.set_owner(next.0);
        let residual = self.residuals.build(regex, &mut self.built, self.fuel)?;
        self.terminal(residual, regex.clone())
    }

    fn token_symbol(&mut self, index: u32) -> Result<Sym, Error> {
        match &self.lnf.symbols.tokens[index as usize] {
            TokenSet::Text(text) => {
                let ids = self.named(text)?;
                Ok(self.marker_token(ids))
            }
            TokenSet::Ids(ranges) => {
                let ids = self.usable(ranges)?;
                if ids.is_empty() {
                    return Err(Error::grammar(
                        "E-VOCAB-TOKEN",
                        format!(
                            "the vocabulary has no usable token of the ids {}",
                            describe_ids(ranges)
                        ),
                    ));
                }
                Ok(self.token(ids, || format!("tokens {}", describe_ids(ranges))))
            }
            TokenSet::Except { ids, texts } => {
                let mut excluded = ids.to_vec();
                for text in texts.iter() {
                    excluded.extend(self.named(text)?.iter().map(|&id| (id, id)));
                }
                let ids = self.usable(&other_ids(excluded))?;
                if ids.is_empty() {
                    return Err(Error::grammar(
                        "E-VOCAB-TOKEN",
                        "every usable token of the vocabulary is excluded",
                    ));
                }
                let set = &self.lnf.symbols.tokens[index as usize];
                Ok(self.token(ids, || format!("tokens {}", print::token(set))))
            }
        }
    }

    /// The tokens of exactly this text.
    fn named(&self, text: &str) -> Result<&'a [u32], Error> {
        match self.vocabulary.marker_tokens(text.as_bytes()) {
            [] => Err(Error::grammar(
                "E-VOCAB-TOKEN",
                format!("the vocabulary has no special or added token {text:?}"),
            )
            .with_hint("write it as text, or as a marker that may be either")),
            ids => Ok(ids),
        }
    }

    /// A terminal of one byte or more; the normal form has an empty rule where the empty string matches too.
    fn terminal(&mut self, residual: ExprId, source: Regex) -> Result<Option<Sym>, Error> {
        let residual = self.residuals.trim(residual, self.fuel)?;
        if residual == ExprId::NOTHING || residual == ExprId::EMPTY {
            return Ok(None);
        }
        let terminals = &mut self.terminals;
        let index = *self.of_residual.entry(residual).or_insert_with(|| {
            let residual = OnceLock::from(residual);
            terminals.push(Terminal { residual, source });
            terminals.len() as u32 - 1
        });
        Ok(Some(Sym::new(View::Terminal(index))))
    }

    fn token(&mut self, ids: Box<[(u32, u32)]>, text: impl Fn() -> String) -> Sym {
        let tokens = &mut self.tokens;
        let index = *self.of_ids.entry(ids).or_insert_with_key(|ids| {
            tokens.push(TokenTerminal {
                ids: ids.clone(),
                text: text(),
            });
            tokens.len() as u32 - 1
        });
        Sym::new(View::Token(index))
    }

    /// The ids in the ranges that can be allowed at all, as ascending ranges that do not touch.
    fn usable(&mut self, ranges: &[(u32, u32)]) -> Result<Box<[(u32, u32)]>, Error> {
        let mut ranges: Vec<(u32, u32)> = ranges.to_vec();
        ranges.sort_unstable();
        let end = self.vocabulary.token_count() as u64;
        let mut result: Vec<(u32, u32)> = Vec::new();
        let mut from = 0_u64;
        for (first, last) in ranges {
            let last = (u64::from(last) + 1).min(end);
            for id in from.max(u64::from(first))..last {
                self.fuel.spend(1)?;
                let id = id as u32;
                if !self.vocabulary.is_usable(id) {
                    continue;
                }
                match result.last_mut() {
                    Some((_, last)) if *last + 1 == id => *last = id,
                    _ => result.push((id, id)),
                }
            }
            from = from.max(last);
        }
        Ok(result.into())
    }
}

fn describe_ids(ranges: &[(u32, u32)]) -> String {
    let mut text = String::new();
    for (index, (first, last)) in ranges.iter().take(8).enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = if first == last {
            write!(text, "{separator}{first}")
        } else {
            write!(text, "{separator}{first}..{last}")
        };
    }
    if ranges.len() > 8 {
        text.push_str(", …");
    }
    text
}

/// How deep and how long a description goes.
const SHOWN_DEPTH: u32 = 6;
const SHOWN_BYTES: usize = 80;

/// A regular language for people: exact where it is short, cut off with `…` where not.
fn describe(regex: &Regex) -> String {
    let mut text = String::new();
    describe_into(regex, &mut text, SHOWN_DEPTH);
    if text.len() > SHOWN_BYTES {
        let mut end = SHOWN_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

fn describe_into(regex: &Regex, text: &mut String, depth: u32) {
    if depth == 0 || text.len() > SHOWN_BYTES {
        text.push('…');
        return;
    }
    let enclose = |parts: &[Regex], separator: &str, text: &mut String| {
        text.push('(');
        for (index, part) in parts.iter().enumerate() {
            if text.len() > SHOWN_BYTES {
                break;
            }
            if index > 0 {
                text.push_str(separator);
            }
            describe_into(part, text, depth - 1);
        }
        text.push(')');
    };
    match regex {
        Regex::Nothing => text.push('∅'),
        Regex::Class(set) => {
            text.push('[');
            let mut members = set.iter().peekable();
            while let Some(first) = members.next() {
                let mut end = first;
                while let Some(next) = members.next_if(|&next| next == end + 1) {
                    end = next;
                }
                let _ = write!(text, "{}", first.escape_ascii());
                if end > first {
                    let _ = write!(text, "-{}", end.escape_ascii());
                }
            }
            text.push(']');
        }
        Regex::Literal(bytes) => {
            let _ = write!(
                text,
                "{:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)])
            );
        }
        Regex::Concat(parts) => enclose(parts, " ", text),
        Regex::Alt(parts) => enclose(parts, " | ", text),
        Regex::And(parts) => enclose(parts, " & ", text),
        Regex::Not(inner) => {
            text.push('~');
            describe_into(inner, text, depth - 1);
        }
        Regex::Repeat { inner, min, max } => {
            describe_into(inner, text, depth - 1);
            let _ = match (min, max) {
                (0, None) => write!(text, "*"),
                (1, None) => write!(text, "+"),
                (0, Some(1)) => write!(text, "?"),
                (min, None) => write!(text, "{{{min},}}"),
                (min, Some(max)) if min == max => write!(text, "{{{min}}}"),
                (min, Some(max)) => write!(text, "{{{min},{max}}}"),
            };
        }
    }
}
