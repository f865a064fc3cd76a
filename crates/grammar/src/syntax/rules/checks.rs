//! Checks of a grammar that was read. A rule that is used and can never write anything is an error; unused rules, rules that
//! derive themselves and a start without an end are warnings.

use super::ast::Ast;
use super::operands::{self, Positions};
use crate::error::{Diagnostic, Error, Locator, SourceLocation, shown};
use crate::ir::{Grammar, RuleId};

/// Looks at the rules of a grammar; its warnings are those of the source, with what is found here. Each has its offset.
pub(super) fn check(
    text: &str,
    ast: &Ast,
    start: usize,
    positions: &Positions<'_>,
    (grammar, mut warnings): (Grammar, Vec<(usize, Diagnostic)>),
) -> Result<Grammar, Error> {
    let findings = grammar.findings();
    let offset = |rule: RuleId| ast.rules[rule.0 as usize].offset;
    let name = |rule: RuleId| source_name(&ast.rules[rule.0 as usize].name);
    let unused = unused(ast, start, positions);
    let mut is_unused = vec![false; ast.rules.len()];
    for rule in &unused {
        is_unused[rule.0 as usize] = true;
    }
    let start_name = source_name(&ast.rules[start].name);
    for &rule in &findings.stuck {
        let message = format!("the rule {} can never write anything", shown(name(rule)));
        let hint =
            "every alternative leads back to it before a byte is written; add one that does not";
        if ast.refuses_stuck_rules && !is_unused[rule.0 as usize] {
            return Err(Error::grammar("E-GRAMMAR-UNPRODUCTIVE", message)
                .at(SourceLocation::in_text(text, offset(rule)))
                .with_hint(hint));
        }
        let warning = Diagnostic::new("W-GRAMMAR-UNPRODUCTIVE", message).with_hint(hint);
        warnings.push((offset(rule), warning));
    }
    if findings.is_endless {
        let message = format!("no text of the start rule {} has an end", shown(start_name));
        let hint = "every alternative leads back to a rule without an end; add one that does not";
        let warning = Diagnostic::new("W-GRAMMAR-ENDLESS", message).with_hint(hint);
        warnings.push((ast.rules[start].offset, warning));
    }
    for rule in unused {
        let message = format!("the rule {} is never used", shown(name(rule)));
        let hint = format!(
            "nothing that the rule {} leads to names it",
            shown(start_name)
        );
        warnings.push((
            offset(rule),
            Diagnostic::new("W-GRAMMAR-UNUSED", message).with_hint(hint),
        ));
    }
    for rule in findings.cycles {
        let message = format!("the rule {} may stand for itself alone", shown(name(rule)));
        let hint = "the same text then has endlessly many derivations; drop the alternative that adds nothing";
        warnings.push((
            offset(rule),
            Diagnostic::new("W-GRAMMAR-CYCLE", message).with_hint(hint),
        ));
    }
    warnings.sort_by_key(|&(offset, _)| offset);
    let mut places = Locator::new(text);
    let warnings = warnings
        .into_iter()
        .map(|(offset, warning)| warning.at(places.at(offset)));
    Ok(grammar.with_warnings(warnings.collect()))
}

/// The name that the source gave a rule; those that a reader made have more after a space.
fn source_name(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

/// Rules that the start does not lead to.
fn unused(ast: &Ast, start: usize, positions: &Positions<'_>) -> Vec<RuleId> {
    let mut used = vec![false; ast.rules.len()];
    used[start] = true;
    let mut seen = vec![false; ast.nodes.len()];
    let mut work = vec![ast.rules[start].body];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        let node = &ast.nodes[id.0 as usize].0;
        work.extend(node.children());
        if let Some(position) = operands::position(positions, node) {
            used[position] = true;
            work.push(ast.rules[position].body);
        }
    }
    // A terminal that stands in others as what it is has no name there.
    let taken_apart = |rule: usize| {
        ast.rules[rule]
            .parts
            .iter()
            .any(|part| seen[part.0 as usize])
    };
    let is_source = |rule: usize| !ast.rules[rule].name.contains(' ');
    (0..ast.rules.len())
        .filter(|&rule| is_source(rule) && !used[rule] && !taken_apart(rule))
        .map(|rule| RuleId(rule as u32))
        .collect()
}
