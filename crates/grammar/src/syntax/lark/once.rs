//! Whether a part comes once in a text at most, so that a bound on all its tokens is one on the part.

use super::endings::Budget;
use super::lexer::unsupported;
use super::parser::Around;
use crate::error::{Error, SourceLocation};
use crate::limits::Fuel;
use crate::maps::SeededMap;
use crate::syntax::rules::{Ast, Node};

/// Refuses a budget of a part that may come again.
pub(super) fn check(
    text: &str,
    ast: &Ast,
    budgets: &[Budget],
    around: &Around<'_>,
) -> Result<(), Error> {
    let mut fuel = Fuel::new(around.limits);
    for budget in budgets {
        let again = |hint: &str| {
            let what = format!(
                "max_tokens of {:?}, which may come more than once, is",
                budget.rule
            );
            unsupported(text, budget.offset, &what).with_hint(hint.to_owned())
        };
        let labels = ast
            .nodes
            .iter()
            .filter(|(node, _)| matches!(node, Node::Capture(label, _) if *label == budget.label));
        if labels.count() > 1 {
            return Err(again("its label stands in other rules: give it another"));
        }
        let most = times(ast, &budget.label, around.start, &mut fuel);
        if most.map_err(|error| error.at(SourceLocation::in_text(text, budget.offset)))? > 1 {
            return Err(again(
                "use it in one place that is not repeated, or bound it with {m,n}",
            ));
        }
    }
    Ok(())
}

/// How often a label may come in a text of a rule; 2 is any number above 1. What changes is carried to what holds it.
fn times(ast: &Ast, label: &str, start: &str, fuel: &mut Fuel) -> Result<u8, Error> {
    fuel.spend(ast.nodes.len())?;
    let mut holders: Vec<Vec<u32>> = vec![Vec::new(); ast.nodes.len()];
    let bodies: SeededMap<&str, u32> = (ast.rules.iter())
        .map(|rule| (rule.name.as_str(), rule.body.0))
        .collect();
    for (at, (node, _)) in ast.nodes.iter().enumerate() {
        let named = match node {
            Node::Name(name) => bodies.get(name.as_str()).copied(),
            _ => None,
        };
        for child in node.children().map(|child| child.0).chain(named) {
            holders[child as usize].push(at as u32);
        }
    }
    let mut times = vec![0u8; ast.nodes.len()];
    // (node, how often it comes more than before)
    let mut work: Vec<(u32, u8)> = Vec::new();
    for (at, (node, _)) in ast.nodes.iter().enumerate() {
        if matches!(node, Node::Capture(known, _) if known == label) {
            times[at] = 1;
            work.push((at as u32, 1));
        }
    }
    while let Some((id, more)) = work.pop() {
        for &holder in &holders[id as usize] {
            let (before, inner) = (times[holder as usize], times[id as usize]);
            let now = match &ast.nodes[holder as usize].0 {
                Node::Seq(_) => before.saturating_add(more),
                Node::Capture(known, _) if known == label => 2,
                Node::Repeat { max: Some(0), .. } => 0,
                Node::Repeat { max, .. } if *max != Some(1) => 2,
                _ => before.max(inner),
            };
            let now = now.min(2);
            if now > before {
                times[holder as usize] = now;
                work.push((holder, now - before));
            }
        }
    }
    Ok(bodies.get(start).map_or(0, |&body| times[body as usize]))
}
