//! Lexer states with counters: bounds of repetitions that are out of reach stand beside a state, and steps take units off
//! them. `counted` says when that is right.

use super::bounds::{Bounds, Consumed, Countable};
use super::expression::ExprId;
use super::lexer_state::{AcceptSetId, Counted, Left, LexerStateId, LexerStates};
use super::residual::Residuals;
use crate::error::Error;
use crate::layers::Layer;
use crate::limits::Fuel;

impl LexerStates {
    /// The same lexer state with repetitions in place of counters.
    pub(crate) fn written_out(
        &mut self,
        lexer_state: LexerStateId,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        if !lexer_state.is_counted() {
            return Ok(lexer_state);
        }
        self.with_bounds(lexer_state.without_bounds(), lexer_state.bounds, fuel)
    }

    /// A lexer state with repetitions of these bounds in place of counters.
    fn with_bounds(
        &mut self,
        counters: LexerStateId,
        bounds: Bounds,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        self.with_parts(counters, |residuals, part| {
            residuals.with_bounds(part, bounds, fuel)
        })
    }

    /// The lexer state of what becomes of each residual of another.
    fn with_parts(
        &mut self,
        lexer_state: LexerStateId,
        mut become_of: impl FnMut(&mut Residuals, ExprId) -> Result<ExprId, Error>,
    ) -> Result<LexerStateId, Error> {
        let mut parts = self.parts(lexer_state).to_vec();
        for (_, part) in &mut parts {
            *part = become_of(&mut self.residuals, *part)?;
        }
        Ok(self.intern(parts))
    }

    /// A lexer state without counters from which the same tokens lead on.
    pub(crate) fn representative(
        &mut self,
        lexer_state: LexerStateId,
        fuel: &mut Fuel,
    ) -> Result<LexerStateId, Error> {
        if !lexer_state.is_counted() {
            return Ok(lexer_state);
        }
        let counted = lexer_state.without_bounds();
        if let Some(&known) = self.representatives.get(&counted) {
            return Ok(known);
        }
        let representative = self.with_parts(counted, |residuals, part| {
            residuals.with_out_of_reach(part, fuel)
        })?;
        self.representatives.insert(counted, representative);
        Ok(representative)
    }

    /// Puts bounds of repetitions that are out of reach beside a lexer state.
    pub(super) fn arrive(&mut self, parts: Left, fuel: &mut Fuel) -> Result<LexerStateId, Error> {
        if parts.is_empty() {
            return Ok(LexerStateId::DEAD);
        }
        if !self.residuals.has(Layer::Counters) {
            return Ok(self.intern(parts));
        }
        let mut reach = Countable::Nothing;
        for &(_, part) in &parts {
            reach = reach.with(self.residuals.countable_bounds(part, fuel)?);
        }
        let Countable::Same(bounds, margin) = reach else {
            return Ok(self.intern(parts));
        };
        let mut counters = parts.clone();
        for (_, part) in &mut counters {
            if self.residuals.countable_bounds(*part, fuel)? != Countable::Nothing {
                *part = self.residuals.with_counters(*part, fuel)?;
            }
        }
        let counters = self.intern(counters);
        Ok(if self.useless.contains(&counters) {
            self.intern(parts)
        } else {
            self.raise_margin(counters, margin);
            counters.with_bounds(bounds)
        })
    }

    /// Makes sure that upper bounds beside a lexer state are out of reach by a margin.
    pub(super) fn raise_margin(&mut self, lexer_state: LexerStateId, margin: u32) {
        if margin > 0 {
            let known = self.margins.entry(lexer_state).or_insert(0);
            *known = margin.max(*known);
        }
    }

    /// By how much upper bounds beside a lexer state must be out of reach.
    pub(super) fn margin(&self, lexer_state: LexerStateId) -> u32 {
        let known = self.margins.get(&lexer_state.without_bounds());
        known.copied().unwrap_or(0)
    }

    pub(super) fn step_counted(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<(LexerStateId, AcceptSetId), Error> {
        let (counters, bounds) = (lexer_state.without_bounds(), lexer_state.bounds);
        let (classes, _) = self.row(counters);
        let class = self.residuals.class_of(classes, byte) as u32;
        let step = if let Some(&known) = self.steps.get(&(counters, class)) {
            known
        } else {
            let step = self.derive_counted(counters, byte, fuel)?;
            self.steps.insert((counters, class), step);
            step
        };
        match step {
            Counted::Away(to, accept_set) => Ok((to, accept_set)),
            Counted::On(to, accept_set, units) => {
                let bounds = bounds.less(units);
                let margin = self.margin(counters);
                let near = !bounds.are_out_of_reach(self.residuals.reach(), margin);
                Ok((
                    if near {
                        self.with_bounds(to, bounds, fuel)?
                    } else {
                        to.with_bounds(bounds)
                    },
                    accept_set,
                ))
            }
            Counted::Unclear => {
                let lexer_state = self.written_out(lexer_state, fuel)?;
                self.step(lexer_state, byte, fuel)
            }
        }
    }

    #[cold]
    fn derive_counted(
        &mut self,
        lexer_state: LexerStateId,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<Counted, Error> {
        let (mut parts, accept_set) = self.derived(lexer_state, byte, fuel)?;
        let consumed = parts
            .iter()
            .fold(Consumed::Nothing, |consumed, &(_, part)| {
                consumed.with(self.residuals.consumed(part))
            });
        Ok(match consumed {
            Consumed::Nothing => {
                Counted::Away(self.arrive(parts, fuel)?, self.accept_set(accept_set))
            }
            Consumed::All(units) => {
                if units > 0 {
                    for (_, part) in &mut parts {
                        *part = self.residuals.reset_counters(*part, fuel)?;
                    }
                }
                let to = self.intern(parts);
                self.raise_margin(to, self.margin(lexer_state));
                Counted::On(to, self.accept_set(accept_set), units)
            }
            Consumed::Unclear => {
                self.useless.insert(lexer_state);
                Counted::Unclear
            }
        })
    }
}
