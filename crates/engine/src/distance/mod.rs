//! How far a state is from an end of the text, or of a part of it, and a shortest way there.
//!
//! How many bytes a state is from an accepting one follows from the grammar alone: what the terminals that are under way
//! still need, then the rest of the rules that wait, then the continuations. The way out of a part is found alike: there
//! the continuations end where the part does.

mod costs;
mod shortest_path;

pub(crate) use costs::Costs;
pub(crate) use shortest_path::{Goal, PathCache, ShortestPath};
