//! The laws of this crate, in one binary: it is linked once. What needs a process or an allocator of its own is beside it.
#![allow(missing_docs)]

mod batches;
mod budgets;
mod compiling;
mod composed;
mod counters;
mod crafted_names;
mod exactness;
mod hostile;
mod hosts;
mod jump;
mod masks;
mod matcher;
mod memory;
mod orders;
mod recognition;
mod reference;
mod regexes;
mod saved;
mod scale;
mod vocabularies;
