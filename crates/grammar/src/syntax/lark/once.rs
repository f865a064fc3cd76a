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

/// How often a label may come in a text of a rule; 2 is any number above 1.
fn times(ast: &Ast, label: &str, start: &str, fuel: &mut Fuel) -> Result<u8, Error> {
    let positions: SeededMap<&str, usize> = (ast.rules.iter().enumerate())
        .map(|(position, rule)| (rule.name.as_str(), position))
        .collect();
    let mut rules = vec![0u8; ast.rules.len()];
    loop {
        fuel.spend(ast.nodes.len())?;
        let mut nodes = vec![0u8; ast.nodes.len()];
        for (at, (node, _)) in ast.nodes.iter().enumerate() {
            let inner = || node.children().map(|child| nodes[child.0 as usize]);
            nodes[at] = match node {
                Node::Capture(known, _) if known == label => 1 + inner().sum::<u8>().min(1),
                Node::Seq(_) => inner().fold(0, |sum: u8, part| (sum + part).min(2)),
                Node::Repeat { max, .. } => match (inner().max().unwrap_or(0), max) {
                    (0, _) | (_, Some(0)) => 0,
                    (inner, Some(1)) => inner,
                    _ => 2,
                },
                Node::Name(name) => positions.get(name.as_str()).map_or(0, |&rule| rules[rule]),
                _ => inner().max().unwrap_or(0),
            };
        }
        let bodies = ast.rules.iter().map(|rule| nodes[rule.body.0 as usize]);
        let found: Vec<u8> = bodies.collect();
        if found == rules {
            return Ok(positions.get(start).map_or(0, |&rule| rules[rule]));
        }
        rules = found;
    }
}
