//! Whether ignoring case makes a pattern match more than ASCII's letters: in Unicode, `ſ` (U+017F) is an `s` and the Kelvin
//! sign (U+212A) a `k` of another case.

use std::convert::Infallible;

use regex_syntax::ast::{self, Ast, ClassSetItem, Flag, Flags};

/// The first letter of a pattern of which a letter beyond ASCII is another case, while case is ignored.
pub(super) fn beyond_ascii(pattern: &Ast) -> Option<usize> {
    let visitor = Visitor {
        now: Mode {
            ignores_case: false,
            is_unicode: true,
        },
        around: Vec::new(),
        found: None,
    };
    ast::visit(pattern, visitor).unwrap_or_else(|never| match never {})
}

#[derive(Clone, Copy)]
struct Mode {
    ignores_case: bool,
    is_unicode: bool,
}

impl Mode {
    fn with(mut self, flags: &Flags) -> Self {
        if let Some(set) = flags.flag_state(Flag::CaseInsensitive) {
            self.ignores_case = set;
        }
        if let Some(set) = flags.flag_state(Flag::Unicode) {
            self.is_unicode = set;
        }
        self
    }
}

struct Visitor {
    now: Mode,
    /// Of the groups around.
    around: Vec<Mode>,
    found: Option<usize>,
}

impl Visitor {
    fn letter(&mut self, literal: &ast::Literal) {
        let folds = self.now.ignores_case && self.now.is_unicode;
        if folds && matches!(literal.c, 's' | 'S' | 'k' | 'K') {
            self.found.get_or_insert(literal.span.start.offset);
        }
    }
}

impl ast::Visitor for Visitor {
    type Output = Option<usize>;
    type Err = Infallible;

    fn finish(self) -> Result<Option<usize>, Infallible> {
        Ok(self.found)
    }

    fn visit_pre(&mut self, node: &Ast) -> Result<(), Infallible> {
        match node {
            Ast::Group(group) => {
                self.around.push(self.now);
                if let Some(flags) = group.flags() {
                    self.now = self.now.with(flags);
                }
            }
            Ast::Flags(set) => self.now = self.now.with(&set.flags),
            Ast::Literal(literal) => self.letter(literal),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, node: &Ast) -> Result<(), Infallible> {
        if let Ast::Group(_) = node {
            self.now = self.around.pop().unwrap_or(self.now);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Literal(literal) => self.letter(literal),
            ClassSetItem::Range(range) => {
                let letters = range.start.c..=range.end.c;
                let letter = ['S', 'K', 's', 'k']
                    .into_iter()
                    .find(|letter| letters.contains(letter));
                if let Some(c) = letter.filter(|_| range.end.c.is_ascii()) {
                    self.letter(&ast::Literal {
                        c,
                        ..range.start.clone()
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }
}
