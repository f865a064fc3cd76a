//! Every reading of a text: Earley's algorithm with positions.
//!
//! A column is a place of the text at which terminals or tokens end. An item in it is a place in a rule and the column in
//! which the rule began; its links are the items, before the last symbol of it, from which it was reached.

use super::spans::{Span, SpanTable, SpansId};
use crate::automaton::{AcceptSetId, LexerStateId};
use crate::earley::{DottedRules, Recognizer, Sym, View};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdMap;
use crate::vocabulary::Vocabulary;

/// The end of a list of links.
const NONE: u32 = u32::MAX;

/// An item: number of its column, number in that.
type Place = (u32, u32);

#[derive(Debug)]
struct CaptureItem {
    dot: u32,
    origin: u32,
    /// First of its links.
    links: u32,
}

#[derive(Debug)]
struct Column {
    /// Bytes of the text before it.
    offset: usize,
    items: Vec<CaptureItem>,
    /// Items by dot and origin.
    numbers: IdMap<(u32, u32), u32>,
    /// Items by the symbol after their dot.
    waiting: IdMap<u32, Vec<u32>>,
    /// Finished items by nonterminal and origin.
    finished: IdMap<(u32, u32), Vec<u32>>,
    /// By item, the captures of what it has read in its best reading; None where that is not known.
    spans: Vec<Option<SpansId>>,
}

impl Column {
    fn waiting(&self, sym: Sym) -> &[u32] {
        self.waiting.get(&sym.0).map_or(&[], Vec::as_slice)
    }
}

/// The readings of a text as far as it was taken.
pub(super) struct Chart<'r> {
    recognizer: &'r mut Recognizer,
    fuel: &'r mut Fuel,
    columns: Vec<Column>,
    /// Items before the last symbol of another, and the next one in the same list.
    links: Vec<(Place, u32)>,
    /// Terminals that have begun: in which column, and what remains of them.
    threads: Vec<(u32, LexerStateId)>,
    offset: usize,
    /// Whether the last column is here.
    is_at_column: bool,
    table: SpanTable,
}

impl<'r> Chart<'r> {
    /// The readings of the empty text.
    pub(super) fn new(recognizer: &'r mut Recognizer, fuel: &'r mut Fuel) -> Result<Self, Error> {
        let mut chart = Self {
            recognizer,
            fuel,
            columns: Vec::new(),
            links: Vec::new(),
            threads: Vec::new(),
            offset: 0,
            is_at_column: false,
            table: SpanTable::new(),
        };
        chart.open_column();
        chart.add(DottedRules::START, 0, None)?;
        chart.close_column()?;
        Ok(chart)
    }

    /// Takes text that the grammar accepts.
    pub(super) fn take_text(&mut self, text: &[u8]) -> Result<(), Error> {
        for &byte in text {
            self.take_byte(byte, &[])?;
        }
        Ok(())
    }

    /// Takes a token that the grammar accepts, or that ends the text.
    pub(super) fn take_token(&mut self, id: u32, vocabulary: &Vocabulary) -> Result<(), Error> {
        if vocabulary.is_eos(id) && self.whole().is_some() {
            return Ok(());
        }
        let mut symbols = Vec::new();
        if self.is_at_column {
            let here = self.columns.len() as u32 - 1;
            let dots = &self.recognizer.dots;
            for &raw in self.columns[here as usize].waiting.keys() {
                if let View::Token(index) = Sym(raw).view()
                    && dots.tokens[index as usize].contains(id)
                {
                    symbols.push((here, raw));
                }
            }
        }
        if let Some((&last, front)) = vocabulary.text(id).and_then(<[u8]>::split_last) {
            self.take_text(front)?;
            self.take_byte(last, &symbols)
        } else {
            self.threads.clear();
            self.offset += vocabulary.token(id).len();
            self.begin(symbols)
        }
    }

