//! The normal form as text, for people and golden tests.

use std::fmt::Write as _;

use super::form::{Lnf, Symbol};
use crate::print;

impl Lnf {
    /// The normal form as text. The format is for people and may change.
    #[must_use]
    pub fn dump(&self) -> String {
        dump(self)
    }
}

fn dump(lnf: &Lnf) -> String {
    let mut out = String::new();
    let mut last = None;
    for production in &lnf.productions {
        if last == Some(production.lhs) {
            out.push_str("    |");
        } else {
            if last.is_some() {
                out.push('\n');
            }
            name(&mut out, lnf, production.lhs.0);
            out.push_str("\n    =");
        }
        last = Some(production.lhs);
        if production.rhs.is_empty() {
            out.push_str(" \"\"");
        }
        for &each in &production.rhs {
            out.push(' ');
            symbol(&mut out, lnf, each);
        }
        out.push('\n');
    }
    out
}

fn name(out: &mut String, lnf: &Lnf, id: u32) {
    let _ = write!(out, "{}.{id}", lnf.symbols.nonterminals[id as usize]);
}

fn symbol(out: &mut String, lnf: &Lnf, symbol: Symbol) {
    match symbol {
        Symbol::Nonterminal(id) => name(out, lnf, id.0),
        Symbol::Regex(index) => {
            let text = print::regex(&lnf.symbols.regexes[index as usize]);
            if text.contains(' ') {
                let _ = write!(out, "({text})");
            } else {
                out.push_str(&text);
            }
        }
        Symbol::Marker(index) => out.push_str(&print::marker(&lnf.symbols.markers[index as usize])),
        Symbol::Token(index) => out.push_str(&print::token(&lnf.symbols.tokens[index as usize])),
    }
}
