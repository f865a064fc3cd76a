//! The hash maps of both core crates, by where their keys come from.
//!
//! Names, patterns and rules are written by whoever sends a grammar, who may choose them so that they collide under a known
//! hash function; each look-up then passes all others. Keys that hold any of it are hashed with a seed that is
//! random in each process. Numbers that we give ourselves, and addresses, need no such care: they take the fastest hash.
//!
//! The order in which a seeded map iterates differs from process to process, so nothing that anybody sees may depend on it:
//! where order matters, these are the variants that keep the order of insertion.

use std::hash::{BuildHasher as _, Hash};
use std::sync::LazyLock;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use foldhash::fast::RandomState as Seeded;
use indexmap::{IndexMap, IndexSet};
pub use rustc_hash::{FxBuildHasher as IdHash, FxHasher as IdHasher};

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use given::{Seeded, give_secret};

/// Where a process has neither random addresses nor a source of random numbers: a seed that the host draws.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod given {
    use std::hash::BuildHasher;
    use std::sync::OnceLock;

    use foldhash::SharedSeed;
    use foldhash::fast::{FoldHasher, SeedableRandomState};

    static SECRET: OnceLock<(u64, SharedSeed)> = OnceLock::new();

    /// Gives the maps that are made from now on a seed; only the first one counts.
    pub fn give_secret(secret: [u64; 2]) {
        let _ = SECRET.set((secret[0], SharedSeed::from_u64(secret[1])));
    }

    /// The seed of maps with keys that a user may choose.
    #[derive(Debug, Clone)]
    pub struct Seeded(SeedableRandomState);

    impl Default for Seeded {
        fn default() -> Self {
            let given = SECRET.get();
            Self(
                given.map_or_else(SeedableRandomState::random, |(own, shared)| {
                    SeedableRandomState::with_seed(*own, shared)
                }),
            )
        }
    }

    impl BuildHasher for Seeded {
        type Hasher = FoldHasher<'static>;

        fn build_hasher(&self) -> Self::Hasher {
            self.0.build_hasher()
        }
    }
}

/// By a number of ours or an address.
pub type IdMap<K, V> = std::collections::HashMap<K, V, IdHash>;
/// Numbers of ours, or addresses.
pub type IdSet<K> = std::collections::HashSet<K, IdHash>;
/// By a number of ours or an address, in order of insertion.
pub type IdIndexMap<K, V> = IndexMap<K, V, IdHash>;
/// Numbers of ours, or addresses, in order of insertion.
pub type IdIndexSet<K> = IndexSet<K, IdHash>;

/// By something that a user may choose.
pub type SeededMap<K, V> = std::collections::HashMap<K, V, Seeded>;
/// Things that a user may choose.
pub type SeededSet<K> = std::collections::HashSet<K, Seeded>;
/// By something that a user may choose, in order of insertion.
pub type SeededIndexMap<K, V> = IndexMap<K, V, Seeded>;
/// Things that a user may choose, in order of insertion.
pub type SeededIndexSet<K> = IndexSet<K, Seeded>;

/// The seed of hashes that are kept in values, and so must be the same in all maps of a process.
#[must_use]
pub fn of_process() -> &'static Seeded {
    static SEED: LazyLock<Seeded> = LazyLock::new(Seeded::default);
    &SEED
}

/// What something hashes to, the same everywhere in a process.
#[must_use]
pub fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    of_process().hash_one(value)
}
