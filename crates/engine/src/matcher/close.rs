//! Valid endings: the shortest way to an end of the text, as tokens.

use super::GrammarMatcher;
use crate::aside::Aside;
use crate::distance::{Costs, Goal, ShortestPath};
use crate::earley::StateId;
use crate::error::Error;
use crate::limits::Fuel;
use crate::position::Position;
use crate::refusals::Question;
use crate::tuning;

impl GrammarMatcher {
    /// A shortest way to an accepting place, as tokens (without one that ends the turn); `None` if there is none of at
    /// most `budget` tokens. Shortest in bytes where the vocabulary can spell it, then in tokens for these bytes. With bounds
    /// on parts, parts are left by their shortest way where the shortest way of all would exceed a bound.
    pub fn shortest_close(&self, budget: Option<usize>) -> Result<Option<Vec<u32>>, Error> {
        if self.bounds().is_empty() {
            return self.close_within(budget);
        }
        let mut matcher = self.fork();
        let mut tokens = Vec::new();
        let most = budget.unwrap_or(tuning::CLOSE_TOKENS);
        while !matcher.is_accepting()? {
            let Some(mut way) = matcher.close_within(None)? else {
                return Ok(None);
            };
            let first = way.first().copied();
            way.truncate(matcher.validate_tokens(&way)?);
            if way.is_empty() {
                way = matcher.way_out()?;
                way.truncate(matcher.validate_tokens(&way)?);
            }
            if way.is_empty()
                && let Some(first) = first
            {
                way.extend(matcher.beginning(first)?);
            }
            if way.is_empty() || tokens.len() + way.len() > most {
                return Ok(None);
            }
            for id in way {
                matcher.accept_token(id)?;
                tokens.push(id);
            }
        }
        Ok(Some(tokens))
    }

    /// The tokens of the shortest way out of the bounded part that the text is in.
    fn way_out(&self) -> Result<Vec<u32>, Error> {
        self.guard(|matcher| match &matcher.tracker {
            Some(tracker) => tracker.way_out(&matcher.generation),
            None => Ok(Vec::new()),
        })
    }

    /// The longest token that begins like another and may come next: a token that reaches into a part may write too much of it.
    fn beginning(&self, id: u32) -> Result<Option<u32>, Error> {
        let vocabulary = self.compiled.vocabulary();
        let mut node = None;
        let mut found = None;
        for &byte in vocabulary.text(id).unwrap_or_default() {
            node = vocabulary.trie().child(node, byte);
            let Some(node) = node else {
                break;
            };
            if let Some(&token) = vocabulary.trie().tokens(node).first()
                && self.accepts(token)?
            {
                found = Some(token);
            }
        }
        Ok(found)
    }

    /// Whether [`Self::shortest_close`] finds a way of at most `budget` tokens: much cheaper where there is plenty of room.
    pub fn closes_within(&self, budget: usize) -> Result<bool, Error> {
        if !self.bounds().is_empty() {
            return Ok(self.shortest_close(Some(budget))?.is_some());
        }
        let fits = self.on_way(|way, state| way.fits(state, budget))?;
        Ok(fits.unwrap_or(true))
    }

    /// The same where no bound is looked at.
    fn close_within(&self, budget: Option<usize>) -> Result<Option<Vec<u32>>, Error> {
        let tokens = self.on_way(|way, state| way.tokens(state, budget.unwrap_or(usize::MAX)))?;
        let tokens = tokens.unwrap_or_else(|| Some(Vec::new()));
        Ok(tokens.filter(|tokens| budget.is_none_or(|budget| tokens.len() <= budget)))
    }

    /// Asks about the way to the end of the text from here; None where the text has ended.
    fn on_way<T>(
        &self,
        ask: impl Fn(&mut ShortestPath<'_>, StateId) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.guard(|matcher| {
            let Position::At(state) = matcher.place() else {
                return Ok(None);
            };
            let vocabulary = &**matcher.compiled.vocabulary();
            let generation = &matcher.generation;
            let find = |aside: &mut Aside, fuel: &mut Fuel| {
                let here = generation.state_aside(aside, state)?;
                let costs = match aside.costs.take() {
                    Some(costs) => costs,
                    // What it takes beside what others have asked says nothing.
                    None if aside.spent > 0 => Costs::new(&mut aside.recognizer, fuel)?,
                    None => generation
                        .refusals
                        .ask(Question::Costs, || Costs::new(&mut aside.recognizer, fuel))?,
                };
                let Costs { rest, known } = aside.costs.insert(costs);
                let mut way = ShortestPath {
                    recognizer: &mut aside.recognizer,
                    frames: &mut aside.frames,
                    rest,
                    known,
                    goal: Goal::End,
                    vocabulary,
                    fuel,
                };
                ask(&mut way, here).map(Some)
            };
            generation.refusals.ask(Question::Way(state), || {
                generation.aside(&generation.fuel(), find)
            })
        })
    }
}
