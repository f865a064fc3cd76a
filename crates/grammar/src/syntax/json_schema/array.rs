//! Arrays as rules: items by position and the bounds on how many there are. `distinct` and `counted` write the rules of
//! `uniqueItems` and `contains`.

use super::demands::{Conjunction, Demands};
use super::lower::Lowering;
use super::spelling::Position;
use crate::error::Error;
use crate::ir::{ExprId, Regex};

impl Lowering<'_> {
    /// An array.
    pub(super) fn array(&mut self, demands: &Demands, place: Position) -> Result<ExprId, Error> {
        let (min, mut max) = self.sizes(demands)?;
        let mut prefix: Vec<Conjunction> = Vec::new();
        let longest = demands
            .members
            .iter()
            .map(|member| member.prefix.len())
            .max()
            .unwrap_or(0);
        self.spend(longest + 1)?;
        for at in 0..longest {
            let item = self.schemas.item(demands, at)?;
            if self.schemas.impossible(&item)? {
                max = Some(max.unwrap_or(u32::MAX).min(at as u32));
                break;
            }
            prefix.push(item);
        }
        let rest = self.schemas.item(demands, longest)?;
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
        let open = self.word(Regex::literal(b"["), place);
        if !unique.is_empty() && max.is_none_or(|max| max > 1) {
            if prefix.is_empty()
                && demands.contains.is_empty()
                && let Some(distinct) = self.distinct(&rest, (min, max), place)?
            {
                return Ok(self.builder.seq(vec![open, distinct]));
            }
            for pointer in &unique {
                self.schemas.widen(pointer, "equal items are not excluded");
            }
        }
        let mut inside = None;
        if !demands.contains.is_empty() {
            inside = self.counted_items(&prefix, &rest, &demands.contains, (min, max), place)?;
            if inside.is_none() {
                for contains in &demands.contains {
                    self.schemas.widen(
                        &contains.pointer,
                        "counting the items that match takes too many states",
                    );
                }
            }
        }
        let inside = match inside {
            Some(inside) => inside,
            None => self.items(&prefix, &rest, (min, max), place)?,
        };
        Ok(self.builder.seq(vec![open, inside]))
    }

    pub(super) fn comma(&mut self, place: Position) -> ExprId {
        let comma = self.spelling.comma(place);
        self.builder.regex(comma)
    }

    pub(super) fn end(&mut self, place: Position, empty: bool) -> ExprId {
        let end = self.spelling.close("]", place, empty);
        self.builder.regex(end)
    }

    /// What stands before the first item.
    pub(super) fn lead(&mut self, place: Position) -> Option<ExprId> {
        let lead = self.spelling.lead(place);
        (lead != Regex::empty()).then(|| self.builder.regex(lead))
    }

    /// What follows the opening bracket, built from its end.
    fn items(
        &mut self,
        prefix: &[Conjunction],
        rest: &Conjunction,
        (min, max): (u32, Option<u32>),
        place: Position,
    ) -> Result<ExprId, Error> {
        let listed = prefix.len().min(max.unwrap_or(u32::MAX) as usize);
        let more_min = min.saturating_sub(listed as u32);
        let more_max = max.map(|max| max - listed as u32);
        let end = self.end(place, false);
        let empty = self.end(place, true);
        let lead = self.lead(place);
        let mut tail = if more_max == Some(0) {
            if listed == 0 { empty } else { end }
        } else if listed == 0 {
            let item = self.value(rest, place)?;
            let comma = self.comma(place);
            let some = self.repeat(item, more_min.max(1), more_max, Some(comma));
            let some: Vec<ExprId> = lead.into_iter().chain([some, end]).collect();
            let some = self.builder.seq(some);
            if min == 0 {
                self.builder.alt(vec![empty, some])
            } else {
                some
            }
        } else {
            let comma = self.comma(place);
            let item = self.value(rest, place)?;
            let another = self.builder.seq(vec![comma, item]);
            let more = self.repeat(another, more_min, more_max, None);
            self.builder.seq(vec![more, end])
        };
        for at in (0..listed).rev() {
            let before = if at > 0 {
                Some(self.comma(place))
            } else {
                lead
            };
            let item = self.value(&prefix[at], place)?;
            let parts: Vec<ExprId> = before.into_iter().chain([item, tail]).collect();
            tail = self.builder.seq(parts);
            if at as u32 >= min {
                let end = if at == 0 { empty } else { end };
                tail = self.builder.alt(vec![end, tail]);
            }
        }
        Ok(tail)
    }
}
