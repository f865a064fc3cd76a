//! Expressions that most grammars need, made once: those of any JSON value, of integers and of names. For compiling, which
//! begins with a copy of them instead of none.
//!
//! A copy takes a few microseconds, making them anew some twenty. They are the same for every grammar of a vocabulary, so
//! what a compilation takes does not depend on what was compiled before.

use std::sync::Arc;

use syntagma_grammar::ir::Lnf;
use syntagma_grammar::syntax::json_schema;

use super::arena::Arena;
use super::residual::{Built, Residuals};
use crate::error::Error;
use crate::layers::Layers;
use crate::limits::Fuel;

/// Any value beside an integer; the names of others are spelled in the one way that counts.
const SCHEMA: &str = r#"{"properties": {"": {"type": "integer"}}}"#;

/// Where the store of a grammar begins.
#[derive(Debug)]
pub(crate) struct Seed {
    arena: Arena,
    built: Built,
}

impl Seed {
    /// That of a vocabulary whose tokens have up to `reach` bytes.
    pub(crate) fn new(reach: u32, layers: Layers) -> Self {
        let mut residuals = Residuals::new(reach, layers);
        let mut built = Built::default();
        // What could not be made before would be made later.
        let _ = fill(&mut residuals, &mut built);
        Self {
            arena: residuals.arena.settled(),
            built: built.settled(),
        }
    }

    /// A store that has these expressions and knows nothing else; an empty one for other mechanisms.
    pub(crate) fn store(&self, layers: Layers) -> Residuals {
        if self.arena.layers == layers {
            Residuals::of(self.arena.clone(), self.built.anew())
        } else {
            Residuals::new(self.arena.reach(), layers)
        }
    }
}

fn fill(residuals: &mut Residuals, built: &mut Built) -> Result<(), Error> {
    let (options, limits) = Default::default();
    let grammar = json_schema::parse(SCHEMA, &options, &limits)?;
    let lnf = Lnf::new(&Arc::new(grammar), &limits)?;
    for regex in &lnf.symbols.regexes {
        residuals.build(regex, built, &mut Fuel::endless())?;
    }
    Ok(())
}
