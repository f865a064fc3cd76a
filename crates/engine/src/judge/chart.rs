//! Every reading of a text, by Earley's algorithm with positions (Earley 1970), on terminals that are run by derivatives.
//!
//! A column is a place of the text at which terminals or tokens end: its items are places in rules, each with the column in
//! which its rule began.

use super::derivative::ExprId;
use super::rules::Rules;
use crate::earley::{DottedRules, Sym, View};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::{IdIndexSet, IdMap, IdSet};
use crate::position::Input;
use crate::vocabulary::Vocabulary;

/// A place in a rule, and the column in which the rule began.
type JudgeItem = (u32, u32);

/// A symbol that ends, and the column in which it began.
type Ended = (u32, Sym);

#[derive(Debug, Default)]
struct Column {
    items: IdIndexSet<JudgeItem>,
    /// Items by the symbol after their dot.
    waiting: IdMap<Sym, Vec<JudgeItem>>,
    /// Nonterminals that began here and end here.
    empty: IdSet<u32>,
}

/// A terminal that has begun.
#[derive(Debug, Clone, Copy)]
struct Thread {
    column: u32,
    sym: Sym,
    rest: ExprId,
}

/// What may go on behind one byte.
#[derive(Debug)]
struct Step {
    threads: Vec<Thread>,
    /// The column that is right here.
    here: Option<u32>,
    /// How many columns there are.
    columns: usize,
}

/// The readings of a text, and of bytes after it that may be taken back.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    rules: &'a mut Rules,
    pub(super) fuel: Fuel,
    columns: Vec<Column>,
    steps: Vec<Step>,
}

impl<'a> Chart<'a> {
    /// The readings of the empty text.
    pub(super) fn new(rules: &'a mut Rules, fuel: Fuel) -> Result<Self, Error> {
        let mut chart = Self {
            rules,
            fuel,
            columns: Vec::new(),
            steps: Vec::new(),
        };
        let mut first = Column::default();
        first.items.insert((DottedRules::START, 0));
        chart.step(Vec::new(), Some(first))?;
        Ok(chart)
    }

    /// How many bytes can be taken back.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Takes bytes back until so many are left.
    pub(super) fn truncate(&mut self, steps: usize) {
        self.steps.truncate(steps);
        let columns = self.steps.last().map_or(0, |step| step.columns);
        self.columns.truncate(columns);
    }

    /// Whether the text may end here.
    pub(super) fn accepts(&self) -> bool {
        self.here()
            .is_some_and(|column| column.items.contains(&(DottedRules::START + 1, 0)))
    }

