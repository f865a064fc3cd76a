//! Whether a part comes once in a text at most, so that a bound on all its tokens is one on the part.

use super::ast::{Ast, Node};
use crate::error::{Error, SourceLocation, shown};
use crate::limits::{Fuel, Limits};
use crate::maps::SeededMap;

/// The most tokens of the part with a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The label of the part.
    pub label: String,
    /// The most tokens.
    pub tokens: u32,
    /// The rule, which is to come once.
    pub(in crate::syntax) rule: String,
    /// Where the option is.
    pub(in crate::syntax) offset: usize,
}

/// Refuses a budget of a part that may come again.
pub(in crate::syntax) fn check_once(
    text: &str,
    ast: &Ast,
    budgets: &[Budget],
    start: &str,
    limits: &Limits,
) -> Result<(), Error> {
    let mut fuel = Fuel::new(limits);
    for budget in budgets {
        let again = |hint: &str| {
            let rule = shown(&budget.rule);
            let what =
                format!("max_tokens of {rule}, which may come more than once, is not supported");
            Error::grammar("E-GRAMMAR-UNSUPPORTED", what)
                .at(SourceLocation::in_text(text, budget.offset))
                .with_hint(hint.to_owned())
        };
        let labels = ast
            .nodes
            .iter()
            .filter(|(node, _)| matches!(node, Node::Capture(label, _) if *label == budget.label));
        if labels.count() > 1 {
            return Err(again("its label stands in other rules: give it another"));
        }
        let most = times(ast, &budget.label, start, &mut fuel);
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
