//! Source languages; each folder lowers to [`crate::ir::Grammar`] and none imports another.
