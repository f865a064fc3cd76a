//! Arrays.

use super::locations::LocationId;
use super::lower::Lowering;
use super::merge::{Conjunction, Demands};
use crate::error::Error;
use crate::ir::{Expr, ExprId, Regex};

impl Lowering<'_> {
    /// An array.
    pub(super) fn array(&mut self, demands: &Demands, first: bool) -> Result<ExprId, Error> {
        let (min, mut max) = self.bounds(demands.min_items, demands.max_items)?;
        let mut prefix: Vec<Conjunction> = Vec::new();
        let longest = demands
            .members
            .iter()
            .map(|member| member.prefix.len())
            .max()
            .unwrap_or(0);
        self.spend(longest + 1)?;
        for at in 0..longest {
            let item = self.item(demands, at)?;
            if self.schemas.impossible(&item)? {
                max = Some(max.unwrap_or(u32::MAX).min(at as u32));
                break;
            }
            prefix.push(item);
        }
        let mut rest = self.item(demands, longest)?;
        if prefix.len() == longest && self.schemas.impossible(&rest)? {
            max = Some(max.unwrap_or(u32::MAX).min(longest as u32));
        }
        if max.is_some_and(|max| max < min) {
            return Ok(self.nothing());
        }
        let unique: Vec<_> = demands
            .members
            .iter()
            .filter_map(|member| member.unique.clone())
            .collect();
        let mut distinct = None;
        if !unique.is_empty() && max.is_none_or(|max| max > 1) {
            let plain = demands
                .members
                .iter()
                .all(|member| member.contains.is_none());
            if prefix.is_empty() && plain {
                distinct = self.distinct(&rest, min, max)?;
            }
            if distinct.is_none() {
                for pointer in &unique {
                    self.schemas.widen(pointer, "equal items are not excluded");
                }
            }
        }
        let open = self.word(Regex::literal(b"["), first);
        let contains: Vec<_> = demands
            .members
            .iter()
            .filter_map(|member| member.contains.clone())
            .collect();
        if let Some(distinct) = distinct {
            return Ok(self.builder.seq(vec![open, distinct]));
        }
        let inside = match &contains[..] {
            [] => self.items(&prefix, &rest, min, max),
            [(wanted, _)] if prefix.is_empty() && min <= 1 && max.is_none() => {
                self.containing(&rest, *wanted)?
            }
            several => {
                for (wanted, pointer) in several {
                    // With one item at most, that item is the one.
                    if max == Some(1) {
                        let wanted = self.schemas.conjunction([*wanted])?;
                        rest = rest.joined(&wanted);
                    } else {
                        self.schemas.widen(
                            pointer,
                            "that an item matches is not enforced beside these keywords",
                        );
                    }
                }
                let min = if max == Some(1) { 1 } else { min };
                self.items(&prefix, &rest, min, max)
            }
        };
        Ok(self.builder.seq(vec![open, inside]))
    }

    /// What the item at a position must satisfy.
    fn item(&mut self, demands: &Demands, at: usize) -> Result<Conjunction, Error> {
        let parts: Vec<LocationId> = demands
            .members
            .iter()
            .filter_map(|member| member.prefix.get(at).copied().or(member.rest))
            .collect();
        self.schemas.conjunction(parts)
    }

    fn comma(&mut self) -> ExprId {
        let comma = self.spelling.sign(",");
        self.builder.regex(comma)
    }

    fn end(&mut self) -> ExprId {
        let end = self.spelling.sign("]");
        self.builder.regex(end)
    }

    /// What follows the opening bracket, built from its end.
    fn items(
        &mut self,
        prefix: &[Conjunction],
        rest: &Conjunction,
        min: u32,
        max: Option<u32>,
    ) -> ExprId {
        let listed = prefix.len().min(max.unwrap_or(u32::MAX) as usize);
        let more_min = min.saturating_sub(listed as u32);
        let more_max = max.map(|max| max - listed as u32);
        let end = self.end();
        let mut tail = if more_max == Some(0) {
            end
        } else if listed == 0 {
            let item = self.value(rest);
            let comma = self.comma();
            let some = self.repeat(item, more_min.max(1), more_max, Some(comma));
            let some = self.builder.seq(vec![some, end]);
            if min == 0 {
                self.builder.alt(vec![end, some])
            } else {
                some
            }
        } else {
            let comma = self.comma();
            let item = self.value(rest);
            let another = self.builder.seq(vec![comma, item]);
            let more = self.repeat(another, more_min, more_max, None);
            self.builder.seq(vec![more, end])
        };
        for at in (0..listed).rev() {
            let mut parts = Vec::new();
            if at > 0 {
                parts.push(self.comma());
            }
            parts.push(self.value(&prefix[at]));
            parts.push(tail);
            tail = self.builder.seq(parts);
            if at as u32 >= min {
                tail = self.builder.alt(vec![end, tail]);
            }
        }
        tail
    }

    /// At least one item that satisfies `wanted`: others before it, the first such, any after it.
    fn containing(&mut self, rest: &Conjunction, wanted: LocationId) -> Result<ExprId, Error> {
        let wanted = self.schemas.conjunction([wanted])?;
        let both = rest.joined(&wanted);
        let other = self.value(rest);
        let found = self.value(&both);
        let comma = self.comma();
        let end = self.end();
        let ahead = self.builder.seq(vec![other, comma]);
        let before = self.repeat(ahead, 0, None, None);
        let behind = self.builder.seq(vec![comma, other]);
        let after = self.repeat(behind, 0, None, None);
        Ok(self
            .builder
            .add(Expr::Seq([before, found, after, end].into())))
    }
}
