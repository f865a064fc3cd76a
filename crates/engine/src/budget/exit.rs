//! How far it is out of a part behind which another of its kind may begin at once.
//!
//! Nothing tells two parts of one kind apart that stand side by side: they are counted as one, so the way out leads through
//! both. Behind a part, in a rule that is outside, symbols of that kind are walked through until something else may come.

use super::parts::{Class, Exit, NEVER, Parts};
use crate::earley::{DottedRules, View};
use crate::error::Error;
use crate::limits::Fuel;
use crate::maps::IdIndexMap;

/// Nonterminals whose exits are being found out, with what is known so far.
type Found = IdIndexMap<u32, Exit>;

impl Parts {
    /// How far it is out of a part behind which a rule that is outside goes on at a dot. `rest` has the length of the
    /// shortest text behind each dot.
    pub(crate) fn exit(
        &mut self,
        class: Class,
        dot: u32,
        rest: &[u32],
        dots: &DottedRules,
        fuel: &mut Fuel,
    ) -> Result<Exit, Error> {
        let mut found = Found::default();
        self.meet(class, dot, dots, &mut found);
        let mut at = 0;
        while let Some((&nonterminal, _)) = found.get_index(at) {
            at += 1;
            fuel.spend(1)?;
            if self.plain(class, nonterminal, rest, dots).is_none() {
                for &first in dots.firsts(nonterminal as usize) {
                    fuel.spend(1)?;
                    self.meet(class, first, dots, &mut found);
                }
            }
        }
        // What is met later mostly stands further in.
        let mut changed = !found.is_empty();
        while changed {
            changed = false;
            for index in (0..found.len()).rev() {
                let (&nonterminal, &known) = found.get_index(index).unwrap_or((&0, &Exit::NONE));
                let mut exit = Exit::NONE;
                if let Some(plain) = self.plain(class, nonterminal, rest, dots) {
                    exit = plain;
                } else {
                    for &first in dots.firsts(nonterminal as usize) {
                        fuel.spend(1)?;
                        let one = self.along(class, first, dots, &found);
                        exit.out = exit.out.min(one.out);
                        exit.over = exit.over.min(one.over);
                    }
                }
                if exit != known {
                    changed = true;
                    found[index] = exit;
                }
            }
        }
        let exit = self.along(class, dot, dots, &found);
        self.exits[usize::from(class) - 1].extend(found);
        Ok(exit)
    }

    /// Adds the nonterminals before the first symbol of text from a dot on, unless they are known.
    fn meet(&self, class: Class, dot: u32, dots: &DottedRules, found: &mut Found) {
        for dot in dot.. {
            let View::Nonterminal(nonterminal) = dots.sym(dot).view() else {
                break;
            };
            if !self.exits[usize::from(class) - 1].contains_key(&nonterminal) {
                found.entry(nonterminal).or_insert(Exit::NONE);
            }
        }
    }

    /// The exit of a nonterminal that is a bounded part.
    fn plain(
        &self,
        class: Class,
        nonterminal: u32,
        rest: &[u32],
        dots: &DottedRules,
    ) -> Option<Exit> {
        let own = *self.labelled.get(&nonterminal)?;
        let firsts = dots.firsts(nonterminal as usize).iter();
        let shortest = firsts.map(|&first| rest[first as usize]).min();
        let shortest = shortest.unwrap_or(NEVER);
        let over = if own == class || shortest == 0 {
            shortest
        } else {
            NEVER
        };
        let out = if own == class { NEVER } else { 0 };
        Some(Exit { out, over })
    }

    /// The symbols from a dot to the end of its rule.
    fn along(&self, class: Class, dot: u32, dots: &DottedRules, found: &Found) -> Exit {
        let mut exit = Exit {
            out: NEVER,
            over: 0,
        };
        for dot in dot.. {
            let next = match dots.sym(dot).view() {
                View::End => break,
                View::Terminal(_) | View::Token(_) => Exit {
                    out: 0,
                    over: NEVER,
                },
                View::Nonterminal(nonterminal) => {
                    let known = self.exits[usize::from(class) - 1].get(&nonterminal);
                    let known = known.or_else(|| found.get(&nonterminal));
                    known.copied().unwrap_or(Exit::NONE)
                }
            };
            exit.out = exit.out.min(exit.over.saturating_add(next.out));
            exit.over = exit.over.saturating_add(next.over);
            if exit.over == NEVER {
                break;
            }
        }
        exit
    }
}
