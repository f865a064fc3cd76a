//! Sorted tables of words: what alternatives that begin with literals become, so that a byte costs a search and not a look
//! at each of them.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use syntagma_grammar::ir::ByteSet;

use super::expression::ExprId;
use super::expression::Facts;
use super::expression::Size;
use crate::tuning;

/// Different words in their order, each with what follows it.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// Numbers of literals.
    literals: Box<[u32]>,
    /// What follows each word; empty if nothing follows any.
    tails: Box<[ExprId]>,
    /// The bytes of all words, and where those of each begin, besides where the last ends: a search stays within few lines
    /// of memory.
    text: Box<[u8]>,
    starts: Box<[u32]>,
    spans: Box<[Span]>,
    /// For every [`tuning::WORDS_PER_BLOCK`] words.
    blocks: Box<[Span]>,
}

/// Lengths of some words with what follows them, as in [`Facts`].
#[derive(Debug, Clone, Copy)]
struct Span {
    shortest: u32,
    most: u32,
    /// The longest of the shortest words of each.
    farthest: u32,
    within: u32,
    weight: u32,
}

impl Span {
    const NONE: Self = Self {
        shortest: u32::MAX,
        most: 0,
        farthest: 0,
        within: 0,
        weight: 0,
    };

    fn with(self, other: &Self) -> Self {
        Self {
            shortest: self.shortest.min(other.shortest),
            most: self.most.max(other.most),
            farthest: self.farthest.max(other.farthest),
            within: self.within.max(other.within),
            weight: self.weight.saturating_add(other.weight),
        }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        (&self.literals, &self.tails) == (&other.literals, &other.tails)
    }
}

impl Eq for Words {}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.literals, &self.tails).hash(state);
    }
}

impl Words {
    /// These literals, each with what follows it; enough to look for the same table.
    pub(super) fn new(words: &[(u32, ExprId)]) -> Self {
        let followed = words.iter().any(|&(_, tail)| tail != ExprId::EMPTY);
        let tails = words.iter().filter(|_| followed);
        Self {
            literals: words.iter().map(|&(literal, _)| literal).collect(),
            tails: tails.map(|&(_, tail)| tail).collect(),
            text: Box::default(),
            starts: Box::default(),
            spans: Box::default(),
            blocks: Box::default(),
        }
    }

    /// Adds the bytes of each word, and what is known of what follows it.
    pub(super) fn complete<'a>(&mut self, words: impl Iterator<Item = (&'a [u8], &'a Facts)>) {
        let mut text = Vec::new();
        let mut starts = Vec::new();
        let mut spans = Vec::new();
        for (literal, tail) in words {
            starts.push(text.len() as u32);
            text.extend_from_slice(literal);
            let length = literal.len() as u32;
            let shortest = tail.shortest.saturating_add(length);
            spans.push(Span {
                shortest,
                most: tail.most.saturating_add(length),
                farthest: shortest,
                within: tail.within,
                weight: tail.weight.saturating_add(tuning::WORD_WEIGHT),
            });
        }
        starts.push(text.len() as u32);
        let all = |block: &[Span]| block.iter().fold(Span::NONE, Span::with);
        self.blocks = spans.chunks(tuning::WORDS_PER_BLOCK).map(all).collect();
        (self.text, self.starts, self.spans) = (text.into(), starts.into(), spans.into());
    }

    /// What follows each word of the table; empty if nothing follows any.
    pub(super) fn tails(&self) -> &[ExprId] {
        &self.tails
    }

    /// Number of a word's literal.
    pub(super) fn literal(&self, word: u32) -> u32 {
        self.literals[word as usize]
    }

    /// How many words there are.
    pub(super) fn len(&self) -> u32 {
        self.literals.len() as u32
    }

    /// Numbers of the words' literals, and what follows them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, ExprId)> {
        (0..self.len()).map(|word| (self.literal(word), self.tail(word)))
    }

    /// What follows a word.
    #[inline]
    pub(super) fn tail(&self, word: u32) -> ExprId {
        let tail = self.tails.get(word as usize);
        tail.copied().unwrap_or(ExprId::EMPTY)
    }

    /// The bytes of a word from a place on.
    #[inline]
    pub(super) fn rest(&self, word: u32, at: u32) -> &[u8] {
        let (start, end) = (self.starts[word as usize], self.starts[word as usize + 1]);
        &self.text[(start + at) as usize..end as usize]
    }

    /// Whether a word ends at a place.
    #[inline]
    pub(super) fn ends(&self, word: u32, at: u32) -> bool {
        self.starts[word as usize] + at == self.starts[word as usize + 1]
    }

    /// The byte of a word at a place, if it does not end there.
    #[inline]
    pub(super) fn byte(&self, word: u32, at: u32) -> Option<u8> {
        let place = self.starts[word as usize] + at;
        (place < self.starts[word as usize + 1]).then(|| self.text[place as usize])
    }

    /// Those of some words, which agree up to a place, that go on with a byte.
    #[inline]
    pub(super) fn with_byte(&self, words: Range<u32>, at: u32, byte: u8) -> Range<u32> {
        let start = find(words.clone(), |word| self.byte(word, at) >= Some(byte));
        let end = find(start..words.end, |word| self.byte(word, at) > Some(byte));
        start..end
    }

    /// The bytes with which some words go on.
    pub(super) fn first(&self, words: Range<u32>, at: u32) -> ByteSet {
        let Range { mut start, end } = words;
        let mut first = ByteSet::EMPTY;
        while start < end {
            match self.byte(start, at) {
                Some(byte) => {
                    first.insert(byte);
                    start = find(start..end, |word| self.byte(word, at) > Some(byte));
                }
                None => start += 1,
            }
        }
        first
    }

    /// What is known of some words from a place on up to which they agree.
    pub(super) fn facts(&self, words: Range<u32>, at: u32, facts: &mut Facts) {
        facts.nullable = words.start < words.end && self.ends(words.start, at);
        let mut all = Span::NONE;
        let (mut word, end) = (words.start as usize, words.end as usize);
        while word < end {
            if word % tuning::WORDS_PER_BLOCK == 0 && word + tuning::WORDS_PER_BLOCK <= end {
                all = all.with(&self.blocks[word / tuning::WORDS_PER_BLOCK]);
                word += tuning::WORDS_PER_BLOCK;
            } else {
                all = all.with(&self.spans[word]);
                word += 1;
            }
        }
        facts.size = if all.most == u32::MAX {
            Size::Infinite
        } else {
            Size::Finite
        };
        facts.weight = all.weight;
        facts.most = all.most;
        if facts.size == Size::Finite {
            facts.most -= at;
        }
        facts.shortest = all.shortest - at;
        facts.least = facts.shortest;
        facts.within = all.within.max(all.farthest - at);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.literals.len() * (2 * size_of::<u32>() + size_of::<Span>())
            + self.tails.len() * size_of::<ExprId>()
            + self.text.len()
            + size_of::<Self>()
    }
}

/// The first of some numbers that passes, as all behind it do; looks near first.
#[inline]
fn find(range: Range<u32>, passes: impl Fn(u32) -> bool) -> u32 {
    let Range { mut start, mut end } = range;
    let mut stride = 1;
    while start < end {
        let at = (start + stride - 1).min(end - 1);
        if passes(at) {
            end = at;
            break;
        }
        start = at + 1;
        stride *= 2;
    }
    while start < end {
        let middle = start + (end - start) / 2;
        if passes(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}
