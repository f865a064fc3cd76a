//! The builtins of the grammar language, by name.

use crate::syntax::rules::{Constant, Function};

/// What a name with an exclamation mark stands for.
pub(super) enum Builtin {
    Constant(Constant),
    Function(Function),
}

/// The builtin of this name.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    Some(match name {
        "any" => Builtin::Constant(Constant::Any),
        "byte" => Builtin::Constant(Constant::Byte),
        "nothing" => Builtin::Constant(Constant::Nothing),
        "complement" => Builtin::Function(Function::Complement),
        "except" => Builtin::Function(Function::Except),
        "lazy" => Builtin::Function(Function::Shortest),
        "until" => Builtin::Function(Function::Until),
        _ => return None,
    })
}