    /// The captures of the best reading.
    pub(super) fn captures(mut self) -> Result<Vec<Span>, Error> {
        let spans = match self.whole() {
            Some(spans) => spans,
            None => self.of_what_is_complete()?,
        };
        Ok(self.table.list(spans))
    }

    /// Takes a byte, at which tokens may end as well: as symbols that a column waits for.
    fn take_byte(&mut self, byte: u8, tokens: &[(u32, u32)]) -> Result<(), Error> {
        let mut ended = tokens.to_vec();
        let mut alive = Vec::with_capacity(self.threads.len());
        let lexer = &mut self.recognizer.lexer;
        for (column, lexer_state) in self.threads.drain(..) {
            self.fuel.spend(1)?;
            let (to, accept_set) = lexer.step(lexer_state, byte, self.fuel)?;
            if accept_set != AcceptSetId::NONE {
                ended.extend(lexer.tags(accept_set).iter().map(|&raw| (column, raw)));
            }
            if to != LexerStateId::DEAD {
                alive.push((column, to));
            }
        }
        self.threads = alive;
        self.offset += 1;
        self.begin(ended)
    }

    /// What goes on where these symbols end, each of which a column waits for.
    fn begin(&mut self, ended: Vec<(u32, u32)>) -> Result<(), Error> {
        self.is_at_column = !ended.is_empty();
        if ended.is_empty() {
            return Ok(());
        }
        self.open_column();
        for (column, raw) in ended {
            self.advance(column, Sym(raw))?;
        }
        self.close_column()
    }

    fn open_column(&mut self) {
        self.is_at_column = true;
        self.columns.push(Column {
            offset: self.offset,
            items: Vec::new(),
            numbers: IdMap::default(),
            waiting: IdMap::default(),
            finished: IdMap::default(),
            spans: Vec::new(),
        });
    }

    /// Adds an item to the last column.
    fn add(&mut self, dot: u32, origin: u32, from: Option<Place>) -> Result<(), Error> {
        self.fuel.spend(1)?;
        let Some(column) = self.columns.last_mut() else {
            return Ok(());
        };
        let number = *column.numbers.entry((dot, origin)).or_insert_with(|| {
            let links = NONE;
            column.items.push(CaptureItem { dot, origin, links });
            column.items.len() as u32 - 1
        });
        if let Some(from) = from {
            let item = &mut column.items[number as usize];
            self.links.push((from, item.links));
            item.links = self.links.len() as u32 - 1;
        }
        Ok(())
    }

    /// A symbol that began in a column ends in the last one.
    fn advance(&mut self, column: u32, sym: Sym) -> Result<(), Error> {
        for index in 0..self.columns[column as usize].waiting(sym).len() {
            let number = self.columns[column as usize].waiting(sym)[index];
            let CaptureItem { dot, origin, .. } =
                self.columns[column as usize].items[number as usize];
            self.add(dot + 1, origin, Some((column, number)))?;
        }
        Ok(())
    }

    /// Finishes and predicts in the last column, finds the best readings, and begins its terminals.
    fn close_column(&mut self) -> Result<(), Error> {
        let here = self.columns.len() as u32 - 1;
        let mut next = 0;
        while next < self.columns[here as usize].items.len() {
            let number = next as u32;
            let CaptureItem { dot, origin, .. } = self.columns[here as usize].items[next];
            let sym = self.recognizer.dots.sym(dot);
            next += 1;
            let column = &mut self.columns[here as usize];
            if sym == Sym::END {
                let lhs = self.recognizer.dots.lhs(dot);
                let finished = column.finished.entry((lhs, origin)).or_default();
                finished.push(number);
                if finished.len() == 1 {
                    self.advance(origin, Sym::new(View::Nonterminal(lhs)))?;
                }
                continue;
            }
            let waiting = column.waiting.entry(sym.0).or_default();
            waiting.push(number);
            let is_first = waiting.len() == 1;
            if let View::Nonterminal(nonterminal) = sym.view() {
                // It may be finished here already: it matches the empty string.
                if column.finished.contains_key(&(nonterminal, here)) {
                    self.add(dot + 1, origin, Some((here, number)))?;
                }
                for rule in 0..self.rules(nonterminal, is_first) {
                    let first = self.recognizer.dots.firsts(nonterminal as usize)[rule];
                    self.add(first, here, None)?;
                }
            }
        }
        self.solve(here)?;
        let (dots, lexer) = (&self.recognizer.dots, &mut self.recognizer.lexer);
        let mut terminals = Vec::new();
        for &raw in self.columns[here as usize].waiting.keys() {
            if let View::Terminal(index) = Sym(raw).view() {
                let terminal = &dots.terminals[index as usize];
                terminals.push((raw, terminal.residual(Sym(raw), lexer.residuals())?));
            }
        }
        terminals.sort_unstable();
        self.fuel.spend(terminals.len())?;
        let lexer_state = lexer.intern(terminals);
        if lexer_state != LexerStateId::DEAD {
            self.threads.push((here, lexer_state));
        }
        Ok(())
    }

