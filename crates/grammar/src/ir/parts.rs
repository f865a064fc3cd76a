//! The parts of a compound regular language, with what is known of all of them together.
//!
//! Expressions are compared, hashed and asked for their size at every step of a compilation. What that takes is computed
//! once, when the parts are put together, so that each question costs the parts of one expression and not a walk through
//! all that they hold.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use super::facts::{Facts, Joined};
use super::regex::Regex;
use crate::maps;

/// Shared parts of a [`Regex`]; a slice that hashes in constant time.
#[derive(Clone)]
pub struct Parts {
    all: Arc<[Regex]>,
    hash: u64,
    joined: Joined,
}

impl Parts {
    fn new(parts: Arc<[Regex]>) -> Self {
        let mut hasher = maps::of_process().build_hasher();
        let mut joined = Joined::default();
        for part in &*parts {
            part.hash(&mut hasher);
            joined.add(&Facts::of(part));
        }
        Self {
            hash: hasher.finish(),
            joined,
            all: parts,
        }
    }

    /// What is known of the parts together.
    pub(in crate::ir) fn joined(&self) -> &Joined {
        &self.joined
    }
}

impl Deref for Parts {
    type Target = [Regex];

    fn deref(&self) -> &[Regex] {
        &self.all
    }
}

impl From<Vec<Regex>> for Parts {
    fn from(parts: Vec<Regex>) -> Self {
        Self::new(parts.into())
    }
}

impl<const N: usize> From<[Regex; N]> for Parts {
    fn from(parts: [Regex; N]) -> Self {
        Self::new(Arc::new(parts))
    }
}

impl FromIterator<Regex> for Parts {
    fn from_iter<T: IntoIterator<Item = Regex>>(parts: T) -> Self {
        Self::new(parts.into_iter().collect())
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all) || (self.hash == other.hash && self.all == other.all)
    }
}

impl Eq for Parts {}

impl Hash for Parts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)
    }
}
