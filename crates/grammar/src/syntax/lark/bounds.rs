//! The bounds of counted repetitions.

use super::lexer::{Kind, Token};
use super::parser::Parser;
use crate::error::Error;

impl Parser<'_> {
    /// `n` or `m..n`
    pub(super) fn tilde_bounds(
        &self,
        tokens: &[Token],
        at: &mut usize,
    ) -> Result<(u32, Option<u32>), Error> {
        let min = self.number(tokens, at)?;
        if tokens.get(*at).map(|token| &token.kind) != Some(&Kind::Range) {
            return Ok((min, Some(min)));
        }
        *at += 1;
        Ok((min, Some(self.number(tokens, at)?)))
    }

    /// `n}`, `m,}`, `,n}` or `m,n}`
    pub(super) fn brace_bounds(
        &self,
        tokens: &[Token],
        at: &mut usize,
    ) -> Result<(u32, Option<u32>), Error> {
        let sign = |at: usize, sign: char| {
            tokens.get(at).map(|token| &token.kind) == Some(&Kind::Sign(sign))
        };
        let min = if sign(*at, ',') {
            0
        } else {
            self.number(tokens, at)?
        };
        let mut max = Some(min);
        if sign(*at, ',') {
            *at += 1;
            max = if sign(*at, '}') {
                None
            } else {
                Some(self.number(tokens, at)?)
            };
        }
        if sign(*at, '}') {
            *at += 1;
            return Ok((min, max));
        }
        let place = tokens
            .get(*at)
            .map_or(self.text.len(), |token| token.offset);
        Err(self
            .groups
            .error(place, "expected } after the bounds of a repetition")
            .with_hint("bounds are written {m}, {m,}, {,n} or {m,n}"))
    }

    fn number(&self, tokens: &[Token], at: &mut usize) -> Result<u32, Error> {
        let token = tokens.get(*at);
        *at += 1;
        match token.map(|token| &token.kind) {
            Some(&Kind::Number(number)) if u32::try_from(number).is_ok() => Ok(number as u32),
            _ => Err(self
                .groups
                .error(
                    token.map_or(self.text.len(), |token| token.offset),
                    "expected a number",
                )
                .with_hint("it is written x~2, x~2..5, x{2} or x{2,5}")),
        }
    }
}