    /// How many rules are to be predicted.
    fn rules(&self, nonterminal: u32, is_first: bool) -> usize {
        let rules = self.recognizer.dots.firsts(nonterminal as usize);
        if is_first { rules.len() } else { 0 }
    }

    // ---- the best readings

    /// Finds the best reading of each item of a column, those that it consists of first.
    fn solve(&mut self, here: u32) -> Result<(), Error> {
        let count = self.columns[here as usize].items.len();
        self.columns[here as usize].spans = vec![None; count];
        let mut seen = vec![false; count];
        let mut unsolved = Vec::new();
        let mut stack = Vec::new();
        for first in 0..count as u32 {
            stack.push(first);
            while let Some(&number) = stack.last() {
                if self.columns[here as usize].spans[number as usize].is_some() {
                    stack.pop();
                } else if seen[number as usize] {
                    stack.pop();
                    if !self.settle(here, number)? {
                        unsolved.push(number);
                    }
                } else {
                    seen[number as usize] = true;
                    self.parts(here, number, &seen, &mut stack)?;
                }
            }
        }
        // A part that may stand for itself alone is read without that detour; what waited for it comes last.
        loop {
            let before = unsolved.len();
            let mut left = Vec::new();
            for number in unsolved {
                if !self.settle(here, number)? {
                    left.push(number);
                }
            }
            unsolved = left;
            if unsolved.is_empty() || unsolved.len() == before {
                return Ok(());
            }
        }
    }

    /// Pushes the items of the same column that an item consists of and that were not seen yet.
    fn parts(
        &mut self,
        here: u32,
        number: u32,
        seen: &[bool],
        stack: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let column = &self.columns[here as usize];
        let mut link = column.items[number as usize].links;
        while link != NONE {
            self.fuel.spend(1)?;
            let (from, next) = self.links[link as usize];
            if from.0 == here && !seen[from.1 as usize] {
                stack.push(from.1);
            }
            if let View::Nonterminal(nonterminal) = self.sym(from).view() {
                let finished = &column.finished[&(nonterminal, from.0)];
                stack.extend(finished.iter().filter(|&&item| !seen[item as usize]));
            }
            link = next;
        }
        Ok(())
    }

    /// Finds the best reading of an item from those of its parts; false if none of these is known.
    fn settle(&mut self, here: u32, number: u32) -> Result<bool, Error> {
        let mut link = self.columns[here as usize].items[number as usize].links;
        let mut best = (link == NONE).then_some(SpansId::EMPTY);
        while link != NONE {
            self.fuel.spend(1)?;
            let (from, next) = self.links[link as usize];
            link = next;
            let before = self.columns[from.0 as usize].spans[from.1 as usize];
            if let Some(before) = before
                && let Some(last) = self.of_symbol(from, here)?
            {
                let spans = self.table.both(before, last);
                best = Some(self.table.better(best, spans, self.fuel)?);
            }
        }
        self.columns[here as usize].spans[number as usize] = best;
        Ok(best.is_some())
    }