    /// The ids of tokens that may come next as symbols.
    pub(super) fn symbol_ids(&self) -> impl Iterator<Item = u32> + '_ {
        let symbols = self
            .here()
            .into_iter()
            .flat_map(|column| column.waiting.keys());
        let tokens = symbols.filter_map(|sym| match sym.view() {
            View::Token(index) => Some(&self.rules.dots.tokens[index as usize]),
            _ => None,
        });
        tokens
            .flat_map(|token| &token.ids)
            .flat_map(|&(first, last)| first..=last)
    }

    /// Takes what a matcher took; false if that may not come next. It cannot be taken back.
    pub(super) fn take(
        &mut self,
        input: Input<'_>,
        vocabulary: &Vocabulary,
    ) -> Result<bool, Error> {
        let alive = match input {
            Input::Text(bytes) => self.take_text(bytes)?,
            Input::Token(id) => {
                let symbols = self.symbols(id);
                let read = match vocabulary.text(id).and_then(<[u8]>::split_last) {
                    Some((&last, front)) if self.take_text(front)? => Some(last),
                    _ => None,
                };
                match read {
                    Some(last) => self.push(last, &symbols)?,
                    None => self.end(Vec::new(), &symbols)?,
                }
            }
        };
        let last = self.steps.pop();
        self.steps.clear();
        self.steps.extend(last);
        Ok(alive)
    }

    /// Takes a byte at which symbols may end as well; false, with nothing taken, if neither may come next.
    pub(super) fn push(&mut self, byte: u8, symbols: &[Ended]) -> Result<bool, Error> {
        let mut ended = symbols.to_vec();
        let mut threads = Vec::new();
        let all = &mut self.rules.expressions;
        for thread in self.steps.last().map_or(&[][..], |step| &step.threads) {
            self.fuel.spend(1)?;
            let rest = all.derivative(thread.rest, byte, &mut self.fuel)?;
            if all.is_nullable(rest) {
                ended.push((thread.column, thread.sym));
            }
            if all.has_longer_word(rest, &mut self.fuel)? {
                threads.push(Thread { rest, ..*thread });
            }
        }
        self.end(threads, &ended)
    }

    fn take_text(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        for &byte in bytes {
            if !self.push(byte, &[])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn here(&self) -> Option<&Column> {
        let here = self.steps.last()?.here?;
        self.columns.get(here as usize)
    }

    /// The symbols that may come next and that a token matches.
    fn symbols(&self, id: u32) -> Vec<Ended> {
        let (Some(here), Some(column)) =
            (self.steps.last().and_then(|step| step.here), self.here())
        else {
            return Vec::new();
        };
        let matches = |sym: Sym| match sym.view() {
            View::Token(index) => self.rules.dots.tokens[index as usize].contains(id),
            _ => false,
        };
        let symbols = column.waiting.keys().filter(|&&sym| matches(sym));
        symbols.map(|&sym| (here, sym)).collect()
    }

    /// Adds the step where some symbols end and other terminals go on; false, with nothing added, if nothing goes on.
    fn end(&mut self, threads: Vec<Thread>, ended: &[Ended]) -> Result<bool, Error> {
        let mut column = Column::default();
        for (began, sym) in ended {
            let waiting = self.columns[*began as usize]
                .waiting
                .get(sym)
                .into_iter()
                .flatten();
            column
                .items
                .extend(waiting.map(|&(dot, origin)| (dot + 1, origin)));
        }
        self.step(threads, (!ended.is_empty()).then_some(column))
    }

    fn step(&mut self, mut threads: Vec<Thread>, column: Option<Column>) -> Result<bool, Error> {
        let here = column.is_some().then_some(self.columns.len() as u32);
        if let (Some(column), Some(here)) = (column, here) {
            self.columns.push(column);
            self.close(here)?;
            for &sym in self.columns[here as usize].waiting.keys() {
                if let View::Terminal(index) = sym.view() {
                    let rest = self.rules.terminals[index as usize];
                    let column = here;
                    threads.push(Thread { column, sym, rest });
                }
            }
        }
        let columns = self.columns.len();
        let goes_on = !threads.is_empty();
        self.steps.push(Step {
            threads,
            here,
            columns,
        });
        let alive = goes_on || self.accepts() || self.symbol_ids().next().is_some();
        if !alive {
            self.truncate(self.steps.len() - 1);
        }
        Ok(alive)
    }

    /// Predicts and completes in the last column, until there is nothing new.
    fn close(&mut self, here: u32) -> Result<(), Error> {
        let dots = &self.rules.dots;
        let (before, last) = self.columns.split_at_mut(here as usize);
        let column = &mut last[0];
        let mut at = 0;
        while let Some(&(dot, origin)) = column.items.get_index(at) {
            self.fuel.spend(1)?;
            at += 1;
            let sym = dots.sym(dot);
            if sym != Sym::END {
                column.waiting.entry(sym).or_default().push((dot, origin));
                if let View::Nonterminal(nonterminal) = sym.view() {
                    let firsts = dots.firsts(nonterminal as usize);
                    column
                        .items
                        .extend(firsts.iter().map(|&first| (first, here)));
                    if column.empty.contains(&nonterminal) {
                        column.items.insert((dot + 1, origin));
                    }
                }
                continue;
            }
            let lhs = dots.lhs(dot);
            let waiting = if origin == here {
                // Who comes to wait for it later finds it in `empty`.
                column.empty.insert(lhs);
                &column.waiting
            } else {
                &before[origin as usize].waiting
            };
            let waiting = waiting.get(&Sym::new(View::Nonterminal(lhs)));
            let behind = waiting.into_iter().flatten();
            let behind: Vec<JudgeItem> = behind.map(|&(dot, origin)| (dot + 1, origin)).collect();
            self.fuel.spend(behind.len())?;
            column.items.extend(behind);
        }
        Ok(())
    }
}