    /// The captures in the symbol after an item's dot, which ends in this column.
    fn of_symbol(&mut self, from: Place, here: u32) -> Result<Option<SpansId>, Error> {
        let View::Nonterminal(nonterminal) = self.sym(from).view() else {
            return Ok(Some(SpansId::EMPTY));
        };
        let column = &self.columns[here as usize];
        let mut best = None;
        for &item in &column.finished[&(nonterminal, from.0)] {
            if let Some(spans) = column.spans[item as usize] {
                best = Some(self.table.better(best, spans, self.fuel)?);
            }
        }
        let (Some(inside), Some(label)) = (best, self.recognizer.dots.label(nonterminal)) else {
            return Ok(best);
        };
        let start = self.columns[from.0 as usize].offset;
        let span = (label.clone(), start, column.offset);
        Ok(Some(self.table.part(span, inside)))
    }

    fn sym(&self, (column, number): Place) -> Sym {
        let item = &self.columns[column as usize].items[number as usize];
        self.recognizer.dots.sym(item.dot)
    }

    /// The captures of the best whole reading, if the text may end here.
    fn whole(&self) -> Option<SpansId> {
        let here = self.columns.last().filter(|_| self.is_at_column)?;
        let end = *here.numbers.get(&(DottedRules::START + 1, 0))?;
        here.spans[end as usize]
    }

    /// The best captures of parts that are complete, over all ways in which the text may go on.
    fn of_what_is_complete(&mut self) -> Result<SpansId, Error> {
        let before = self.before_rules()?;
        let mut open: Vec<Place> = Vec::new();
        let here = self.columns.len() as u32 - 1;
        if self.is_at_column {
            let places = (0..self.columns[here as usize].items.len()).map(|at| (here, at as u32));
            open.extend(places.filter(|&place| self.sym(place) != Sym::END));
        }
        for &(column, lexer_state) in &self.threads {
            for &(raw, _) in self.recognizer.lexer.parts(lexer_state) {
                let waiting = self.columns[column as usize].waiting(Sym(raw));
                open.extend(waiting.iter().map(|&number| (column, number)));
            }
        }
        let mut best = None;
        for place in open {
            if let Some(spans) = self.up_to(place, &before) {
                best = Some(self.table.better(best, spans, self.fuel)?);
            }
        }
        Ok(best.unwrap_or(SpansId::EMPTY))
    }

    /// By nonterminal and the column in which its rules begin, the best captures before it.
    fn before_rules(&mut self) -> Result<IdMap<(u32, u32), SpansId>, Error> {
        let outer = self.recognizer.dots.lhs(DottedRules::START);
        let mut before = IdMap::from_iter([((outer, 0), SpansId::EMPTY)]);
        for column in 0..self.columns.len() as u32 {
            let mut known = 0;
            // What begins a rule is mostly found before the rule is; left recursion may have it the other way round.
            while known != before.len() {
                known = before.len();
                for number in 0..self.columns[column as usize].items.len() as u32 {
                    self.fuel.spend(1)?;
                    let place = (column, number);
                    if let View::Nonterminal(nonterminal) = self.sym(place).view()
                        && let Some(spans) = self.up_to(place, &before)
                    {
                        let known = before.get(&(nonterminal, column)).copied();
                        let best = self.table.better(known, spans, self.fuel)?;
                        before.insert((nonterminal, column), best);
                    }
                }
            }
        }
        Ok(before)
    }

    /// The captures of the text up to the dot of an item.
    fn up_to(
        &mut self,
        (column, number): Place,
        before: &IdMap<(u32, u32), SpansId>,
    ) -> Option<SpansId> {
        let column = &self.columns[column as usize];
        let item = &column.items[number as usize];
        let lhs = self.recognizer.dots.lhs(item.dot);
        let first = *before.get(&(lhs, item.origin))?;
        let then = column.spans[number as usize]?;
        Some(self.table.both(first, then))
    }
}
